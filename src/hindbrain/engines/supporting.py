"""Supporting: which values of a claim no tool call shows, and which names of a request nothing of the result takes up."""

from collections.abc import Iterable
from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

from hindbrain.engines.criteria import quoted
from hindbrain.engines.showing import lines, words_of

__all__ = ["names_in", "unsupported", "untouched"]

_NUMBER = regex.compile(r"(?<![\w./-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w/-]|\.\d)")
# A word with a directory, or with an ending that begins with a letter. `e.g.` has none of two letters on either side.
_FILE = regex.compile(r"(?<![\w/.@*:-])(?:[\w.@*~-]*/[\w./@*~-]*\w[*/]?|[\w*][\w.*-]*\.(?:[A-Za-z]\w{0,9}|\*))(?![\w/])")
_CUT = regex.compile(r"^… \d+ characters left out …$", regex.MULTILINE)  # where a long text was shortened; no value of anybody
_ABBREVIATED = regex.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?")
_SLASHED_WORDS = regex.compile(r"[A-Za-z]+/[A-Za-z]+")


def unsupported(claim: Any, texts: Iterable[str], given: Iterable[str]) -> tuple[str, ...]:
    """Numbers, files and quoted words of a claim that occur in nothing that tools gave and in nothing that was given to begin
    with. A number may also be how many lines a tool gave."""
    text = _CUT.sub("", claim if isinstance(claim, str) else "\n".join(words_of(claim)))
    shown = tuple(texts)
    if not text.strip() or any(text.strip() == _CUT.sub("", one).strip() for one in shown):
        return ()
    known = "\n".join((*shown, *given)).lower()
    numbers = {_plain(number) for number in _NUMBER.findall(known)}
    numbers |= {str(len(lines(one))) for one in shown} | {str(sum(len(lines(one)) for one in shown))}
    lacking = [number for number in _NUMBER.findall(text) if _plain(number) not in numbers and number not in known]
    lacking += [name for name in names_in(text) if _bare(name) not in known]
    return tuple(dict.fromkeys(lacking))


def _plain(number: str) -> str:
    return f"{round(float(number.replace(',', '')), 9):.9f}".rstrip("0").rstrip(".")


def names_in(text: str) -> tuple[str, ...]:
    """The files and the quoted words that a text names."""
    marked = quoted(text)
    files = [
        found.rstrip(".,;:")
        for found in _FILE.findall(text)
        if not _ABBREVIATED.fullmatch(found) and not _SLASHED_WORDS.fullmatch(found)
    ]
    return tuple(dict.fromkeys((*marked, *(file for file in files if len(file) > 1))))


def untouched(request: str, made: Iterable[Any], said: Iterable[Any] = ()) -> tuple[str, ...]:
    """Names of a request that occur nowhere in what was made of it. What is only said along the way (intents, what was read)
    takes up a quoted word, for that may be what was to be changed; a file has to be touched."""
    touched = _joined(made)
    spoken = f"{touched}\n{_joined(said)}"
    marked = {name for name in quoted(request) if not _FILE.fullmatch(name)}
    return tuple(name for name in names_in(request) if _bare(name) not in (spoken if name in marked else touched))


def _joined(values: Iterable[Any]) -> str:
    return "\n".join(word for one in values for word in words_of(one)).lower()


def _bare(name: str) -> str:
    return name.lower().removeprefix("./").rstrip("/")
