"""SQL experience, writing: megrams, what befell them, what counts of them now, and messages, in one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hindbrain.domain.brain import BrainId
from hindbrain.domain.experience import Effective, EventKind, Megram, MegramEvent, MegramId, Pair, befallen, fresh, recalled
from hindbrain.stores.experience_port import StoredMessage
from hindbrain.stores.experience_rows import (
    CLOCK,
    EVENT,
    MEGRAM,
    clock_values,
    effective_of,
    epitaph,
    event_of,
    event_values,
    forgotten_beside,
    megram_of,
    megram_values,
    message_taken,
    message_values,
    unknown_megram,
)
from hindbrain.stores.sql_experience import EACH, PAGE
from hindbrain.stores.sql_rows import Session, TextIndex, insert, upsert

__all__ = ["ExperienceWriter"]

ERASING = "erasing"  # the note under which rows that are only added to may go
_WIDE = len(MEGRAM.split(", "))


class ExperienceWriter:
    """The part of a write transaction that keeps experience and messages."""

    _session: Session
    _index: TextIndex
    _brain: BrainId
    erased: bool
    _last_event: int | None = None

    def put_megram(self, megram: Megram) -> bool:
        made = self._session.rows(
            f"{insert('megram')} on conflict do nothing returning id", (self._brain, *megram_values(megram))
        )
        if not made:
            return False
        self._session.rows(insert("megram_clock"), (self._brain, *clock_values(fresh(megram))))
        if megram.tags:
            self._session.insert_many("megram_tag", [(self._brain, tag, megram.id) for tag in dict.fromkeys(megram.tags)])
        self._unsettle(megram.pair)
        return True

    def _unsettle(self, pair: Pair) -> None:
        self._session.rows(
            f"{insert('megram_pair')} on conflict (brain_id, space, entity) do update set unsettled = 1 "
            "where megram_pair.unsettled = 0",
            (self._brain, pair.space, pair.entity, 1, 0),
        )

    def _held(self, ids: Iterable[MegramId]) -> list[Effective]:
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return []
        rows = self._session.rows(f"{EACH} and m.id {self._index.among}", (self._brain, self._index.listed(wanted)))
        found = {one.megram.id: one for one in map(effective_of, rows)}
        return [found[id_] for id_ in wanted if id_ in found]

    def put_megram_event(self, event: MegramEvent) -> MegramEvent:
        held = self._held((event.megram_id,))
        if event.kind is EventKind.FORGOTTEN:
            if held:
                raise forgotten_beside(event.megram_id)
            return self._told(event)
        if not held:
            raise unknown_megram(event.megram_id)
        self._set_clock(befallen(held[0], event))
        if event.kind is EventKind.RESTORED:
            self._unsettle(held[0].megram.pair)
        return self._told(event)

    def _set_clock(self, held: Effective) -> None:
        self._session.rows(upsert("megram_clock", "megram_id"), (self._brain, *clock_values(held)))

    def carry_megrams(self, ids: Sequence[MegramId], *, into: MegramId, at: int, detail: str = "{}") -> None:
        wanted = list(dict.fromkeys(ids))
        held = self._session.rows(
            f"select megram_id from megram_clock where brain_id = ? and megram_id {self._index.among}",
            (self._brain, self._index.listed(wanted)),
        )
        if missing := set(wanted) - {row[0] for row in held}:
            raise unknown_megram(min(missing))
        rows = [(at, self._brain, id_) for id_ in wanted]
        self._session.update_many("megram_clock", ("consolidated_at",), ("brain_id", "megram_id"), rows)
        self._told_all(
            MegramEvent(megram_id=id_, kind=EventKind.CONSOLIDATED, at=at, into_id=into, detail=detail) for id_ in wanted
        )

    def _told(self, event: MegramEvent) -> MegramEvent:
        return self._told_all((event,))[0]

    def _told_all(self, events: Iterable[MegramEvent]) -> list[MegramEvent]:
        if self._last_event is None:
            ((self._last_event,),) = self._session.rows(
                "select coalesce(max(seq), 0) from megram_event where brain_id = ?", (self._brain,)
            )
        told = [replace(event, seq=self._last_event + turn) for turn, event in enumerate(events, 1)]
        self._last_event += len(told)
        if len(told) == 1:
            self._session.rows(insert("megram_event"), (self._brain, *event_values(told[0])))
        elif told:
            self._session.insert_many("megram_event", [(self._brain, *event_values(one)) for one in told])
        return told

    def recall_megrams(self, ids: Sequence[MegramId], *, at: int) -> None:
        for held in self._held(ids):
            self._set_clock(now := recalled(held, at))
            if held.k and now.origin != held.origin:
                self._unsettle(held.megram.pair)

    def restore_recall(self, megram_id: MegramId, *, last_recalled_at: int, recalls: int) -> None:
        for held in self._held((megram_id,)):
            self._set_clock(replace(recalled(held, last_recalled_at), recalls=recalls))

    def forget_megrams(self, ids: Sequence[MegramId], *, at: int) -> int:
        gone = self._held(ids)
        for table, key in (("megram_tag", "megram_id"), ("megram_clock", "megram_id"), ("megram", "id")):
            self._let_go(table, key, [held.megram.id for held in gone])
        self._told_all(epitaph(held.megram, at) for held in gone)
        for pair in dict.fromkeys(held.megram.pair for held in gone):
            left = self._session.rows(
                "select 1 from megram_clock where brain_id = ? and space = ? and entity = ? limit 1",
                (self._brain, pair.space, pair.entity),
            )
            if left:
                self._unsettle(pair)
            else:
                self._session.rows(
                    "delete from megram_pair where brain_id = ? and space = ? and entity = ?",
                    (self._brain, pair.space, pair.entity),
                )
        return len(gone)

    def _let_go(self, table: str, key: str, values: Sequence[str]) -> None:
        """Rows go while the note stands that lets them; it is gone again before anybody else can see it."""
        if not values:
            return
        self._session.rows(upsert("meta", "key"), (self._brain, ERASING, table))
        self._session.delete_many(table, ("brain_id", key), [(self._brain, value) for value in values])
        self._session.rows("delete from meta where brain_id = ? and key = ?", (self._brain, ERASING))
        self._index.erasing(self._session, None)
        self.erased = True

    def settle_pairs(self, pairs: Sequence[Pair], *, watch: Sequence[Pair] = ()) -> None:
        watched = set(watch)
        for pair in dict.fromkeys((*pairs, *watch)):
            self._session.rows(
                "update megram_pair set unsettled = 0, watch = ? where brain_id = ? and space = ? and entity = ? "
                "and (unsettled <> 0 or watch <> ?)",
                (int(pair in watched), self._brain, pair.space, pair.entity, int(pair in watched)),
            )

    def rebuild_clocks(self) -> int:
        last, changed = "", 0
        while page := self._session.rows(
            f"select {MEGRAM}, {CLOCK} from megram m left join megram_clock c on c.brain_id = m.brain_id and c.megram_id = m.id "
            f"where m.brain_id = ? and m.id > ? order by m.id limit {PAGE}",
            (self._brain, last),
        ):
            last = page[-1][0]
            events = self._events_of([row[0] for row in page])
            for row in page:
                now, held = fresh(megram_of(row[:_WIDE])), row[_WIDE:]
                for event in events.get(now.megram.id, ()):
                    now = befallen(now, event)
                recalled_at, recalls = held[-2:]
                if recalled_at is not None:
                    now = replace(recalled(now, recalled_at), recalls=recalls)
                if clock_values(now) != held:
                    self._set_clock(now)
                    self._unsettle(now.megram.pair)
                    changed += 1
        return changed

    def _events_of(self, ids: Sequence[MegramId]) -> dict[MegramId, list[MegramEvent]]:
        found: dict[MegramId, list[MegramEvent]] = {}
        for event in map(
            event_of,
            self._session.rows(
                f"select {EVENT} from megram_event where brain_id = ? and megram_id {self._index.among} order by seq",
                (self._brain, self._index.listed(ids)),
            ),
        ):
            found.setdefault(event.megram_id, []).append(event)
        return found

    def put_message(self, message: StoredMessage) -> None:
        made = self._session.rows(
            f"{insert('control_message')} on conflict do nothing returning seq", (self._brain, *message_values(message))
        )
        if not made:
            raise message_taken(message)

    def erase_messages(self, task_ids: Sequence[str]) -> int:
        wanted = list(dict.fromkeys(task_ids))
        if not wanted:
            return 0
        ((number,),) = self._session.rows(
            f"select count(*) from control_message where brain_id = ? and task_id {self._index.among}",
            (self._brain, self._index.listed(wanted)),
        )
        self._let_go("control_message", "task_id", wanted)
        return int(number)
