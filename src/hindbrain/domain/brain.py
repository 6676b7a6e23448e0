"""Brains: the memory of one project, and the one medulla that belongs to none."""

import hashlib
import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

__all__ = ["MEDULLA", "Brain", "BrainId", "Fingerprint", "Tier", "TierAsked", "born_in", "contains", "fingerprint", "origin_id"]

BrainId = NewType("BrainId", str)
Fingerprint = NewType("Fingerprint", str)

MEDULLA = "medulla"
_ORIGIN_ID = re.compile(r"\(([^()\s]+)\)$")


class Tier(StrEnum):
    """Decided by where a row lives, never a stored field."""

    PROJECT = "project"
    MEDULLA = "medulla"


class TierAsked(StrEnum):
    """How wide a recall may read. Only an explicit argument ever widens it."""

    DEFAULT = "project+medulla"
    PROJECT = "project"
    MEDULLA = "medulla"
    ALL_BRAINS = "all-brains"


def fingerprint(canonical_root: str) -> Fingerprint:
    """The directory name of a brain: 16 hexadecimal characters over the canonical root."""
    return Fingerprint(hashlib.sha256(canonical_root.encode("utf-8", "surrogateescape")).hexdigest()[:16])


def contains(root: str, path: str) -> bool:
    """True when path equals root or lies under it, by component. Both are canonical already."""
    return path == root or path.startswith(root if root == "/" else root + "/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brain:
    """Identity of one brain. The medulla has no root."""

    id: BrainId
    root: str | None
    created_ms: int
    last_ingest_ms: int | None = None
    ingest_roots: tuple[str, ...] = ()

    @property
    def tier(self) -> Tier:
        return Tier.MEDULLA if self.root is None else Tier.PROJECT

    @property
    def mark(self) -> tuple[str, int]:
        """Which brain this is, wherever it lies: a path may have another one later, and a clone brings the same id."""
        return self.id, self.created_ms

    @property
    def name(self) -> str:
        """What rows and answers call this brain: its root, or `medulla`."""
        return MEDULLA if self.root is None else self.root

    @property
    def display_name(self) -> str:
        return MEDULLA if self.root is None else posixpath.basename(self.root) or self.root

    @property
    def origin(self) -> str:
        """Return how a claim file names the brain it was born in: name and id, never a path of one machine."""
        return MEDULLA if self.root is None else f"{' '.join(self.display_name.split())} ({self.id})"

    @property
    def fingerprint(self) -> str:
        return MEDULLA if self.root is None else fingerprint(self.root)

    def covers(self, path: str) -> bool:
        """True when path lies under the workspace root or under one of the ingest roots."""
        return self.root is not None and any(contains(root, path) for root in (self.root, *self.ingest_roots))


def origin_id(origin: str) -> BrainId | None:
    """Return the brain id in an origin; None for the medulla, and for a root as older releases wrote it."""
    found = None if "/" in origin else _ORIGIN_ID.search(origin)
    return BrainId(found[1]) if found else None


def born_in(brain: Brain, origin: str | None) -> bool:
    """Return True if an origin names this brain, by its id or by its root."""
    return origin is not None and (origin == brain.name or (brain.root is not None and origin_id(origin) == brain.id))
