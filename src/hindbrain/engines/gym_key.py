"""Matching: which finding names which planted defect. Pure; a defect counts once, and a finding stands for one defect."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from hindbrain.domain.gym_fixture import AnswerKey, Seed

__all__ = ["NEAR_LINES", "Located", "matched"]

NEAR_LINES = 2  # a reader counts from the line above or the head of the statement


class Located(Protocol):
    """A finding, as far as matching looks at it."""

    @property
    def repository(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def line(self) -> int | None: ...

    @property
    def symbol(self) -> str | None: ...


def matched(key: AnswerKey, findings: Sequence[Located]) -> dict[int, str]:
    """Seed ids by the index of the finding that names them; the nearest seed of a place wins, then the first finding."""
    found: dict[int, str] = {}
    taken: set[str] = set()
    for at, finding in enumerate(findings):
        near = sorted(
            (far, seed.seed_id)
            for seed in key.seeds
            if seed.seed_id not in taken and (far := _apart(seed, finding, key.seeds)) is not None
        )
        if near:
            found[at] = near[0][1]
            taken.add(near[0][1])
    return found


def _apart(seed: Seed, finding: Located, seeds: Iterable[Seed]) -> int | None:
    """How far a finding is from a seed; None when it means something else."""
    if finding.path != seed.path or finding.repository not in ("", seed.repository):
        return None
    if finding.line is not None and seed.first_line <= finding.line <= seed.last_line:
        return 0
    symbol = finding.symbol or ""
    if symbol and symbol in (seed.symbol, *seed.also):
        return 1
    if symbol and any(symbol == other.symbol for other in seeds if other.path == seed.path):
        return None  # it names the place of another one
    if finding.line is None:
        return None
    far = min(abs(finding.line - seed.first_line), abs(finding.line - seed.last_line))
    return 1 + far if far <= NEAR_LINES else None
