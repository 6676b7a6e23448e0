"""Missions under fire: two ends at once, death on the way to the end, files nobody can write, rows that somebody changed."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain.domain.brain import fingerprint
from tests.support.world import Actor, World, git

AGENT = "codex:maker"
MAIL = ("-c", "user.name=a", "-c", "user.email=a@example.org")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def root(world: World) -> str:
    made = world.brain("repo", calc_py="def add(a, b):\n    return a - b\n")
    git(made, *MAIL, "add", "."), git(made, *MAIL, "commit", "-qm", "first")
    return made


@pytest.fixture
def actor(world: World, root: str) -> Actor:
    return world.at(root, AGENT)


@pytest.fixture
def mission(actor: Actor) -> str:
    made = done(actor.call("mission.start", task="review add", mode="review"))["mission_id"]
    done(actor.call("mission.event", event_type="file_read", target="calc.py"))
    return str(made)


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def closer(world: World, root: str, mission: str, ends: str) -> subprocess.Popen[str]:
    """A process that is about to close a mission."""
    words = [sys.executable, "-m", "tests.support.closing_worker", str(world.home.path), root, AGENT, mission, ends]
    made = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert made.stdout is not None
    assert made.stdout.readline() == "ready\n"
    return made


def database(world: World, root: str) -> Path:
    return world.home.brains_dir / fingerprint(root) / "brain.db"


def changed(world: World, root: str, statement: str) -> None:
    """Change rows as somebody does who has the file and no regard for what guards it."""
    world.close()
    with sqlite3.connect(database(world, root)) as held:
        for (name,) in held.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            held.execute(f"drop trigger {name}")
        assert held.execute(statement).rowcount == 1
    held.close()


def sound(actor: Actor, mission: str) -> bool:
    """Whether chain and ledger hold."""
    chain = done(actor.call("mission.verify_chain", mission_id=mission))
    return bool(chain["valid"]) and bool(done(actor.call("ledger.verify"))["intact"])


def test_two_processes_that_close_at_once_leave_one_end(world: World, root: str, actor: Actor, mission: str) -> None:
    both = [closer(world, root, mission, "lives") for _ in range(2)]
    for one in both:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [json.loads(one.communicate(timeout=60)[0]) for one in both]

    assert sorted((one["ok"], one["code"]) for one in told) == [(False, "mission_closed"), (True, None)]
    events = done(actor.call("mission.export", mission_id=mission, format="events"))["data"]
    assert [one["event_type"] for one in events].count("close") == 1
    assert sound(actor, mission)


@pytest.mark.parametrize(("ends", "status"), [("in_transaction", "active"), ("after_commit", "closed")])
def test_a_death_in_the_middle_of_closing_leaves_a_mission_that_is_open_or_over(
    world: World, root: str, actor: Actor, mission: str, ends: str, status: str
) -> None:
    dying = closer(world, root, mission, ends)
    dying.communicate("go\n", timeout=60)

    assert dying.returncode == -signal.SIGKILL
    assert done(actor.call("mission.status", mission_id=mission))["status"] == status
    assert sound(actor, mission)
    if status == "active":
        done(actor.call("mission.resume", mission_id=mission))
        done(actor.call("mission.close", mission_id=mission, force=True, reason="once more"))
    else:
        again = actor.call("mission.close", mission_id=mission, force=True, reason="once more")
        assert again["error"]["code"] == "mission_closed"
    assert done(actor.call("mission.export", mission_id=mission, format="proof"))["data"]["mission_id"] == mission
    assert sound(actor, mission)


def test_a_mission_whose_directory_cannot_be_written_goes_on_to_its_end(
    world: World, root: str, actor: Actor, mission: str
) -> None:
    place = database(world, root).parent / "missions" / mission
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    place.write_text("in the way")  # holds for every user; the permissions of a directory do not hold for root

    done(actor.call("mission.event", event_type="note", payload={"text": "kept all the same"}))
    closed = done(actor.call("mission.close", mission_id=mission, force=True, reason="enough"))

    assert closed["proof"]["event_count"] == done(actor.call("mission.status", mission_id=mission))["event_count"]
    assert place.read_text() == "in the way"
    assert sound(actor, mission)


def test_a_handover_that_was_changed_in_its_row_is_not_taken(world: World, root: str, actor: Actor, mission: str) -> None:
    given = done(actor.call("mission.handoff", summary="half of it is read"))["handoff_id"]
    changed(world, root, "update mission_paper set body = replace(body, 'half of it', 'all of it')")

    answer = world.at(root, "codex:second").call("mission.resume", mission_id=given)

    assert answer["error"]["code"] == "handover_broken"
    assert [one["mission_id"] for one in done(actor.call("mission.list"))["missions"]] == [mission]


def test_a_mission_with_a_changed_event_is_closed_by_force_only_and_its_packet_says_so(
    world: World, root: str, actor: Actor, mission: str
) -> None:
    changed(world, root, "update mission_event set body = replace(body, 'calc.py', 'cold.py') where seq = 2")
    named = "event_chain: event 2 does not hold: its content is not what was written"

    refused = [
        actor.call("mission.close", mission_id=mission, summary="done", gaps=gaps)["error"]
        for gaps in ([], ["event_chain"], [named])
    ]
    forced = done(actor.call("mission.close", mission_id=mission, force=True, reason="the disk was damaged"))["proof"]

    assert [one["code"] for one in refused] == ["mission_open"] * 3
    assert all(named in one["open"] for one in refused)
    assert (forced["forced"], named in forced["gaps"]) == (True, True)
    assert done(actor.call("mission.verify_chain", mission_id=mission))["first_bad_seq"] == 2


def test_a_session_of_python_is_an_agent_like_any_other(
    world: World, root: str, actor: Actor, mission: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_MODE", "embedded")
    with hindbrain.open(world.home.path, root=root, agent="python:script") as session:
        foreign = session.call("mission.close", mission_id=mission, force=True, reason="mine now")
        started = done(session.call("mission.start", task="review add again", mode="review"))["mission_id"]
        heard = done(
            session.call(
                "mission.heard",
                payload={
                    "tool_name": "Bash",
                    "tool_input": {"command": "pytest -q"},
                    "tool_response": {"stdout": "5 passed", "exit_code": 0},
                },
            )
        )
        forged = session.call("mission.status", mission_id=started, agent_id="human:founder")

    assert foreign["error"]["code"] == "mission_foreign"
    assert (heard["evidence_class"], heard["event"]["source"]) == ("direct_unverified", "agent")
    assert forged["ok"] is False or forged["agent_id"] == "python:script"
    assert done(actor.call("mission.status", mission_id=mission))["status"] == "active"
    assert sound(actor, started)
