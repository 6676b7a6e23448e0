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
from hindbrain.operations.exchange import AsCandidates, absolute
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.memory_import import Request

__all__ = ["import_"]


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
    path: Annotated[str, Meta(description="palace.db of mempal, chroma.sqlite3 of MemPalace, or their directory")],
    kind: Annotated[Literal["auto", "mempal", "mempalace"], Meta(description="whose memory it is")] = "auto",
    wings: Annotated[list[str] | None, Meta(description="only these; cards, facts and outcomes belong to none")] = None,
    execute: Annotated[bool, Meta(description="do it; without, only tell what would come")] = False,
    as_candidates: AsCandidates = False,
) -> dict[str, Any]:
    """Take over the memory of mempal or MemPalace. Without execute it only tells what would come, what is odd and what stays out.

    The other database is read from a copy and never changed. A second import brings nothing twice."""
    request = Request(
        path=absolute(path, call), kind=kind, wings=tuple(wings or ()), execute=execute, as_candidates=as_candidates
    )
    return call.house.memory_import.run(call.caller, request, call.progress)
