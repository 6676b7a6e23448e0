"""Arrival of outcomes: what came of guidance elsewhere, kept beside what came of it here and told as imported."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, Rejected
from hindbrain.domain.ledger import Act
from hindbrain.domain.stored import stored_json
from hindbrain.policy.evidence import BATCH_ROWS, PATH_MAX, WORD_MAX
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_arrival import refusal
from hindbrain.services.evidence_guard import check_word, check_words, secrets_in, traces_of
from hindbrain.services.gateway import Gateway, recorded

__all__ = ["OutcomeArrivals", "OutcomesArrived"]


@dataclass(slots=True, kw_only=True)
class OutcomesArrived:
    """What became of some outcomes."""

    created: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)


class OutcomeArrivals:
    """Takes outcomes in."""

    def __init__(self, gateway: Gateway, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._clock = clock

    def take(
        self, caller: Caller, opened: OpenBrain, events: Sequence[AdoptionEvent], *, origin: str, execute: bool
    ) -> OutcomesArrived:
        """Keep outcomes; one that is there already stays as it is."""
        found = OutcomesArrived()
        known = {one.id for one in opened.store.adoptions()}
        fresh: dict[str, AdoptionEvent] = {}
        for one in events:
            if one.id in known or one.id in fresh:
                found.unchanged.append(one.id)
                continue
            try:
                self._check(opened, one)
                fresh[one.id] = one
            except HindbrainError as refused:
                found.refused.append(refusal(one.id, refused))
        found.created = list(fresh)
        for at in range(0, len(fresh) if execute else 0, BATCH_ROWS):
            self._put(caller, opened, list(fresh.values())[at : at + BATCH_ROWS], origin)
        return found

    def _check(self, opened: OpenBrain, one: AdoptionEvent) -> None:
        texts = [text for text in (one.query, one.note, one.metadata) if text]
        for name in (one.feature, one.evaluator_id, one.research_report_id):
            check_word(name or "", "a name", WORD_MAX)
        for name in (one.id, one.card_id, one.context_hash):
            check_word(name or "", "an id", PATH_MAX)
        check_words(
            self._gateway,
            opened,
            (one.feature, one.evaluator_id),
            (one.id, one.card_id, one.context_hash, one.research_report_id),
            site="import",
        )
        salt = opened.store.meta("salt")
        for text in texts:
            self._gateway.check_text(text)
            if hits := secrets_in(self._gateway, opened, text, site="import"):
                raise hits[0].refusal
            if salt and opened.store.tombstones([mark for mark, _, _ in traces_of(text, salt)]):
                raise Rejected("rejected or forgotten here", fix="a person can lift the rejection in a terminal")

    def _put(self, caller: Caller, opened: OpenBrain, events: Sequence[AdoptionEvent], origin: str) -> None:
        salt, now = self._gateway.salt(opened), self._clock()
        with opened.store.writing() as writer:
            entry = writer.append(
                Act(
                    act="adoption.import",
                    subject="adoption",
                    actor=caller.agent,
                    channel=Channel.IMPORT,
                    at=now,
                    payload={"rows": len(events), "ids": [recorded(salt, one.id)[:16] for one in events]},
                )
            )
            there = {one.id for one in opened.store.adoptions()}
            for one in events:
                if one.id not in there:
                    said = {"imported": True, "origin": origin} | (
                        {"said": stored_json(one.metadata, "adoption")} if one.metadata != "{}" else {}
                    )
                    told = json.dumps(said, sort_keys=True, ensure_ascii=False)
                    writer.put_adoption(
                        replace(one, seq=entry.seq, actor=caller.agent, channel=Channel.IMPORT.value, metadata=told)
                    )
