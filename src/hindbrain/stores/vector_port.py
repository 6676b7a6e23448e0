"""The port of vectors: what stands beside a brain's full text to find by meaning. Derived: may be dropped and made again.

A unit is a row of a shelf, known by its turn. One embedder's vectors never mix with another's: each has its stamp.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

__all__ = ["Embedded", "Near", "Pending", "Shelf", "Vectors"]


class Shelf(StrEnum):
    """What kind of row a unit is. Each kind is searched by itself; none dilutes another's word counts."""

    CLAIM = "claim"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A unit that has no vector of an embedder yet."""

    turn: int
    key: str  # slug or evidence id


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """The vectors of one unit. A long claim has several parts; evidence has one."""

    turn: int
    part: int = 0
    raw: bytes  # int8, dims values: the text by itself
    searched: bytes  # int8, dims values: with its neighbours in the conversation mixed in; what `nearest` compares
    late: bytes = b""  # int8, tokens x late dims: token states of a short text


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """What a question is near to: turns, best first, with their cosine."""

    turns: tuple[int, ...]
    cosines: tuple[float, ...]


class Vectors(Protocol):
    """Vectors of one brain. Safe for several threads and processes."""

    def stamps(self, shelf: Shelf) -> dict[str, int]:
        """Embedder stamp -> number of units it has vectors for."""
        ...

    def pending(self, stamp: str, shelf: Shelf, *, limit: int, newest: bool = False) -> tuple[Pending, ...]:
        """Live units without a vector of this embedder, oldest first, or newest first: what was just written shall not wait
        behind a backlog."""
        ...

    def missing(self, stamp: str) -> dict[Shelf, int]:
        """How many live units of each shelf have no vector of this embedder."""
        ...

    def put(self, stamp: str, shelf: Shelf, rows: Sequence[Embedded]) -> None:
        """Keep vectors; a unit that has some already gets these instead. Units that ended meanwhile are left out."""
        ...

    def raw(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        """The raw vector (part 0) of each of these units that has one."""
        ...

    def late(self, stamp: str, shelf: Shelf, turns: Sequence[int]) -> dict[int, bytes]:
        """The token states of each of these units that has some."""
        ...

    def nearest(
        self, stamp: str, shelf: Shelf, query: Sequence[float], *, limit: int, among: Collection[int] | None = None
    ) -> Near:
        """The units nearest to a unit vector by `searched`, the best part of each; `among` restricts to these turns."""
        ...

    def cosines(self, stamp: str, shelf: Shelf, query: Sequence[float], turns: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these units that has a vector."""
        ...

    def drop(self, stamp: str) -> None:
        """Forget everything of an embedder."""
        ...
