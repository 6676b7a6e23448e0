"""Operations on registered places: the directories that a person named for this home."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import HumanNeeded, InvalidParams, PathRefused
from hindbrain.domain.places import ProjectRoot
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["add", "list_", "remove"]

_HUMAN = {"mcp": "a registered place widens what an agent may name; a person registers it in a terminal"}

Directory = Annotated[ProjectRoot, Meta(description="absolute directory; every repository inside counts too")]


@operation("places.list", effect=Effect.READ)
def list_(call: Call) -> dict[str, Any]:
    """List the directories that a person registered for this home."""
    places = list(call.house.registered_places.all())
    return {"schema": "hindbrain-places-v0", "places": places, "rendered": "\n".join(places) or "no registered places"}


@operation(
    "places.add",
    effect=Effect.WRITE,
    human=True,
    idempotent=True,
    positional=("path",),
    left_out=_HUMAN,
    raises=(HumanNeeded, InvalidParams, PathRefused),
)
def add(call: Call, path: Directory) -> dict[str, Any]:
    """Register a directory: an agent may then name it, or a repository inside it, as its project.

    Sessions that a host starts inside a repository need no registration. Register a directory for hosts that start outside of
    every project, such as a desktop application."""
    place = call.house.registered_places.add(path)
    return {"schema": "hindbrain-places-v0", "added": place, "places": list(call.house.registered_places.all())}


@operation(
    "places.remove",
    effect=Effect.WRITE,
    human=True,
    idempotent=True,
    positional=("path",),
    left_out=_HUMAN,
    raises=(HumanNeeded, InvalidParams),
)
def remove(call: Call, path: Directory) -> dict[str, Any]:
    """Remove a directory from the registered places. Nothing in the directory changes."""
    removed = call.house.registered_places.remove(path)
    return {"schema": "hindbrain-places-v0", "removed": removed, "places": list(call.house.registered_places.all())}
