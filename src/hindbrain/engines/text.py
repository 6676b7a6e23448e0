"""Text: words to find a claim by, and the folded form in which two disguises of one value are equal."""

import re
import unicodedata
from collections.abc import Iterable

from hindbrain.policy.lookalikes import INVISIBLE, LOOKALIKES
from hindbrain.policy.recall import STOP_WORDS

__all__ = ["fold", "folds", "query_terms", "stem", "terms"]

_WORD = re.compile(r"[^\W_]+(?:[_\-][^\W_]+)*", re.UNICODE)
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_NOT_PLAIN = re.compile("[^a-z0-9]+")
_LONGEST = 64


def _bare(text: str) -> str:
    """Without accents, in the compatibility form."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)))


def stem(word: str) -> str:
    """The word without the commonest English endings: enough for plurals and tenses to meet, gentle to everything else."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, put in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if not word.endswith(ending) or (ending == "s" and word.endswith(("ss", "us", "is"))):
            continue
        base = word[: -len(ending)] + put
        if len(base) < 3 or not any(v in base for v in "aeiouy"):
            return word
        if ending in ("ing", "ed") and len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
            base = base[:-1]
        return base.removesuffix("e") if len(base) > 4 else base
    return word.removesuffix("e") if len(word) > 4 else word


def _cjk_terms(run: str) -> Iterable[str]:
    return (run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)


def _all_terms(text: str) -> Iterable[str]:
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        word = match[0]
        if _CJK.search(word):
            yield from (term for run in _CJK.findall(word) for term in _cjk_terms(run))
            word = _CJK.sub(" ", word)
        word = _bare(word)
        pieces = [piece.lower() for piece in _PIECE.findall(word)]
        if len(pieces) > 1:
            yield re.sub(r"[_\-\s]", "", word).lower()[:_LONGEST]
        yield from (stem(piece)[:_LONGEST] for piece in pieces if piece)


def terms(text: str) -> list[str]:
    """Every word a text can be found by: identifiers whole and in parts, CJK in pairs, accents and endings dropped."""
    return [term for term in _all_terms(text) if term and not term.isspace()]


def query_terms(text: str) -> list[str]:
    """The words of a question that carry meaning, each once, in order."""
    kept = [t for t in terms(text) if t not in _STOPS and (len(t) > 1 or not t.isascii() or t.isdigit())]
    return list(dict.fromkeys(kept))


_STOPS = frozenset(stem(word) for word in STOP_WORDS) | STOP_WORDS


def fold(text: str) -> str:
    """The form in which disguises are equal: no case, spacing, punctuation, invisible characters, accents or look-alikes."""
    mapped = "".join(LOOKALIKES.get(c, c) for c in _visible(text))
    return "".join(c for one in _bare(mapped.casefold()) if (c := LOOKALIKES.get(one, one)).isalnum())


def folds(text: str) -> tuple[str, ...]:
    """Every form in which a text is the same. Beside `fold` the one that keeps its script: a capital of another alphabet may
    look like another Latin letter than its small form does, so there upper case would read as another value."""
    if text.isascii():  # no disguise is possible, and nearly every text is
        return (_NOT_PLAIN.sub("", text.lower()),)
    plain = "".join(c for c in _bare(_visible(text).casefold()) if c.isalnum())
    return tuple(dict.fromkeys((fold(text), plain)))


def _visible(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text) if c not in INVISIBLE and unicodedata.category(c) != "Cf")
