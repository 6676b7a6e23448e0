"""What of a claim can be compared with a text: quoted text, paths, names of code, quantities, words, comparisons, conditions and
denials. The tables are in `policy.claim_words`. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hindbrain.engines.quantity import Quantity, quantities
from hindbrain.engines.text import stem, terms
from hindbrain.policy.claim_words import (
    COMPARISONS,
    CONDITIONS,
    EMPTY,
    FRAME,
    GLUE,
    IDIOMS,
    NEGATIONS,
    OPPOSITES,
    PLACES,
    QUANTIFIERS,
    RELATIONS,
    SWITCHES,
    UNITS,
)

__all__ = ["Clause", "Compares", "Content", "Item", "compares_in", "content_of", "denials", "quoted", "root", "word_stems"]

_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]{2,})'(?!\w)")
_PATH = re.compile(
    r"(?<![\w./-])(?:https?://)?(?:\.{0,2}/)?(?:[\w.@-]+/)*[\w@-]+\.[a-z]\w{0,9}(?::\d+)?(?![\w(])|(?<![\w./-])(?:\.{0,2}/)?(?:[\w.@-]+/)+[\w.@-]*"
)
_SUFFIXES = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|html|css|md|markdown|rst|txt|toml|yaml|yml|json"
    r"|jsonl|xml|ini|cfg|conf|env|lock|csv|log|light|tf|proto)(?::\d+)?\Z"
)
_CALLED = re.compile(r"\b([A-Za-z_][\w.]*)\(\)?")
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*")
_TOKENED = re.compile(
    r"\bv?\d+(?:\.\d+){2,}\b|(?<![\w.:])\d{1,2}:\d{2}(?![\w:])|\b[A-Za-z][\w.-]*:\d[\w.]*|\b[A-Za-z]+v\d[\w.]*|\b\d+[mkgMKG]\b"
    r"|\b[A-Z]\w*-[A-Z]\w*"
)
_PLACE = re.compile(r"\b(?:on |at |in )?lines? \d+(?:\s?(?:-|to|and)\s?\d+)?|\s\(\d+\)\s*\Z", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\S", re.UNICODE)
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2,}[a-z]")
_FORMULA = re.compile(r"[\w.\])]+ (?:[-+*/%]|==|!=|<=|>=|<|>) [\w.(\[]+(?: (?:[-+*/%]) [\w.(\[]+)*")
_DASH = re.compile(r"[^\W\d_]{2,} - [^\W\d_]{2,}")  # between two words it is one of prose
_CONTRAST = re.compile(r"\b(?:instead of|rather than)\s+(?:`[^`\n]*`|\"[^\"\n]*\"|\S+)", re.IGNORECASE)
_SWITCHED = re.compile(
    r"\b(?:is|are|was|were|be|turned|switched|set|always)(?: not| never)? (?:to )?(on|off|no|yes)\s*(?=[,;.]|\Z"
    r"|\s(?:by|in|when|for|unless|if|at|and)\b)",
    re.IGNORECASE,
)
_IDIOM = re.compile("|".join(IDIOMS), re.IGNORECASE)
_BREAKS = re.compile(r"[,;:]|\b(?:and|but|or|because|so|which|that|then)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\bwithout\s+(?:an?\s+|the\s+|any\s+)?[\w.`]+", re.IGNORECASE)
_VALUES = frozenset({"None", "True", "False", "null", "nil"})  # as code writes them
_ALIASES = {"ad": "add"}  # the stem of `adding`
_COMPARES = tuple((re.compile(rf"\b(?:{words})(?![\w])", re.IGNORECASE), sign) for words, sign in COMPARISONS)
_SIGNED = (("positive", ">"), ("negative", "<"))

Kind = Literal["quote", "path", "name", "number", "idiom", "quantifier", "relation", "switch", "word"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a claim says. `form` is how it is looked for, `clause` the part of the claim that it is in."""

    kind: Kind
    text: str
    form: str
    at: int
    clause: int
    quantity: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a claim: whether it is a condition, and whether it says no. `empty` says that something is missing."""

    condition: bool
    negated: bool
    empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compares:
    """A comparison: its sign, and where the phrase begins and ends. `zero` compares with 0 without a number."""

    sign: str
    text: str
    at: int
    end: int
    clause: int = 0
    zero: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All that a claim says: what is looked for in order, its parts, and the words that are not looked for."""

    claim: str
    items: tuple[Item, ...]
    clauses: tuple[Clause, ...]
    compares: tuple[Compares, ...]
    never: bool
    uncompared: tuple[str, ...]

    @property
    def negated(self) -> bool:
        """Whether the claim itself says no, apart from its conditions."""
        return sum(one.negated for one in self.clauses if not one.condition) % 2 == 1

    @property
    def has_condition(self) -> bool:
        return any(self.clauses[item.clause].condition for item in self.items if item.kind not in ("quantifier", "relation"))


def root(word: str) -> str:
    """A word without its ending."""
    found = stem(word.lower())
    return _ALIASES.get(found, found)


def content_of(claim: str) -> Content:
    """Take a claim apart."""
    left = _blanked(_blanked(claim, _PLACE), _CONTRAST)  # what stands there instead of something else
    compares = tuple(compares_in(_blanked(_blanked(left, _QUOTED), _IDIOM)))  # `once more than` is an idiom
    for one in compares:
        left = _cut(left, one.at, one.end)
    bounds = _bounds(_blanked(left, _QUOTED))
    found: list[tuple[Kind, str, int, str, Quantity | None]] = []

    def took(kind: Kind, text: str, at: int, form: str | None = None, quantity: Quantity | None = None) -> None:
        found.append((kind, text, at, text if form is None else form, quantity))

    for match in _QUOTED.finditer(left):
        took("quote", next(part for part in match.groups() if part), match.start())
    left = _blanked(left, _QUOTED)
    for match in _FORMULA.finditer(left):
        if not _DASH.search(match[0]):
            took("quote", match[0], match.start())
            left = _cut(left, match.start(), match.end())
    for match in _SWITCHED.finditer(left):
        took("switch", match[1], match.start(1), {"no": "off", "yes": "on"}.get(match[1].lower(), match[1].lower()))
        left = _cut(left, match.start(1), match.end(1))
    for pattern, sign in IDIOMS.items():
        for match in re.finditer(pattern, left, re.IGNORECASE):
            took("idiom", match[0], match.start(), sign)
        left = _blanked(left, re.compile(pattern, re.IGNORECASE))
    for match in _PATH.finditer(left):
        if "/" in match[0] or _SUFFIXES.search(match[0]):
            took("path", match[0], match.start())
            left = _cut(left, match.start(), match.end())
    for match in _TOKENED.finditer(left):
        took("quote", match[0], match.start(), match[0].removeprefix("v"))
    left = _blanked(left, _TOKENED)
    called = {match[1] for match in _CALLED.finditer(left)}
    for match in _NAME.finditer(left):
        counted = match[0].lower() in UNITS and re.search(r"[\d.]\s*\Z", left[: match.start()])
        if not counted and (match[0] in called or _of_code(match[0])):
            took("name", match[0], match.start())
            left = _cut(left, match.start(), match.end())
    left = left.replace("_", " ")
    for quantity in quantities(left, claim=True):
        took("number", claim[quantity.at : quantity.end], quantity.at, quantity=quantity)
        left = _cut(left, quantity.at, quantity.end)
    words = [(match.start(), match[0]) for match in _TOKEN.finditer(left) if match[0][0].isalpha()]
    uncompared = [match[0] for match in _CONTRAST.finditer(claim)]
    for at, word in words:
        framed = (
            word in FRAME
            or (at == 0 and word.lower() in FRAME)
            or (word.lower() in PLACES and re.search(r"(?:\A|\b(?:the|this|of) )\Z", claim[:at].lower()))
        )
        if framed:
            uncompared.append(word)
        elif (kind := _kind(word, begins=at == 0)) is not None:
            took(kind, word, at, word if kind == "name" else word.lower())
    clauses = tuple(_clauses(left, bounds))
    return Content(
        claim=claim,
        items=tuple(
            Item(kind=kind, text=text, form=form, at=at, clause=_place(bounds, at), quantity=quantity)
            for kind, text, at, form, quantity in sorted(found, key=lambda one: one[2])
        ),
        clauses=clauses,
        compares=tuple(
            Compares(sign=one.sign, text=one.text, at=one.at, end=one.end, clause=_place(bounds, one.at), zero=one.zero)
            for one in compares
        ),
        never=any(word.lower() == "never" for _, word in words),
        uncompared=tuple(dict.fromkeys(uncompared)),
    )


def quoted(text: str) -> str:
    """A text in marks that are not in it, so that it is read as a quotation."""
    left, right = next(((one, two) for one, two in ("``", '""') if one not in text), ("“", "”"))
    return f"{left}{text}{right}"


def compares_in(text: str) -> Iterator[Compares]:
    """Every phrase of a text that compares two things."""
    left = text
    for pattern, sign in _COMPARES:
        for match in pattern.finditer(left):
            yield Compares(sign=sign, text=match[0], at=match.start(), end=match.end())
        left = _blanked(left, pattern)
    for word, sign in _SIGNED:
        for match in re.finditer(rf"\b{word}\b", left, re.IGNORECASE):
            yield Compares(sign=sign, text=match[0], at=match.start(), end=match.end(), zero=True)


def denials(text: str) -> int:
    """How often a text says no."""
    return sum(_negates(match[0].lower()) for match in _TOKEN.finditer(text) if match[0] not in _VALUES)


def word_stems(text: str) -> set[str]:
    """Words of a text without their endings, names of code whole and in parts."""
    return {_ALIASES.get(one, one) for one in terms(text)}


def _kind(word: str, *, begins: bool) -> Kind | None:
    """What a plain word of a claim is; None where it is not looked for."""
    low = word.lower()
    if word[0].isupper() and not begins and (low in EMPTY or low in FRAME or low in OPPOSITES or low in GLUE):
        return "name"
    if word in _VALUES:
        return "switch" if word in ("True", "False") else "name"
    if low in QUANTIFIERS:
        return "quantifier"
    if low in RELATIONS:
        return "relation"
    if low in SWITCHES and low not in ("on", "off", "yes"):
        return "switch"
    if low in FRAME or low in GLUE or low in EMPTY or low in OPPOSITES or _negates(low):
        return None
    if len(low) == 1 and low.isascii():
        return "name"
    return "word"


def _bounds(text: str) -> list[int]:
    """Where the parts of a claim begin."""
    starts = {0}
    for match in _BREAKS.finditer(text):
        starts.add(match.end() if match[0] in ",;:" else match.start())
    for match in _WITHOUT.finditer(text):
        starts.add(match.end())
    for match in re.finditer(r"[^\W\d_]+", text):
        if match[0].lower() in CONDITIONS | {"with", "for", "on"}:
            starts.add(match.start())
    return sorted(starts)


def _place(bounds: list[int], at: int) -> int:
    return max(0, sum(start <= at for start in bounds) - 1)


def _clauses(left: str, bounds: list[int]) -> Iterator[Clause]:
    """The parts, as conditions or not. `unless` and `without` say no to all of their part."""
    for start, end in zip(bounds, [*bounds[1:], len(left)], strict=True):
        part = left[start:end]
        words = [match[0].lower() for match in _TOKEN.finditer(part) if match[0] not in _VALUES]
        first = next((word for word in words if word.isalpha()), "")
        says_no = sum(_negates(word) for word in words)
        empty = sum(word in OPPOSITES or word in EMPTY for word in words)
        yield Clause(condition=first in CONDITIONS, negated=says_no % 2 == 1, empty=empty % 2 == 1)


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def _of_code(word: str) -> bool:
    """Whether a word is written as only names of code are."""
    plain = word.strip("_")
    return "_" in word or "." in word or "::" in word or bool(_CAMEL.search(word)) or (len(plain) > 1 and plain.isupper())


def _cut(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _blanked(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: " " * len(found[0]), text)
