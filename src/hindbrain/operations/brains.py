"""Operations on brains: ingest, init, uninit, rebind, instances, overview."""

import os
from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import (
    AlreadyCovered,
    Busy,
    FederationNeeded,
    HumanNeeded,
    InvalidParams,
    MedullaForbidsCode,
    PathRefused,
    RepositoryChanged,
    UnknownBrain,
)
from hindbrain.domain.places import IngestPath, ProjectRoot
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.ingests import Request

__all__ = ["confirm", "detach", "ingest", "init", "instances", "overview", "rebind", "uninit"]


def _here(caller: Caller) -> str:
    return caller.root or caller.told_root or os.getcwd()


@operation(
    "ingest",
    effect=Effect.WRITE,
    everyday=True,
    idempotent=True,
    progress=True,
    positional=("path",),
    raises=(AlreadyCovered, FederationNeeded, HumanNeeded, MedullaForbidsCode, PathRefused, InvalidParams, RepositoryChanged),
)
def ingest(
    call: Call,
    path: Annotated[IngestPath | None, Meta(description="directory to take in; the caller's when left out")] = None,
    project_root: Annotated[
        ProjectRoot | None, Meta(description="give this directory a brain and bind this session to it")
    ] = None,
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
    target = path or _here(call.caller)
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
        project_root=project_root,
        tier=tier,
        progress=call.progress,
        federation_intent=federation_intent,
    )
    if project_root is not None:
        answer["north"] = call.house.north.north(call.caller, task=None, tier=None).answer
    return answer


@operation(
    "init",
    effect=Effect.WRITE,
    idempotent=True,
    progress=True,
    positional=("path",),
    raises=(PathRefused, AlreadyCovered, RepositoryChanged),
)
def init(
    call: Call,
    path: Annotated[ProjectRoot | None, Meta(description="a directory of the repository; the caller's when left out")] = None,
    private: Annotated[bool, Meta(description="keep memory and letters out of git")] = False,
) -> dict[str, Any]:
    """Give a repository its brain, with memory in .hindbrain/ that travels with git. Adopts what a clone brought along."""
    return call.house.projects.init(call.caller, path=path or _here(call.caller), private=private, progress=call.progress)


@operation("uninit", effect=Effect.WRITE, human=True, positional=("path",), raises=(HumanNeeded, UnknownBrain, PathRefused))
def uninit(
    call: Call,
    path: Annotated[ProjectRoot | None, Meta(description="a directory of the repository; the caller's when left out")] = None,
) -> dict[str, Any]:
    """Take away exactly what init added to the repository; the claims move back beside the owner and stay recalled."""
    return call.house.projects.uninit(call.caller, path=path or _here(call.caller))


@operation(
    "rebind",
    effect=Effect.WRITE,
    human=True,
    positional=("old", "new"),
    raises=(AlreadyCovered, Busy, HumanNeeded, InvalidParams, PathRefused, RepositoryChanged, UnknownBrain),
)
def rebind(
    call: Call,
    old: Annotated[ProjectRoot, Meta(description="root that is gone")],
    new: Annotated[ProjectRoot, Meta(description="where the repository is now")],
) -> dict[str, Any]:
    """Give the brain of a repository that was moved to its new place."""
    return call.house.projects.rebind(call.caller, old=old, new=new)


_DECIDED = {"mcp": "which repository a brain belongs to is for a person to say"}


@operation(
    "brain.confirm",
    effect=Effect.WRITE,
    human=True,
    idempotent=True,
    positional=("path",),
    left_out=_DECIDED,
    raises=(HumanNeeded, InvalidParams, PathRefused, AlreadyCovered, RepositoryChanged),
)
def confirm(call: Call, path: Annotated[ProjectRoot, Meta(description="absolute directory of the repository")]) -> dict[str, Any]:
    """Say that a directory holds the repository of its brain, after it was restored, cloned again or made anew.

    On a server, also let a clone join the brain whose id it carries."""
    return call.house.projects.confirm(call.caller, path=path)


@operation(
    "brain.detach",
    effect=Effect.WRITE,
    human=True,
    positional=("path",),
    left_out=_DECIDED,
    raises=(Busy, HumanNeeded, PathRefused, UnknownBrain),
)
def detach(call: Call, path: Annotated[ProjectRoot, Meta(description="directory of the brain")]) -> dict[str, Any]:
    """Set the brain of a directory aside, because another repository is there now. Nothing is deleted; rebind brings it back."""
    return call.house.relocation.detach(call.caller, path=path)


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
