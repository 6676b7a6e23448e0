"""Watching buses: the kernel tells when files of a bus change, whoever changes them. Knows paths, not what they say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from hindbrain.domain.brain import fingerprint
from hindbrain.domain.typed import decoded
from hindbrain.stores.bus_records import AGENTS
from hindbrain.stores.home import Home

__all__ = ["BusWatch", "Stop", "known_buses"]

_STEP_MS = 20  # how soon after the last of a row of changes they are told
_GROUPED_MS = 100  # and how long such a row may be


class Stop(Protocol):
    """Something that can be set from elsewhere, such as an event of threading."""

    def is_set(self) -> bool: ...


class BusWatch:
    """A watch of one directory, on from the moment it is made: nothing is missed between making it and the first look."""

    def __init__(self, directory: Path, *, below: bool) -> None:
        from watchfiles._rust_notify import RustNotify  # loaded by those who wait only

        self._directory = directory
        self._notify = RustNotify([str(directory)], False, False, 0, below, True)

    def changed(self, *, within_ms: int, stop: Stop | None = None) -> set[tuple[str, ...]] | None:
        """The paths that changed, as their parts below the directory; None when nothing did in time, or when it was stopped.
        Raises KeyboardInterrupt when somebody at the keyboard has enough."""
        said = self._notify.watch(_GROUPED_MS, _STEP_MS, within_ms, stop)
        if said == "signal":
            raise KeyboardInterrupt
        if isinstance(said, str):
            return None
        return {Path(path).relative_to(self._directory).parts for _, path in said if Path(path).is_relative_to(self._directory)}

    def close(self) -> None:
        self._notify.close()


class _Named(msgspec.Struct):
    project: str = ""


def known_buses(home: Home) -> Iterator[tuple[str, str]]:
    """The directory name and the checkout of every bus that says whose it is, and is right about it."""
    for directory in sorted(home.runtime.iterdir()) if home.runtime.is_dir() else ():
        try:
            project = decoded((directory / AGENTS).read_bytes(), _Named).project
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if project and fingerprint(project) == directory.name:
            yield directory.name, project
