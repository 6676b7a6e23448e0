"""Quantities: the numbers of a text with their units, and whether two of them are the same amount. Pure."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindbrain.policy.claim_words import NUMBERS, SCALES, UNITS

__all__ = ["Quantity", "quantities", "same_amount", "unit_in_name"]

_NUMBER = r"0x[0-9a-fA-F]+|\d[\d_]*(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
_DIGITS = re.compile(rf"(?<![\w.])(?P<number>{_NUMBER})(?P<joined>%|[A-Za-z]\w*)?(?![\w%])")
_PRODUCT = re.compile(rf"(?<![\w.])(?:{_NUMBER})(?:\s*\*\s*(?:{_NUMBER}))+(?![\w.])(?:\s*\*\s*(?:time|Duration)\.(?P<unit>\w+))?")
_TIMED = re.compile(
    rf"(?<![\w.])(?P<number>{_NUMBER})\s*\*\s*(?:time|Duration)\.(?P<unit>\w+)|(?:time|Duration)\.(?P<before>\w+)\s*\*\s*(?P<after>{_NUMBER})"
)
_CALLED = re.compile(
    rf"(?P<unit>from_(?:secs|millis|micros|nanos|mins|hours|days)|of(?:Seconds|Millis|Minutes|Hours|Days)|seconds|minutes|hours|days|milliseconds|weeks)"
    rf"\s*[(=]\s*(?P<number>{_NUMBER})(?![\w.])"
)
_SLEEP = re.compile(rf"(?P<call>\btime\.sleep|\basyncio\.sleep|\bsetTimeout|\bsetInterval)\b[^;\n]*?(?P<number>{_NUMBER})\s*\)")
_SHIFT = re.compile(r"\b(\d+)\s*<<\s*(\d{1,2})\b")
_TYPES = re.compile(r"(?:[uifULlFf]|u?l{1,2}|[ui](?:8|16|32|64|128|size)|f(?:32|64)|n)\Z", re.IGNORECASE)
_CLOCK = re.compile(r"(?<![\w.:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])|\bv?\d+(?:\.\d+){2,}\b")
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"\s*-?([^\W\d_]+|%)")
_PRONOUN = frozenset(
    [
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
        "by",
        "can",
        "may",
        "must",
    ]
)
_IN_NAME = {
    **{unit: unit for unit in UNITS if len(unit) > 1 and unit not in ("times", "tries", "attempts", "time")},
    "s": "s",
    "ms": "ms",
}
_TIME_FACTORS = frozenset({60.0, 3600.0, 24.0, 86400.0})
_SIZE_FACTORS = frozenset({1024.0, 1000.0})
_THOUSANDTH = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number where it stands. `unit` is empty where none is written; `factors` are those of a product."""

    text: str
    value: float
    at: int
    end: int
    unit: str = ""
    factors: tuple[float, ...] = ()


def quantities(text: str, *, claim: bool = False) -> tuple[Quantity, ...]:
    """Find every number of a text. In a claim `one` may be a pronoun, and then is none; times of day are no numbers."""
    left = _blank(text, _CLOCK)
    found: list[Quantity] = []
    for pattern, unit_of in ((_TIMED, _timed), (_PRODUCT, _product), (_CALLED, _called), (_SLEEP, _slept), (_SHIFT, _shifted)):
        for match in pattern.finditer(left):
            if not any(one.at < match.end() and match.start() < one.end for one in found):
                found.append(unit_of(match))
    for one in found:
        left = left[: one.at] + " " * (one.end - one.at) + left[one.end :]
    for match in _DIGITS.finditer(left):
        joined = match["joined"] or ""
        if joined and joined.lower() not in UNITS and not _TYPES.match(joined) and joined.lower() not in ("m", "k", "g"):
            continue
        unit, end = (joined.lower(), match.end()) if joined.lower() in UNITS else _unit_after(left, match.end())
        if joined and joined.lower() in ("m", "k", "g"):
            unit = f"?{joined.lower()}"  # minutes or megabytes: who knows
        if _TYPES.match(joined) and joined.lower() not in UNITS:
            unit, end = "", match.end()
        found.append(Quantity(text=match["number"], value=_read(match["number"]), at=match.start(), end=end, unit=unit))
    found += number_words(left, claim=claim)
    return tuple(sorted(found, key=lambda one: one.at))


def number_words(text: str, *, claim: bool) -> Iterator[Quantity]:
    """Numbers that are written in words."""
    tokens = [(one.start(), one.end(), one[0].lower()) for one in _WORD.finditer(text)]
    place = 0
    while place < len(tokens):
        start, end, word = tokens[place]
        if word not in NUMBERS:
            place += 1
            continue
        total, part, last = 0, 0, place
        while last < len(tokens) and (tokens[last][2] in NUMBERS or (tokens[last][2] in SCALES and last > place)):
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
        if not (claim and bare):
            unit, after = _unit_after(text, end)
            yield Quantity(text=text[start:end], value=float(total + part), at=start, end=after, unit=unit)
        place = last


def same_amount(claimed: Quantity, found: Quantity, unit: str = "") -> bool | None:
    """Return whether both are one amount; None where the source does not say in which unit it counts. `unit` is that of the name
    or the comment beside the number."""
    own = found.unit or unit
    if not claimed.unit or UNITS.get(claimed.unit, ("count",))[0] == "count":
        if "." in claimed.text and claimed.text != found.text:
            return False  # 1.5 and 1.50 may be two versions
        plain = {found.value, *(found.factors[:1] if own else ())}
        return not own.startswith("?") and any(_close(claimed.value, one) for one in plain)
    if own == claimed.unit:
        return _close(claimed.value, found.value) or bool(found.factors and _close(claimed.value, _base(found)))
    if own in UNITS and UNITS[own][0] != "count":
        kind, factors = UNITS[own]
        other, claimed_factors = UNITS[claimed.unit]
        if kind != other:
            return False
        return any(_close(claimed.value * one, found.value * two) for one in claimed_factors for two in factors)
    kind, factors = UNITS.get(claimed.unit, ("", ()))
    known = _TIME_FACTORS if kind == "time" else _SIZE_FACTORS if kind == "size" else frozenset()
    if known & set(found.factors):
        scales = (1.0, _THOUSANDTH) if kind == "time" and 1000.0 in found.factors else (1.0,)
        return any(_close(claimed.value * factor, found.value * scale) for factor in factors for scale in scales)
    return None


def unit_in_name(name: str) -> str:
    """The unit that the name of a number ends with, as in `LEASE_S`, `expiryMinutes` or `max_size_mb`."""
    parts = [one.lower() for one in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    if len(parts) > 1 and parts[-1] in _IN_NAME:
        return _IN_NAME[parts[-1]]
    return _IN_NAME[parts[0]] if len(parts) == 1 and len(parts[0]) > 3 and parts[0] in _IN_NAME else ""


def _base(found: Quantity) -> float:
    return found.factors[0]


def _close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)


def _read(text: str) -> float:
    raw = text.replace("_", "").replace(",", "")
    return float(int(raw, 16)) if raw.lower().startswith("0x") else float(raw)


def _unit_after(text: str, at: int) -> tuple[str, int]:
    found = _AFTER.match(text, at)
    if found and found[1].lower() in UNITS:
        return found[1].lower(), found.end()
    return "", at


def _product(match: re.Match[str]) -> Quantity:
    factors = tuple(_read(one) for one in re.findall(_NUMBER, match[0]))
    unit = _named(match["unit"] or "")
    return Quantity(text=match[0], value=math.prod(factors), at=match.start(), end=match.end(), unit=unit, factors=factors)


def _timed(match: re.Match[str]) -> Quantity:
    number = match["number"] or match["after"]
    unit = _named(match["unit"] or match["before"])
    return Quantity(text=match[0], value=_read(number), at=match.start(), end=match.end(), unit=unit, factors=(_read(number),))


def _called(match: re.Match[str]) -> Quantity:
    return Quantity(
        text=match["number"],
        value=_read(match["number"]),
        at=match.start("number"),
        end=match.end("number"),
        unit=_named(match["unit"]),
    )


def _slept(match: re.Match[str]) -> Quantity:
    unit = "ms" if match["call"].startswith("set") else "s"
    return Quantity(
        text=match["number"], value=_read(match["number"]), at=match.start("number"), end=match.end("number"), unit=unit
    )


def _shifted(match: re.Match[str]) -> Quantity:
    return Quantity(text=match[0], value=float(int(match[1]) << int(match[2])), at=match.start(), end=match.end())


def _named(unit: str) -> str:
    """`Second`, `from_secs` and `ofMillis` as units."""
    plain = re.sub(r"\A(?:from_|of)", "", unit).lower()
    if not plain:
        return ""
    return plain if plain in UNITS else f"{plain}s" if f"{plain}s" in UNITS else "minutes" if plain == "mins" else ""


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda found: " " * len(found[0]), text)
