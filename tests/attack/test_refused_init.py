"""Attack F16: an init that the disk refuses leaves no brain behind."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.operations.disk import disk_error
from tests.support.world import World

# Linux: a process may give up the right of root to write everywhere (capability 1) by its bounding set, for the next program.
MODES_COUNT = """
import ctypes, os, sys
if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(24, 1, 0, 0, 0):
    sys.exit("the right to write everywhere cannot be given up")
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], *sys.argv[2:]])
"""
INIT = """
import json, sys, hindbrain
with hindbrain.open(home=sys.argv[2], root=sys.argv[1]) as session:
    print(json.dumps(session.call("init", path=sys.argv[1])))
"""


def brains(world: World) -> list[str]:
    home = world.app.home
    return [path.name for path in home.brains_dir.iterdir()] if home.brains_dir.exists() else []


@pytest.mark.parametrize("blocked", [".hindbrain", ".hindbrain/agent-memory"])
def test_f16_an_init_that_cannot_write_registers_nothing(world: World, blocked: str) -> None:
    root = world.repository("x")
    place = Path(root, blocked)
    place.parent.mkdir(exist_ok=True)
    place.write_text("a file where a directory must be")
    before = sorted(str(path) for path in Path(root).rglob("*") if ".git" not in path.parts)

    answer = world.human(root).call("init", path=root)

    assert answer["ok"] is False
    assert answer["error"]["code"] == "store_unavailable"
    assert str(place) in answer["error"]["message"]
    assert str(place) in answer["error"]["fix"]
    assert brains(world) == []
    assert world.at(root).call("north")["reception"]["match"] == "caller_root_mismatch"
    assert sorted(str(path) for path in Path(root).rglob("*") if ".git" not in path.parts) == before
    place.unlink()
    assert world.human(root).call("init", path=root)["ok"] is True


def test_f16_an_init_where_nobody_may_write_names_the_directory_and_leaves_no_brain(tmp_path: Path) -> None:
    root, home = tmp_path / "locked", tmp_path / "home"
    (root / ".git").mkdir(parents=True)
    root.chmod(0o555)

    words = [sys.executable, "-c", MODES_COUNT, INIT, str(root), str(home)]
    made = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | {"HINDBRAIN_MODE": "embedded"})

    answer = json.loads(made.stdout)
    assert answer["error"]["code"] == "store_unavailable", made.stderr
    assert str(root / ".hindbrain") in answer["error"]["message"]
    assert f"chmod u+rwx {root};" in answer["error"]["fix"]
    assert [path.name for path in (home / "brains").glob("*")] == []
    assert [path.name for path in root.iterdir()] == [".git"]


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOSPC, "df '/a b'"),
        (errno.EACCES, "chmod u+rwx '/a b'"),
        (errno.EROFS, "read-only"),
        (errno.EIO, "hindbrain doctor"),
    ],
)
def test_f16_the_error_of_a_disk_names_the_path_and_a_way_out(number: int, told: str) -> None:
    error = disk_error(OSError(number, os.strerror(number), "/a b/.hindbrain"))

    assert error.message == f"the disk refused /a b/.hindbrain: {os.strerror(number)}"
    assert error.fix is not None
    assert told in error.fix


def test_f16_an_init_that_fails_between_its_files_takes_the_brain_back(world: World) -> None:
    root = world.repository("x")
    Path(root, ".hindbrain", "brain.json").mkdir(parents=True)
    Path(root, ".hindbrain", "brain.json", "full").write_text("so that no file can take its place")

    answer = world.human(root).call("init", path=root)

    assert answer["ok"] is False
    assert brains(world) == []
    assert not Path(root, ".hindbrain", "agent-memory").exists()


def test_f16_a_refused_second_init_keeps_the_brain_and_its_memory(world: World) -> None:
    root = world.brain("x")
    world.at(root).memorize("A fact", "It holds.")
    Path(root, ".hindbrain").write_text("a file where a directory must be")

    answer = world.human(root).call("init", path=root)

    assert answer["ok"] is False
    assert [one["slug"] for one in world.at(root).call("claims")["claims"]] == ["a-fact"]
