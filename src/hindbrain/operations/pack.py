"""The operation of the doctrine pack."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, InvalidParams, PathRefused
from hindbrain.domain.places import OutputDirectory
from hindbrain.operations.registry import REGISTRY, Effect, operation
from hindbrain.services.call import Call

__all__ = ["pack", "taught"]

_TAUGHT = ("mission", "skill", "light", "gym", "flight", "guard", "ask", "route_explain", "pack")


def taught() -> list[tuple[str, str]]:
    """The operations that the reference of the pack lists, with what each does."""
    named = (op for op in REGISTRY.values() if op.name.split(".")[0] in _TAUGHT)
    return sorted((op.name, op.summary) for op in named)


@operation(
    "pack",
    effect=Effect.WRITE,
    idempotent=True,
    positional=("host",),
    raises=(BrainlessRoot, CallerRootUnknown, InvalidParams, PathRefused),
)
def pack(
    call: Call,
    host: Annotated[
        Literal["generic", "claude", "codex", "cursor", "gemini"], Meta(description="whose files: generic is plain Markdown")
    ] = "generic",
    out: Annotated[OutputDirectory | None, Meta(description="directory to write to, usually the project")] = None,
    reference: Annotated[bool, Meta(description="show the whole routing instead of the compact pack")] = False,
    yes: Annotated[bool, Meta(description="write; without it only what would be written is shown")] = False,
) -> dict[str, Any]:
    """Show the doctrine of missions as a host reads it; with out and yes write it there, with the whole routing beside it."""
    return call.house.packs.pack(call.caller, host=host, out=out, whole=reference, yes=yes, operations=taught())
