"""Eight processes at once on one home: no error, nothing lost, an intact ledger; embedded and through the owner."""

import json
import os
from pathlib import Path

import pytest

from tests.support import forking
from tests.support.owner import Starter
from tests.support.world import World

PROCESSES = 8
CLAIMS = 60
LIMIT_S = 600


def write_at_once(home: Path, root: str, *, mode: str, count: int, label: str = "") -> list[dict[str, str]]:
    environment = {**os.environ, "HINDBRAIN_MODE": mode}
    words = ("tests.support.burst", str(home), root)
    last = (str(count), *([label] if label else []))
    writers = [forking.start(*words, f"w{number}", *last, environ=environment) for number in range(PROCESSES)]
    told = []
    for writer in writers:
        out, problems = writer.communicate(timeout=LIMIT_S)
        assert writer.returncode == 0, problems
        told += [json.loads(line) for line in out.splitlines()]
    return told


@pytest.fixture(params=["embedded", "owner"])
def mode(request: pytest.FixtureRequest, world: World) -> str:
    """The process that does the work; in the second case one owner is up for all."""
    if request.param == "owner":
        start: Starter = request.getfixturevalue("starter")
        start(world.home.path)
    return str(request.param)


@pytest.mark.req("MED-099")
def test_every_claim_of_eight_processes_is_live(world: World, mode: str) -> None:
    root = world.brain("x")
    world.close()

    told = write_at_once(world.home.path, root, mode=mode, count=CLAIMS)

    assert len({one["slug"] for one in told}) == PROCESSES * CLAIMS
    world.clock.catch_up()
    here = world.at(root)
    assert here.north()["memory_exists"] == PROCESSES * CLAIMS
    assert len(list(world.store(root).glob("*.light.md"))) == PROCESSES * CLAIMS
    for one in told[:: CLAIMS // 4]:
        assert one["text"] in world.file(root, one["slug"]).read_text(encoding="utf-8")
    verdict = here.call("ledger.verify")
    assert verdict["intact"], verdict
    assert here.call("doctor", scan=True)["status"] == "ok"


@pytest.mark.req("MED-098")
def test_one_label_of_eight_processes_has_one_live_file_and_every_other_version_in_history(world: World, mode: str) -> None:
    root = world.brain("x")
    world.close()

    told = write_at_once(world.home.path, root, mode=mode, count=5, label="The same label")

    assert len(list(world.store(root).glob("*.light.md"))) == 1
    live = world.file(root, "the-same-label").read_text(encoding="utf-8")
    archived = [path.read_text(encoding="utf-8") for path in world.history(root, "the-same-label")]
    assert len(archived) == len(told) - 1
    for one in told:
        held = [text for text in (live, *archived) if one["text"] in text]
        assert len(held) == 1, one
    assert len(world.at(root).call("history", claim="the-same-label")["versions"]) == len(told)
    assert world.at(root).call("ledger.verify")["intact"]
