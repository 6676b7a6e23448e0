"""The link of a bridge: its connection to the owner, from looking for one over starting one to losing it."""

from __future__ import annotations

import json
import os
import time
from _thread import start_new_thread

from hindbrain import __version__
from hindbrain.stores.owner_file import read_living_owner
from hindbrain.stores.token_file import owner_proof
from hindbrain.surfaces.bridge_lines import Lines
from hindbrain.surfaces.client import OwnerAddress, OwnerGone, read_owner, read_token, same_line
from hindbrain.surfaces.exchange import CONNECT_S, connect

# As in exchange.py: the typing module is too dear for a thin process.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any

    from hindbrain.launcher import Child

__all__ = ["Link", "LinkFailed"]

START_S = 30.0  # a cold disk, a busy machine and the import of the MCP library included
RESTART_S = 1.0  # between two tries to start an owner; while another client's is starting, a try does nothing
GRACE_S = 2.0  # an owner that lost the race for the home ends at once; the winner needs this long at most

_UNBOUNDED = 1 << 62  # the owner's lines are its own business


class LinkFailed(Exception):
    """The owner cannot be had; the message says why and what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class Link:
    """Down, then greeting (connected, challenge sent, then the hello), then up (the owner's MCP part answered the hello)."""

    def __init__(self, home: str, hello: dict[str, Any]) -> None:
        self._home = home
        self._hello = hello
        self._socket: socket | None = None
        self._lines = Lines(_UNBOUNDED)
        self._out = b""
        self._token, self._challenge, self._address = "", "", ("", 0)
        self._since = 0.0
        self._tried = 0.0
        self._child: Child[bytes] | None = None
        self._ended = 0.0
        self._starting = False
        self._unstartable: str | None = None
        self.up = False
        self.wanted = False

    def want(self) -> None:
        """From now on the owner is looked for, and started if there is none."""
        if not self.wanted and not self.up:
            self.wanted, self._since, self._tried = True, time.monotonic(), 0.0
            self._child, self._ended, self._unstartable = None, 0.0, None

    def fileno(self) -> int:
        return self._socket.fileno() if self._socket is not None else -1

    @property
    def connected(self) -> bool:
        return self._socket is not None

    @property
    def has_output(self) -> bool:
        return bool(self._out)

    def look(self) -> None:
        """One step towards a connection. Raises LinkFailed when it is time to give up."""
        if time.monotonic() > self._since + START_S:
            raise self._given_up(f"no owner answered within {START_S:g} s")
        if self._socket is not None:
            return
        address = read_owner(self._home)
        if address is not None and self._connected(address):
            return
        self._start()

    def _connected(self, address: OwnerAddress) -> bool:
        if not same_line(address.version):
            raise LinkFailed(
                f"the owner of this home is Hindbrain {address.version}, this is {__version__}",
                "run hindbrain stop; the next call starts an owner of this release",
            )
        port = _bridge_port(self._home)
        if port is None:
            return False
        try:
            self._token = read_token(self._home)
            found = connect(OwnerAddress(address.host, port, address.pid, address.version, address.started_ms), CONNECT_S)
        except OwnerGone:
            return False
        found.setblocking(False)
        self._socket, self._lines = found, Lines(_UNBOUNDED)
        # The owner proves itself first: on a port that is another program's by now, nothing of ours is sent.
        self._challenge, self._address = os.urandom(16).hex(), (address.host, port)
        self._out = json.dumps({"challenge": self._challenge}).encode() + b"\n"
        return True

    def _greet(self, line: bytes) -> None:
        """Send the hello to an owner that proved itself; LinkFailed for anybody else."""
        try:
            proof = json.loads(line)["proof"]
        except (ValueError, KeyError, TypeError):
            proof = None
        if proof != owner_proof(self._token, self._challenge, *self._address):
            raise LinkFailed("what answers there is not the owner of this home", "run hindbrain stop")
        self._challenge = ""
        self.send(json.dumps({"token": self._token, **self._hello}).encode() + b"\n")

    def _start(self) -> None:
        """Start an owner if it is time to, and give up on one that ended instead of starting."""
        now = time.monotonic()
        if self._unstartable is not None:
            raise self._given_up(f"no owner could be started: {self._unstartable}")
        if self._child is not None and self._child.poll() is not None:
            self._ended = self._ended or now
            if now > self._ended + GRACE_S:
                raise self._given_up(f"the owner ended while it was starting (exit code {self._child.returncode})")
        elif not self._starting and now >= self._tried + RESTART_S:
            self._starting, self._tried = True, now
            # Starting a process loads more than the whole bridge; the host is answered meanwhile.
            start_new_thread(self._spawn, ())

    def _spawn(self) -> None:
        from hindbrain.surfaces.starting import start_owner

        try:
            self._child = start_owner(self._home) or self._child
        except OSError as unstartable:
            self._unstartable = str(unstartable)
        finally:
            self._starting = False

    def _given_up(self, why: str) -> LinkFailed:
        log = os.path.join(self._home, "owner.log")
        return LinkFailed(why, f"see {log} and run hindbrain doctor; HINDBRAIN_MODE=embedded works without an owner")

    def send(self, line: bytes) -> None:
        self._out += line
        self.flush()

    def flush(self) -> None:
        """Write what the owner takes now. A broken connection shows when it is read."""
        if self._socket is None or not self._out:
            return
        try:
            self._out = self._out[self._socket.send(self._out) :]
        except BlockingIOError:
            return
        except OSError:
            self._out = b""

    def receive(self) -> list[bytes] | None:
        """The lines that arrived, or None when the owner is gone. The first two are the owner's proof and its welcome."""
        assert self._socket is not None  # noqa: S101 - only a connected link is selected
        try:
            chunk = self._socket.recv(262144)
        except BlockingIOError:
            return []
        except OSError:
            chunk = b""
        if not chunk:
            return None
        lines = [line for line, _ in self._lines.feed(chunk)]
        if self._challenge and lines:
            self._greet(lines.pop(0))
        if not self.up and lines:
            _check_welcome(lines.pop(0))
            self.up, self.wanted = True, False
        return lines

    def drop(self) -> None:
        """Close what is left of a connection. Whether the owner is wanted again is for the next request to say."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self.up, self._out = None, False, b""


def _bridge_port(home: str) -> int | None:
    port = (read_living_owner(home) or {}).get("bridge_port")
    return port if isinstance(port, int) and 0 < port < 65536 else None


def _check_welcome(line: bytes) -> None:
    try:
        welcome = json.loads(line)
        if welcome["ok"] is True:
            return
        why = f"the owner refused this bridge: {welcome['error']['code']}"
    except (ValueError, KeyError, TypeError):
        why = "what answers there is not a Hindbrain owner"
    raise LinkFailed(why, "run hindbrain doctor")
