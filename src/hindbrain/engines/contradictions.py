"""Contradictions: pairs of statements that share their words and oppose each other. Pure; proposes, never decides.

A statement becomes a stance: what it is about (its words), how often it is turned round (negations and poles), and its numbers.
Two stances oppose each other when the words of one are among those of the other, and either an odd number of turns or a number
that differs lies between them. Where each has a word of its own they are two subjects: so paraphrases are missed, and near misses
left alone."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from hindbrain.engines.text import stem, terms
from hindbrain.policy.contradictions import (
    AXES,
    BOUNDS,
    IRREGULAR,
    NEGATORS,
    NEUTRAL,
    NUMBER_WORDS,
    NUMBERED,
    OVERLAP,
    PAIRS_MOST,
    PARTNERS_MOST,
    PLAIN_UN,
    RELATIONS,
    SENTENCE_MAX,
    SENTENCES_MOST,
    SWITCHED,
    UNITS,
)

__all__ = ["Found", "Opposed", "Said", "Stance", "contradictions", "opposition", "sentences", "stance"]

_TOKEN = re.compile(
    r"[a-z_][a-z0-9_]*(?:[./:][a-z0-9_]+)+"  # a path, a module, an address
    r"|[a-z]+_[a-z0-9_]+"
    r"|\d+(?:[.,]\d+)*|%"
    r"|[a-z]+(?:'[a-z]+)?(?:-[a-z]+)*"
    r"|[^\W\d_a-z]+"
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*")
_VALUE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NAMES = re.compile(r"\b[A-Z]{2,}\b|(?<=[a-z,] )[A-Z][a-z]+")
_FIRST = {phrase[0]: [other for other, _ in BOUNDS if other[0] == phrase[0]] for phrase, _ in BOUNDS}
_NEAR = 0.08  # 1 GB is 1024 MB to some and 1000 to others: neither contradicts the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One statement: of a card, or a sentence of a row of evidence."""

    id: str
    field: str
    text: str
    evidence: bool = False
    scope: str = ""  # where it says that it holds; two that say different places do not oppose each other
    place: str = ""  # the one checkout it is about
    akin: frozenset[str] = frozenset()  # cards it follows or came from


@dataclass(frozen=True, slots=True, kw_only=True)
class Opposed:
    """Two statements that oppose each other, the smaller id first, cards before evidence."""

    one: str
    other: str
    kind: str  # negation, antonym or number
    why: str
    quoted: tuple[str, str]  # what each says


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All pairs in a fixed order. `capped`: somewhere too many said the same, and not all of them were compared."""

    pairs: tuple[Opposed, ...]
    capped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    value: float
    bound: str  # exact, most or least
    shown: str

    def against(self, other: "_Number") -> bool:
        """Whether both cannot hold, or, bounded alike, are not the same bound."""
        if abs(self.value - other.value) <= _NEAR * max(abs(self.value), abs(other.value)):
            return False
        if self.bound == other.bound:
            return True
        low, high = (self, other) if self.value < other.value else (other, self)
        return low.bound != "least" and high.bound != "most"


@dataclass(slots=True)
class Stance:
    """What a statement is about, and how it stands to it."""

    words: list[str] = field(default_factory=list)
    turns: int = 0  # negations
    poles: dict[str, tuple[int, int]] = field(default_factory=dict)  # axis -> pole, and how many words stand before it
    numbers: dict[str, list[_Number]] = field(default_factory=dict)
    core: frozenset[str] = frozenset()


@cache
def _poles() -> Mapping[str, tuple[str, int]]:
    made: dict[str, tuple[str, int]] = {}
    for axis, (plus, minus) in (*AXES.items(), *RELATIONS.items()):
        made |= dict.fromkeys(plus.split(), (axis, 1))
        made |= dict.fromkeys(minus.split(), (axis, -1))
    return made


def sentences(text: str) -> Iterator[str]:
    """The statements of a longer text, the first ones only."""
    found = (match[0].strip() for match in _SENTENCE.finditer(text))
    yield from [one for one in found if 0 < len(one) <= SENTENCE_MAX][:SENTENCES_MOST]


def _tokens(text: str) -> list[str]:
    made: list[str] = []
    for word in _TOKEN.findall(text.lower().replace("’", "'")):
        if word.endswith("n't"):
            made.append("not")  # what it clings to says only how firmly
        elif word.startswith("non-"):
            made += ["non", word[4:].replace("-", "")]
        else:
            made.append(word.split("'")[0].replace("-", ""))
    return made


def stance(text: str) -> Stance:
    """Read one statement."""
    held, words = Stance(), _tokens(text)
    names = {word.lower() for word in _NAMES.findall(text)}
    at = 0
    while at < len(words):
        at += _number(held, words, at, names) or _bounded(words, at) or _word(held, words, at)
    if held.turns % 2 and any(one.bound == "least" for one in _all_numbers(held)):
        # Not more than three is at most three.
        held.turns -= 1
        held.numbers = {
            unit: [_Number(value=one.value, bound="most", shown=one.shown) if one.bound == "least" else one for one in found]
            for unit, found in held.numbers.items()
        }
    held.core = frozenset(held.words)
    return held


def _all_numbers(held: Stance) -> list[_Number]:
    return [one for found in held.numbers.values() for one in found]


def _value(word: str) -> float | None:
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    return float(word.replace(",", "")) if word[0].isdigit() and _VALUE.fullmatch(word) else None


def _number(held: Stance, words: Sequence[str], at: int, names: set[str]) -> int:
    """A number and its unit; how many words that were. One that is a name joins the words instead."""
    word, before = words[at], words[at - 1] if at else ""
    if word in ("once", "twice"):
        held.numbers.setdefault("times", []).append(_Number(value=1.0 + (word == "twice"), bound="exact", shown=word))
        return 1
    value = _value(word)
    if value is None:
        if word[0].isdigit():
            held.words.append(word)  # such as 3.11.2
            return 1
        return 0
    unit = words[at + 1] if at + 1 < len(words) else ""
    dimension, factor = UNITS.get(unit, ("", 1.0))
    version = "." in word and not dimension
    if not dimension and (before in NUMBERED or before in names or (version and before and before not in NEUTRAL)):
        held.words.append(f"{before}#{word}")
        return 1
    shown = f"{word} {unit}" if dimension else word
    held.numbers.setdefault(dimension, []).append(_Number(value=value * factor, bound=_bound(words, at), shown=shown))
    return 2 if dimension else 1


def _bound(words: Sequence[str], at: int) -> str:
    return next((bound for phrase, bound in BOUNDS if tuple(words[max(0, at - len(phrase)) : at]) == phrase), "exact")


def _bounded(words: Sequence[str], at: int) -> int:
    """The words of a bound belong to the number behind them."""
    for phrase in _FIRST.get(words[at], ()):
        end = at + len(phrase)
        if tuple(words[at:end]) == phrase and end < len(words) and _value(words[end]) is not None:
            return len(phrase)
    return 0


def _word(held: Stance, words: Sequence[str], at: int) -> int:
    word = words[at]
    if word in ("on", "off") and at and words[at - 1] in SWITCHED:
        held.poles["switch"] = (1 if word == "on" else -1, len(held.words))
    elif word in NEGATORS:
        held.turns += 1
        if tuple(words[at : at + 2]) == ("no", "longer"):
            return 2
    elif word in NEUTRAL or word == "%":
        pass
    elif word in _poles():
        axis, pole = _poles()[word]
        held.poles[axis] = (pole, len(held.words))
    elif word.isascii() and word.isalpha():
        if word.startswith("un") and len(word) > 5 and not word.startswith(PLAIN_UN):
            held.turns += 1
            word = word[2:]
        held.words.append(stem(IRREGULAR.get(word, word)))
    else:
        held.words += terms(word) if not word.isascii() else [word]
    return 1


def opposition(one: Stance, other: Stance) -> tuple[str, str] | None:
    """How two stances oppose each other and why that is thought, or None."""
    lone, rest = one.core - other.core, other.core - one.core
    shared = one.core & other.core
    if not shared or (lone and rest):
        return None
    axes = one.poles.keys() & other.poles.keys()
    # A pole that one has alone is a word that it has alone.
    left, right = len(lone) + len(one.poles.keys() - axes), len(rest) + len(other.poles.keys() - axes)
    if (left and right) or len(shared) < OVERLAP * (len(shared) + left + right) or (len(shared) == 1 and left + right):
        return None
    flips = {axis for axis in axes if one.poles[axis][0] != other.poles[axis][0]}
    flips ^= {axis for axis in axes if axis in RELATIONS and _swapped(one, other, axis)}
    turned = (one.turns + other.turns) % 2
    against = _numbers(one, other)
    if (turned + len(flips)) % 2:
        if against:
            return None  # they differ twice, and may well agree
        return ("negation", "one denies what the other says") if turned else ("antonym", "they say the opposite of one thing")
    if against and not flips:
        return "number", f"one says {against[0].shown}, the other {against[1].shown}"
    return None


def _swapped(one: Stance, other: Stance, axis: str) -> bool:
    """Whether what stands before the pole in one stands behind it in the other."""
    mine, theirs = one.poles[axis][1], other.poles[axis][1]
    before, behind = set(one.words[:mine]), set(one.words[mine:])
    ahead, after = set(other.words[:theirs]), set(other.words[theirs:])
    return len(before & after) + len(behind & ahead) > len(before & ahead) + len(behind & after)


def _numbers(one: Stance, other: Stance) -> tuple[_Number, _Number] | None:
    """The first pair of numbers of one kind that cannot both hold; compared place by place."""
    for unit in sorted(one.numbers.keys() & other.numbers.keys()):
        mine, theirs = one.numbers[unit], other.numbers[unit]
        if len(mine) == len(theirs):
            for left, right in zip(mine, theirs, strict=True):
                if left.against(right):
                    return left, right
    return None


def contradictions(said: Iterable[Said]) -> Found:
    """Every pair of one subject that opposes each other, of which at least one is a card.

    Of an opposed pair the words of one are among those of the other, so it is found at the rarest word of the smaller one."""
    ordered = sorted(said, key=lambda one: (one.evidence, one.id, one.text))
    stances = [stance(one.text) for one in ordered]
    having: dict[tuple[str, str], list[int]] = {}
    for place, held in enumerate(stances):
        for word in held.core:
            having.setdefault((ordered[place].field.casefold(), word), []).append(place)
    found: dict[tuple[str, str], Opposed] = {}
    capped = False
    for place, held in enumerate(stances):
        if not held.core:
            continue
        subject = ordered[place].field.casefold()
        rarest = min(held.core, key=lambda word: (len(having[subject, word]), word))
        partners = having[subject, rarest]
        capped = capped or len(partners) > PARTNERS_MOST + 1
        for other in partners[: PARTNERS_MOST + 1]:
            beside = stances[other].core
            # Of two with the same words one looks for the other, not both.
            if other == place or not held.core <= beside or (other < place and len(beside) == len(held.core)):
                continue
            low, high = min(place, other), max(place, other)
            key = (ordered[low].id, ordered[high].id)
            if key in found or not _comparable(ordered[low], ordered[high]):
                continue
            if (told := opposition(stances[low], stances[high])) is not None:
                kind, why = told
                quoted = (ordered[low].text, ordered[high].text)
                found[key] = Opposed(one=key[0], other=key[1], kind=kind, why=why, quoted=quoted)
        if len(found) >= PAIRS_MOST:
            capped = True
            break
    return Found(pairs=tuple(found[key] for key in sorted(found)), capped=capped)


def _comparable(one: Said, other: Said) -> bool:
    if one.id == other.id or (one.evidence and other.evidence):
        return False
    if one.id in other.akin or other.id in one.akin:
        return False
    elsewhere = one.place and other.place and one.place != other.place
    return not elsewhere and not (one.scope and other.scope and one.scope.casefold() != other.scope.casefold())
