"""The thin client: finds the owner of a home and talks HTTP to it. Standard library only, and as little of it as can be."""

from __future__ import annotations

import json
import os

from hindbrain import __version__
from hindbrain.stores import token_file
from hindbrain.stores.owner_file import read_living_owner
from hindbrain.surfaces.exchange import CONNECT_S, OwnerAddress, OwnerGone, Reply, connect, header_value, request, stream

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from hindbrain.domain.caller import Caller
    from hindbrain.surfaces.remote import RemoteSession, Session

__all__ = [
    "OwnerAddress",
    "OwnerGone",
    "Reply",
    "Who",
    "answer_of",
    "call",
    "caller_root",
    "ensure_owner",
    "find_owner",
    "home_path",
    "operation_request",
    "read_owner",
    "read_token",
    "remote_session",
    "request",
    "same_line",
    "start_owner",
    "stream",
    "under_packet",
]

CALL_S = 660.0  # longer than any call the owner lets run; it only ends the wait for an owner that hangs
START_S = 20.0  # a cold disk and a busy machine included

# Variables by which agent hosts tell the programs they start which project is open.
HOST_ROOTS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")


def under_packet(environ: Mapping[str, str]) -> str | None:
    """The packet that this process works under. A name that cannot be one stays a name that leads nowhere: it lifts no limit."""
    told = environ.get("HINDBRAIN_DELEGATION") or None
    return told if told is None or (told.isascii() and told.replace("_", "").isalnum()) else "unreadable"


class Who:
    """Who calls and from where: what every call tells the owner in its headers."""

    __slots__ = ("agent", "delegation", "passphrase", "root", "session", "source")

    def __init__(self, root: str | None, agent: str | None, session: str | None = None, source: str | None = None) -> None:
        self.root = root
        self.source = source  # where the root was learned
        self.agent = agent
        self.session = session
        self.delegation = under_packet(os.environ)
        self.passphrase: str | None = None  # typed by a person to confirm an act

    def headers(self) -> dict[str, str]:
        told = {
            "Hindbrain-Caller-Root": self.root,
            "Hindbrain-Root-Source": self.source,
            "Hindbrain-Agent": self.agent,
            "Hindbrain-Session": self.session,
            "Hindbrain-Delegation": self.delegation,
            "Hindbrain-Passphrase": self.passphrase,
        }
        return {name: value for name, value in told.items() if value}


def home_path(environ: Mapping[str, str]) -> str:
    """The home directory: the same place as `stores.home.default_home`, found without loading it."""
    if chosen := environ.get("HINDBRAIN_HOME"):
        return os.path.abspath(os.path.expanduser(chosen))
    user = environ.get("HOME")
    if os.name == "nt" or not user:
        from hindbrain.stores.home import default_home

        return str(default_home(dict(environ)))
    short = os.path.join(user, ".hindbrain")
    if os.path.isdir(short):
        return short
    return os.path.join(environ.get("XDG_DATA_HOME") or os.path.join(user, ".local", "share"), "hindbrain")


def caller_root(given: str | None, environ: Mapping[str, str]) -> tuple[str, str]:
    """The caller root of a local surface and where it was learned: given, environment, host variable, directory."""
    if given:
        return os.path.realpath(os.path.expanduser(given)), "call"
    for variable in ("HINDBRAIN_WORKSPACE_ROOT", *HOST_ROOTS):
        if named := environ.get(variable):
            return os.path.realpath(os.path.expanduser(named)), "environment"
    try:
        return os.path.realpath(os.getcwd()), "directory"
    except FileNotFoundError:
        # The directory was removed under us. Its name still says where the caller believes to be.
        return os.path.realpath(environ.get("PWD") or os.sep), "directory"


def read_owner(home: str) -> OwnerAddress | None:
    """The owner that lives, as its file says; None when the file is missing or broken, or its owner is dead."""
    found = read_living_owner(home)
    if found is None:
        return None
    host, port, pid = found.get("host"), found.get("port"), found.get("pid")
    if not isinstance(host, str) or not isinstance(port, int) or not isinstance(pid, int) or not 0 < port < 65536 or pid <= 0:
        return None
    started = found.get("started_ms")
    return OwnerAddress(host, port, pid, str(found.get("version") or ""), started if isinstance(started, int) else 0)


def find_owner(home: str, timeout: float = CONNECT_S) -> OwnerAddress | None:
    """The owner that accepts connections now, or None when the file is missing or stale."""
    address = read_owner(home)
    if address is None:
        return None
    try:
        connect(address, timeout).close()
    except OwnerGone:
        return None
    return address


def read_token(home: str, *, human: bool = False, hook: bool = False) -> str:
    """The token of a home. Without a whole one nobody may call its owner."""
    name = "human-token" if human else "hook-token" if hook else "token"
    try:
        return token_file.read_token(os.path.join(home, name))
    except (OSError, ValueError) as unreadable:
        raise OwnerGone(
            f"the token file {os.path.join(home, name)} cannot be used: {unreadable}; the next owner replaces a damaged one",
            sent=False,
        ) from unreadable


def operation_request(operation: str, arguments: Mapping[str, Any], who: Who, accept: str) -> tuple[str, dict[str, str], bytes]:
    """Path, headers and body of a call."""
    headers = {"Content-Type": "application/json", "Accept": accept, **who.headers()}
    return f"/api/op/{header_value(operation)}", headers, json.dumps(arguments).encode("ascii")


def call(
    address: OwnerAddress, token: str, operation: str, arguments: Mapping[str, Any], who: Who, timeout: float = CALL_S
) -> dict[str, Any]:
    """One operation by the owner. The answer is the owner's own, an error included; OwnerGone when there is none."""
    path, headers, body = operation_request(operation, arguments, who, "application/json")
    return answer_of(request(address, token, "POST", path, headers, body, timeout).body)


def answer_of(body: bytes) -> dict[str, Any]:
    """The answer in a body. Every answer of an owner says `ok`; whatever does not, comes from a stranger on that port."""
    try:
        found = json.loads(body)
    except ValueError as strange:
        raise OwnerGone("what answers there is not a Hindbrain owner", sent=True) from strange
    if not isinstance(found, dict) or "ok" not in found:
        raise OwnerGone("what answers there is not a Hindbrain owner", sent=True)
    return found


def same_line(version: str) -> bool:
    """Whether two releases can talk: the same major and minor number."""
    return version.split(".")[:2] == __version__.split(".")[:2]


def start_owner(home: str) -> None:
    """Start an owner in the background unless one is up or coming up. Returns at once."""
    from hindbrain.surfaces import starting

    starting.start_owner(home)


def ensure_owner(home: str, timeout_s: float = START_S) -> OwnerAddress:
    """The owner of a home, started if none answers; OwnerGone when it does not come up in time."""
    found = find_owner(home)
    if found is None:
        from hindbrain.surfaces import starting

        found = starting.ensure_owner(home, timeout_s)
    return found


def remote_session(
    home: Path, caller: Caller, *, start: bool, alone: Callable[[], Session] | None = None
) -> RemoteSession | None:
    """A session served by the owner of a home; None when no owner answers and none shall be started."""
    from hindbrain.surfaces.remote import RemoteSession

    return RemoteSession.open(os.fspath(home), caller, start=start, alone=alone)
