"""Memory's calls of models: what the databases must do with them, said as plainly as Python can."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hindbrain.stores.memory_experience import ExperienceState, MemoryExperienceWriter
from hindbrain.stores.model_call_port import BEGUN, ModelCall, Spend

__all__ = ["MemoryModelCallReads", "MemoryModelCallWriter", "ModelCallState"]


@dataclass(slots=True)
class ModelCallState(ExperienceState):
    """What a brain holds of calls of models, by their entry."""

    model_calls: dict[int, ModelCall] = field(default_factory=dict)


def _spend(calls: Iterable[ModelCall], since: int, task_id: str | None) -> Spend:
    counted = [one for one in calls if one.at >= since and task_id in (None, one.task_id)]
    return Spend(
        calls=len(counted),
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in counted),
        cost_micros=sum(one.cost_micros for one in counted),
    )


class MemoryModelCallWriter(MemoryExperienceWriter):
    """The part of a transaction that keeps calls of models."""

    def __init__(self, state: ModelCallState) -> None:
        super().__init__(state)
        self._calls = state

    def put_model_call(self, call: ModelCall) -> None:
        self._calls.model_calls[call.seq] = call

    def settle_model_call(self, call: ModelCall) -> bool:
        held = self._calls.model_calls.get(call.seq)
        if held is None or held.outcome != BEGUN:
            return False
        self._calls.model_calls[call.seq] = replace(
            held,
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            elapsed_ms=call.elapsed_ms,
            cost_micros=call.cost_micros,
            outcome=call.outcome,
            reply=call.reply,
        )
        return True

    def model_spend(self, *, since: int = 0, task_id: str | None = None) -> Spend:
        return _spend(self._calls.model_calls.values(), since, task_id)

    def erase_model_texts(self, task_ids: Sequence[str]) -> int:
        held = self._calls.model_calls
        gone = [one for one in held.values() if one.task_id in task_ids]
        held |= {one.seq: replace(one, prompt="", reply="") for one in gone}
        return len(gone)


class MemoryModelCallReads:
    """The reads of calls."""

    _state: ModelCallState

    def model_calls(
        self, *, after: int = 0, limit: int = 1000, task_id: str | None = None, since: int = 0
    ) -> tuple[ModelCall, ...]:
        held = sorted(self._state.model_calls.values(), key=lambda one: one.seq)
        found = [one for one in held if one.seq > after and one.at >= since and task_id in (None, one.task_id)]
        return tuple(found[: max(limit, 0)])

    def model_spend(self, *, since: int = 0, task_id: str | None = None) -> Spend:
        return _spend(self._state.model_calls.values(), since, task_id)
