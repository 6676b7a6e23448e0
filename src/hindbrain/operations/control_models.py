"""Operations on the models behind the control loop: which are set, and what they cost."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, UnknownTask
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["cost", "models"]


@operation("control.models", effect=Effect.READ)
def models(
    call: Call,
    check: Annotated[bool, Meta(description="also ask each provider whether a call would get through; costs no tokens")] = False,
) -> dict[str, Any]:
    """Say which models serve the control loop, in which tier, under which caps. Keys are named by where they come from only."""
    return call.house.model_report.models(check=check)


@operation("control.cost", effect=Effect.READ, raises=(BrainlessRoot, UnknownTask))
def cost(
    call: Call,
    task_id: Annotated[str | None, Meta(description="only the calls of this task")] = None,
    days: Annotated[int, Meta(ge=1, le=366, description="how many days back, today included; a task is shown whole")] = 7,
    tier: Annotated[str | None, Meta(description="medulla for the shared one")] = None,
) -> dict[str, Any]:
    """Say what models cost in this brain, by role, model, day and task, and how much the caps still allow."""
    return call.house.model_report.cost(call.caller, task_id=task_id, days=days, tier=tier)
