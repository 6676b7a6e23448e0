"""The course of a mission: what its events have come to. Each event is added once, in order, and the same events give the same
course, live and after a restart. Holds what decisions need and not the events, so one more costs the same after ten thousand."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hindbrain.domain.handover import DeadPath, FileRead, GraphAnchor, Inheritance, TestRun
from hindbrain.domain.mission import (
    ContextGuard,
    ControlState,
    DoNot,
    EventType,
    EvidenceClass,
    Family,
    MissionClaim,
    MissionEvent,
    MissionMode,
    MissionSpec,
    MissionState,
    MissionStatus,
    Outcome,
    Phase,
    TrustEnvelope,
)
from hindbrain.domain.typed import converted
from hindbrain.engines.mission_chain import DIGEST, genesis
from hindbrain.engines.mission_loops import LoopWatch
from hindbrain.engines.moments import milliseconds
from hindbrain.policy.mission_routes import DIRECT_FAMILIES
from hindbrain.policy.missions import COUNTED_OUT, GRADES, MODES, SWEEPS
from hindbrain.policy.recovery import STALE_BUILDS

__all__ = ["Course", "Seen", "coursed", "stated"]

_E = EventType
_RUNTIME = "runtime"  # as an actor
_RECENT = 16
_CANDIDATES = 20  # places that an answer of the graph is remembered by


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One event as later decisions look back on it."""

    seq: int
    event_id: str
    at: int
    event_type: EventType
    family: Family
    tool: str | None
    target: str | None
    evidence: EvidenceClass
    outcome: Outcome
    counted: bool  # as a use of a tool


@dataclass(slots=True, kw_only=True)
class Course:
    """Grows by `add`. Whoever decides reads it; nobody else writes it."""

    spec: MissionSpec
    inherited: Inheritance
    seq: int = 0
    head: str = ""
    status: MissionStatus = MissionStatus.ACTIVE
    updated_at: int = 0
    began_at: int | None = None  # the first event of the agent itself
    first_good_at: int | None = None
    steps: int = 0  # moves given out; kept beside the events, for a move is nothing that was done
    tool_calls: int = 0
    graph_calls: int = 0
    dissents: int = 0
    repeated_searches: int = 0
    loop_warnings: int = 0
    direct: Counter[str] = field(default_factory=Counter)  # by class
    graph_only: Counter[str] = field(default_factory=Counter)
    streak: int = 0  # graph calls since the last direct event
    recent: deque[Seen] = field(default_factory=lambda: deque(maxlen=_RECENT))
    last_direct: int = 0  # seq
    last_verified: int = 0
    last_edit: int = 0
    sweep: int = 0  # the last sweep that counts
    directs_by_target: dict[str, int] = field(default_factory=dict)
    files: dict[str, FileRead] = field(default_factory=dict)
    tests: list[TestRun] = field(default_factory=list)
    anchors: list[GraphAnchor] = field(default_factory=list)
    dead: dict[str, DeadPath] = field(default_factory=dict)
    hypotheses: dict[str, str] = field(default_factory=dict)
    claims: dict[str, MissionClaim] = field(default_factory=dict)
    guard: ContextGuard | None = None
    guard_at_start: ContextGuard | None = None
    trust: TrustEnvelope | None = None
    warnings: list[str] = field(default_factory=list)
    control: ControlState = field(default_factory=ControlState)
    rounds: list[dict[str, Any]] = field(default_factory=list)  # what the controller was told, and what it said
    round_failures: list[str] = field(default_factory=list)  # classes of failure since the last round
    forbidden: tuple[DoNot, ...] = ()  # what the last move forbade; kept like `steps`
    lifted: set[str] = field(default_factory=set)  # what a dissent set free for good: an item it names, a target
    checked: set[str] = field(default_factory=set)  # plan, version, changelog, trust, ingest: what was looked at once
    statements: dict[str, str] = field(default_factory=dict)  # of documents: bound, unbound or open
    blocked_retrieval: str | None = None  # the tool that answered nothing though the graph is populated
    mismatches: set[str] = field(default_factory=set)  # diagnoses that were ever seen
    open_faults: dict[str, int] = field(default_factory=dict)  # those that still stand, and since when
    stale_build: bool = False
    followed: dict[str, bool] = field(default_factory=dict)  # rule of experience -> followed or rejected
    tools: dict[str, None] = field(default_factory=dict)
    handoffs: list[str] = field(default_factory=list)
    children: dict[str, None] = field(default_factory=dict)
    confidence: float | None = None
    closing: dict[str, Any] = field(default_factory=dict)
    loops: LoopWatch = field(init=False)
    candidates: tuple[str, ...] = ()  # where the last answer of the graph points, best first
    existing: set[str] = field(default_factory=set)  # targets of claims that are files
    missed: set[str] = field(default_factory=set)  # targets that were looked for and showed nothing
    repairs: dict[str, None] = field(default_factory=dict)  # tools of recovery that were used since the trouble began
    dissent: dict[str, Any] | None = None  # what the agent chose instead, until it has done something
    declared: tuple[int, dict[str, Any]] | None = None  # the last event that a dissent announced, and the dissent

    def __post_init__(self) -> None:
        self.loops = LoopWatch(self.spec.route, self.inherited)

    @property
    def direct_count(self) -> int:
        return self.direct.total()

    @property
    def verified(self) -> tuple[MissionClaim, ...]:
        return tuple(one for one in self.claims.values() if one.verdict == "verified_for_mission")

    @property
    def open_claims(self) -> tuple[MissionClaim, ...]:
        return tuple(one for one in self.claims.values() if one.verdict == "candidate")

    @property
    def active(self) -> bool:
        return self.status is MissionStatus.ACTIVE

    @property
    def created_at(self) -> int:
        return milliseconds(self.spec.created_at) or 0

    @property
    def sweep_due(self) -> bool:
        """A bug hunt that found something has not looked around it since."""
        return self.spec.mode is MissionMode.BUG_HUNT and bool(self.verified) and self.sweep <= self.last_verified

    @property
    def phase(self) -> Phase:
        """Where in its work the mission is."""
        phases = MODES[self.spec.mode].phases
        if self.status in (MissionStatus.CLOSED, MissionStatus.ABANDONED):
            return Phase.CLOSED
        if self.guard is not None and self.guard.classification == "wrong_workspace_binding":
            return Phase.RECOVER
        if self.verified:
            gate = Phase.GATE in phases and not self.direct[EvidenceClass.DIRECT_TEST]  # one that was only told of is none
            return Phase.GATE if gate else Phase.REPORT
        if self.direct_count:
            return Phase.VERIFY
        if Phase.BIND in phases and self.graph_calls:
            return Phase.BIND
        return phases[0]

    def consumed(self, now: int) -> float:
        """The largest share of calls, files and time that is used, at most all."""
        budget = self.spec.budget
        shares = (
            self.tool_calls / budget.tool_calls_max,
            len(self.files) / budget.files_read_max,
            self.elapsed(now) / budget.soft_deadline_ms,
        )
        return min(1.0, round(max(shares), 9))

    def elapsed(self, now: int) -> int:
        """Milliseconds since it began, until now or until it was left; a clock that went back has not taken any."""
        return max(0, (now if self.active else self.updated_at) - self.created_at)

    # -- growing -----------------------------------------------------------------------------------------------------

    def add(self, event: MissionEvent) -> None:
        """Take in the next event."""
        at = milliseconds(event.timestamp) or 0
        self.seq, self.head, self.updated_at = event.seq, event.hash, max(self.updated_at, at)
        self.loops.note(event)
        self.repeated_searches = self.loops.repeated
        counted = event.event_type not in COUNTED_OUT
        if event.source == "agent" and self.began_at is None:
            self.began_at = at
        if event.tool is not None:
            self.tools[event.tool] = None
        if counted:
            self._count(event)
        if counted and event.actor != _RUNTIME:  # what the runtime reads to check a claim is no call of the agent
            self.tool_calls += 1
            if self.dissent is not None:
                self.declared, self.dissent = (event.seq, self.dissent), None
        if event.agent_confidence is not None:
            self.confidence = event.agent_confidence
        if event.failure_class is not None:
            self.round_failures.append(event.failure_class)
        if event.outcome is Outcome.RULED_OUT and event.target:
            self._rule_out(event, event.target)
        grown = _GROWTH.get(event.event_type)
        if grown is not None:
            grown(self, event)
        self.recent.append(
            Seen(
                seq=event.seq,
                event_id=event.event_id,
                at=at,
                event_type=event.event_type,
                family=event.tool_family,
                tool=event.tool,
                target=event.target,
                evidence=event.evidence_class,
                outcome=event.outcome,
                counted=counted,
            )
        )

    def _count(self, event: MissionEvent) -> None:
        grade = GRADES[event.evidence_class]
        if event.tool_family is Family.GRAPH and event.event_type is not _E.GRAPH_INGEST:  # ingest answers nothing
            self.graph_calls += 1
            self.streak += 1
        if event.tool_family in (Family.RECOVERY, Family.HOST) and event.tool:
            self.repairs[event.tool] = None
        if grade == "direct":
            self.direct[event.evidence_class] += 1
            self.last_direct, self.streak = event.seq, 0
            if event.target:
                self.directs_by_target[event.target] = event.seq
                self.missed.discard(event.target)
        elif grade == "graph_only":
            self.graph_only[event.evidence_class] += 1
        elif event.target and event.tool_family in DIRECT_FAMILIES:
            self.missed.add(event.target)

    def _rule_out(self, event: MissionEvent, target: str) -> None:
        before = self.dead.get(target)
        ids = (*(before.event_ids if before else ()), event.event_id)
        why = str(event.payload.get("why") or (before.why_ruled_out if before else "") or "ruled out")
        until = event.payload.get("until")
        self.dead[target] = DeadPath(
            target=target, why_ruled_out=why, event_ids=ids, until=str(until) if until is not None else None
        )

    def _read(self, event: MissionEvent) -> None:
        if not event.target:
            return
        before = self.files.get(event.target)
        span = event.payload.get("range")
        ranges = before.ranges if before is not None else ()
        if isinstance(span, list | tuple) and len(span) == 2 and all(isinstance(one, int) for one in span):
            ranges = tuple(dict.fromkeys((*ranges, (int(span[0]), int(span[1])))))
        self.files[event.target] = FileRead(
            path=event.target,
            digest=event.target_digest or (before.digest if before is not None else None),
            ranges=ranges,
            times=(before.times if before is not None else 0) + 1,
            last_event_id=event.event_id,
        )

    def _ran(self, event: MissionEvent) -> None:
        exit_status = event.payload.get("exit_status")
        self.tests.append(
            TestRun(
                command=str(event.payload.get("command") or event.target or ""),
                outcome=event.outcome.value,
                exit_status=exit_status if isinstance(exit_status, int) else None,
                event_id=event.event_id,
            )
        )

    def _asked(self, event: MissionEvent) -> None:
        """A question to the graph: an anchor for whoever goes on, and a sign whether retrieval works."""
        if event.event_type is not _E.GRAPH_INGEST:
            said = str(event.payload.get("query") or event.target or "")
            generation = event.payload.get("graph_generation")
            if said:
                made = GraphAnchor(
                    node_or_query=said,
                    graph_generation=generation if isinstance(generation, int) else 0,
                    event_id=event.event_id,
                )
                self.anchors.append(made)
            named = event.payload.get("candidates")
            if isinstance(named, list | tuple):
                self.candidates = tuple(str(one) for one in named[:_CANDIDATES])
        if event.event_type in (_E.AUDIT, _E.IMPACT, _E.GRAPH_INGEST):
            self.checked.add(event.event_type.value)
        populated = self.trust is not None and self.trust.node_count > 0
        if event.event_type in (_E.SEMANTIC_SEARCH, _E.GRAPH_QUERY, _E.AUDIT):
            failed = event.outcome in (Outcome.BLOCKED, Outcome.EMPTY, Outcome.ERROR) and populated
            if failed and self.blocked_retrieval is None:
                self.repairs = {}
            self.blocked_retrieval = (event.tool or event.event_type.value) if failed else None

    def _searched(self, event: MissionEvent) -> None:
        if event.outcome in (Outcome.FOUND, Outcome.EMPTY):
            self.blocked_retrieval = None  # the literal search answered instead; that nothing is there is an answer too

    def _edited(self, event: MissionEvent) -> None:
        self.last_edit = event.seq
        if event.target in self.files:
            self.files[event.target] = msgspec.structs.replace(self.files[event.target], digest=None)

    def _swept(self, event: MissionEvent) -> None:
        """It counts with a direct event that lies inside it, after what was verified last."""
        linked = event.payload.get("linked_seqs")
        seen = event.evidence_class is EvidenceClass.DIRECT_COVERAGE_SWEEP
        if seen and isinstance(linked, list | tuple) and any(int(one) > self.last_verified for one in linked):
            self.sweep = event.seq

    def _supposed(self, event: MissionEvent) -> None:
        if event.outcome is Outcome.HYPOTHESIS_REFUTED:
            self.hypotheses.pop(str(event.payload.get("refutes") or ""), None)
        else:
            self.hypotheses[event.event_id] = str(event.payload.get("text") or event.target or "")

    def _claimed(self, event: MissionEvent) -> None:
        claim = converted(event.payload["claim"], MissionClaim)
        before = self.claims.get(claim.claim_id)
        self.claims[claim.claim_id] = claim
        self.existing.update(str(one) for one in event.payload.get("existing", ()))
        if claim.verdict == "verified_for_mission" and (before is None or before.verdict != "verified_for_mission"):
            self.last_verified = event.seq
            if self.first_good_at is None:
                self.first_good_at = milliseconds(event.timestamp)

    def _verified(self, event: MissionEvent) -> None:
        self._claimed(event)
        if (told := event.payload.get("control")) is not None:
            self.control = converted(told, ControlState)
            self.rounds.append({"event_id": event.event_id, "seq": event.seq, **event.payload.get("round", {})})
            self.round_failures = []

    def _dissented(self, event: MissionEvent) -> None:
        self.dissents += 1
        self.dissent = {**event.payload, "target": event.target}
        self.lifted.update(str(one) for one in (event.payload.get("item"), event.target) if one)

    def _guarded(self, event: MissionEvent) -> None:
        guard = converted(event.payload["guard"], ContextGuard)
        if self.guard_at_start is None:
            self.guard_at_start = guard
        self.guard = guard
        if (trust := event.payload.get("trust")) is not None:
            self.trust = converted(trust, TrustEnvelope)
        stale = bool(event.payload.get("stale_build", False))
        if stale and not self.stale_build:
            self.repairs = {}
        self.stale_build = stale
        self._warn(event)

    def _recovered(self, event: MissionEvent) -> None:
        diagnosis = str(event.payload.get("diagnosis") or "")
        if event.outcome is Outcome.RECOVERED:
            self.open_faults.pop(diagnosis, None)
            if diagnosis in ("", *STALE_BUILDS):
                self.stale_build = False
        if diagnosis:
            self.mismatches.add(diagnosis)
            if event.outcome is not Outcome.RECOVERED:
                self.open_faults.setdefault(diagnosis, milliseconds(event.timestamp) or 0)

    def _handed(self, event: MissionEvent) -> None:
        self.handoffs.append(str(event.payload.get("handoff_id")))
        self.status = MissionStatus.HANDED_OFF if event.payload.get("leave") else self.status

    def _resumed(self, event: MissionEvent) -> None:
        if child := event.payload.get("child_mission_id"):
            self.children[str(child)] = None
        else:
            self.status = MissionStatus.ACTIVE
        self._warn(event)

    def _looped(self, event: MissionEvent) -> None:
        self.loop_warnings += 1

    def _warn(self, event: MissionEvent) -> None:
        said = event.payload.get("warnings") or ()
        self.warnings.extend(str(one) for one in said)

    def _noted(self, event: MissionEvent) -> None:
        """What the runtime notes beside an event: checks that were made, statements of documents, rules that were followed."""
        self._warn(event)
        self.checked.update(str(one) for one in event.payload.get("checked", ()))
        for text, standing in _told(event.payload.get("statements")).items():
            self.statements[str(text)] = str(standing)
        for rule, kept in _told(event.payload.get("rules")).items():
            self.followed[str(rule)] = bool(kept)

    def _ended(self, event: MissionEvent) -> None:
        self.closing = dict(event.payload)
        self.status = MissionStatus(event.payload.get("status", "closed"))


def _told(value: Any) -> dict[str, Any]:
    """An object of a payload; an agent may have put anything there."""
    return value if isinstance(value, dict) else {}


_GROWTH = {
    _E.FILE_READ: Course._read,
    _E.TEST_RUN: Course._ran,
    _E.SEMANTIC_SEARCH: Course._asked,
    _E.GRAPH_QUERY: Course._asked,
    _E.GRAPH_INGEST: Course._asked,
    _E.AUDIT: Course._asked,
    _E.IMPACT: Course._asked,
    _E.LITERAL_SEARCH: Course._searched,
    _E.FILE_EDIT: Course._edited,
    _E.HYPOTHESIS: Course._supposed,
    _E.CLAIM: Course._claimed,
    _E.VERIFY: Course._verified,
    _E.DISSENT: Course._dissented,
    _E.CONTEXT_GUARD: Course._guarded,
    _E.RECOVERY: Course._recovered,
    _E.HANDOFF: Course._handed,
    _E.RESUME: Course._resumed,
    _E.LOOP_WARNING: Course._looped,
    _E.BUDGET_WARNING: Course._noted,
    _E.NOTE: Course._noted,
    _E.CLOSE: Course._ended,
    **dict.fromkeys(SWEEPS, Course._swept),
}


def coursed(spec: MissionSpec, events: Iterable[MissionEvent] = ()) -> Course:
    """The course of a mission from its beginning."""
    inherited = converted(spec.inherited, Inheritance) if spec.inherited else Inheritance()
    course = Course(spec=spec, inherited=inherited, head=DIGEST + genesis(spec.mission_id))
    course.updated_at = course.created_at
    for claim in inherited.claims:
        course.claims[claim.claim_id] = claim
    for path in inherited.dead_paths:
        course.dead[path.target] = path
    for event in events:
        course.add(event)
    return course


def stated(course: Course, *, now: int, stamp: str, events: tuple[MissionEvent, ...] = ()) -> MissionState:
    """The mission as its file shows it."""
    spec = course.spec
    return MissionState(
        mission_id=spec.mission_id,
        agent_id=spec.agent_id,
        repo=spec.repo,
        task=spec.task,
        mode=spec.mode,
        route=spec.route,
        risk=spec.risk,
        phase=course.phase,
        status=course.status,
        budget=spec.budget,
        budget_consumed=course.consumed(now),
        context_guard=course.guard,
        trust=course.trust,
        criteria=spec.criteria,
        created_at=spec.created_at,
        updated_at=stamp,
        next_step_id=course.steps + 1,
        event_count=course.seq,
        event_digest=course.head,
        parent_mission_id=spec.parent_mission_id,
        child_mission_ids=tuple(course.children),
        events=events,
        claims=tuple(course.claims.values()),
        handoffs=tuple(course.handoffs),
        non_claims=spec.non_claims,
        non_goals=spec.non_goals,
        warnings=tuple(course.warnings),
        policy_version=spec.policy_version,
        control=course.control,
    )
