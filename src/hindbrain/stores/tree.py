"""The tree: the files of a checkout as they are on the disk now, read without following links, waiting, or taking all memory."""

import os
from dataclasses import dataclass

from hindbrain.stores.ordinary_file import is_ordinary
from hindbrain.stores.repository import files_of

__all__ = ["Content", "listed", "read"]

_BINARY_LOOK = 8192


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes, or why there are none: gone, unreadable, special, link, binary, large."""

    raw: bytes = b""
    why_not: str | None = None


def listed(root: str, *, skipped: frozenset[str]) -> list[str]:
    """Relative paths in order, without those below a directory that is never looked into."""
    try:
        return sorted({path for path in files_of(root) if skipped.isdisjoint(path.split("/")[:-1])} - {""})
    except OSError:
        return []


def read(root: str, path: str, *, most: int) -> Content:
    """One regular file. A pipe, a device or a link is never opened for reading: it could block, or lead out of the root."""
    full = os.path.join(root, path)
    try:
        # Neither waits for a writer of a pipe nor follows a link; every directory above is one that the listing walked through.
        number = os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return Content(why_not="gone")
    except (OSError, ValueError):
        return Content(why_not="link" if os.path.islink(full) else "unreadable")
    try:
        facts = os.fstat(number)
        if not is_ordinary(facts):
            return Content(why_not="special")
        if facts.st_size > most:
            return Content(why_not="large")
        raw = _all(number, most)
    except OSError:
        return Content(why_not="unreadable")
    finally:
        os.close(number)
    if b"\x00" in raw[:_BINARY_LOOK]:
        return Content(why_not="binary")
    return Content(raw)


def _all(number: int, most: int) -> bytes:
    """At most so many bytes, also of a file that grows while it is read."""
    parts: list[bytes] = []
    size = 0
    while size < most and (part := os.read(number, min(1 << 20, most - size))):
        parts.append(part)
        size += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
