"""Operations that carry a brain out and in: export, import."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    HumanNeeded,
    HygieneRefused,
    InvalidParams,
    LedgerBroken,
    PathRefused,
    Rejected,
    StaleWrite,
    StoreNewer,
    StoreUnavailable,
)
from hindbrain.domain.places import Endings, OutputFile, SourcePath
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["AsCandidates", "export", "import_"]

AsCandidates = Annotated[bool, Meta(description="cards that were active arrive as candidates; else a person is needed for them")]


@operation(
    "export",
    effect=Effect.WRITE,
    progress=True,
    positional=("target",),
    raises=(BrainlessRoot, InvalidParams, PathRefused, StoreUnavailable),
)
def export(
    call: Call,
    target: Annotated[OutputFile, Endings((".tar.gz", ".tgz")), Meta(description="file to write, .tar.gz; never overwritten")],
    tier: Annotated[str | None, Meta(description="medulla for the shared one")] = None,
) -> dict[str, Any]:
    """Write everything of this brain as one archive of plain files. The same memory gives the same bytes."""
    return call.house.exchange.export(call.caller, target=target, tier=tier, progress=call.progress)


@operation(
    "import",
    effect=Effect.WRITE,
    idempotent=True,
    progress=True,
    positional=("source",),
    raises=(
        BrainlessRoot,
        HumanNeeded,
        HygieneRefused,
        InvalidParams,
        LedgerBroken,
        PathRefused,
        Rejected,
        StaleWrite,
        StoreNewer,
        StoreUnavailable,
    ),
)
def import_(
    call: Call,
    source: Annotated[SourcePath, Meta(description="file that export wrote")],
    tier: Annotated[str | None, Meta(description="medulla for the shared one")] = None,
    dry_run: Annotated[bool, Meta(description="only report")] = False,
    as_candidates: Annotated[
        bool, Meta(description="never restore: take in thing by thing, and cards that were active as candidates")
    ] = False,
) -> dict[str, Any]:
    """Read an export: a brain that holds nothing becomes the exported one, any other takes it in thing by thing.

    Thing by thing means through the same gateway as any write; the answer says what was taken and refused, and why."""
    return call.house.exchange.take_in(
        call.caller,
        source=source,
        tier=tier,
        dry_run=dry_run,
        as_candidates=as_candidates,
        progress=call.progress,
    )
