"""The checkout: which files of a directory are its source, and what git's log says of them. Follows no link, reads no content."""

import os
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from hindbrain.policy.ingest import COMMIT_FILES, COMMITS, HISTORY_SECONDS, SKIPPED_DIRECTORIES, SKIPPED_FILES, TOGETHER
from hindbrain.stores.git import asked
from hindbrain.stores.ignoring import spec_of
from hindbrain.stores.repository import Names, repository_of

__all__ = ["FileFound", "History", "Listing", "head_of", "history_of", "listing", "wanted"]

_LIST_SECONDS = 120.0  # of a list of files, also on a slow disk
_HEAD = re.compile(rb"\x01[0-9a-f]{40,64} \d{1,18}")


@dataclass(frozen=True, slots=True)
class FileFound:
    """A regular file below a root."""

    path: str  # relative to the root
    full: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What a directory holds, in order; and what was left out, with the reason."""

    files: tuple[FileFound, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def wanted(path: str, patterns: Sequence[str] | None) -> bool:
    """Whether a path is source: not below a directory of by-products, no lock file, hidden only when a pattern asks for it."""
    *directories, name = path.split("/")
    if name in SKIPPED_FILES or not SKIPPED_DIRECTORIES.isdisjoint(directories):
        return False
    if not any(part.startswith(".") for part in (*directories, name)):
        return True
    return patterns is not None and _matches(path, patterns)


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return not patterns or spec_of(patterns).match_file(path)


def listing(root: str, *, patterns: Sequence[str] | None = None, without: Collection[str] = ()) -> Listing:
    """The source files below a directory; `without` names directories that are not part of it, such as our own home."""
    files, skipped, names = [], [], Names(root)
    outside = tuple(place.rstrip("/") + "/" for place in without)
    for path in _names(root):
        full = os.path.join(root, path)
        if not wanted(path, patterns) or full.startswith(outside):
            continue
        if why := names.why_not(path):
            skipped.append((path, why))
            continue
        try:
            facts = os.lstat(full)
        except (OSError, ValueError):
            skipped.append((path, "gone or not UTF-8"))
            continue
        if stat.S_ISLNK(facts.st_mode):
            skipped.append((path, "a link"))
        elif stat.S_ISREG(facts.st_mode):
            files.append(FileFound(path, full, facts.st_size, facts.st_mtime_ns))
    return Listing(tuple(files), tuple(skipped))


def _names(root: str) -> list[str]:
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = asked(root, *words, seconds=_LIST_SECONDS) if repository_of(root).git else None
    if listed is not None:
        return sorted({name.decode("utf-8", "replace") for name in listed.split(b"\x00") if name})
    return sorted(_walked(root))


def _walked(root: str) -> Iterator[str]:
    """Every file below a directory that git does not know; `.gitignore` files are read as git would."""
    ignoring: list[tuple[str, object]] = []
    for directory, inner, names in os.walk(root):
        inside = os.path.relpath(directory, root)
        prefix = "" if inside == "." else inside + "/"
        if ".gitignore" in names and os.path.isfile(os.path.join(directory, ".gitignore")):
            ignoring.append((prefix, _ignored(os.path.join(directory, ".gitignore"))))
        inner[:] = [one for one in inner if one not in SKIPPED_DIRECTORIES and not _is_ignored(ignoring, prefix + one + "/")]
        for name in names:
            path = (prefix + name).encode("utf-8", "replace").decode()
            if not _is_ignored(ignoring, path):
                yield path


def _ignored(path: str) -> object:
    with open(path, encoding="utf-8", errors="replace") as file:
        return spec_of(file.read(1_000_000).splitlines())


def _is_ignored(ignoring: Iterable[tuple[str, object]], path: str) -> bool:
    return any(path.startswith(at) and spec.match_file(path[len(at) :]) for at, spec in ignoring)  # type: ignore[attr-defined]


# --- history ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class History:
    """What the log says of files: commits and the time of the last one, and which were committed together how often."""

    head: str = ""
    commits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    together: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)


def head_of(root: str) -> str:
    """The commit a checkout stands on; empty without git or before the first commit."""
    found = asked(root, "rev-parse", "-q", "--verify", "HEAD", seconds=10.0) if repository_of(root).git else None
    return found.decode("ascii", "replace").strip() if found else ""


def history_of(root: str) -> History:
    """One reading of the log of a directory; empty without git."""
    if not repository_of(root).git:
        return History()
    words = ["--no-merges", "--no-renames", f"-n{COMMITS}", "--name-only", "--relative", "-z", "--format=%x01%H %ct"]
    said = asked(root, "log", *words, "--", ".", seconds=HISTORY_SECONDS)
    if not said:
        return History()
    return _read_log(said)


def _read_log(said: bytes) -> History:
    head = ""
    commits: dict[str, tuple[int, int]] = {}
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    parts = said.split(b"\x00")  # the one character that no name can hold
    heads = [at for at, part in enumerate(parts) if _HEAD.fullmatch(part)]
    for start, end in zip(heads, [*heads[1:], len(parts)], strict=True):
        digest, _, seconds = parts[start][1:].partition(b" ")
        head = head or digest.decode("ascii")
        at = int(seconds)
        names = sorted({name for raw in parts[start + 1 : end] if (name := raw.removeprefix(b"\n").decode("utf-8", "replace"))})
        for name in names:
            count, last = commits.get(name, (0, 0))
            commits[name] = (count + 1, max(last, at))
        if len(names) <= COMMIT_FILES:
            for one, other in combinations(names, 2):
                pairs[one][other] += 1
                pairs[other][one] += 1
    together = {path: tuple(sorted(found.items(), key=_most_often)[:TOGETHER]) for path, found in pairs.items()}
    return History(head, commits, together)


def _most_often(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]
