"""Hand-overs: what a mission leaves for the next agent, made from its course and events, and the check that it is still what was
written. Reads no file: whoever knows the files says their digests."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from hindbrain.domain.errors import HandoverBroken
from hindbrain.domain.handover import Covered, DeadPath, FileRead, Handoff, Staleness
from hindbrain.domain.mission import EventType, Family, MissionClaim, MissionEvent, Outcome
from hindbrain.engines.course import Course
from hindbrain.engines.mission_chain import DIGEST, canonical
from hindbrain.engines.mission_query import normal_query, query_of, scope_of
from hindbrain.engines.targets import normalised_target
from hindbrain.policy.handover import AGE_HOURS, COUNTED, NON_CLAIMS, SUMMARY_CHARS

__all__ = ["check", "covered_by", "covers", "handed", "handoff_digest", "path_of", "undigested"]

_Item = TypeVar("_Item")
_OPEN = ("candidate", "insufficient_evidence", "stale")
_QUERIES = (Family.LITERAL_SEARCH, Family.GRAPH)
_LISTED = (EventType.FILE_READ, EventType.TEST_RUN)  # these have lists of their own


def handed(
    course: Course,
    events: Iterable[MissionEvent],
    *,
    handoff_id: str,
    stamp: str,
    next_move: Mapping[str, Any],
    digests: Mapping[str, str | None] | None = None,
    recipient: str | None = None,
    summary: str = "",
) -> Handoff:
    """The hand-over of a mission as it stands. `digests` are of the files of `undigested`."""
    spec, before = course.spec, course.inherited
    told = tuple(events)
    known = dict(digests or {})
    files = _files(course, known)
    digest_by = {one.path: one.digest for one in files if one.digest is not None}
    digest_by |= {path: one for path, one in known.items() if one is not None and path not in digest_by}
    own = {one.event_id: one for one in told}
    rests = {claim.claim_id: _rests(claim, own, spec.repo, before.rests_on) for claim in course.claims.values()}
    made = Handoff(
        handoff_id=handoff_id,
        ancestors=before.handoff_ids,
        mission_id=spec.mission_id,
        parent_mission_id=spec.parent_mission_id,
        agent_id=spec.agent_id,
        recipient_agent_id=recipient,
        repo=spec.repo,
        task=spec.task,
        mode=spec.mode,
        route=spec.route,
        phase=course.phase,
        mission_summary=_summary(course, summary),
        verified_claims=course.verified,
        rejected_claims=tuple(one for one in course.claims.values() if one.verdict == "rejected"),
        inherited_claims=tuple(one for one in course.claims.values() if one.verdict in ("inherited", "stale")),
        rests_on={claim: found for claim, found in rests.items() if found},
        open_hypotheses=_open(course, told),
        dead_paths=_dead(course),
        files_read=files,
        tests_run=_merged(before.tests_run, course.tests, lambda one: one.command),
        graph_anchors=_merged(before.anchors, course.anchors, lambda one: (one.node_or_query, one.graph_generation)),
        queries=_queries(course, told),
        next_required_move=dict(next_move),
        non_claims=tuple(dict.fromkeys((*spec.non_claims, *NON_CLAIMS))),
        staleness_criteria=_criteria(course, digest_by),
        event_digest=course.head,
        event_count=course.seq,
        trace_id=spec.trace_id,
        created_at=stamp,
    )
    return msgspec.structs.replace(made, handoff_digest=handoff_digest(made))


def handoff_digest(handoff: Handoff) -> str:
    """The digest of everything in it but the digest itself."""
    told = msgspec.to_builtins(handoff)
    told.pop("handoff_digest")
    return DIGEST + hashlib.sha256(canonical(told)).hexdigest()


def check(handoff: Handoff, *, event_digest: str | None, told_digest: str | None) -> None:
    """Refuse one that is not what was written. `event_digest` is what the log has at its last event, `told_digest` what the event
    that gave it out says of it; None where the log has no such event."""
    wrong = None
    if handoff.handoff_digest != handoff_digest(handoff):
        wrong = "its content does not have the digest it names"
    elif handoff.event_digest != event_digest:
        wrong = f"the log of its mission does not have its digest at event {handoff.event_count}"
    elif handoff.handoff_digest != told_digest:
        wrong = "it is not the one that the log of its mission tells of"
    if wrong is not None:
        raise HandoverBroken(
            f"hand-over {handoff.handoff_id} was changed: {wrong}",
            fix="take the one that the brain keeps, by its id; or ask its agent for a new one: mission handoff",
        )


def undigested(course: Course, events: Iterable[MissionEvent]) -> tuple[str, ...]:
    """Paths that the hand-over rests on and whose digest the events do not tell: edited since, or shown by a run."""
    own = {one.event_id: one for one in events}
    found = {path for path, one in course.files.items() if one.digest is None}
    found |= {path_of(one.target, course.spec.repo) for one in course.dead.values()}
    for claim in course.claims.values():
        found.update(_rests(claim, own, course.spec.repo, course.inherited.rests_on))
    known = {path for path, one in course.files.items() if one.digest is not None}
    known |= {one.path for one in course.inherited.files_read if one.digest is not None}
    return tuple(sorted(found - known))


# -- what was covered ------------------------------------------------------------------------------------------------


def covers(event: MissionEvent, repo: str = "") -> Covered | None:
    """An action in the form in which it is compared with others; None when it does not count."""
    family = COUNTED.get(event.event_type)
    if family is None:
        return None
    if family in _QUERIES:
        return Covered(family=family, item=normal_query(query_of(event)), scope=scope_of(event))
    if family is Family.TEST:
        return Covered(family=family, item=_command(str(event.payload.get("command") or event.target or "")))
    return Covered(family=family, item=path_of(event.target or "", repo), digest=event.target_digest)


def covered_by(handoff: Handoff) -> tuple[Covered, ...]:
    """All that was looked at before a hand-over, by its mission and those before."""
    reads = (Covered(family=Family.DIRECT_READ, item=one.path, digest=one.digest) for one in handoff.files_read)
    tests = (Covered(family=Family.TEST, item=_command(one.command)) for one in handoff.tests_run)
    return tuple(dict.fromkeys((*reads, *tests, *handoff.queries)))


def path_of(target: str, repo: str = "") -> str:
    """A path inside the repository, without the line that may follow it."""
    path = normalised_target(target, repo)
    while (cut := path.rpartition(":"))[0] and cut[2].isdigit():
        path = cut[0]
    return path.removeprefix("./")


def _command(text: str) -> str:
    return " ".join(text.split())


def _queries(course: Course, events: tuple[MissionEvent, ...]) -> tuple[Covered, ...]:
    """Searches and questions, and what was listed or compared: all that has no list of its own."""
    listed = {one.path for one in course.inherited.files_read}
    own = (covers(one, course.spec.repo) for one in events if one.event_type not in _LISTED)
    before = (one for one in course.inherited.covered if one.family is not Family.TEST and one.item not in listed)
    return tuple(dict.fromkeys((*before, *(one for one in own if one is not None and one.item))))


# -- the fields ------------------------------------------------------------------------------------------------------


def _files(course: Course, known: Mapping[str, str | None]) -> tuple[FileRead, ...]:
    found = {one.path: one for one in course.inherited.files_read}
    for path, read in course.files.items():
        inherited = found.get(path)
        digest = read.digest or known.get(path)
        same = inherited is not None and inherited.digest == digest
        found[path] = msgspec.structs.replace(
            read,
            digest=digest,
            ranges=tuple(dict.fromkeys((*(inherited.ranges if inherited and same else ()), *read.ranges))),
            times=read.times + (inherited.times if inherited and same else 0),
        )
    return tuple(found.values())


def _merged(before: Iterable[_Item], own: Iterable[_Item], key: Callable[[_Item], object]) -> tuple[_Item, ...]:
    """The last of each, in the order in which they were first seen."""
    return tuple({key(one): one for one in (*before, *own)}.values())


def _rests(
    claim: MissionClaim, events: Mapping[str, MissionEvent], repo: str, before: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Paths and commands that a claim is shown by: its targets, and what the events it names have looked at."""
    found = dict.fromkeys(before.get(claim.claim_id, ()) if claim.verdict in ("inherited", "stale") else ())
    found |= dict.fromkeys(path_of(one, repo) for one in claim.targets)
    for name in claim.evidence_refs:
        event = events.get(name)
        if event is None:
            continue
        for hit in event.payload.get("hits") or ():
            said = hit.get("path") if isinstance(hit, Mapping) else hit
            found |= dict.fromkeys((path_of(str(said), repo),) if said else ())
        if event.target and event.tool_family not in _QUERIES:
            found[path_of(event.target, repo)] = None
    return tuple(found)


def _open(course: Course, events: tuple[MissionEvent, ...]) -> tuple[str, ...]:
    judged = {one.claim for one in course.claims.values() if one.verdict not in _OPEN}
    refuted = set()
    for event in events:
        if event.event_type is EventType.HYPOTHESIS and event.outcome is Outcome.HYPOTHESIS_REFUTED:
            refuted |= {str(event.payload.get(name)) for name in ("refutes", "text") if event.payload.get(name)}
    claims = (one.claim for one in course.claims.values() if one.verdict in _OPEN)
    before = (one for one in course.inherited.open_hypotheses if one not in judged and one not in refuted)
    return tuple(dict.fromkeys((*claims, *before, *course.hypotheses.values())))


def _dead(course: Course) -> tuple[DeadPath, ...]:
    """A path that was taken again with a reason, and led to a claim that holds, is not dead."""
    alive = {path_of(one, course.spec.repo) for claim in course.verified for one in claim.targets} & course.lifted
    return tuple(one for target, one in course.dead.items() if target not in alive)


def _criteria(course: Course, digests: Mapping[str, str]) -> tuple[Staleness, ...]:
    found = [Staleness(kind="file_digest", subject=path, value=digest) for path, digest in sorted(digests.items())]
    if (guard := course.guard) is not None:
        generation = str(guard.graph_generation)
        found.append(Staleness(kind="graph_generation", subject="graph", value=generation, effect="drop"))
        found.append(Staleness(kind="binary_version", subject=guard.binary_version, value=guard.build_id, effect="drop"))
        if guard.branch_head is not None:
            found.append(Staleness(kind="branch_head", subject="HEAD", value=guard.branch_head))
    return (*found, Staleness(kind="age_hours", subject="hand-over", value=str(AGE_HOURS)))


def _summary(course: Course, said: str) -> str:
    """What the agent says, then what the events say; cut at a page."""
    spec = course.spec
    claims = course.claims.values()
    lines = [said.strip()] if said.strip() else []
    lines.append(f"{spec.mode.value} by {spec.agent_id}: {spec.task}")
    lines.append(
        f"{course.seq} events, {len(course.files)} files read, {len(course.tests)} tests run, {course.graph_calls} graph calls; "
        f"{len(course.verified)} claims verified, {sum(one.verdict == 'rejected' for one in claims)} rejected, "
        f"{sum(one.verdict in _OPEN for one in claims)} open; {len(course.dead)} dead paths"
    )
    lines += [f"verified: {one.claim}" for one in course.verified]
    lines += [f"dead: {one.target} ({one.why_ruled_out})" for one in course.dead.values()]
    text = "\n".join(lines)
    return text if len(text) <= SUMMARY_CHARS else text[: SUMMARY_CHARS - 1].rstrip() + "…"
