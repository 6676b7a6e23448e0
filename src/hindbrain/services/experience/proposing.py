"""Proposing: a rule of experience as a candidate card with its megrams as evidence, and strong rules as a proposal to a person of
what all thinking might rest on. Never more than that: gates, promotion and thinking belong to others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Rank, Role
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import EvidenceId, Provenance
from hindbrain.domain.experience import Effective, Level
from hindbrain.engines.distilling import lesson
from hindbrain.engines.moments import stamped
from hindbrain.engines.potentials import broken_law, settled
from hindbrain.policy.experience import THINKING
from hindbrain.policy.fading import DAY_MS
from hindbrain.services.brains import Brains
from hindbrain.services.card_making import CardMaking, Draft
from hindbrain.services.evidence import Observation, Observations
from hindbrain.services.experience.room import chosen
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_new
from hindbrain.stores.port import MegramFilter

__all__ = ["Proposing"]

_CITED_MOST = 10  # sources that are recorded as evidence
_STATEMENT_MOST = 400


class Proposing:
    """What experience proposes to knowledge."""

    def __init__(
        self, brains: Brains, router: Router, observations: Observations, cards: CardMaking, clock: Callable[[], int]
    ) -> None:
        self._brains = brains
        self._router = router
        self._observations = observations
        self._cards = cards
        self._clock = clock

    def propose(self, caller: Caller, *, rule: str, dry_run: bool) -> dict[str, Any]:
        """A candidate card of a rule. Its sources are recorded as what the runtime observed, and cited as its support."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            held = chosen(opened.store, rule)
            if held.level is not Level.C:
                raise InvalidParams(f"{held.megram.id} is level {held.level.value}; only a rule is proposed", fix="choose a rule")
            if (law := broken_law(held.megram.content, held.megram.sigma)) is not None:
                raise InvalidParams(f"the rule would break law {law.number}", fix="it is kept as experience and goes no further")
            found = opened.store.megrams(list(held.megram.derived_from[:_CITED_MOST]))
        sources = [found[id_] for id_ in held.megram.derived_from if id_ in found] or [held]
        answer = (
            self._cards.make(
                caller,
                Draft(
                    statement=held.megram.content[:_STATEMENT_MOST],
                    content=_card_text(held, sources),
                    rank=Rank.QI,
                    refs={Role.SUPPORTING: tuple(self._recorded(caller, one, dry_run=dry_run) for one in sources)},
                    reason="proposed from experience",
                    dry_run=dry_run,
                ),
            )
            if not dry_run
            else {"card_id": None, "created": False, "status": "candidate"}
        )
        told = "Would propose" if dry_run else "Proposed" if answer["created"] else "Already proposed"
        return {
            "ok": True,
            "schema": "hindbrain-experience-propose-v0",
            "rule_id": held.megram.id,
            "card_id": answer["card_id"],
            "created": answer["created"],
            "status": answer["status"],
            "dry_run": dry_run,
            "evidence": len(sources),
            "rendered": f"{told} {held.megram.id[:8]} as a candidate card with {len(sources)} row(s) of evidence"
            + (f": {answer['card_id']}." if answer["card_id"] else "."),
        }

    def _recorded(self, caller: Caller, one: Effective, *, dry_run: bool) -> EvidenceId:
        megram = one.megram
        seen = Observation(
            text=f"{megram.state} at {megram.space} / {megram.entity}: {lesson(megram.content)}",
            provenance=Provenance.RUNTIME,
            source=f"megram:{megram.id}",
            said_at=megram.created_at,
            tags=("experience",),
            dry_run=dry_run,
        )
        return EvidenceId(self._observations.record(caller, seen)["evidence_id"])

    def thinking(self, caller: Caller, *, out: str) -> dict[str, Any]:
        """Rules strong enough to be thought about, in a file for a person. Thinking itself is not changed."""
        brain, now = self._router.write_route(caller), self._clock()
        with self._brains.use(brain) as opened:
            strong = []
            for one in opened.store.effective(MegramFilter(levels=("C",))):
                sums = opened.store.potentials(one.megram.pair, at=now)
                told = settled(sums.attention, sums.decision)
                old = (now - one.megram.created_at) / DAY_MS
                if one.recalls >= THINKING.recalls and old >= THINKING.days and told.decision * one.megram.sigma > 0:
                    strong.append(
                        {
                            "rule_id": one.megram.id,
                            "space": one.megram.space,
                            "entity": one.megram.entity,
                            "content": one.megram.content,
                            "sigma": one.megram.sigma,
                            "recalls": one.recalls,
                            "days": round(old, 3),
                            "decision": told.decision,
                            "derived_from": list(one.megram.derived_from),
                        }
                    )
        body = {
            "schema": "hindbrain-thinking-proposal-v0",
            "brain": brain.name,
            "made_at": stamped(now),
            "note": "Nothing was changed. A person who agrees states it with: hindbrain experience remember TEXT --level T",
            "rules": strong,
        }
        path = out
        write_new(Path(out), (json.dumps(body, ensure_ascii=False, indent=2) + "\n").encode())
        return {
            "ok": True,
            "schema": "hindbrain-experience-propose-v0",
            "path": path,
            "rules": len(strong),
            "rendered": f"Wrote {len(strong)} rule(s) that a person may think about to {path}; thinking was not changed.",
        }


def _card_text(rule: Effective, sources: list[Effective]) -> str:
    megram = rule.megram
    way = "for" if megram.sigma > 0 else "against"
    return (
        f"Experience speaks {way} this at {megram.space} / {megram.entity}: {len(megram.derived_from) or 1} outcome(s), "
        f"of which {len(sources)} are cited. Rule {megram.id}, written by {megram.writer.value}."
    )
