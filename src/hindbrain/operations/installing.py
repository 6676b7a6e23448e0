"""Operations on agent hosts: Hindbrain put into them, and taken out again."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.agent_errors import HostAbsent
from hindbrain.domain.errors import InvalidParams, InvalidState, PathRefused
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.hosts import HOSTS
from hindbrain.services.call import Call

__all__ = ["install", "uninstall"]

_A_PERSON = "a person decides what a host starts, at a terminal; hosts_status shows how it stands"
_LEFT_OUT = {"mcp": _A_PERSON, "http": _A_PERSON}

_NAMES = ", ".join(one.name for one in HOSTS)
HostArgument = Annotated[str | None, Meta(description=f"one host ({_NAMES}); without it each that is found here")]
ProjectArgument = Annotated[bool, Meta(description="the files of this repository instead of those of the user")]
Yes = Annotated[bool, Meta(description="write without asking; without it the changes are only shown")]
DryRun = Annotated[bool, Meta(description="show the changes and ask nothing")]
PlanId = Annotated[
    Annotated[str, Meta(max_length=64)] | None, Meta(description="write only if the changes still are those that were shown")
]


@operation(
    "install",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("host",),
    raises=(HostAbsent, InvalidParams, InvalidState, PathRefused),
    left_out=_LEFT_OUT,
)
def install(
    call: Call,
    host: HostArgument = None,
    project: ProjectArgument = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    print: Annotated[bool, Meta(description="print what would stand in empty files, and look at none")] = False,  # noqa: A002
    plan_id: PlanId = None,
) -> dict[str, Any]:
    """Put Hindbrain into the agent hosts of this machine: server, hooks and a short note in the instructions.

    Shows a diff of each file and asks. Everything else in a file stays as it is, and `uninstall` brings every file back as it
    was. What a file was before is kept in the home."""
    if print:
        return call.house.hosting.installing.shown(call.caller, host=host, project=project)
    return call.house.hosting.installing.install(
        call.caller, host=host, project=project, yes=yes and not dry_run, plan_id=plan_id
    )


@operation(
    "uninstall",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("host",),
    raises=(InvalidParams, InvalidState, PathRefused),
    left_out=_LEFT_OUT,
)
def uninstall(
    call: Call,
    host: HostArgument = None,
    project: ProjectArgument = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    plan_id: PlanId = None,
) -> dict[str, Any]:
    """Take Hindbrain out of the agent hosts of this machine: every file is as it was before, byte for byte.

    A file that somebody changed since is not put back: then only what is ours is taken out, and the answer says so. Memory
    stays."""
    return call.house.hosting.installing.uninstall(
        call.caller, host=host, project=project, yes=yes and not dry_run, plan_id=plan_id
    )
