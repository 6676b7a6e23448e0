"""Host writing: the one way by which a file of an agent host is changed, and changed back. What will be written is written down
first, so that whoever dies in between leaves nothing that cannot be taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hindbrain.domain.errors import InvalidState
from hindbrain.engines.host_parts import Part, cleared, filled
from hindbrain.stores.home import Home
from hindbrain.stores.host_files import Held, Place, hold, remove, write
from hindbrain.stores.host_records import HostRecord, HostRecords, digest

__all__ = ["FileChange", "HostWriting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What is to become of one file. `was` is what it is to be when we are gone again."""

    host: str
    held: Held
    parts: tuple[Part, ...]
    after: str | None  # None: no file
    was: str | None
    how: str  # make, change, keep; restore, remove, edit, gone
    made: tuple[str, ...] = ()
    recorded: bool = False

    @property
    def path(self) -> str:
        return str(self.held.place.path)

    @property
    def writes(self) -> bool:
        return self.how not in ("keep", "gone")


class HostWriting:
    """Changes to files of hosts, of one home."""

    def __init__(self, home: Home, clock: Callable[[], int]) -> None:
        self.records = HostRecords(home)
        self._clock = clock

    def planned(self, host: str, place: Place, parts: Sequence[Part]) -> FileChange:
        """The file with our parts in it. Changes nothing."""
        held = hold(place)
        after = filled(parts, held.text or "", where=str(place.path))
        record = self.records.of(held.real)
        was, made = held.text, held.missing
        if record is not None:
            was, made = self._was(held, parts, record), tuple(dict.fromkeys([*record.made, *held.missing]))
        how = "make" if held.text is None else "keep" if after == held.text else "change"
        return FileChange(host=host, held=held, parts=tuple(parts), after=after, was=was, how=how, made=made)

    def undone(self, host: str, place: Place, parts: Sequence[Part]) -> FileChange:
        """The file as it was before us; without a record, or when somebody changed it since, only without our parts."""
        held = hold(place)
        record = self.records.of(held.real)
        made = record.made if record is not None else ()
        if record is None:
            # What was there before is not known: then the file stays, if need be empty.
            after = None if held.text is None else cleared(parts, held.text, "", where=str(place.path))
        else:
            after = self._was(held, parts, record)
        exact = record is not None and held.text is not None and digest(held.text) == record.after
        how = "gone" if after == held.text else "remove" if after is None else "restore" if exact else "edit"
        return FileChange(
            host=host, held=held, parts=tuple(parts), after=after, was=after, how=how, made=made, recorded=record is not None
        )

    def _was(self, held: Held, parts: Sequence[Part], record: HostRecord) -> str | None:
        """What a file is without us: the copy, if it still is what we wrote; else what is left of it."""
        before = self.records.before(record)
        if held.text is None or digest(held.text) == record.before:
            return held.text
        if digest(held.text) == record.after:
            return before
        return cleared(parts, held.text, before, where=str(held.place.path))

    def carry_out(self, change: FileChange) -> str | None:
        """Write one file; where the copy of what was there lies, if there was something."""
        if not change.writes:
            return None
        with self.records.lock():
            held = self._still(change)
            record = HostRecord(
                path=str(held.real),
                host=change.host,
                of_project=held.place.of_project,
                at=self._clock(),
                after=digest(change.after or ""),
                before=None if change.was is None else digest(change.was),
                mode=held.mode,
                made=change.made,
            )
            self.records.put(record, change.was)
            write(held, change.after or "")
            copy = self.records.copy_of(record)
            return str(copy) if copy is not None else None

    def take_back(self, change: FileChange) -> None:
        """Undo one file. What was written down about it goes last."""
        with self.records.lock():
            held = self._still(change)
            if change.after is None:
                remove(held, change.made)
            elif change.writes:
                write(held, change.after)
            self.records.forget(held.real)

    def _still(self, change: FileChange) -> Held:
        """The file, if it still is what was looked at."""
        held = hold(change.held.place)
        if (held.real, held.text) != (change.held.real, change.held.text):
            raise InvalidState(f"{change.path} was changed in the meantime", fix="look at the plan once more, then try again")
        return held
