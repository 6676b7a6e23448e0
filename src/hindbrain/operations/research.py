"""Operations on research: a report of a research tool is validated, planned, and kept as evidence."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    BrainlessRoot,
    CallerRootUnknown,
    ClaimTooLarge,
    HygieneRefused,
    InvalidParams,
    Rejected,
    StoreUnavailable,
)
from hindbrain.domain.places import SourcePath
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["ingest", "validate"]

Path = Annotated[SourcePath | None, Meta(description="file with the report as one JSON object; not over MCP")]
Report = Annotated[
    dict[str, Any] | None,
    Meta(description="the report itself: report_id, title, sources, findings, candidate_insights"),
]


@operation("research.validate", effect=Effect.READ, positional=("path",), raises=(InvalidParams, StoreUnavailable))
def validate(call: Call, path: Path = None, report: Report = None) -> dict[str, Any]:
    """Look at a research report and count what it holds; says everything that is wrong with it. Keeps nothing."""
    return call.house.research.validate(call.caller, path=path, report=report)


@operation(
    "research.ingest",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("path",),
    raises=(
        BrainlessRoot,
        CallerRootUnknown,
        ClaimTooLarge,
        HygieneRefused,
        InvalidParams,
        Rejected,
        StoreUnavailable,
    ),
)
def ingest(
    call: Call,
    path: Path = None,
    report: Report = None,
    branch_local: Annotated[bool, Meta(description="it holds for this checkout only, not for the repository")] = False,
    execute: Annotated[bool, Meta(description="keep the findings; without it only the plan is shown. Not over MCP")] = False,
) -> dict[str, Any]:
    """Plan how the findings of a research report become evidence; with execute keep them. Insights stay suggestions."""
    return call.house.research.ingest(call.caller, path=path, report=report, branch_local=branch_local, execute=execute)
