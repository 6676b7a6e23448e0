"""Human acts: shown, confirmed by typing a name, and only then carried out with the human token. No flag stands in for it."""

import os
import sys
from collections.abc import Mapping
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from hindbrain.domain.errors import HumanNeeded
from hindbrain.surfaces.manifest import Command
from hindbrain.surfaces.output import json_line, tell
from hindbrain.surfaces.render import clean

__all__ = ["confirm"]


def confirm(op: Command, arguments: Mapping[str, Any], *, why: str | None = None) -> None:
    """Ask the person at the terminal; HumanNeeded when there is none or when the name does not match. `why` it takes a person."""
    command = f"hindbrain {str(op['name']).replace('.', ' ')}"
    if not (os.isatty(0) and os.isatty(2)):
        raise HumanNeeded(
            f"{command} is a human act, and there is no person at this terminal",
            fix=f"ask a person to run it in a terminal: {command}",
        )
    subject = _subject(op, arguments)
    tell("\n".join(wrap(f"{command}: {clean(str(op['summary']))}", get_terminal_size((100, 24)).columns)))
    for name, value in arguments.items():
        tell(f"  {name.replace('_', ' ')}: {clean(value if isinstance(value, str) else json_line(value))}")
    if why:
        tell(f"It takes a person: {clean(why)}")
    sys.stderr.write(f"Type {subject} to go on: ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        tell("")  # the end of the input leaves the question's line open
    typed = line.strip()
    if typed != subject:
        raise HumanNeeded(f"{command} was not confirmed; nothing was changed", fix=f"run it again and type: {subject}")


def _subject(op: Command, arguments: Mapping[str, Any]) -> str:
    """What the act is about: its first argument as one would read it aloud, else the act itself."""
    for name in op["positional"]:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(clean(value).split())
    return str(op["name"])
