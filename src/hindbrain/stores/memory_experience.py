"""Memory's experience: what the databases must do with megrams and messages, said as plainly as Python can."""

import bisect
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import fsum

from hindbrain.domain.experience import (
    Effective,
    EventKind,
    Level,
    Megram,
    MegramEvent,
    MegramId,
    Pair,
    befallen,
    fresh,
    recalled,
)
from hindbrain.policy.fading import DECIMALS, FLOOR, age_days, decayed, gone_at, weights
from hindbrain.stores.experience_port import MegramFilter, PairSums, Stake, StoredMessage
from hindbrain.stores.experience_rows import epitaph, forgotten_beside, message_taken, unknown_megram
from hindbrain.stores.memory_cards import CardState, MemoryCardWriter

__all__ = ["ExperienceState", "MemoryExperienceReads", "MemoryExperienceWriter"]


@dataclass(slots=True)
class ExperienceState(CardState):
    """What a brain holds of experience, and the messages of its control loop."""

    megrams: dict[MegramId, Effective] = field(default_factory=dict)
    by_pair: dict[Pair, tuple[MegramId, ...]] = field(default_factory=dict)
    megram_events: list[MegramEvent] = field(default_factory=list)
    unsettled: set[Pair] = field(default_factory=set)
    watched: set[Pair] = field(default_factory=set)
    messages: list[StoredMessage] = field(default_factory=list)  # in order
    message_ids: set[str] = field(default_factory=set)

    def of_pair(self, pair: Pair) -> list[Effective]:
        return [self.megrams[id_] for id_ in self.by_pair.get(pair, ())]


class MemoryExperienceWriter(MemoryCardWriter):
    """The part of a transaction that keeps experience and messages."""

    def __init__(self, state: ExperienceState) -> None:
        super().__init__(state)
        self._experience = state

    def put_megram(self, megram: Megram) -> bool:
        state = self._experience
        if megram.id in state.megrams:
            return False
        state.megrams[megram.id] = fresh(megram)
        state.by_pair[megram.pair] = (*state.by_pair.get(megram.pair, ()), megram.id)
        state.unsettled.add(megram.pair)
        return True

    def put_megram_event(self, event: MegramEvent) -> MegramEvent:
        held = self._experience.megrams.get(event.megram_id)
        if event.kind is EventKind.FORGOTTEN:
            if held is not None:
                raise forgotten_beside(event.megram_id)
            return self._told(event)
        if held is None:
            raise unknown_megram(event.megram_id)
        self._experience.megrams[event.megram_id] = befallen(held, event)
        if event.kind is EventKind.RESTORED:
            self._experience.unsettled.add(held.megram.pair)
        return self._told(event)

    def carry_megrams(self, ids: Sequence[MegramId], *, into: MegramId, at: int, detail: str = "{}") -> None:
        for id_ in dict.fromkeys(ids):
            self.put_megram_event(MegramEvent(megram_id=id_, kind=EventKind.CONSOLIDATED, at=at, into_id=into, detail=detail))

    def _told(self, event: MegramEvent) -> MegramEvent:
        events = self._experience.megram_events
        events.append(replace(event, seq=len(events) + 1))
        return events[-1]

    def recall_megrams(self, ids: Sequence[MegramId], *, at: int) -> None:
        for held in self._held(ids):
            self._experience.megrams[held.megram.id] = now = recalled(held, at)
            if held.k and now.origin != held.origin:
                self._experience.unsettled.add(held.megram.pair)

    def restore_recall(self, megram_id: MegramId, *, last_recalled_at: int, recalls: int) -> None:
        for held in self._held((megram_id,)):
            self._experience.megrams[megram_id] = replace(recalled(held, last_recalled_at), recalls=recalls)

    def _held(self, ids: Iterable[MegramId]) -> list[Effective]:
        held = self._experience.megrams
        return [held[id_] for id_ in dict.fromkeys(ids) if id_ in held]

    def forget_megrams(self, ids: Sequence[MegramId], *, at: int) -> int:
        state, gone = self._experience, self._held(ids)
        for held in gone:
            pair = held.megram.pair
            del state.megrams[held.megram.id]
            state.by_pair[pair] = tuple(id_ for id_ in state.by_pair[pair] if id_ != held.megram.id)
            state.unsettled.add(pair)
            if not state.by_pair[pair]:
                del state.by_pair[pair]
                state.unsettled.discard(pair)
                state.watched.discard(pair)
            self._told(epitaph(held.megram, at))
        return len(gone)

    def settle_pairs(self, pairs: Sequence[Pair], *, watch: Sequence[Pair] = ()) -> None:
        state = self._experience
        state.unsettled -= {*pairs, *watch}
        state.watched -= set(pairs)
        state.watched |= {pair for pair in watch if pair in state.by_pair}

    def rebuild_clocks(self) -> int:
        state, changed = self._experience, 0
        for id_, held in state.megrams.items():
            now = fresh(held.megram)
            for event in state.megram_events:
                if event.megram_id == id_:
                    now = befallen(now, event)
            if held.last_recalled_at is not None:
                now = replace(recalled(now, held.last_recalled_at), recalls=held.recalls)
            changed += now != held
            state.megrams[id_] = now
        return changed

    def put_message(self, message: StoredMessage) -> None:
        state = self._experience
        place = bisect.bisect_left(state.messages, message.seq, key=lambda one: one.seq)
        if message.id in state.message_ids or any(one.seq == message.seq for one in state.messages[place : place + 1]):
            raise message_taken(message)
        state.messages.insert(place, message)
        state.message_ids.add(message.id)

    def erase_messages(self, task_ids: Sequence[str]) -> int:
        state, before = self._experience, len(self._experience.messages)
        state.messages = [one for one in state.messages if one.task_id not in task_ids]
        state.message_ids = {one.id for one in state.messages}
        return before - len(state.messages)


class MemoryExperienceReads:
    """The reads of experience and messages."""

    _state: ExperienceState
    _dreams: threading.Lock

    def potentials(self, pair: Pair, *, at: int) -> PairSums:
        return _sums(self._state.of_pair(pair), at)

    def space_potentials(self, space: str, *, at: int) -> PairSums:
        state = self._state
        return _sums([held for pair in state.by_pair if pair.space == space for held in state.of_pair(pair)], at)

    def effective(self, where: MegramFilter | None = None, *, limit: int | None = None) -> Iterator[Effective]:
        where = where or MegramFilter()
        state = self._state
        held = state.megrams.values() if where.pair is None else state.of_pair(where.pair)
        found = _newest(one for one in held if _admitted(where, one))
        yield from found if limit is None else found[: max(limit, 0)]

    def megrams(self, ids: Sequence[MegramId]) -> dict[MegramId, Effective]:
        held = self._state.megrams
        return {id_: held[id_] for id_ in ids if id_ in held}

    def megrams_like(self, prefix: str, *, limit: int) -> tuple[MegramId, ...]:
        return tuple(sorted(id_ for id_ in self._state.megrams if id_.startswith(prefix))[: max(limit, 0)])

    def megrams_tagged(self, tags: Sequence[str], *, limit: int) -> tuple[Effective, ...]:
        wanted = set(tags)
        found = _newest(one for one in self._state.megrams.values() if one.live and wanted & set(one.megram.tags))
        return tuple(sorted(found, key=lambda one: -len(wanted & set(one.megram.tags)))[: max(limit, 0)])

    def megram_events(self, megram_id: MegramId | None = None, *, after: int = 0, limit: int = 1000) -> tuple[MegramEvent, ...]:
        found = [one for one in self._state.megram_events[max(after, 0) :] if megram_id in (None, one.megram_id)]
        return tuple(found[: max(limit, 0)])

    def pairs(self) -> Iterator[Pair]:
        state = self._state
        yield from sorted(pair for pair in state.by_pair if any(held.live for held in state.of_pair(pair)))

    def unsettled_pairs(self, *, limit: int, after: Pair | None = None) -> tuple[Pair, ...]:
        found = sorted(pair for pair in self._state.unsettled | self._state.watched if after is None or pair > after)
        return tuple(found[: max(limit, 0)])

    def stakes(self, *, at: int, limit: int, after: Pair | None = None) -> tuple[Stake, ...]:
        found = []
        for pair in self.unsettled_pairs(limit=limit, after=after):
            held = self._state.of_pair(pair)
            own = [one for one in held if one.live and one.level in (Level.M, Level.K)]
            both = _sums(own, at)
            found.append(
                Stake(
                    pair=pair,
                    attention=both.attention,
                    decision=both.decision,
                    uneven=len({one.k for one in own if weights(one.megram.f, one.megram.sigma)[1]}) > 1,
                    rules=any(one.live and one.level is Level.C for one in held),
                    categorised=any(one.megram.category is not None for one in held),
                )
            )
        return tuple(found)

    def faded(self, *, at: int, limit: int) -> tuple[MegramId, ...]:
        pairs: dict[Pair, list[Effective]] = {}
        for one in self._state.megrams.values():
            if one.live and one.level in (Level.M, Level.K):
                pairs.setdefault(one.megram.pair, []).append(one)
        gone = [
            (when, one.megram.id)
            for held in pairs.values()
            if round(_sums(held, at).attention, DECIMALS) < FLOOR
            for one in held
            if (when := gone_at(one)) is not None
        ]
        return tuple(id_ for _, id_ in sorted(gone))[: max(limit, 0)]

    def spent(self, *, before: int, limit: int) -> tuple[MegramId, ...]:
        held = self._state.megrams.items()
        carried = sorted((one.consolidated_at, id_) for id_, one in held if one.consolidated_at is not None)
        return tuple(id_ for since, id_ in carried if since < before)[: max(limit, 0)]

    def level_counts(self) -> dict[str, int]:
        return dict(sorted(Counter(one.level.value for one in self._state.megrams.values() if one.live).items()))

    @contextmanager
    def dreaming(self) -> Iterator[bool]:
        mine = self._dreams.acquire(blocking=False)
        try:
            yield mine
        finally:
            if mine:
                self._dreams.release()

    def messages(
        self, *, after: int = 0, limit: int = 1000, task_id: str | None = None, recipient: str | None = None
    ) -> tuple[StoredMessage, ...]:
        held = self._state.messages
        later = held[bisect.bisect_right(held, after, key=lambda one: one.seq) :]
        found = [one for one in later if task_id in (None, one.task_id) and recipient in (None, one.recipient)]
        return tuple(found[: max(limit, 0)])

    def tasks(self, *, limit: int) -> tuple[str, ...]:
        begun = dict.fromkeys(one.task_id for one in self._state.messages if one.task_id is not None)
        return tuple(reversed(begun))[: max(limit, 0)]


def _newest(held: Iterable[Effective]) -> list[Effective]:
    return sorted(held, key=lambda one: (one.megram.created_at, one.megram.id), reverse=True)


def _sums(held: Iterable[Effective], at: int) -> PairSums:
    counted = [one for one in held if one.live and one.level is not Level.T]
    parts = [
        tuple(decayed(weight, one.k, age_days(one.origin, at)) for weight in weights(one.megram.f, one.megram.sigma))
        for one in counted
    ]
    return PairSums(attention=fsum(part[0] for part in parts), decision=fsum(part[1] for part in parts), count=len(counted))


def _admitted(where: MegramFilter, one: Effective) -> bool:
    megram = one.megram
    return (
        where.pair in (None, megram.pair)
        and where.space in (None, megram.space)
        and (where.levels is None or one.level.value in where.levels)
        and where.writer in (None, megram.writer.value)
        and where.task_id in (None, megram.task_id)
        and (where.settled or one.live)
    )
