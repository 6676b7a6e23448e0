"""The operation for a fresh start: wake."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.wake import TOP_K, TOP_K_MOST
from hindbrain.services.call import Call

__all__ = ["wake"]


@operation("wake", effect=Effect.READ)
def wake(
    call: Call,
    top_k: Annotated[int, Meta(ge=0, le=TOP_K_MOST, description="items at most")] = TOP_K,
    protocol_only: Annotated[bool, Meta(description="only the memory protocol")] = False,
) -> dict[str, Any]:
    """Show who you are and what matters most here, then the memory protocol. Guidance for a task is not here: see context."""
    if protocol_only:
        told = call.house.wake.protocol()
        return {"ok": True, "schema": "hindbrain-protocol-v0", **told, "rendered": told["protocol"]}
    return call.house.wake.wake(call.caller, top_k=top_k)
