"""Scopes: which part of a graph a call asks about. `src`, `file::src` and the absolute form mean the same."""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hindbrain.domain.brain import contains

__all__ = ["MEMORY", "Scope", "scope_of"]

MEMORY = "light::"  # claims
_FILE = "file::"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A prefix over paths and ids. Without a prefix everything is inside."""

    path: str = ""  # relative to the root; empty: all of it
    symbol: str = ""  # what follows the path in an id: `::class::A`
    memory: bool = False  # claims only, no code
    outside: str | None = None  # the absolute path that lies under no root

    def covers_path(self, path: str) -> bool:
        return not self._closed and (not self.path or path == self.path or path.startswith(self.path + "/"))

    def covers_id(self, node_id: str, path: str) -> bool:
        return self.covers_path(path) and (not self.symbol or (node_id + "::").startswith(f"{_FILE}{self.path}{self.symbol}::"))

    @property
    def _closed(self) -> bool:
        return self.memory or self.outside is not None

    def within(self, paths: Iterable[str]) -> "Scope":
        """The same scope over real paths: a prefix that ends inside a name is taken as it stands."""
        if self._closed or not self.path or self.symbol:
            return self
        known = list(paths)
        if any(map(self.covers_path, known)):
            return self
        return _Prefix(path=self.path)


class _Prefix(Scope):
    """A prefix that ends inside a name, such as `src/re`."""

    __slots__ = ()

    def covers_path(self, path: str) -> bool:
        return path.startswith(self.path)


def scope_of(scope: str | None, roots: Sequence[tuple[str, str]]) -> Scope:
    """What a `scope` argument means under these roots, each with what its paths begin with in the graph."""
    told = (scope or "").strip()
    if not told:
        return Scope()
    if told.startswith(MEMORY) or (MEMORY.startswith(told) and not told.startswith("file")):
        return Scope(memory=True)
    told, _, symbol = told.removeprefix(_FILE).partition("::")
    if posixpath.isabs(told):
        plain = posixpath.normpath(told)
        for root, prefix in roots:
            if contains(root, plain):
                return Scope(path=(prefix + _relative(plain, root)).rstrip("/"), symbol=_symbol(symbol))
        return Scope(outside=plain)
    plain = posixpath.normpath(told) if told else ""
    return Scope(path="" if plain == "." else plain.rstrip("/"), symbol=_symbol(symbol))


def _relative(path: str, root: str) -> str:
    return "" if path == root else path.removeprefix(root.rstrip("/") + "/")


def _symbol(rest: str) -> str:
    return f"::{rest.rstrip(':')}" if rest.rstrip(":") else ""
