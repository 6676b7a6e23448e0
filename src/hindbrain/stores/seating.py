"""Seating: where every live row of evidence stands and who said it, in memory. Some 30 bytes a row, in the order of the turns.

Ranking asks this of hundreds of rows for each question, and they lie all over the file. A turn never changes its seat: rows only
come, with a higher turn, or end. What the rows say is not held here.
"""

import threading
from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from hindbrain.domain.brain import BrainId
from hindbrain.stores.port import Seat, Voice
from hindbrain.stores.sql_evidence import SEATS
from hindbrain.stores.sql_rows import Head, Row, Session

__all__ = ["KeptSeating", "Seating"]

LOADED = 20_000  # rows that are taken in at a time
ENDED = 0.1  # share of the rows that may have ended before all are read anew


class _Names:
    """Values that many rows share, each held once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[Hashable, int] = {}

    def places(self, values: Iterable[Hashable]) -> Iterator[int]:
        """Where each of these stands; a new one is put at the end."""
        for value in values:
            if (place := self._places.get(value)) is None:
                place = self._places[value] = len(self.values)
                self.values.append(value)
            yield place


class Seating:
    """Seats by rising turn."""

    def __init__(self) -> None:
        self._turns, self._positions, self._messages = array("q"), array("q"), array("q")
        self._threads, self._voices = array("i"), array("i")  # as places among their names
        self._thread_names, self._voice_names = _Names(), _Names()

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def last(self) -> int:
        """The highest turn that is held."""
        return self._turns[-1] if self._turns else -1

    def take_in(self, rows: Sequence[Row]) -> None:
        """Rows beyond the last one, by rising turn: each its turn and its seat."""
        if not rows:
            return
        turns, threads, positions, messages, *voices = zip(*rows, strict=True)
        self._turns.extend(turns)
        self._positions.extend(positions)
        # Only equal or not is asked of a message; there may be as many as rows, so that their names would be most of this.
        self._messages.extend(map(hash, messages))
        self._threads.extend(self._thread_names.places(threads))
        self._voices.extend(self._voice_names.places(map(Voice, *voices)))

    def seats(self, turns: Iterable[int]) -> dict[int, Seat]:
        """The seats of those of these turns that are held."""
        held = self._turns
        if not held:
            return {}
        first, last, size = held[0], held[-1], len(held)
        positions, messages, thread_of, voice_of = self._positions, self._messages, self._threads, self._voices
        threads, voices, found = self._thread_names.values, self._voice_names.values, {}
        for turn in turns:
            if not first <= turn <= last:
                continue
            # Turns are whole numbers that rise: where hardly any is missing, hardly any place is left to look at.
            place = bisect_left(held, turn, max(0, size - 1 - (last - turn)), min(size, turn - first + 1))
            if held[place] == turn:
                found[turn] = Seat(threads[thread_of[place]], positions[place], messages[place], voices[voice_of[place]])
        return found


class KeptSeating:
    """The seating of one brain, brought up to date at every question. Whoever asks holds the lock from before the transaction in
    which it is asked, so that no state comes after a later one."""

    def __init__(self, brain_id: BrainId) -> None:
        self.lock = threading.Lock()
        self._brain = brain_id
        self._seating = Seating()
        self._mark = (0, "")  # of the record, when rows were last taken in
        self._asked = False

    def __len__(self) -> int:
        return len(self._seating)

    @property
    def worthwhile(self) -> bool:
        """Whether to keep it at all: a process that asks once, as a command does, reads the rows that it needs."""
        before, self._asked = self._asked, True
        return before

    def seats(self, session: Session, head: Head, turns: Iterable[int]) -> tuple[dict[int, Seat], bool]:
        """The seats of these turns, and whether none that is held has ended: then all of them are of live rows."""
        try:
            ended = self._brought_up(session, head)
        except BaseException:
            self._drop()  # half a page, or rows of a state that no mark stands for, are worse than none
            raise
        return self._seating.seats(turns), ended == 0

    def forget(self) -> None:
        """Hold nothing: rows were erased."""
        with self.lock:
            self._drop()

    def _drop(self) -> None:
        self._seating, self._mark = Seating(), (0, "")

    def _brought_up(self, session: Session, head: Head) -> int:
        """Hold every row that lives, and tell how many are held that have ended."""
        self._follow(session)
        ended = len(self._seating) - head.evidence
        if not 0 <= ended <= ENDED * head.evidence:
            self._seating = Seating()
            self._take_in(session)
            ended = len(self._seating) - head.evidence
        self._mark = (head.seq, head.hash)
        return ended

    def _follow(self, session: Session) -> None:
        seq, digest = self._mark
        known = session.rows("select hash from ledger where brain_id = ? and seq = ?", (self._brain, seq)) if seq else ()
        if seq and known != [(digest,)]:  # brain.db came from elsewhere, and its turns are other rows
            self._seating = Seating()
        self._take_in(session)

    def _take_in(self, session: Session) -> None:
        statement = f"{SEATS} and turn > ? order by turn limit {LOADED}"
        while rows := session.rows(statement, (self._brain, self._seating.last)):
            self._seating.take_in(rows)
