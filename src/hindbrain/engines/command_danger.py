"""Command danger: how much a command can do, and why that is said."""

from dataclasses import dataclass, replace
from enum import IntEnum

__all__ = ["FREE", "Danger", "Judgement", "lost", "ran", "unknown", "worse"]


class Danger(IntEnum):
    """How much a command can do, from nothing on."""

    READS = 0
    WRITES = 1  # makes files or directories that were not there
    PROJECT = 2  # runs code of the workspace
    UNKNOWN = 3
    IRREVERSIBLE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a line can do, and why that is said."""

    danger: Danger
    why: str = ""
    fragment: str = ""
    copies_links: bool = False  # it may make links, through which another part of the line would write

    @property
    def asks(self) -> bool:
        return self.danger >= Danger.UNKNOWN


FREE = Judgement(danger=Danger.READS)


def unknown(why: str, shown: str) -> Judgement:
    """Return the judgement of what is not on a list, or not understood."""
    return Judgement(danger=Danger.UNKNOWN, why=why, fragment=shown)


def lost(why: str, shown: str) -> Judgement:
    """Return the judgement of what cannot be taken back."""
    return Judgement(danger=Danger.IRREVERSIBLE, why=why, fragment=shown)


def worse(*found: Judgement) -> Judgement:
    """Return the worst of some judgements."""
    return replace(max(found, key=lambda one: one.danger), copies_links=any(one.copies_links for one in found))


def ran(shown: str) -> Judgement:
    """Return the judgement of what runs code of the workspace."""
    return Judgement(danger=Danger.PROJECT, fragment=shown)
