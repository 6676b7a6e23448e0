"""OpenTelemetry: off by default, and then not even imported; when on, one span per event to a file or an endpoint."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.domain.handover import Inheritance
from hindbrain.engines.flight import span_of
from hindbrain.services.missions.flight import Flights
from hindbrain.services.telemetry import Telemetry, sink_of
from tests.support.missions import MissionDesk
from tests.support.model_server import raw, serving, status
from tests.support.world import World

ID = "msn_01TEST"


def spans(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        span
        for request in requests
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def in_file(path: Path) -> list[dict[str, Any]]:
    return spans(*(json.loads(line) for line in path.read_text().splitlines()))


def told(span: dict[str, Any]) -> dict[str, Any]:
    """Attributes of a span by name; whole numbers are texts on this wire."""
    values = {one["key"]: one["value"] for one in span["attributes"]}
    return {key: int(value["intValue"]) if "intValue" in value else value["stringValue"] for key, value in values.items()}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[MissionDesk]:
    made = MissionDesk(tmp_path)
    yield made
    made.close()


def exporting(desk: MissionDesk, where: str) -> Telemetry:
    made = Telemetry(sink_of(where))
    desk.log.mirrors.append(made.mirror)
    return made


def flown(desk: MissionDesk) -> None:
    desk.begin()
    desk.add(ID, "graph_query", payload={"query": "the secret plan"}, duration_ms=40)
    desk.add(ID, "loop_warning", payload={"rule": "LW2"})
    desk.add(ID, "recall", payload={"hits": 3})
    desk.add(ID, "file_read", "src/private.py")


def test_aol_119_aol_319_there_is_one_span_per_event_in_the_trace_of_the_mission(desk: MissionDesk, tmp_path: Path) -> None:
    exporting(desk, str(tmp_path / "spans.jsonl"))
    flown(desk)

    made = in_file(tmp_path / "spans.jsonl")
    records = Flights(desk.log).records(desk.opened, ID)

    assert len(made) == len(desk.log.events(desk.opened, ID)) == 4
    assert {one["traceId"] for one in made} == {records[0].trace_id}
    assert [(one["spanId"], one.get("parentSpanId")) for one in made] == [(one.span_id, one.parent_span_id) for one in records]
    first = told(made[0])
    assert {key: first[f"hindbrain.mission.{key}"] for key in ("id", "phase", "tool_family", "evidence_class", "outcome")} == {
        "id": ID,
        "phase": "locate",
        "tool_family": "graph",
        "evidence_class": "graph_orientation",
        "outcome": "found",
    }
    assert [told(one)["hindbrain.mission.loop_warnings"] for one in made] == [0, 1, 1, 1]
    assert int(made[0]["endTimeUnixNano"]) - int(made[0]["startTimeUnixNano"]) == 40_000_000
    assert (tmp_path / "spans.jsonl").stat().st_mode & 0o777 == 0o600


def test_aol_119_no_text_of_a_caller_is_among_the_attributes(desk: MissionDesk, tmp_path: Path) -> None:
    exporting(desk, str(tmp_path / "spans.jsonl"))
    flown(desk)

    written = (tmp_path / "spans.jsonl").read_text()

    assert "secret plan" not in written
    assert "private.py" not in written
    assert str(tmp_path) not in written


def test_aol_119_a_recall_is_a_memory_span_of_the_conventions(desk: MissionDesk, tmp_path: Path) -> None:
    exporting(desk, str(tmp_path / "spans.jsonl"))
    flown(desk)

    (recall,) = [one for one in in_file(tmp_path / "spans.jsonl") if one["name"] == "search_memory"]

    assert (told(recall)["gen_ai.operation.name"], told(recall)["gen_ai.memory.record.count"]) == ("search_memory", 3)
    assert told(recall)["gen_ai.memory.store.id"] == desk.opened.brain.id


def test_aol_119_an_exporter_that_comes_later_still_knows_the_root(desk: MissionDesk, tmp_path: Path) -> None:
    flown(desk)
    exporting(desk, str(tmp_path / "spans.jsonl"))
    desk.add(ID, "file_read", "a.py")

    (late,) = in_file(tmp_path / "spans.jsonl")

    assert late["parentSpanId"] == span_of(desk.log.events(desk.opened, ID)[0].event_id)
    assert told(late)["hindbrain.mission.loop_warnings"] == 1


def test_aol_119_aol_120_a_child_mission_links_to_the_trace_of_its_parent(desk: MissionDesk, tmp_path: Path) -> None:
    flown(desk)
    parent = Flights(desk.log).records(desk.opened, ID)[-1]
    exporting(desk, str(tmp_path / "spans.jsonl"))
    inherited = msgspec.to_builtins(Inheritance(parent_span_id=parent.span_id))
    desk.begin("msn_02CHILD", agent="a2", inherited=inherited, trace_id=parent.trace_id)
    for target in ("a.py", "b.py"):
        desk.add("msn_02CHILD", "file_read", target, agent="a2")

    first, second = in_file(tmp_path / "spans.jsonl")

    assert first["links"] == [{"traceId": parent.trace_id, "spanId": parent.span_id}]
    assert (first["traceId"], first["parentSpanId"]) == (parent.trace_id, parent.span_id)
    assert ("links" in second, second["parentSpanId"]) == (False, first["spanId"])


def test_aol_119_spans_reach_the_endpoint_that_the_operator_gave(desk: MissionDesk) -> None:
    with serving(raw(b"{}", content_type="application/json")) as server:
        telemetry = exporting(desk, server.url)
        flown(desk)
        telemetry.close()

        assert {one.path for one in server.asked} == {"/v1/traces"}
        made = spans(*(one.body for one in server.asked))
    assert [told(one)["hindbrain.event.seq"] for one in made] == [1, 2, 3, 4]


def test_aol_119_an_endpoint_that_refuses_costs_no_event(desk: MissionDesk, caplog: pytest.LogCaptureFixture) -> None:
    with serving(status(403)) as server:
        telemetry = exporting(desk, server.url)
        flown(desk)
        telemetry.close()

    assert len(desk.log.events(desk.opened, ID)) == 4
    assert caplog.text.count("spans cannot be delivered") == 1


def test_aol_119_a_file_that_cannot_be_written_costs_no_event(
    desk: MissionDesk, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporting(desk, str(tmp_path / "no" / "such" / "place"))
    flown(desk)

    assert len(desk.log.events(desk.opened, ID)) == 4
    assert caplog.text.count("spans cannot be written") == 1


@pytest.mark.parametrize(
    "where", ["spans.jsonl", "true", "ftp://127.0.0.1/x", "http://collector.example:4318", "https://user:word@collector.example"]
)
def test_aol_118_aol_122_what_names_no_safe_place_is_refused(where: str) -> None:
    with pytest.raises(ConfigInvalid, match="otel_export"):
        sink_of(where)


def test_aol_119_memory_operations_are_spans_without_their_words(tmp_path: Path) -> None:
    world = World(tmp_path, otel_export=str(tmp_path / "spans.jsonl"))
    actor = world.at(world.brain("repo"))
    actor.memorize("the lamp", "the lamp is on the roof")
    actor.seek("lamp roof")
    actor.call("forget", slug=7)
    world.close()

    made = [told(one) for one in in_file(tmp_path / "spans.jsonl")]

    assert [one["gen_ai.operation.name"] for one in made] == ["upsert_memory", "search_memory", "delete_memory"]
    assert [one["hindbrain.operation"] for one in made] == ["memorize", "seek", "forget"]
    assert (made[1]["gen_ai.memory.record.count"], len({one["gen_ai.memory.store.id"] for one in made})) == (1, 1)
    assert ("error.type" in made[1], made[2]["error.type"]) == (False, "human_needed")
    assert "roof" not in (tmp_path / "spans.jsonl").read_text()


QUIET = """
    import socket, sys, tempfile, pathlib

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    socket.socket.connect = refuse
    from tests.support.world import World

    world = World(pathlib.Path(tempfile.mkdtemp()))
    actor = world.at(world.brain("repo"))
    actor.memorize("the lamp", "the lamp is on the roof")
    actor.seek("lamp")
    started = actor.call("mission.start", task="find the lamp")
    assert started["ok"], started
    assert actor.call("mission.event", event_type="file_read", target="package.json")["ok"]
    world.close()
    print([name for name in sys.modules if "otlp" in name or "telemetry" in name])
"""


def test_aol_118_aol_122_by_default_nothing_is_sent_and_no_exporter_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(QUIET)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
