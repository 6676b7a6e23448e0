"""Two hundred kill -9 at random moments: what was acknowledged is there, nothing is half, doctor is clean."""

import json
import subprocess
import sys

import pytest

from hindbrain.domain.claim import parse
from hindbrain.stores.files import digest_of
from tests.support.world import World

ROUNDS = 80


@pytest.mark.req("MED-052")
def test_every_acknowledged_claim_survives_eighty_kills(world: World) -> None:
    root = world.brain("x")
    world.close()

    done = subprocess.run(
        [sys.executable, "-m", "tests.support.killed", str(world.home.path), root, str(ROUNDS), "7"],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )

    assert done.returncode == 0, (done.stdout[-500:], done.stderr[-2000:])
    told = [json.loads(line) for line in done.stdout.splitlines()]
    own = [one for one in told if not one.get("promoted")]
    assert len(own) > ROUNDS // 2, "the kills came before any work was done"
    world.clock.catch_up()
    here = world.at(root)
    here.north("settle what the dead left behind")
    world.at(root).north(tier="medulla")
    _all_there(world, root, own)
    _all_there(world, None, [one for one in told if one.get("promoted")])
    for place in (root, None):
        _no_half_file(world, place)
        assert here.call("ledger.verify", tier="medulla" if place is None else None)["intact"]
    doctor = here.call("doctor", scan=True)
    assert doctor["status"] == "ok", doctor["warnings"]


def _all_there(world: World, place: str | None, told: list[dict[str, str]]) -> None:
    """Each acknowledged text is in its label's live file or, when a later one replaced it, in the history."""
    for one in told:
        live = world.file(place, one["slug"])
        assert live.exists(), one
        if one["text"] not in live.read_text(encoding="utf-8"):
            assert any(one["text"] in path.read_text(encoding="utf-8") for path in world.history(place, one["slug"])), one


def _no_half_file(world: World, place: str | None) -> None:
    brain = world.home.medulla() if place is None else world.app.house.brains.covering(place)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        digests = opened.store.digests()
    files = {
        path.name.removesuffix(".light.md"): path.read_text(encoding="utf-8") for path in world.store(place).glob("*.light.md")
    }
    assert {slug: digest_of(text) for slug, text in files.items()} == digests
    assert all(parse(text).created is not None and text.endswith("]\n") for text in files.values())
