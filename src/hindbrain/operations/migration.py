"""Operations that sort a mixed medulla: migrate.plan, migrate.apply, migrate.rollback."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import (
    HygieneRefused,
    InvalidParams,
    MigrationFailed,
    OwnerRunning,
    PathRefused,
    Rejected,
    StaleWrite,
    TableRefused,
)
from hindbrain.domain.places import Endings, OutputFile, SourcePath
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["apply", "plan", "rollback"]

_LEFT_OUT = {"mcp": "a person sorts the medulla, in a terminal, while no owner runs"}


@operation("migrate.plan", effect=Effect.WRITE, positional=("target",), left_out=_LEFT_OUT, raises=(InvalidParams, PathRefused))
def plan(
    call: Call,
    target: Annotated[
        OutputFile | None,
        Endings((".tsv", ".csv", ".md", ".txt", ".json", ".jsonl")),
        Meta(description="file to write the table to; never overwritten"),
    ] = None,
) -> dict[str, Any]:
    """Propose for every claim of the medulla whether it belongs to a project, stays, or is ambiguous. Changes no memory.

    The table is yours: change `class` and `destination` line by line, then hand it to `migrate apply`.
    """
    return call.house.migration.plan(target=target)


@operation(
    "migrate.apply",
    effect=Effect.WRITE,
    human=True,
    idempotent=True,
    progress=True,
    positional=("table",),
    left_out=_LEFT_OUT,
    raises=(OwnerRunning, TableRefused, InvalidParams, PathRefused, HygieneRefused, Rejected, MigrationFailed),
)
def apply(
    call: Call,
    table: Annotated[SourcePath, Meta(description="the table, as migrate plan wrote it and a person edited it")],
) -> dict[str, Any]:
    """Carry out exactly this table: claims move to their projects and leave a pointer, doctrine is stamped, the rest stays.

    Refuses a table that does not name every live claim once. Makes a backup first, proves the result last, and takes
    everything back when one claim would be lost or doubled. A second time changes nothing.
    """
    return call.house.migration.apply(call.caller, table=table, progress=call.progress)


@operation(
    "migrate.rollback",
    effect=Effect.WRITE,
    human=True,
    progress=True,
    left_out=_LEFT_OUT,
    raises=(OwnerRunning, StaleWrite, Rejected, MigrationFailed),
)
def rollback(call: Call) -> dict[str, Any]:
    """Take the last migration back: every claim file as it was, byte for byte. Refuses when one was changed since."""
    return call.house.migration.rollback(call.caller, progress=call.progress)
