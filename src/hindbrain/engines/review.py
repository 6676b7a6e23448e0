"""The review queue: which cards a person should look at, why, and what would settle it. Pure; reads nothing, decides nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.card import ACTIVE_OF, RANKS, Card, CardId, Link, Role, Status
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.engines.contradictions import Found, Said, contradictions, sentences
from hindbrain.engines.gate import judged
from hindbrain.engines.review_choices import demoted, linked, promoted, rejected, retired, unlinked
from hindbrain.policy.review import KINDS

__all__ = ["Cite", "Draft", "Shelf", "Tried", "opposed", "ordered", "returned", "stale", "waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How often somebody tried to write a rejected value. What it was is on no record."""

    actor: str
    operation: str
    times: int
    last_at: int


@dataclass(slots=True, kw_only=True)
class Shelf:
    """What the queue needs to know of one brain."""

    brain: str
    shared: bool  # the medulla
    cards: Sequence[Card]
    links: Mapping[CardId, Sequence[Link]]
    hollow: Collection[EvidenceId] = ()  # what the system said of itself
    lost: Mapping[EvidenceId, str] = field(default_factory=dict)  # cited and gone -> how
    changed: Mapping[EvidenceId, str] = field(default_factory=dict)  # cited from a file that is another one now -> how
    since: Collection[tuple[CardId, EvidenceId]] = ()  # counterexamples linked after the card got its status
    buried: Collection[CardId] = ()  # cards that say a rejected or forgotten value
    tagged: Sequence[Evidence] = ()  # rows that somebody marked as speaking against something
    tried: Sequence[Tried] = ()

    def cited(self, card: Card, *roles: Role) -> list[EvidenceId]:
        """Living evidence of a card in these roles, in the order of linking."""
        return [link.evidence_id for link in self.links.get(card.id, ()) if link.live and link.role in roles]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """A row of evidence that an item shows, and what it is to the card."""

    brain: str
    card_id: CardId | None
    evidence_id: EvidenceId
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One item before it is written out. `state` is what it was found by: a person's `keep` holds until that changes."""

    kind: str
    cards: tuple[tuple[str, Card], ...]  # brain and card
    why: str
    settle: str
    cites: tuple[Cite, ...] = ()
    choices: tuple[dict[str, Any], ...] = ()
    state: str = ""
    tried: Tried | None = None


def ordered(drafts: Iterable[Draft]) -> list[Draft]:
    """By kind, then what reaches furthest and is in use first, then by name."""

    def place(one: Draft) -> tuple[Any, ...]:
        reach = min((RANKS.index(card.rank), not card.active, -card.importance) for _, card in one.cards) if one.cards else ()
        ids = [card.id for _, card in one.cards]
        tried = (-one.tried.times, one.tried.actor, one.tried.operation) if one.tried else ()
        return (KINDS.index(one.kind), not one.cards, reach, ids, [cite.evidence_id for cite in one.cites], tried)

    return sorted(drafts, key=place)


def _cites(shelf: Shelf, card: Card, *roles: Role) -> tuple[Cite, ...]:
    return tuple(
        Cite(brain=shelf.brain, card_id=card.id, evidence_id=link.evidence_id, role=link.role.value)
        for link in shelf.links.get(card.id, ())
        if link.role in roles
    )


# -- open gates --------------------------------------------------------------------------------------------------------


def waiting(shelf: Shelf) -> list[Draft]:
    """Candidates whose gate would open now, or lacks nothing but the person."""
    made = []
    for card in shelf.cards:
        if card.status is not Status.CANDIDATE:
            continue
        links, target = shelf.links.get(card.id, ()), ACTIVE_OF[card.rank]
        if not judged(card, links, target=target, reviewed=True, hollow=shelf.hollow).allowed:
            continue
        verdict = judged(card, links, target=target, reviewed=False, hollow=shelf.hollow)
        have = ", ".join(f"{verdict.counts[role]} {role.value}" for role in Role if verdict.counts[role])
        checked = [id_ for id_ in shelf.cited(card, Role.VERIFICATION) if id_ not in shelf.hollow]
        made.append(
            Draft(
                kind="open_gate",
                cards=((shelf.brain, card),),
                why=f"its gate to {target.value} is open: {have}"
                if verdict.allowed
                else f"its gate to {target.value} lacks only a person who reviews it: {have}",
                settle="promote it, retire it, or keep it a candidate until its evidence changes",
                cites=_cites(shelf, card, *Role),
                choices=(
                    promoted(card, target, checked),
                    linked(card, Role.VERIFICATION),
                    retired(card),
                    rejected(card, shelf.shared),
                ),
                state=" ".join(f"{link.evidence_id}:{link.role.value}:{link.live}" for link in links),
            )
        )
    return made


# -- contradictions ----------------------------------------------------------------------------------------------------


def opposed(shelves: Sequence[Shelf]) -> tuple[list[Draft], bool]:
    """Cards that say the opposite of each other or of evidence that was marked so; and whether more may be there."""
    cards = {card.id: (shelf, card) for shelf in shelves for card in shelf.cards if _speaks(card)}
    rows = {row.id: (shelf, row) for shelf in shelves for row in shelf.tagged}
    found: Found = contradictions(
        [
            *(_said(card) for _, card in cards.values()),
            *(
                Said(id=id_, field=row.field, text=one, evidence=True)
                for id_, (_, row) in rows.items()
                for one in sentences(row.content)
            ),
        ]
    )
    made = []
    for pair in found.pairs:
        one = cards[CardId(pair.one)]
        if (other := cards.get(CardId(pair.other))) is not None:
            made.append(_both(one, other, pair.why, pair.quoted))
        else:
            shelf, row = rows[EvidenceId(pair.other)]
            known = any(
                link.evidence_id == row.id and link.role is Role.COUNTEREXAMPLE for link in one[0].links.get(one[1].id, ())
            )
            if not known:
                made.append(_row_against(one, shelf, row.id, f"marked evidence opposes it: {pair.why}", " ".join(pair.quoted)))
    for shelf in shelves:
        for card in shelf.cards:
            made += [
                _row_against((shelf, card), shelf, id_, "a counterexample was linked after it became active", "linked")
                for id_ in shelf.cited(card, Role.COUNTEREXAMPLE)
                if card.active and (card.id, id_) in shelf.since
            ]
    return made, found.capped


def _speaks(card: Card) -> bool:
    return card.status is Status.CANDIDATE or card.active


def _said(card: Card) -> Said:
    return Said(
        id=card.id,
        field=card.field,
        text=card.text,
        scope=(card.scope_constraints or "").strip(),
        place=card.anchor.id if card.anchor.kind is AnchorKind.WORKTREE else "",
        akin=frozenset(one for one in (card.supersedes, card.derived_from) if one),
    )


def _both(one: tuple[Shelf, Card], other: tuple[Shelf, Card], why: str, quoted: tuple[str, str]) -> Draft:
    choices = []
    for (shelf, card), (beside, against) in ((one, other), (other, one)):
        # What speaks for one speaks against the other, where the same brain can cite it.
        near = shelf.brain == beside.brain or shelf.shared
        refs = beside.cited(against, Role.SUPPORTING) if near else []
        choices += [*([demoted(card, "contradicted", refs)] if card.active else []), retired(card, "contradicted", refs)]
        choices.append(rejected(card, shelf.shared))
    return Draft(
        kind="contradiction",
        cards=((one[0].brain, one[1]), (other[0].brain, other[1])),
        why=f"proposed, not decided: {why}",
        settle="demote or retire the one that does not hold, or keep both if they speak of different things",
        cites=(*_cites(*one, Role.SUPPORTING), *_cites(*other, Role.SUPPORTING)),
        choices=tuple(choices),
        state="\x1f".join(quoted),
    )


def _row_against(one: tuple[Shelf, Card], beside: Shelf, row: EvidenceId, why: str, state: str) -> Draft:
    shelf, card = one
    refs = [row] if shelf.brain == beside.brain or shelf.shared else []
    against = Cite(brain=beside.brain, card_id=None, evidence_id=row, role="against")
    choices = [*([demoted(card, "contradicted", refs)] if card.active else []), retired(card, "contradicted", refs)]
    return Draft(
        kind="contradiction",
        cards=((shelf.brain, card),),
        why=f"proposed, not decided: {why}",
        settle="demote or retire the card, or keep it if the row speaks of something else",
        cites=(*_cites(shelf, card, Role.SUPPORTING), against),
        choices=(*choices, rejected(card, shelf.shared)),
        state=f"{row}\x1f{state}",
    )


# -- stale -------------------------------------------------------------------------------------------------------------


def stale(shelf: Shelf) -> list[Draft]:
    """Active cards that rest on evidence which is gone, or on a file that is another one now."""
    made = []
    for card in shelf.cards:
        if not card.active:
            continue
        links = [link for link in shelf.links.get(card.id, ()) if link.role is not Role.COUNTEREXAMPLE]
        gone = [link for link in links if not link.live]
        moved = [link for link in links if link.live and link.evidence_id in shelf.changed]
        if not gone and not moved:
            continue
        told = [f"{link.evidence_id} ({link.role.value}) {shelf.lost.get(link.evidence_id, 'is gone')}" for link in gone]
        told += [f"{link.evidence_id} ({link.role.value}) {shelf.changed[link.evidence_id]}" for link in moved]
        roles = list(dict.fromkeys(link.role for link in (*gone, *moved)))
        made.append(
            Draft(
                kind="stale",
                cards=((shelf.brain, card),),
                why="its evidence changed: " + "; ".join(told),
                settle="look whether it holds: if so, link what shows it, unlink what is gone, or keep it; if not, demote it",
                cites=_cites(shelf, card, Role.SUPPORTING, Role.VERIFICATION, Role.TEACHING),
                choices=(
                    *(linked(card, role) for role in roles),
                    *(unlinked(card, link) for link in gone),
                    demoted(card, "obsolete"),
                    retired(card, "obsolete"),
                    rejected(card, shelf.shared),
                ),
                state="\x1f".join(told),
            )
        )
    return made


# -- returned ----------------------------------------------------------------------------------------------------------


def returned(shelf: Shelf) -> list[Draft]:
    """Cards that say what was rejected or forgotten here, and attempts to write it again."""
    made = [
        Draft(
            kind="returned",
            cards=((shelf.brain, card),),
            why="it says a value that was rejected or forgotten here",
            settle="reject it again, which retires it; or lift the rejection, if the value holds after all",
            cites=_cites(shelf, card, *Role),
            choices=(rejected(card, shelf.shared),),
        )
        for card in shelf.cards
        if card.id in shelf.buried and card.status is not Status.RETIRED
    ]
    for tried in shelf.tried:
        times = "once" if tried.times == 1 else f"{tried.times} times"
        why = f"{tried.actor} tried {times} to write a rejected value with {tried.operation}; it was refused"
        settle = "nothing came in; find out what makes it try, or lift the rejection, if the value holds after all"
        made.append(Draft(kind="returned", cards=(), why=why, settle=settle, tried=tried))
    return made
