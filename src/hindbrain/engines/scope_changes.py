"""Scope changes: when something inside a scope was edited, ingested or checked out anew. A change marks its place and every
folder above it, so asking costs the depth of a path and not the number of changes."""

import posixpath
from collections.abc import Iterator

__all__ = ["ScopeChanges"]


class ScopeChanges:
    """The last change of every place."""

    def __init__(self) -> None:
        self._within: dict[str, int] = {}  # place -> last change at it or below it
        self._whole: dict[str, int] = {}  # place -> last change of all that lies below it

    def note(self, place: str, seq: int) -> None:
        """Something at this place changed; what lies below it counts as changed too. The empty place is everything."""
        plain = _plain(place)
        self._whole[plain] = seq
        for one in _upwards(plain):
            self._within[one] = seq

    def since(self, scope: str, seq: int) -> bool:
        """Whether anything inside a scope changed after an event."""
        plain = _plain(scope)
        return self._within.get(plain, 0) > seq or any(self._whole.get(one, 0) > seq for one in _upwards(plain))


def _plain(place: str) -> str:
    made = posixpath.normpath(place.strip()).strip("/")
    return "" if made == "." else made


def _upwards(place: str) -> Iterator[str]:
    """The place, the folders above it, and everything."""
    yield place
    while place:
        place = posixpath.dirname(place)
        yield place
