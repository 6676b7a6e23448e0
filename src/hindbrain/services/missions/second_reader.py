"""The second reader: a model of the tier that judges plans (R4b, never below R2) reads a claim that the comparison found shown.
It is asked outside of every transaction, for an answer may take long."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from hindbrain.domain.errors import ConfigInvalid, HindbrainError
from hindbrain.domain.message import Role
from hindbrain.domain.mission_comparison import SecondReading
from hindbrain.engines.second_reading import ASKED
from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.ports import Mind

__all__ = ["ReaderNeeded", "SecondReader"]

_TOKENS = 400
_TIMEOUT_S = 60.0
_WHY_MOST = 300


class ReaderNeeded(Exception):
    """A claim was found shown, and a second reader has to see it before that is written down."""

    def __init__(self, question: str) -> None:
        super().__init__(question[:80])
        self.question = question


class Opinion(Struct, frozen=True, kw_only=True):
    """What a model answers."""

    verdict: Literal["supported", "not_shown", "contradicted"]
    why: str


class SecondReader:
    """Asks the model of a brain. `mind` gives it, or None where none is set."""

    def __init__(self, mind: Callable[[OpenBrain], Mind | None]) -> None:
        self._mind = mind

    def is_set(self, opened: OpenBrain) -> bool:
        """Whether somebody has to be asked. A model that is set wrongly counts: its reading then says what is wrong."""
        try:
            return self._mind(opened) is not None
        except ConfigInvalid:
            return True

    def read(self, opened: OpenBrain, question: str) -> SecondReading:
        """Ask once. Without an answer the reading says who did not answer, and lowers nothing."""
        name = ""
        try:
            mind = self._mind(opened)
            if mind is None:
                return SecondReading(verdict="no_answer", why="no model is set any more")
            name = mind.named(Role.META_VALIDATOR)
            thought = mind.think(
                Role.META_VALIDATOR,
                task_id=None,
                system=ASKED,
                user=question,
                schema=Opinion,
                max_tokens=_TOKENS,
                timeout_s=_TIMEOUT_S,
            )
        except HindbrainError as failed:
            return SecondReading(verdict="no_answer", reader=name, why=str(failed)[:_WHY_MOST])
        if thought is None or not isinstance(thought.data, Opinion):
            return SecondReading(verdict="no_answer", reader=name, why="it did not answer, or a cap is reached")
        said = thought.data
        return SecondReading(verdict=said.verdict, reader=f"{thought.provider} {thought.model}", why=said.why[:_WHY_MOST])
