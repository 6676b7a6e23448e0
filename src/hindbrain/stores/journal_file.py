"""Journal files: a bounded list of records in one small file, one JSON object per line. Several processes may write."""

from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from hindbrain.domain.typed import decoded
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.locks import locked

__all__ = ["JournalFile"]

Record = TypeVar("Record", bound=msgspec.Struct)
_WAIT_S = 5.0


class JournalFile(Generic[Record]):
    """The newest records of one kind, oldest first. A line that cannot be read is left out and goes with the next write."""

    def __init__(self, path: Path, kind: type[Record], *, keep: int) -> None:
        self._path = path
        self._kind = kind
        self._keep = keep

    def all(self) -> tuple[Record, ...]:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        found = []
        for line in lines:
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                found.append(decoded(line, self._kind))
        return tuple(found)

    def append(self, record: Record) -> None:
        make_directory(self._path.parent)
        with locked(self._path.with_name(self._path.name + ".lock"), wait_s=_WAIT_S):
            kept = [*self.all(), record][-self._keep :]
            write_text(self._path, "".join(msgspec.json.encode(one).decode("utf-8") + "\n" for one in kept))
