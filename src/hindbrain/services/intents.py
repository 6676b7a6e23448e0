"""Intents: what an act on two brains writes down before it begins, read in its form. Other rows are left alone."""

import msgspec

from hindbrain.domain.typed import decoded
from hindbrain.stores.port import Intent

__all__ = ["PROMOTE", "PUBLISH", "CardPublication", "ClaimPromotion", "intent_of"]

PROMOTE, PUBLISH = "promote", "card.publish"


class ClaimPromotion(msgspec.Struct, frozen=True, kw_only=True):
    """A claim on its way to the medulla."""

    slug: str
    at: int


class CardPublication(msgspec.Struct, frozen=True, kw_only=True):
    """A card on its way to the medulla."""

    card: str
    reason: str


_FORMS: dict[str, type[ClaimPromotion] | type[CardPublication]] = {PROMOTE: ClaimPromotion, PUBLISH: CardPublication}


def intent_of(intent: Intent) -> ClaimPromotion | CardPublication | None:
    """What a row says; None when Hindbrain did not write it like this. The doctor names such a row."""
    form = _FORMS.get(intent.kind)
    if form is None:
        return None
    try:
        return decoded(intent.payload, form)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
