"""Calling: one operation for the command line, by the owner if it is up and by this process if not."""

from __future__ import annotations

import os

from hindbrain import __version__
from hindbrain.surfaces.client import (
    OwnerAddress,
    OwnerGone,
    Who,
    call,
    caller_root,
    ensure_owner,
    find_owner,
    read_owner,
    read_token,
    same_line,
)
from hindbrain.surfaces.output import tell

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["answer", "mode_of", "person", "served"]


_MOST_TEXT = 200_000  # characters: with four bytes each and escapes still within what the owner takes in one request


def mode_of(home: str, environ: Mapping[str, str]) -> str:
    """Which process does the work: embedded, owner, or auto (the owner if it is up)."""
    named = environ.get("HINDBRAIN_MODE")
    if named in ("auto", "embedded", "owner"):
        return named
    config = os.path.join(home, "config.toml")
    try:
        with open(config, "rb") as file:
            mentioned = b"mode" in file.read()
    except FileNotFoundError:
        mentioned = False
    if not named and not mentioned:
        return "auto"
    # Only now is the settings table worth loading: it reads TOML and knows what a wrong value means.
    from pathlib import Path

    from hindbrain.settings import Settings

    return Settings.read(Path(config), environ).text("mode")


def answer(
    op: Command,
    arguments: dict[str, Any],
    *,
    home: str,
    root: str | None,
    agent: str | None,
    human: bool = False,
    start: bool = True,
    passphrase: str | None = None,
) -> dict[str, Any]:
    """The answer of one operation, from whichever process can give it. Without `start` no owner is started for it."""
    place, source = caller_root(root, os.environ)
    who = Who(place, agent or os.environ.get("HINDBRAIN_AGENT_ID") or person(), source=source)
    who.passphrase = passphrase
    mode = mode_of(home, os.environ)
    # A text that no request can carry is taken in by this process, and what no request offers is done by it; both may write to
    # one home.
    if mode != "embedded" and "http" in op["surfaces"] and len(str(arguments.get("text") or "")) <= _MOST_TEXT:
        needed = start and mode == "owner"
        address = _owner(home, start=needed)
        if address is not None:
            try:
                return _by_owner(address, read_token(home, human=human), op, arguments, who)
            except OwnerGone as gone:
                # A call that never arrived, or that changes nothing, is safe to answer here instead.
                if needed or (gone.sent and op["effect"] != "read"):
                    raise
    return _embedded(op, arguments, home, who, source, human)


def served(home: str) -> bool:
    """Whether an owner answers for this home; one is started where the mode wants it."""
    mode = mode_of(home, os.environ)
    return mode != "embedded" and _owner(home, start=mode == "owner") is not None


def person() -> str | None:
    """Who sits at the keyboard, when nobody says who calls: the login name, marked as typed on the command line."""
    name = os.environ.get("USER") or os.environ.get("LOGNAME")
    return f"cli:{name}" if name else None


def _owner(home: str, *, start: bool) -> OwnerAddress | None:
    address = ensure_owner(home) if start else read_owner(home)
    if address is None or address.version == __version__:
        return address
    if find_owner(home) is None:
        return None
    if not same_line(address.version):
        from hindbrain.surfaces.remote import other_release

        raise other_release(address)
    tell(f"hindbrain: the owner is {address.version}, this is {__version__}; `hindbrain stop` lets the next one be the same")
    return address


def _by_owner(address: OwnerAddress, token: str, op: Command, arguments: dict[str, Any], who: Who) -> dict[str, Any]:
    if op["progress"] and os.isatty(2):
        from hindbrain.surfaces import progress

        return progress.by_owner(address, token, str(op["name"]), arguments, who)
    return call(address, token, str(op["name"]), arguments, who)


def _embedded(op: Command, arguments: dict[str, Any], home: str, who: Who, source: str, human: bool) -> dict[str, Any]:
    from hindbrain.surfaces import local_call

    return local_call.run(op, arguments, home=home, who=who, source=source, human=human)
