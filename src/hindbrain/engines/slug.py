"""Slugs: under which name the experience of an intent is kept. R2 asks under it and R7 writes under it, so there is one rule."""

import hashlib
import re
import unicodedata

__all__ = ["intent_slug", "intent_space"]

_WORDS = 3
_LONGEST_WORD = 32  # a script without spaces gives one word, which would else be the whole text
_WORD = re.compile(r"[^\W_]+")


def intent_slug(intent: str) -> str:
    """The first three words, in lower case, joined with underscores; a digest where there are no words."""
    text = unicodedata.normalize("NFKC", intent).lower()
    words = [word for part in text.split() if (word := "".join(_WORD.findall(part))[:_LONGEST_WORD])][:_WORDS]
    return "_".join(words) or f"h_{hashlib.sha256(intent.encode()).hexdigest()[:12]}"


def intent_space(intent: str) -> str:
    """The space that holds what became of such intents."""
    return f"intent:{intent_slug(intent)}"
