"""Palaces: which program's memory lies at a path."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.evidence import Domain
from hindbrain.stores import mempal, mempalace
from hindbrain.stores.foreign_file import Record, opened_foreign
from hindbrain.stores.mempal import MempalFile
from hindbrain.stores.mempalace import MempalaceFacts, MempalaceFile

__all__ = ["Palace", "is_global", "is_live", "opened_palace"]

Palace = MempalFile | MempalaceFile | MempalaceFacts


def is_live(row: Record) -> bool:
    """Whether nobody deleted it there."""
    return row.get("deleted_at") in (None, "")


def is_global(row: Record) -> bool:
    """Whether a row goes to the medulla: both programs ask for both words."""
    return row.get("anchor_kind") == AnchorKind.GLOBAL.value and row.get("domain") == Domain.GLOBAL.value


@contextmanager
def opened_palace(path: Path, kind: str, room: Path) -> Iterator[Palace]:
    """The memory at a path: a database, or a directory with one of the known names."""
    names = (mempal.NAME, mempalace.NAME, f"palace/{mempalace.NAME}", mempalace.FACTS)
    places = tuple(path / name for name in names) if path.is_dir() else (path,)
    found = next((place for place in places if place.is_file()), None)
    if found is None and path.exists():
        if kind == "auto":
            raise InvalidParams(
                f"no memory of a known program is in {str(path)[:200]}, and neither {mempal.NAME} nor {mempalace.NAME}",
                fix="give the directory or file where the program keeps it, and say whose it is with kind",
            )
        raise InvalidParams(
            f"there is neither {mempal.NAME} nor {mempalace.NAME} in {str(path)[:200]}", fix="give the database itself"
        )
    with ExitStack() as stack:
        file = stack.enter_context(opened_foreign(found or path, room))
        if kind == MempalFile.kind or (kind == "auto" and mempal.is_mempal(file)):
            yield MempalFile(file)
        elif mempalace.is_facts(file):
            yield MempalaceFacts(file)
        elif kind == MempalaceFile.kind or mempalace.is_mempalace(file):
            beside = (file.path.parent / mempalace.FACTS, file.path.parent.parent / mempalace.FACTS)
            facts = next((place for place in beside if place.is_file()), None)
            yield MempalaceFile(file, stack.enter_context(opened_foreign(facts, room)) if facts else None)
        else:
            raise InvalidParams(
                f"{file.path.name} is neither a database of mempal nor of MemPalace",
                fix=f"give {mempal.NAME} or {mempalace.NAME}",
            )
