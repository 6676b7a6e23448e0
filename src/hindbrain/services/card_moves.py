"""Moves of cards: promote through the gate, demote on evidence. The one path to an active status."""

import shlex
from collections.abc import Sequence
from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import ACTIVE, Card, EventType, Link, Rank, ReasonType, Role, Status, check_move
from hindbrain.domain.errors import GateClosed, HumanNeeded, InvalidParams
from hindbrain.domain.evidence import EvidenceId
from hindbrain.engines.fixes import command_line
from hindbrain.engines.gate import Verdict, judged
from hindbrain.policy.cards import GATES
from hindbrain.services.brains import Brains
from hindbrain.services.card_evidence import CardEvidence, checked_ids, hollow, naming_copies
from hindbrain.services.card_links import CardChange, CardLinks
from hindbrain.services.card_wire import refs
from hindbrain.services.cards import Cards

__all__ = ["CardMoves"]


class CardMoves:
    """What gives a card its status."""

    def __init__(
        self,
        brains: Brains,
        cards: Cards,
        evidence: CardEvidence,
        links: CardLinks,
    ) -> None:
        self._brains = brains
        self._cards = cards
        self._evidence = evidence
        self._links = links

    # -- promote -----------------------------------------------------------------------------------------------------

    def promote(
        self,
        caller: Caller,
        card_id: str,
        *,
        status: Status,
        verification_refs: Sequence[str],
        reason: str,
        reviewer: str | None,
        allow_counterexamples: bool,
    ) -> dict[str, Any]:
        """Activate a card once its gate opens. The new evidence counts first; a closed gate leaves nothing behind."""
        ids = self._given(verification_refs, "verification_refs", reason)
        if status not in ACTIVE:
            raise InvalidParams(f"promote leads to promoted or canonical, not {status.value}", fix="demote leads the other way")
        brain, card = self._cards.holding(caller, card_id)
        self._links.check(caller, card_id, reason, reviewer or "", site="knowledge.promote")
        person = self._person(caller, card, reviewer, status=status, spared=allow_counterexamples, ids=ids, reason=reason)
        if person is not None and person in self._cards.evaluators(caller):
            raise InvalidParams(f"{person[:80]} is an evaluator and reviews nothing", fix="name the person")
        with self._brains.use(brain) as opened:
            rows = self._evidence.found(caller, opened, ids)
        texts = (reason, person or "")
        with self._links.changing(caller, card_id, texts=texts, site="knowledge.promote") as change:
            check_move(change.card.rank, change.card.status, status)
            self._evidence.bring(caller, change.opened, change.writer, rows, change.salt)
            before = change.card.status
            added = [Link(card_id=change.card.id, evidence_id=id_, role=Role.VERIFICATION, at=change.at) for id_ in ids]
            verdict = self._verdict(change, added, status, reviewed=person is not None, spared=allow_counterexamples)
            if not verdict.allowed:
                raise GateClosed(
                    f"{change.card.id} does not pass its gate: {'; '.join(verdict.reasons)}",
                    fix=f"link what is missing with knowledge.link, then ask again: {GATES[change.card.rank].why}",
                    gate=verdict.told(),
                )
            for link in added:
                change.writer.put_link(link)
            metadata: dict[str, Any] = {"verification_refs": list(ids)}
            metadata |= {"reviewer": person} if person else {}
            metadata |= {"counterexamples_allowed": True} if allow_counterexamples else {}
            change.tell(caller, EventType.PROMOTED, reason, metadata, to=status)
            links = change.writer.card_links(change.card.id)
            # What a candidate cites is recalled nowhere else; what an active card cites is.
            cited = change.writer.observed([link.evidence_id for link in links]) if before not in ACTIVE else {}
        answer = {
            "ok": True,
            "schema": "hindbrain-card-promoted-v0",
            "card_id": change.card.id,
            "old_status": before.value,
            "new_status": status.value,
            "verification_refs": refs(links, Role.VERIFICATION),
            "gate": verdict.told(),
            "rendered": f"{change.card.id}: {before.value} -> {status.value}.",
        }
        return naming_copies(answer, [row for row in cited.values() if row.origin is not None])

    @staticmethod
    def _given(given: Sequence[str], name: str, reason: str) -> tuple[EvidenceId, ...]:
        if not given:
            raise InvalidParams(f"{name} is missing", fix="cite at least one row of evidence")
        if not reason.strip():
            raise InvalidParams("reason is empty", fix="say why, in a sentence")
        return checked_ids(given, name)

    def _person(
        self,
        caller: Caller,
        card: Card,
        reviewer: str | None,
        *,
        status: Status,
        spared: bool,
        ids: Sequence[EvidenceId],
        reason: str,
    ) -> str | None:
        """Who answers for it, where a person has to. A name in an argument is no person: the channel is."""
        needed = status is Status.CANONICAL or card.rank is Rank.DAO_TIAN or spared
        if caller.channel is Channel.HUMAN:
            if reviewer is not None and not reviewer.strip():
                raise InvalidParams("reviewer is blank", fix="name the person, or leave it out")
            return reviewer or caller.agent
        if needed or reviewer is not None:
            command = ["hindbrain", "knowledge", "promote", card.id, "--status", status.value, "--reason", reason]
            command += [part for id_ in ids for part in ("--verification-refs", id_)]
            command += ["--allow-counterexamples"] if spared else []
            raise HumanNeeded(
                f"a reviewer is a person; this call came by the channel {caller.channel.value}",
                fix=f"ask a person to run it in a terminal: {shlex.join(command)}",
                command=command,
            )
        return None

    @staticmethod
    def _verdict(change: CardChange, added: Sequence[Link], status: Status, *, reviewed: bool, spared: bool) -> Verdict:
        had = {(link.evidence_id, link.role) for link in change.links}
        links = [*change.links, *(link for link in added if (link.evidence_id, link.role) not in had)]
        weak = hollow(change.writer.observed([link.evidence_id for link in links]))
        return judged(change.card, links, target=status, reviewed=reviewed, spared=spared, hollow=weak)

    # -- demote ------------------------------------------------------------------------------------------------------

    def demote(
        self,
        caller: Caller,
        card_id: str,
        *,
        status: Status,
        evidence_refs: Sequence[str],
        reason: str,
        reason_type: ReasonType,
    ) -> dict[str, Any]:
        """Take a card's standing away, on evidence that speaks against it."""
        ids = self._given(evidence_refs, "evidence_refs", reason)
        if status not in (Status.DEMOTED, Status.RETIRED):
            raise InvalidParams(f"demote leads to demoted or retired, not {status.value}", fix="promote leads the other way")
        brain, _ = self._cards.holding(caller, card_id)
        with self._brains.use(brain) as opened:
            rows = self._evidence.found(caller, opened, ids)
        with self._links.changing(caller, card_id, texts=(reason,), site="knowledge.demote") as change:
            check_move(change.card.rank, change.card.status, status)
            if change.card.status is Status.CANONICAL and caller.channel is not Channel.HUMAN:
                asked = {
                    "card_id": change.card.id,
                    "status": status.value,
                    "evidence_refs": list(ids),
                    "reason": reason,
                    "reason_type": reason_type.value,
                }
                raise HumanNeeded(
                    "a person made this law canonical; only a person takes that away",
                    fix=f"ask a person to run it in a terminal: {command_line('knowledge.demote', ('card_id',), asked)}",
                )
            copies = self._evidence.bring(caller, change.opened, change.writer, rows, change.salt)
            before = change.card.status
            for id_ in ids:
                change.writer.put_link(Link(card_id=change.card.id, evidence_id=id_, role=Role.COUNTEREXAMPLE, at=change.at))
            kind = EventType.RETIRED if status is Status.RETIRED else EventType.DEMOTED
            told = {"reason_type": reason_type.value, "evidence_refs": list(ids)}
            change.tell(caller, kind, reason, told, to=status)
            links = change.writer.card_links(change.card.id)
        answer = {
            "ok": True,
            "schema": "hindbrain-card-demoted-v0",
            "card_id": change.card.id,
            "old_status": before.value,
            "new_status": status.value,
            "counterexample_refs": refs(links, Role.COUNTEREXAMPLE),
            "rendered": f"{change.card.id}: {before.value} -> {status.value} ({reason_type.value}).",
        }
        return naming_copies(answer, copies)
