"""A power cut: only what was synced is left, and everything acknowledged is in it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.stores.home import Home
from tests.support.world import World


@pytest.mark.parametrize("seed", range(6))
def test_every_acknowledged_claim_is_there_after_a_power_cut(world: World, tmp_path: Path, seed: int) -> None:
    root = world.brain("x")
    world.close()
    left = tmp_path / "left"

    done = subprocess.run(
        [sys.executable, "-m", "tests.support.power", str(world.home.path), root, str(left), str(seed)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told
    shutil.rmtree(world.home.path)
    left.rename(world.home.path)
    world.home = Home(world.home.path)
    world.clock.catch_up()
    here = world.at(root)
    here.north("wake up")
    here.north("wake up", tier="medulla")
    for one in told:
        place = None if one.get("promoted") else root
        live = world.file(place, one["slug"])
        texts = [live.read_text(encoding="utf-8"), *(p.read_text(encoding="utf-8") for p in world.history(place, one["slug"]))]
        assert any(one["text"] in text for text in texts), one
    assert here.call("ledger.verify")["intact"]
    assert here.call("ledger.verify", tier="medulla")["intact"]
    doctor = here.call("doctor", scan=True)
    assert doctor["status"] == "ok", doctor["warnings"]


def test_the_simulation_itself_forgets_what_was_not_synced(tmp_path: Path) -> None:
    """The control: with synchronous off the same cut loses rows, so the test above can fail."""
    script = (
        "import sys, apsw\n"
        "sys.argv = ['x']\n"
        "from tests.support import power\n"
        "vfs = power.ForgetfulVFS()\n"
        "db = apsw.Connection(sys.stdin.readline().strip())\n"
        "db.execute('pragma synchronous=off'); db.execute('pragma journal_mode=wal')\n"
        "db.execute('create table t(x)')\n"
        "db.execute('insert into t values (1)')\n"
        "print(sum(len(v) for v in power.DURABLE.values()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=str(tmp_path / "a.db") + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert int(done.stdout) == 0
