"""What of a claim can be compared with a text: quoted text, paths, names of code, numbers, and words. The tables are in
`policy.claim_words`. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hindbrain.engines.text import stem, terms
from hindbrain.policy.claim_words import FRAME, GLUE, IDIOMS, NEGATIONS, NUMBERS, QUANTIFIERS, SCALES, UNITS

__all__ = ["Content", "Item", "content_of", "numbers_in", "quoted", "root", "word_stems"]

_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]{2,})'(?!\w)")
_PATH = re.compile(
    r"(?<![\w./-])(?:\.{0,2}/)?(?:[\w.@-]+/)*[\w@-]+\.[a-z]\w{0,9}(?::\d+)?(?![\w(])|(?<![\w./-])(?:[\w.@-]+/)+[\w.@-]+"
)
_SUFFIXES = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|html|css|md|markdown|rst|txt|toml|yaml|yml|json"
    r"|jsonl|xml|ini|cfg|conf|env|lock|csv|log|light|tf|proto)(?::\d+)?\Z"
)
_CALLED = re.compile(r"\b([A-Za-z_][\w.]*)\(\)?")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_VERSION = re.compile(r"\bv?\d+(?:\.\d+){2,}\b")
_PLACE = re.compile(r"\b(?:on |at |in )?lines? \d+(?:\s?(?:-|to|and)\s?\d+)?|\s\(\d+\)\s*\Z", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d[\d_]*(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)(%|[A-Za-z]+\b)?")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\S", re.UNICODE)
_CLAUSE = re.compile(r"[,;.]\s|\b(?:and|but|then|while|whereas)\b", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2,}[a-z]")
_PRODUCT = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:\s*\*\s*\d[\d_]*(?:\.\d+)?)+(?![\w.])")
_FORMULA = re.compile(r"[\w.\])]+ (?:[-+*/%]|==|!=|<=|>=|<|>) [\w.(\[]+(?: (?:[-+*/%]) [\w.(\[]+)*")
_DASH = re.compile(r"[^\W\d_]{2,} - [^\W\d_]{2,}")  # between two words it is one of prose
_CONTRAST = re.compile(r"\b(?:instead of|rather than)\b[^,;.]*", re.IGNORECASE)
_SWITCHED = re.compile(
    r"\b(?:is|are|was|were|be|turned|switched|set) (?:to )?(on|off)\s*(?=[,;.]|\Z|\s(?:by|in|when|for|unless|if|at)\b)",
    re.IGNORECASE,
)
_SHIFT = re.compile(r"\b1\s*<<\s*(\d{1,2})\b")
# `one` and `once` that count nothing.
_PRONOUN = frozenset(
    {
        "of",
        "that",
        "which",
        "who",
        "another",
        "is",
        "was",
        "has",
        "and",
        "or",
        "in",
        "on",
        "for",
        "to",
        "it",
        "the",
        "they",
        "this",
        "a",
    }
)
_VALUES = frozenset({"None", "True", "False"})  # as code writes them
_ALIASES = {"ad": "add"}  # the stem of `adding`

Kind = Literal["quote", "path", "name", "number", "idiom", "quantifier", "word"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a claim says. `values` are numbers that would be it, `form` is how it is looked for."""

    kind: Kind
    text: str
    form: str
    at: int
    clause: int
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All that a claim says: what is looked for in order, whether it says no, and the words that nobody looks for."""

    items: tuple[Item, ...]
    negated: bool
    never: bool
    words: tuple[tuple[int, str], ...]  # every word with its place, in order
    uncompared: tuple[str, ...]


def root(word: str) -> str:
    """A word without its ending."""
    found = stem(word.lower())
    return _ALIASES.get(found, found)


def content_of(claim: str) -> Content:
    """Take a claim apart."""
    left = _blanked(_blanked(claim, _PLACE), _CONTRAST)  # what stands there instead of something else
    clauses = [found.start() for found in _CLAUSE.finditer(_blanked(claim, _QUOTED))]
    items: list[Item] = []

    def took(kind: Kind, text: str, at: int, form: str | None = None, values: tuple[float, ...] = ()) -> None:
        clause = sum(place <= at for place in clauses)
        items.append(Item(kind=kind, text=text, form=text if form is None else form, at=at, clause=clause, values=values))

    for found in _QUOTED.finditer(left):
        took("quote", next(part for part in found.groups() if part), found.start())
    left = _blanked(left, _QUOTED)
    for found in _FORMULA.finditer(left):
        if not _DASH.search(found[0]):
            took("quote", found[0], found.start())
            left = left[: found.start()] + " " * len(found[0]) + left[found.end() :]
    for found in _SWITCHED.finditer(left):
        took("word", found[1], found.start(1), found[1].lower())
        left = left[: found.start(1)] + " " * len(found[1]) + left[found.end(1) :]
    for pattern, sign in IDIOMS.items():
        for found in re.finditer(pattern, left, re.IGNORECASE):
            took("idiom", found[0], found.start(), sign)
        left = _blanked(left, re.compile(pattern, re.IGNORECASE))
    for found in _PATH.finditer(left):
        if "/" in found[0] or _SUFFIXES.search(found[0]):
            took("path", found[0], found.start())
            left = left[: found.start()] + " " * len(found[0]) + left[found.end() :]
    for found in _VERSION.finditer(left):
        took("quote", found[0], found.start(), found[0].removeprefix("v"))
    left = _blanked(left, _VERSION)
    called = {found[1] for found in _CALLED.finditer(left)}
    for found in _NAME.finditer(left):
        if found[0] in called or _of_code(found[0]):
            took("name", found[0], found.start())
            left = left[: found.start()] + " " * len(found[0]) + left[found.end() :]
    left = left.replace("_", " ")
    for at, text, values, whole in _numbers(left):
        took("number", text, at, values=values)
        left = left[:at] + " " * len(whole) + left[at + len(whole) :]
    words = [(found.start(), found[0]) for found in _TOKEN.finditer(left) if found[0][0].isalpha()]
    uncompared = [found[0] for found in _CONTRAST.finditer(claim)]
    for at, word in words:
        low = word.lower()
        if word in _VALUES:
            took("name", word, at)
        elif low in QUANTIFIERS:
            took("quantifier", word, at, low)
        elif low in FRAME:
            uncompared.append(word)
        elif len(low) == 1 and low.isascii():
            if low not in "ai":  # an article, and the one who speaks
                took("name", word, at)
        elif low not in GLUE and not _negates(low):
            took("word", word, at, low)
    return Content(
        items=tuple(sorted(items, key=lambda one: one.at)),
        negated=any(_negates(word.lower()) for _, word in words if word not in _VALUES),
        never=any(word.lower() == "never" for _, word in words),
        words=tuple((found.start(), found[0].lower()) for found in _TOKEN.finditer(claim)),
        uncompared=tuple(dict.fromkeys(uncompared)),
    )


def quoted(text: str) -> str:
    """A text in marks that are not in it, so that it is read as a quotation."""
    left, right = next(((one, two) for one, two in ("``", '""') if one not in text), ("“", "”"))
    return f"{left}{text}{right}"


def numbers_in(text: str) -> set[float]:
    """Every number of a text: written in digits or words, and products such as `5 * 60`."""
    found = {value for _, _, values, _ in _numbers(text, every=True) for value in values[:1]}
    for product in _PRODUCT.finditer(text):
        value = 1.0
        for part in product[0].split("*"):
            value *= float(part.strip().replace("_", ""))
        found.add(value)
    return found | {float(1 << int(shift[1])) for shift in _SHIFT.finditer(text)}


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def _of_code(word: str) -> bool:
    """Whether a word is written as only names of code are."""
    plain = word.strip("_")
    return "_" in word or "." in word or bool(_CAMEL.search(word)) or (len(plain) > 1 and plain.isupper())


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: " " * len(found[0]), text)


def _numbers(text: str, *, every: bool = False) -> Iterator[tuple[int, str, tuple[float, ...], str]]:
    """Place, text, what its value may be in a source, and all that was taken. `every` takes a bare `one` too."""
    for found in _NUMBER.finditer(text):
        raw = found[1].replace("_", "").replace(",", "")
        value = float(int(raw, 16)) if raw.lower().startswith("0x") else float(raw)
        unit = (found[2] or _after(text, found.end())).lower()
        whole = found[0] if not found[2] or found[2].lower() in UNITS else found[1]
        yield found.start(), found[1], _scaled(value, unit), whole + _unit_after(text, found.start() + len(whole), found[2])
    tokens = [(one.start(), one.end(), one[0].lower()) for one in re.finditer(r"[^\W\d_]+", text)]
    place = 0
    while place < len(tokens):
        start, end, word = tokens[place]
        if word not in NUMBERS:
            place += 1
            continue
        total, part, last = 0, 0, place
        while last < len(tokens) and (tokens[last][2] in NUMBERS or tokens[last][2] in SCALES):
            name = tokens[last][2]
            if name in NUMBERS:
                part += NUMBERS[name]
            else:
                part = max(part, 1) * SCALES[name]
                total, part = (total + part, 0) if SCALES[name] > 100 else (total, part)
            end = tokens[last][1]
            last += 1
        following = tokens[last][2] if last < len(tokens) else ""
        bare = last == place + 1 and word in ("one", "once") and (not following or following in _PRONOUN)
        if every or not bare:
            taken = text[start:end]
            yield start, taken, _scaled(float(total + part), following), taken + _unit_after(text, end, None)
        place = last


def _after(text: str, at: int) -> str:
    found = re.match(r"\s*-?([^\W\d_]+)", text[at:])
    return found[1] if found else ""


def _unit_after(text: str, at: int, joined: str | None) -> str:
    """The unit behind a number, with the space before it: it belongs to the number."""
    found = re.match(r"\s*-?([^\W\d_]+)", text[at:]) if not joined else None
    return found[0] if found and found[1].lower() in UNITS else ""


def _scaled(value: float, unit: str) -> tuple[float, ...]:
    return tuple(value * factor for factor in UNITS.get(unit, (1,)))


def word_stems(text: str) -> set[str]:
    """Words of a text without their endings, names of code whole and in parts."""
    return {_ALIASES.get(one, one) for one in terms(text)}
