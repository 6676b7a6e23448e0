"""Operations on brains: ingest, init, uninit, rebind, instances, overview."""

import os
from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import (
    AlreadyCovered,
    FederationNeeded,
    HumanNeeded,
    InvalidParams,
    MedullaForbidsCode,
    PathRefused,
    UnknownBrain,
)
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.ingests import Request

__all__ = ["ingest", "init", "instances", "overview", "rebind", "uninit"]


def _path(path: str | None, caller: Caller) -> str:
    if path is None:
        return caller.root or caller.told_root or os.getcwd()
    if not os.path.isabs(os.path.expanduser(path)) and caller.root and "\x00" not in path:
        return os.path.join(caller.root, path)
    return path


@operation(
    "ingest",
    effect=Effect.WRITE,
    everyday=True,
    idempotent=True,
    progress=True,
    positional=("path",),
    raises=(AlreadyCovered, FederationNeeded, HumanNeeded, MedullaForbidsCode, PathRefused, InvalidParams),
)
def ingest(
    call: Call,
    path: Annotated[str | None, Meta(description="directory to take in; the caller's when left out")] = None,
    project_root: Annotated[str | None, Meta(description="give this directory a brain and bind this session to it")] = None,
    adapter: Annotated[str, Meta(description="code, json, memory, light, universal or auto")] = "code",
    mode: Annotated[
        Literal["merge", "replace"] | None, Meta(description="replace, for the brain's own root by default, or merge")
    ] = None,
    namespace: Annotated[str | None, Meta(description="name that the nodes of notes and documents begin with")] = None,
    incremental: Annotated[bool, Meta(description="read only files whose content changed (code)")] = False,
    include_dotfiles: Annotated[bool, Meta(description="read hidden files too")] = False,
    dotfile_patterns: Annotated[list[str] | None, Meta(description="which hidden files, e.g. .github/**")] = None,
    force: Annotated[bool, Meta(description="let notes or L1GHT files replace the code of a brain")] = False,
    tier: Annotated[str | None, Meta(description="medulla is refused for code")] = None,
    federation_intent: Annotated[bool, Meta(description="take in a second repository on purpose")] = False,
) -> dict[str, Any]:
    """Take files into a brain's graph; with project_root create the brain in the same call and start from its north."""
    target = _path(path, call.caller)
    answer = call.house.projects.ingest(
        call.caller,
        Request(
            path=target,
            adapter=adapter,
            mode=mode,
            namespace=namespace,
            incremental=incremental,
            include_dotfiles=include_dotfiles,
            dotfile_patterns=tuple(dotfile_patterns or ()),
            force=force,
        ),
        project_root=_path(project_root, call.caller) if project_root is not None else None,
        tier=tier,
        progress=call.progress,
        federation_intent=federation_intent,
    )
    if project_root is not None:
        answer["north"] = call.house.north.north(call.caller, task=None, tier=None).answer
    return answer


@operation(
    "init", effect=Effect.WRITE, idempotent=True, progress=True, positional=("path",), raises=(PathRefused, AlreadyCovered)
)
def init(
    call: Call,
    path: Annotated[str | None, Meta(description="a directory of the repository; the caller's when left out")] = None,
    private: Annotated[bool, Meta(description="keep memory and letters out of git")] = False,
) -> dict[str, Any]:
    """Give a repository its brain, with memory in .hindbrain/ that travels with git. Adopts what a clone brought along."""
    return call.house.projects.init(call.caller, path=_path(path, call.caller), private=private, progress=call.progress)


@operation("uninit", effect=Effect.WRITE, positional=("path",), raises=(UnknownBrain, PathRefused))
def uninit(
    call: Call,
    path: Annotated[str | None, Meta(description="a directory of the repository; the caller's when left out")] = None,
) -> dict[str, Any]:
    """Take away exactly what init added to the repository; the claims move back beside the owner and stay recalled."""
    return call.house.projects.uninit(call.caller, path=_path(path, call.caller))


@operation("rebind", effect=Effect.WRITE, positional=("old", "new"), raises=(UnknownBrain, InvalidParams, AlreadyCovered))
def rebind(
    call: Call,
    old: Annotated[str, Meta(description="root that is gone")],
    new: Annotated[str, Meta(description="where the repository is now")],
) -> dict[str, Any]:
    """Give the brain of a repository that was moved to its new place."""
    return call.house.projects.rebind(call.caller, old=old, new=new)


@operation("instances", effect=Effect.READ)
def instances(call: Call) -> dict[str, Any]:
    """List every brain of this home from disk, warm or dormant, with its own counters, and the owner's totals apart."""
    standing = call.house.standing
    held = standing.held(call.caller)  # first: who asks is among the sessions that are told
    return standing.instances() | {"self": standing.totals()} | held


@operation("overview", effect=Effect.READ)
def overview(call: Call) -> dict[str, Any]:
    """Show a card for every brain of this home: what it holds, who works there, what waits and whether it is well.

    The cards come from disk: no brain is woken, and the look counts as no query and no beat. A brain that cannot be read has a
    card with the reason. Names of agents at work are told to a person, and to others for their own project only.
    """
    answer = call.house.overview.told(call.caller)
    return {"ok": True, "schema": "hindbrain-overview-v0", **answer, "owner": call.house.standing.process()}
