"""Gates of a wave: what one of them showed, and what it rests on."""

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Condition", "GateResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One gate that was run: passed or not, why, and the files that show it."""

    wave: int
    name: str
    passed: bool
    says: str
    evidence: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of acceptance: met or not, why, and what shows it."""

    row: str
    name: str
    met: bool
    says: str
    evidence: tuple[Path, ...] = ()
