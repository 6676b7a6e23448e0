"""The proof packet: what a mission has shown and what not, small enough to be read whole. Its file is exactly its canonical form,
so a changed byte is found by whoever has the file alone; with the events, everything in it can be compared with what was done."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hindbrain.domain.handover import LedgerPlace, PacketCounters, ProofPacket
from hindbrain.domain.mission import MissionEvent
from hindbrain.domain.typed import converted
from hindbrain.engines.course import Course
from hindbrain.engines.mission_chain import DIGEST, canonical, genesis
from hindbrain.engines.packet_compare import bare_guard, compared, short_claim, shortened
from hindbrain.engines.provenance import claim_edges_first, prov_edges
from hindbrain.policy.non_claims import STANDING
from hindbrain.policy.proof import AS_COMPARED, NOT_SIGNED, PACKET_MOST

__all__ = ["SUMMARY_MOST", "packed", "packet_bytes", "verify_packet"]

_DIGEST_FIELD = "packet_digest"
SUMMARY_MOST = 1_200
# What gives way first when a packet is too large.
_CUT = ("evidence_graph", "warnings", "tools_observed", "rejected_claims", "gaps", "children", "verified_claims")


def packed(
    course: Course,
    events: Iterable[MissionEvent],
    *,
    stamp: str,
    summary: str = "",
    gaps: Sequence[str] = (),
    non_claims: Sequence[str] | None = None,
    ledger: LedgerPlace | None = None,
    children: Mapping[str, str] | None = None,
    full_file: str = "events.jsonl",
    limit: int = PACKET_MOST,
) -> ProofPacket:
    """The packet of a mission as it stands, sealed."""
    spec = course.spec
    verified = course.verified
    rejected = tuple(one for one in course.claims.values() if one.verdict in ("rejected", "insufficient_evidence", "stale"))
    edges = claim_edges_first(prov_edges(spec, events), [one.claim_id for one in (*verified, *rejected)])
    standing = STANDING if non_claims is None else tuple(non_claims)
    closing = course.closing
    packet = ProofPacket(
        mission_id=spec.mission_id,
        agent_id=spec.agent_id,
        repo=spec.repo,
        task=spec.task,
        mode=spec.mode,
        route=spec.route,
        summary=shortened(summary or _told(course), SUMMARY_MOST),
        event_digest=course.head,
        event_count=course.seq,
        first_seq=1 if course.seq else 0,
        last_seq=course.seq,
        verified_claims=verified,
        rejected_claims=rejected,
        evidence_graph=edges,
        direct_evidence_classes=dict(sorted(course.direct.items())),
        graph_evidence_classes=dict(sorted(course.graph_only.items())),
        counters=_counters(course),
        context_guard_at_start=course.guard_at_start,
        context_guard_at_close=course.guard,
        control=_control(course),
        gaps=tuple(dict.fromkeys((*gaps, *_open(course)))),
        warnings=tuple(course.warnings),
        non_claims=tuple(dict.fromkeys((*spec.non_claims, *standing, AS_COMPARED, NOT_SIGNED))),
        forced=bool(closing.get("forced", False)),
        forced_reason=str(closing["reason"]) if closing.get("forced") and closing.get("reason") else None,
        tools_observed=tuple(course.tools),
        handoff_count=len(course.handoffs),
        children=dict(children or {}),
        policy_version=spec.policy_version,
        created_at=stamp,
        ledger=ledger,
        full_file=full_file,
    )
    return _sealed(_fitted(packet, limit))


def packet_bytes(packet: ProofPacket) -> bytes:
    """The packet as its file holds it."""
    return canonical(msgspec.to_builtins(packet))


def _sealed(packet: ProofPacket) -> ProofPacket:
    return msgspec.structs.replace(packet, packet_digest=_digest(msgspec.to_builtins(packet)))


def _digest(told: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in told.items() if name != _DIGEST_FIELD}
    return DIGEST + hashlib.sha256(canonical(rest)).hexdigest()


def _counters(course: Course) -> PacketCounters:
    good = course.first_good_at
    return PacketCounters(
        tool_calls=course.tool_calls,
        files_read=len(course.files),
        direct_evidence_count=course.direct_count,
        graph_call_count=course.graph_calls,
        repeated_search_count=course.repeated_searches,
        loop_warning_count=course.loop_warnings,
        claims_verified=len(course.verified),
        claims_rejected=sum(one.verdict == "rejected" for one in course.claims.values()),
        dissents=course.dissents,
        duration_ms=course.elapsed(course.updated_at),
        first_good_finding_ms=course.elapsed(good) if good is not None else None,
    )


def _control(course: Course) -> dict[str, Any]:
    told = course.closing.get("control")
    if isinstance(told, dict):  # how the controller saw the end
        return told
    state = course.control
    return {
        "directive": state.directive,
        "loss": msgspec.to_builtins(state.loss) if state.loss is not None else None,
        "grad_l": state.grad_l,
        "replans": len(course.rounds),
    }


def _told(course: Course) -> str:
    counts = f"{len(course.verified)} of {len(course.claims)} claims verified, {course.direct_count} direct events"
    return f"{course.spec.task[:400]} ({counts})"


def _open(course: Course) -> list[str]:
    """What is left open: claims that nothing proves."""
    lines = []
    for claim in course.claims.values():
        if claim.verdict in ("candidate", "insufficient_evidence", "stale", "inherited"):
            lack = f": {claim.missing[0]}" if claim.missing else ""
            lines.append(shortened(f"{claim.claim_id} is {claim.verdict}{lack}"))
    return lines


# -- size ------------------------------------------------------------------------------------------------------------


def _size(packet: ProofPacket) -> int:
    return len(packet_bytes(packet)) + len(DIGEST) + 64  # and the digest, which is not in it yet


def _fitted(packet: ProofPacket, limit: int) -> ProofPacket:
    """The packet within its size: lists are cut by stated steps, with counts, and then texts."""
    if _size(packet) <= limit:
        return packet
    for cut in (_without_extras, _with_short_texts):
        packet = packet if _size(packet) <= limit else _cut_lists(cut(packet), limit, _CUT[:3])
    return packet if _size(packet) <= limit else _cut_lists(packet, limit, _CUT)


def _cut_lists(packet: ProofPacket, limit: int, names: Sequence[str]) -> ProofPacket:
    for name in names:
        if _size(packet) <= limit:
            return packet
        packet = _longest(packet, name, limit)
    return packet


def _longest(packet: ProofPacket, name: str, limit: int) -> ProofPacket:
    """As much of one list as fits; sizes only grow with the length, so halving finds it."""
    whole = getattr(packet, name)
    items = list(whole.items()) if isinstance(whole, dict) else list(whole)
    before = packet.left_out.get(name, 0)

    def with_first(count: int) -> ProofPacket:
        part: Any = dict(items[:count]) if isinstance(whole, dict) else tuple(items[:count])
        lost = {**packet.left_out, name: before + len(items) - count}
        return msgspec.structs.replace(packet, left_out={key: value for key, value in lost.items() if value}, **{name: part})

    low, high = 0, len(items)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(with_first(middle)) <= limit else (low, middle - 1)
    return with_first(low)


def _without_extras(packet: ProofPacket) -> ProofPacket:
    return msgspec.structs.replace(
        packet,
        context_guard_at_start=bare_guard(packet.context_guard_at_start),
        context_guard_at_close=bare_guard(packet.context_guard_at_close),
    )


def _with_short_texts(packet: ProofPacket) -> ProofPacket:
    return msgspec.structs.replace(
        packet,
        task=shortened(packet.task),
        summary=shortened(packet.summary),
        forced_reason=shortened(packet.forced_reason) if packet.forced_reason else None,
        gaps=tuple(shortened(one) for one in packet.gaps),
        verified_claims=tuple(map(short_claim, packet.verified_claims)),
        rejected_claims=tuple(map(short_claim, packet.rejected_claims)),
    )


# -- checking --------------------------------------------------------------------------------------------------------


def verify_packet(raw: bytes, events: Sequence[Mapping[str, Any]] | None = None) -> tuple[str, ...]:
    """What does not hold in a packet's file; nothing when it is whole. With the mission's events it is compared with them."""
    try:
        told = json.loads(raw.decode("utf-8", "surrogatepass"))
        packet = converted(told, ProofPacket)
        form, digest, start = canonical(told), _digest(told), DIGEST + genesis(packet.mission_id)
    except (ValueError, RecursionError, msgspec.ValidationError) as wrong:
        return (f"it is no proof packet: {str(wrong)[:200]}",)
    findings = []
    if form != raw:
        findings.append("its bytes are not those that were written: the form is another")
    if packet.packet_digest != digest:
        findings.append("its content is not what was sealed: the digest is another")
    if not packet.event_count and packet.event_digest != start:
        findings.append("a mission without events has another digest")
    for claim in packet.verified_claims:
        if claim.verdict != "verified_for_mission" or claim.evidence_grade != "direct" or not claim.evidence_refs:
            findings.append(f"claim {claim.claim_id} is listed as verified without direct evidence")
    if events is not None:
        findings += compared(packet, events)
    return tuple(findings)
