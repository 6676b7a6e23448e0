"""Handing over: a mission written down for the next agent, and taken up again by the same one or by another. Reads the files that
a hand-over rests on; knows nothing of who works when."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HandoverBroken, MissionClosed, UnknownMission
from hindbrain.domain.handover import Handoff
from hindbrain.domain.mission import ContextGuard, EventType, MissionEvent
from hindbrain.domain.stored import stored_record
from hindbrain.engines.course import Course
from hindbrain.engines.handover import check, handed, undigested
from hindbrain.engines.inheriting import Change, Facts, Taken, inherit, known_targets
from hindbrain.engines.mission_chain import DIGEST, genesis
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import CLOSED_STATUSES, COUNTED_OUT
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.log import Draft, MissionLog, Turn, new_id
from hindbrain.services.missions.surroundings import may_read
from hindbrain.stores.mission_port import StoredPaper

__all__ = ["Child", "ChildProof", "Handing", "NextMoveOf", "Resumed"]

NextMoveOf = Callable[
    [OpenBrain, Course, int], dict[str, Any]
]  # {"move", "do_not", "soft_warning"} as the router says it at that moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """What a mission that goes on from another begins with. `changes` are fields of its spec."""

    handoff: Handoff
    taken: Taken
    changes: dict[str, Any]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A mission that its own agent took up again, and what changed while it lay."""

    event: MissionEvent
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildProof:
    """What a mission that came from this one has shown: by reference to its own events."""

    mission_id: str
    event_digest: str
    verified: dict[str, tuple[str, ...]]  # claim -> events of the child


class Handing:
    """Gives hand-overs out and takes them in. `digest` reads a file below a repository: None when there is none."""

    def __init__(
        self,
        log: MissionLog,
        digest: Callable[[str, str], str | None],
        next_move: NextMoveOf,
        span: Callable[[str], str],
    ) -> None:
        self._log = log
        self._digest = digest
        self._next = next_move
        self._span = span

    # -- giving ------------------------------------------------------------------------------------------------------

    def handoff(self, turn: Turn, *, recipient: str | None = None, summary: str = "", leave: bool = True) -> Handoff:
        """Write the mission down for whoever goes on. With `leave` it waits; without, its agent works on. Texts were checked."""
        course = turn.course
        move = self._next(turn.opened, course, turn.now)
        made = self._made(turn, move, recipient=recipient, summary=summary)
        payload = {
            "handoff_id": made.handoff_id,
            "handoff_digest": made.handoff_digest,
            "recipient_agent_id": recipient,
            "leave": leave,
        }
        turn.keep(
            StoredPaper(
                paper_id=made.handoff_id,
                mission_id=course.spec.mission_id,
                kind="handoff",
                number=len(course.handoffs) + 1,
                at=turn.now,
                body=msgspec.json.encode(made).decode(),
            )
        )
        turn.add(Draft(event_type=EventType.HANDOFF, target=made.handoff_id, payload=payload))
        return made

    def _made(self, turn: Turn, move: dict[str, Any], *, recipient: str | None = None, summary: str = "") -> Handoff:
        course = turn.course
        spec = course.spec
        told = {one.seq: one for one in self._log.events(turn.opened, spec.mission_id)}
        told |= {one.seq: one for one in turn.made}  # of this turn, which nobody else sees yet
        events = tuple(told[seq] for seq in sorted(told) if seq <= course.seq)
        seen = may_read(turn)
        return handed(
            course,
            events,
            handoff_id=new_id("hnd", turn.now),
            stamp=stamped(turn.now),
            next_move=move,
            digests={path: self._digest(spec.repo, path) if seen else None for path in undigested(course, events)},
            recipient=recipient,
            summary=summary,
        )

    # -- taking ------------------------------------------------------------------------------------------------------

    def given(self, opened: OpenBrain, handoff_id: str, *, told: Handoff | None = None) -> Handoff:
        """A hand-over by its id, checked against the log of its mission. `told` is one that came by another way: it must be the
        same."""
        paper = opened.store.mission_paper(handoff_id)
        if paper is None or paper.kind != "handoff":
            raise UnknownMission(
                f"there is no hand-over {handoff_id[:64]!r} here", fix="take the id as mission handoff gave it: hnd_…"
            )
        try:
            kept = stored_record(paper.body, Handoff, "mission_paper")
        except (msgspec.ValidationError, msgspec.DecodeError) as broken:
            raise HandoverBroken(
                f"hand-over {handoff_id} cannot be read", fix="ask its agent for a new one: mission handoff"
            ) from broken
        for one in (kept,) if told is None else (kept, told):
            digest, named = self._said(opened, one, paper.mission_id)
            check(one, event_digest=digest, told_digest=named)
        return kept

    def _said(self, opened: OpenBrain, handoff: Handoff, mission_id: str) -> tuple[str | None, str | None]:
        """What the log has at the last event of a hand-over, and what the event after it says of the hand-over."""
        if handoff.mission_id != mission_id:
            return None, None
        count = handoff.event_count
        around = self._log.events(opened, mission_id, after=max(0, count - 1), limit=2)
        by_seq = {one.seq: one for one in around}
        digest = by_seq[count].hash if count in by_seq else None
        giving = by_seq.get(count + 1)
        named = giving.payload.get("handoff_digest") if giving is not None else None
        return (digest if count else DIGEST + genesis(mission_id)), named

    def child(
        self,
        opened: OpenBrain,
        caller: Caller,
        *,
        guard: ContextGuard,
        handoff_id: str | None = None,
        parent_mission_id: str | None = None,
    ) -> Child:
        """What a mission begins with that goes on from a hand-over, or from the last one of a mission. A mission that worked on
        since, or whose agent is gone without one, is written down now."""
        if handoff_id is not None:
            handoff = self.given(opened, handoff_id)
        else:
            handoff = self._last(opened, caller, parent_mission_id or "")
        taken = self.taken(opened, handoff, guard)
        changes = {
            "parent_mission_id": handoff.mission_id,
            "handoff_id": handoff.handoff_id,
            "inherited": msgspec.to_builtins(taken.inheritance),
            "known_targets": known_targets(taken.inheritance),
            "trace_id": handoff.trace_id,
        }
        meant = handoff.recipient_agent_id
        foreign = (f"the hand-over was meant for {meant}",) if meant is not None and meant != caller.agent else ()
        return Child(handoff=handoff, taken=taken, changes=changes, warnings=(*foreign, *taken.warnings))

    def _last(self, opened: OpenBrain, caller: Caller, mission_id: str) -> Handoff:
        with self._log.reading(opened, mission_id) as course:
            over = course.status.value in CLOSED_STATUSES
            if course.handoffs and (over or not self._worked_since(opened, course)):
                return self.given(opened, course.handoffs[-1])
        if over:
            raise MissionClosed(
                f"mission {mission_id} is {course.status.value} and left no hand-over", fix="begin one without a parent"
            )
        with self._log.turn(opened, caller, mission_id, over=True, anyone=True) as turn:
            return self.handoff(turn, leave=False)

    def _worked_since(self, opened: OpenBrain, course: Course) -> bool:
        """Whether its agent did or claimed anything after the last hand-over."""
        last = self.given(opened, course.handoffs[-1])
        after = self._log.events(opened, course.spec.mission_id, after=last.event_count + 1)
        quiet = COUNTED_OUT - {EventType.CLAIM, EventType.VERIFY, EventType.HYPOTHESIS, EventType.DEAD_PATH}
        return any(one.event_type not in quiet for one in after)

    def taken(self, opened: OpenBrain, handoff: Handoff, guard: ContextGuard | None) -> Taken:
        """A hand-over against the files, the graph, the build and the branch as they are now."""
        return self._against(opened, handoff, guard, repo=guard.repo if guard is not None else handoff.repo)

    def _against(self, opened: OpenBrain, handoff: Handoff, guard: ContextGuard | None, *, repo: str) -> Taken:
        paths = [one.subject for one in handoff.staleness_criteria if one.kind == "file_digest"]
        facts = Facts(
            files={path: self._digest(repo, path) for path in paths},
            now=self._log.now(),
            graph_generation=guard.graph_generation if guard is not None else None,
            build=guard.build_id if guard is not None else None,
            branch_head=guard.branch_head if guard is not None else None,
        )
        around = self._log.events(opened, handoff.mission_id, after=handoff.event_count, limit=1)
        span = self._span(around[0].event_id) if around else None
        return inherit(handoff, facts, parent_span_id=span)

    def reopen(self, turn: Turn, guard: ContextGuard | None) -> Resumed:
        """Its own agent takes a mission up again, after a break or a crash. Call it before the new guard is written."""
        course = turn.course
        if course.status.value in CLOSED_STATUSES:
            raise MissionClosed(
                f"mission {course.spec.mission_id} is {course.status.value}", fix="begin another one: mission start"
            )
        stood = self._made(turn, {})
        taken = self._against(turn.opened, stood, guard, repo=course.spec.repo)
        draft = Draft(
            event_type=EventType.RESUME,
            actor=turn.agent,
            target=course.spec.mission_id,
            payload={"warnings": list(taken.warnings), "rechecks": list(taken.inheritance.rechecks)},
        )
        return Resumed(event=turn.add(draft), changes=taken.changes)

    # -- the tree ----------------------------------------------------------------------------------------------------

    def children(self, opened: OpenBrain, mission_id: str) -> tuple[str, ...]:
        """Missions that came from this one, also those begun after it was over."""
        return tuple(one.mission_id for one in reversed(opened.store.missions(parent_id=mission_id, limit=1000)))

    def proofs(self, opened: OpenBrain, mission_id: str) -> tuple[ChildProof, ...]:
        """What each of them has shown, by the digest and the events of its own chain."""
        found = []
        for child in self.children(opened, mission_id):
            head = opened.store.mission(child)
            if head is not None and head.erased:
                found.append(ChildProof(mission_id=child, event_digest=head.hash, verified={}))
                continue
            with self._log.reading(opened, child) as course:
                verified = {one.claim_id: one.evidence_refs for one in course.verified}
                found.append(ChildProof(mission_id=child, event_digest=course.head, verified=verified))
        return tuple(found)
