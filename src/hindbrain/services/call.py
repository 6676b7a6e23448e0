"""The call: one caller's request on its way through the house, with what it needs to be answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hindbrain.domain.caller import UNKNOWN_AGENT, AgentId, Caller, SessionId
from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.fence import plain_line

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["Call", "Retrieved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """An answer of a retrieval operation, with what its envelope has to say of it."""

    answer: dict[str, Any]
    candidates: int
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Caller, house and a way to report progress. Operations get nothing else."""

    caller: Caller
    house: "House"
    progress: Callable[[int, int, str], None]

    @property
    def now(self) -> int:
        return self.house.clock()

    def envelope(
        self, *, tool: str, candidates: int | None, scope: str | None, error: str | None, proof_state: str | None
    ) -> dict[str, Any]:
        return self.house.contract.envelope(
            self.caller, tool=tool, candidates=candidates, scope=scope, error=error, proof_state=proof_state
        )

    def plainly_named(self) -> "Call":
        """The same call with the agent's name on one line, without signs that steer a terminal."""
        if self.caller.agent.isprintable():
            return self
        name = AgentId(plain_line(self.caller.agent) or UNKNOWN_AGENT)
        return replace(self, caller=replace(self.caller, agent=name))

    def unnamed(self) -> "Call":
        """The same call by somebody unknown."""
        nobody = replace(self.caller, agent=UNKNOWN_AGENT, session=SessionId(UNKNOWN_AGENT), delegation=None)
        return replace(self, caller=nobody)

    def observed(self, name: str, given: Mapping[str, Any], answer: Mapping[str, Any], ms: int, mission: object) -> None:
        """A tool of ours was used: where that is part of a mission, it is an event of it."""
        self.house.observing.saw(self.caller, name, given, answer, ms, mission if isinstance(mission, str) else None)

    def record_refusal(self, operation: str, refusal: HindbrainError) -> None:
        self.house.refusals.record(self.caller, operation, refusal)
