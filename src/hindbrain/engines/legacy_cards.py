"""Legacy cards: knowledge of other programs as values of ours, with what it cites, what happened to it, and what came of it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent, Signal, Track
from hindbrain.domain.card import CardId, EventType, Hints, Rank, Role, Status
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain
from hindbrain.engines.legacy_values import either, hints_of, json_of, line_of, text_of, whole_of, word_of
from hindbrain.engines.transcripts import time_of
from hindbrain.policy.evidence import SOURCE_MAX, WORD_MAX
from hindbrain.policy.legacy import OLD_STATUSES, STATUSES

__all__ = [
    "Cited",
    "Known",
    "Told",
    "card_id_of",
    "cited",
    "held_card",
    "in_matrix",
    "in_old_matrix",
    "kept_status",
    "known",
    "outcome",
    "told",
]

Record = Mapping[str, Any]

_CARD_ID = re.compile(r"card_[A-Za-z0-9_.-]{1,120}")
_OUTCOME_ID = re.compile(r"adoption_[A-Za-z0-9_.-]{1,120}")
_DIGITS = 24
_REFS: dict[str, Role] = {f"{role.value}_refs": role for role in Role}


def in_old_matrix(rank: Rank, status: Status) -> bool:
    """Whether mempal itself allowed this pair."""
    return status in OLD_STATUSES[rank]


def in_matrix(rank: Rank, status: Status) -> bool:
    """Whether we do."""
    return status in STATUSES[rank]


def kept_status(rank: Rank, status: Status) -> Status:
    """The status a card of elsewhere has here. A pair outside the matrix is kept where it can be, and can then only be demoted or
    retired; a canonical card of another rank than `dao_tian` cannot be kept so, and arrives demoted."""
    return Status.DEMOTED if status is Status.CANONICAL and rank is not Rank.DAO_TIAN else status


def card_id_of(old_id: str) -> CardId:
    """The id of a card that another program called a card: its own where it is a usable name. Made of the old id alone."""
    return CardId(old_id) if _CARD_ID.fullmatch(old_id) else held_card(old_id)


def held_card(old_id: str) -> CardId:
    """The id of the card that a knowledge row of another program becomes, made of the row's id alone: a rerun meets it again."""
    return CardId(f"card_{_digest(old_id)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A piece of evidence that a card names, by the id it had elsewhere."""

    old_id: str
    role: Role
    note: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Something that happened to a card elsewhere."""

    type: EventType
    reason: str
    actor: str
    at: int | None
    before: Status | None
    after: Status | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A piece of knowledge as it stood elsewhere. `missing` names what a card cannot do without."""

    id: str
    statement: str
    content: str
    rank: Rank | None
    status: Status | None
    domain: Domain
    field: str
    anchor_kind: str
    anchor_id: str
    parent: str | None
    scope_constraints: str | None
    hints: Hints
    importance: int
    created_at: int | None
    updated_at: int | None
    missing: tuple[str, ...]
    odd: tuple[str, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """What is odd about it, the pair of rank and status first."""
        if self.rank is None or self.status is None or in_old_matrix(self.rank, self.status):
            return self.odd
        return (f"{self.rank.value} was never {self.status.value} by the rules it came from", *self.odd)


def known(row: Record) -> Known:
    """A knowledge row or a card of another program as a value."""
    odd: list[str] = []
    rank, status = either(Rank, row.get("tier")), either(Status, row.get("status"))
    statement, content = text_of(row.get("statement"), odd), text_of(row.get("content"), odd)
    present = {
        "statement": statement.strip(),
        "tier": rank,
        "status": status,
        "field": line_of(row.get("field"), WORD_MAX),
        "anchor_id": line_of(row.get("anchor_id"), SOURCE_MAX),
    }
    created = time_of(row.get("created_at") if "created_at" in row else row.get("added_at"))
    if created is None:
        odd.append("created_at is not a time")
    return Known(
        id=line_of(row.get("id"), SOURCE_MAX),
        statement=statement,
        content=content,
        rank=rank,
        status=status,
        domain=word_of(Domain, row.get("domain"), Domain.PROJECT, "domain", odd),
        field=line_of(row.get("field"), WORD_MAX) or "general",
        anchor_kind=str(row.get("anchor_kind") or ""),
        anchor_id=line_of(row.get("anchor_id"), SOURCE_MAX),
        parent=line_of(row.get("parent_anchor_id"), SOURCE_MAX) or None,
        scope_constraints=text_of(row.get("scope_constraints"), odd) or None,
        hints=hints_of(row.get("trigger_hints"), odd),
        importance=min(5, max(0, whole_of(row.get("importance"), 3))),
        created_at=created,
        updated_at=time_of(row.get("updated_at")),
        missing=tuple(f"missing {name}" for name, value in present.items() if not value),
        odd=tuple(odd),
    )


def cited(row: Record) -> list[Cited]:
    """What a knowledge row names in its four lists, or what a card names in its links; each once per role."""
    found: dict[tuple[str, Role], Cited] = {}
    for name, role in _REFS.items():
        refs = row.get(name)
        refs = json_of(refs, [], name, []) if isinstance(refs, str) else refs
        for ref in refs if isinstance(refs, list | tuple) else ():
            if isinstance(ref, str) and (old_id := line_of(ref, SOURCE_MAX)):
                found.setdefault((old_id, role), Cited(old_id=old_id, role=role))
    for link in row.get("links") or ():
        role_of, old_id = either(Role, link.get("role")), line_of(link.get("evidence_drawer_id"), SOURCE_MAX)
        if role_of is not None and old_id:
            made = Cited(old_id=old_id, role=role_of, note=text_of(link.get("note"), []), at=time_of(link.get("created_at")))
            found.setdefault((old_id, role_of), made)
    return list(found.values())


def told(row: Record) -> list[Told]:
    """The history of a card in the order of its times; what has no time stays where it stood."""
    made = []
    for event in row.get("events") or ():
        kind = either(EventType, event.get("event_type"))
        if kind is None:
            continue
        metadata = event.get("metadata")
        metadata = json_of(metadata, {}, "metadata", []) if isinstance(metadata, str) else metadata
        made.append(
            Told(
                type=kind,
                reason=text_of(event.get("reason"), []),
                actor=line_of(event.get("actor"), WORD_MAX),
                at=time_of(event.get("created_at")),
                before=either(Status, event.get("from_status")),
                after=either(Status, event.get("to_status")),
                metadata=metadata if isinstance(metadata, dict) else {},
            )
        )
    last = 0
    placed = []
    for one in made:
        last = one.at if one.at is not None else last
        placed.append((last, one))
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


# -- outcomes --------------------------------------------------------------------------------------------------------


def outcome(row: Record, *, now: int) -> AdoptionEvent:
    """What came of it when guidance was used; InvalidParams when the row does not say that."""
    track, signal = either(Track, row.get("track")), either(Signal, row.get("signal"))
    old_id, feature = line_of(row.get("id"), SOURCE_MAX), line_of(row.get("feature"), WORD_MAX)
    if track is None or signal is None or not feature or not old_id:
        raise InvalidParams("the outcome lacks an id, a track, a signal or a feature")
    about, at = line_of(row.get("card_id"), SOURCE_MAX), time_of(row.get("created_at"))
    metadata = row.get("metadata")
    said = json_of(metadata, {}, "metadata", []) if isinstance(metadata, str) else metadata
    texts = {name: text_of(row.get(name), []) or None for name in ("query", "context_hash", "note")}
    names = {name: line_of(row.get(name), WORD_MAX) or None for name in ("evaluator_id", "research_report_id")}
    return AdoptionEvent(
        id=old_id if _OUTCOME_ID.fullmatch(old_id) else f"adoption_{_digest(old_id)}",
        seq=0,
        track=track,
        signal=signal,
        feature=feature,
        actor="",
        channel="",
        at=at if at is not None else now,
        card_id=card_id_of(about) if about else None,
        metadata=json.dumps(said if isinstance(said, dict) else {}, sort_keys=True, ensure_ascii=False),
        **texts,
        **names,
    )


def _digest(old_id: str) -> str:
    return hashlib.sha256(f"foreign\x1f{old_id}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
