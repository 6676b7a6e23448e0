"""Gates of a wave: what one of them showed, and what it rests on."""

from hindbrain.domain.task import Count, Record

__all__ = ["Condition", "GateResult", "Run"]


class GateResult(Record, frozen=True, kw_only=True):
    """One gate that was run: passed or not, why, and the files that show it."""

    wave: Count
    name: str
    passed: bool
    says: str
    evidence: tuple[str, ...] = ()


class Run(Record, frozen=True, kw_only=True):
    """Gates that were run together, by which build."""

    version: str
    build: str
    gates: tuple[GateResult, ...]
    schema: str = "hindbrain-gate-run-v1"


class Condition(Record, frozen=True, kw_only=True):
    """One condition of acceptance: met or not, why, and what shows it."""

    row: str
    name: str
    met: bool
    says: str
    evidence: tuple[str, ...] = ()
