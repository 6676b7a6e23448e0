"""Operations of the recovery plane: update and host status, diagnoses of a bad answer, and the repairs that are safe."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import InvalidParams, InvalidState, PathRefused
from hindbrain.domain.places import ProjectRoot
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.hosts import HOSTS
from hindbrain.services.call import Call

__all__ = [
    "doctor_fix",
    "hosts_apply",
    "hosts_plan",
    "hosts_status",
    "restart",
    "update_apply",
    "update_check",
    "update_plan",
    "update_rollback",
    "update_status",
]

_AT_A_TERMINAL = "what changes a program or a host is done by a person at a terminal; {} shows the same plan"
Yes = Annotated[bool, Meta(description="carry the plan out; without it, it is only shown")]

HostArgument = Annotated[str | None, Meta(description="one host by name; without it all that are known")]
ProjectArgument = Annotated[
    ProjectRoot | None, Meta(description="project directory whose files are read too; default is the caller's")
]


@operation("update.status", effect=Effect.READ)
def update_status(call: Call) -> dict[str, Any]:
    """Tell which version is installed, which one runs, and which programs the search path leads to. Changes nothing."""
    return call.house.recovery.update_status()


@operation("update.plan", effect=Effect.READ)
def update_plan(call: Call) -> dict[str, Any]:
    """Show the commands that would bring the expected version in. Carries out none of them."""
    return call.house.recovery.update_plan()


@operation("update.check", effect=Effect.READ)
def update_check(call: Call) -> dict[str, Any]:
    """Ask the source of releases that the operator configured whether there is a newer one. Without a source it is not known."""
    return call.house.updating.check()


@operation(
    "update.apply",
    effect=Effect.WRITE,
    raises=(InvalidState,),
    left_out={"mcp": _AT_A_TERMINAL.format("update_check"), "http": _AT_A_TERMINAL.format("update_check")},
)
def update_apply(call: Call, yes: Yes = False) -> dict[str, Any]:
    """Put the newer release in place. What is installed is copied first, and the way back written down."""
    return call.house.updating.apply(yes=yes)


@operation(
    "update.rollback",
    effect=Effect.WRITE,
    raises=(InvalidState,),
    left_out={"mcp": _AT_A_TERMINAL.format("update_status"), "http": _AT_A_TERMINAL.format("update_status")},
)
def update_rollback(call: Call, yes: Yes = False) -> dict[str, Any]:
    """Put the installation back that the last update replaced, from its copy."""
    return call.house.updating.rollback(yes=yes)


def _known(host: str | None) -> None:
    names = [one.name for one in HOSTS]
    if host not in (None, "all", *names):
        raise InvalidParams(f"no host {host!r} is known", fix=f"use one of {', '.join(names)}, or all")


@operation("hosts.status", effect=Effect.READ, positional=("host",), raises=(InvalidParams,))
def hosts_status(call: Call, host: HostArgument = None, project: ProjectArgument = None) -> dict[str, Any]:
    """Tell what each agent host is configured to start, and whether that is this program. Changes nothing."""
    _known(host)
    return call.house.recovery.hosts_status(call.caller, host=host, project=project)


@operation("hosts.plan", effect=Effect.READ, positional=("host",), raises=(InvalidParams,))
def hosts_plan(call: Call, host: HostArgument = None, project: ProjectArgument = None) -> dict[str, Any]:
    """Show the exact entry for each host's configuration and how to prove it afterwards. Edits nothing."""
    _known(host)
    return call.house.recovery.hosts_plan(call.caller, host=host, project=project)


@operation(
    "hosts.apply",
    effect=Effect.WRITE,
    positional=("host",),
    raises=(InvalidParams, InvalidState, PathRefused),
    left_out={"mcp": _AT_A_TERMINAL.format("hosts_plan"), "http": _AT_A_TERMINAL.format("hosts_plan")},
)
def hosts_apply(
    call: Call,
    host: Annotated[str, Meta(description="the host whose file is written")],
    project: ProjectArgument = None,
    yes: Yes = False,
) -> dict[str, Any]:
    """Write the entry for Hindbrain into the file of one host, after a copy of it. The host is bound anew by its next session."""
    _known(host)
    return call.house.hosting.apply(call.caller, host=host, project=project, yes=yes)


@operation(
    "restart",
    effect=Effect.WRITE,
    raises=(InvalidParams,),
    left_out={"mcp": _AT_A_TERMINAL.format("hosts_status"), "http": _AT_A_TERMINAL.format("hosts_status")},
)
def restart(
    call: Call, host: Annotated[str, Meta(description="the host whose server process ends")], yes: Yes = False
) -> dict[str, Any]:
    """End the server process that one host started for this workspace, so that the host starts it anew. Ends no other."""
    return call.house.hosting.restart(call.caller, host=host, yes=yes)


@operation(
    "doctor.fix",
    effect=Effect.WRITE,
    progress=True,
    left_out={"mcp": "repairs are made by a person at a terminal; doctor names them"},
)
def doctor_fix(
    call: Call, yes: Annotated[bool, Meta(description="carry the plan out; without it, it is only shown")] = False
) -> dict[str, Any]:
    """Repair what is safe to repair: indexes, open tokens, wrong labels of 0.1.0. Without yes it only shows the plan."""
    return call.house.repairs.fix(call.caller, yes=yes, progress=call.progress)
