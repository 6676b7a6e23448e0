"""Reading letters: lines to values, ids, what a secret in one is called, and what old letters answer by line number."""

import functools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

from hindbrain.domain.letter import Letter, LetterId, Links, letter_id
from hindbrain.engines.hygiene import scan

__all__ = ["Batch", "legacy_links", "parsed", "read", "secret_classes", "secret_in"]

_BOM = b"\xef\xbb\xbf"
_REFERENCE = re.compile(r"\bL([0-9]{1,7})\b")
_REFERRING = re.compile(rb"L[0-9]")  # few lines have one, and only those are worth reading
_TEXTS = ("ts", "agent", "kind", "repo", "brain", "tool", "what", "expected", "snippet", "verdict", "case")
_PROSE = ("what", "expected", "snippet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What some lines hold: each letter once, in the order of its first line, and how many lines were no letter."""

    letters: tuple[Letter, ...]
    malformed: int = 0


def parsed(raw: bytes) -> Letter | None:
    """The letter of a line without its end; None when it is no JSON object. Never raises, whatever a stranger wrote."""
    found = _object(raw)
    if found is None:
        return None
    texts = {name: _text(found[name]) for name in _TEXTS if name in found}
    return Letter(
        id=letter_id(raw),
        raw=raw,
        klass=_text(found.get("class")),
        answers=_answers(found.get("answers")),
        external=found.get("external") is True,
        **texts,
    )


def read(lines: Iterable[bytes | None]) -> Batch:
    """The letters among lines without their ends. None stands for a line that was too long to be one; a blank one is nothing."""
    found: dict[LetterId, Letter] = {}
    malformed = 0
    for raw in lines:
        letter = parsed(raw) if raw is not None else None
        if letter is not None:
            found.setdefault(letter.id, letter)
        elif raw is None or raw.strip():
            malformed += 1
    return Batch(letters=tuple(found.values()), malformed=malformed)


def secret_in(letter: Letter) -> str | None:
    """The class of what must not be filed in a letter, or None. Looks at the line as it is and at what its escapes spell."""
    return _secret_in_line(letter.raw)


@functools.lru_cache(maxsize=20_000)
def _secret_in_line(raw: bytes) -> str | None:
    """Letters never change, and every look at a box asks again."""
    text = raw.decode("utf-8", "replace")
    spelled = "\n".join(_strings(_object(raw))) if "\\" in text else ""
    return _secret(spelled) or _secret(text)


def secret_classes(raw: bytes) -> list[str]:
    """Return the class of each secret in a line of letters, each once: as the line is, and as its escapes spell it."""
    text = raw.decode("utf-8", "replace")
    spelled = "\n".join(_strings(_object(raw))) if "\\" in text else ""
    return list(dict.fromkeys(hit.pattern_class for part in (text, spelled) for hit in scan(part)))


def _secret(text: str) -> str | None:
    return next((hit.pattern_class for hit in scan(text)), None)


def legacy_links(lines: Iterable[bytes | None]) -> Links:
    """What closing letters without `answers` mean by `L27`: line 27 of these. A letter answers only what stands before it."""
    at: list[bytes | None] = []
    answers: dict[LetterId, tuple[LetterId, ...]] = {}
    unresolved: dict[LetterId, tuple[str, ...]] = {}
    for raw in lines:
        letter = parsed(raw) if raw is not None and _REFERRING.search(raw) else None
        if letter is not None and letter.closes and not letter.answers:
            words = " ".join(getattr(letter, name) or "" for name in _PROSE)
            numbers = dict.fromkeys(int(number) for number in _REFERENCE.findall(words))
            before = {number: at[number - 1] if 0 < number <= len(at) else None for number in numbers}
            meant = {number: parsed(line) if line is not None else None for number, line in before.items()}
            if found := tuple(dict.fromkeys(one.id for one in meant.values() if one is not None and one.id != letter.id)):
                answers[letter.id] = found
            if lost := tuple(f"L{number}" for number, one in meant.items() if one is None):
                unresolved[letter.id] = lost
        at.append(raw)
    return Links(answers=answers, unresolved=unresolved)


def _object(raw: bytes) -> dict[str, Any] | None:
    body = raw.removeprefix(_BOM)
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        found = _slowly(body)  # half of a surrogate pair is JSON all the same
    return found if isinstance(found, dict) else None


def _slowly(body: bytes) -> object:
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _text(value: object) -> str | None:
    """A field as text. A value of another type still says something: as a subject it names no repository, but it is not empty."""
    if value is None or value is False or value in ([], {}):
        return None
    if isinstance(value, str) and value.isascii():
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8")


def _answers(value: object) -> tuple[str, ...]:
    given = value if isinstance(value, list) else [value]
    texts = (one.strip() for one in given if isinstance(one, str))
    return tuple(dict.fromkeys(one.encode("utf-8", "replace").decode("utf-8") for one in texts if one))


def _strings(value: object) -> Iterator[str]:
    """Every text of a JSON value, names of fields included; deep ones too, as no stack is needed."""
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one.encode("utf-8", "replace").decode("utf-8")
        elif isinstance(one, dict):
            waiting += [*one.values(), *one.keys()]
        elif isinstance(one, list):
            waiting += one
