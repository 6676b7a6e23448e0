"""The bridge: `hindbrain mcp`. Relays an agent host's MCP lines to the owner, and stands in for it while it is not up.

Standard library only, and little of it: a host waits for this process every time it starts.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time

from hindbrain.policy.hooks import ROLE
from hindbrain.surfaces.bridge_handshake import REPLAY, Handshake, StandIn
from hindbrain.surfaces.bridge_lines import (
    INVALID_REQUEST,
    LINE_LIMIT,
    PARSE_ERROR,
    SERVER_ERROR,
    Lines,
    failure,
    found_id,
    success,
)
from hindbrain.surfaces.bridge_link import Link, LinkFailed
from hindbrain.surfaces.client import caller_root, home_path
from hindbrain.surfaces.json_keys import RepeatedKey, loads

# As in exchange.py: the typing module is too dear for a thin process.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Bridge", "main"]

CHUNK = 262144
DRAIN_S = 10.0  # after the host closed its side: how long answers that are under way are still waited for
LISTEN = "subscriptions/listen"
POLL_S = 0.02  # between two looks at an owner that is starting


class Bridge:
    """One host on stdin and stdout, one owner at a time behind it."""

    def __init__(self, link: Link, stand_in: StandIn, *, stdin: int = 0, stdout: int = 1) -> None:
        self._link = link
        self._stand_in = stand_in
        self._stdin = stdin
        self._stdout = stdout
        self._lines = Lines(LINE_LIMIT)
        self._handshake = Handshake()
        self._queue: dict[Any, tuple[dict[str, Any], bytes]] = {}  # requests that wait for an owner, in order
        self._pending: dict[Any, dict[str, Any]] = {}  # requests that an owner has, or is about to get
        self._renewing: dict[str, str] = {}  # addresses by the id of their subscription, until a new owner has answered it
        self._held: list[bytes] = []  # what the host says meanwhile, in order
        self._closed_at: float | None = None

    def run(self) -> int:
        """Relay until the host closes its side and nothing more is under way."""
        while not self._finished():
            sources = [self._stdin] if self._closed_at is None else []
            sources += [self._link.fileno()] if self._link.connected else []
            sinks = [self._link.fileno()] if self._link.connected and self._link.has_output else []
            readable, writable, _ = select.select(sources, sinks, [], self._patience())
            if writable:
                self._link.flush()
            if self._link.connected and self._link.fileno() in readable:
                self._from_owner()
            if self._stdin in readable:
                self._from_host()
            if self._link.wanted:
                self._reach()
        self._link.drop()
        return 0

    def _finished(self) -> bool:
        if self._closed_at is None:
            return False
        pending = [one for one in self._pending.values() if one["method"] != LISTEN]  # a stream has no end of its own
        return not (self._queue or pending) or time.monotonic() > self._closed_at + DRAIN_S

    def _patience(self) -> float | None:
        if self._link.wanted and not self._link.connected:
            return POLL_S
        return 1.0 if self._link.wanted or self._closed_at is not None else None

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._stdout, data) :]

    def _from_host(self) -> None:
        chunk = os.read(self._stdin, CHUNK)
        if not chunk:
            self._closed_at = time.monotonic()
        for line, whole in self._lines.feed(chunk) if chunk else self._lines.rest():
            if not whole:
                self._write(failure(found_id(line), INVALID_REQUEST, f"a message may have {LINE_LIMIT} bytes at most"))
            elif line.strip():
                self._message(line)

    def _message(self, line: bytes) -> None:
        try:
            message = loads(line)
        except RepeatedKey as twice:
            self._write(failure(found_id(line), INVALID_REQUEST, f"ambiguous JSON: {twice}"))
            return
        except (ValueError, RecursionError):
            self._write(failure(None, PARSE_ERROR, "not JSON"))
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            told = message.get("id") if isinstance(message, dict) else None
            self._write(failure(told if isinstance(told, (str, int)) else None, INVALID_REQUEST, "not one JSON-RPC 2.0 message"))
            return
        line = line.rstrip(b"\r") + b"\n"
        self._link.want()
        if isinstance(message.get("method"), str) and isinstance(message.get("id"), (str, int)):
            self._request(message, line)
        else:
            self._notice(message, line)

    def _request(self, message: dict[str, Any], line: bytes) -> None:
        if self._link.up:
            self._pending[message["id"]] = message
            self._pass(line)
        elif not self._stood_in(message):
            self._queue[message["id"]] = (message, line)

    def _stood_in(self, message: dict[str, Any]) -> bool:
        """Answer from the manifest, if the owner would say just that."""
        result = self._stand_in.answer(message["method"], message.get("params"), self._handshake.negotiated)
        if result is None:
            return False
        self._write(success(message["id"], result))
        self._handshake.answered(message, json.loads(result) if message["method"] == "initialize" else {})
        return True

    def _notice(self, message: dict[str, Any], line: bytes) -> None:
        """A notification or an answer to the owner. Nobody waits for one, so without an owner only two matter."""
        method, params = message.get("method"), message.get("params")
        if method == "notifications/initialized":
            self._handshake.initialized = line
        elif method == "notifications/cancelled" and isinstance(params, dict) and isinstance(params.get("requestId"), (str, int)):
            # A cancelled request is not answered any more, neither by an owner nor in its place.
            self._queue.pop(params["requestId"], None)
            self._pending.pop(params["requestId"], None)
        if not self._link.up:
            return
        if method is None:
            self._link.send(line)  # the owner asked, and may need the answer for what it is waited for
        else:
            self._pass(line)

    def _pass(self, line: bytes) -> None:
        """To the owner, as soon as it has taken over the subscriptions: what the host says may build on them."""
        if self._renewing:
            self._held.append(line)
        else:
            self._link.send(line)

    def _reach(self) -> None:
        try:
            self._link.look()
        except LinkFailed as failed:
            self._fail(failed)

    def _from_owner(self) -> None:
        was_up = self._link.up
        try:
            lines = self._link.receive()
        except LinkFailed as failed:
            self._fail(failed)
            return
        if lines is None:
            self._lost()
            return
        if self._link.up and not was_up:
            self._joined()
        for line in lines:
            self._answer(line)

    def _joined(self) -> None:
        """A new owner: repeat the handshake it has not seen, then hand over what waited for it."""
        lines, self._renewing = self._handshake.replay()
        for line in lines:
            self._link.send(line)
        for request_id, (message, line) in self._queue.items():
            self._pending[request_id] = message
            self._pass(line)
        self._queue.clear()

    def _renewed(self, uri: str) -> None:
        """A new owner tells of an address from here on. Something may have come while nobody did, so the host looks; not before
        the owner has answered, or what comes after the host has looked could be missed."""
        told = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
        self._write(json.dumps(told).encode() + b"\n")
        if not self._renewing:
            held, self._held = self._held, []
            for line in held:
                self._link.send(line)

    def _answer(self, line: bytes) -> None:
        message = json.loads(line)
        if "method" not in message:
            if message.get("id") == REPLAY:
                return
            if (uri := self._renewing.pop(message.get("id"), None)) is not None:
                self._renewed(uri)
                return
            request = self._pending.pop(message.get("id"), None)
            if request is not None and isinstance(message.get("result"), dict):
                self._handshake.answered(request, message["result"])
        self._write(line + b"\n")

    def _lost(self) -> None:
        """The owner is gone. Idle hosts do not notice; the next request finds or starts another."""
        self._link.drop()
        self._renewing, self._held = {}, []
        lost, self._pending = self._pending, {}
        for request_id, message in lost.items():
            if not self._stood_in(message):
                fix = "look whether it took effect, then send it again: the next request starts a new owner"
                text = "the owner ended while it had this request; it may or may not have been carried out. Retry"
                self._write(failure(request_id, SERVER_ERROR, text, {"code": "owner_unreachable", "fix": fix}))

    def _fail(self, failed: LinkFailed) -> None:
        """No owner at this moment: tell whoever waits. The next request tries again."""
        self._link.drop()
        self._link.wanted = False
        data = {"code": "owner_unreachable", "fix": failed.fix}
        for request_id in self._queue:
            self._write(failure(request_id, SERVER_ERROR, failed.message, data))
        self._queue.clear()


def main(argv: list[str]) -> int:
    """`hindbrain mcp [--profile full] [--home DIR] [--root DIR] [--agent ID]`: MCP on stdin and stdout."""
    options = _options(argv)
    if options is None:
        sys.stderr.write(f"usage: {main.__doc__}\n")
        return 2
    if options.get("home"):
        os.environ["HINDBRAIN_HOME"] = options["home"]
    home = home_path(os.environ)
    root, source = caller_root(options.get("root"), os.environ)
    profile, host = options.get("profile", "default"), os.environ.get("HINDBRAIN_HOST")
    hello = {
        "caller_root": root,
        "root_source": source,
        "agent": options.get("agent") or os.environ.get("HINDBRAIN_AGENT_ID") or (f"{host}:{ROLE}" if host else None),
        "delegation": os.environ.get("HINDBRAIN_DELEGATION") or None,
        "profile": profile,
        "session": os.urandom(8).hex(),
        "pid": os.getpid(),
    }
    try:
        if _embedded(home):
            from hindbrain.surfaces.mcp_embedded import serve

            return serve(home, hello)
        return Bridge(Link(home, hello), StandIn(home, profile)).run()
    except BrokenPipeError:
        return 0  # the host is gone, and with it whoever would read an error
    except KeyboardInterrupt:
        return 130


def _options(argv: list[str]) -> dict[str, str] | None:
    """The few flags of this command; a parser library would cost more than all the rest."""
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--") else [word])]
    names, values = words[::2], words[1::2]
    options = {name[2:]: value for name, value in zip(names, values, strict=False) if name.startswith("--")}
    known = len(names) == len(values) == len(options) and set(options) <= {"profile", "home", "root", "agent"}
    return options if known and options.get("profile", "default") in ("default", "full") else None


def _embedded(home: str) -> bool:
    """Whether no owner may run for this home, as the setting `mode` says."""
    if chosen := os.environ.get("HINDBRAIN_MODE"):
        return chosen == "embedded"
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            raw = file.read()
    except OSError:
        return False
    if b"embedded" not in raw:
        return False
    import tomllib

    try:
        return tomllib.loads(raw.decode("utf-8")).get("mode") == "embedded"
    except ValueError:
        return False  # the owner reads the same file and says what is wrong with it
