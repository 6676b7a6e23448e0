"""Forgetting reaches missions: what they held is gone for good, their heads say so, and no check calls that a break."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.stores import mission_files
from hindbrain.stores.locks import try_lock
from tests.support.world import Actor, World, git

NAME = "Anna Zebrowski"
VALUE = f"{NAME} complained about the invoice of May."
OTHER = "codex:second"


@pytest.fixture
def root(world: World) -> str:
    made = world.brain("shop", calc_py="def add(a, b):\n    return a - b\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    return made


def done(actor: Actor, operation: str, **arguments: Any) -> dict[str, Any]:
    answer = actor.call(operation, **arguments)
    assert answer["ok"], answer
    return answer


def begun(actor: Actor, task: str = "review add") -> str:
    return str(done(actor, "mission.start", task=task, mode="review")["mission_id"])


def holding(*places: Path, words: str = NAME) -> list[str]:
    found = (path for place in places for path in place.rglob("*") if path.is_file() and ".git" not in path.parts)
    return [str(path) for path in found if words.encode() in path.read_bytes()]


def forget(world: World, root: str, claim: str = "Customer 4711") -> dict[str, Any]:
    return done(world.human(root), "forget", claim=claim, reason="personal data")


def as_task(actor: Actor) -> str:
    return begun(actor, VALUE)


def as_event(actor: Actor) -> str:
    mission = begun(actor)
    done(actor, "mission.event", event_type="note", payload={"found": [{"text": f"In the mail: {VALUE} So it is."}]})
    return mission


def as_claim(actor: Actor) -> str:
    mission = begun(actor)
    done(actor, "mission.claim", claim=VALUE)
    return mission


def as_packet(actor: Actor) -> str:
    mission = begun(actor)
    done(actor, "mission.close", summary=VALUE, force=True, reason="enough", write_light=True)
    return mission


def as_handover(actor: Actor) -> str:
    mission = begun(actor)
    done(actor, "mission.handoff", summary=VALUE)
    return mission


@pytest.mark.parametrize("said", [as_task, as_event, as_claim, as_packet, as_handover])
def test_a_forgotten_value_leaves_no_byte_in_a_mission(world: World, root: str, said: Any) -> None:
    actor = world.at(root)
    actor.memorize("Customer 4711", VALUE)
    mission = said(actor)
    other = begun(world.at(root, OTHER))
    count = {one["mission_id"]: one["event_count"] for one in done(actor, "mission.list")["missions"]}

    answer = forget(world, root)

    assert answer["reached"][0]["missions"] == [mission]
    assert "1 mission(s) that held it were erased" in answer["rendered"]
    assert holding(world.home.path, Path(root)) == []
    assert not (world.home.brains_dir / fingerprint(root) / "missions" / mission).exists()
    listed = {one["mission_id"]: one for one in done(actor, "mission.list")["missions"]}
    assert (listed[mission]["erased"], listed[mission]["event_count"]) == (True, count[mission])
    assert listed[mission]["status"] == ("closed" if said is as_packet else "abandoned")
    assert listed[other]["erased"] is False
    assert done(world.at(root, OTHER), "mission.status")["mission_id"] == other


def test_an_erased_mission_answers_every_call_by_saying_so(world: World, root: str) -> None:
    actor = world.at(root)
    actor.memorize("Customer 4711", VALUE)
    mission = as_claim(actor)
    given = done(actor, "mission.handoff", leave=False)["handoff_id"]
    digest = done(actor, "mission.status")["event_digest"]
    forget(world, root)

    calls = [
        ("mission.status", {}),
        ("mission.status", {"at": 1}),
        ("flight", {}),
        *(("mission.export", {"format": form}) for form in ("state", "events", "flight", "handoff", "proof", "prov-json")),
        ("mission.next", {}),
        ("mission.event", {"event_type": "note"}),
        ("mission.claim", {"claim": "add subtracts"}),
        ("mission.close", {"force": True, "reason": "enough"}),
        ("mission.handoff", {}),
        ("mission.resume", {}),
    ]
    errors = [actor.call(name, mission_id=mission, **more)["error"] for name, more in calls]

    assert {(one["code"], one["erased"]) for one in errors} == {("unknown_mission", True)}
    assert {one["event_digest"] for one in errors} == {digest}
    assert actor.call("mission.resume", mission_id=given)["error"]["code"] == "unknown_mission"
    assert actor.call("mission.next")["error"]["code"] == "unknown_mission"
    assert begun(actor) != mission


def test_the_checks_call_an_erased_mission_erased_and_not_broken(world: World, root: str) -> None:
    actor = world.at(root)
    actor.memorize("Customer 4711", VALUE)
    mission = as_packet(actor)
    forget(world, root)

    chain = done(actor, "mission.verify_chain", mission_id=mission)

    assert (chain["erased"], chain["valid"], chain["first_bad_seq"]) == (True, None, None)
    assert "erased" in chain["rendered"]
    assert done(actor, "ledger.verify")["intact"]
    (entry,) = done(actor, "ledger.show", act="mission.erase", limit=10)["entries"]
    assert (entry["subject"], set(entry["payload"])) == (mission, {"events", "hash", "status"})


def test_rows_that_somebody_took_away_are_not_called_erased(world: World, root: str) -> None:
    actor = world.at(root)
    mission = as_claim(actor)
    world.close()
    with sqlite3.connect(world.home.brains_dir / fingerprint(root) / "brain.db") as database:
        for (name,) in database.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            database.execute(f"drop trigger {name}")
        database.execute("delete from mission_event")
        database.execute("update mission set spec = '', status = 'abandoned'")
    database.close()

    chain = done(actor, "mission.verify_chain", mission_id=mission)

    assert (chain["erased"], chain["valid"]) == (False, False)
    assert actor.call("ledger.verify")["intact"] is False


def test_a_mission_goes_on_when_one_that_came_from_it_was_erased(world: World, root: str) -> None:
    actor, second = world.at(root), world.at(root, OTHER)
    actor.memorize("Customer 4711", VALUE)
    mission = begun(actor)
    given = done(actor, "mission.handoff", leave=False)["handoff_id"]
    child = str(done(second, "mission.resume", mission_id=given)["mission_id"])
    done(second, "mission.claim", claim=VALUE)

    assert forget(world, root)["reached"][0]["missions"] == [child]
    closed = done(actor, "mission.close", mission_id=mission, force=True, reason="enough")

    assert child in json.dumps(closed["proof"])
    assert done(actor, "mission.verify_chain", mission_id=mission)["valid"]
    assert done(actor, "ledger.verify")["intact"]


def test_a_course_that_another_process_remembers_does_not_bring_a_mission_back(world: World, root: str) -> None:
    actor = world.at(root)
    actor.memorize("Customer 4711", VALUE)
    mission = as_event(actor)
    second = World(world.place)
    try:
        forget(second, root)
    finally:
        second.close()

    assert actor.call("mission.event", mission_id=mission, event_type="note")["error"]["erased"] is True
    assert holding(world.home.path, Path(root)) == []


def test_a_forgotten_row_of_evidence_leaves_missions_too(world: World, root: str) -> None:
    actor = world.at(root)
    done(actor, "record", text=VALUE)
    (row,) = done(actor, "memory.list")["rows"]
    mission = as_event(actor)

    answer = forget(world, root, row["evidence_id"])

    assert answer["reached"][0]["missions"] == [mission]
    assert holding(world.home.path, Path(root)) == []
    assert done(actor, "ledger.verify")["intact"]


def test_files_that_cannot_be_deleted_are_named_and_go_the_next_time(
    world: World, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = world.at(root)
    actor.memorize("Customer 4711", VALUE)
    actor.memorize("Gate", "The gate is closed at eight in the evening.")
    mission = as_claim(actor)
    place = world.home.brains_dir / fingerprint(root) / "missions" / mission
    monkeypatch.setattr(mission_files, "_WAIT_S", 0.01)
    held = try_lock(place / ".lock")  # somebody writes there and does not come to an end
    assert held is not None

    answer = forget(world, root)
    os.close(held)

    assert str(place) in answer["reached"][0]["files_left"][0]
    assert str(place) in answer["rendered"]
    assert "missions" not in forget(world, root, "Gate")["reached"][0]
    assert not place.exists()
    assert holding(world.home.path, Path(root)) == []


def test_what_is_only_rejected_stays_in_the_record_of_a_mission(world: World, root: str) -> None:
    actor = world.at(root)
    actor.memorize("Customer 4711", VALUE)
    mission = as_claim(actor)
    done(world.human(root), "reject", claim="Customer 4711", reason="it was June")

    assert done(actor, "mission.status", mission_id=mission)["claims"][0]["claim"] == VALUE
    child = done(world.at(root, OTHER), "mission.resume", mission_id=mission)
    assert any("rejected by now" in one for one in child["warnings"]), child
    assert VALUE not in json.dumps(done(world.at(root, OTHER), "mission.export", format="state")["data"])
