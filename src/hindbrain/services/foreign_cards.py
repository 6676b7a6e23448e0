"""Foreign cards: knowledge rows of another program, kept as they stood there, and how what they cite is found again here."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.card import Card, CardId, Link
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.engines.legacy_cards import Known, cited, kept_status, known, told
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_arrival import Arrival
from hindbrain.stores.port import ForeignCard

__all__ = ["Held", "arrival_of", "body_of", "by_old_id", "held"]

Refs = Mapping[str, EvidenceId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A kept row, read."""

    row: Mapping[str, Any]
    refs: Refs  # id elsewhere -> evidence here, as far as it was known when the row came
    anchor: Anchor
    origin: str


def body_of(row: Mapping[str, Any], *, refs: Refs, anchor: Anchor, origin: str) -> str:
    """A row as it is kept: verbatim, and beside it what this brain makes of its names."""
    told = {"origin": origin, "row": dict(row), "refs": dict(refs)}
    place = {"kind": anchor.kind.value, "id": anchor.id, "parent": anchor.parent}
    return json.dumps(told | {"anchor": place}, sort_keys=True, ensure_ascii=False)


def held(foreign: ForeignCard) -> Held:
    """What was kept; InvalidParams when somebody changed it beyond reading."""
    try:
        told = json.loads(foreign.body)
        place, refs = told["anchor"], {str(old): EvidenceId(str(new)) for old, new in told["refs"].items()}
        anchor = Anchor(kind=AnchorKind(place["kind"]), id=str(place["id"]), parent=place["parent"])
        return Held(row=dict(told["row"]), refs=refs, anchor=anchor, origin=str(told["origin"]))
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise InvalidParams(f"the foreign card {foreign.id[:80]} cannot be read: {wrong}") from wrong


def by_old_id(opened: OpenBrain, wanted: Iterable[str]) -> dict[str, EvidenceId]:
    """id elsewhere -> the living row here that came of it; of a row that was cut, its first piece."""
    asked = set(wanted)
    found: dict[str, tuple[int, EvidenceId]] = {}
    if asked:
        for row in opened.store.each_evidence():
            if row.message in asked and (row.message not in found or row.position < found[row.message][0]):
                found[row.message] = (row.position, row.id)
    return {old: id_ for old, (_, id_) in found.items()}


def arrival_of(
    row: Mapping[str, Any], *, card_id: CardId, anchor: Anchor, refs: Refs, origin: str, opt_in: bool, now: int, reason: str = ""
) -> Arrival:
    """A knowledge row or card of another program as a card on its way in."""
    one: Known = known(row)
    if one.rank is None or one.status is None:
        raise InvalidParams(f"{', '.join(one.missing) or 'the row is no knowledge'}")
    made = one.created_at if one.created_at is not None else now
    card = Card(
        id=card_id,
        statement=one.statement,
        content=one.content,
        rank=one.rank,
        status=kept_status(one.rank, one.status),
        domain=Domain.GLOBAL if anchor.kind is AnchorKind.GLOBAL else one.domain,
        field=one.field,
        anchor=anchor,
        created_at=made,
        updated_at=one.updated_at if one.updated_at is not None else made,
        created_by=origin,
        scope_constraints=one.scope_constraints,
        hints=one.hints,
        importance=one.importance,
        opt_in=opt_in,
    )
    links, unlinked = [], []
    for ref in cited(row):
        if (id_ := refs.get(ref.old_id)) is None:
            unlinked.append((ref.old_id, ref.role))
        else:
            links.append(
                Link(card_id=card_id, evidence_id=id_, role=ref.role, note=ref.note, at=ref.at if ref.at is not None else made)
            )
    return Arrival(
        card=card,
        origin=origin,
        old_id=one.id,
        reason=reason,
        links=tuple({(link.evidence_id, link.role): link for link in reversed(links)}.values())[::-1],
        unlinked=tuple(unlinked),
        history=tuple(told(row)),
        flags=one.flags,
    )
