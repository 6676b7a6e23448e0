"""The handshake of a bridge: what host and owner agreed on, kept for the next owner, and a stand-in while there is none."""

from __future__ import annotations

import json
import os

from hindbrain import __version__

# As in exchange.py: the typing module is too dear for a thin process.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["REPLAY", "Handshake", "StandIn"]

REPLAY = "hindbrain-replay"  # the id of a handshake repeated for a new owner; its answer is not the host's business

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"


class Handshake:
    """The first words of a host's session. Every owner the session meets has to hear them before anything else."""

    def __init__(self) -> None:
        self.negotiated: str | None = None  # the version agreed on at `initialize`; a 2026 session has none
        self.initialized: bytes | None = None
        self.subscribed: dict[str, dict[str, Any]] = {}  # requests of the host by the address they are about
        self._opening: dict[str, Any] | None = None

    def answered(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        """A request of the host was answered; the first one that opens a session is kept, and what it subscribed to."""
        params = request.get("params")
        uri = params.get("uri") if isinstance(params, dict) else None
        if isinstance(uri, str) and request["method"] == "resources/subscribe":
            self.subscribed[uri] = request
        elif isinstance(uri, str) and request["method"] == "resources/unsubscribe":
            self.subscribed.pop(uri, None)
        if self._opening is not None or request["method"] not in ("initialize", "server/discover"):
            return
        self._opening = request
        if request["method"] == "initialize":
            self.negotiated = str(result.get("protocolVersion"))

    def replay(self) -> tuple[list[bytes], dict[str, str]]:
        """The lines that bring a new owner to where the host already is, and what is subscribed to by the ids of the requests."""
        if self._opening is None:
            return [], {}
        renewing = {f"{REPLAY}-{number}": uri for number, uri in enumerate(self.subscribed)}
        requests = [{**self._opening, "id": REPLAY}, *({**self.subscribed[uri], "id": name} for name, uri in renewing.items())]
        again = [json.dumps(request).encode() + b"\n" for request in requests]
        return ([again[0], self.initialized, *again[1:]] if self.initialized else again), renewing


class StandIn:
    """Answers a client that only looks around, from the manifest an earlier owner left and word for word as an owner would.

    Whatever is not exactly as recorded waits for the owner.
    """

    def __init__(self, home: str, profile: str) -> None:
        self._path = os.path.join(home, "manifest.json")
        self._profile = profile
        self._found: dict[str, Any] | None = None

    def answer(self, method: str, params: Any, negotiated: str | None) -> str | None:
        """The result of a request as JSON, or None. `negotiated` is the version of the handshake, if there was one."""
        if not self._found:
            self._found = _read(self._path)
        try:
            version = _version(self._found, method, params, negotiated)
            return str(self._found["texts"][self._found["answers"][self._profile][version][method]])
        except (KeyError, IndexError, TypeError):
            return None


def _version(found: dict[str, Any], method: str, params: Any, negotiated: str | None) -> str | None:
    """The version under which a request can be answered without the owner, or None."""
    if method == "initialize":
        return _agreed(found, params) if negotiated is None else None
    given = params if isinstance(params, dict) else {}
    meta = given.get("_meta") or {}
    if "cursor" in given or VERSION_KEY not in meta:
        return None if "cursor" in given else negotiated
    # A request of one era in a session of the other, or half an envelope, gets the owner's own refusal.
    whole = isinstance(meta.get(CAPABILITIES_KEY), dict) and meta[VERSION_KEY] in found["modern_versions"]
    return meta[VERSION_KEY] if whole and negotiated is None else None


def _agreed(found: dict[str, Any], params: Any) -> str | None:
    """The version a server agrees on with this `initialize`; None when it is not whole and the owner has to judge."""
    info, asked = params["clientInfo"], params["protocolVersion"]
    whole = isinstance(params["capabilities"], dict) and all(isinstance(w, str) for w in (asked, info["name"], info["version"]))
    if not whole:
        return None
    return str(asked if asked in found["handshake_versions"] else found["latest_handshake"])


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())["mcp"]
        return found if isinstance(found, dict) and found["version"] == __version__ else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
