"""Missions in tests: specs and events by what matters of them, courses made from events, and a brain with a log of missions."""

import itertools
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.brain import Brain, BrainId
from hindbrain.domain.caller import AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.domain.mission import (
    ContextGuard,
    EventType,
    EvidenceClass,
    Family,
    MissionClaim,
    MissionEvent,
    MissionMode,
    MissionSpec,
    Outcome,
    Phase,
    Route,
)
from hindbrain.engines.course import Course, coursed
from hindbrain.engines.mission_chain import DIGEST, genesis, sealed
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import BUDGETS, EVENTS, POLICY_VERSION
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.log import Draft, MissionLog
from hindbrain.stores.sqlite import SqliteStore
from tests.support.world import START_MS, Clock

__all__ = ["MissionDesk", "chained", "claimed", "course", "event", "guard", "spec"]

_NUMBERS = itertools.count(1)


def spec(**changes: Any) -> MissionSpec:
    """A bug hunt by an agent called a1, with whatever is said otherwise."""
    made = MissionSpec(
        mission_id="msn_01TEST",
        agent_id="a1",
        repo="/srv/repo",
        task="find the fault",
        mode=MissionMode.BUG_HUNT,
        route=Route.SHORT_AUDIT,
        risk="medium",
        budget=BUDGETS["short"],
        criteria=(),
        created_at=stamped(START_MS),
        policy_version=POLICY_VERSION,
        trace_id="0123456789abcdef" * 2,
    )
    return msgspec.structs.replace(made, **changes)


def event(type: EventType | str, target: str | None = None, **fields: Any) -> MissionEvent:  # noqa: A002
    """An event of a type; what is not said follows from the type, as it does in the log. Not yet part of a chain."""
    kind = EVENTS[EventType(type)]
    number = next(_NUMBERS)
    given: dict[str, Any] = {
        "event_id": f"evt_{number:06d}",
        "mission_id": "msn_01TEST",
        "seq": 1,
        "timestamp": stamped(START_MS + number),
        "actor": "agent:a1",
        "source": "runtime" if kind.runtime_only else "agent",
        "phase": Phase.LOCATE,
        "event_type": EventType(type),
        "tool_family": kind.family,
        "evidence_class": kind.evidence,
        "outcome": kind.outcome,
        "target": target,
        **fields,
    }
    for name, enum in (("outcome", Outcome), ("evidence_class", EvidenceClass), ("tool_family", Family)):
        given[name] = enum(given[name])
    return MissionEvent(**given)


def claimed(text: str, *, verify: bool = True, **fields: Any) -> MissionEvent:
    """A claim that was judged (or only made), as the event that tells it."""
    made = MissionClaim(claim_id=f"clm_{next(_NUMBERS):06d}", claim=text, created_at=stamped(START_MS))
    if verify:
        made = msgspec.structs.replace(made, verdict="verified_for_mission", evidence_grade="direct")
    claim = msgspec.structs.replace(made, **fields)
    type_ = EventType.VERIFY if verify else EventType.CLAIM
    return event(type_, claim.claim_id, payload={"claim": msgspec.to_builtins(claim)})


def chained(events: Iterable[MissionEvent], mission_id: str = "msn_01TEST") -> tuple[MissionEvent, ...]:
    """The same events as the log would have written them: numbered and bound to each other."""
    made: list[MissionEvent] = []
    head = DIGEST + genesis(mission_id)
    for number, one in enumerate(events, 1):
        made.append(sealed(msgspec.structs.replace(one, seq=number, mission_id=mission_id), head))
        head = made[-1].hash
    return tuple(made)


def course(*events: MissionEvent, given: MissionSpec | None = None) -> Course:
    """The course of a mission with these events."""
    asked = given or spec()
    return coursed(asked, chained(events, asked.mission_id))


def guard(**changes: Any) -> ContextGuard:
    """A guard that finds everything in its place."""
    made = ContextGuard(
        repo="/srv/repo",
        workspace_root="/srv/repo",
        workspace_root_source="git",
        ingest_roots=("/srv/repo",),
        runtime_root="/srv/home",
        binary_version="1.0",
        build_id="build-1",
        graph_generation=3,
        workspace_match=True,
        classification="single_repo",
        reason="the repository is the workspace",
        branch_head="main@abc",
    )
    return msgspec.structs.replace(made, **changes)


class MissionDesk:
    """One brain in a file with its log of missions, and agents who write in it. `again` opens it as a new process would."""

    def __init__(self, place: Path, root: str | None = None) -> None:
        self.place = place
        self.root = root or str(place)
        self.clock = Clock()
        self._held = ExitStack()
        self.again()

    def again(self) -> None:
        self.close()
        directory = self.place / "brain"
        directory.mkdir(parents=True, exist_ok=True)
        store = SqliteStore(directory, BrainId("b-test"))
        self.opened = OpenBrain(Brain(id=BrainId("b-test"), root=self.root, created_ms=START_MS), directory, store)
        self._held.callback(self.opened.close)
        self.log = MissionLog(self.clock)

    def close(self) -> None:
        self._held.close()

    def caller(self, agent: str = "a1", *, human: bool = False) -> Caller:
        return Caller(
            agent=AgentId(agent),
            root=self.root,
            root_source=RootSource.HEADER,
            session=SessionId("s"),
            channel=Channel.HUMAN if human else Channel.AGENT,
        )

    def begin(self, mission_id: str = "msn_01TEST", *, agent: str = "a1", **changes: Any) -> Course:
        asked = spec(mission_id=mission_id, agent_id=agent, **{"repo": self.root, **changes})
        with self.log.begin(self.opened, self.caller(agent), asked) as turn:
            return turn.course

    def add(
        self, mission_id: str, kind: EventType | str, target: str | None = None, *, agent: str = "a1", **fields: Any
    ) -> MissionEvent:
        """One event of an agent, as the runtime writes it down."""
        self.clock.forward(10)
        with self.log.turn(self.opened, self.caller(agent), mission_id) as turn:
            draft = Draft(event_type=EventType(kind), actor=turn.agent, source="agent", target=target, **fields)
            return turn.add(draft)
