"""The recorder in the product: a mission through its operations, and what stands in its files, its flight and its spans after."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.engines.mission_chain import first_break
from tests.support.world import Actor, World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path, otel_export=str(tmp_path / "spans.jsonl"), **{"flight.redact_external": True})
    yield made
    made.close()


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def files(world: World, mission_id: str) -> Path:
    (found,) = world.home.path.rglob(f"missions/{mission_id}")
    return found


def exported(actor: Actor, mission_id: str, form: str) -> list[dict[str, Any]]:
    """What an export gives, as the wire has it."""
    data = done(actor.call("mission.export", mission_id=mission_id, format=form))["data"]
    told: list[dict[str, Any]] = json.loads(json.dumps(data))
    return told


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def flown(world: World, actor: Actor) -> str:
    """A mission with a search that is repeated, a read, and a look outside the repository."""
    mission_id = str(done(actor.call("mission.start", task="find the fault", mode="review"))["mission_id"])
    for _ in range(2):
        done(actor.call("mission.event", event_type="literal_search", target="package", payload={"why": "the task names it"}))
    done(actor.call("mission.event", event_type="file_read", target="package.json", confidence=0.4))
    done(actor.call("mission.event", event_type="file_read", target=str(world.place / "outside.txt"), confidence=0.7))
    return mission_id


def test_aol_043_aol_116_the_files_of_a_closed_mission_agree_with_each_other_and_with_the_packet(world: World) -> None:
    actor = world.at(world.brain("repo"))
    mission_id = flown(world, actor)
    handed = done(actor.call("mission.handoff", leave=False))
    packet = done(actor.call("mission.close", summary="nothing to be found", force=True, reason="a test"))["proof"]
    place = files(world, mission_id)

    assert {path.name for path in place.iterdir() if not path.name.startswith(".")} == {
        *("state.json", "events.jsonl", "flight.jsonl", "handoff-1.json", "proof.json"),
    }
    events, flight = lines(place / "events.jsonl"), lines(place / "flight.jsonl")
    assert first_break(mission_id, events) is None
    assert [one["event_id"] for one in flight] == [one["event_id"] for one in events]
    assert exported(actor, mission_id, "events") == events
    assert exported(actor, mission_id, "flight") == flight
    state = json.loads((place / "state.json").read_text())
    assert (state["status"], state["event_count"], state["event_digest"]) == ("closed", len(events), events[-1]["hash"])
    assert json.loads((place / "handoff-1.json").read_text())["handoff_id"] == handed["handoff_id"]
    counted = ("direct_evidence_count", "graph_call_count", "loop_warning_count")
    before_closing = next(one for one in reversed(flight) if events[one["step_id"] - 1]["event_type"] != "close")
    assert {name: packet["counters"][name] for name in counted} == {name: before_closing[name] for name in counted}
    assert flight[-1]["direct_evidence_count"] >= 1
    assert flight[-1]["loop_warning_count"] >= 1


def test_aol_112_aol_115_a_flight_is_shown_from_its_operation(world: World) -> None:
    actor = world.at(world.brain("repo"))
    mission_id = flown(world, actor)

    told = done(actor.call("flight", mission_id=mission_id))

    for question in ("What was done", "For what reason", "On which evidence", "Where it went in circles"):
        assert question in told["rendered"]
    assert "the task names it" in told["rendered"]
    assert [one["target"] for one in told["actions"]][:3] == ["package", "package", "package.json"]
    assert told["circles"]["repeated_searches"] == 1
    reads = [one for one in told["records"] if one["tool_family"] == "direct_read"]
    assert [(one["confidence_before"], one["confidence_after"]) for one in reads] == [(None, 0.4), (0.4, 0.7)]


def test_aol_042_a_mission_goes_on_after_a_restart_with_or_without_its_files(world: World) -> None:
    actor = world.at(world.brain("repo"))
    mission_id = flown(world, actor)
    before = done(actor.call("mission.status", mission_id=mission_id))
    for path in files(world, mission_id).iterdir():
        path.unlink()
    world.restart()

    assert done(actor.call("mission.status", mission_id=mission_id)) == before
    done(actor.call("mission.event", event_type="note", target="again"))

    events = lines(files(world, mission_id) / "events.jsonl")
    assert first_break(mission_id, events) is None
    assert len(events) > before["event_count"]


def test_aol_121_with_the_setting_a_target_outside_the_repository_is_nowhere_named(world: World) -> None:
    actor = world.at(world.brain("repo"))
    mission_id = flown(world, actor)

    place = files(world, mission_id)
    read = [one for one in lines(place / "flight.jsonl") if one["tool_family"] == "direct_read"]

    assert (read[0]["target"], read[1]["target"][:7]) == ("package.json", "sha256:")
    assert "outside.txt" not in (place / "flight.jsonl").read_text()


def test_aol_119_aol_120_spans_of_a_mission_and_of_its_child_are_one_trace(world: World, tmp_path: Path) -> None:
    root = world.brain("repo")
    actor = world.at(root)
    mission_id = flown(world, actor)
    handed = done(actor.call("mission.handoff"))
    other = world.at(root, agent="second")
    child = done(other.call("mission.resume", mission_id=handed["handoff_id"]))["mission_id"]
    done(other.call("mission.event", event_type="file_read", target="package.json"))

    made = [
        span
        for one in lines(tmp_path / "spans.jsonl")
        for resource in one["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    by_mission: dict[str, list[dict[str, Any]]] = {}
    for span in made:
        names = {one["key"]: one["value"].get("stringValue") for one in span["attributes"]}
        by_mission.setdefault(str(names.get("hindbrain.mission.id")), []).append(span)

    for name in (mission_id, child):
        assert len(by_mission[name]) == len(lines(files(world, name) / "events.jsonl"))
    traces = {span["traceId"] for name in (mission_id, child) for span in by_mission[name]}
    assert traces == {by_mission[mission_id][0]["traceId"]}
    (link,) = by_mission[child][0]["links"]
    assert link["spanId"] in {span["spanId"] for span in by_mission[mission_id]}
    first = lines(files(world, child) / "flight.jsonl")[0]
    assert (first["trace_id"], first["parent_span_id"]) == (link["traceId"], link["spanId"])
