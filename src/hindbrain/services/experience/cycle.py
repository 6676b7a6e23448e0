"""A cycle of dreaming over one brain: forgetting, then trust, then consolidation. Looks only at what has faded, at pairs that got
something new, and at those it watches; decides by `engines.dreaming` and writes in small transactions."""

import json
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.experience import (
    Effective,
    EventKind,
    Level,
    Megram,
    MegramEvent,
    MegramId,
    Pair,
    Writer,
    befallen,
    fresh,
)
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import Role
from hindbrain.engines.distilling import Distilled, checked, extracted, prompt
from hindbrain.engines.dreaming import Group, Judged, at_stake, judged, staged
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.hypotheses import Hypothesis, cluster_of, hypotheses
from hindbrain.engines.potentials import settled
from hindbrain.policy.experience import BANKRUPTCY, PROMOTION_K, RULE_STATES, SOURCES_TOLD, Rules
from hindbrain.policy.fading import DAY_MS
from hindbrain.policy.tools import TOOLS
from hindbrain.services.control.ports import Mind
from hindbrain.services.experience.drafts import Draft, made
from hindbrain.services.experience.experience import feedback
from hindbrain.stores.port import BrainStore, MegramFilter, Stake
from hindbrain.stores.port import Writer as Transaction

__all__ = ["Cycle", "Dreamt", "Promoted"]

LOG = logging.getLogger("hindbrain.dreamer")

_FORGET_PAGE = 1_000
_STAKES_PAGE = 2_000
_PAIR_PAGE = 100  # pairs in one transaction: other writers wait no longer than for so many
_DERIVED_MOST = 1_000  # sources that a rule names; the events name all
_TAGS_MOST = 5
_CLUSTERS_MOST = 500  # rules that a new one is compared with, the newest first
_AGAINST = "Newer experience points the other way."


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """A group that became a rule."""

    pair: Pair
    sign: int
    text: str
    by: str
    sources: int
    id: MegramId | None = None
    cut: bool = False


@dataclass(slots=True, kw_only=True)
class Dreamt:
    """What a cycle did, or would do."""

    dry_run: bool = False
    skipped: bool = False  # another Dreamer has this brain
    complete: bool = True
    forgotten: int = 0
    spent: int = 0
    pairs: int = 0
    demoted: list[MegramId] = field(default_factory=list)
    staged: int = 0
    promoted: list[Promoted] = field(default_factory=list)
    supposed: list[Hypothesis] = field(default_factory=list)  # combinations of tools that new rules suggest
    failed: int = 0  # groups that no rule could be worded for; they are tried again
    elapsed_ms: int = 0

    @property
    def changed(self) -> bool:
        return bool(self.forgotten or self.spent or self.demoted or self.staged or self.promoted)

    def counts(self) -> dict[str, int]:
        return {
            "forgotten": self.forgotten,
            "spent": self.spent,
            "pairs": self.pairs,
            "demoted": len(self.demoted),
            "staged": self.staged,
            "promoted": len(self.promoted),
            "hypotheses": len(self.supposed),
            "failed": self.failed,
            "elapsed_ms": self.elapsed_ms,
        }


Deposit = Callable[[Transaction, Megram], bool]


class Cycle:
    """One look at a brain. `mind` words rules where there is one; `ends` is when to stop, by the monotonic clock."""

    def __init__(
        self,
        store: BrainStore,
        deposit: Deposit,
        *,
        clock: Callable[[], int],
        rules: Rules,
        mind: Mind | None = None,
        ends: float | None = None,
        given_up: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._deposit = deposit
        self._clock = clock
        self._rules = rules
        self._mind = mind
        self._ends = ends
        self._given_up = given_up  # whether the brain is being closed: then nothing more is written

    def run(self, *, dry_run: bool = False) -> Dreamt:
        """A whole cycle, in its order."""
        began = time.monotonic()
        done = Dreamt(dry_run=dry_run)
        with self._store.dreaming() as mine:
            if not mine and not dry_run:
                LOG.info("another Dreamer has this brain; this cycle is skipped")
                return replace(done, skipped=True)
            now = self._clock()
            if dry_run:
                self._foresee(done, now)
            else:
                self._forget(done, now)
                after: Pair | None = None
                while self._goes_on(done) and (after := self._settle_next(after, done, now)) is not None:
                    pass
                self._suppose(done, now)
        return self._told(done, began)

    def only(self, pairs: Sequence[Pair]) -> Dreamt:
        """Just these pairs, without waiting for a whole cycle."""
        began = time.monotonic()
        done = Dreamt()
        with self._store.dreaming() as mine:
            if not mine:
                return replace(done, skipped=True)
            now = self._clock()
            for start in range(0, len(pairs), _PAIR_PAGE):
                if self._goes_on(done):
                    self._settle(pairs[start : start + _PAIR_PAGE], done, now)
            self._suppose(done, now)
        return self._told(done, began)

    def _told(self, done: Dreamt, began: float) -> Dreamt:
        done.elapsed_ms = round((time.monotonic() - began) * 1000)
        if done.changed and not done.dry_run and not self._given_up():
            act = Act(
                act="dream.cycle",
                subject="experience",
                actor=Writer.DREAMER.value,
                channel=Channel.DREAM,
                at=self._clock(),
                payload=done.counts(),
            )
            with self._store.writing() as writer:
                writer.append(act)
        LOG.info("dreamt%s: %s", " (only looked)" if done.dry_run else "", done.counts())
        return done

    # -- forgetting --------------------------------------------------------------------------------------------------

    def _forget(self, done: Dreamt, now: int) -> None:
        before = now - self._rules.keep_days * DAY_MS
        done.forgotten = self._erase(lambda: self._store.faded(at=now, limit=_FORGET_PAGE), now, done)
        done.spent = self._erase(lambda: self._store.spent(before=before, limit=_FORGET_PAGE), now, done)

    def _erase(self, found: Callable[[], Sequence[MegramId]], now: int, done: Dreamt) -> int:
        total = 0
        while self._goes_on(done) and (ids := found()):
            with self._store.writing() as writer:
                gone = writer.forget_megrams(ids, at=now)
            total += gone
            if not gone:
                break
        return total

    def _foresee(self, done: Dreamt, now: int) -> None:
        """What a cycle would do, without doing it."""
        faded = set(self._store.faded(at=now, limit=2**31))
        done.forgotten = len(faded)
        done.spent = len(self._store.spent(before=now - self._rules.keep_days * DAY_MS, limit=2**31))
        pairs: Iterable[Pair] = self._store.unsettled_pairs(limit=2**31)
        lost = {one.megram.pair for one in self._store.megrams(list(faded)).values()}
        for pair in sorted({*pairs, *lost}):
            left = [one for one in self._held(pair) if one.megram.id not in faded]
            done.pairs += 1
            steps = staged(left, self._rules)
            found = judged(pair, _stepped(left, steps, now), now, self._rules)
            done.staged += len(steps)
            done.demoted += found.demoted
            if found.group is not None:
                rule = _extractive(found.group)
                done.promoted.append(_promoted(pair, found.group, rule))
        done.supposed += self._suggested(done)

    # -- hypotheses --------------------------------------------------------------------------------------------------

    def _suppose(self, done: Dreamt, now: int) -> None:
        """Record which combinations of tools the new rules suggest, as guesses that fade. Nobody is advised of them."""
        found = self._suggested(done) if self._goes_on(done) else ()
        if not found:
            return
        with self._store.writing() as writer:
            for one in found:
                sources = tuple(each.rule for each in one.sources if each.rule is not None)
                draft = Draft(
                    id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"hindbrain:hypothesis:{one.pair.entity}")),
                    space=one.pair.space,
                    entity=one.pair.entity,
                    content=one.text,
                    state="hypothesis",
                    derived_from=sources,
                )
                if self._deposit(writer, made(draft, Writer.DREAMER, now=now, clean=redacted)):
                    done.supposed.append(one)
            writer.settle_pairs([one.pair for one in found])

    def _suggested(self, done: Dreamt) -> tuple[Hypothesis, ...]:
        """Only a new rule suggests something: a cycle without new data changes nothing."""
        new = [cluster_of(one.pair, one.text, known=TOOLS, rule=one.id) for one in done.promoted if one.sign > 0]
        if not new:
            return ()
        made_now = {one.rule for one in new}
        held = self._store.effective(MegramFilter(levels=(Level.C.value,)), limit=_CLUSTERS_MOST)
        others = [
            cluster_of(one.megram.pair, one.megram.content, known=TOOLS, rule=one.megram.id)
            for one in held
            if one.megram.sigma > 0 and one.megram.writer is Writer.DREAMER and one.megram.id not in made_now
        ]
        return hypotheses(new, others, list(TOOLS))

    # -- trust and consolidation -------------------------------------------------------------------------------------

    def _goes_on(self, done: Dreamt) -> bool:
        if self._given_up() or (self._ends is not None and time.monotonic() >= self._ends):
            done.complete = False
            return False
        return True

    def _settle_next(self, after: Pair | None, done: Dreamt, now: int) -> Pair | None:
        """Settle the pairs that wait after this one, as many as a page has; the last of them. Those in which nothing is at stake
        are not even read."""
        with self._store.writing() as writer:
            page = self._store.stakes(at=now, limit=_STAKES_PAGE, after=after)
            read = [one.pair for one in page if self._at_stake(one)]
            looked = read[:_PAIR_PAGE]
            ends = read[_PAIR_PAGE] if len(read) > _PAIR_PAGE else None  # from here on the next page looks
            named = set(read)
            quiet = [one.pair for one in page if one.pair not in named and (ends is None or one.pair < ends)]
            writer.settle_pairs(quiet)
        done.pairs += len(quiet)
        if looked:
            self._settle(looked, done, now)
        return max((*quiet, *looked), default=None)

    def _at_stake(self, one: Stake) -> bool:
        sums = settled(one.attention, one.decision)
        return at_stake(sums, uneven=one.uneven, rules=one.rules, categorised=one.categorised, chosen=self._rules)

    def _settle(self, page: Sequence[Pair], done: Dreamt, now: int) -> None:
        """Look at pairs and settle them in one transaction; what a model must word first is settled after it answered."""
        waiting: list[tuple[Judged, Group, list[Effective]]] = []
        with self._store.writing() as writer:
            quiet: list[Pair] = []
            watch: list[Pair] = []
            for pair in page:
                done.pairs += 1
                held = self._staged(writer, self._held(pair), done, now)
                found = judged(pair, held, now, self._rules)
                if found.group is not None and self._thinks():
                    waiting.append((found, found.group, held))
                    continue
                rule = _extractive(found.group) if found.group is not None else None
                (watch if self._apply(writer, found, held, rule, done, now) else quiet).append(pair)
            writer.settle_pairs(quiet, watch=watch)
        for found, group, held in waiting:
            if self._goes_on(done):
                self._worded(found, group, held, done, now)

    def _thinks(self) -> bool:
        return self._mind is not None and self._mind.tier(Role.MEMORY) > 0

    def _worded(self, found: Judged, group: Group, held: list[Effective], done: Dreamt, now: int) -> None:
        """A rule in the words of a model. Nothing is written when it fails, nor when the group changed while it thought."""
        rule = self._asked(found.pair, group)
        if self._given_up():
            return
        with self._store.writing() as writer:
            again = self._held(found.pair)
            if _ids(again) != _ids(held):
                return  # it stays unsettled: the next look sees what came meanwhile
            if rule is None:
                done.failed += 1
                found = replace(found, group=None, watch=True)
            watch = self._apply(writer, found, held, rule, done, now) or rule is None
            writer.settle_pairs([] if watch else [found.pair], watch=[found.pair] if watch else [])

    def _asked(self, pair: Pair, group: Group) -> Distilled | None:
        if self._mind is None:
            return _extractive(group)
        system, user = prompt(pair.space, pair.entity, group.sign, [one.megram.content for one in group.sources[:SOURCES_TOLD]])
        try:
            thought = self._mind.think(Role.MEMORY, task_id=None, system=system, user=user, max_tokens=300)
        except (HindbrainError, OSError) as failure:
            LOG.warning("no rule for a group of %d: %s", len(group.sources), failure)
            return None
        if thought is None:
            return _extractive(group)
        rule = checked(thought.text, f"{thought.provider}:{thought.model}")
        if rule is not None and rule.cut:
            LOG.warning("rule_cut: %s said more than two sentences", rule.by)
        return rule

    def _held(self, pair: Pair) -> list[Effective]:
        return list(self._store.effective(MegramFilter(pair=pair)))

    def _staged(self, writer: Transaction, held: list[Effective], done: Dreamt, now: int) -> list[Effective]:
        steps = staged(held, self._rules)
        for step in steps:
            writer.put_megram_event(MegramEvent(megram_id=step.megram_id, kind=step.kind, at=now, level=step.level))
        done.staged += len(steps)
        return _stepped(held, steps, now)

    def _apply(
        self, writer: Transaction, found: Judged, held: Sequence[Effective], rule: Distilled | None, done: Dreamt, now: int
    ) -> bool:
        """Carry a judgement out; whether the pair is to be watched."""
        after = {one.megram.id: one for one in held}
        self._demote(writer, found.demoted, after, done, now)
        if found.group is None or rule is None:
            return found.watch
        self._promote(writer, found.pair, found.group, rule, after, done, now)
        # A rule that the new one contradicts may have lost its trust by that very moment.
        again = judged(found.pair, list(after.values()), now, self._rules)
        self._demote(writer, again.demoted, after, done, now)
        return again.watch or again.group is not None

    def _demote(
        self, writer: Transaction, ids: Iterable[MegramId], after: dict[MegramId, Effective], done: Dreamt, now: int
    ) -> None:
        for id_ in ids:
            event = MegramEvent(megram_id=id_, kind=EventKind.DEMOTED, at=now, level=Level.K, k=BANKRUPTCY)
            writer.put_megram_event(event)
            after[id_] = befallen(after[id_], event)
            done.demoted.append(id_)

    def _promote(
        self,
        writer: Transaction,
        pair: Pair,
        group: Group,
        rule: Distilled,
        after: dict[MegramId, Effective],
        done: Dreamt,
        now: int,
    ) -> None:
        for opposite in group.against:
            megram = made(feedback(opposite, _AGAINST), Writer.DREAMER, now=now)
            self._deposit(writer, megram)
            after[megram.id] = fresh(megram)
        sources = [one.megram.id for one in group.sources]
        megram = made(_rule(pair, group, rule), Writer.DREAMER, now=now, clean=redacted)
        self._deposit(writer, megram)
        after[megram.id] = fresh(megram)
        detail = json.dumps({"distilled_by": rule.by, "sources": len(sources), "cut": rule.cut})
        writer.carry_megrams(sources, into=megram.id, at=now, detail=detail)
        for id_ in sources:
            after[id_] = replace(after[id_], consolidated_at=now)
        for id_ in group.supersedes:
            event = MegramEvent(megram_id=id_, kind=EventKind.SUPERSEDED, at=now, into_id=megram.id)
            writer.put_megram_event(event)
            after[id_] = befallen(after[id_], event)
        done.promoted.append(replace(_promoted(pair, group, rule), id=megram.id))


def _extractive(group: Group) -> Distilled:
    contents = [one.megram.content for one in group.sources]
    return extracted(contents, group.sign, agreeing=group.agreeing, total=len(contents))


def _promoted(pair: Pair, group: Group, rule: Distilled) -> Promoted:
    return Promoted(pair=pair, sign=group.sign, text=rule.text, by=rule.by, sources=len(group.sources), cut=rule.cut)


def _rule(pair: Pair, group: Group, rule: Distilled) -> Draft:
    named: dict[str, int] = {}
    for one in group.sources:
        for tag in one.megram.tags:
            named[tag] = named.get(tag, 0) + 1
    shared = [
        tag for tag, times in sorted(named.items(), key=lambda item: (-item[1], item[0])) if 2 * times >= len(group.sources)
    ]
    return Draft(
        space=pair.space,
        entity=pair.entity,
        content=rule.text,
        state=RULE_STATES[group.sign],
        level=Level.C,
        f=1.0,
        sigma=float(group.sign),
        k=PROMOTION_K,
        category=group.category,
        tags=tuple(shared[:_TAGS_MOST]),
        derived_from=tuple(one.megram.id for one in group.sources[:_DERIVED_MOST]),
        supersedes=group.supersedes[0] if group.supersedes else None,
    )


def _stepped(held: Sequence[Effective], steps: Sequence[Any], now: int) -> list[Effective]:
    by_id = {step.megram_id: MegramEvent(megram_id=step.megram_id, kind=step.kind, at=now, level=step.level) for step in steps}
    return [befallen(one, by_id[one.megram.id]) if one.megram.id in by_id else one for one in held]


def _ids(held: Iterable[Effective]) -> set[MegramId]:
    return {one.megram.id for one in held}
