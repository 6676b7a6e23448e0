"""SQL experience: what there is of megrams, events and messages, in statements that both databases understand."""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar

from hindbrain.domain.brain import BrainId
from hindbrain.domain.experience import Effective, MegramEvent, MegramId, Pair
from hindbrain.policy.fading import DAY_MS, DECIMALS, FLOOR, OLDEST
from hindbrain.stores.experience_port import MegramFilter, PairSums, Stake, StoredMessage
from hindbrain.stores.experience_rows import EVENT, HELD, MESSAGE, effective_of, event_of, message_of
from hindbrain.stores.sql_rows import Row

__all__ = ["EACH", "PAGE", "POTENTIALS", "ExperienceReads"]

PAGE = 500  # megrams of one page of a stream

EACH = f"select {HELD} from megram m join megram_clock c on c.brain_id = m.brain_id and c.megram_id = m.id where m.brain_id = ?"
_LIVE = "c.consolidated_at is null and c.superseded_at is null"
_MORE = "\U0010ffff"  # after every id that begins as asked

# One index answers this: nothing is read of the megrams themselves.
_AGED = (
    f"select attention, decision, k * case when origin < ? then cast(? - origin as double precision) / {DAY_MS} else 0.0 end "
    f"as aged from megram_clock c where c.brain_id = ? and {_LIVE} and c.level <> 'T' and c.space = ?"
)
_SUMS = "select count(*), coalesce(sum(attention * exp(-spent)), 0.0), coalesce(sum(decision * exp(-spent)), 0.0) from "
_SPENT = f"(select attention, decision, case when aged > {OLDEST} then {OLDEST} else aged end as spent from"
SPACE_POTENTIALS = f"{_SUMS}{_SPENT} ({_AGED}) as dated) as counted"
POTENTIALS = f"{_SUMS}{_SPENT} ({_AGED} and c.entity = ?) as dated) as counted"

_WAITING = (
    "(select space, entity from megram_pair where brain_id = ? and unsettled + watch > 0{later} order by space, entity limit ?) p"
)
_DATED = (
    "select p.space as space, p.entity as entity, c.level as level, c.attention as attention, c.decision as decision, c.k as k, "
    f"c.k * case when c.origin < ? then cast(? - c.origin as double precision) / {DAY_MS} else 0.0 end as aged "
    f"from {_WAITING} left join megram_clock c "
    f"on c.brain_id = ? and c.space = p.space and c.entity = p.entity and {_LIVE} and c.level <> 'T'"
)
_OWN = "case when level in ('M', 'K') then"  # a rule's own weight is not what makes one
_LEFT = f"exp(-case when aged > {OLDEST} then {OLDEST} else aged end)"
_POINTING = "case when level in ('M', 'K') and decision <> 0 then k end"
STAKES = (
    "select s.space, s.entity, s.attention, s.decision, s.uneven, s.rules, "
    "case when exists (select 1 from megram m where m.brain_id = ? and m.space = s.space and m.entity = s.entity "
    "and m.category is not null) then 1 else 0 end from (select space, entity, "
    f"coalesce(sum({_OWN} attention * {_LEFT} end), 0.0) as attention, "
    f"coalesce(sum({_OWN} decision * {_LEFT} end), 0.0) as decision, "
    f"case when min({_POINTING}) < max({_POINTING}) then 1 else 0 end as uneven, "
    "max(case when level = 'C' then 1 else 0 end) as rules "
    f"from ({_DATED}) as dated group by space, entity) as s order by s.space, s.entity"
)

# Pairs with a megram that is below the floor by itself; of those, the ones without a megram that is not, and whose sum is not.
_WEAK = (
    "select c.space as space, c.entity as entity from megram_clock c "
    f"where c.brain_id = ? and c.fades_at is not null and {_LIVE} and c.fades_at <= ? group by c.space, c.entity"
)
_WEAK_DATED = (
    "select w.space as space, w.entity as entity, c.attention as attention, "
    "case when c.fades_at is null or c.fades_at > ? then 1 else 0 end as strong, "
    f"c.k * case when c.origin < ? then cast(? - c.origin as double precision) / {DAY_MS} else 0.0 end as aged "
    f"from ({_WEAK}) as w join megram_clock c "
    f"on c.brain_id = ? and c.space = w.space and c.entity = w.entity and {_LIVE} and c.level in ('M', 'K')"
)
_FADED = (
    "select c.megram_id from (select space, entity from "
    f"(select space, entity, max(strong) as strong, sum(attention * {_LEFT}) as total from ({_WEAK_DATED}) as dated "
    f"group by space, entity) as summed where strong = 0 and total < {FLOOR - 0.5 / 10**DECIMALS!r}) as p "
    f"join megram_clock c on c.brain_id = ? and c.space = p.space and c.entity = p.entity and {_LIVE} "
    "and c.level in ('M', 'K') order by c.fades_at, c.megram_id limit ?"
)


class ExperienceReads(ABC):
    """The reads of experience and messages."""

    brain_id: BrainId
    among: ClassVar[str]

    @abstractmethod
    def listed(self, values: Sequence[object]) -> object: ...

    @abstractmethod
    def _asked(self, statement: str, values: Sequence[object]) -> list[Row]: ...

    @abstractmethod
    def dreaming(self) -> AbstractContextManager[bool]:
        """Held by the one Dreamer of this store; False when another has it, in whichever process."""

    def potentials(self, pair: Pair, *, at: int) -> PairSums:
        return self._summed(POTENTIALS, (at, at, self.brain_id, pair.space, pair.entity))

    def space_potentials(self, space: str, *, at: int) -> PairSums:
        return self._summed(SPACE_POTENTIALS, (at, at, self.brain_id, space))

    def _summed(self, statement: str, values: Sequence[object]) -> PairSums:
        ((count, attention, decision),) = self._asked(statement, values)
        return PairSums(attention=float(attention), decision=float(decision), count=count)

    def effective(self, where: MegramFilter | None = None, *, limit: int | None = None) -> Iterator[Effective]:
        where = where or MegramFilter()
        said, values = "" if where.settled else f" and {_LIVE}", []  # type: str, list[object]
        named = {"c.space": where.space, "m.writer": where.writer, "m.task_id": where.task_id}
        if where.pair is not None:
            said += " and c.space = ? and c.entity = ?"
            values += [where.pair.space, where.pair.entity]
        for name, wanted in named.items():
            if wanted is not None:
                said += f" and {name} = ?"
                values.append(wanted)
        # Both tables have the same times and ids; the order is taken from the one whose index has it.
        by = ("m.created_at", "m.id") if where.task_id is not None else ("c.created_at", "c.megram_id")
        if where.levels is None:
            plain = where.pair is None and where.space is None
            yield from self._newest(said, values, limit, *(("m.created_at", "m.id") if plain else by))
            return
        # Each level has its own order in the index; a level of a few rules is not looked for among a million episodes.
        streams = [self._newest(f"{said} and c.level = ?", [*values, level], limit, *by) for level in dict.fromkeys(where.levels)]
        merged = heapq.merge(*streams, key=lambda one: (one.megram.created_at, one.megram.id), reverse=True)
        for number, one in enumerate(merged):
            if limit is not None and number >= limit:
                return
            yield one

    def _newest(self, said: str, values: list[object], limit: int | None, time: str, key: str) -> Iterator[Effective]:
        after, last = "", ()  # type: str, Row
        left = limit
        while left is None or left > 0:
            page = self._asked(
                f"{EACH}{said}{after} order by {time} desc, {key} desc limit ?",
                (self.brain_id, *values, *last, PAGE if left is None else min(left, PAGE)),
            )
            if not page:
                return
            found = [effective_of(row) for row in page]
            yield from found
            left = None if left is None else left - len(found)
            after, last = f" and ({time}, {key}) < (?, ?)", (found[-1].megram.created_at, found[-1].megram.id)

    def megrams(self, ids: Sequence[MegramId]) -> dict[MegramId, Effective]:
        if not ids:
            return {}
        rows = self._asked(f"{EACH} and m.id {self.among}", (self.brain_id, self.listed(list(ids))))
        found = {one.megram.id: one for one in map(effective_of, rows)}
        return {id_: found[id_] for id_ in ids if id_ in found}

    def megrams_like(self, prefix: str, *, limit: int) -> tuple[MegramId, ...]:
        found = self._asked(
            "select id from megram where brain_id = ? and id >= ? and id < ? order by id limit ?",
            (self.brain_id, prefix, prefix + _MORE, max(limit, 0)),
        )
        return tuple(row[0] for row in found)

    def megrams_tagged(self, tags: Sequence[str], *, limit: int) -> tuple[Effective, ...]:
        if not tags:
            return ()
        found = self._asked(
            "select t.megram_id from megram_tag t join megram_clock c on c.brain_id = t.brain_id and c.megram_id = t.megram_id "
            f"where t.brain_id = ? and t.tag {self.among} and {_LIVE} group by t.megram_id, c.created_at "
            "order by count(*) desc, c.created_at desc, t.megram_id desc limit ?",
            (self.brain_id, self.listed(list(dict.fromkeys(tags))), max(limit, 0)),
        )
        return tuple(self.megrams([row[0] for row in found]).values())

    def megram_events(self, megram_id: MegramId | None = None, *, after: int = 0, limit: int = 1000) -> tuple[MegramEvent, ...]:
        said, values = (" and megram_id = ?", (megram_id,)) if megram_id is not None else ("", ())
        found = self._asked(
            f"select {EVENT} from megram_event where brain_id = ? and seq > ?{said} order by seq limit ?",
            (self.brain_id, after, *values, max(limit, 0)),
        )
        return tuple(map(event_of, found))

    def pairs(self) -> Iterator[Pair]:
        last: tuple[str, str] = ("", "")
        first = ">="  # a pair of two empty names is a pair
        while page := self._asked(
            f"select p.space, p.entity from megram_pair p where p.brain_id = ? and (p.space, p.entity) {first} (?, ?) "
            "and exists (select 1 from megram_clock c where c.brain_id = p.brain_id and c.space = p.space "
            f"and c.entity = p.entity and {_LIVE}) order by p.space, p.entity limit {PAGE}",
            (self.brain_id, *last),
        ):
            yield from (Pair(space=space, entity=entity) for space, entity in page)
            last, first = (page[-1][0], page[-1][1]), ">"

    def unsettled_pairs(self, *, limit: int, after: Pair | None = None) -> tuple[Pair, ...]:
        later = (" and (space, entity) > (?, ?)", (after.space, after.entity)) if after is not None else ("", ())
        found = self._asked(
            f"select space, entity from megram_pair where brain_id = ? and unsettled + watch > 0{later[0]} "
            "order by space, entity limit ?",
            (self.brain_id, *later[1], max(limit, 0)),
        )
        return tuple(Pair(space=space, entity=entity) for space, entity in found)

    def stakes(self, *, at: int, limit: int, after: Pair | None = None) -> tuple[Stake, ...]:
        later = (" and (space, entity) > (?, ?)", (after.space, after.entity)) if after is not None else ("", ())
        found = self._asked(
            STAKES.format(later=later[0]), (self.brain_id, at, at, self.brain_id, *later[1], max(limit, 0), self.brain_id)
        )
        return tuple(
            Stake(
                pair=Pair(space=space, entity=entity),
                attention=float(attention),
                decision=float(decision),
                uneven=bool(uneven),
                rules=bool(rules),
                categorised=bool(named),
            )
            for space, entity, attention, decision, uneven, rules, named in found
        )

    def faded(self, *, at: int, limit: int) -> tuple[MegramId, ...]:
        found = self._asked(_FADED, (at, at, at, self.brain_id, at, self.brain_id, self.brain_id, max(limit, 0)))
        return tuple(row[0] for row in found)

    def spent(self, *, before: int, limit: int) -> tuple[MegramId, ...]:
        found = self._asked(
            "select megram_id from megram_clock where brain_id = ? and consolidated_at is not null and consolidated_at < ? "
            "order by consolidated_at, megram_id limit ?",
            (self.brain_id, before, max(limit, 0)),
        )
        return tuple(row[0] for row in found)

    def level_counts(self) -> dict[str, int]:
        found = self._asked(
            f"select level, count(*) from megram_clock c where brain_id = ? and {_LIVE} group by level order by level",
            (self.brain_id,),
        )
        return dict(found)

    def messages(
        self, *, after: int = 0, limit: int = 1000, task_id: str | None = None, recipient: str | None = None
    ) -> tuple[StoredMessage, ...]:
        said, values = "", []  # type: str, list[object]
        for name, wanted in (("task_id", task_id), ("recipient", recipient)):
            if wanted is not None:
                said += f" and {name} = ?"
                values.append(wanted)
        found = self._asked(
            f"select {MESSAGE} from control_message where brain_id = ? and seq > ?{said} order by seq limit ?",
            (self.brain_id, after, *values, max(limit, 0)),
        )
        return tuple(map(message_of, found))

    def tasks(self, *, limit: int) -> tuple[str, ...]:
        found = self._asked(
            "select task_id from control_message where brain_id = ? and task_id is not null group by task_id "
            "order by min(seq) desc limit ?",
            (self.brain_id, max(limit, 0)),
        )
        return tuple(row[0] for row in found)
