"""Text: words to find a row by, and the folded form in which two disguises of one value are equal."""

import functools
import re
import threading
import unicodedata
from collections.abc import Iterable
from typing import Any

from hindbrain.policy.lookalikes import INVISIBLE, LOOKALIKES
from hindbrain.policy.recall import QUERY_CHARS, STOP_WORDS

__all__ = ["TERMS_VERSION", "fold", "folds", "query_terms", "stem", "terms", "typed_terms"]

# Grows with every change of what `terms` gives: an index of other terms is made again before it is asked.
TERMS_VERSION = 2

# Python counts the vowel signs of these scripts as no part of a word, and would cut words at them.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff"
    "\u0e31-\u0e4e\u0eb1-\u0ece\u102b-\u103e\u17b4-\u17d3"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_SIGNS}])+(?:[_\-][^\W_]+)*")
_PIECE = re.compile(rf"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|(?:[^\W\d_A-Za-z]|[{_SIGNS}])+")
# Scripts that put no space between words, and Hangul, whose particles cling to theirs: found by pairs of characters.
_PAIRED = re.compile(
    r"[\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u109f\u1780-\u17d3\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_NOT_PLAIN = re.compile("[^a-z0-9]+")
_LONGEST = 64
_CACHED = 200_000  # words whose stem is remembered: more than a large brain has, some 20 MB

# The stemmer of a script whose languages share one; Latin letters are read as English, gently enough for the others.
_STEMMERS = (("\u0370", "\u03ff", "greek"), ("\u0400", "\u04ff", "russian"), ("\u0600", "\u06ff", "arabic"))
_LETTERS = str.maketrans({"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "þ": "th"})
_LETTERS |= str.maketrans({"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ı": "i"})
_OTHER_SCRIPTS = "\u0370"
_local = threading.local()
_stems: dict[str, str] = {}


def _bare(text: str) -> str:
    """Without accents, in the compatibility form."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)))


def _latin(text: str) -> str:
    """Latin letters that are more than an accent away from a plain one, as people type them who lack the key."""
    return text if text.isascii() else _bare(text.translate(_LETTERS))


def _stemmer(language: str) -> Any:
    """One of each for every thread: a stemmer is not safe for two. Loaded when the first word is asked for."""
    made: dict[str, Any] = _local.__dict__.setdefault("made", {})
    if language not in made:
        import Stemmer  # type: ignore[import-not-found]  # it comes without types

        made[language] = Stemmer.Stemmer(language, 0)
    return made[language]


def stem(word: str) -> str:
    """A lower-case word without its ending and accents, so that plurals, cases and tenses meet."""
    known = _stems.get(word)
    if known is None:
        if len(_stems) >= _CACHED:
            _stems.clear()
        known = _stems[word] = _stemmed(word)
    return known


def _stemmed(word: str) -> str:
    if len(word) < 3 or not (word.isascii() or word.isalpha()):
        return _bare(word)
    if word.isascii():
        return str(_stemmer("english").stemWord(word)) if word.isalpha() else word
    language = next((name for first, last, name in _STEMMERS if first <= word[0] <= last), None)
    return _bare(str(_stemmer(language).stemWord(word))) if language else _bare(word)


def _pairs(run: str) -> Iterable[str]:
    return (run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)


def _all_terms(text: str) -> Iterable[str]:
    for match in _WORD.finditer(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        word = match[0]
        if not word.isascii() and _PAIRED.search(word):
            yield from (pair for run in _PAIRED.findall(word) for pair in _pairs(_bare(run)))
            word = _PAIRED.sub(" ", word)
        elif word.isascii() and ((word.islower() and word.isalpha()) or word.isdigit()):  # nearly every word
            yield stem(word)[:_LONGEST]
            continue
        pieces = [piece.lower() for piece in _PIECE.findall(_joined(word))]
        if len(pieces) > 1:
            yield re.sub(r"[_\-\s]", "", _latin(word)).lower()[:_LONGEST]
        yield from (stem(piece)[:_LONGEST] for piece in pieces)


def _joined(word: str) -> str:
    """Latin letters lose their accents before a word is cut at its capitals; other scripts keep them for their stemmer."""
    return word if word.isascii() or word[0] >= _OTHER_SCRIPTS else _latin(word)


def terms(text: str) -> list[str]:
    """Every word a text can be found by: identifiers whole and in parts, unspaced scripts in pairs, no accents or endings."""
    return [term for term in _all_terms(text) if term and not term.isspace()]


@functools.cache
def _stops() -> frozenset[str]:
    return STOP_WORDS | frozenset(map(stem, STOP_WORDS))


def query_terms(text: str) -> list[str]:
    """The words of a question that carry meaning, each once, in order."""
    stops = _stops()
    kept = [t for t in terms(text[:QUERY_CHARS]) if t not in stops and (len(t) > 1 or not t.isascii() or t.isdigit())]
    return list(dict.fromkeys(kept))


def typed_terms(text: str) -> tuple[list[str], str]:
    """A question while it is typed: the words that are whole, and how the last one begins. Its ending is left open, so that it
    finds what its stem finds as well."""
    words = _WORD.findall(text[:QUERY_CHARS])
    if not words:
        return [], ""
    before, last = text[:QUERY_CHARS].rpartition(words[-1])[0], re.split(r"[_\-]", words[-1])
    whole = query_terms(" ".join([before, *last[:-1]]))
    if not last[-1].isascii() and _PAIRED.search(last[-1]):
        pairs = terms(last[-1])
        return [*whole, *pairs[:-1]], pairs[-1] if pairs else ""
    plain = _latin(unicodedata.normalize("NFKC", last[-1])).lower()
    same = next((at for at, (one, other) in enumerate(zip(plain, stem(plain), strict=False)) if one != other), len(plain))
    return whole, plain[: min(same, len(stem(plain)), _LONGEST)]


def fold(text: str) -> str:
    """The form in which disguises are equal: no case, spacing, punctuation, invisible characters, accents or look-alikes."""
    if text.isascii():  # no disguise is possible, and nearly every text is
        return _NOT_PLAIN.sub("", text.lower())
    mapped = "".join(LOOKALIKES.get(c, c) for c in _visible(text))
    return "".join(c for one in _bare(mapped.casefold()) if (c := LOOKALIKES.get(one, one)).isalnum())


def folds(text: str) -> tuple[str, ...]:
    """Every form in which a text is the same. Beside `fold` the one that keeps its script: a capital of another alphabet may
    look like another Latin letter than its small form does, so there upper case would read as another value."""
    if text.isascii():
        return (fold(text),)
    plain = "".join(c for c in _bare(_visible(text).casefold()) if c.isalnum())
    return tuple(dict.fromkeys((fold(text), plain)))


def _visible(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text) if c not in INVISIBLE and unicodedata.category(c) != "Cf")
