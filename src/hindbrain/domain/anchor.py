"""Anchors: which scope a piece of evidence or a card belongs to. One checkout, the repository, or no project at all."""

from dataclasses import dataclass
from enum import StrEnum

from hindbrain.domain.errors import InvalidParams

__all__ = ["GLOBAL", "LEGACY", "Anchor", "AnchorKind"]


class AnchorKind(StrEnum):
    """From near to far; memory starts near and is published outward."""

    WORKTREE = "worktree"
    REPO = "repo"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A scope. A worktree that belongs to a repository has it as its parent."""

    kind: AnchorKind
    id: str
    parent: str | None = None

    def __post_init__(self) -> None:
        prefix = f"{self.kind.value}://"
        if not self.id.startswith(prefix) or not self.id.removeprefix(prefix).strip():
            raise InvalidParams(
                f"the anchor id {self.id[:80]!r} does not name a {self.kind.value}", fix=f"an anchor id begins with {prefix}"
            )


GLOBAL = Anchor(kind=AnchorKind.GLOBAL, id="global://default")
LEGACY = Anchor(kind=AnchorKind.REPO, id="repo://legacy")
