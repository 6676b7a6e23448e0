"""Operations on strategy documents: light new, check, confirm."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, ClaimTooLarge, HygieneRefused, InvalidParams, PathRefused
from hindbrain.domain.places import ProjectFile
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["check", "confirm", "new"]

_READING = (BrainlessRoot, CallerRootUnknown, InvalidParams)
DocumentArgument = Annotated[ProjectFile, Meta(description="the document, relative to the project: docs/strategy/layer.light.md")]


@operation(
    "light.new", effect=Effect.WRITE, positional=("path", "title"), raises=(*_READING, ClaimTooLarge, HygieneRefused, PathRefused)
)
def new(
    call: Call,
    path: DocumentArgument,
    title: Annotated[str, Meta(description="what the document is about")],
    entities: Annotated[list[str] | None, Meta(description="what it declares; its title when left out")] = None,
) -> dict[str, Any]:
    """Write the skeleton of a strategy document in L1GHT form: header, an entity per section, markers. Never overwrites."""
    return call.house.light.new(call.caller, path=path, title=title, entities=tuple(entities or ()))


@operation("light.check", effect=Effect.READ, positional=("paths",), raises=_READING)
def check(
    call: Call,
    paths: Annotated[list[ProjectFile] | None, Meta(description="documents to look at; all of the project when left out")] = None,
) -> dict[str, Any]:
    """Tell where code has left the strategy documents: bound files, symbols, tests, and the two files of a pair."""
    return call.house.light.check(call.caller, paths=tuple(paths or ()))


@operation("light.confirm", effect=Effect.WRITE, idempotent=True, positional=("path",), raises=(*_READING, PathRefused))
def confirm(call: Call, path: DocumentArgument) -> dict[str, Any]:
    """Confirm that a document is right about the files it binds, as they are now; a later change of one makes it stale."""
    return call.house.light.confirm(call.caller, path=path)
