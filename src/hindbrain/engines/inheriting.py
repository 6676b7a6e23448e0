"""Inheriting: what of a hand-over still holds, given how the files, the graph and the build are now. What changed is named and
looked at again; the rest keeps its standing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.handover import Covered, Handoff, Inheritance, Staleness
from hindbrain.domain.mission import DoNot, EvidenceClass, Family, MissionClaim, Move
from hindbrain.engines.course import Course
from hindbrain.engines.handover import covered_by, path_of
from hindbrain.engines.moments import milliseconds

__all__ = [
    "Change",
    "Facts",
    "Taken",
    "inherit",
    "inherited_do_not",
    "known_targets",
    "rechecks_due",
    "starter_focus",
    "told_of",
]

_HOUR = 3_600_000
_ANCHORS = 5  # more would be a list to work through, not a hint where to look


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """How things are at the moment of taking over. None: not known here, and so not compared."""

    files: Mapping[str, str | None]  # None: the file is gone
    now: int
    graph_generation: int | None = None
    build: str | None = None
    branch_head: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One criterion that no longer holds."""

    kind: str
    subject: str
    was: str
    now: str | None
    effect: str

    @property
    def line(self) -> str:
        match self.kind:
            case "file_digest":
                return f"{self.subject} {'is gone' if self.now is None else 'changed'} since the hand-over"
            case "age_hours":
                return f"the hand-over is {self.now} hours old, over {self.was}"
            case _:
                return f"{self.kind.replace('_', ' ')} is {self.now}, was {self.was}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a mission inherits, and what changed since."""

    inheritance: Inheritance
    changes: tuple[Change, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(one.line for one in self.changes)


def inherit(handoff: Handoff, facts: Facts, *, parent_span_id: str | None = None) -> Taken:
    """Check every item of a hand-over against its criteria."""
    changes = tuple(made for one in handoff.staleness_criteria if (made := _changed(one, handoff, facts)) is not None)
    kinds = {one.kind for one in changes}
    moved = frozenset(one.subject for one in changes if one.kind == "file_digest")
    known = {one.subject for one in handoff.staleness_criteria if one.kind == "file_digest"}
    old = "age_hours" in kinds
    elsewhere = old or "branch_head" in kinds  # files that nobody read may be others
    graph = bool(kinds & {"graph_generation", "binary_version"}) or old

    def stale(rests: tuple[str, ...]) -> tuple[str, ...]:
        """Why a claim no longer stands: a file it rests on; or, where it rests on none, anything that a run could see."""
        files = tuple(one for one in rests if one in known)
        lines = tuple(one.line for one in changes if one.kind == "file_digest" and one.subject in files)
        if files:
            return lines
        return tuple(one.line for one in changes if one.kind in ("file_digest", "branch_head", "age_hours"))

    claims, again = [], []
    for claim in (*handoff.inherited_claims, *handoff.verified_claims):
        rests = handoff.rests_on.get(claim.claim_id, ())
        why = stale(rests) or (claim.missing if claim.verdict == "stale" else ())
        claims.append(_inherited(claim, handoff.mission_id, why))
        if why:
            again += [one for one in rests if one in moved] or list(rests[:1])
    again += sorted(moved)
    rechecks = tuple(dict.fromkeys(again))
    reruns = tuple(one for one in rechecks if one not in known)
    kept = tuple(one for one in covered_by(handoff) if _holds(one, moved=moved, graph=graph, elsewhere=elsewhere))
    commands = {one.item for one in kept if one.family is Family.TEST}
    inheritance = Inheritance(
        handoff_ids=(*handoff.ancestors, handoff.handoff_id),
        claims=tuple(claims),
        rejected=tuple(msgspec.structs.replace(one, inherited_from=handoff.mission_id) for one in handoff.rejected_claims),
        rests_on={one.claim_id: handoff.rests_on[one.claim_id] for one in claims if one.claim_id in handoff.rests_on},
        dead_paths=tuple(one for one in handoff.dead_paths if path_of(one.target) not in moved),  # it is another file now
        covered=kept,
        files_read=tuple(one for one in handoff.files_read if one.path not in moved),
        tests_run=tuple(one for one in handoff.tests_run if " ".join(one.command.split()) in commands),
        anchors=() if graph else handoff.graph_anchors,
        open_hypotheses=handoff.open_hypotheses,
        rechecks=rechecks,
        reruns=reruns,
        next_required_move=_next(handoff, rechecks, reruns),
        parent_span_id=parent_span_id,
    )
    return Taken(inheritance=inheritance, changes=changes)


def _changed(one: Staleness, handoff: Handoff, facts: Facts) -> Change | None:
    now: str | None
    match one.kind:
        case "file_digest":
            if one.subject not in facts.files:
                return None
            now = facts.files[one.subject]
        case "graph_generation":
            now = None if facts.graph_generation is None else str(facts.graph_generation)
        case "binary_version":
            now = facts.build
        case "branch_head":
            now = facts.branch_head
        case "age_hours":
            age = max(0, facts.now - (milliseconds(handoff.created_at) or 0)) / _HOUR
            now = f"{age:.0f}" if round(age, 9) > float(one.value) else None
    if now == one.value or (now is None and one.kind != "file_digest"):
        return None
    return Change(kind=one.kind, subject=one.subject, was=one.value, now=now, effect=one.effect)


def _inherited(claim: MissionClaim, mission_id: str, why: tuple[str, ...]) -> MissionClaim:
    origin = claim.inherited_from or mission_id
    if why:
        return msgspec.structs.replace(
            claim, verdict="stale", evidence_grade="inferred", missing=why, inherited_from=origin, judged=0
        )
    return msgspec.structs.replace(claim, verdict="inherited", inherited_from=origin, judged=0)


def _holds(one: Covered, *, moved: frozenset[str], graph: bool, elsewhere: bool) -> bool:
    """Whether looking again would show the same."""
    match one.family:
        case Family.GRAPH:
            return not graph
        case Family.TEST:
            return not (moved or elsewhere)
        case Family.LITERAL_SEARCH:
            return not elsewhere and not any(not one.scope or f"{path}/".startswith(f"{one.scope}/") for path in moved)
        case _:
            return one.item not in moved


def _next(handoff: Handoff, rechecks: tuple[str, ...], reruns: tuple[str, ...]) -> dict[str, Any]:
    if not rechecks:
        return handoff.next_required_move
    return {**handoff.next_required_move, "move": msgspec.to_builtins(_look_again(rechecks[0], reruns))}


# -- what a mission does with it -------------------------------------------------------------------------------------


def rechecks_due(course: Course) -> tuple[str, ...]:
    """What changed since the hand-over and was not looked at in this mission yet."""
    if not course.inherited.rechecks:
        return ()
    seen = {path_of(one, course.spec.repo) for one in course.directs_by_target} | {one.command for one in course.tests}
    return tuple(one for one in course.inherited.rechecks if one not in seen)


def _look_again(item: str, reruns: tuple[str, ...]) -> Move:
    run = item in reruns
    return Move(
        type="run_test" if run else "read_file",
        tool="mission.run" if run else "read",
        target=item,
        why="it changed since the hand-over, and what was claimed rests on it",
        evidence_required=(EvidenceClass.DIRECT_TEST if run else EvidenceClass.DIRECT_SOURCE).value,
        arguments={} if run else {"path": item},
    )


def inherited_do_not(inheritance: Inheritance) -> tuple[DoNot, ...]:
    """Dead paths of those before: not to be entered again, unless with a reason."""
    return tuple(
        DoNot(
            item=one.target,
            kind="target",
            reason=one.why_ruled_out,
            source="handoff",
            until=one.until or "a dissent gives a reason",
        )
        for one in inheritance.dead_paths
    )


def known_targets(inheritance: Inheritance) -> tuple[str, ...]:
    """Files that the mission begins with: those that have to be looked at again."""
    return tuple(one for one in inheritance.rechecks if one not in inheritance.reruns)


def starter_focus(inheritance: Inheritance) -> tuple[str, ...]:
    """Places in the graph where those before found something: for the first moves."""
    return tuple(dict.fromkeys(one.node_or_query for one in inheritance.anchors))[:_ANCHORS]


def told_of(inheritance: Inheritance) -> dict[str, Any] | None:
    """What an agent is told of it; None when there is nothing before it."""
    if not inheritance.handoff_ids:
        return None
    told: dict[str, Any] = msgspec.to_builtins(inheritance)
    told.pop("parent_span_id")
    return told
