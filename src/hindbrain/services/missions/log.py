"""The log of missions: the one place that adds to one. A turn is one transaction: it reads how far the mission is, adds events,
and after the commit tells whoever mirrors them. Courses stay in memory and catch up with what other processes wrote."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import InvalidParams, MissionClosed, MissionForeign, UnknownMission
from hindbrain.domain.ledger import Act, Entry
from hindbrain.domain.mission import (
    AGENT_STARTED,
    DoNot,
    EventType,
    EvidenceClass,
    Family,
    MissionEvent,
    MissionSpec,
    MissionStatus,
    Outcome,
)
from hindbrain.domain.stored import stored_record
from hindbrain.domain.task import Class
from hindbrain.engines.course import Course, coursed
from hindbrain.engines.flight import kept_target
from hindbrain.engines.mission_chain import sealed
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import CLOSED_STATUSES, EVENTS
from hindbrain.services.brains import OpenBrain
from hindbrain.stores.mission_port import MissionHead, StoredEvent, StoredPaper
from hindbrain.stores.port import Writer

__all__ = ["Draft", "MissionLog", "Turn", "check_kept", "checked_id", "new_id"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ALLOWED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_COURSES = 64  # missions whose course stays in memory
_RUNTIME = "runtime"


def new_id(prefix: str, at: int) -> str:
    """A ULID behind its prefix: ids of one kind sort by time."""
    number = (max(0, at) & ((1 << 48) - 1)) << 80 | int.from_bytes(os.urandom(10))
    return f"{prefix}_" + "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def checked_id(mission_id: str) -> str:
    """An id that may name a mission, and its directory. Anything else is refused before a disk is touched."""
    if not mission_id.startswith("msn_") or not 5 <= len(mission_id) <= 64 or not set(mission_id) <= _ALLOWED:
        raise InvalidParams(f"{mission_id[:80]!r} is no id of a mission", fix="use an id as mission list gives it: msn_…")
    return mission_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An event before it is written down. What is not given follows from its type."""

    event_type: EventType
    actor: str = _RUNTIME
    source: str = _RUNTIME
    tool: str | None = None
    family: Family | None = None
    target: str | None = None
    target_digest: str | None = None
    evidence: EvidenceClass | None = None
    outcome: Outcome | None = None
    failure_class: Class | None = None
    duration_ms: int = 0
    confidence: float | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    event_id: str | None = None
    timestamp: str | None = None  # of an event that is told late


@dataclass(slots=True, kw_only=True)
class Turn:
    """One transaction on one mission."""

    opened: OpenBrain
    course: Course
    caller: Caller
    now: int
    writer: Writer
    made: list[MissionEvent] = field(default_factory=list)
    papers: list[StoredPaper] = field(default_factory=list)
    stepped: tuple[DoNot, ...] | None = None
    redact: bool = False  # what lies outside the repository is not named
    entry: Entry | None = None  # of the ledger, for the last event of this turn

    @property
    def agent(self) -> str:
        return AGENT_STARTED + self.caller.agent

    def add(self, draft: Draft) -> MissionEvent:
        """Write one event; the course has it at once."""
        kind = EVENTS[draft.event_type]
        course = self.course
        event = sealed(
            MissionEvent(
                event_id=draft.event_id or new_id("evt", self.now),
                mission_id=course.spec.mission_id,
                seq=course.seq + 1,
                timestamp=draft.timestamp or stamped(self.now),
                actor=draft.actor,
                source=draft.source,  # type: ignore[arg-type]  # one of three, and the record checks it when it is read
                phase=course.phase,
                event_type=draft.event_type,
                tool_family=draft.family or kind.family,
                evidence_class=draft.evidence or kind.evidence,
                outcome=draft.outcome or kind.outcome,
                tool=draft.tool,
                target=kept_target(draft.target, course.spec.repo) if self.redact else draft.target,
                target_digest=draft.target_digest,
                failure_class=draft.failure_class,
                duration_ms=draft.duration_ms,
                agent_confidence=draft.confidence,
                payload=draft.payload,
            ),
            course.head,
        )
        entry = self.entry = self.writer.append(
            Act(
                act=f"mission.{draft.event_type.value}",
                subject=course.spec.mission_id,
                actor=self.caller.agent if draft.actor != _RUNTIME else "hindbrain",
                channel=self.caller.channel,
                at=self.now,
                payload={"seq": event.seq, "event": event.event_id, "hash": event.hash},
            )
        )
        self.writer.put_mission_event(
            StoredEvent(
                mission_id=event.mission_id,
                seq=event.seq,
                event_id=event.event_id,
                at=self.now,
                event_type=event.event_type.value,
                hash=event.hash,
                ledger_seq=entry.seq,
                body=msgspec.json.encode(event).decode(),
            )
        )
        course.add(event)
        self.made.append(event)
        return event

    def step(self, do_not: tuple[DoNot, ...], rule: str) -> int:
        """Give a move out: its number. It is recorded in the ledger, and is no event, for nothing was done yet."""
        course = self.course
        course.steps += 1
        course.forbidden = do_not
        self.stepped = do_not
        self.writer.append(
            Act(
                act="mission.next",
                subject=course.spec.mission_id,
                actor=self.caller.agent,
                channel=self.caller.channel,
                at=self.now,
                payload={"step": course.steps, "rule": rule, "after": course.seq},
            )
        )
        return course.steps

    def keep(self, paper: StoredPaper) -> None:
        """Keep a hand-over or a packet in the same transaction."""
        self.writer.put_mission_paper(paper)
        self.papers.append(paper)


class MissionLog:
    """The missions of one process's brains."""

    def __init__(self, clock: Callable[[], int], *, redact_external: bool = False) -> None:
        self._clock = clock
        self._redact = redact_external
        self._guard = threading.Lock()
        self._locks: dict[tuple[str, str], threading.RLock] = {}
        self._courses: OrderedDict[tuple[str, str], Course] = OrderedDict()
        # Told of every turn after its commit, while the mission is still held: who mirrors events to files, and who counts.
        self.mirrors: list[Callable[[OpenBrain, Course, tuple[MissionEvent, ...], tuple[StoredPaper, ...]], None]] = []

    def now(self) -> int:
        return self._clock()

    @contextmanager
    def begin(self, opened: OpenBrain, caller: Caller, spec: MissionSpec) -> Iterator[Turn]:
        """The first turn of a mission. One that comes from another is linked with it in the same transaction, both ways."""
        parent = spec.parent_mission_id
        course = coursed(spec)
        with ExitStack() as held:
            if parent is not None:  # before the store: whoever holds the parent may be waiting for it
                held.enter_context(self._held(opened, checked_id(parent)))
            held.enter_context(self._held(opened, spec.mission_id))
            linked: Turn | None = None
            try:
                with opened.store.writing() as writer:
                    now = self._clock()
                    head = MissionHead(
                        mission_id=spec.mission_id,
                        agent=spec.agent_id,
                        status=MissionStatus.ACTIVE.value,
                        mode=spec.mode.value,
                        parent_id=parent,
                        created_at=course.created_at,
                        updated_at=now,
                        seq=0,
                        hash=course.head,
                        steps=0,
                        told="[]",
                        spec=msgspec.json.encode(spec).decode(),
                    )
                    above = self._above(writer, spec)
                    writer.put_mission(head)
                    turn = Turn(opened=opened, course=course, caller=caller, now=now, writer=writer, redact=self._redact)
                    yield turn
                    self._moved(turn, head)
                    linked = self._linked(turn, above) if above is not None else None
            except BaseException:
                self._courses.pop((opened.brain.id, parent or ""), None)  # it may hold an event that was not kept
                raise
            if linked is not None:
                self._settled(linked)
            self._settled(turn)

    def _above(self, writer: Writer, spec: MissionSpec) -> MissionHead | None:
        """The mission this one comes from. Those above it lead to one that comes from none."""
        if spec.parent_mission_id is None:
            return None
        found = above = writer.mission(spec.parent_mission_id)
        if found is None:
            raise self._unknown(spec.parent_mission_id)
        seen = {spec.mission_id}
        while above is not None:
            if above.mission_id in seen:
                raise InvalidParams(
                    f"mission {above.mission_id} would come from itself", fix="begin it without a parent, or from another one"
                )
            seen.add(above.mission_id)
            above = writer.mission(above.parent_id) if above.parent_id else None
        return found

    def _linked(self, turn: Turn, above: MissionHead) -> Turn | None:
        """The link in the mission above. One that is over stays as its packet has it; the link of the other is enough."""
        if above.status in CLOSED_STATUSES:
            return None
        spec, writer = turn.course.spec, turn.writer
        key = (turn.opened.brain.id, above.mission_id)
        course = self._caught_up(key, above, lambda after: writer.mission_events(above.mission_id, after=after))
        other = Turn(opened=turn.opened, course=course, caller=turn.caller, now=turn.now, writer=writer, redact=self._redact)
        payload = {"child_mission_id": spec.mission_id, "agent_id": spec.agent_id, "handoff_id": spec.handoff_id}
        other.add(Draft(event_type=EventType.RESUME, target=spec.mission_id, payload=payload))
        self._moved(other, above)
        return other

    @contextmanager
    def turn(
        self, opened: OpenBrain, caller: Caller, mission_id: str, *, over: bool = False, anyone: bool = False
    ) -> Iterator[Turn]:
        """One transaction on a mission of this agent. `over` allows one that is not active, `anyone` another's."""
        key = (opened.brain.id, checked_id(mission_id))
        with self._held(opened, mission_id):
            try:
                with opened.store.writing() as writer:
                    head = writer.mission(mission_id)
                    if head is None:
                        raise self._unknown(mission_id)
                    course = self._caught_up(key, head, lambda after: writer.mission_events(mission_id, after=after))
                    if not anyone:
                        self._check_owner(caller, course)
                    if not over:
                        self._check_active(course)
                    turn = Turn(
                        opened=opened, course=course, caller=caller, now=self._clock(), writer=writer, redact=self._redact
                    )
                    yield turn
                    self._moved(turn, head)
            except BaseException:
                self._courses.pop(key, None)  # it may hold events that were not kept
                raise
            self._settled(turn)

    @contextmanager
    def reading(self, opened: OpenBrain, mission_id: str) -> Iterator[Course]:
        """A course as it stands; nobody adds to it meanwhile in this process."""
        store = opened.store
        with self._held(opened, checked_id(mission_id)):
            head = store.mission(mission_id)
            if head is None:
                raise self._unknown(mission_id)
            key = (opened.brain.id, mission_id)
            yield self._caught_up(key, head, lambda after: store.mission_events(mission_id, after=after))

    def at(self, opened: OpenBrain, mission_id: str, seq: int) -> Course:
        """The course as it stood after an event of the past."""
        head = opened.store.mission(checked_id(mission_id))
        if head is None:
            raise self._unknown(mission_id)
        check_kept(head)
        events = opened.store.mission_events(mission_id, limit=seq) if seq else ()
        return coursed(_spec(head), (_event(one) for one in events))

    def events(self, opened: OpenBrain, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[MissionEvent, ...]:
        """Events as they were written."""
        return tuple(_event(one) for one in opened.store.mission_events(mission_id, after=after, limit=limit))

    def named(self, opened: OpenBrain, mission_id: str, event_ids: tuple[str, ...]) -> dict[str, MissionEvent]:
        """Events by id; those that are not there are left out."""
        found = opened.store.mission_events_named(mission_id, event_ids)
        return {name: _event(one) for name, one in found.items()}

    def find(self, opened: OpenBrain, caller: Caller, mission_id: str | None, *, over: bool = False) -> str:
        """The id that is meant: what is given, or the one mission of this agent that is active. Who only looks (`over`) means the
        latest: an active one, or any where none is."""
        store = opened.store
        if mission_id is not None:
            if store.mission(checked_id(mission_id)) is not None:
                return mission_id
            like = store.missions_like(mission_id, limit=2)
            if len(like) == 1:
                return like[0]
            raise self._unknown(mission_id)
        mine = store.missions(agent=caller.agent, status=MissionStatus.ACTIVE.value, limit=6)
        if len(mine) == 1 or (mine and over):
            return mine[0].mission_id
        if mine:
            named = ", ".join(one.mission_id for one in mine)
            raise InvalidParams(f"{caller.agent} has several active missions: {named}", fix="say which: mission_id")
        if over and (latest := store.missions(agent=caller.agent, limit=1)):
            return latest[0].mission_id
        raise UnknownMission(
            f"{caller.agent} has no active mission here", fix="begin one with mission start, or see mission list"
        )

    def forget(self, opened: OpenBrain) -> None:
        """A brain is closed: drop what is remembered of it."""
        with self._guard:
            for key in [one for one in self._courses if one[0] == opened.brain.id]:
                self._courses.pop(key)

    # -- within ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _held(self, opened: OpenBrain, mission_id: str) -> Iterator[None]:
        key = (opened.brain.id, mission_id)
        with self._guard:
            lock = self._locks.setdefault(key, threading.RLock())
        with lock:
            yield

    def _caught_up(self, key: tuple[str, str], head: MissionHead, after: Callable[[int], tuple[StoredEvent, ...]]) -> Course:
        if head.erased:
            with self._guard:
                self._courses.pop(key, None)
        check_kept(head)
        with self._guard:
            course = self._courses.get(key)
        if course is None or course.seq > head.seq:
            course = coursed(_spec(head))
        if course.seq < head.seq:
            for stored in after(course.seq):
                course.add(_event(stored))
        course.steps = head.steps
        course.forbidden = stored_record(head.told, tuple[DoNot, ...], "mission")
        with self._guard:
            self._courses[key] = course
            self._courses.move_to_end(key)
            while len(self._courses) > _COURSES:
                old, _ = self._courses.popitem(last=False)
                self._locks.pop(old, None) if not self._busy(old) else None
        return course

    def _busy(self, key: tuple[str, str]) -> bool:
        lock = self._locks.get(key)
        if lock is None or not lock.acquire(blocking=False):
            return True
        lock.release()
        return False

    def _moved(self, turn: Turn, head: MissionHead) -> None:
        course = turn.course
        if not turn.made and turn.stepped is None:
            return
        told = head.told if turn.stepped is None else msgspec.json.encode(turn.stepped).decode()
        turn.writer.move_mission(
            MissionHead(
                mission_id=head.mission_id,
                agent=head.agent,
                status=course.status.value,
                mode=head.mode,
                parent_id=head.parent_id,
                created_at=head.created_at,
                updated_at=max(head.updated_at, turn.now),
                seq=course.seq,
                hash=course.head,
                steps=course.steps,
                told=told,
                spec=head.spec,
            )
        )

    def _settled(self, turn: Turn) -> None:
        key = (turn.opened.brain.id, turn.course.spec.mission_id)
        with self._guard:
            self._courses[key] = turn.course
        for mirror in self.mirrors:
            mirror(turn.opened, turn.course, tuple(turn.made), tuple(turn.papers))

    def _check_owner(self, caller: Caller, course: Course) -> None:
        owner = course.spec.agent_id
        if caller.agent != owner and caller.channel is not Channel.HUMAN:
            raise MissionForeign(
                f"mission {course.spec.mission_id} belongs to {owner}",
                fix="take it over from a hand-over: mission resume",
                owner=owner,
            )

    def _check_active(self, course: Course) -> None:
        if course.status.value in CLOSED_STATUSES:
            raise MissionClosed(
                f"mission {course.spec.mission_id} is {course.status.value}", fix="begin another one: mission start"
            )
        if not course.active:
            raise MissionClosed(f"mission {course.spec.mission_id} was handed over", fix="take it up again first: mission resume")

    @staticmethod
    def _unknown(mission_id: str) -> UnknownMission:
        return UnknownMission(f"there is no mission {mission_id[:64]!r} here", fix="see mission list")


def check_kept(head: MissionHead) -> None:
    """A mission whose texts were erased is still named, and has nothing to tell."""
    if head.erased:
        raise UnknownMission(
            f"mission {head.mission_id} was erased: it held something that a person had forgotten",
            fix="begin another one: mission start",
            erased=True,
            status=head.status,
            event_count=head.seq,
            event_digest=head.hash,
        )


def _spec(head: MissionHead) -> MissionSpec:
    return stored_record(head.spec, MissionSpec, "mission")


def _event(stored: StoredEvent) -> MissionEvent:
    return stored_record(stored.body, MissionEvent, "mission_event")
