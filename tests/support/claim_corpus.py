"""The claims of the gym over real files: each with the lines that it cites, and whether it is true."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from hindbrain.domain.mission_comparison import Comparison
from hindbrain.engines.claim_support import Source, compared
from hindbrain.services.gym.fixtures import Fixtures

__all__ = ["CorpusClaim", "corpus"]

_FIXTURES = Path(__file__).resolve().parents[2] / "gym" / "fixtures"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusClaim:
    claim: str
    path: str
    line: int | None
    truth: Literal["true", "false", "half_true"]
    lines: tuple[str, ...]

    def compared(self, claim: str | None = None) -> Comparison:
        """This claim, or another one, over the same lines."""
        cited = (self.line, self.line) if self.line else None
        return compared(claim or self.claim, [Source(name=self.path, path=self.path, lines=self.lines, cited=cited)])


@cache
def corpus(name: str) -> tuple[CorpusClaim, ...]:
    """All claims of a fixture."""
    truth = Fixtures((_FIXTURES,)).key(name).expects["claims"]
    (root,) = (_FIXTURES / name / "files").iterdir()
    found = []
    for one in json.loads((root / "claims.json").read_text(encoding="utf-8")):
        path, _, line = one["cites"].rpartition(":")
        path, number = (path, int(line)) if line.isdigit() else (one["cites"], None)
        lines = tuple((root / path).read_text(encoding="utf-8").splitlines())
        found.append(CorpusClaim(claim=one["claim"], path=path, line=number, truth=truth[one["id"]], lines=lines))
    return tuple(found)
