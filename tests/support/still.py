"""Whether a call changed anything on disk: every byte of every file, before and after."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["bytes_of", "still"]


def bytes_of(place: Path) -> dict[str, bytes]:
    """Every file below a place with its bytes. What a reader of a database leaves beside it is left out: its shared memory, and
    a log of changes without any."""
    found = {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file() and path.suffix != ".db-shm"}
    return {str(path): held for path, held in found.items() if held or path.suffix != ".db-wal"}


@contextmanager
def still(place: Path) -> Iterator[None]:
    """Insist that nothing below a place changes, appears or goes in the block."""
    before = bytes_of(place)
    yield
    after = bytes_of(place)
    assert sorted(after) == sorted(before)
    assert [path for path in after if after[path] != before[path]] == []
