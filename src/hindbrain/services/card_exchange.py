"""Cards in an export: one card a line with what it cites and its history, outcomes, and knowledge rows that wait; and back.

An archive is what its maker says it is. A status comes in only by a person, a name or a channel in it gives nobody a right."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar

import msgspec

from hindbrain.domain.adoption import AdoptionEvent, Signal, Track
from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, CardId, EventType, Hints, Link, Rank, Role, Status
from hindbrain.domain.errors import HindbrainError, InvalidParams
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.domain.stored import stored_json
from hindbrain.domain.typed import decoded
from hindbrain.engines.legacy_cards import Told, card_id_of, in_matrix, kept_status
from hindbrain.policy.evidence import LINE_MAX_BYTES
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_arrival import Arrival, Arrivals
from hindbrain.services.foreign_evidence import ForeignEvidence
from hindbrain.services.outcome_arrival import OutcomeArrivals
from hindbrain.stores.port import ForeignCard

__all__ = ["Arriving", "CardExchange"]

CARDS, OUTCOMES, FOREIGN = "cards.jsonl", "outcomes.jsonl", "foreign_cards.jsonl"
ORIGIN = "an export"

_Time = Annotated[int, msgspec.Meta(ge=-(1 << 52), lt=1 << 52)]
_Line = TypeVar("_Line", bound=msgspec.Struct)


class _LinkLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    evidence_id: str
    role: Role
    note: str = ""
    at: _Time = 0


class _EventLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    event_type: EventType
    reason: str
    actor: str = ""
    channel: str = ""  # told for the reader; whoever imports, the event came by an import
    at: _Time
    from_status: Status | None = None
    to_status: Status | None = None
    metadata: dict[str, Any] = {}


class _CardLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One card as an export holds it."""

    id: str
    statement: str
    content: str
    tier: Rank
    status: Status
    domain: Domain
    field: str
    anchor_kind: AnchorKind
    anchor_id: str
    parent_anchor_id: str | None = None
    scope_constraints: str | None = None
    trigger_hints: dict[str, list[str]] | None = None
    importance: int = 3
    opt_in: bool = False
    derived_from: str | None = None
    supersedes: str | None = None
    created_by: str = ""
    created_at: _Time
    updated_at: _Time
    links: list[_LinkLine] = []
    events: list[_EventLine] = []


class _OutcomeLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One outcome as an export holds it."""

    id: str
    track: Track
    signal: Signal
    feature: str
    actor: str = ""
    channel: str = ""
    at: _Time
    query: str | None = None
    context_hash: str | None = None
    card_id: str | None = None
    evaluator_id: str | None = None
    research_report_id: str | None = None
    note: str | None = None
    metadata: dict[str, Any] = {}


class _ForeignLine(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    id: str
    body: str
    at: _Time


@dataclass(slots=True, kw_only=True)
class Arriving:
    """What an archive holds beside claims and evidence."""

    cards: list[_CardLine] = field(default_factory=list)
    outcomes: list[_OutcomeLine] = field(default_factory=list)
    foreign: list[_ForeignLine] = field(default_factory=list)


class CardExchange:
    """The part of `export` and `import` that is about cards."""

    NAMES = (CARDS, OUTCOMES, FOREIGN)

    def __init__(
        self, arrivals: Arrivals, outcomes: OutcomeArrivals, evidence: ForeignEvidence, clock: Callable[[], int]
    ) -> None:
        self._arrivals = arrivals
        self._outcomes = outcomes
        self._evidence = evidence
        self._clock = clock

    # -- out ---------------------------------------------------------------------------------------------------------

    def members(self, opened: OpenBrain) -> dict[str, Iterator[str]]:
        """The files of an export that hold cards, each as its lines."""
        return {CARDS: _card_lines(opened), OUTCOMES: _outcome_lines(opened), FOREIGN: _foreign_lines(opened)}

    # -- in ----------------------------------------------------------------------------------------------------------

    @staticmethod
    def read(texts: Mapping[str, str], report: dict[str, Any]) -> Arriving:
        """The lines of an archive, as far as they are lines of ours."""
        return Arriving(
            cards=_read(texts.get(CARDS, ""), _CardLine, "card", report),
            outcomes=_read(texts.get(OUTCOMES, ""), _OutcomeLine, "outcome", report),
            foreign=_read(texts.get(FOREIGN, ""), _ForeignLine, "foreign card", report),
        )

    def check_person(
        self, caller: Caller, opened: OpenBrain, arriving: Arriving, *, dry_run: bool, as_candidates: bool
    ) -> list[str]:
        """What of this only a person may take over; anybody else is told so before anything is written."""
        made = [one for line in arriving.cards if (one := _made(line, {})) is not None]
        active = self._arrivals.active(opened, made)
        if not dry_run:
            self._arrivals.check_person(caller, active, as_candidates=as_candidates)
        return list(active) if not as_candidates else []

    def take_in(
        self,
        caller: Caller,
        opened: OpenBrain,
        arriving: Arriving,
        ids: Mapping[str, EvidenceId],
        report: dict[str, Any],
        *,
        dry_run: bool,
        as_candidates: bool,
        origin: OpenBrain | None = None,
    ) -> None:
        """Cards, outcomes and waiting rows, once the evidence of the archive is there. `ids`: what its rows are called here."""
        made = []
        for line in arriving.cards:
            try:
                made.append(_arrival(line, ids))
            except HindbrainError as refused:
                report["refused"].append({"name": line.id[:120], "code": refused.code, "reason": refused.message})
        found = self._arrivals.take(
            caller,
            opened,
            made,
            as_candidates=as_candidates,
            execute=not dry_run,
            expected=frozenset(ids.values()),
            origin=origin,
        )
        kept = self._outcomes.take(
            caller, opened, [_outcome(line) for line in arriving.outcomes], origin=ORIGIN, execute=not dry_run
        )
        waiting = [ForeignCard(id=line.id, body=line.body, at=self._clock()) for line in arriving.foreign]
        before = {one.id for one in opened.store.foreign_cards()}
        held = self._evidence.hold(caller, opened, waiting, execute=not dry_run)
        refused_names = {one["name"] for one in held.refused}
        named = [one.id for one in waiting]
        report["taken"] += [*found.created, *kept.created, *(n for n in named if n not in before and n not in refused_names)]
        report["unchanged"] += [*found.unchanged, *kept.unchanged, *(n for n in named if n in before)]
        report["refused"] += [*found.refused, *kept.refused, *held.refused]
        report["as_candidates"] += found.as_candidates
        report["link_errors"] += found.link_errors


# -- lines -----------------------------------------------------------------------------------------------------------


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n"


def _card_lines(opened: OpenBrain) -> Iterator[str]:
    links: dict[CardId, list[dict[str, Any]]] = {}
    for link in opened.store.links():
        if link.live:
            told = {"evidence_id": link.evidence_id, "role": link.role.value, "note": link.note, "at": link.at}
            links.setdefault(link.card_id, []).append(told)
    events: dict[CardId, list[dict[str, Any]]] = {}
    for event in opened.store.card_events():
        events.setdefault(event.card_id, []).append(
            {
                "event_type": event.type.value,
                "reason": event.reason,
                "actor": event.actor,
                "channel": event.channel,
                "at": event.at,
                "from_status": event.before.value if event.before else None,
                "to_status": event.after.value if event.after else None,
                "metadata": stored_json(event.metadata, "card_event"),
            }
        )
    for card in opened.store.each_card():
        # A status that no act gave is nothing to carry on.
        status = card.status if card.backed else Status.CANDIDATE
        yield _json(
            {
                "id": card.id,
                "statement": card.statement,
                "content": card.content,
                "tier": card.rank.value,
                "status": status.value,
                "domain": card.domain.value,
                "field": card.field,
                "anchor_kind": card.anchor.kind.value,
                "anchor_id": card.anchor.id,
                "parent_anchor_id": card.anchor.parent,
                "scope_constraints": card.scope_constraints,
                "trigger_hints": card.hints.told(),
                "importance": card.importance,
                "opt_in": card.opt_in,
                "derived_from": card.derived_from,
                "supersedes": card.supersedes,
                "created_by": card.created_by,
                "created_at": card.created_at,
                "updated_at": card.updated_at,
                "links": links.get(card.id, []),
                "events": events.get(card.id, []),
            }
        )


def _outcome_lines(opened: OpenBrain) -> Iterator[str]:
    for one in opened.store.adoptions():
        held = {name: getattr(one, name) for name in _OutcomeLine.__struct_fields__}
        yield _json(held | {"metadata": stored_json(one.metadata, "card_event")})


def _foreign_lines(opened: OpenBrain) -> Iterator[str]:
    for one in opened.store.foreign_cards():
        yield _json({"id": one.id, "body": one.body, "at": one.at})


def _read(text: str, kind: type[_Line], name: str, report: dict[str, Any]) -> list[_Line]:
    made = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            if len(line) > LINE_MAX_BYTES:
                raise msgspec.DecodeError("it is too long")
            made.append(decoded(line.encode("utf-8", "surrogatepass"), kind))
        except (msgspec.DecodeError, UnicodeError, RecursionError) as wrong:
            report["refused"].append(
                {"name": f"{name}:{number}", "code": InvalidParams.code, "reason": f"not a line of an export: {wrong}"}
            )
    return made


def _arrival(line: _CardLine, ids: Mapping[str, EvidenceId]) -> Arrival:
    card_id = card_id_of(line.id)
    if card_id != line.id:
        raise InvalidParams(f"{line.id[:80]!r} is no id of a card")
    hints = Hints.of(line.trigger_hints)
    card = Card(
        id=card_id,
        statement=line.statement,
        content=line.content,
        rank=line.tier,
        status=kept_status(line.tier, line.status),
        domain=line.domain,
        field=line.field,
        anchor=Anchor(kind=line.anchor_kind, id=line.anchor_id, parent=line.parent_anchor_id),
        created_at=line.created_at,
        updated_at=line.updated_at,
        created_by=line.created_by,
        scope_constraints=line.scope_constraints,
        hints=hints,
        importance=line.importance,
        opt_in=line.opt_in,
        derived_from=card_id_of(line.derived_from) if line.derived_from else None,
        supersedes=card_id_of(line.supersedes) if line.supersedes else None,
    )
    links = [
        Link(
            card_id=card_id,
            evidence_id=ids.get(one.evidence_id, EvidenceId(one.evidence_id)),
            role=one.role,
            note=one.note,
            at=one.at,
        )
        for one in line.links
    ]
    history = [
        Told(
            type=one.event_type,
            reason=one.reason,
            actor=one.actor,
            at=one.at,
            before=one.from_status,
            after=one.to_status,
            metadata=one.metadata,
        )
        for one in line.events
    ]
    odd = () if in_matrix(line.tier, line.status) else (f"a {line.tier.value} card is never {line.status.value}",)
    return Arrival(card=card, origin=ORIGIN, old_id=line.id, links=tuple(links), history=tuple(history), flags=odd)


def _made(line: _CardLine, ids: Mapping[str, EvidenceId]) -> Arrival | None:
    """The card of a line, None when it is none; then it is refused where it would be taken in."""
    try:
        return _arrival(line, ids)
    except HindbrainError:
        return None


def _outcome(line: _OutcomeLine) -> AdoptionEvent:
    held = {name: getattr(line, name) for name in line.__struct_fields__}
    told = json.dumps(line.metadata, sort_keys=True, ensure_ascii=False)
    return replace(AdoptionEvent(**{**held, "seq": 0, "metadata": told}), actor="", channel="")
