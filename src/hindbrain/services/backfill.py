"""Backfill: knowledge rows that an import kept become cards. The rows stay as they are, so that a rerun meets the same cards and
makes none twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import CardId
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.ledger import Act
from hindbrain.engines.legacy_cards import Known, cited, held_card, known
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_arrival import Arrival, Arrivals, Arrived
from hindbrain.services.evidence import Observations
from hindbrain.services.foreign_cards import Held, arrival_of, by_old_id, held
from hindbrain.stores.port import CardFilter, ForeignCard

__all__ = ["Backfill"]

READY, SKIPPED, EXISTS = "ready", "skipped", "already_exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """One kept row and what would become of it."""

    source_id: str
    card_id: CardId
    status: str
    reasons: tuple[str, ...]
    held: Held | None = None
    known: Known | None = None

    def told(self, brain: Brain) -> dict[str, Any]:
        made: dict[str, Any] = {
            "source_id": self.source_id,
            "prospective_card_id": self.card_id,
            "status": self.status,
            "reasons": list(self.reasons),
        }
        if self.known is not None and self.held is not None:
            made |= {
                "statement": self.known.statement or None,
                "tier": self.known.rank.value if self.known.rank else None,
                "knowledge_status": self.known.status.value if self.known.status else None,
                "domain": self.known.domain.value,
                "field": self.known.field,
                "anchor_kind": self.held.anchor.kind.value,
                "anchor_id": self.held.anchor.id,
                "flags": list(self.known.flags),
            }
        return made | {"brain": brain.name}


class Backfill:
    """`knowledge backfill-plan` and `backfill-apply`."""

    def __init__(self, brains: Brains, observations: Observations, arrivals: Arrivals, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._observations = observations
        self._arrivals = arrivals
        self._clock = clock

    def plan(self, caller: Caller, *, where: CardFilter) -> dict[str, Any]:
        """Which kept rows could become cards; writes nothing."""
        told: list[dict[str, Any]] = []
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                told += [one.told(brain) for one in _candidates(opened, where)]
        counts = _counts(told)
        return {
            "ok": True,
            "schema": "hindbrain-backfill-plan-v0",
            "writes": False,
            **counts,
            "candidates": told,
            "rendered": _rendered(counts, told),
        }

    def apply(self, caller: Caller, *, where: CardFilter, execute: bool, as_candidates: bool) -> dict[str, Any]:
        """Make a card, its links and one event of each row that is ready."""
        told: list[dict[str, Any]] = []
        found = Arrived()
        brains = self._observations.readable(caller, None)
        work: list[tuple[Brain, list[Arrival]]] = []
        for brain in brains:
            with self._brains.use(brain) as opened:
                rows = list(_candidates(opened, where))
                told += [one.told(brain) for one in rows]
                work.append((brain, self._arriving(opened, [one for one in rows if one.status == READY], brains)))
        if execute:
            for brain, arrivals in work:
                with self._brains.use(brain) as opened:
                    self._arrivals.check_person(caller, self._arrivals.active(opened, arrivals), as_candidates=as_candidates)
        for brain, arrivals in work:
            if arrivals:
                self._take(caller, brain, arrivals, brains, found, execute=execute, as_candidates=as_candidates)
        created = len(found.created) if execute else 0
        counts = _counts(told)
        return {
            "ok": True,
            "schema": "hindbrain-backfill-v0",
            "writes": created > 0,
            "dry_run": not execute,
            **counts,
            "created_count": created,
            "linked_count": found.links if execute else 0,
            "event_count": found.events if execute else 0,
            "link_errors": found.link_errors,
            "refused": found.refused,
            "as_candidates": found.as_candidates,
            "candidates": told,
            "rendered": _rendered(counts, told, created=created if execute else None),
        }

    def _arriving(self, opened: OpenBrain, rows: list[_Candidate], brains: list[Brain]) -> list[Arrival]:
        made = []
        for one in rows:
            if one.held is None:
                continue
            made.append(
                arrival_of(
                    one.held.row,
                    card_id=one.card_id,
                    anchor=one.held.anchor,
                    refs=self._refs(opened, one.held, brains),
                    origin=one.held.origin,
                    opt_in=False,
                    now=self._clock(),
                    reason=f"taken over from {one.source_id} of {one.held.origin}",
                )
            )
        return made

    def _refs(self, opened: OpenBrain, kept: Held, brains: list[Brain]) -> dict[str, Any]:
        """Where what the row cites is now: as it was noted when it came, else by the name that evidence brought along."""
        wanted = {ref.old_id for ref in cited(kept.row)}
        refs = {old: kept.refs[old] for old in wanted if old in kept.refs}
        if lacking := wanted - refs.keys():
            refs |= by_old_id(opened, lacking)
        if opened.brain.root is None and (lacking := wanted - refs.keys()):
            for brain in brains:
                if brain.root is not None:
                    with self._brains.use(brain) as near:
                        refs |= by_old_id(near, lacking)
        return refs

    def _take(
        self,
        caller: Caller,
        brain: Brain,
        arrivals: list[Arrival],
        brains: list[Brain],
        found: Arrived,
        *,
        execute: bool,
        as_candidates: bool,
    ) -> None:
        project = next((one for one in brains if one.root is not None), None)
        with self._brains.use(brain) as opened:
            if brain.root is None and project is not None:
                with self._brains.use(project) as near:
                    one = self._arrivals.take(caller, opened, arrivals, as_candidates=as_candidates, execute=execute, near=near)
            else:
                one = self._arrivals.take(caller, opened, arrivals, as_candidates=as_candidates, execute=execute)
            if execute and one.refused:
                self._record(caller, opened, one)
        found.add(one)

    def _record(self, caller: Caller, opened: OpenBrain, one: Arrived) -> None:
        """What was refused leaves a trace as well; what was made has its own entries."""
        codes = dict(sorted(Counter(str(refused["code"]) for refused in one.refused).items()))
        payload: dict[str, Any] = {"kind": "backfill", "taken": len(one.created), "refused": len(one.refused)}
        payload["refused_by_code"] = codes
        act = Act(
            act="brain.import",
            subject="brain",
            actor=caller.agent,
            channel=Channel.IMPORT,
            at=self._clock(),
            payload=payload,
        )
        with opened.store.writing() as writer:
            writer.append(act)


def _candidates(opened: OpenBrain, where: CardFilter) -> Iterator[_Candidate]:
    foreign = opened.store.foreign_cards()
    there = opened.store.cards([held_card(one.id) for one in foreign])
    for one in foreign:
        made = _candidate(one, exists=held_card(one.id) in there)
        if _admitted(made, where):
            yield made


def _candidate(foreign: ForeignCard, *, exists: bool) -> _Candidate:
    card_id = held_card(foreign.id)
    try:
        kept = held(foreign)
    except InvalidParams as wrong:
        return _Candidate(source_id=foreign.id, card_id=card_id, status=SKIPPED, reasons=(wrong.message,))
    one = known(kept.row)
    status = EXISTS if exists else SKIPPED if one.missing else READY
    return _Candidate(
        source_id=foreign.id,
        card_id=card_id,
        status=status,
        reasons=one.missing if status == SKIPPED else (),
        held=kept,
        known=one,
    )


def _admitted(one: _Candidate, where: CardFilter) -> bool:
    if one.known is None or one.held is None:
        return where == CardFilter()
    shown = {
        "tier": one.known.rank,
        "status": one.known.status,
        "domain": one.known.domain,
        "field": one.known.field,
        "anchor_kind": one.held.anchor.kind,
        "anchor_id": one.held.anchor.id,
    }
    return all(getattr(where, name) in (None, value) for name, value in shown.items())


def _counts(told: list[dict[str, Any]]) -> dict[str, int]:
    return {f"{status}_count": sum(one["status"] == status for one in told) for status in (READY, SKIPPED, EXISTS)}


def _rendered(counts: dict[str, int], told: list[dict[str, Any]], *, created: int | None = None) -> str:
    words = (
        f"{counts['ready_count']} ready, {counts['skipped_count']} skipped, {counts['already_exists_count']} are cards already"
    )
    lines = [f"Made {created} card(s): {words}." if created is not None else f"{words[:1].upper()}{words[1:]}."]
    for one in told:
        why = f" ({', '.join(one['reasons'])})" if one["reasons"] else ""
        lines.append(f"{one['status']:<14}  {one['source_id']} -> {one['prospective_card_id']}{why}")
        lines += [f"{'':<14}  odd: {flag}" for flag in one.get("flags", ())]
    return "\n".join(lines)
