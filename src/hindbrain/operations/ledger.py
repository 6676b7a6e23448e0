"""Operations on the ledger."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call
from hindbrain.services.ledgers import Asked

__all__ = ["show", "verify"]

Tier = Annotated[str | None, Meta(description="medulla for the shared one")]


@operation("ledger.verify", effect=Effect.READ, raises=(BrainlessRoot,))
def verify(call: Call, tier: Tier = None) -> dict[str, Any]:
    """Walk the whole record of this brain and name every entry that was changed, removed or put in."""
    return call.house.ledgers.verify(call.caller, tier=tier)


@operation("ledger.show", effect=Effect.READ, raises=(BrainlessRoot,))
def show(
    call: Call,
    after: Annotated[int, Meta(ge=0, description="only entries after this number")] = 0,
    limit: Annotated[int, Meta(ge=1, le=5000, description="entries at most")] = 50,
    act: Annotated[str | None, Meta(description="prefix such as claim. or brain.")] = None,
    tier: Tier = None,
    before: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="only entries before this number")] = None,
    newest: Annotated[bool, Meta(description="the last one first; oldest first without it")] = False,
    subject: Annotated[str | None, Meta(description="only about this: slug of a claim, or a subject as entries name it")] = None,
) -> dict[str, Any]:
    """Show the record of this brain: who did what, when, by which channel."""
    asked = Asked(after=after, before=before, limit=limit, act=act, subject=subject, newest=newest)
    return call.house.ledgers.show(call.caller, asked, tier=tier)
