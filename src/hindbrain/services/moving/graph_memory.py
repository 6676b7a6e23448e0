"""The MCP reference memory server: its knowledge graph, one entity or relation a line."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, Unread
from hindbrain.engines.graph_memory import from_line
from hindbrain.policy.evidence import LINE_MAX_BYTES
from hindbrain.policy.moving import LOOK_BYTES
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_tree import lines_within, start_of

__all__ = ["KIND", "GraphMemoryFile"]

_NAMES = ("memory.jsonl", "memory.json")  # as it is called now, and as it was before
_ROW = re.compile(rb'\s{0,64}\{\s{0,8}"type"\s{0,8}:\s{0,8}"(?:entity|relation)"')
_USUAL_LINE = 200  # bytes; for the progress only


def _file(path: Path) -> Path | None:
    if not path.is_dir():
        return path
    return next((path / name for name in _NAMES if (path / name).is_file()), None)


def _looks_like(path: Path) -> bool:
    file = _file(path)
    return file is not None and file.is_file() and _ROW.match(start_of(file, LOOK_BYTES)) is not None


class GraphMemoryFile:
    """One file of a graph."""

    kind = "mcp-memory"
    version: str | int | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.id = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def total(self) -> int:
        return self._path.stat().st_size // _USUAL_LINE

    def items(self) -> Iterator[Item | Unread]:
        for number, line in lines_within(self._path, LINE_MAX_BYTES):
            if line is None:
                reason = f"the line has more than {LINE_MAX_BYTES} bytes"
                yield Unread(key=f"line {number}", code=InvalidParams.code, reason=reason)
            else:
                yield from from_line(number, line)

    def left_out(self) -> Mapping[str, int]:
        return {}


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    path = _file(place.path)
    if path is None:
        raise InvalidParams(
            f"there is no {_NAMES[0]} in {place.path.name[:120]!r}", fix="give the file that MEMORY_FILE_PATH names"
        )
    yield GraphMemoryFile(path)


KIND = Kind(name="mcp-memory", looks_like=_looks_like, opened=_opened, knows_projects=False)
