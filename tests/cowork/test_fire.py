"""Eight agents on one bus, with kill -9 of senders, receivers and the owner at random: every message is accounted for."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.bus_fire import AGENTS, Fire
from tests.support.world import World

MESSAGES = 600  # with as many deaths; ten thousand with `make bench NAME=cowork`


def test_mind_426_mind_427_whoever_is_killed_no_message_is_lost_or_comes_twice(world: World) -> None:
    """Each acknowledged message was drained exactly once or is pending, the log says so of each, and the order of each sender
    is kept. Receivers name their batches, so that what died with its reader is handed out again."""
    root = world.repository("x")

    done = subprocess.run(
        [sys.executable, "-m", "tests.support.bus_fire", str(world.home.path), root, str(MESSAGES), "7"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, (done.stdout[-500:], done.stderr[-2000:])
    told = json.loads(done.stdout)
    assert told["faults"] == []
    assert told["acknowledged"] >= MESSAGES
    assert told["received"] >= told["acknowledged"]
    assert told["kills"]["agent"] >= 40
    assert told["kills"]["owner"] >= 4
    assert told["drained"] + told["pending"] == told["received"]


def _tampered(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda lines: lines, None),
        (lambda lines: lines[1:], "is gone"),
        (lambda lines: [*lines, lines[-1]], "came 2 times"),
        (lambda lines: lines[::-1], "after"),
        (lambda lines: [lines[0].replace("agent-0 0", "agent-0 9"), *lines[1:]], "is not what was sent"),
    ],
    ids=["whole", "lost", "doubled", "reordered", "changed"],
)
@pytest.mark.parametrize("read", [False, True], ids=["pending", "drained"])
def test_the_account_finds_what_is_wrong(
    world: World, change: Callable[[list[str]], list[str]], fault: str | None, read: bool
) -> None:
    """A fire in which nothing burns, and one message of it spoilt: in an inbox, or in what a reader noted."""
    fire = Fire(str(world.home.path), world.repository("x"), seed=1)
    with fire.embedded() as session:
        for agent in AGENTS:
            assert session.call("cowork.register", agent_id=agent, tool="fire")["ok"]
        for number in range(3):
            told = session.call("cowork.send", **{"from": "agent-0"}, to="agent-1", message=f"agent-0 {number}")
            fire.sent("agent-0").add(n=number, to="agent-1", id=told["message_id"])
            if read:
                told = session.call("cowork.drain", agent_id="agent-1", batch=f"b{number + 1}")
                (row,) = told["messages"]
                noted = {"message_id": row["message_id"], "content": row["content"]}
                fire.got("agent-1").add(messages=[noted], again=False)
        place = session.app.house.cowork.buses.of(session.caller).files.directory
    _tampered(fire.notes / "agent-1.got" if read else place / "inbox" / "agent-1.jsonl", change)

    faults = fire.account()["faults"]

    assert (faults == []) if fault is None else any(fault in one for one in faults)
