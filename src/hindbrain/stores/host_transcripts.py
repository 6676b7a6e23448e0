"""Transcripts of agent hosts: in which directory a session began, read from the first lines of its file."""

from itertools import islice
from typing import Any

import msgspec

from hindbrain.domain.errors import PathRefused
from hindbrain.policy.moving import CWD_LINES
from hindbrain.stores.evidence_files import lines_of, opened_file

__all__ = ["began_in"]


def began_in(path: str) -> str | None:
    """The directory that a session says it began in; None when its first lines do not say."""
    try:
        with opened_file(path) as file:
            for line in islice(lines_of(file), CWD_LINES):
                found = _cwd(line)
                if found is not None:
                    return found
    except (OSError, PathRefused):
        return None
    return None


def _cwd(line: bytes) -> str | None:
    try:
        told: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    for held in (told, told.get("payload") if isinstance(told, dict) else None):
        cwd = held.get("cwd") if isinstance(held, dict) else None
        if isinstance(cwd, str) and cwd.startswith("/") and "\x00" not in cwd:
            return cwd
    return None
