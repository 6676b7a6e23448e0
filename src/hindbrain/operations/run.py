"""Operations on tasks: run a goal by itself, look on, answer what it asks, end it."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    ConfigInvalid,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    InvalidState,
    PathRefused,
    StaleWrite,
    StoreUnavailable,
    UnknownTask,
)
from hindbrain.domain.places import ProjectRoot
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["answer", "apply", "cancel", "listed", "run", "show"]

TaskId = Annotated[str, Meta(description="id of the task, as run gave it; enough of it to be the only one")]
WaitS = Annotated[float, Meta(ge=0, le=100, description="seconds to wait for the end at most")]


@operation(
    "run",
    effect=Effect.WRITE,
    positional=("goal",),
    raises=(
        BrainlessRoot,
        CallerRootUnknown,
        ClaimTooLarge,
        ConfigInvalid,
        HumanNeeded,
        HygieneRefused,
        InvalidParams,
        PathRefused,
        StoreUnavailable,
    ),
)
def run(
    call: Call,
    goal: Annotated[str, Meta(min_length=1, max_length=20_000, description="what is to be reached, in plain words")],
    workspace: Annotated[
        ProjectRoot | None, Meta(description="directory to work in as it stands; a person's to give. Else a copy of the project")
    ] = None,
    empty: Annotated[bool, Meta(description="begin with an empty directory instead of a copy")] = False,
    budget_s: Annotated[int, Meta(ge=0, le=86_400, description="seconds the task may take; 0 takes the setting")] = 0,
    memory: Annotated[bool, Meta(description="plan by what earlier tasks taught; without it every way is open again")] = True,
    wait_s: WaitS = 60,
) -> dict[str, Any]:
    """Let Hindbrain reach a goal by itself: plan, act in a workspace of its own, check, change course, and prove how it ended.

    Works without a model for simple goals: find, count, transform and verify files, run tests. What cannot be taken back waits
    for a person; so does every command when an agent started the run. At a terminal the loop is drawn while it turns."""
    return call.house.runs.start(
        call.caller,
        goal=goal,
        workspace=workspace,
        empty=empty,
        budget_s=budget_s,
        memory=memory,
        wait_s=wait_s,
        progress=call.progress,
    )


@operation(
    "task.show",
    effect=Effect.READ,
    positional=("task_id",),
    raises=(BrainlessRoot, CallerRootUnknown, InvalidParams, UnknownTask),
)
def show(
    call: Call,
    task_id: TaskId,
    after: Annotated[int, Meta(ge=0, description="show only what was said after this cursor")] = 0,
    wait_s: WaitS = 0,
) -> dict[str, Any]:
    """Show how a task stands: its rounds with their loss, what it waits for, what it changed, and how it ended."""
    return call.house.runs.show(call.caller, task_id=task_id, after=after, wait_s=wait_s)


@operation("task.list", effect=Effect.READ, raises=(BrainlessRoot, CallerRootUnknown))
def listed(
    call: Call, limit: Annotated[int, Meta(ge=1, le=200, description="tasks at most, the latest first")] = 20
) -> dict[str, Any]:
    """List the tasks of this project, the latest first."""
    return call.house.runs.listed(call.caller, limit=limit)


@operation(
    "task.answer",
    effect=Effect.WRITE,
    human=True,
    positional=("task_id", "request_id"),
    raises=(BrainlessRoot, CallerRootUnknown, HumanNeeded, InvalidParams, UnknownTask),
)
def answer(
    call: Call,
    task_id: TaskId,
    request_id: Annotated[str, Meta(description="id of the question, as task show gives it")],
    allowed: Annotated[bool, Meta(description="let it do this one thing, once")] = False,
    answers: Annotated[list[str] | None, Meta(description="what is meant, for a question about the goal")] = None,
) -> dict[str, Any]:
    """Answer what a task asks of a person: allow one act that cannot be taken back, or say what is meant."""
    return call.house.runs.answer(call.caller, task_id=task_id, request_id=request_id, allowed=allowed, answers=answers)


@operation(
    "task.cancel",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("task_id",),
    raises=(BrainlessRoot, CallerRootUnknown, InvalidParams, UnknownTask),
)
def cancel(
    call: Call,
    task_id: TaskId,
    why: Annotated[str, Meta(max_length=400, description="said with the end")] = "",
) -> dict[str, Any]:
    """End a task: it stops what it does, keeps what it has and says how far it came."""
    return call.house.runs.cancel(call.caller, task_id=task_id, why=why)


@operation(
    "task.apply",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("task_id",),
    raises=(
        BrainlessRoot,
        CallerRootUnknown,
        HumanNeeded,
        InvalidParams,
        InvalidState,
        PathRefused,
        StaleWrite,
        StoreUnavailable,
        UnknownTask,
    ),
)
def apply(
    call: Call,
    task_id: TaskId,
    undo: Annotated[bool, Meta(description="take back what was applied: replaced files return from their backup")] = False,
    yes: Annotated[
        bool, Meta(description="write without asking; a person's to give. Without it the changes are only shown")
    ] = False,
    plan_id: Annotated[
        Annotated[str, Meta(max_length=64)] | None, Meta(description="write only if the changes still are those that were shown")
    ] = None,
) -> dict[str, Any]:
    """Bring the files of an ended run into the project: shows a diff, then asks.

    New, changed and deleted files are compared with the project. Nothing is written if a file changed in the project since the
    run began. Replaced and deleted files are backed up, and --undo brings them back."""
    return call.house.runs.apply(call.caller, task_id=task_id, undo=undo, yes=yes, plan_id=plan_id)
