"""File changes: what differs between two versions of a set of files, as data and as text for a person. Pure."""

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hindbrain.policy.tools import DIFF_LINES

__all__ = ["FileChange", "FileVersion", "change_diff", "digest", "plan_identity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersion:
    """The content of a file, and whether it can be executed."""

    raw: bytes
    executable: bool = False

    @property
    def mark(self) -> str:
        return digest(self.raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file before and after; None where it is not there. `conflict` says why it cannot be written."""

    name: str
    before: FileVersion | None
    after: FileVersion | None
    conflict: str = ""

    @property
    def kind(self) -> Literal["new", "changed", "deleted"]:
        if self.before is None:
            return "new"
        return "deleted" if self.after is None else "changed"


def digest(raw: bytes) -> str:
    """The SHA-256 of a content."""
    return hashlib.sha256(raw).hexdigest()


def plan_identity(subject: str, changes: Sequence[FileChange]) -> str:
    """A name for exactly these changes: another content, name or mode gives another one."""
    lines = [subject]
    for one in changes:
        sides = [f"{side.mark} {side.executable}" if side is not None else "-" for side in (one.before, one.after)]
        lines.append("\0".join((one.name, *sides)))
    return digest("\n".join(lines).encode("utf-8", "surrogateescape"))[:16]


def change_diff(change: FileChange) -> str:
    """A unified diff, cut where it is long. Of a file that is no text only its size is shown."""
    sides = [side.raw if side is not None else b"" for side in (change.before, change.after)]
    mode = _mode(change)
    if any(b"\0" in raw for raw in sides):
        return "\n".join((*mode, f"binary file: {len(sides[0])} bytes before, {len(sides[1])} bytes after"))
    old, new = (raw.decode("utf-8", "replace").split("\n") if raw else [] for raw in sides)
    names = ("/dev/null" if change.before is None else change.name, "/dev/null" if change.after is None else change.name)
    lines = list(difflib.unified_diff(old, new, *names, lineterm="", n=3))
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], f"… {len(lines) - DIFF_LINES} more lines"]
    return "\n".join((*mode, *lines))


def _mode(change: FileChange) -> tuple[str, ...]:
    before = change.before is not None and change.before.executable
    if change.after is None or change.after.executable == before:
        return ()
    return ("becomes executable" if change.after.executable else "is no longer executable",)
