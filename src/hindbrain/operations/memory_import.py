"""The operation that takes over another program's memory: memory import."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    Busy,
    CallerRootUnknown,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    PathRefused,
    StoreNewer,
    StoreUnavailable,
)
from hindbrain.domain.places import SourcePath
from hindbrain.operations.exchange import AsCandidates
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.memory_import import Request

__all__ = ["import_"]

KindName = Literal[
    "auto", "mempal", "mempalace", "m1nd", "claude-mem", "basic-memory", "mcp-memory", "mem0", "claude-code", "codex"
]


@operation(
    "memory.import",
    effect=Effect.WRITE,
    idempotent=True,
    progress=True,
    positional=("path",),
    raises=(
        BrainlessRoot,
        Busy,
        CallerRootUnknown,
        HumanNeeded,
        HygieneRefused,
        InvalidParams,
        PathRefused,
        StoreNewer,
        StoreUnavailable,
    ),
)
def import_(
    call: Call,
    path: Annotated[SourcePath, Meta(description="where the other program keeps its memory: a database, a file or a directory")],
    kind: Annotated[KindName, Meta(description="whose memory it is")] = "auto",
    wings: Annotated[
        list[str] | None, Meta(description="of a palace only these; cards, facts and outcomes belong to none")
    ] = None,
    project: Annotated[
        list[str] | None, Meta(description="projects of the source that belong here too; a person's choice")
    ] = None,
    execute: Annotated[bool, Meta(description="do it; without, only tell what would come")] = False,
    as_candidates: AsCandidates = False,
) -> dict[str, Any]:
    """Take over the memory of another program. Without execute it only tells what would come, what is refused and what stays out.

    Knows mempal, MemPalace, m1nd, claude-mem, basic-memory, the MCP reference memory server, mem0, Claude Code and Codex. The
    other program's files are never changed. Only what belonged to this project comes. A second import brings nothing twice."""
    request = Request(
        path=path,
        kind=kind,
        wings=tuple(wings or ()),
        projects=tuple(project or ()),
        execute=execute,
        as_candidates=as_candidates,
    )
    return call.house.moving.run(call.caller, request, call.progress)
