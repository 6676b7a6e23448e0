"""The commands about the passphrase. A person at a terminal sets and removes it; no operation does."""

import os
import time
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import HumanNeeded, InvalidParams
from hindbrain.services.confirmation import Confirmation
from hindbrain.stores.home import Home
from hindbrain.surfaces.human import ask_passphrase

__all__ = ["remove", "set_passphrase", "status"]


def set_passphrase(home: str) -> dict[str, Any]:
    """Ask for the present passphrase if there is one, and twice for the new one."""
    confirmation = _asked(home)
    first = ask_passphrase("New passphrase: ")
    if ask_passphrase("The same once more: ") != first:
        raise InvalidParams("the two are not the same; nothing was changed", fix="run it again")
    confirmation.change(first)
    told = "Human acts of this home need the passphrase from now on, at a terminal, over HTTP and in the Hall."
    return {"ok": True, "set": True, "rendered": told}


def remove(home: str) -> dict[str, Any]:
    """Ask for the present passphrase and remove it."""
    confirmation = _asked(home)
    confirmation.remove()
    return {"ok": True, "set": False, "rendered": "Human acts of this home need no passphrase."}


def status(home: str) -> dict[str, Any]:
    """Whether human acts need a passphrase."""
    needed = _confirmation(home).is_set()
    told = "Human acts of this home need the passphrase." if needed else "Human acts of this home need no passphrase."
    return {"ok": True, "set": needed, "rendered": told}


def _asked(home: str) -> Confirmation:
    """The passphrase of this home, after the person at the terminal has given it."""
    if not (os.isatty(0) and os.isatty(2)):
        raise HumanNeeded("a person sets the passphrase, and there is none at this terminal", fix="run it in a terminal")
    confirmation = _confirmation(home)
    if confirmation.is_set():
        confirmation.verify(ask_passphrase("Present passphrase: "))
    return confirmation


def _confirmation(home: str) -> Confirmation:
    return Confirmation(Home(Path(home)), lambda: time.time_ns() // 1_000_000)
