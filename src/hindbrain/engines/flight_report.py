"""What a flight record answers: which actions were taken, for what reason, on which evidence, and where the work went in
circles."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from hindbrain.domain.handover import FlightRecord
from hindbrain.domain.mission import EventType, MissionEvent
from hindbrain.engines.course import Course
from hindbrain.engines.fence import quoted
from hindbrain.policy.missions import COUNTED_OUT

__all__ = ["answers", "rendered"]

_E = EventType
_SHOWN = 12  # lines of one answer in the text; the data has them all
_REREAD = 3  # reads of one file from which it is named


def answers(course: Course, events: Iterable[MissionEvent]) -> dict[str, Any]:
    """The four answers as data."""
    held = tuple(events)
    return {
        "actions": [_action(one) for one in held if one.event_type not in COUNTED_OUT],
        "reasons": [made for one in held if (made := _reason(one)) is not None],
        "evidence": {
            "direct": dict(sorted(course.direct.items())),
            "graph_only": dict(sorted(course.graph_only.items())),
            "claims": [
                {
                    "claim_id": one.claim_id,
                    "claim": one.claim,
                    "verdict": one.verdict,
                    "grade": one.evidence_grade,
                    "event_ids": list(one.evidence_refs),
                    "missing": list(one.missing),
                }
                for one in course.claims.values()
            ],
        },
        "circles": {
            "warnings": [
                {
                    "seq": one.seq,
                    "rule": str(one.payload.get("rule") or ""),
                    "message": str(one.payload.get("message") or one.payload.get("why") or ""),
                    "event_ids": [str(name) for name in one.payload.get("event_ids") or ()],
                }
                for one in held
                if one.event_type is _E.LOOP_WARNING
            ],
            "repeated_searches": course.repeated_searches,
            "read_again": {path: read.times for path, read in course.files.items() if read.times >= _REREAD},
            "dead_paths": {path: dead.why_ruled_out for path, dead in course.dead.items()},
        },
    }


def _action(event: MissionEvent) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "event_id": event.event_id,
        "did": event.event_type.value,
        "tool": event.tool,
        "target": event.target,
        "outcome": event.outcome.value,
        "duration_ms": event.duration_ms,
    }


def _reason(event: MissionEvent) -> dict[str, Any] | None:
    """Why something was done, as far as the event says it."""
    payload = event.payload
    claim = payload.get("claim")
    said = payload.get("why") or payload.get("reason") or payload.get("text")
    if said is None and event.event_type in (_E.CLAIM, _E.VERIFY) and isinstance(claim, dict):
        said = claim.get("claim")
    if not said or event.event_type is _E.LOOP_WARNING:
        return None
    return {"seq": event.seq, "event_id": event.event_id, "did": event.event_type.value, "why": str(said)}


def rendered(course: Course, told: dict[str, Any], last: FlightRecord | None) -> str:
    """The four answers as text."""
    spec = course.spec
    lines = [f"Flight of {spec.mission_id} ({spec.mode.value}, {course.status.value})", *quoted([f"task: {spec.task}"]), ""]
    actions = told["actions"]
    kinds = Counter(one["did"] for one in actions)
    lines.append(f"What was done: {len(actions)} uses of tools" + (f" ({_counted(kinds)})" if kinds else ""))
    lines += _cut([f"{one['seq']}. {one['did']} {one['target'] or ''}".rstrip() + f": {one['outcome']}" for one in actions])
    lines.append("For what reason:" if told["reasons"] else "For what reason: none was given")
    lines += _cut([f"{one['seq']}. {one['did']}: {one['why']}" for one in told["reasons"]])
    evidence = told["evidence"]
    direct, graph = sum(evidence["direct"].values()), sum(evidence["graph_only"].values())
    lines.append(f"On which evidence: {direct} direct, {graph} from the graph only")
    lines += [f"  {name}: {count}" for name, count in (*evidence["direct"].items(), *evidence["graph_only"].items())]
    lines += _cut([f"{one['verdict']}: {one['claim']} ({len(one['event_ids'])} events)" for one in evidence["claims"]])
    circles = told["circles"]
    turned = [f"{one['seq']}. {one['rule']} {one['message']}".rstrip() for one in circles["warnings"]]
    turned += [f"{path} was read {times} times" for path, times in circles["read_again"].items()]
    searches = circles["repeated_searches"]
    lines.append(
        f"Where it went in circles: {searches} repeated searches" if turned or searches else "Where it went in circles: nowhere"
    )
    lines += _cut(turned)
    if last is not None:
        counts = (
            f"{last.direct_evidence_count} direct, {last.graph_call_count} graph calls, {last.loop_warning_count} loop warnings"
        )
        lines += ["", f"{last.step_id} events: {counts}. Trace {last.trace_id}."]
    return "\n".join(lines)


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in kinds.most_common())


def _cut(lines: list[str]) -> list[str]:
    """The last lines of an answer. They hold words of agents, so they are quoted."""
    if len(lines) <= _SHOWN:
        return quoted(lines)
    return quoted([f"… {len(lines) - _SHOWN} before", *lines[-_SHOWN:]])
