"""Code terms: the words by which code, and a text about code, are found. Knows no language and no index.

An identifier counts whole (`parse_query`, `parseQuery` and `ParseQuery` are one) and in its parts, without endings; numbers,
single letters and the words every program is made of are left out.
"""

import re

from hindbrain.engines.text import stem, terms
from hindbrain.policy.recall import STOP_WORDS

__all__ = ["CODE_TERMS_VERSION", "code_terms", "code_words"]

# Grows with every change of what `code_terms` gives: an index of other terms is made again before it is asked.
CODE_TERMS_VERSION = 1

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_ASCII = re.compile(r"[A-Za-z_]\w*", re.ASCII)  # the same on text that has nothing else, in half the time
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_LONGEST = 64
_CACHED = 400_000  # identifiers that are remembered: more than a large repository has, some 60 MB

# Words that nearly every file has: they cost room in the index and tell no file from another.
_EVERYWHERE = """
self this cls def return elif none null nil true false const let var func function fn void
"""
_LEFT_OUT = STOP_WORDS | frozenset(_EVERYWHERE.split())


class _Known(dict[str, str]):
    """Identifier -> its terms, joined. An identifier is taken apart once."""

    def __missing__(self, identifier: str) -> str:
        if len(self) >= _CACHED:
            self.clear()
        found = self[identifier] = " ".join(_terms_of(identifier))
        return found


def _terms_of(identifier: str) -> list[str]:
    if not identifier.isascii():
        return terms(identifier)
    parts = [part.lower() for part in _PART.findall(identifier)]
    whole = [identifier.replace("_", "").lower()[:_LONGEST]] if len(parts) > 1 else []
    return whole + [stem(part)[:_LONGEST] for part in parts if len(part) > 1 and part not in _LEFT_OUT]


_known = _Known()


def code_words(text: str) -> str:
    """The terms of a text joined by spaces, as an index takes them."""
    return " ".join(filter(None, map(_known.__getitem__, (_ASCII if text.isascii() else _IDENTIFIER).findall(text))))


def code_terms(text: str) -> list[str]:
    """The terms of a text, in order, each as often as it stands there."""
    return code_words(text).split()
