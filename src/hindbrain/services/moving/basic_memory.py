"""basic-memory: the Markdown notes of one of its projects, read where they lie. Its index is made from them and is not needed."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import HindbrainError, InvalidParams, PathRefused
from hindbrain.domain.moving import Item, Unread
from hindbrain.engines.basic_memory import has_permalink, items_of
from hindbrain.policy.evidence import SKIPPED_DIRECTORIES
from hindbrain.policy.legacy import CELL_MAX_BYTES
from hindbrain.policy.moving import LOOK_BYTES, LOOK_FILES
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_tree import Found, files_under, start_of, text_within

__all__ = ["KIND", "BasicMemoryNotes"]

_SUFFIX = ".md"


def _notes(path: Path) -> Iterator[Found]:
    if path.is_file():
        if path.suffix != _SUFFIX:
            raise InvalidParams(f"{path.name[:120]!r} is no Markdown note", fix="give a .md file, or the directory of a project")
        text_within(path, CELL_MAX_BYTES)
        status = path.stat()
        yield Found(path=str(path), name=path.name, size=status.st_size, at=status.st_mtime_ns // 1_000_000)
        return
    for found in files_under(path, _SUFFIX):
        # What basic-memory does not index either: hidden files, and by-products of a repository.
        if not any(part.startswith(".") or part in SKIPPED_DIRECTORIES for part in found.name.split("/")):
            yield found


def _looks_like(path: Path) -> bool:
    if path.is_dir():
        near = sorted(path.glob(f"[!.]*{_SUFFIX}")) or sorted(path.glob(f"[!.]*/[!.]*{_SUFFIX}"))
    else:
        near = [path] if path.suffix == _SUFFIX else []
    return any(has_permalink(start_of(one, LOOK_BYTES).decode("utf-8", "replace")) for one in near[:LOOK_FILES])


class BasicMemoryNotes:
    """The directory of a project, or one note of it."""

    kind = "basic-memory"
    version: str | int | None = None

    def __init__(self, path: Path) -> None:
        self._notes = tuple(_notes(path))
        if not self._notes:
            raise InvalidParams(
                f"there are no notes in {path.name[:120]!r}",
                fix="give the directory of one project; basic-memory project list names them",
            )
        self.id = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._left: Counter[str] = Counter()

    def total(self) -> int:
        return len(self._notes)

    def items(self) -> Iterator[Item | Unread]:
        for found in self._notes:
            if found.link:
                yield Unread(key=found.name, code=PathRefused.code, reason="a link, which is not followed")
                continue
            try:
                text = text_within(found.path, CELL_MAX_BYTES)
            except HindbrainError as wrong:
                yield Unread(key=found.name, code=wrong.code, reason=wrong.message)
                continue
            made = items_of(found.name.removesuffix(_SUFFIX), text, found.at)
            self._left["notes without a word"] += not made
            yield from made

    def left_out(self) -> Mapping[str, int]:
        return self._left


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    yield BasicMemoryNotes(place.path)


KIND = Kind(name="basic-memory", looks_like=_looks_like, opened=_opened, knows_projects=False)
