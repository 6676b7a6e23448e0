"""A packet against the events of its mission: they are followed once more, and what the packet says must be what comes of them.
Here too is how texts of a packet are cut, for a cut text is compared as one. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hindbrain.domain.handover import ProofPacket
from hindbrain.domain.mission import ContextGuard, MissionClaim, MissionEvent, MissionSpec
from hindbrain.domain.mission_comparison import Comparison
from hindbrain.domain.typed import converted
from hindbrain.engines.course import Course, coursed
from hindbrain.engines.mission_chain import DIGEST, first_break, genesis
from hindbrain.policy.missions import BUDGETS, GRADES

__all__ = ["bare_guard", "compared", "short_claim", "shortened"]

_COMPARED = 3  # things of each kind that a comparison in such a packet names
SHORT = 240  # characters of a text in a packet that has to be cut
_REJECTED = ("rejected", "insufficient_evidence", "stale")
# Counters that follow from the events alone; the others need the time at which the mission began, or what it inherited.
_COUNTED = ("tool_calls", "direct_evidence_count", "graph_call_count", "loop_warning_count", "dissents")


def shortened(text: str, most: int = SHORT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def short_claim(claim: MissionClaim) -> MissionClaim:
    """A claim with its texts cut."""
    return msgspec.structs.replace(
        claim,
        claim=shortened(claim.claim),
        missing=tuple(shortened(one) for one in claim.missing[:2]),
        evidence_refs=claim.evidence_refs[:10],
        targets=tuple(shortened(one) for one in claim.targets[:5]),
        comparison=_short_comparison(claim.comparison),
    )


def _short_comparison(told: Comparison | None) -> Comparison | None:
    """A comparison with the first of each kind."""
    if told is None:
        return None
    lists = {name: getattr(told, name) for name in ("compared", "matched", "contradicted", "not_shown", "not_checked")}
    return msgspec.structs.replace(told, **{name: tuple(map(shortened, texts[:_COMPARED])) for name, texts in lists.items()})


def bare_guard(guard: ContextGuard | None) -> ContextGuard | None:
    """A guard without what can be asked again."""
    if guard is None:
        return None
    return msgspec.structs.replace(guard, recovery=None, non_claims=(), ingest_roots=guard.ingest_roots[:3])


def compared(packet: ProofPacket, told: Sequence[Mapping[str, Any]]) -> list[str]:
    """What of a packet its events do not say."""
    try:
        broken = first_break(packet.mission_id, (dict(one) for one in told))
        if broken is not None:
            return [f"event {broken[0]}: {broken[1]}"]
        events = [converted(dict(one), MissionEvent) for one in told]
        course = coursed(_spec(packet), events)
    except (ValueError, KeyError, TypeError, RecursionError, msgspec.ValidationError) as wrong:
        return [f"its events cannot be followed: {str(wrong)[:200]}"]
    head = events[-1].hash if events else DIGEST + genesis(packet.mission_id)
    checks: tuple[tuple[bool, str], ...] = (
        (head == packet.event_digest, "the events end with another digest"),
        (len(events) == packet.event_count == packet.last_seq, f"it counts {packet.event_count} events, there are {len(events)}"),
        (packet.direct_evidence_classes == dict(course.direct), "it counts direct evidence that the events do not have"),
        (packet.graph_evidence_classes == dict(course.graph_only), "it counts evidence of the graph that the events do not have"),
        (_counts(packet) == _counted(course), "its counters are not those of the events"),
        (_guards(packet, course), "its workspace is not the one of the events"),
    )
    found = [text for holds, text in checks if not holds]
    return found + _claims(packet, course, events) + _closing(packet, course)


def _spec(packet: ProofPacket) -> MissionSpec:
    """As much of what was asked as events are followed by."""
    return MissionSpec(
        mission_id=packet.mission_id,
        agent_id=packet.agent_id,
        repo=packet.repo,
        task=packet.task,
        mode=packet.mode,
        route=packet.route,
        risk="medium",
        budget=BUDGETS["normal"],
        criteria=(),
        created_at=packet.created_at,
        policy_version=packet.policy_version,
    )


def _counts(packet: ProofPacket) -> dict[str, int]:
    told = {name: int(getattr(packet.counters, name)) for name in _COUNTED}
    return {**told, "handoffs": packet.handoff_count}


def _counted(course: Course) -> dict[str, int]:
    return {
        "tool_calls": course.tool_calls,
        "direct_evidence_count": course.direct_count,
        "graph_call_count": course.graph_calls,
        "loop_warning_count": course.loop_warnings,
        "dissents": course.dissents,
        "handoffs": len(course.handoffs),
    }


def _guards(packet: ProofPacket, course: Course) -> bool:
    pairs = ((packet.context_guard_at_start, course.guard_at_start), (packet.context_guard_at_close, course.guard))
    same = all(told == seen or told == bare_guard(seen) for told, seen in pairs)
    return same and (course.guard_at_start is None or course.guard_at_start.repo == packet.repo)


def _claims(packet: ProofPacket, course: Course, events: Iterable[MissionEvent]) -> list[str]:
    by_id = {one.event_id: one for one in events}
    found = []
    for claim in (*packet.verified_claims, *packet.rejected_claims):
        seen = course.claims.get(claim.claim_id)
        if seen is None and claim.inherited_from is not None and claim.verdict == "stale":
            continue  # it came with a hand-over, and nobody looked at it
        if seen is None or seen.verdict != claim.verdict:
            found.append(f"claim {claim.claim_id} is {claim.verdict} in the packet, and not in the events")
        elif claim not in (seen, short_claim(seen)):
            found.append(f"claim {claim.claim_id} says something else in the events")
    for claim in packet.verified_claims:
        if not any(GRADES[by_id[name].evidence_class] == "direct" for name in claim.evidence_refs if name in by_id):
            found.append(f"claim {claim.claim_id} names no direct event of this mission")
    for name, verdicts in (("verified_claims", ("verified_for_mission",)), ("rejected_claims", _REJECTED)):
        listed = {one.claim_id for one in getattr(packet, name)}
        lost = [one for one in course.claims.values() if one.verdict in verdicts and one.claim_id not in listed]
        if len(lost) > packet.left_out.get(name, 0):
            found.append(f"a claim that was {name.removesuffix('_claims')} is not in it")
    return found


def _closing(packet: ProofPacket, course: Course) -> list[str]:
    """What the last event says of the end: whether it was forced, what stayed open, and what it was about."""
    closing = course.closing
    found = []
    reason = closing.get("reason") if closing.get("forced") else None
    if packet.forced is not bool(closing.get("forced", False)) or not _same(packet.forced_reason, reason):
        found.append("it was not closed as the packet says: by force or not, and why")
    gaps = {one for told in ("gaps", "open") for one in _texts(closing.get(told))}
    lost = [one for one in gaps if one not in packet.gaps and shortened(one) not in packet.gaps]
    if len(lost) > packet.left_out.get("gaps", 0):
        found.append("something that stayed open is not in it")
    about = closing.get("about")
    if isinstance(about, Mapping):
        said = {"agent_id": packet.agent_id, "mode": packet.mode.value, "route": packet.route.value}
        said |= {"task": packet.task, "summary": packet.summary}
        found += [
            f"its {name} is not the one it was closed with" for name, value in said.items() if not _same(value, about.get(name))
        ]
    return found


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _same(told: str | None, seen: Any) -> bool:
    return told == seen or (isinstance(seen, str) and told == shortened(seen))
