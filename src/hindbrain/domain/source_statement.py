"""One statement of a source: a sentence, an assignment, a call or a definition, with the blocks that enclose it."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Enclosing", "Statement"]

Role = Literal["definition", "guard", "loop", "section", "heading", "block"]
StatementKind = Literal["code", "header", "data", "prose", "comment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosing:
    """A block that encloses a statement, by its first line. In the other branch of a condition it is `negated`."""

    role: Role
    text: str
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Lines that say one thing. `note` is the comment at it; `body_end` is the last line of the block that a header opens."""

    kind: StatementKind
    text: str
    first: int
    last: int
    enclosing: tuple[Enclosing, ...] = ()
    note: str = ""
    body_end: int = 0
    role: Role | None = None  # of a header
