"""The workspace: the files a run may touch. Every path is walked from an open directory, one name at a time and through no link,
so nothing outside can be reached, whatever is renamed meanwhile. Knows nothing of tools."""

import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import regex  # type: ignore[import-untyped]  # it comes without types

from hindbrain.domain.errors import PathRefused, StaleWrite
from hindbrain.policy.commands import CLOSED
from hindbrain.policy.tools import FOUND_MOST, GLOB_MOST, READ_MOST, SEARCH_S, WRITE_MOST
from hindbrain.stores.held_file import content_of, facts_of, placed, renamed, shown, told
from hindbrain.stores.patterns import pattern_of

__all__ = ["TRASH", "Changes", "Found", "Listed", "Text", "Workspace"]

TRASH = ".hindbrain-trash"
_GIT = ".git"
_UNSEEN = frozenset({_GIT, TRASH})
_LINE = 300  # characters of a line that a search shows
_FILES = 200_000  # looked at in one walk of a directory that somebody named
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What a file holds. `whole` is False when bytes were no UTF-8 and had to be replaced."""

    text: str
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Names, in order; `complete` is False when there are more."""

    paths: tuple[str, ...]
    looked_at: int
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Lines that hold what was searched for; `complete` is False when there may be more."""

    lines: tuple[str, ...]
    looked_at: int
    complete: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is different from the start."""

    made: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(sorted((*self.made, *self.changed, *self.gone)))


Mark = tuple[int, int, int]  # size, time of the last change, number of the file


@dataclass(slots=True)
class _Known:
    """Which files were there before, and which this run made itself."""

    start: dict[str, Mark] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    carried: set[str] = field(default_factory=set)  # new names of files that were there before


class Workspace:
    """One directory of files. `own` when it was made for this run, so that whatever is new in it was made by the run. Unmarked it
    does not look how its files are at the start: for reading only."""

    def __init__(self, root: Path, *, own: bool, marked: bool = True) -> None:
        self.root = Path(os.path.realpath(root))
        self.own = own
        self._top = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._known = _Known(start=dict(self._marks()) if marked else {})

    def close(self) -> None:
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    # --- paths ---------------------------------------------------------------------------------------------------------

    def relative(self, path: str) -> str:
        """A path as a name inside of the workspace, `.` for itself. Raises PathRefused for all that lies elsewhere."""
        if not path or "\x00" in path or len(path) > 4_000:
            raise PathRefused("this cannot be a path", fix="name a file of the workspace")
        plain = os.path.normpath(path)
        if os.path.isabs(plain):
            root = str(self.root)
            if plain != root and not plain.startswith(root + os.sep):
                raise PathRefused(f"{shown(path)[:200]} lies outside of the workspace", fix="name a file of the workspace")
            plain = os.path.relpath(plain, root)
        if plain == ".." or plain.startswith("../"):
            raise PathRefused(f"{shown(path)[:200]} lies outside of the workspace", fix="name a file of the workspace")
        return plain

    def _parts(self, path: str, *, writing: bool) -> list[str]:
        plain = self.relative(path)
        parts = [] if plain == "." else plain.split("/")
        if writing and not parts:
            raise PathRefused("the workspace itself is not a file", fix="name a file of the workspace")
        if writing and (closed := CLOSED.intersection(part.casefold() for part in parts)):
            raise PathRefused(f"{sorted(closed)[0]} is not written by tools", fix="choose another directory")
        return parts

    @contextmanager
    def _directory(self, parts: list[str], *, make: bool = False) -> Iterator[int]:
        """An open directory, reached through directories only."""
        held = os.dup(self._top)
        try:
            for part in parts:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o755, dir_fd=held)
                inner = os.open(part, _DIRECTORY, dir_fd=held)
                os.close(held)
                held = inner
            yield held
        except OSError as wrong:
            raise told(wrong, "/".join(parts)) from wrong
        finally:
            os.close(held)

    def facts(self, path: str) -> os.stat_result | None:
        """What lies there, links as links; None when nothing does."""
        parts = self._parts(path, writing=False)
        if not parts:
            return os.fstat(self._top)
        try:
            with self._directory(parts[:-1]) as parent:
                return os.stat(parts[-1], dir_fd=parent, follow_symlinks=False)
        except PathRefused as refused:
            if isinstance(refused.__cause__, FileNotFoundError | NotADirectoryError):
                return None
            raise

    def closed(self, path: str) -> bool:
        """Whether a path lies where no tool writes: settings and hooks of git, the memory, the trash."""
        return not CLOSED.isdisjoint(part.casefold() for part in self.relative(path).split("/"))

    def precious(self, path: str) -> bool:
        """Whether something lies there that was there before this run."""
        plain = self.relative(path)
        found = self.facts(plain)
        if found is None:
            return os.path.lexists(self.root / plain)  # reached through a link
        if plain in self._known.made:
            return False
        if stat.S_ISLNK(found.st_mode):
            return True  # a command would write where it leads to
        return not self.own or plain in self._known.carried or self._older(plain)

    def _older(self, plain: str) -> bool:
        facts = self.facts(plain)
        if facts is not None and stat.S_ISREG(facts.st_mode):
            return plain in self._known.start
        return any(name == plain or name.startswith(plain + "/") for name in (*self._known.start, *self._known.carried))

    def entries(self, path: str) -> int:
        """How much lies in a directory."""
        with self._directory(self._parts(path, writing=False)) as held:
            return len(os.listdir(held))

    # --- reading -------------------------------------------------------------------------------------------------------

    def read(self, path: str, *, most: int = READ_MOST) -> Text:
        """The text of a regular file. No link, pipe or device is opened."""
        raw = self.read_bytes(path, most=most)
        if b"\x00" in raw:
            raise PathRefused(f"{shown(path)[:200]} is no text: a binary file of {len(raw)} bytes", fix="read another file")
        try:
            return Text(text=raw.decode("utf-8"))
        except UnicodeDecodeError:
            return Text(text=raw.decode("utf-8", "replace"), whole=False)

    def read_bytes(self, path: str, *, most: int = READ_MOST) -> bytes:
        parts = self._parts(path, writing=False)
        if not parts:
            raise PathRefused("the workspace is a directory", fix="name a file of it")
        with self._directory(parts[:-1]) as parent:
            return content_of(parts[-1], parent, most)

    def glob(self, pattern: str, *, under: str = ".") -> Listed:
        """Files that match; a pattern without a slash holds at every depth."""
        wanted = pattern_of(pattern)
        kept: list[str] = []
        looked, whole = 0, True
        prefix = "" if self.relative(under) == "." else self.relative(under) + "/"
        for name in self._names(under):
            looked += 1
            if wanted.matches(name.removeprefix(prefix)) or (prefix and wanted.matches(name)):
                if len(kept) >= GLOB_MOST:
                    whole = False
                    break
                kept.append(name)
        return Listed(paths=tuple(sorted(map(shown, kept))), looked_at=looked, complete=whole)

    def search(
        self, text: str, *, under: str = ".", files: str | None = None, is_regex: bool = False, ignore_case: bool = False
    ) -> Found:
        """Lines that hold a text, as `path:line: text`."""
        if not text or len(text) > 1_000:
            raise PathRefused("there is nothing to search for", fix="give a text of at most 1,000 characters")
        try:
            wanted = regex.compile(text if is_regex else regex.escape(text), regex.IGNORECASE if ignore_case else 0)
        except regex.error as wrong:
            raise PathRefused(f"this is no regular expression: {wrong}", fix="correct it, or search for plain text") from wrong
        ends = time.monotonic() + SEARCH_S
        named = pattern_of(files) if files else None
        lines: list[str] = []
        looked = 0
        facts = self.facts(under)
        names = iter([self.relative(under)]) if facts is not None and stat.S_ISREG(facts.st_mode) else self._names(under)
        for name in names:
            if named is not None and not named.matches(name):
                continue
            left = ends - time.monotonic()
            if left <= 0:
                return Found(lines=tuple(lines), looked_at=looked, complete=False, why=f"timed out after {SEARCH_S:.0f} s")
            try:
                raw = self.read_bytes(name)
            except PathRefused:
                continue  # too large, a link, or gone meanwhile: not a text to search in
            if b"\x00" in raw[:8192]:
                continue
            looked += 1
            try:
                lines += _matching(wanted, raw.decode("utf-8", "replace"), shown(name), left, FOUND_MOST - len(lines))
            except TimeoutError:
                return Found(lines=tuple(lines), looked_at=looked, complete=False, why=f"timed out after {SEARCH_S:.0f} s")
            if len(lines) >= FOUND_MOST:
                return Found(lines=tuple(lines), looked_at=looked, complete=False, why=f"only the first {FOUND_MOST} lines")
        return Found(lines=tuple(lines), looked_at=looked)

    def _names(self, under: str = ".") -> Iterator[str]:
        return (name for name, _ in self._files(under))

    def _files(self, under: str = ".") -> Iterator[tuple[str, os.stat_result]]:
        """Regular files below a directory, in order, through no link."""
        parts = self._parts(under, writing=False)
        count = 0
        with self._directory(parts) as top:
            for where, inner, names, held in os.fwalk(".", dir_fd=top, follow_symlinks=False):
                inner[:] = sorted(one for one in inner if one not in _UNSEEN)
                place = os.path.normpath(os.path.join(*parts, where))
                for name in sorted(names):
                    count += 1
                    if count > _FILES:
                        raise PathRefused(f"there are more than {_FILES} files", fix="name a smaller directory")
                    facts = facts_of(name, held)
                    if facts is not None and stat.S_ISREG(facts.st_mode):
                        yield os.path.normpath(os.path.join(place, name)), facts

    # --- writing -------------------------------------------------------------------------------------------------------

    def write(self, path: str, text: str, *, over: bool) -> str | None:
        """Put a text into a file, whole or not at all. `over` allows the place of another; what was there goes to the trash, and
        where it lies there is the answer. A file that appeared meanwhile is not written over."""
        raw = text.encode("utf-8", "replace")
        if len(raw) > WRITE_MOST:
            raise PathRefused(f"the text has {len(raw)} bytes; a file may have {WRITE_MOST}", fix="write less")
        parts = self._parts(path, writing=True)
        plain = "/".join(parts)
        kept = None
        with self._directory(parts[:-1], make=True) as parent:
            facts = facts_of(parts[-1], parent)
            if facts is not None and not stat.S_ISREG(facts.st_mode):
                raise PathRefused(f"{shown(plain)[:200]} is no regular file", fix="choose another name")
            if facts is not None and not over and plain not in self._known.made:
                raise PathRefused(f"{shown(plain)[:200]} is there already", fix="choose another name")
            if facts is not None and plain not in self._known.made:
                kept = self._into_trash(parts, parent, copy=True)
            placed(parts[-1], parent, raw, facts)
        if facts is None:
            self._known.made.add(plain)
        return kept

    def move(self, path: str, to: str) -> None:
        """Give a file or directory another name, never over something."""
        parts, into = self._parts(path, writing=True), self._parts(to, writing=True)
        old, new = "/".join(parts), "/".join(into)
        with self._directory(parts[:-1]) as source, self._directory(into[:-1], make=True) as goal:
            facts = facts_of(parts[-1], source)
            if facts is None:
                raise PathRefused(f"{shown(old)[:200]}: no such file", fix="look for its name first")
            if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
                raise PathRefused(f"{shown(old)[:200]} is neither file nor directory", fix="choose another one")
            if stat.S_ISDIR(facts.st_mode):
                # A new empty directory takes its place first, so a name that appears meanwhile is not lost.
                os.mkdir(into[-1], 0o700, dir_fd=goal)
                os.rename(parts[-1], into[-1], src_dir_fd=source, dst_dir_fd=goal)
            else:
                renamed(parts[-1], source, into[-1], goal)
        self._renamed(old, new)

    def _renamed(self, old: str, new: str) -> None:
        known = self._known
        for name in {*known.start, *known.made, *known.carried, old}:
            if name == old or name.startswith(old + "/"):
                there = new + name[len(old) :]
                (known.made if name in known.made else known.carried).add(there)
                known.made.discard(name)
                known.carried.discard(name)

    def delete(self, path: str) -> str:
        """Take a file or directory away; its place in the trash, from which `restore` takes it back."""
        parts = self._parts(path, writing=True)
        with self._directory(parts[:-1]) as parent:
            if facts_of(parts[-1], parent) is None:
                raise PathRefused(f"{shown(path)[:200]}: no such file", fix="look for its name first")
            kept = self._into_trash(parts, parent, copy=False)
        self._known.made.discard("/".join(parts))
        return kept

    def place(self, path: str, raw: bytes, *, expected: str | None, executable: bool) -> None:
        """Put a content into a file that still has the expected one, named by its SHA-256; None where no file may be there."""
        parts = self._parts(path, writing=True)
        with self._directory(parts[:-1], make=True) as parent:
            facts = self._expected(parts, parent, expected)
            if facts is None:
                mode = 0o755 if executable else 0o644
            else:
                mode = (facts.st_mode | 0o111 & (facts.st_mode >> 2)) if executable else facts.st_mode & ~0o111
            placed(parts[-1], parent, raw, facts, mode=stat.S_IMODE(mode))

    def remove(self, path: str, *, expected: str | None) -> None:
        """Delete a file that still has the expected content, and the directories that it leaves empty."""
        parts = self._parts(path, writing=True)
        with self._directory(parts[:-1]) as parent:
            if self._expected(parts, parent, expected) is not None:
                os.unlink(parts[-1], dir_fd=parent)
        for depth in range(len(parts) - 1, 0, -1):
            with self._directory(parts[: depth - 1]) as parent:
                try:
                    os.rmdir(parts[depth - 1], dir_fd=parent)
                except OSError:
                    return  # it is not empty

    def _expected(self, parts: list[str], parent: int, expected: str | None) -> os.stat_result | None:
        """What lies at a path, if it is what was expected."""
        facts = facts_of(parts[-1], parent)
        name = shown("/".join(parts))[:200]
        if facts is not None and not stat.S_ISREG(facts.st_mode):
            raise PathRefused(f"{name} is no regular file", fix="choose another name")
        if (facts is None) != (expected is None):
            raise StaleWrite(f"{name} changed meanwhile", fix="look at the changes again")
        if facts is not None and hashlib.sha256(content_of(parts[-1], parent, facts.st_size)).hexdigest() != expected:
            raise StaleWrite(f"{name} changed meanwhile", fix="look at the changes again")
        return facts

    def restore(self, kept: str) -> str:
        """Take something out of the trash again, to where it was, if nothing lies there now."""
        parts = self.relative(kept).split("/")
        if len(parts) < 3 or parts[0] != TRASH:
            raise PathRefused("this is no place in the trash", fix="give the place that delete answered with")
        where = parts[2:]
        with self._directory(parts[:-1]) as source, self._directory(where[:-1], make=True) as goal:
            if facts_of(where[-1], goal) is not None:
                raise PathRefused(f"{shown('/'.join(where))[:200]} is there again", fix="move it away first")
            os.rename(parts[-1], where[-1], src_dir_fd=source, dst_dir_fd=goal)
        return "/".join(where)

    def _into_trash(self, parts: list[str], parent: int, *, copy: bool) -> str:
        inside = [TRASH, secrets.token_hex(6), *parts]
        with self._directory(inside[:-1], make=True) as goal:
            if copy:
                placed(inside[-1], goal, content_of(parts[-1], parent, WRITE_MOST * 40), None)
            else:
                os.rename(parts[-1], inside[-1], src_dir_fd=parent, dst_dir_fd=goal)
        return "/".join(inside)

    # --- settings of git -----------------------------------------------------------------------------------------------

    def repositories(self) -> dict[str, int]:
        """Return each `.git` by its path, with the number of the file or directory."""
        found: dict[str, int] = {}
        with self._directory([]) as top:
            for where, inner, names, held in os.fwalk(".", dir_fd=top, follow_symlinks=False):
                for name in (*inner, *names):
                    facts = facts_of(name, held) if name.casefold() == _GIT else None
                    if facts is not None:
                        found[os.path.normpath(os.path.join(where, name))] = facts.st_ino
                inner[:] = [one for one in inner if one.casefold() not in CLOSED]
        return found

    def set_aside_new_repositories(self, before: Mapping[str, int]) -> tuple[str, ...]:
        """Move each `.git` that was not there before to the trash: git would start programs that its settings name."""
        known, moved = set(before.values()), []
        for path, number in self.repositories().items():
            if number not in known:
                *place, name = path.split("/")
                with self._directory(place) as parent:
                    self._into_trash([*place, name], parent, copy=False)
                moved.append(path)
        return tuple(sorted(moved))

    # --- changes -------------------------------------------------------------------------------------------------------

    def changed(self) -> Changes:
        """What is different from the start: by size, time and number of each file."""
        now, start = dict(self._marks()), self._known.start
        return Changes(
            made=tuple(sorted(shown(name) for name in now if name not in start)),
            changed=tuple(sorted(shown(name) for name in now if name in start and now[name] != start[name])),
            gone=tuple(sorted(shown(name) for name in start if name not in now)),
        )

    @property
    def touched(self) -> bool:
        """Whether this run wrote anything by a tool."""
        return bool(self._known.made or self._known.carried) or (self._top >= 0 and bool(self.changed().all))

    def marks(self) -> Mapping[str, Mark]:
        """The files as they were at the start."""
        return dict(self._known.start)

    def _marks(self) -> Iterator[tuple[str, Mark]]:
        return ((name, (facts.st_size, facts.st_mtime_ns, facts.st_ino)) for name, facts in self._files())


def _matching(wanted: "regex.Pattern[str]", text: str, name: str, left: float, most: int) -> list[str]:
    """Lines of one text. The time is the pattern's own limit: `regex` stops by itself."""
    lines: list[str] = []
    ends = time.monotonic() + left
    for number, line in enumerate(text.splitlines(), 1):
        if len(lines) >= most:
            break
        if wanted.search(line, timeout=max(ends - time.monotonic(), 0.001)):
            lines.append(f"{name}:{number}: {line.strip()[:_LINE]}")
    return lines
