"""Operations on the control loop as a person sees it: look on at a task, ask the auditor, check its log."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    HumanNeeded,
    InvalidParams,
    LedgerBroken,
    TimedOut,
    UnknownTask,
)
from hindbrain.operations.memory import TimeArgument, moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["audit", "audit_verify", "watch"]

_LEFT_OUT = {"mcp": "the auditor tells a person; whoever it watches can neither read what it found nor what it looks for"}


@operation(
    "control.audit",
    effect=Effect.WRITE,
    human=True,
    left_out=_LEFT_OUT,
    raises=(BrainlessRoot, CallerRootUnknown, HumanNeeded, InvalidParams, TimedOut),
)
def audit(
    call: Call,
    since: Annotated[TimeArgument, Meta(description="report from this time on; else since the last report")] = None,
) -> dict[str, Any]:
    """Ask the auditor what it saw: tasks, corrections, trends, and everything that was out of the ordinary.

    Without a time it reports what came since its last report and begins to count anew."""
    return call.house.audits.report(call.caller, since=moment(since, "since"))


@operation(
    "control.audit_verify",
    effect=Effect.READ,
    left_out=_LEFT_OUT,
    raises=(BrainlessRoot, CallerRootUnknown, LedgerBroken),
)
def audit_verify(call: Call) -> dict[str, Any]:
    """Walk the auditor's own log and name the first line that was changed, removed or put in."""
    return call.house.audits.verify(call.caller)


@operation(
    "control.watch",
    effect=Effect.READ,
    positional=("task_id",),
    raises=(BrainlessRoot, CallerRootUnknown, UnknownTask),
)
def watch(
    call: Call,
    task_id: Annotated[str, Meta(description="id of the task, as run gave it; enough of it to be the only one")],
    after: Annotated[int, Meta(ge=0, description="show only what was said after this cursor")] = 0,
    limit: Annotated[int, Meta(ge=1, le=2000, description="lines at most, oldest first")] = 500,
) -> dict[str, Any]:
    """Show what was said in a task, one line for each message: plans, results, corrections, decisions, the end."""
    return call.house.audits.watch(call.caller, task_id=task_id, after=after, limit=limit)
