"""The story of a brain: its ledger in words."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, InvalidParams, UnknownCard
from hindbrain.operations.memory import TimeArgument, moment
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.story import LIMIT, LIMIT_MOST
from hindbrain.services.call import Call
from hindbrain.services.story import Asked, story_text

__all__ = ["story"]


@operation("story", effect=Effect.READ, positional=("card_id",), raises=(BrainlessRoot, InvalidParams, UnknownCard))
def story(
    call: Call,
    card_id: Annotated[str | None, Meta(description="only what concerns this card, card_…, wherever it lived")] = None,
    since: Annotated[TimeArgument, Meta(description="from this time on: milliseconds, seconds or ISO")] = None,
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MOST, description="acts at most, the last ones")] = LIMIT,
    newest: Annotated[bool, Meta(description="the last one first")] = False,
    tier: Annotated[str | None, Meta(description="medulla for the shared one")] = None,
) -> dict[str, Any]:
    """Tell what happened in this brain: evidence kept, cards made, refused, checked, promoted, used, taken back and forgotten.

    Each line has its time, who did it and by which channel; the end says whether the record is whole.
    """
    asked = Asked(card_id=card_id, since=moment(since, "since"), limit=limit, newest=newest, tier=tier)
    answer = call.house.story.told(call.caller, asked)
    return answer | {"rendered": story_text(answer)}
