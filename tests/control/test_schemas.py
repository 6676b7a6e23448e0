"""Schemas: the files and the records say the same, and readers know this version and the one before."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from hindbrain.domain.message import BusMessage, MessageType, Role
from hindbrain.domain.reading import read_criteria, read_message, read_record
from hindbrain.domain.schemas import MISSION_RECORDS, RECORDS
from hindbrain.domain.task import Criterion, DispatchManifest, ReplanRequest, SubTask
from hindbrain.services.control.bus import decoded
from hindbrain.stores.experience_port import StoredMessage

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "docs" / "reference" / "schemas"

NOW = "2026-01-01T00:00:00.000Z"
CRITERION = {
    "criterion": "a.txt exists",
    "mode": "verifiable",
    "x": {"check": {"kind": "path_exists", "args": {"path": "a.txt"}}},
}
VERDICT = {
    "criterion": "a.txt exists",
    "mode": "verifiable",
    "verdict": "fail",
    "failure_class": "logical",
    "evidence": "a.txt is missing",
    "x": {"event_ids": []},
}
POINT = {
    "attempt": 1,
    "score": 0.0,
    "unmet_criteria": ["a.txt exists"],
    "failure_class": "logical",
    "failed_criteria": [{"criterion": "a.txt exists", "failure_class": "logical"}],
}
CALL = {
    "call_id": "c1",
    "tool": "read",
    "input": {"path": "a.txt"},
    "target": "a.txt",
    "output_snippet": "x",
    "error": None,
    "elapsed_ms": 3,
    "event_id": "ev1",
    "evidence_class": "tool",
    "rendered": 'read: {"path": "a.txt"} → x',
}
OUTCOME = {
    "subtask_id": "s1",
    "parent_task_id": "tsk_1",
    "intent": "make a.txt",
    "success_criteria": [CRITERION],
    "status": "failed",
    "output": {"any": [1, None]},
    "failure_reason": "a.txt is missing",
    "criteria_verdicts": [VERDICT],
    "gap_trajectory": [POINT],
    "tool_calls": [CALL],
    "x": {"skipped": False},
}
LOSS = {"D": 0.5, "P": 0.0, "Omega": 0.24, "L": 0.396}
SPEC = {
    "task_id": "tsk_1",
    "intent": "make a.txt",
    "constraints": {"scope": "a.txt", "deadline": None},
    "raw_input": "make  a.txt",
    "x": {"task_class": "make_a_txt", "clarifications": [{"q": "where?", "a": "here"}], "tags": [], "declarative": False},
}
MEGRAM = {
    "id": "3f8e5c0d-7b21-4a5e-9a41-6f1c2b3e3a2d",
    "level": "M",
    "created_at": NOW,
    "last_recalled_at": None,
    "space": "tool:run",
    "entity": "path:a.txt",
    "content": "it failed",
    "state": "abandon",
    "f": 0.95,
    "sigma": -1.0,
    "k": 0.05,
    "x": {"writer": "R7", "loss": LOSS, "round": 1},
}
SOP = {"id": "m1", "space": "tool:run", "entity": "path:a", "content": "do not", "sigma": -1.0}
POTENTIALS = {"attention": 1.2, "decision": -0.6, "action": "Avoid"}

# One that is right, and what makes it wrong: a field and the value that it may not have; None takes the field away.
EXAMPLES: dict[str, tuple[dict[str, Any], tuple[str, Any]]] = {
    "BusMessage": (
        {
            "schema": "hindbrain-bus-message-v1",
            "id": "msg_1",
            "seq": 7,
            "timestamp": NOW,
            "from": "R4a",
            "to": "R4b",
            "type": "SubTaskOutcome",
            "payload": OUTCOME,
            "task_id": "tsk_1",
            "mission_id": None,
            "correlation_id": None,
            "causation_id": None,
        },
        ("from", "R9"),
    ),
    "TaskSpec": (SPEC, ("success_criteria", ["a.txt exists"])),
    "Criterion": (CRITERION, ("mode", "certain")),
    "CheckSpec": ({"kind": "number", "args": {"equals": 3}}, ("kind", "guess")),
    "SubTask": (
        {
            "subtask_id": "s1",
            "parent_task_id": "tsk_1",
            "intent": "make a.txt",
            "success_criteria": [CRITERION],
            "context": "",
            "deadline": None,
            "sequence": 1,
            "x": {
                "tool_hints": ["write"],
                "steps": [{"tool": "write", "input": {"path": "a.txt", "content": ""}}],
                "must_not": {"tools": [], "targets": []},
                "guards": {"caution": True, "confirm": []},
            },
        },
        ("sequence", 0),
    ),
    "DispatchManifest": (
        {
            "task_id": "tsk_1",
            "subtask_ids": ["s1"],
            "task_spec": SPEC,
            "dispatched_at": NOW,
            "task_criteria": [CRITERION],
            "x": {"round": 0, "plan_fingerprint": "sha256:00", "memory_recall_id": None, "sops_used": []},
        },
        ("task_criteria", None),
    ),
    "ToolCall": (CALL, ("event_id", None)),
    "ExecutionResult": (
        {
            "subtask_id": "s1",
            "status": "uncertain",
            "output": "x",
            "uncertainty": "10 calls",
            "tool_calls": [CALL],
            "x": {"attempt": 2, "outputs": {"c1": "x"}},
        },
        ("status", "done"),
    ),
    "CorrectionSignal": (
        {
            "subtask_id": "s1",
            "attempt_number": 1,
            "failed_criterion": "a.txt exists",
            "failure_class": "logical",
            "what_was_wrong": "a.txt is missing",
            "what_to_do": "make it",
        },
        ("failure_class", "mixed"),
    ),
    "CriteriaVerdict": (VERDICT, ("verdict", "pass")),  # it has a class of failure
    "GapTrajectoryPoint": (POINT, ("score", 1.5)),
    "SubTaskOutcome": (OUTCOME, ("status", "retry")),
    "ReplanRequest": (
        {
            "task_id": "tsk_1",
            "intent": "make a.txt",
            "gap_summary": "a.txt is missing",
            "failed_subtasks": ["s1"],
            "correction_count": 2,
            "elapsed_ms": 12,
            "outcomes": [OUTCOME],
            "recommendation": "replan",
            "x": {"round": 1, "reason": "gate_failed", "task_criteria_verdicts": [VERDICT]},
        },
        ("recommendation", "retry"),
    ),
    "OutcomeSummary": (
        {
            "task_id": "tsk_1",
            "intent": "make a.txt",
            "summary": "made",
            "merged_output": [1],
            "elapsed_ms": 12,
            "outcomes": [OUTCOME],
            "x": {"task_criteria_verdicts": []},
        },
        ("elapsed_ms", -1),
    ),
    "Loss": (LOSS, ("D", 1.1)),
    "PlanDirective": (
        {
            "task_id": "tsk_1",
            "loss": LOSS,
            "prev_directive": "init",
            "directive": "change_path",
            "blocked_tools": [],
            "blocked_targets": ["a.txt"],
            "failed_criterion": "a.txt exists",
            "failure_class": "mixed",
            "budget_pressure": 0.24,
            "grad_l": 0.0,
            "rationale": "another place",
            "x": {
                "round": 1,
                "urgency": "high",
                "focus_targets": [],
                "focus_avoid": [],
                "grad_parts": {"D": 0.0, "P": 0.0, "Omega": 0.0},
                "params": {"alpha": 0.6},
            },
        },
        ("directive", "accept"),
    ),
    "FinalResult": (
        {
            "task_id": "tsk_1",
            "summary": "made",
            "output": None,
            "loss": LOSS,
            "grad_l": 0.0,
            "replans": 1,
            "prev_directive": "refine",
            "directive": "abandon",
            "x": {
                "unmet_criteria": ["a.txt exists"],
                "abandon_reason": "law2",
                "evidence_event_ids": ["ev1"],
                "cost": {"by_role": [{"role": "R2", "calls": 1}], "total_tokens": 5},
            },
        },
        ("directive", "refine"),
    ),
    "PlanFailure": ({"task_id": "tsk_1", "round": 1, "reason": "no plan", "validator_findings": ["echo"]}, ("round", -1)),
    "GracefulFailureRequest": (
        {"task_id": "tsk_1", "outcomes": [OUTCOME], "loss": LOSS, "deadline_ms": 10_000},
        ("loss", {"D": 1.0}),
    ),
    "GracefulFailureNote": ({"task_id": "tsk_1", "partial": [1, "x"], "next_moves": ["a", "b"]}, ("next_moves", "a")),
    "TaskCost": (
        {
            "by_role": [{"role": "R1", "calls": 1, "prompt_tokens": 2, "completion_tokens": 3, "elapsed_ms": 4}],
            "total_tokens": 5,
            "sequential_llm_calls": 1,
            "tool_call_count": 0,
            "tool_elapsed_ms": 0,
        },
        ("total_tokens", -5),
    ),
    "Megram": (MEGRAM, ("f", 1.01)),
    "SOPRecord": (SOP, ("sigma", "bad")),
    "Potentials": (POTENTIALS, ("action", "Panic")),
    "MemoryQuery": (
        {"query_id": "q1", "kind": "MK", "space": "s", "entity": "e", "n": 3, "tags": []},
        ("kind", "everything"),
    ),
    "MemoryResponse": (
        {"query_id": "q1", "sops": [SOP], "potentials": POTENTIALS, "megrams": [MEGRAM], "error": None},
        ("sops", [{"id": "m1"}]),
    ),
    "MemoryRecall": (
        {
            "task_id": "tsk_1",
            "space": "s",
            "entity": "e",
            "sops": 1,
            "recent": 2,
            "attention": 1.0,
            "decision": 0.0,
            "action": "Caution",
            "constraints": "",
            "x": {"sop_ids": ["m1"], "megram_ids": [], "error": "slow"},
        },
        ("sops", -1),
    ),
    "AuditEvent": (
        {
            "event_id": "aud_1",
            "timestamp": NOW,
            "from_role": "R4a",
            "to_role": "R4b",
            "message_type": "SubTaskOutcome",
            "anomaly": "none",
            "detail": None,
            "x": {"seq": 7, "prev_hash": "sha256:00", "hash": "sha256:01"},
        },
        ("anomaly", "odd"),
    ),
    "AuditQuery": ({"query_id": "q1", "since": None}, ("query_id", 7)),
    "AuditReport": (
        {
            "report_id": "r1",
            "trigger": "on-demand",
            "period": {"from": NOW, "to": NOW},
            "window_start": NOW,
            "tasks_observed": 1,
            "total_corrections": 2,
            "convergence_health": {
                "avg_correction_count": 2.0,
                "gap_trend_distribution": {"improving": 1, "stable": 0, "worsening": 0},
            },
            "gap_trends": [{"task_id": "tsk_1", "trend": "improving"}],
            "boundary_violations": [],
            "drift_alerts": [],
            "anomalies": [],
            "tool_health": {"execution_failures": 0, "environmental_retries": 1, "logical_retries": 1},
        },
        ("trigger", "sometimes"),
    ),
    "ClarificationRequest": ({"task_id": "tsk_1", "request_id": "r1", "questions": ["where?"]}, ("questions", None)),
    "ClarificationAnswer": ({"task_id": "tsk_1", "request_id": "r1", "answers": [""]}, ("answers", [7])),
    "ConfirmationRequest": (
        {"task_id": "tsk_1", "request_id": "r1", "subtask_id": "s1", "tool": "run", "action": "rm x", "why": "it removes x"},
        ("action", None),
    ),
    "ConfirmationAnswer": ({"task_id": "tsk_1", "request_id": "r1", "allowed": True}, ("allowed", "yes")),
    "Cancel": ({"task_id": "tsk_1", "why": "enough"}, ("task_id", None)),
}


def kept(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def wrong_by_schema(name: str, value: Any) -> bool:
    return bool(list(Draft202012Validator(kept(name)).iter_errors(value)))


def wrong_by_record(name: str, value: Any) -> bool:
    try:
        msgspec.convert(value, RECORDS[name])
    except msgspec.ValidationError:
        return True
    return False


def changed(value: dict[str, Any], field: str, to: Any) -> dict[str, Any]:
    copy = deepcopy(value)
    if to is None:
        del copy[field]
    else:
        copy[field] = to
    return copy


def test_ctl_296_every_schema_has_a_file_a_class_and_examples() -> None:
    assert {path.stem for path in FILES.glob("*.json")} == set(RECORDS) == set(EXAMPLES) | set(MISSION_RECORDS)
    for name in RECORDS:
        Draft202012Validator.check_schema(kept(name))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_ctl_296_file_and_class_agree_on_what_is_right_and_what_is_wrong(name: str) -> None:
    right, (field, value) = EXAMPLES[name]
    wrong = changed(right, field, value)
    strange = {**right, "surprise": 1}

    assert not wrong_by_schema(name, right)
    assert not wrong_by_record(name, right)
    for bad in (wrong, strange):
        assert wrong_by_schema(name, bad)
        assert wrong_by_record(name, bad)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_ctl_296_a_record_comes_back_as_it_was_sent(name: str) -> None:
    right, _ = EXAMPLES[name]
    record = msgspec.convert(right, RECORDS[name])

    carried = msgspec.json.decode(msgspec.json.encode(record))

    assert msgspec.convert(carried, RECORDS[name]) == record
    assert not wrong_by_schema(name, carried)
    assert {key: carried[key] for key in right} == {key: _full(right[key], carried[key]) for key in right}


def _full(given: Any, carried: Any) -> Any:
    """What was given, with the defaults that a record adds."""
    if isinstance(given, dict) and isinstance(carried, dict):
        return {key: _full(given[key], carried[key]) if key in given else carried[key] for key in carried}
    if isinstance(given, list) and isinstance(carried, list) and len(given) == len(carried):
        return [_full(one, other) for one, other in zip(given, carried, strict=True)]
    return given


def test_ctl_296_the_files_are_what_the_records_say() -> None:
    """The other pages of the reference have a test of their own; this one is about the schemas."""
    code = (
        "import sys; sys.path.insert(0, 'tools'); import reference\n"
        "due = reference.schemas()\n"
        "print([str(p.name) for p, t in due.items() if not p.exists() or p.read_text(encoding='utf-8') != t])"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("field", ["id", "timestamp", "from", "to", "type", "payload"])
def test_ctl_018_ctl_019_a_message_needs_its_base_fields(field: str) -> None:
    right, _ = EXAMPLES["BusMessage"]

    assert wrong_by_record("BusMessage", changed(right, field, None))
    assert wrong_by_schema("BusMessage", changed(right, field, None))


def test_ctl_019_ctl_020_roles_and_kinds_are_closed_lists() -> None:
    parts = kept("BusMessage")["$defs"]

    assert set(parts["Role"]["enum"]) == {"User", "R1", "R2", "R3", "R4a", "R4b", "R5", "R6", "R7"} == set(Role)
    assert set(parts["MessageType"]["enum"]) == {
        *("TaskSpec", "SubTask", "DispatchManifest", "ExecutionResult", "CorrectionSignal", "SubTaskOutcome", "ReplanRequest"),
        *("OutcomeSummary", "PlanDirective", "FinalResult", "Megram", "MemoryRecall", "AuditQuery", "AuditReport"),
        *("MemoryQuery", "MemoryResponse", "PlanFailure", "GracefulFailureRequest", "GracefulFailureNote"),
        *("ClarificationRequest", "ClarificationAnswer", "ConfirmationRequest", "ConfirmationAnswer", "Cancel"),
    }


def test_ctl_038_a_task_spec_has_no_criteria_and_no_other_strangers() -> None:
    assert wrong_by_schema("TaskSpec", {**SPEC, "success_criteria": []})
    assert wrong_by_record("TaskSpec", {**SPEC, "success_criteria": []})


def test_ctl_116_a_pass_has_no_class_of_failure() -> None:
    assert not wrong_by_record("CriteriaVerdict", {"criterion": "a", "verdict": "pass", "failure_class": None})
    assert wrong_by_record("CriteriaVerdict", {"criterion": "a", "verdict": "pass", "failure_class": "logical"})
    assert wrong_by_schema("SubTaskOutcome", {**OUTCOME, "criteria_verdicts": [{**VERDICT, "verdict": "pass"}]})


@pytest.mark.parametrize(
    "field", ["period", "convergence_health", "trigger", "window_start", "gap_trends", "tool_health", "total_corrections"]
)
def test_ctl_297_a_report_has_the_fields_of_both_forms(field: str) -> None:
    right, _ = EXAMPLES["AuditReport"]

    assert wrong_by_schema("AuditReport", changed(right, field, None))
    assert wrong_by_record("AuditReport", changed(right, field, None))


def test_ctl_048_ctl_298_a_sentence_is_a_verifiable_criterion() -> None:
    plain = read_criteria(["a"])
    written_out = read_criteria([{"criterion": "a"}])
    subtask, _ = EXAMPLES["SubTask"]

    sent = read_record(MessageType.SUB_TASK, {**subtask, "success_criteria": ["a", {"criterion": "b", "mode": "plausible"}]})

    assert plain == written_out == (Criterion(criterion="a", mode="verifiable"),)
    assert isinstance(sent, SubTask)
    assert [(one.criterion, one.mode) for one in sent.success_criteria] == [("a", "verifiable"), ("b", "plausible")]
    with pytest.raises(msgspec.ValidationError):
        read_criteria([7])


def test_ctl_299_a_message_of_the_version_before_is_read() -> None:
    before = {
        "schema": "hindbrain-bus-message-v0",
        "id": "msg_1",
        "seq": 3,
        "timestamp": NOW,
        "from": "R2",
        "to": "R4b",
        "type": "DispatchManifest",
        "payload": {"task_id": "tsk_1", "subtask_ids": ["s1"], "dispatched_at": NOW, "task_criteria": ["a.txt exists"]},
    }
    older_outcome = {**OUTCOME, "success_criteria": ["a.txt exists"]}
    request, _ = EXAMPLES["ReplanRequest"]

    message = read_message(before)
    record = read_record(message.type, message.payload)
    nested = read_record(MessageType.REPLAN_REQUEST, {**request, "outcomes": [older_outcome]})

    assert isinstance(message, BusMessage)
    assert message.schema_ == "hindbrain-bus-message-v1"
    assert isinstance(record, DispatchManifest)
    assert record.task_criteria == (Criterion(criterion="a.txt exists"),)
    assert isinstance(nested, ReplanRequest)
    assert nested.outcomes[0].success_criteria == (Criterion(criterion="a.txt exists"),)


def test_ctl_299_what_a_brain_kept_in_the_version_before_is_heard() -> None:
    body = {
        "schema": "hindbrain-bus-message-v0",
        "id": "msg_1",
        "timestamp": NOW,
        "from": "R2",
        "to": "R3",
        "type": "SubTask",
        "payload": {"subtask_id": "s1", "parent_task_id": "tsk_1", "intent": "look", "success_criteria": ["a.txt exists"]},
    }
    stored = StoredMessage(
        seq=9, id="msg_1", at=0, sender="R2", recipient="R3", type="SubTask", task_id="tsk_1", body=json.dumps(body)
    )

    message = decoded(stored)

    assert message.seq == 9
    assert message.payload["success_criteria"] == [{"criterion": "a.txt exists"}]


def test_ctl_299_this_version_is_read_and_a_later_one_is_refused() -> None:
    right, _ = EXAMPLES["BusMessage"]

    assert read_message(right).payload["subtask_id"] == "s1"
    with pytest.raises(msgspec.ValidationError, match="hindbrain-bus-message-v2"):
        read_message({**right, "schema": "hindbrain-bus-message-v2"})
