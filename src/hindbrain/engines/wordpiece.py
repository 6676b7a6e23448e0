"""WordPiece: text into the pieces a BERT model was trained on (lower case, without accents). The vocabulary is handed in."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["MAX_TOKENS", "Tokens", "WordPiece"]

MAX_TOKENS = 256  # what the sentence models of this family were trained with; further text says nothing to them

_LONGEST_WORD = 100  # characters; a longer one is unknown, as in the reference
_KEPT_WORDS = 50_000  # words whose pieces are remembered; memory stays bounded whatever is read

# Written without spaces between words: each character is a word of its own.
_IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f"
)
_IDEOGRAPH = re.compile(f"([{_IDEOGRAPHS}])")
# ASCII has a short way: every sign that is neither letter nor digit is a word of its own.
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The pieces of one text, with the marks at both ends, and which word each comes from (-1: a mark)."""

    ids: tuple[int, ...]
    words: tuple[str, ...]
    sources: tuple[int, ...]  # index into words


class WordPiece:
    """The tokenizer of one vocabulary. Threads may share it."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._first = self._ids["[CLS]"]
        self._last = self._ids["[SEP]"]
        self._known: dict[str, tuple[int, ...]] = {}

    def tokens(self, text: str, limit: int = MAX_TOKENS) -> Tokens:
        """The beginning of a text, as many pieces as the model takes."""
        ids, sources = [self._first], [-1]
        words: list[str] = []
        for word in split(text, limit):
            pieces = self._known.get(word) or self._pieces(word)
            room = limit - 1 - len(ids)
            if room <= 0:
                break
            ids.extend(pieces[:room])
            sources.extend([len(words)] * min(len(pieces), room))
            words.append(word)
        ids.append(self._last)
        sources.append(-1)
        return Tokens(tuple(ids), tuple(words), tuple(sources))

    def ids(self, text: str, limit: int = MAX_TOKENS) -> tuple[int, ...]:
        return self.tokens(text, limit).ids

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The longest known piece from the left, again and again; unknown as a whole when one place has none."""
        found: list[int] = []
        start = 0 if len(word) <= _LONGEST_WORD else -1
        while 0 <= start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                if (number := self._ids.get(prefix + word[start:end])) is not None:
                    found.append(number)
                    start = end
                    break
            else:
                start = -1
        pieces = tuple(found) if start >= 0 else (self._unknown,)
        if len(self._known) < _KEPT_WORDS:
            self._known[word] = pieces
        return pieces


def split(text: str, limit: int = MAX_TOKENS) -> Iterable[str]:
    """Lower-case words without accents; signs and ideographs are words of their own. Looks no further than `limit` words need."""
    if text.isascii():
        return _ASCII_WORD.findall(_ASCII_CONTROL.sub("", text[: _looked_at(text, limit)]).lower())
    return _split_any(text[: _looked_at(text, limit)])


def _looked_at(text: str, limit: int) -> int:
    """How many characters are enough: a megabyte of text is not split for its first few hundred pieces."""
    end = limit * 12
    while end < len(text) and len(text[:end].split()) < limit:
        end *= 4
    return end


def _split_any(text: str) -> list[str]:
    cleaned = "".join(c for c in text if c in "\t\n\r" or not _dropped(c))
    spaced = _IDEOGRAPH.sub(r" \1 ", cleaned)
    bare = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn").lower()
    found: list[str] = []
    for word in bare.split():
        current = ""
        for character in word:
            if _is_sign(character):
                found += [current, character] if current else [character]
                current = ""
            else:
                current += character
        if current:
            found.append(current)
    return found


def _dropped(character: str) -> bool:
    """Control characters, and what stands for a character that could not be read."""
    return character in "\x00\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")


def _is_sign(character: str) -> bool:
    code = ord(character)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(character).startswith("P")
