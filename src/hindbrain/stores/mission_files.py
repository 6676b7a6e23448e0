"""Files of one mission: lines that are added to, and papers that are written whole. Private; links are not followed."""

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from hindbrain.stores.atomic import write_whole
from hindbrain.stores.directories import make_directory
from hindbrain.stores.line_file import append_lines
from hindbrain.stores.locks import locked

__all__ = ["MissionDirectory"]

_BLOCK = 16_384
_WAIT_S = 2.0


class MissionDirectory:
    """`missions/<id>/` of one brain."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Have the directory, readable by its owner only."""
        make_directory(self.path)

    def lock(self) -> AbstractContextManager[None]:
        """The one writer, among all processes."""
        return locked(self.path / ".lock", wait_s=_WAIT_S)

    def last_line(self, name: str) -> bytes | None:
        """The last line of a file; b"" when it has none, None when its end is no whole line."""
        try:
            handle = os.open(self.path / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return b""
        with os.fdopen(handle, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            if end == 0:
                return b""
            tail, at = b"", end
            while at > 0 and tail.count(b"\n", 0, -1) == 0:
                at = max(0, at - _BLOCK)
                file.seek(at)
                tail = file.read(end - at)
                if not tail.endswith(b"\n"):
                    return None
            return tail[:-1].rpartition(b"\n")[2]

    def append(self, name: str, lines: Iterable[bytes]) -> None:
        """Add lines, each handed to the system before this returns: the end of this process does not take them along."""
        append_lines(self.path / name, b"".join(line + b"\n" for line in lines), sync=False)

    def text(self, name: str) -> str | None:
        """What a file says; None when it is not there or cannot be read."""
        try:
            handle = os.open(self.path / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as file:
                return file.read().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def replace(self, name: str, lines: Iterable[bytes]) -> None:
        """Write a file of lines anew."""
        self.write(name, b"".join(line + b"\n" for line in lines).decode())

    def write(self, name: str, text: str) -> None:
        """Write a paper whole."""
        write_whole(self.path / name, text)

    def remove(self) -> None:
        """Delete the directory with all that is in it. Where a link stands in its place, the link goes."""
        if self.path.is_symlink():
            self.path.unlink()
        elif self.path.is_dir():
            with self.lock():
                shutil.rmtree(self.path)

    def bring_up(
        self, name: str, seq_of: Callable[[bytes], int | None], upto: int, lines: Callable[[int], Iterable[bytes]]
    ) -> None:
        """Make a file of lines end with number `upto`. What is missing is added; a file whose end cannot be read is made again.
        One that is further already was written by somebody who came later."""
        last = self.last_line(name)
        seq = None if last is None else 0 if last == b"" else seq_of(last)
        if seq is None:
            self.replace(name, lines(0))
        elif seq < upto:
            self.append(name, lines(seq))
