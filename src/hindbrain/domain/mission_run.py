"""A command that was run: what whoever started it saw of its end. Closed; the names of its fields are those of the wire."""

from typing import Annotated, Literal

from msgspec import Meta

from hindbrain.domain.task import Count, Record

__all__ = ["Origin", "Ran"]

Origin = Literal["mission_run", "host_hook", "told"]
Hex = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]


class Ran(Record, frozen=True, kw_only=True):
    """One command, its exit status, digests of both streams and the end of what it said."""

    argv: Annotated[tuple[str, ...], Meta(min_length=1, max_length=4096)]
    exit_status: Annotated[int, Meta(ge=0, le=255)] | None = None  # None when nobody knows it
    output: str = ""
    stdout_digest: Hex | None = None
    stderr_digest: Hex | None = None
    output_bytes: Count = 0
    duration_ms: Count = 0
    cwd: str = "."
    shell_line: bool = False  # argv is one line for a shell
    interrupted: bool = False
    not_started: bool = False
