"""Sources: the port that a reader of another program's memory fills. A reader looks at a copy or at plain files, writes nothing
there, and gives items; what becomes of them is not its concern."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hindbrain.domain.moving import Item, Unread

__all__ = ["Kind", "Place", "Source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reader looks."""

    path: Path  # real and absolute; a file or a directory
    room: Path  # a private directory of ours, for copies
    root: str | None  # of the project that asks


class Source(Protocol):
    """An opened memory of another program."""

    @property
    def kind(self) -> str:
        """Which program's."""
        ...

    @property
    def id(self) -> str:
        """Which one of them: with the kind and an item's key it says what an item is, for ever."""
        ...

    @property
    def version(self) -> str | int | None:
        """Of its format, where it has one."""
        ...

    def total(self) -> int:
        """About how many items there are; for the progress only."""
        ...

    def items(self) -> Iterator[Item | Unread]:
        """Everything, in a fixed order. Of every project: which of them are wanted is decided by whoever asked."""
        ...

    def left_out(self) -> Mapping[str, int]:
        """What has no place here, by name, and how much of it there is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One program whose memory can move in."""

    name: str
    looks_like: Callable[[Path], bool]  # cheap, never raises for a path that is readable
    opened: Callable[[Place], AbstractContextManager[Source]]
    knows_projects: bool = True  # its items say to which project they belonged
