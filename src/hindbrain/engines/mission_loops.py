"""Loops: where a mission goes in circles. Takes its events in order and finds each condition once; the same events, with the
warnings among them, give the same watch after a restart."""

from collections.abc import Iterable, Sequence
from typing import Any

from hindbrain.domain.handover import DeadPath, Inheritance
from hindbrain.domain.mission import ContextGuard, EventType, Family, MissionEvent, Outcome, Route
from hindbrain.domain.typed import converted
from hindbrain.engines.loop_act import Found, act_of, by_agent, proof_of
from hindbrain.engines.loop_rules import DeadEnds, GraphStreak, Idling, PingPong, Rereads, Runs, Searches, Verifications
from hindbrain.engines.scope_changes import ScopeChanges
from hindbrain.policy.missions import GRAPH_STREAK

__all__ = ["Found", "LoopWatch", "process_share"]

_E = EventType
_NAMED = 16  # events that a dead path names


class LoopWatch:
    """Grows by `note`. `look` is what has to be warned of; a warning that is noted is not due any more."""

    def __init__(self, route: Route, inherited: Inheritance) -> None:
        changes = ScopeChanges()
        self._changes = changes
        self._runs = Runs()
        self._searches = Searches(changes=changes)
        self._streak = GraphStreak(limit=GRAPH_STREAK[route])
        self._pingpong = PingPong()
        self._idling = Idling()
        self._rereads = Rereads(changes=changes)
        self._dead = DeadEnds()
        self._verifications = Verifications()
        self._due: dict[tuple[str, str, str], Found] = {}
        self._targets: set[str] = set()
        self._proofs: set[str] = set()
        self._proof_of: dict[str, str] = {}  # event -> what it shows
        self._verdicts: dict[str, str] = {}
        self._edits = 0
        self._place: tuple[Any, ...] | None = None
        for path in inherited.dead_paths:
            self._dead.ruled_out(path)
        for one in inherited.covered:
            if one.family in (Family.LITERAL_SEARCH, Family.GRAPH):
                self._searches.inherit(one.family, one.scope, one.item)

    @property
    def repeated(self) -> int:
        """Searches that were made before."""
        return self._searches.repeats

    def look(self) -> tuple[Found, ...]:
        """What was found and not warned of yet."""
        return tuple(self._due.values())

    def active(self) -> tuple[Found, ...]:
        """What holds now, in the order of the rules. Most of it ends when something else is done; a claim that is verified in
        circles waits for new direct evidence."""
        rules = (self._runs, self._searches, self._streak, self._pingpong, self._idling, self._rereads, self._dead)
        held = [rule.held for rule in rules]
        return (*(found for found in held if found is not None), *self._verifications.stuck.values())

    def closed(self) -> tuple[Found, ...]:
        """Questions and lines that stay forbidden while nothing in their scope changes."""
        return (*self._searches.closed(), *self._rereads.closed())

    def thrashed(self, claim_id: str) -> Found | None:
        """Why a claim may not be verified again yet."""
        return self._verifications.stuck.get(claim_id)

    def dead_end(self, target: str | None, query: str = "") -> DeadPath | None:
        """The dead path that a target or a question leads into, unless a dissent lifted it."""
        return self._dead.find(target, query)

    def asked(self, family: Family, query: str, scope: str = "") -> bool:
        """Whether a question was asked and nothing in its scope has changed since."""
        return self._searches.known(family, query, scope)

    # -- growing -----------------------------------------------------------------------------------------------------

    def note(self, event: MissionEvent) -> None:
        """Take in the next event."""
        match event.event_type:
            case _E.LOOP_WARNING:
                told = event.payload
                self._due.pop((str(told.get("rule")), str(told.get("item")), str(told.get("action"))), None)
                return
            case _E.DISSENT:
                self._dead.lift(str(one) for one in (event.payload.get("item"), event.target) if one)
            case _E.CLAIM | _E.VERIFY:
                self._judged(event)
            case _E.CONTEXT_GUARD:
                self._moved(event)
        fresh = self._proven(event)
        if by_agent(event):
            self._acted(event, fresh)
        if event.event_type in (_E.FILE_EDIT, _E.GRAPH_INGEST):
            self._edits += event.event_type is _E.FILE_EDIT
            self._changes.note(event.target or "", event.seq)
        if event.outcome is Outcome.RULED_OUT and event.target:
            self._rule_out(event, event.target)

    def _acted(self, event: MissionEvent, fresh: bool) -> None:
        act = act_of(event, new_target=bool(event.target) and event.target not in self._targets, new_direct=fresh)
        if event.target:
            self._targets.add(event.target)
        rules = (self._runs, self._searches, self._streak, self._pingpong, self._idling, self._rereads)
        self._raise(rule.note(act) for rule in rules)
        if event.outcome is not Outcome.RULED_OUT:  # saying that it is dead is no way into it
            self._raise((self._dead.note(act),))

    def _proven(self, event: MissionEvent) -> bool:
        """Whether a direct event shows what no event before it showed."""
        shown = proof_of(event, self._edits)
        if shown is None:
            return False
        self._streak.proven()
        self._proof_of[event.event_id] = shown
        if shown in self._proofs:
            return False
        self._proofs.add(shown)
        self._verifications.proven(event.seq)
        return True

    def _judged(self, event: MissionEvent) -> None:
        claim = event.payload.get("claim")
        if not isinstance(claim, dict):
            return
        name, verdict = str(claim.get("claim_id")), str(claim.get("verdict"))
        if self._verdicts.get(name) != verdict:
            self._verdicts[name] = verdict
            self._idling.moved()
        if event.event_type is _E.VERIFY:
            told = event.payload.get("references") or claim.get("evidence_refs") or ()
            meant = [self._proof_of.get(str(one).removeprefix("event:"), str(one)) for one in told]
            self._raise((self._verifications.note(name, meant, event.seq, event.event_id),))

    def _moved(self, event: MissionEvent) -> None:
        """Another branch or another workspace: whatever was read or asked may be different now."""
        guard = converted(event.payload["guard"], ContextGuard)
        place = (guard.workspace_root, guard.branch_head, guard.ingest_roots)
        if self._place is not None and place != self._place:
            self._changes.note("", event.seq)
        self._place = place

    def _rule_out(self, event: MissionEvent, target: str) -> None:
        before = self._dead.find(target, target)
        ids = (*(before.event_ids if before is not None else ()), event.event_id)[-_NAMED:]
        why = str(event.payload.get("why") or (before.why_ruled_out if before is not None else "") or "ruled out")
        self._dead.ruled_out(DeadPath(target=target, why_ruled_out=why, event_ids=ids))

    def _raise(self, found: Iterable[Found | None]) -> None:
        for one in found:
            if one is not None:
                self._due[one.rule, one.item, one.action] = one


def process_share(classes: Sequence[str]) -> float:
    """The share of a round's failures that lies in how the work was done; a half when nothing failed."""
    return round(classes.count("logical") / len(classes), 9) if classes else 0.5
