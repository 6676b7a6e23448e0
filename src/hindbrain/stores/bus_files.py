"""Bus files: the files of one bus, changed in turns that are all or nothing. Knows bytes and names, not what they say."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import StoreDamaged, StoreUnavailable
from hindbrain.stores.atomic import sync_directory
from hindbrain.stores.bus_intents import Intents, Step, is_bus_name
from hindbrain.stores.home import Home
from hindbrain.stores.locks import locked
from hindbrain.stores.runtime_place import keep_runtime_place

__all__ = ["BUS_LOCK", "BusFiles", "FileLook", "FileTurn"]

BUS_LOCK = "bus.lock"
_NO_FILE = (errno.EISDIR, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.ENXIO)  # a directory, a link, no right to read


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """In this block something that is no file of ours in the place of one is named as damage of the bus."""
    try:
        yield
    except OSError as failure:
        if failure.errno not in _NO_FILE:
            raise
        raise StoreDamaged(
            f"{path} cannot be read: {failure.strerror}", fix="run hindbrain doctor --fix", path=str(path)
        ) from failure


class FileLook:
    """The files of a bus while nobody changes them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, name: str) -> bytes:
        """The bytes of a file; none when it is not there."""
        path = self._path(name)
        with _readable(path):
            try:
                handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:
                return b""
            try:
                with os.fdopen(handle, "rb", closefd=False) as file:
                    return file.read()
            finally:
                os.close(handle)

    def size(self, name: str) -> int:
        try:
            return self._path(name).lstat().st_size
        except FileNotFoundError:
            return 0

    def names(self, directory: str = "") -> list[str]:
        """The names in the bus or in a directory of it, sorted."""
        place = self._directory / directory if directory else self._directory
        return sorted(os.listdir(place)) if place.is_dir() else []

    def _path(self, name: str) -> Path:
        if not is_bus_name(name):
            raise StoreUnavailable(f"{name[:80]!r} is no file of a bus", fix="run hindbrain cowork doctor")
        return self._directory / name


class FileTurn(FileLook):
    """One turn. Reads see what the turn collected; nothing is on the disk before the turn ends."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._first: list[Step] = []  # files that go or are renamed, before anything is written
        self._whole: dict[str, bytes] = {}  # files that the turn makes anew, with what was added since
        self._added: dict[str, bytearray] = {}
        self._ends: dict[str, int] = {}

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the turn changes. None of it depends on what a step did before, so that doing all of it twice is doing it once."""
        gone = {step.file for step in self._first}
        anew = [Step(file=name, at=0, data=data) for name, data in self._whole.items() if data or name not in gone]
        more = [Step(file=name, at=self._ends[name], data=bytes(data)) for name, data in self._added.items()]
        return (*self._first, *anew, *more)

    def read(self, name: str) -> bytes:
        before = self._whole[name] if name in self._whole else super().read(name)
        return before + bytes(self._added.get(name, b""))

    def size(self, name: str) -> int:
        before = len(self._whole[name]) if name in self._whole else super().size(name)
        return before + len(self._added.get(name, b""))

    def touched(self, name: str) -> bool:
        """Whether this turn changed the file already."""
        return name in self._whole or name in self._added

    def append(self, name: str, line: bytes) -> None:
        """Add a line (with its line end) to a file. A last line without one, which somebody else left, is ended, not joined."""
        self._path(name)
        if name in self._whole:
            self._whole[name] += line
            return
        if name not in self._added:
            end = super().size(name)
            self._ends[name] = end
            self._added[name] = bytearray(b"\n" if end and not self._ends_whole(name, end) else b"")
        self._added[name] += line

    def replace(self, name: str, data: bytes) -> None:
        self._path(name)
        self._added.pop(name, None)
        self._whole[name] = data

    def remove(self, name: str) -> None:
        self._path(name)
        self._added.pop(name, None)
        self._first.append(Step(file=name))
        self._whole[name] = b""

    def rename(self, name: str, to: str) -> None:
        """Give a file another name that nothing has yet, before anything else of this turn touches either."""
        self._path(name)
        self._path(to)
        if self.touched(name) or super().size(to):
            raise StoreUnavailable(f"{name} cannot become {to} in the middle of a turn", fix="run hindbrain cowork doctor")
        self._first.append(Step(file=name, to=to))
        self._whole[name] = b""

    def _ends_whole(self, name: str, end: int) -> bool:
        handle = os.open(self._path(name), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            return os.pread(handle, 1, end - 1) == b"\n"
        finally:
            os.close(handle)


class BusFiles:
    """The files of the bus of one checkout."""

    def __init__(self, home: Home, root: str, *, wait_s: float, directory: Path | None = None) -> None:
        self.directory = directory or home.runtime_dir(root)
        self._root = root if directory is None else None
        self._home = home
        self._wait_s = wait_s
        self._intents = Intents(self.directory, home.make)

    @property
    def exists(self) -> bool:
        """Whether somebody made a bus here. The directories of others beside its files make none."""
        if (self.directory / BUS_LOCK).exists():
            return True
        return self.directory.is_dir() and any(one.is_file() for one in self.directory.iterdir())

    @contextmanager
    def look(self) -> Iterator[FileLook]:
        """Read several files as they were at one moment. A bus that is not there is an empty one, and stays away."""
        if not self.exists:
            yield FileLook(self.directory)
            return
        with locked(self.directory / BUS_LOCK, wait_s=self._wait_s):
            with _readable(self.directory):
                self._intents.finish()
            yield FileLook(self.directory)

    def rewrite(self, edited: Callable[[str, bytes], tuple[bytes, int]]) -> int:
        """Write every file anew as `edited` gives it, with how much it changed, and leave no intent that holds the old bytes."""
        with locked(self.directory / BUS_LOCK, wait_s=self._wait_s):
            self._intents.finish()
            turn, changed = FileTurn(self.directory), 0
            for name in self._names():
                raw = turn.read(name)
                made, count = edited(name, raw)
                if count:
                    turn.replace(name, made)
                    changed += count
            if steps := turn.steps:
                self._intents.commit(steps)
            self._intents.scrub()
            return changed

    def _names(self) -> list[str]:
        """Every file of the bus, one level deep; the lock, the intents and temporary files are no files of it."""
        found = [
            str(path.relative_to(self.directory))
            for path in (*self.directory.glob("*"), *self.directory.glob("*/*"))
            if path.is_file()
        ]
        return sorted(
            name for name in found if name.endswith((".json", ".jsonl")) and is_bus_name(name) and not name.startswith("intents")
        )

    @contextmanager
    def turn(self, *, make: bool = False) -> Iterator[FileTurn]:
        """Read and change files, all or nothing. Only who brings something new makes a bus that is not there."""
        if make and not self.exists:
            self._home.make(self.directory)
            if self._root is not None:
                keep_runtime_place(self._home, self._root)
            for place in (self.directory.parent, self._home.path):
                sync_directory(place)  # a bus that a power cut takes away takes its messages with it
        elif not self.exists:
            empty = FileTurn(self.directory)
            yield empty
            if empty.steps:
                raise StoreUnavailable(
                    "this checkout has no bus",
                    fix="register an agent with hindbrain cowork register --agent-id AGENT --tool TOOL",
                )
            return
        with locked(self.directory / BUS_LOCK, wait_s=self._wait_s):
            with _readable(self.directory):
                self._intents.finish()
            turn = FileTurn(self.directory)
            yield turn
            if steps := turn.steps:
                with _readable(self.directory):
                    self._intents.commit(steps)
