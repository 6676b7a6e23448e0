"""Schemas of missions: every record has a file and a class, and both say the same of right and wrong examples."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from hindbrain.domain.schemas import MISSION_RECORDS
from hindbrain.engines.course import stated
from hindbrain.engines.mission_packet import packed
from hindbrain.engines.moments import stamped
from hindbrain.engines.provenance import prov_edges
from tests.support.missions import chained, claimed, course, event, guard, spec
from tests.support.world import START_MS

FILES = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"
NOW = stamped(START_MS)
DIGEST = "sha256:" + "0" * 64

_READ = event("file_read", "src/a.py", target_digest=DIGEST, agent_confidence=0.7)
_SAID = claimed("a.py leaks", targets=("src/a.py",), evidence_refs=(_READ.event_id,))
_GUARDED = event("context_guard", ".", payload={"guard": msgspec.to_builtins(guard())})
_EVENTS = chained((_GUARDED, _READ, _SAID))
_COURSE = course(_GUARDED, _READ, _SAID)
_STEP = {"order": 1, "surface": "cli", "call": "hindbrain ingest", "arguments": {}, "mutating": True}
_DO_NOT = {"item": "graph", "kind": "tool_family", "reason": "enough", "source": "loop", "until": "a direct event"}
_POLICY = {
    "allowed_tools": ["file_read"],
    "preferred_tool": "file_read",
    "do_not": [_DO_NOT],
    "stop_condition": "one direct event",
    "fallback": "ask_human",
    "evidence_required": "direct_source",
    "budget_remaining": {"tool_calls": 6, "files": 6, "ms": 70_000},
}
_WARNING = {"rule": "LW3", "event_ids": ["evt_1"], "message": "read something", "action": "do_not"}

# name -> a right one, and a field with a value (None: left out) that makes it wrong
EXAMPLES: dict[str, tuple[Any, tuple[str, Any]]] = {
    "MissionSpec": (spec(), ("mode", "hunt")),
    "MissionState": (stated(_COURSE, now=START_MS, stamp=NOW, events=_EVENTS), ("context_guard", "none")),
    "MissionEvent": (_EVENTS[1], ("evidence_class", "direct")),
    "MissionClaim": (_COURSE.verified[0], ("verdict", "true")),
    "ContextGuard": (guard(), ("classification", "right")),
    "TrustEnvelope": (
        {
            "verdict": "full_trust",
            "graph_freshness": "fresh",
            "binding_fingerprint": DIGEST,
            "node_count": 3,
            "edge_count": 2,
            "changed_files_since_ingest": 0,
            "checked_at": NOW,
        },
        ("verdict", "trust"),
    ),
    "RecoveryPayload": ({"kind": "restart", "why": "it is stale", "steps": [_STEP]}, ("kind", "reboot")),
    "NextMove": (
        {
            "mission_id": "msn_1",
            "step_id": 1,
            "phase": "verify",
            "route": "short_audit",
            "move": {"type": "read_file", "tool": "read", "target": "a", "why": "w", "evidence_required": "direct_source"},
            "policy": _POLICY,
            "loop_warnings": [_WARNING],
        },
        ("move", [{"type": "read_file"}]),
    ),
    "Policy": (_POLICY, ("do_not", None)),
    "VerifyResult": (
        {
            "mission_id": "msn_1",
            "claim_id": "clm_1",
            "verdict": "rejected",
            "evidence_grade": "direct",
            "evidence_classes": ["direct_test"],
            "missing": ["event evt_1 failed"],
            "confidence": 0.5,
            "next_required_move": {},
        },
        ("evidence_classes", None),
    ),
    "FlightRecord": (
        {
            "mission_id": "msn_1",
            "step_id": 1,
            "tool_family": "direct_read",
            "target": "a.py",
            "phase": "verify",
            "duration_ms": 3,
            "outcome": "found",
            "confidence_before": None,
            "confidence_after": 0.7,
            "direct_evidence_count": 1,
            "graph_call_count": 0,
            "loop_warning_count": 0,
            "event_id": "evt_1",
            "timestamp": NOW,
            "trace_id": "0" * 32,
            "span_id": "0" * 16,
        },
        ("trace_id", "no"),
    ),
    "LoopWarning": (_WARNING, ("rule", "LW9")),
    "ProofPacket": (packed(_COURSE, _EVENTS, stamp=NOW), ("event_digest", None)),
    "ProvEdge": (prov_edges(spec(), _EVENTS)[0], ("relation", "knows")),
    "Handoff": (
        {
            "handoff_id": "hnd_1",
            "mission_id": "msn_1",
            "agent_id": "a1",
            "repo": "/r",
            "task": "t",
            "mode": "review",
            "route": "short_audit",
            "phase": "verify",
            "mission_summary": "s",
            "event_digest": DIGEST,
            "created_at": NOW,
        },
        ("mission_summary", None),
    ),
    "MissionRun": ({"argv": ["pytest"], "exit_status": 0, "stdout_digest": DIGEST}, ("exit_status", 300)),
}


def kept(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def by_schema(name: str, value: Any) -> bool:
    return not list(Draft202012Validator(kept(name)).iter_errors(value))


def by_record(name: str, value: Any) -> bool:
    try:
        msgspec.convert(value, MISSION_RECORDS[name])
    except msgspec.ValidationError:
        return False
    return True


def test_aol_060_every_record_of_missions_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(MISSION_RECORDS)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_aol_060_file_and_class_agree_and_a_record_comes_back_as_it_was_sent(name: str) -> None:
    example, (field, value) = EXAMPLES[name]
    right = msgspec.json.decode(msgspec.json.encode(example))
    wrong = {key: inner for key, inner in right.items() if key != field} | ({} if value is None else {field: value})

    record = msgspec.convert(right, MISSION_RECORDS[name])
    carried = msgspec.json.decode(msgspec.json.encode(record))

    Draft202012Validator.check_schema(kept(name))
    assert by_schema(name, right)
    assert by_schema(name, carried)
    assert msgspec.convert(carried, MISSION_RECORDS[name]) == record
    for bad in (wrong, {**right, "surprise": 1}):
        assert not by_schema(name, bad)
        assert not by_record(name, bad)


def fields(example: Any) -> set[str]:
    return set(msgspec.to_builtins(example))


def test_aol_061_a_state_has_at_least_its_eleven_fields() -> None:
    told = fields(EXAMPLES["MissionState"][0])

    assert {
        *("schema", "mission_id", "repo", "mode", "route", "budget"),
        *("context_guard", "events", "claims", "handoffs", "non_claims"),
    } <= told


def test_aol_062_aol_090_an_event_has_id_time_actor_action_target_and_class() -> None:
    told = msgspec.to_builtins(EXAMPLES["MissionEvent"][0])

    needed = ("event_id", "timestamp", "actor", "event_type", "target", "evidence_class")
    assert all(told[name] for name in needed)
    assert {"schema", "mission_id", "phase", "outcome", "duration_ms", "agent_confidence"} <= set(told)
    for name in ("event_id", "timestamp", "actor", "event_type", "evidence_class"):
        assert not by_record("MissionEvent", {key: value for key, value in told.items() if key != name})


def test_aol_063_a_packet_has_at_least_its_eight_fields() -> None:
    told = fields(EXAMPLES["ProofPacket"][0])

    assert {
        *("schema", "mission_id", "verified_claims", "rejected_claims"),
        *("evidence_graph", "event_digest", "gaps", "non_claims"),
    } <= told
