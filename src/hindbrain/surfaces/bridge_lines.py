"""Lines of a bridge: JSON-RPC framing without a library. Knows what a message looks like, not what it is for."""

from __future__ import annotations

import json

# As in exchange.py: the typing module is too dear for a thin process.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["INVALID_REQUEST", "LINE_LIMIT", "PARSE_ERROR", "SERVER_ERROR", "Lines", "failure", "found_id", "success"]

PARSE_ERROR, INVALID_REQUEST, SERVER_ERROR = -32700, -32600, -32000

# One message. Far above any claim, far below what would make a shared process notice.
LINE_LIMIT = 16 * 1024 * 1024

_SHOWN = 512  # bytes kept of either end of a line that is too long: enough for its id, wherever a client puts it


class Lines:
    """Bytes in, whole lines out. A line above the limit comes out as its two ends, marked."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, chunk: bytes) -> list[tuple[bytes, bool]]:
        """The lines this chunk completes, each with whether it was whole."""
        *ends, rest = chunk.split(b"\n")
        found = []
        for end in ends:
            self._add(end)
            found.append(self._taken())
        self._add(rest)
        return found

    def rest(self) -> list[tuple[bytes, bool]]:
        """What the stream ended with, if it ended inside a line."""
        return [self._taken()] if self._size else []

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._limit:
            held = b"".join(self._pieces)
            if not self._head:
                self._head, held = held[:_SHOWN], held[_SHOWN:]
            self._pieces = [held[-_SHOWN:]]

    def _taken(self) -> tuple[bytes, bool]:
        line, whole = self._head + b"".join(self._pieces), self._size <= self._limit
        self._pieces, self._size, self._head = [], 0, b""
        return line, whole


def success(request_id: Any, result: str) -> bytes:
    """The answer to a request whose result is already JSON."""
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(request_id).encode(), result.encode())


def failure(request_id: Any, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
    """The error that answers a request."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode() + b"\n"


def found_id(ends: bytes) -> Any:
    """The id in the two ends of a line too long to be read: clients write it first or last. None when it is in neither."""
    import re

    pattern = rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")\s*'
    first = re.match(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + pattern + b",", ends)
    found = first or re.search(rb",\s*" + pattern + rb"\}\s*$", ends)
    return json.loads(found[1]) if found else None
