"""Rows of missions: their values in the order of the columns, and the refusals that every store gives in the same words."""

from collections.abc import Callable
from operator import attrgetter

from hindbrain.domain.errors import InvalidParams, UnknownMission
from hindbrain.stores.mission_port import MissionHead, StoredEvent, StoredPaper
from hindbrain.stores.sql_rows import COLUMNS, Row

__all__ = [
    "EVENT",
    "MISSION",
    "MOVED",
    "PAPER",
    "event_of",
    "event_taken",
    "event_values",
    "head_of",
    "head_values",
    "mission_taken",
    "moved_values",
    "paper_of",
    "paper_taken",
    "paper_values",
    "unknown_mission",
]

_MISSION, _EVENT, _PAPER = (COLUMNS[table][1:] for table in ("mission", "mission_event", "mission_paper"))
MISSION, EVENT, PAPER = (", ".join(names) for names in (_MISSION, _EVENT, _PAPER))
MOVED = ("status", "updated_at", "seq", "hash", "steps", "told")  # what of a head changes

head_values: Callable[[MissionHead], Row] = attrgetter(*_MISSION)
moved_values: Callable[[MissionHead], Row] = attrgetter(*MOVED)
event_values: Callable[[StoredEvent], Row] = attrgetter(*_EVENT)
paper_values: Callable[[StoredPaper], Row] = attrgetter(*_PAPER)


def head_of(row: Row) -> MissionHead:
    return MissionHead(**dict(zip(_MISSION, row, strict=True)))


def event_of(row: Row) -> StoredEvent:
    return StoredEvent(**dict(zip(_EVENT, row, strict=True)))


def paper_of(row: Row) -> StoredPaper:
    return StoredPaper(**dict(zip(_PAPER, row, strict=True)))


def mission_taken(mission_id: str) -> InvalidParams:
    return InvalidParams(f"mission {mission_id[:80]} is there already", fix="give each mission an id of its own")


def unknown_mission(mission_id: str) -> UnknownMission:
    return UnknownMission(f"there is no mission {mission_id[:80]!r} here", fix="see mission list")


def event_taken(event: StoredEvent) -> InvalidParams:
    return InvalidParams(
        f"event {event.seq} or the id {event.event_id[:80]} of mission {event.mission_id[:80]} is there already",
        fix="give each event a number and an id of its own",
    )


def paper_taken(paper: StoredPaper) -> InvalidParams:
    return InvalidParams(
        f"{paper.kind} {paper.number} of mission {paper.mission_id[:80]}, or the id {paper.paper_id[:80]}, is there already",
        fix="give each paper a number and an id of its own",
    )
