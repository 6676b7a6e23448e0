"""The mission part of the port: what a mission began with, its events in order, and the papers it left."""

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["MissionHead", "MissionReading", "MissionWriting", "PaperKind", "StoredEvent", "StoredPaper"]

PaperKind = Literal["handoff", "proof"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionHead:
    """The one row of a mission that changes: how far its events go. `spec` is what it began with, as JSON."""

    mission_id: str
    agent: str
    status: str
    mode: str
    parent_id: str | None
    created_at: int
    updated_at: int
    seq: int  # of its last event
    hash: str  # of its last event, or the genesis
    steps: int  # moves given out
    told: str  # what the last of them forbade, as JSON
    spec: str  # "" when its texts were erased

    @property
    def erased(self) -> bool:
        """Whether its events, its papers and what it began with were erased. The rest of this row is what is left."""
        return not self.spec


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """One event as it is kept. `body` is the whole record as JSON; `ledger_seq` the entry that records it."""

    mission_id: str
    seq: int
    event_id: str
    at: int
    event_type: str
    hash: str
    ledger_seq: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPaper:
    """A hand-over or a proof packet. Never changed."""

    paper_id: str  # hnd_… or the id of the mission it proves
    mission_id: str
    kind: PaperKind
    number: int
    at: int
    body: str


class MissionWriting(Protocol):
    """The part of a transaction that keeps missions."""

    def put_mission(self, head: MissionHead) -> None:
        """Begin a mission. InvalidParams when its id is there already."""
        ...

    def move_mission(self, head: MissionHead) -> None:
        """Tell how it stands now: status, time, last event, moves. The rest of a head never changes. UnknownMission when it is
        not there."""
        ...

    def mission(self, mission_id: str) -> MissionHead | None:
        """The head as this transaction sees it: nobody else moves it until the transaction ends."""
        ...

    def mission_events(self, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[StoredEvent, ...]: ...

    def put_mission_event(self, event: StoredEvent) -> None:
        """Add one event. InvalidParams when its number or its id is there already in its mission, UnknownMission when that is not
        there."""
        ...

    def put_mission_paper(self, paper: StoredPaper) -> None:
        """Keep a hand-over or a packet. InvalidParams when its id or its number is there already, UnknownMission when its mission
        is not there."""
        ...

    def erase_mission(self, mission_id: str, *, status: str, at: int) -> None:
        """Erase its events, its papers and what it began with for good. The head stays, with this status, how many events there
        were and the hash of the last. UnknownMission when it is not there."""
        ...


class MissionReading(Protocol):
    """The reads of missions."""

    def mission(self, mission_id: str) -> MissionHead | None: ...

    def missions(
        self, *, agent: str | None = None, status: str | None = None, parent_id: str | None = None, limit: int = 100
    ) -> tuple[MissionHead, ...]:
        """Missions, the latest begun first."""
        ...

    def missions_like(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """Ids that begin so, in order."""
        ...

    def mission_events(self, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[StoredEvent, ...]:
        """Events of a mission in order."""
        ...

    def mission_events_named(self, mission_id: str, event_ids: tuple[str, ...]) -> dict[str, StoredEvent]:
        """Events of a mission by id; those that are not there are left out."""
        ...

    def mission_papers(self, mission_id: str, *, kind: PaperKind) -> tuple[StoredPaper, ...]:
        """Hand-overs or packets of a mission, by number."""
        ...

    def mission_paper(self, paper_id: str) -> StoredPaper | None: ...
