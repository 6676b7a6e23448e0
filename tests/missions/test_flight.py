"""The flight recorder: what each line holds, what the four questions are answered with, and how runs are joined."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from hindbrain.domain.handover import FlightRecord, Inheritance
from hindbrain.domain.mission import EventType
from hindbrain.engines.course import coursed
from hindbrain.engines.flight import kept_target, recorded, span_of, trace_of
from hindbrain.services.missions.flight import Flights
from hindbrain.services.missions.log import MissionLog
from tests.support.missions import MissionDesk, chained, claimed, event, guard, spec

ID = "msn_01TEST"
REQUIRED = (
    *("mission_id", "step_id", "tool_family", "target", "phase", "duration_ms", "outcome", "confidence_before"),
    *("confidence_after", "direct_evidence_count", "graph_call_count", "loop_warning_count"),
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[MissionDesk]:
    made = MissionDesk(tmp_path)
    yield made
    made.close()


def test_aol_113_each_record_has_its_fields_and_the_three_counts_are_totals() -> None:
    events = chained(
        [
            event("graph_query", payload={"query": "who calls a"}),
            event("file_read", "a.py", evidence_class="direct_source", duration_ms=12),
            event("loop_warning", payload={"rule": "LW2"}),
            event("file_read", "b.py", evidence_class="direct_unverified"),
            event("graph_query", payload={"query": "who calls b"}),
            claimed("a is wrong", verify=False),
        ]
    )

    made = recorded(spec(), events)

    assert set(REQUIRED) <= set(msgspec.to_builtins(made[1]))
    assert (made[1].target, made[1].duration_ms, made[1].step_id, made[1].mission_id) == ("a.py", 12, 2, ID)
    totals = [(one.direct_evidence_count, one.graph_call_count, one.loop_warning_count) for one in made]
    assert totals == [(0, 1, 0), (1, 1, 0), (1, 1, 1), (1, 1, 1), (1, 2, 1), (1, 2, 1)]
    without = msgspec.to_builtins(made[0])
    for name in REQUIRED:
        with pytest.raises(msgspec.ValidationError, match=name):
            msgspec.convert({key: value for key, value in without.items() if key != name}, FlightRecord)


def test_aol_116_every_record_has_the_counts_that_the_mission_has_then() -> None:
    """Whatever the type of an event: the recorder counts it as the mission itself does."""
    payloads = {
        EventType.CONTEXT_GUARD: {"guard": msgspec.to_builtins(guard())},
        EventType.CLAIM: claimed("c", verify=False).payload,
        EventType.VERIFY: claimed("c").payload,
    }
    made = chained([event(type_, "a.py", payload=payloads.get(type_, {})) for type_ in EventType if type_ is not EventType.CLOSE])
    course = coursed(spec())
    for one, line in zip(made, recorded(spec(), made), strict=True):
        course.add(one)
        assert (line.direct_evidence_count, line.graph_call_count, line.loop_warning_count) == (
            course.direct_count,
            course.graph_calls,
            course.loop_warnings,
        ), one.event_type

    assert min(course.direct_count, course.graph_calls, course.loop_warnings) > 0


def test_aol_115_a_record_has_the_confidence_before_and_after_it() -> None:
    made = recorded(
        spec(),
        chained(
            [
                event("file_read", "a.py"),
                event("file_read", "a.py", agent_confidence=0.4),
                event("file_read", "b.py"),
                event("file_read", "b.py", agent_confidence=0.7),
                claimed("a is wrong", verify=True),
                event("file_read", "c.py"),
            ]
        ),
    )

    said = [(one.confidence_before, one.confidence_after) for one in made]
    assert said == [(None, None), (None, 0.4), (0.4, None), (0.4, 0.7), (0.7, None), (None, None)]


def test_aol_115_a_claim_that_stays_open_keeps_its_confidence() -> None:
    short = claimed("a is wrong", verify=True, verdict="insufficient_evidence")
    made = recorded(spec(), chained([event("file_read", "a.py", agent_confidence=0.4), short, event("note")]))

    assert made[-1].confidence_before == 0.4


def test_aol_319_every_record_has_the_trace_of_its_mission_and_a_span_of_its_own() -> None:
    made = recorded(spec(), chained([event("file_read", "a.py"), event("file_read", "b.py")]))

    assert {one.trace_id for one in made} == {spec().trace_id}
    assert len({one.span_id for one in made}) == 2
    assert [one.parent_span_id for one in made] == [None, made[0].span_id]
    assert [one.span_id for one in made] == [span_of(one.event_id) for one in made]
    bare = trace_of(spec(trace_id=""))
    assert (len(bare), bare != trace_of(spec(trace_id="", mission_id="msn_02"))) == (32, True)


def test_aol_120_the_records_of_a_child_lead_to_the_trace_of_its_parent() -> None:
    parent = recorded(spec(), chained([event("file_read", "a.py"), event("handoff")]))
    inherited = msgspec.to_builtins(Inheritance(handoff_ids=("hnd_1",), parent_span_id=parent[-1].span_id))
    child = spec(mission_id="msn_02", parent_mission_id=ID, trace_id=parent[0].trace_id, inherited=inherited)

    made = recorded(child, chained([event("resume"), event("file_read", "b.py")], "msn_02"))

    assert {one.trace_id for one in made} == {parent[0].trace_id}
    assert [one.parent_span_id for one in made] == [parent[-1].span_id, made[0].span_id]


def test_aol_112_a_flight_answers_what_why_on_which_evidence_and_where_in_circles(desk: MissionDesk) -> None:
    desk.begin()
    for why in ("the task names it", "once more"):
        desk.add(ID, "literal_search", payload={"query": "def clamp", "why": why})
    read = desk.add(ID, "file_read", "src/clamp.py", payload={"why": "the search found it"})
    desk.add(ID, "loop_warning", payload={"rule": "LW2", "message": "searched before", "event_ids": ["evt_x"]})
    desk.add(ID, "dead_path", "src/other.py", payload={"why": "no caller reaches it"})
    claim = {
        "claim_id": "clm_1",
        "claim": "clamp drops the upper bound",
        "created_at": read.timestamp,
        "verdict": "verified_for_mission",
        "evidence_refs": [read.event_id],
    }
    desk.add(ID, "verify", "clm_1", payload={"claim": claim})

    told = Flights(desk.log).told(desk.opened, ID, records=2)

    assert [(one["did"], one["target"]) for one in told["actions"]][1:3] == [
        ("literal_search", None),
        ("file_read", "src/clamp.py"),
    ]
    assert "the search found it" in [one["why"] for one in told["reasons"]]
    assert told["evidence"]["claims"][0]["event_ids"] == [read.event_id]
    assert told["circles"]["warnings"] == [{"seq": 4, "rule": "LW2", "message": "searched before", "event_ids": ["evt_x"]}]
    assert told["circles"]["repeated_searches"] == 1
    assert [one["step_id"] for one in told["records"]] == [5, 6]
    text = told["rendered"]
    for question, answer in (
        ("What was done", "file_read src/clamp.py"),
        ("For what reason", "the task names it"),
        ("On which evidence", "verified_for_mission: clamp drops the upper bound (1 events)"),
        ("Where it went in circles", "LW2 searched before"),
    ):
        assert question in text
        assert answer in text.split(question)[1]


def test_aol_112_a_flight_without_events_says_so(desk: MissionDesk) -> None:
    desk.begin()

    told = Flights(desk.log).told(desk.opened, ID)

    assert (told["actions"], told["records"], told["event_count"]) == ([], [], 0)
    assert "Where it went in circles: nowhere" in told["rendered"]
    assert "For what reason: none was given" in told["rendered"]


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("src/a.py", True),
        ("/srv/repo/src/a.py", True),
        ("/srv/repo", True),
        ("src/../a.py", True),
        ("who calls clamp", True),
        ("pytest -q tests", True),
        (None, True),
        ("/srv/repository/a.py", False),
        ("/etc/passwd", False),
        ("/srv/repo/../secret", False),
        ("../other/a.py", False),
        ("src/../../other", False),
        ("~/notes.md", False),
        ("https://example.org/private", False),
        ("file:///etc/passwd", False),
    ],
)
def test_aol_121_only_what_lies_outside_the_repository_is_kept_as_a_digest(target: str | None, kept: bool) -> None:
    made = kept_target(target, "/srv/repo")

    assert (made == target) is kept
    if not kept:
        assert made is not None
        assert made.startswith("sha256:")
        assert kept_target(made, "/srv/repo") == made


def test_aol_121_the_setting_keeps_outside_targets_out_of_events_and_records(desk: MissionDesk) -> None:
    desk.begin()
    desk.add(ID, "file_read", "/etc/hosts")
    desk.log = MissionLog(desk.clock, redact_external=True)
    desk.add(ID, "file_read", "/etc/hosts")
    desk.add(ID, "file_read", "src/a.py")

    named, hidden, inside = Flights(desk.log).records(desk.opened, ID)

    assert (named.target, inside.target) == ("/etc/hosts", "src/a.py")
    assert hidden.target is not None
    assert (hidden.target[:7], len(hidden.target)) == ("sha256:", 71)
    assert "/etc/hosts" not in desk.opened.store.mission_events(ID)[1].body
