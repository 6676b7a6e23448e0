"""Making cards: distilled from evidence, created by hand, or raised from a lower rank. Every one begins as a candidate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import NO_HINTS, Card, CardId, EventType, Hints, Link, Rank, Role, Status, card_id, check_texts
from hindbrain.domain.errors import InvalidParams, Rejected
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance
from hindbrain.policy.cards import RAISES
from hindbrain.policy.evidence import WORD_MAX
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_acts import tell
from hindbrain.services.card_evidence import CardEvidence, naming_copies
from hindbrain.services.cards import Cards
from hindbrain.services.evidence_anchor import Anchors, Placed
from hindbrain.services.evidence_guard import check_word, traces_of
from hindbrain.services.gateway import Gateway

__all__ = ["CardMaking", "Draft"]

_HINT_MAX = 80
_HINTS_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A card that wants to be."""

    statement: str
    content: str
    rank: Rank
    refs: Mapping[Role, tuple[EvidenceId, ...]]
    domain: Domain = Domain.PROJECT
    field: str = "general"
    scope_constraints: str | None = None
    hints: Hints = NO_HINTS
    importance: int = 3
    anchor: AnchorKind | None = None  # the kind, where the place follows from the caller
    anchor_id: str | None = None
    experimental: bool = False
    cwd: str | None = None
    opt_in: bool = False
    id: CardId | None = None
    derived_from: CardId | None = None
    supersedes: CardId | None = None
    reason: str = "distilled"
    dry_run: bool = False

    def texts(self) -> list[str]:
        """Everything a caller wrote."""
        hints = (*self.hints.intent_tags, *self.hints.workflow_bias, *self.hints.tool_needs)
        return [self.statement, self.content, self.field, self.scope_constraints or "", self.reason, *hints]


class CardMaking:
    """The only way by which a card comes to be, but for an import."""

    def __init__(
        self,
        brains: Brains,
        anchors: Anchors,
        cards: Cards,
        evidence: CardEvidence,
        gateway: Gateway,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._anchors = anchors
        self._cards = cards
        self._evidence = evidence
        self._gateway = gateway
        self._clock = clock

    def distill(self, caller: Caller, draft: Draft) -> dict[str, Any]:
        """One candidate from evidence that is there. Nothing is summed up here: the caller says all of it."""
        if draft.rank is Rank.DAO_TIAN:
            raise InvalidParams(
                "dao_tian is never distilled from evidence", fix="hindbrain knowledge raise makes one of a dao_ren card"
            )
        return self.make(caller, draft)

    def raised(self, caller: Caller, source_id: str, draft: Draft) -> dict[str, Any]:
        """A candidate of the next rank, from an active card that stays what it is."""
        brain, source = self._cards.holding(caller, source_id)
        below = RAISES.get(draft.rank)
        if below is not source.rank:
            wanted = f"is raised from {below.value}" if below else "is distilled from evidence"
            raise InvalidParams(
                f"{draft.rank.value} {wanted}; {source.id} is {source.rank.value}", fix="go up one rank at a time"
            )
        if not source.active:
            raise InvalidParams(f"{source.id} is {source.status.value}; only an active card is raised", fix="promote it first")
        if draft.rank in (Rank.DAO_REN, Rank.DAO_TIAN) and not (draft.scope_constraints or "").strip():
            raise InvalidParams(
                "a wider law needs its bounds",
                fix="say where it holds and where not: --scope-constraints, scope_constraints over MCP",
            )
        with self._brains.use(brain) as opened:
            links = [link for link in opened.store.links(cards=[source.id]) if link.live]
        taken = {
            role: tuple(link.evidence_id for link in links if link.role is role) for role in (Role.SUPPORTING, Role.TEACHING)
        }
        refs = {**taken, **{role: ids for role, ids in draft.refs.items() if ids}}
        return self.make(caller, replace(draft, refs=refs, derived_from=source.id))

    def make(self, caller: Caller, draft: Draft) -> dict[str, Any]:
        """Keep a candidate with what it cites. The same one again is no second card."""
        self._check(draft)
        placed = self._placed(caller, draft)
        refs = {role: ids for role, ids in draft.refs.items() if ids}
        with self._brains.use(placed.brain) as opened:
            self._gateway.check_hygiene(opened, draft.texts(), site="knowledge")
            rows = self._evidence.found(caller, opened, list(dict.fromkeys(id_ for ids in refs.values() for id_ in ids)))
            self._evidence.check_roles(caller, rows, refs)
            check_texts(draft.statement, draft.content, [rows[id_].content for id_ in refs[Role.SUPPORTING]])
            card = self._card(caller, draft, placed)
            held = opened.store.cards([card.id]).get(card.id)
            if draft.id is not None and (held is not None or self._cards.known(caller, card.id)):
                raise InvalidParams(f"the id {card.id} is taken", fix="leave the id out, or give another")
            copies: tuple[Evidence, ...] = ()
            if held is None and not draft.dry_run:
                card, created, copies = self._put(caller, opened, card, draft, refs, rows)
            else:
                card, created = held or card, False
        told = "Would make" if draft.dry_run and held is None else "Made" if created else "Already there"
        answer = {
            "ok": True,
            "schema": "hindbrain-card-made-v0",
            "card_id": card.id,
            "created": created,
            "dry_run": draft.dry_run,
            "status": card.status.value,
            "tier": card.rank.value,
            "anchor_kind": card.anchor.kind.value,
            "anchor_id": card.anchor.id,
            "parent_anchor_id": card.anchor.parent,
            "brain": placed.brain.name,
            "rendered": f"{told}: {card.id}, a {card.status.value} {card.rank.value} card in {placed.brain.display_name}.",
        }
        return naming_copies(answer, copies)

    def _check(self, draft: Draft) -> None:
        for text in draft.texts():
            self._gateway.check_text(text)
        check_word(draft.field, "field", WORD_MAX)
        if not draft.field.strip():
            raise InvalidParams("field is blank", fix="leave it out, or name the subject")
        for name in Hints.__slots__:
            words = getattr(draft.hints, name)
            if len(words) > _HINTS_MOST:
                raise InvalidParams(f"{name} has {len(words)} entries; {_HINTS_MOST} are the most", fix="leave some out")
            for word in words:
                check_word(word, name, _HINT_MAX)
        if not draft.refs.get(Role.SUPPORTING):
            raise InvalidParams("supporting_refs is missing", fix="cite at least one row of evidence that backs it")
        check_texts(draft.statement, draft.content, ())
        if draft.rank is Rank.DAO_TIAN and draft.domain is not Domain.GLOBAL:
            raise InvalidParams("a dao_tian card needs the domain global", fix="give domain=global")

    def _placed(self, caller: Caller, draft: Draft) -> Placed:
        """As local as the rank allows: tools at the checkout, methods and field laws at the repository, universal law at none."""
        if draft.anchor_id is not None:
            kind = draft.anchor.value if draft.anchor else None
            return self._anchors.placed(
                caller, domain=draft.domain, provenance=Provenance.RUNTIME, kind=kind, anchor_id=draft.anchor_id, cwd=draft.cwd
            )
        kind_ = draft.anchor or _default(draft)
        if kind_ is AnchorKind.GLOBAL and draft.domain is not Domain.GLOBAL:
            raise InvalidParams(
                f"a global anchor needs the domain global, not {draft.domain.value}",
                fix="give domain=global, or anchor it at the repository",
            )
        return self._anchors.scoped(caller, kind_, cwd=draft.cwd)

    def _card(self, caller: Caller, draft: Draft, placed: Placed) -> Card:
        now = self._clock()
        made = draft.id or card_id(
            statement=draft.statement,
            content=draft.content,
            rank=draft.rank,
            domain=draft.domain,
            field=draft.field,
            anchor=placed.anchor,
            scope_constraints=draft.scope_constraints,
            hints=draft.hints,
            refs=draft.refs,
            opt_in=draft.opt_in,
        )
        return Card(
            id=made,
            statement=draft.statement,
            content=draft.content,
            rank=draft.rank,
            status=Status.CANDIDATE,
            domain=draft.domain,
            field=draft.field,
            anchor=placed.anchor,
            scope_constraints=draft.scope_constraints,
            hints=draft.hints,
            importance=draft.importance,
            opt_in=draft.opt_in,
            derived_from=draft.derived_from,
            supersedes=draft.supersedes,
            created_by=caller.agent,
            created_at=now,
            updated_at=now,
        )

    def _put(
        self,
        caller: Caller,
        opened: OpenBrain,
        card: Card,
        draft: Draft,
        refs: Mapping[Role, tuple[EvidenceId, ...]],
        rows: Mapping[EvidenceId, Evidence],
    ) -> tuple[Card, bool, tuple[Evidence, ...]]:
        salt, now = self._gateway.salt(opened), card.created_at
        marks = [mark for text in draft.texts() if text for mark, _, _ in traces_of(text, salt)]
        with opened.store.writing() as writer:
            if (held := writer.card(card.id)) is not None:
                return held, False, ()  # another writer was first
            if opened.store.tombstones(list(dict.fromkeys(marks))):
                raise Rejected(
                    f"this value was rejected or forgotten in {opened.brain.display_name}",
                    fix="state what holds instead; a person can lift the rejection in a terminal",
                )
            copies = self._evidence.bring(caller, opened, writer, rows, salt)
            made = tell(writer, caller, card, EventType.CREATED, salt=salt, at=now, reason=draft.reason, to=Status.CANDIDATE)
            for role in Role:
                for id_ in refs.get(role, ()):
                    writer.put_link(Link(card_id=card.id, evidence_id=id_, role=role, at=now))
        return made, True, copies


def _default(draft: Draft) -> AnchorKind:
    if draft.rank is Rank.DAO_TIAN or (draft.rank is Rank.DAO_REN and draft.domain is Domain.GLOBAL):
        return AnchorKind.GLOBAL
    return AnchorKind.WORKTREE if draft.experimental or draft.rank is Rank.QI else AnchorKind.REPO
