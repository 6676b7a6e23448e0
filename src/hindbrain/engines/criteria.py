"""Criteria: which mechanical check a criterion in plain words means. What fits no phrasing has none; nothing is guessed."""

from collections.abc import Callable
from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

from hindbrain.domain.task import CheckSpec, Criterion

__all__ = ["check_of", "phrased", "quoted"]

_QUOTED = regex.compile(r"""(?<!\w)(?:"([^"\n]+)"|'([^'\n]+)'(?!\w)|`([^`\n]+)`|“([^”\n]+)”|«([^»\n]+)»)""")
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

_UNNAMED = r"(?!(?:file|path|output|result|answer|it|that|this) )"
_PATH = rf"""(?:"(?P<path>[^"]+)"|'(?P<path>[^']+)'|`(?P<path>[^`]+)`|{_UNNAMED}(?P<path>[^\s"'`]+))"""
_TEXT = r"""(?:"(?P<text>[^"]+)"|'(?P<text>[^']+)'|`(?P<text>[^`]+)`|“(?P<text>[^”]+)”|«(?P<text>[^»]+)»)"""
_N = r"(?P<n>\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_OUT = r"(?:the )?(?:merged )?(?:output|result|answer)"
_SOME = r"(?: (?:lines?|entries|results?|files?|hits?))?"
_FILE = r"(?:the )?(?:(?:file|path|directory|folder) )?"

Made = Callable[[Any], dict[str, Any]]


def _count(found: Any) -> int:
    word = found["n"].lower()
    return _NUMBERS.get(word) or int(word)


def _value(text: str) -> Any:
    """A value as it is written in a sentence: a number, true, false, null, or text."""
    plain = text.strip()
    if (known := {"true": True, "false": False, "null": None}.get(plain, plain)) is not plain:
        return known
    if regex.fullmatch(r"-?\d+", plain):
        return int(plain)
    if regex.fullmatch(r"-?\d+\.\d+", plain):
        return float(plain)
    return plain.strip("\"'`")


# In this order, for a later phrasing would take what an earlier one means: a number is also a text, a full file also exists.
_PHRASINGS: tuple[tuple[str, str, Made], ...] = (
    (
        rf"{_FILE}{_PATH} (?:exists and is|exists and isn't|is) (?:not empty|empty not)",
        "path_nonempty",
        lambda m: {"path": m["path"]},
    ),
    (rf"{_FILE}{_PATH} (?:exists|is present|was created)", "path_exists", lambda m: {"path": m["path"]}),
    (
        r"(?:the )?(?:exit|return) (?:status|code) (?:is|equals|=|==) (?P<n>-?\d+)",
        "exit_status",
        lambda m: {"equals": int(m["n"])},
    ),
    (
        r"(?:the )?(?:command|program|build|tests?|test suite|check) (?:succeeds?|passe?s?)",
        "exit_status",
        lambda m: {"equals": 0},
    ),
    (rf"{_OUT} does not contain {_TEXT}", "contains", lambda m: {"text": m["text"], "absent": True}),
    (
        rf"{_OUT} (?:contains|has|shows) (?:the )?number (?P<n>-?\d+(?:\.\d+)?)",
        "number",
        lambda m: {"equals": _value(m["n"])},
    ),
    (rf"{_OUT} (?:contains|includes|names|shows|has) (?:the text )?{_TEXT}", "contains", lambda m: {"text": m["text"]}),
    (
        rf"{_OUT} matches (?:the )?(?:regex |pattern |regular expression )?/(?P<text>.+)/",
        "regex",
        lambda m: {"pattern": m["text"]},
    ),
    (
        rf"{_OUT} matches (?:the )?(?:regex|pattern|regular expression) {_TEXT}",
        "regex",
        lambda m: {"pattern": m["text"]},
    ),
    (
        rf"{_OUT} (?:names|lists|contains|has) at least {_N} existing paths?",
        "count_at_least",
        lambda m: {"n": _count(m), "of": "paths"},
    ),
    (
        rf"{_OUT} (?:contains|has) {_TEXT} at least {_N} times?",
        "count_at_least",
        lambda m: {"n": _count(m), "of": "text", "text": m["text"]},
    ),
    (rf"{_OUT} (?:lists|has|contains|names) at least {_N} items?", "count_at_least", lambda m: {"n": _count(m), "of": "items"}),
    (
        rf"(?:{_OUT} (?:lists|has|contains|names) at least|(?:the )?count is at least) {_N}{_SOME}",
        "count_at_least",
        lambda m: {"n": _count(m), "of": "lines"},
    ),
    (rf"{_OUT} is not empty", "count_at_least", lambda m: {"n": 1, "of": "lines"}),
    (
        r"(?:the )?json path (?P<path>\S+) (?:is|equals|=|==) (?P<text>.+)",
        "json_path",
        lambda m: {"path": m["path"].strip("\"'`"), "equals": _value(m["text"])},
    ),
)
_READ: tuple[tuple[Any, str, Made], ...] = tuple(
    (regex.compile(phrase, regex.IGNORECASE), kind, made) for phrase, kind, made in _PHRASINGS
)


def phrased(text: str) -> CheckSpec | None:
    """The check that a sentence means, or None."""
    plain = " ".join(text.split()).rstrip(".")
    for pattern, kind, made in _READ:
        if found := pattern.fullmatch(plain):
            return CheckSpec(kind=kind, args=made(found))  # type: ignore[arg-type]  # the table names kinds
    return None


def check_of(criterion: Criterion) -> CheckSpec | None:
    """The check of a criterion: the one that its plan gives, or the one that its words mean."""
    return criterion.x.check if criterion.x.check is not None else phrased(criterion.criterion)


def quoted(text: str) -> tuple[str, ...]:
    """What stands in quotes, in order."""
    return tuple(
        next(part for part in found if part).strip() for found in _QUOTED.findall(text) if any(part.strip() for part in found)
    )
