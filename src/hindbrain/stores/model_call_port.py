"""The part of the port that keeps calls of models: what each asked, answered and cost. The rows are the cost ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["BEGUN", "ModelCall", "ModelCallReading", "ModelCallWriting", "Spend"]

BEGUN = "begun"  # the outcome of a call whose answer is not known: it counts with the most it may cost


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call. `seq` is the entry of the ledger that records its beginning; money is in millionths."""

    seq: int
    at: int
    task_id: str | None
    role: str
    provider: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    elapsed_ms: int
    cost_micros: int
    outcome: str
    prompt: str
    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What calls cost together."""

    calls: int = 0
    tokens: int = 0
    cost_micros: int = 0


class ModelCallWriting(Protocol):
    """The part of a transaction that keeps calls of models."""

    def put_model_call(self, call: ModelCall) -> None:
        """Keep a call under the ledger entry that records it."""
        ...

    def settle_model_call(self, call: ModelCall) -> bool:
        """Say what became of a call that had begun; False when it was settled before."""
        ...

    def model_spend(self, *, since: int = 0, task_id: str | None = None) -> Spend:
        """What the calls since a time cost, of one task or of all, as this transaction sees them."""
        ...

    def erase_model_texts(self, task_ids: Sequence[str]) -> int:
        """Let the prompts and replies of these tasks be forgotten; what they cost stays. How many calls there were."""
        ...


class ModelCallReading(Protocol):
    """The reads of calls."""

    def model_calls(
        self, *, after: int = 0, limit: int = 1000, task_id: str | None = None, since: int = 0
    ) -> tuple[ModelCall, ...]:
        """Calls in order."""
        ...

    def model_spend(self, *, since: int = 0, task_id: str | None = None) -> Spend:
        """What the calls since a time cost, of one task or of all."""
        ...
