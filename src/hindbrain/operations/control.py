"""Operations on the control loop: what recorded tasks say about its numbers, and a person's word on them."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ConfigInvalid,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    StoreUnavailable,
)
from hindbrain.operations.memory import TimeArgument, moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.tools import TOOLS
from hindbrain.policy.tuning import CLASS_CHARS
from hindbrain.services.call import Call

__all__ = ["apply_tuning", "tools", "tune"]

TaskClass = Annotated[
    str, Meta(max_length=CLASS_CHARS, description="class of tasks, such as disk_space_check; all when left out")
]


@operation(
    "control.tune",
    effect=Effect.WRITE,
    idempotent=True,
    raises=(BrainlessRoot, CallerRootUnknown, ConfigInvalid, HygieneRefused, InvalidParams, StoreUnavailable),
)
def tune(
    call: Call,
    since: Annotated[TimeArgument, Meta(description="replay tasks from this time on only")] = None,
    task_class: TaskClass = "",
) -> dict[str, Any]:
    """Replay recorded tasks with other numbers of the controller and propose those that would have done better.

    Tells how many decisions would change, how many successes were false and how many rounds were wasted, before and after. The
    proposal is kept as a file beside the brain. Nothing that is in force changes: a person applies it."""
    return call.house.tuning.propose(call.caller, since=moment(since, "since"), task_class=task_class)


@operation(
    "control.apply_tuning",
    effect=Effect.WRITE,
    human=True,
    positional=("proposal",),
    left_out={
        "mcp": "the numbers decide when every agent's task is given up or good enough; a person sets them, control.tune prepares"
    },
    raises=(BrainlessRoot, CallerRootUnknown, ConfigInvalid, HumanNeeded, InvalidParams, StoreUnavailable),
)
def apply_tuning(
    call: Call,
    proposal: Annotated[str | None, Meta(description="id of a proposal of control.tune, tun_…")] = None,
    undo: Annotated[bool, Meta(description="take back what was applied to the class, or to all tasks")] = False,
    task_class: TaskClass = "",
) -> dict[str, Any]:
    """Put the numbers of a proposal in force for the tasks it is about, or take such numbers back."""
    if (proposal is None) is not undo:
        raise InvalidParams("say either a proposal or undo", fix="give the id that control.tune told, or --undo")
    if proposal is None:
        return call.house.tuning.undo(call.caller, task_class=task_class)
    if task_class:
        raise InvalidParams("a proposal knows its class of tasks", fix="leave task_class out, or run control.tune with it")
    return call.house.tuning.apply(call.caller, proposal=proposal)


@operation("control.tools", effect=Effect.READ)
def tools(call: Call) -> dict[str, Any]:
    """List the tools of a task in the order in which they are preferred: what each does, takes and may change."""
    found = [
        {
            "name": tool.name,
            "class": tool.class_,
            "about": tool.about,
            "fields": {name: one.about for name, one in tool.fields.items()},
            "target": tool.target,
            "mutating": tool.mutating,
            "offline": tool.offline,
        }
        for tool in TOOLS.values()
    ]
    rows = [f"{one['name']:11} {one['class']:12} {'changes' if one['mutating'] else 'looks':8} {one['about']}" for one in found]
    return {"ok": True, "schema": "hindbrain-control-tools-v0", "tools": found, "rendered": "\n".join(rows)}
