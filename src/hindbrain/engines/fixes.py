"""Fixes: which of a finding's words are a command that can be run as it stands, and where. Pure."""

import re
import shlex

__all__ = ["command_of"]

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
