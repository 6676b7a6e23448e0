"""Registered places: the directories that a person named for this home. What a model names counts only inside one of them."""

import json
import os
import threading
from collections.abc import Callable

from hindbrain.domain.brain import contains
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.stores.atomic import write_text
from hindbrain.stores.home import Home
from hindbrain.stores.locks import locked
from hindbrain.stores.repository import canonical_root

__all__ = ["RegisteredPlaces"]

_SCHEMA = "hindbrain-places-v0"
_MOST = 1_000

Signature = tuple[int, int, int]


class RegisteredPlaces:
    """The list in `places.json` of a home. Only human acts change it."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._read: tuple[Signature | None, tuple[str, ...]] = (None, ())

    def covers(self, path: str) -> bool:
        """True when a canonical path equals a registered place or lies inside one."""
        return any(contains(place, path) for place in self.all())

    def all(self) -> tuple[str, ...]:
        """The registered places, sorted. The file is read again only when it changed."""
        try:
            state = os.stat(self._home.places_file)
        except OSError:
            return ()
        signature = (state.st_ino, state.st_mtime_ns, state.st_size)
        with self._lock:
            if self._read[0] != signature:
                self._read = (signature, self._load())
            return self._read[1]

    def add(self, path: str) -> str:
        """Register a directory. The caller of this method has checked that a person acts."""
        place = _canonical(path)
        if not os.path.isdir(place):
            raise InvalidParams(f"{path[:120]!r} is not a directory", fix="give a directory that exists")
        if contains(place, canonical_root(self._home.path)) or contains(canonical_root(self._home.path), place):
            raise PathRefused(f"{place} holds or lies in the home of Hindbrain", fix="register the directories of your projects")
        if place in ("/", canonical_root("~")):
            raise PathRefused(f"{place} holds everything of this user", fix="register the directories of your projects")
        self._change(lambda known: known | {place})
        return place

    def remove(self, path: str) -> bool:
        """Remove a directory from the list; False when it was not there. The directory may be gone from the disk."""
        place = _canonical(path)
        there = place in self.all()
        if there:
            self._change(lambda known: known - {place})
        return there

    def _change(self, change: Callable[[set[str]], set[str]]) -> None:
        self._home.ensure()
        with locked(self._home.places_lock, wait_s=LOCK_WAIT_S):
            known = change(set(self._load()))
            if len(known) > _MOST:
                raise InvalidParams(f"a home has at most {_MOST} registered places", fix="remove some with `places remove`")
            write_text(self._home.places_file, json.dumps({"schema": _SCHEMA, "places": sorted(known)}, indent=2) + "\n")

    def _load(self) -> tuple[str, ...]:
        """What the file says; a file that cannot be read registers nothing."""
        try:
            found = json.loads(self._home.places_file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return ()
        places = found.get("places") if isinstance(found, dict) and found.get("schema") == _SCHEMA else None
        listed = places if isinstance(places, list) else []
        return tuple(sorted({one for one in listed if isinstance(one, str) and os.path.isabs(one)}))


def _canonical(path: str) -> str:
    if not os.path.isabs(os.path.expanduser(path)) or "\x00" in path:
        raise InvalidParams(f"{path[:120]!r} is not an absolute path", fix="give the absolute directory")
    return canonical_root(path)
