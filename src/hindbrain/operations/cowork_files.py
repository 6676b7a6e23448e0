"""Reserved files: agents of one repository say what they are about to change, and commits are compared with it."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.agent_errors import PathReserved, UnknownAgent
from hindbrain.domain.errors import (
    Busy,
    CallerRootUnknown,
    HygieneRefused,
    InvalidParams,
    NotReady,
    PathRefused,
    StoreUnavailable,
)
from hindbrain.domain.places import ProjectFile
from hindbrain.operations.cowork import AgentId, CheckoutArgument
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.reservations import MINUTES, MINUTES_MOST, PATHS_MOST, REASON_CHARACTERS, STAGED_MOST
from hindbrain.services.call import Call
from hindbrain.services.cowork.reserving import Wanted

__all__ = ["guard_check", "guard_install", "guard_uninstall", "release", "reservations", "reserve"]

_ELSEWHERE = (Busy, CallerRootUnknown, InvalidParams, PathRefused, StoreUnavailable)

OneAgent = Annotated[str | None, Meta(description="only what this agent holds")]


@operation(
    "cowork.reserve",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("paths",),
    raises=(HygieneRefused, PathReserved, UnknownAgent, *_ELSEWHERE),
)
def reserve(
    call: Call,
    agent_id: AgentId,
    paths: Annotated[
        list[ProjectFile], Meta(max_length=PATHS_MOST, description="files, directories or patterns such as src/*.py")
    ],
    minutes: Annotated[int, Meta(ge=1, le=MINUTES_MOST, description="how long; it ends by itself")] = MINUTES,
    shared: Annotated[bool, Meta(description="others may work there as well; only a holder alone is in the way")] = False,
    reason: Annotated[
        Annotated[str, Meta(max_length=REASON_CHARACTERS)] | None, Meta(description="one line for whoever is held up")
    ] = None,
    force: Annotated[bool, Meta(description="go ahead over what others hold; both are told")] = False,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Say which files you are about to change, so that no other agent changes them unknowingly.

    A reservation belongs to the repository with all its worktrees, ends by itself, and is advice: nothing locks a file. What
    another agent holds is refused with its name, its reason and its end."""
    wanted = Wanted(agent_id=agent_id, paths=tuple(paths), minutes=minutes, shared=shared, reason=reason, force=force)
    return call.house.cowork.reserving.reserve(call.caller, wanted, project_root=project_root)


@operation("cowork.release", effect=Effect.WRITE, idempotent=True, positional=("paths",), raises=_ELSEWHERE)
def release(
    call: Call,
    agent_id: AgentId,
    paths: Annotated[
        Annotated[list[ProjectFile], Meta(max_length=PATHS_MOST)] | None,
        Meta(description="as they were reserved; all if left out"),
    ] = None,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """Let go of files that you reserved, when you are done before the time is over."""
    return call.house.cowork.reserving.release(call.caller, agent_id, paths, project_root=project_root)


@operation("cowork.reservations", effect=Effect.READ, positional=("path",), raises=_ELSEWHERE)
def reservations(
    call: Call,
    agent_id: OneAgent = None,
    path: Annotated[ProjectFile | None, Meta(description="only what is in the way of this path or pattern")] = None,
    project_root: CheckoutArgument = None,
) -> dict[str, Any]:
    """List which files agents of this repository reserved, with the holder, the reason and the end of each."""
    return call.house.cowork.reserving.listed(call.caller, agent_id=agent_id, path=path, project_root=project_root)


@operation("cowork.guard.install", effect=Effect.WRITE, idempotent=True, raises=_ELSEWHERE)
def guard_install(call: Call) -> dict[str, Any]:
    """Have commits of this repository compared with reservations, by a pre-commit hook. A hook that is there still runs first."""
    return call.house.cowork.guarding.install(call.caller)


@operation("cowork.guard.uninstall", effect=Effect.WRITE, idempotent=True, raises=_ELSEWHERE)
def guard_uninstall(call: Call) -> dict[str, Any]:
    """Take the hook of the guard away. The hook before it is again what it was, byte for byte."""
    return call.house.cowork.guarding.uninstall(call.caller)


@operation("cowork.guard.check", effect=Effect.READ, positional=("paths",), raises=(NotReady, *_ELSEWHERE))
def guard_check(
    call: Call,
    agent_id: Annotated[str | None, Meta(description="who commits; what it holds itself is not in its way")] = None,
    paths: Annotated[
        Annotated[list[ProjectFile], Meta(max_length=STAGED_MOST)] | None,
        Meta(description="what is committed; what git has staged if left out"),
    ] = None,
) -> dict[str, Any]:
    """Tell whether another agent holds what you are about to commit. The hook asks this before each commit.

    On the command line it ends with 1 when somebody does, with 0 when nobody does and also when it cannot be told: a fault of
    Hindbrain holds up no commit."""
    return call.house.cowork.guarding.check(call.caller, paths=paths, agent_id=agent_id)
