"""Rows of experience: megrams, their events, what counts of them now, and messages, as columns and back; and refusals."""

import hashlib
import json
from collections.abc import Sequence

from hindbrain.domain.errors import HindbrainError, InvalidParams, StoreUnavailable, UnknownMegram
from hindbrain.domain.experience import Effective, EventKind, Level, Megram, MegramEvent, Writer
from hindbrain.domain.stored import stored_json
from hindbrain.policy.fading import gone_at, weights
from hindbrain.stores.experience_port import StoredMessage
from hindbrain.stores.sql_rows import COLUMNS, Row

__all__ = [
    "CLOCK",
    "EVENT",
    "HELD",
    "MEGRAM",
    "MESSAGE",
    "clock_values",
    "effective_of",
    "epitaph",
    "event_of",
    "event_values",
    "forgotten_beside",
    "megram_of",
    "megram_values",
    "message_of",
    "message_taken",
    "message_values",
    "unknown_megram",
]

_MEGRAM = COLUMNS["megram"][1:]
_COUNTS = ("level", "k", "origin", "consolidated_at", "superseded_at", "last_recalled_at", "recalls")
MEGRAM = ", ".join(f"m.{name}" for name in _MEGRAM)
CLOCK = ", ".join(f"c.{name}" for name in COLUMNS["megram_clock"][1:])
HELD = f"{MEGRAM}, {', '.join(f'c.{name}' for name in _COUNTS)}"
EVENT = ", ".join(COLUMNS["megram_event"][1:])
MESSAGE = ", ".join(COLUMNS["control_message"][1:])


def unknown_megram(megram_id: str) -> UnknownMegram:
    return UnknownMegram(f"there is no experience {megram_id[:80]}", fix="hindbrain experience query shows what there is")


def forgotten_beside(megram_id: str) -> InvalidParams:
    return InvalidParams(f"{megram_id[:80]} is not forgotten: it is still there", fix="forget it, then it is told by itself")


def message_taken(message: StoredMessage) -> InvalidParams:
    return InvalidParams(
        f"entry {message.seq} or the id {message.id[:80]} has its message", fix="give each message an entry and an id of its own"
    )


def epitaph(megram: Megram, at: int) -> MegramEvent:
    """What is told of a megram that goes for good: what it was about and the digest of its words, not the words."""
    return MegramEvent(
        megram_id=megram.id,
        kind=EventKind.FORGOTTEN,
        at=at,
        content_sha256=hashlib.sha256(megram.content.encode()).hexdigest(),
        detail=json.dumps({"space": megram.space, "entity": megram.entity, "state": megram.state}, ensure_ascii=False),
    )


def megram_values(megram: Megram) -> Row:
    """The columns of a megram without the brain."""
    return (
        *(megram.id, megram.level.value, megram.created_at, megram.space, megram.entity, megram.content, megram.state),
        *(float(megram.f), float(megram.sigma), float(megram.k), megram.writer.value, megram.task_id, megram.mission_id),
        *(megram.round, megram.source_event_id, megram.loss, megram.category, _listed(megram.tags)),
        *(_listed(megram.derived_from), megram.supersedes),
    )


def _listed(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def clock_values(held: Effective) -> Row:
    """What counts of a megram now, without the brain."""
    megram = held.megram
    return (
        *(megram.id, megram.space, megram.entity, megram.created_at, *weights(megram.f, megram.sigma), held.level.value),
        *(float(held.k), held.origin, gone_at(held), held.consolidated_at, held.superseded_at),
        *(held.last_recalled_at, held.recalls),
    )


def megram_of(row: Row) -> Megram:
    """The columns of MEGRAM as a value; one that breaks a rule of the domain is not ours, and is told and not shown."""
    held = dict(zip(_MEGRAM, row, strict=True))
    try:
        return Megram(
            **held
            | {
                "level": Level(held["level"]),
                "writer": Writer(held["writer"]),
                "tags": tuple(stored_json(held["tags"], "megram")),
                "derived_from": tuple(stored_json(held["derived_from"], "megram")),
            }
        )
    except (HindbrainError, ValueError) as error:
        raise StoreUnavailable(
            f"the experience {held['id']} is not valid: {error}", fix="restore the brain from a backup of brain.db"
        ) from error


def effective_of(row: Row) -> Effective:
    """The columns of HELD as a value."""
    now = dict(zip(_COUNTS, row[len(_MEGRAM) :], strict=True))
    return Effective(megram=megram_of(row[: len(_MEGRAM)]), **now | {"level": Level(now["level"])})


def event_values(event: MegramEvent) -> Row:
    return (
        *(event.seq, event.at, event.megram_id, event.kind.value, event.level.value if event.level else None),
        *(None if event.k is None else float(event.k), event.into_id, event.content_sha256, event.detail),
    )


def event_of(row: Row) -> MegramEvent:
    seq, at, megram_id, kind, level, k, into_id, digest, detail = row
    return MegramEvent(
        seq=seq,
        at=at,
        megram_id=megram_id,
        kind=EventKind(kind),
        level=Level(level) if level else None,
        k=k,
        into_id=into_id,
        content_sha256=digest,
        detail=detail,
    )


def message_values(message: StoredMessage) -> Row:
    return (
        *(message.seq, message.id, message.at, message.sender, message.recipient, message.type, message.task_id),
        message.body,
    )


def message_of(row: Row) -> StoredMessage:
    seq, id_, at, sender, recipient, kind, task_id, body = row
    return StoredMessage(seq=seq, id=id_, at=at, sender=sender, recipient=recipient, type=kind, task_id=task_id, body=body)
