"""The review queue: what a person should look at."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.review import LIMIT, LIMIT_MOST
from hindbrain.services.call import Call
from hindbrain.services.review_text import queue_text

__all__ = ["review"]


@operation("review", effect=Effect.READ, raises=(StoreUnavailable,))
def review(
    call: Call,
    kind: Annotated[
        Literal["returned", "contradiction", "stale", "open_gate"] | None, Meta(description="only items of this kind")
    ] = None,
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MOST, description="items at most")] = LIMIT,
    brain: Annotated[Literal["project", "medulla"] | None, Meta(description="only of this brain; default is both")] = None,
) -> dict[str, Any]:
    """List what waits for a person: rejected values that came back, contradictions, stale cards, candidates with an open gate.

    Contradictions are proposed, with both sides cited; nothing is decided here. In a terminal `hindbrain review` goes through the
    items one by one and carries out what you choose.
    """
    answer = call.house.review.queue(call.caller, kind=kind, limit=limit, tier=brain)
    return answer | {"rendered": queue_text(answer)}
