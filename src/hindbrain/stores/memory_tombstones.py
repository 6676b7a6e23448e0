"""Tombstones of the in-memory store: values that must not come back, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["MemoryTombstoneReads", "MemoryTombstoneWriter", "TombstoneState"]


@dataclass
class TombstoneState:
    """Fingerprints with time, author and reason."""

    tombstones: dict[str, tuple[int, str, str]] = field(default_factory=dict)


class MemoryTombstoneWriter:
    """Writes tombstones."""

    _state: TombstoneState

    def put_tombstone(self, fingerprint: str, *, at: int, by: str, reason: str) -> None:
        self._state.tombstones.setdefault(fingerprint, (at, by, reason))

    def redact_tombstones(self, reason: str, *, to: str) -> int:
        hit = {key: held for key, held in self._state.tombstones.items() if held[2] == reason}
        self._state.tombstones |= {key: (at, by, to) for key, (at, by, _) in hit.items()}
        return len(hit)

    def drop_tombstone(self, fingerprint: str) -> bool:
        return self._state.tombstones.pop(fingerprint, None) is not None


class MemoryTombstoneReads:
    """Reads tombstones."""

    _state: TombstoneState

    def tombstone_reasons(self) -> tuple[str, ...]:
        return tuple(sorted({reason for _, _, reason in self._state.tombstones.values()}))

    def tombstones(self, fingerprints: Sequence[str]) -> frozenset[str]:
        return frozenset(fingerprints) & self._state.tombstones.keys()
