"""SQL missions: heads, events and papers, in statements that both databases understand."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from hindbrain.domain.brain import BrainId
from hindbrain.stores.mission_port import MissionHead, PaperKind, StoredEvent, StoredPaper
from hindbrain.stores.mission_rows import (
    EVENT,
    MISSION,
    MOVED,
    PAPER,
    event_of,
    event_taken,
    event_values,
    head_of,
    head_values,
    mission_taken,
    moved_values,
    paper_of,
    paper_taken,
    paper_values,
    unknown_mission,
)
from hindbrain.stores.sql_rows import Row, Session, TextIndex, insert, upsert

__all__ = ["MissionReads", "MissionWriter"]

_HEAD = f"select {MISSION} from mission where brain_id = ? and mission_id = ?"
_EVENTS = f"select {EVENT} from mission_event where brain_id = ? and mission_id = ? and seq > ? order by seq limit ?"
_MOVE = f"update mission set {', '.join(f'{name} = ?' for name in MOVED)} where brain_id = ? and mission_id = ? returning seq"
_EMPTY = (
    "update mission set status = ?, updated_at = ?, told = '[]', spec = '' where brain_id = ? and mission_id = ? returning seq"
)
_ERASING = "erasing"  # the note under which rows that are only added to may go
_MORE = "\U0010ffff"  # comes after every character of an id


class MissionWriter:
    """The part of a write transaction that keeps missions. Who writes has the brain, so what it reads stays so."""

    _session: Session
    _index: TextIndex
    _brain: BrainId
    erased: bool

    def put_mission(self, head: MissionHead) -> None:
        made = self._session.rows(
            f"{insert('mission')} on conflict do nothing returning mission_id", (self._brain, *head_values(head))
        )
        if not made:
            raise mission_taken(head.mission_id)

    def move_mission(self, head: MissionHead) -> None:
        if not self._session.rows(_MOVE, (*moved_values(head), self._brain, head.mission_id)):
            raise unknown_mission(head.mission_id)

    def mission(self, mission_id: str) -> MissionHead | None:
        found = self._session.rows(_HEAD, (self._brain, mission_id))
        return head_of(found[0]) if found else None

    def mission_events(self, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[StoredEvent, ...]:
        return tuple(map(event_of, self._session.rows(_EVENTS, (self._brain, mission_id, after, max(limit, 0)))))

    def put_mission_event(self, event: StoredEvent) -> None:
        self._require(event.mission_id)
        made = self._session.rows(
            f"{insert('mission_event')} on conflict do nothing returning seq", (self._brain, *event_values(event))
        )
        if not made:
            raise event_taken(event)

    def put_mission_paper(self, paper: StoredPaper) -> None:
        self._require(paper.mission_id)
        made = self._session.rows(
            f"{insert('mission_paper')} on conflict do nothing returning paper_id", (self._brain, *paper_values(paper))
        )
        if not made:
            raise paper_taken(paper)

    def erase_mission(self, mission_id: str, *, status: str, at: int) -> None:
        if not self._session.rows(_EMPTY, (status, at, self._brain, mission_id)):
            raise unknown_mission(mission_id)
        self._session.rows(upsert("meta", "key"), (self._brain, _ERASING, "mission"))
        for table in ("mission_event", "mission_paper"):
            self._session.rows(f"delete from {table} where brain_id = ? and mission_id = ?", (self._brain, mission_id))
        self._session.rows("delete from meta where brain_id = ? and key = ?", (self._brain, _ERASING))
        self._index.erasing(self._session, None)
        self.erased = True

    def _require(self, mission_id: str) -> None:
        if not self._session.rows("select 1 from mission where brain_id = ? and mission_id = ?", (self._brain, mission_id)):
            raise unknown_mission(mission_id)


class MissionReads(ABC):
    """The reads of missions."""

    brain_id: BrainId
    among: ClassVar[str]

    @abstractmethod
    def listed(self, values: Sequence[object]) -> object: ...

    @abstractmethod
    def _asked(self, statement: str, values: Sequence[object]) -> list[Row]: ...

    def mission(self, mission_id: str) -> MissionHead | None:
        found = self._asked(_HEAD, (self.brain_id, mission_id))
        return head_of(found[0]) if found else None

    def missions(
        self, *, agent: str | None = None, status: str | None = None, parent_id: str | None = None, limit: int = 100
    ) -> tuple[MissionHead, ...]:
        said, values = "", []  # type: str, list[object]
        for name, wanted in (("agent", agent), ("status", status), ("parent_id", parent_id)):
            if wanted is not None:
                said += f" and {name} = ?"
                values.append(wanted)
        found = self._asked(
            f"select {MISSION} from mission where brain_id = ?{said} order by created_at desc, mission_id desc limit ?",
            (self.brain_id, *values, max(limit, 0)),
        )
        return tuple(map(head_of, found))

    def missions_like(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        found = self._asked(
            "select mission_id from mission where brain_id = ? and mission_id >= ? and mission_id < ? "
            "order by mission_id limit ?",
            (self.brain_id, prefix, prefix + _MORE, max(limit, 0)),
        )
        return tuple(row[0] for row in found)

    def mission_events(self, mission_id: str, *, after: int = 0, limit: int = 1_000_000) -> tuple[StoredEvent, ...]:
        return tuple(map(event_of, self._asked(_EVENTS, (self.brain_id, mission_id, after, max(limit, 0)))))

    def mission_events_named(self, mission_id: str, event_ids: tuple[str, ...]) -> dict[str, StoredEvent]:
        if not event_ids:
            return {}
        found = self._asked(
            f"select {EVENT} from mission_event where brain_id = ? and mission_id = ? and event_id {self.among} order by seq",
            (self.brain_id, mission_id, self.listed(list(dict.fromkeys(event_ids)))),
        )
        return {one.event_id: one for one in map(event_of, found)}

    def mission_papers(self, mission_id: str, *, kind: PaperKind) -> tuple[StoredPaper, ...]:
        found = self._asked(
            f"select {PAPER} from mission_paper where brain_id = ? and mission_id = ? and kind = ? order by number",
            (self.brain_id, mission_id, kind),
        )
        return tuple(map(paper_of, found))

    def mission_paper(self, paper_id: str) -> StoredPaper | None:
        found = self._asked(f"select {PAPER} from mission_paper where brain_id = ? and paper_id = ?", (self.brain_id, paper_id))
        return paper_of(found[0]) if found else None
