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

__all__ = ["agree", "ask_passphrase", "confirm"]


def confirm(op: Command, arguments: Mapping[str, Any], *, why: str | None = None) -> None:
    """Ask the person at the terminal; HumanNeeded when there is none or when the name does not match. `why` it takes a person."""
    command = f"hindbrain {str(op['name']).replace('.', ' ')}"
    if not (os.isatty(0) and os.isatty(2)):
        from hindbrain.engines.fixes import command_line

        line = command_line(str(op["name"]), op["positional"], arguments)
        raise HumanNeeded(
            f"{command} is a human act, and there is no person at this terminal",
            fix=f"ask a person to run it in a terminal: {line}",
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


def agree(why: str) -> None:
    """Ask the person at the terminal whether an ordinary command may reach further than its repository."""
    sys.stderr.write(f"hindbrain: {clean(why)}.\nGo on? [y/N] ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        tell("")
    if line.strip().lower() not in ("y", "yes"):
        raise HumanNeeded("the command was not confirmed; nothing was changed", fix="run it again and answer y")


def ask_passphrase(prompt: str = "Passphrase of this home: ") -> str:
    """Return what the person at the terminal types, without showing it."""
    from getpass import getpass

    try:
        return getpass(prompt)
    except EOFError:
        return ""


def _subject(op: Command, arguments: Mapping[str, Any]) -> str:
    """What the act is about: its first argument as one would read it aloud, else the act itself."""
    for name in op["positional"]:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(clean(value).split())
    return str(op["name"])
