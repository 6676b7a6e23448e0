"""Memory's missions: what the databases must do with them, said as plainly as Python can."""

from dataclasses import dataclass, field, replace

from hindbrain.stores.memory_model_calls import MemoryModelCallWriter, ModelCallState
from hindbrain.stores.mission_port import MissionHead, PaperKind, StoredEvent, StoredPaper
from hindbrain.stores.mission_rows import MOVED, event_taken, mission_taken, paper_taken, unknown_mission

__all__ = ["MemoryMissionReads", "MemoryMissionWriter", "MissionsState"]


@dataclass(slots=True)
class MissionsState(ModelCallState):
    """What a brain holds of missions."""

    missions: dict[str, MissionHead] = field(default_factory=dict)
    mission_events: dict[str, dict[int, StoredEvent]] = field(default_factory=dict)  # by mission, then by number
    mission_papers: dict[str, StoredPaper] = field(default_factory=dict)

    def events_of(self, mission_id: str, after: int, limit: int) -> tuple[StoredEvent, ...]:
        held = self.mission_events.get(mission_id, {})
        return tuple(held[seq] for seq in sorted(held) if seq > after)[: max(limit, 0)]


class MemoryMissionWriter(MemoryModelCallWriter):
    """The part of a transaction that keeps missions."""

    def __init__(self, state: MissionsState) -> None:
        super().__init__(state)
        self._missions = state

    def put_mission(self, head: MissionHead) -> None:
        if head.mission_id in self._missions.missions:
            raise mission_taken(head.mission_id)
        self._missions.missions[head.mission_id] = head

    def move_mission(self, head: MissionHead) -> None:
        held = self._require(head.mission_id)
        self._missions.missions[head.mission_id] = replace(held, **{name: getattr(head, name) for name in MOVED})

    def mission(self, mission_id: str) -> MissionHead | None:
        return self._missions.missions.get(mission_id)

    def mission_events(self, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[StoredEvent, ...]:
        return self._missions.events_of(mission_id, after, limit)

    def put_mission_event(self, event: StoredEvent) -> None:
        self._require(event.mission_id)
        held = self._missions.mission_events.get(event.mission_id, {})
        if event.seq in held or any(one.event_id == event.event_id for one in held.values()):
            raise event_taken(event)
        self._missions.mission_events[event.mission_id] = {**held, event.seq: event}

    def put_mission_paper(self, paper: StoredPaper) -> None:
        self._require(paper.mission_id)
        taken = {(one.mission_id, one.kind, one.number) for one in self._missions.mission_papers.values()}
        if paper.paper_id in self._missions.mission_papers or (paper.mission_id, paper.kind, paper.number) in taken:
            raise paper_taken(paper)
        self._missions.mission_papers[paper.paper_id] = paper

    def erase_mission(self, mission_id: str, *, status: str, at: int) -> None:
        held, kept = self._require(mission_id), self._missions.mission_papers
        self._missions.missions[mission_id] = replace(held, status=status, updated_at=at, told="[]", spec="")
        self._missions.mission_events.pop(mission_id, None)
        for name in [name for name, paper in kept.items() if paper.mission_id == mission_id]:
            del kept[name]

    def _require(self, mission_id: str) -> MissionHead:
        held = self._missions.missions.get(mission_id)
        if held is None:
            raise unknown_mission(mission_id)
        return held


class MemoryMissionReads:
    """The reads of missions."""

    _state: MissionsState

    def mission(self, mission_id: str) -> MissionHead | None:
        return self._state.missions.get(mission_id)

    def missions(
        self, *, agent: str | None = None, status: str | None = None, parent_id: str | None = None, limit: int = 100
    ) -> tuple[MissionHead, ...]:
        found = [
            one
            for one in self._state.missions.values()
            if agent in (None, one.agent) and status in (None, one.status) and parent_id in (None, one.parent_id)
        ]
        return tuple(sorted(found, key=lambda one: (one.created_at, one.mission_id), reverse=True)[: max(limit, 0)])

    def missions_like(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        return tuple(sorted(one for one in self._state.missions if one.startswith(prefix))[: max(limit, 0)])

    def mission_events(self, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[StoredEvent, ...]:
        return self._state.events_of(mission_id, after, limit)

    def mission_events_named(self, mission_id: str, event_ids: tuple[str, ...]) -> dict[str, StoredEvent]:
        held = self._state.events_of(mission_id, 0, 1_000_000)
        return {one.event_id: one for one in held if one.event_id in event_ids}

    def mission_papers(self, mission_id: str, *, kind: PaperKind) -> tuple[StoredPaper, ...]:
        held = self._state.mission_papers.values()
        found = [one for one in held if one.mission_id == mission_id and one.kind == kind]
        return tuple(sorted(found, key=lambda one: one.number))

    def mission_paper(self, paper_id: str) -> StoredPaper | None:
        return self._state.mission_papers.get(paper_id)
