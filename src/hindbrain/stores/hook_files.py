"""Hook files: one small file per session of a host below the runtime directory of its checkout, and one for packets that are
due. They live for days; one that cannot be read is one that is not there."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from hindbrain.domain.hook_session import HookDues, HookSession
from hindbrain.domain.typed import decoded
from hindbrain.policy.hooks import SESSION_MS, SESSIONS_KEPT
from hindbrain.stores.atomic import write_bytes
from hindbrain.stores.directories import make_directory
from hindbrain.stores.locks import locked

__all__ = ["HookFiles"]

T = TypeVar("T")
_WAIT_S = 1.0  # a hook has no time to wait for another one
_MOST_BYTES = 1 << 20


class HookFiles:
    """What the hooks of one checkout remember."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._dues = place / "due.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """One hook of this checkout changes what is kept at a time."""
        make_directory(self._place)
        with locked(self._place / ".lock", wait_s=_WAIT_S):
            yield

    def session(self, name: str, now: int) -> HookSession:
        """What is known of a session; a new one when that is nothing, or too old to count."""
        found = _read(self._path(name), HookSession)
        return found if found is not None and now - found.at < SESSION_MS else HookSession(at=now)

    def keep(self, name: str, session: HookSession) -> None:
        """Write what is known of a session; of too many sessions the oldest are forgotten. The caller holds the lock."""
        write_bytes(self._path(name), msgspec.json.encode(session))
        kept = list(self._place.glob("s-*.json"))
        if len(kept) > SESSIONS_KEPT:
            ages = sorted((found.at if (found := _read(path, HookSession)) else 0, path) for path in kept)
            for _, path in ages[: len(kept) - SESSIONS_KEPT]:
                path.unlink(missing_ok=True)

    def dues(self) -> HookDues:
        return _read(self._dues, HookDues) or HookDues()

    def keep_dues(self, dues: HookDues) -> None:
        """The caller holds the lock."""
        write_bytes(self._dues, msgspec.json.encode(dues))

    def _path(self, name: str) -> Path:
        return self._place / f"s-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            return decoded(file.read(_MOST_BYTES), kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, OSError):
            return None
