"""Fixes: which of a finding's words are a command that can be run as it stands, and where. Pure."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.engines.hygiene import scan

__all__ = ["command_line", "command_of"]

_COMMAND = re.compile(r"^(?:run )?((?:hindbrain|chmod) [^;,:]+)$")
_BLANK = re.compile(r"\b[A-Z]{2,}(?:_[A-Z]+)*\b")  # a word that a person has to fill in
# Families that speak of one brain, and whether they take a tier: where none is, what they are given says enough.
_OF_ONE_BRAIN = {"knowledge": False, "ledger": True, "model embed": True, "persist": False}
_MEDULLA = "medulla"


def command_of(fix: object, brain: str | None) -> str | None:
    """The command that a fix is, for the brain it is about; None when it is advice, or has blanks."""
    found = _COMMAND.match(fix) if isinstance(fix, str) else None
    if found is None or (found[1].startswith("hindbrain") and _BLANK.search(found[1])):
        return None
    words = found[1].split()
    tiered = _OF_ONE_BRAIN.get(words[1], _OF_ONE_BRAIN.get(" ".join(words[1:3])))
    if brain is None or tiered is None or (brain == _MEDULLA and not tiered):
        return found[1]
    return f"{found[1]} --tier {_MEDULLA}" if brain == _MEDULLA else f"{found[1]} --root {shlex.quote(brain)}"


def command_line(name: str, positional: Sequence[str], given: Mapping[str, Any]) -> str:
    """A call as somebody would type it."""
    words = ["hindbrain", *name.replace("_", "-").split(".")]
    told = [one for key in positional if given.get(key) is not None for one in _listed(given[key])]
    last = any(one.startswith("-") for one in told)  # else such a word would be read as a flag
    words += [] if last else told
    for key, value in given.items():
        flag = f"--{key.replace('_', '-')}"
        if key in positional or value in (None, False):
            continue
        if value is True:
            words.append(flag)
        else:
            words += [part for one in _listed(value) for part in (flag, one)]
    words += ["--", *told] if last else []
    return shlex.join("…" if scan(word) else word for word in words)  # an answer never repeats a secret


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values]
