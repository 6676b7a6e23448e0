"""R6 on a real bus: it sees everything, keeps a log of its own, tells a person, and nobody can make it silent."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from hindbrain.domain.audit import Anomaly, AuditEvent
from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import AuditQuery, MemoryQuery
from hindbrain.domain.task import ExecutionResult
from hindbrain.engines.audit_window import Window
from hindbrain.policy.control import DEFAULTS
from hindbrain.services.control.auditor import Auditor
from hindbrain.services.control.ports import Voice
from hindbrain.services.control.tap import Tap
from hindbrain.stores.audit_log import AuditLog
from tests.support.stream import (
    START,
    Stream,
    call,
    correction,
    directive,
    final,
    manifest,
    outcome,
    replan,
    result,
    spec,
    subtask,
)

BUDGET = 300_000
WINDOW = 300_000


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[Stream]:
    made = Stream(tmp_path / "brain")
    yield made
    made.close()


def _task(stream: Stream, name: str = "t1") -> None:
    """A whole task as it is said when all goes well after one correction."""
    one = f"{name}-s1"
    stream.say(spec(name), manifest(name, one), subtask(name, one), result(one), correction(one), result(one, attempt=2))
    stream.say(outcome(name, one, attempts=2), final(name))


def _every_kind(stream: Stream) -> None:
    """A recorded stream in which each kind of anomaly stands once at least."""
    stream.say(spec("t1"), manifest("t1", "s1", "s2"), subtask("t1", "s1"), subtask("t1", "s1"))  # duplicate_id
    stream.say(result("s1"), sender=Role.EXECUTOR, to=Role.MEMORY)  # boundary_violation
    stream.say(result("s1", "completed", call("write", "disk full")))  # claim_contradiction
    stream.say(outcome("t1", "s1"), replan("t1", corrections=5))  # drift
    stream.say(directive("t1", "break_symmetry", d=1.0, p=1.0, grad=0.2))  # convergence_failure, cost_only_gradient
    stream.say(directive("t1", "break_symmetry", d=1.0, p=1.0))  # ggs_thrashing
    stream.say(directive("t1", "change_approach", d=0.6, p=1.0, grad=-0.216))  # suspicious_improvement
    stream.say(msgspec.structs.replace(final("t1"), directive=cast(Any, "refine")))  # schema_violation
    for name in ("a", "b", "c", "d", "e"):
        stream.say(*(result(name, attempt=turn) for turn in (1, 2, 3)))  # excessive_retries
    stream.counters["memory_write_dropped"] = 2  # memory_write_dropped
    stream.look()
    stream.now += 2 * BUDGET  # fanin_incomplete, missing_final_result


def test_ctl_271_every_kind_of_anomaly_is_found_in_a_recorded_stream(stream: Stream) -> None:
    _every_kind(stream)
    report = stream.report()

    kinds = {line.split(":")[0] for line in report.anomalies}
    assert kinds == {kind.value for kind in Anomaly} - {"none"}
    assert set(stream.anomalies()) == kinds


def test_ctl_015_ctl_266_there_is_one_audit_event_for_each_message_in_order(stream: Stream) -> None:
    _task(stream)
    stream.say(MemoryQuery(query_id="q", kind="C"), sender=Role.EXECUTOR, to=Role.MEMORY)
    stream.look()
    rows = stream.store.messages()

    assert [(one.x.seq, one.event_id) for one in stream.seen()] == [(row.seq, f"aud_{row.id}") for row in rows]
    assert len(rows) == 9


def test_ctl_270_an_audit_event_has_these_fields(stream: Stream) -> None:
    stream.say(spec("t1"))
    stream.say(result("s1"), sender=Role.EXECUTOR, to=Role.MEMORY)
    stream.look()
    whole, crossing = (json.loads(line) for line in stream.log.path.read_text().splitlines())

    assert set(whole) == {"event_id", "timestamp", "from_role", "to_role", "message_type", "anomaly", "detail", "x"}
    assert {"seq", "prev_hash", "hash"} <= set(whole["x"])
    assert (whole["from_role"], whole["to_role"], whole["message_type"]) == ("R1", "R2", "TaskSpec")
    assert (whole["timestamp"], whole["anomaly"], whole["detail"]) == ("2027-01-15T08:00:00.000Z", "none", None)
    assert crossing["anomaly"] == "boundary_violation"
    assert crossing["detail"] == "ExecutionResult from R3 to R5"


def test_ctl_269_the_log_is_a_private_file_of_its_own_and_holds_no_words_of_a_task(stream: Stream) -> None:
    _task(stream)
    stream.look()
    text = stream.log.path.read_text()

    assert stream.log.path == stream.path / "audit" / "log.jsonl"
    assert stat.S_IMODE(stream.log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(stream.log.path.parent.stat().st_mode) == 0o700
    assert "count the files" not in text
    assert "out.txt" not in text


@pytest.mark.parametrize("place", [0, 3, 7])
def test_ctl_269_a_removed_line_breaks_the_chain_where_it_stood(stream: Stream, place: int) -> None:
    _task(stream)
    stream.report()
    assert stream.log.check().broken is None
    lines = stream.log.path.read_bytes().splitlines(keepends=True)
    stream.log.path.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))

    assert stream.log.check().broken == place + 1


@pytest.mark.parametrize("what", ["detail", "hash", "order", "blank", "put in"])
def test_ctl_269_a_changed_line_breaks_the_chain_and_is_named(stream: Stream, what: str) -> None:
    _task(stream)
    stream.look()
    lines = stream.log.path.read_bytes().splitlines(keepends=True)
    changed = {
        "detail": [lines[2].replace(b'"detail":null', b'"detail":"fine"')],
        "hash": [lines[2].replace(b'"hash":"sha256:', b'"hash":"sha256:0')],
        "order": [lines[2].replace(b'{"anomaly":"none",', b'{ "anomaly":"none",')],
        "blank": [b"\n", lines[2]],
        "put in": [lines[1], lines[2]],
    }[what]
    stream.log.path.write_bytes(b"".join([*lines[:2], *changed, *lines[3:]]))

    assert stream.log.check().broken == 3


def test_ctl_268_looking_changes_nothing_but_the_log(stream: Stream) -> None:
    _task(stream)
    stream.written()
    before = (stream.store.head(), stream.store.messages(), stream.store.level_counts())
    stream.auditor.look()
    stream.written()

    assert (stream.store.head(), stream.store.messages(), stream.store.level_counts()) == before
    assert len(stream.seen()) == len(before[1])


def test_ctl_024_ctl_025_a_tap_reads_copies_by_a_cursor_of_its_own_and_can_do_nothing_else(stream: Stream) -> None:
    stream.say(spec("t1"), spec("t2"))
    stream.written()
    before = stream.store.messages()
    one, two = Tap(stream.store.messages), Tap(stream.store.messages)
    (first,) = one.next(1)
    assert first.payload is not None
    first.payload["intent"] = "something else"

    assert {name for name in dir(Tap) if not name.startswith("_")} == {"cursor", "next", "waiting"}
    assert stream.store.messages() == before
    both = two.next(10)
    assert [message.seq for message in both] == [row.seq for row in before]
    assert both[0].payload is not None
    assert both[0].payload["intent"] == "count files"
    with pytest.raises(AttributeError):
        first.seq = 9  # type: ignore[misc]


def test_ctl_023_an_auditor_that_fell_behind_gets_everything_in_order_and_says_that_it_lagged(
    stream: Stream, caplog: pytest.LogCaptureFixture
) -> None:
    stream.say(*(result(f"s{one}") for one in range(800)))
    stream.look()
    stream.say(result("one more"))
    stream.look()

    assert [one.x.seq for one in stream.seen()] == [row.seq for row in stream.store.messages(limit=5_000)]
    assert [one.detail for one in stream.events() if one.x.of == "notice"] == [
        "consumer_lag: the auditor was more than 256 messages behind"
    ]
    assert [record.levelname for record in caplog.records if "consumer_lag" in record.getMessage()] == ["WARNING"]


def test_ctl_285_who_asks_is_answered_at_once(stream: Stream) -> None:
    _task(stream)
    stream.say(AuditQuery(query_id="q1"))
    (sent,) = stream.look()

    assert (sent.query, sent.report.trigger) == ("q1", "on-demand")
    assert stream.reports() == [sent.report]
    answer = json.loads(stream.store.messages(recipient="User")[-1].body)
    assert (answer["from"], answer["to"], answer["correlation_id"]) == ("R6", "User", "q1")
    assert stream.look() == ()  # once


def test_ctl_285_a_report_goes_out_every_five_minutes_and_an_idle_window_sends_nothing(stream: Stream) -> None:
    _task(stream)
    assert stream.look() == ()
    stream.now = START + WINDOW - 1
    assert stream.look() == ()
    stream.now = START + WINDOW
    (sent,) = stream.look()
    stream.now = START + 9 * WINDOW
    assert stream.look() == ()  # its own report is no work to report on
    assert stream.look() == ()

    assert sent.report.trigger == "periodic"
    assert (sent.report.period.since, sent.report.period.until) == ("2027-01-15T08:00:00.000Z", "2027-01-15T08:05:00.000Z")
    assert stream.reports() == [sent.report]
    assert stream.anomalies() == []


def test_ctl_286_counters_begin_anew_after_each_report(stream: Stream) -> None:
    _task(stream)
    first = stream.report()
    second = stream.report()
    _task(stream, "t2")
    third = stream.report()

    assert [(one.tasks_observed, one.total_corrections) for one in (first, second, third)] == [(1, 1), (0, 0), (1, 1)]


def test_ctl_286_counters_survive_a_restart_in_mid_window(tmp_path: Path) -> None:
    told = []
    for restarts in (False, True):
        stream = Stream(tmp_path / str(restarts))
        _task(stream, "before")
        stream.report()
        stream.say(spec("t1"), manifest("t1", "s1", "s2"), subtask("t1", "s1"), result("s1", "failed"), correction("s1"))
        stream.say(directive("t1", "break_symmetry", d=1.0, p=1.0), replan("t1", corrections=6))
        stream.look()
        if restarts:
            stream.auditor = stream.another()
        stream.say(subtask("t1", "s1"), outcome("t1", "s1"), outcome("t1", "s1"))
        stream.say(directive("t1", "break_symmetry", d=1.0, p=1.0))
        stream.look()
        stream.now += 2 * BUDGET
        (sent,) = stream.look()
        told.append((msgspec.structs.replace(sent.report, report_id=""), sent.decisions, stream.anomalies()))
        stream.close()

    assert told[0] == told[1]
    assert told[0][2] == [
        "drift",
        "duplicate_id",
        "duplicate_id",
        "ggs_thrashing",
        "fanin_incomplete",
        "missing_final_result",
    ]


def test_ctl_286_a_query_that_was_noted_and_not_answered_is_answered_after_a_restart(stream: Stream) -> None:
    stream.say(AuditQuery(query_id="q1"))
    stream.look()
    noted, _ = stream.log.path.read_bytes().splitlines(keepends=True)
    stream.log.path.write_bytes(noted)
    stream.auditor = stream.another()

    assert [sent.query for sent in stream.look()] == ["q1"]


def test_ctl_286_a_report_that_was_written_before_a_crash_is_not_made_twice(stream: Stream) -> None:
    stream.say(AuditQuery(query_id="q1"))
    stream.written()
    log = AuditLog(stream.path / "audit")
    dying = Auditor(cast(Voice, _Mute(stream)), Tap(stream.store.messages), log, numbers=lambda _, __: DEFAULTS, counters=dict)
    with pytest.raises(RuntimeError):
        dying.look()
    stream.auditor = stream.another()

    assert stream.look() == ()
    assert [event.x.of for event in stream.events()] == ["message", "window"]


class _Mute:
    """A voice that fails, as when a process dies between writing and saying."""

    role = Role.AUDITOR

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def now(self) -> int:
        return self._stream.now

    def say(self, *_: object, **__: object) -> str:
        raise RuntimeError("gone")


def test_ctl_288_a_role_that_leaves_its_usual_rate_is_named_in_the_report(stream: Stream) -> None:
    for window in range(21):
        failing = window == 20
        for one in range(4):
            stream.say(result(f"w{window}-{one}", "failed" if failing or (one == 0 and window % 2) else "completed"))
        report = stream.report()

    assert [line.split(":")[0] for line in report.drift_alerts] == ["R3"]


def test_ctl_290_the_decisions_of_a_window_can_be_exported(stream: Stream) -> None:
    stream.say(spec("t1"), directive("t1", "change_path"), directive("t1", "refine", grad=-0.204), final("t1", "success", d=0.25))
    stream.say(AuditQuery(query_id="q1"))
    (sent,) = stream.look()
    window = next(event for event in stream.events() if event.x.of == "window")

    assert sent.decisions == window.x.decisions
    assert [(one.directive, one.D, one.grad_l, one.outcome) for one in sent.decisions] == [
        ("change_path", 0.5, 0.0, "success"),
        ("refine", 0.5, -0.204, "success"),
        ("success", 0.25, 0.0, "success"),
    ]


def test_ctl_285_a_report_over_the_past_leaves_the_window_as_it_is(stream: Stream) -> None:
    _task(stream, "t1")
    stream.report()
    stream.now += 60_000
    _task(stream, "t2")
    both = stream.report(since="2027-01-15T08:00:00Z")
    later = stream.report(since="2027-01-15T08:01:00Z")
    window = stream.report()

    assert [one.tasks_observed for one in (both, later, window)] == [2, 1, 1]
    assert stream.anomalies() == []


# -- nobody can make it silent ---------------------------------------------------------------------------------------------


def test_ctl_267_only_a_person_may_ask_and_what_others_ask_is_named_and_not_answered(stream: Stream) -> None:
    for role in Role:
        stream.say(AuditQuery(query_id=f"from {role}"), sender=role)
    sent = stream.look()

    assert [one.query for one in sent] == ["from User"]
    assert stream.anomalies() == ["boundary_violation"] * 8


def test_ctl_267_a_report_that_the_auditor_did_not_write_is_named_and_resets_nothing(stream: Stream) -> None:
    _task(stream)
    stream.look()
    stream.say(Window().report(report_id="forged", trigger="periodic", since=START, until=START))
    report = stream.report()

    assert report.tasks_observed == 1
    assert "is forged, or the log was cut" in report.boundary_violations[0]


def test_ctl_267_a_report_that_is_said_a_second_time_is_forged(stream: Stream) -> None:
    _task(stream)
    report = stream.report()
    stream.look()
    stream.say(report)
    stream.look()

    assert stream.anomalies() == ["boundary_violation"]


def test_ctl_267_a_role_that_raises_or_says_what_does_not_fit_is_seen_all_the_same(stream: Stream) -> None:
    with pytest.raises(BoundaryViolation):
        stream.bus.voice(Role.EXECUTOR).say(Role.MEMORY, ExecutionResult(subtask_id="s", status="completed"), task_id=None)
    stream.put("FinalResult", "R7", "User", "this is no body")
    stream.put("Nonsense", "R9", "R6", "[1]")
    stream.put("TaskSpec", "R1", "R2", "[" * 100_000)
    stream.look()

    assert [one.anomaly.value for one in stream.seen()] == [
        "boundary_violation",
        "schema_violation",
        "boundary_violation",
        "schema_violation",
    ]
    assert [kind.value for kind, _ in stream.seen()[2].x.also] == ["schema_violation"]


def test_ctl_267_a_body_that_contradicts_its_row_fits_nothing(stream: Stream) -> None:
    """A row that says R7 sent it, with the body of a message that R3 sent."""
    stream.say(final("t1"), sender=Role.EXECUTOR)
    stream.written()
    stream.put("FinalResult", "R7", "User", stream.store.messages()[0].body, task_id="t1")
    stream.look()

    assert stream.anomalies() == ["boundary_violation", "schema_violation"]


def test_ctl_267_a_flood_neither_hides_a_message_nor_keeps_the_auditor(stream: Stream) -> None:
    stream.say(*(spec(f"t{one}") for one in range(700)))
    stream.say(result("s1"), to=Role.MEMORY)
    stream.say(*(spec(f"u{one}") for one in range(700)))
    stream.look()

    assert len(stream.seen()) == 1_401
    assert stream.anomalies() == ["boundary_violation"]


def test_ctl_267_a_line_that_is_changed_is_told_to_the_person_at_once_and_nothing_after_it_is_lost(stream: Stream) -> None:
    _task(stream)
    stream.look()
    text = stream.log.path.read_text()
    stream.log.path.write_text(text.replace('"anomaly":"none"', '"anomaly":"drift"', 1))
    stream.auditor = stream.another()
    (sent,) = stream.look()

    assert sent.report.boundary_violations == ("line 1 of the audit log is not as it was written",)
    assert sent.report.total_corrections == 1
    assert {one.x.seq for one in stream.seen()} == {row.seq for row in stream.store.messages() if row.type != "AuditReport"}
    assert stream.log.check().broken == 1
    stream.auditor = stream.another()
    assert stream.look() == ()


def test_ctl_267_moving_the_cursor_of_the_log_skips_nothing(stream: Stream) -> None:
    _task(stream)
    stream.look()
    lines = stream.log.path.read_text().splitlines()
    last = json.loads(lines[-1])
    last["x"]["seq"] = 10**9
    stream.log.path.write_text("\n".join([*lines[:-1], json.dumps(last, sort_keys=True, separators=(",", ":"))]) + "\n")
    stream.say(result("s9"), to=Role.MEMORY)
    stream.auditor = stream.another()
    (sent,) = stream.look()

    assert any("ExecutionResult from R3 to R5" in line for line in sent.report.boundary_violations)


def test_ctl_267_lines_that_were_made_up_with_hashes_that_hold_do_not_stop_it(stream: Stream) -> None:
    _task(stream)
    stream.look()
    stream.log.path.unlink()
    forged = AuditLog(stream.path / "audit")
    with forged.hold():
        forged.append([{"x": {"seq": 10**9, "of": "window", "carry": {}}, "nothing": "like it"}])
    stream.auditor = stream.another()
    (sent,) = stream.look()

    assert sent.report.boundary_violations == ("line 1 of the audit log is not as it was written",)
    assert len(stream.store.messages()) == 8 + 1
    assert sent.report.tasks_observed == 1


def test_ctl_267_a_log_that_is_taken_away_is_told_and_made_again(stream: Stream) -> None:
    _task(stream)
    stream.look()
    stream.log.path.unlink()
    (sent,) = stream.look()

    assert "bytes shorter than it was" in sent.report.boundary_violations[0]
    assert [one.x.seq for one in stream.seen()] == [row.seq for row in stream.store.messages() if row.type != "AuditReport"]


def test_ctl_267_a_log_that_was_cut_while_nobody_looked_is_known_by_its_reports_on_the_bus(stream: Stream) -> None:
    _task(stream)
    stream.report()
    lines = stream.log.path.read_bytes().splitlines(keepends=True)
    stream.log.path.write_bytes(b"".join(lines[:2]))
    stream.auditor = stream.another()
    report = stream.report()

    assert "is forged, or the log was cut" in report.boundary_violations[0]


# -- crashes and rivals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_ctl_269_a_line_that_a_crash_tore_is_read_from_the_bus_again(stream: Stream, cut: int) -> None:
    _task(stream)
    stream.look()
    whole = stream.log.path.read_bytes()
    os.truncate(stream.log.path, len(whole) - cut)
    stream.auditor = stream.another()
    stream.look()

    assert stream.log.path.read_bytes() == whole
    assert stream.log.check().broken is None


def test_ctl_314_the_log_is_made_again_from_the_messages(stream: Stream) -> None:
    _task(stream)
    stream.say(result("s1"), to=Role.MEMORY)
    stream.say(replan("t1", corrections=5))
    stream.look()
    whole = stream.log.path.read_bytes()
    stream.log.path.unlink()
    stream.auditor = stream.another()
    stream.look()

    assert stream.log.path.read_bytes() == whole


def test_ctl_269_two_processes_write_one_chain(stream: Stream) -> None:
    other = stream.another()
    for turn in range(4):
        _task(stream, f"t{turn}")
        stream.written()
        (stream.auditor if turn % 2 else other).look()
    with AuditLog(stream.path / "audit").hold() as mine:
        _task(stream, "t9")
        stream.written()
        assert mine
        assert stream.auditor.look() == ()  # who holds the log is at it

    assert len(stream.seen()) == 4 * 8
    assert stream.log.check().broken is None
    stream.look()
    assert len(stream.seen()) == 5 * 8


def test_ctl_266_looking_is_cheap_when_nothing_is_new(stream: Stream) -> None:
    stream.auditor.look()
    assert not stream.log.path.parent.exists()  # a brain without messages gets no log
    _task(stream)
    stream.look()
    size = stream.log.path.stat().st_size
    for _ in range(50):
        assert stream.auditor.look() == ()

    assert stream.log.path.stat().st_size == size


def test_ctl_017_an_auditor_needs_a_voice(stream: Stream) -> None:
    with pytest.raises(ValueError, match="voice"):
        Auditor(cast(Voice, None), Tap(stream.store.messages), stream.log, numbers=lambda _, __: DEFAULTS, counters=dict)


def test_ctl_267_hearing_a_query_is_looking(stream: Stream) -> None:
    assert Auditor.hears == {MessageType.AUDIT_QUERY}
    listening = stream.bus.subscribe("R6", after=0)
    stream.say(AuditQuery(query_id="q1"))
    stream.written()
    heard = listening.next(1.0)
    assert heard is not None
    stream.auditor.hear(heard)
    stream.written()

    assert len(stream.reports()) == 1
    assert [msgspec.to_builtins(event)["x"]["of"] for event in stream.events()] == ["message", "window"]
    assert isinstance(stream.events()[0], AuditEvent)
