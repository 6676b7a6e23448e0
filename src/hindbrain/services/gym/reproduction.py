"""The judge that needs no opinion: a finding's own small test, run on a fresh copy of the fixture and on its repaired version."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.probing import Probe, Tried

__all__ = ["Reproduced", "Reproducer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """What a reproduction showed. Only `confirmed` says that the finding is real."""

    verdict: Literal["confirmed", "refuted", "not_reproduced", "unrunnable"]
    why: str
    against_repair: bool = False  # whether there was a repaired version to hold it against


class Reproducer:
    """Judges by running. Every run has a copy of its own, which is thrown away."""

    def __init__(self, fixtures: Fixtures, *, time_limit_s: float = 20.0) -> None:
        self._fixtures = fixtures
        self._limit = time_limit_s

    def judge(self, fixture: str, reproduction: str | None, *, repository: str = "") -> Reproduced:
        """It has to fail on the fixture, and to pass once that is repaired, where a repaired version is known."""
        if not reproduction or not reproduction.strip():
            return Reproduced(verdict="not_reproduced", why="the finding brings no test")
        here = self._tried(fixture, reproduction, repository, repaired=False)
        if here.outcome == "broken":
            return Reproduced(verdict="unrunnable", why=f"the test cannot be run: {_last(here.output)}")
        if here.outcome == "passed":
            return Reproduced(verdict="refuted", why="the test passes on the fixture, so it shows no defect")
        if not self._fixtures.has_repair(fixture):
            if here.outcome == "endless":  # a test can wait for ever by itself
                return Reproduced(verdict="not_reproduced", why=f"the test shows nothing: {_last(here.output)}")
            return Reproduced(verdict="confirmed", why=f"the test fails on the fixture: {_last(here.output)}")
        there = self._tried(fixture, reproduction, repository, repaired=True)
        if there.outcome != "passed":
            return Reproduced(
                verdict="refuted",
                why="the test fails on the repaired version too, so it asks for something else",
                against_repair=True,
            )
        return Reproduced(
            verdict="confirmed", why=f"fails on the fixture, passes once repaired: {_last(here.output)}", against_repair=True
        )

    def _tried(self, fixture: str, text: str, repository: str, *, repaired: bool) -> Tried:
        with tempfile.TemporaryDirectory(prefix="hindbrain-gym-") as place:
            made = self._fixtures.make(fixture, Path(place, "copy"), repaired=repaired)
            root = made.repositories[repository or next(iter(made.repositories))]
            return Probe(root, time_limit_s=self._limit).reproduce(text)


def _last(output: str) -> str:
    return (output.strip().splitlines() or ["no output"])[-1][:200]
