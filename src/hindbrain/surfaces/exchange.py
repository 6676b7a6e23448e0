"""One HTTP exchange with an owner over a bare socket: the few lines of HTTP/1.1 that a thin client needs, and no library."""

from __future__ import annotations

import os
import time
from _socket import AF_INET, AF_INET6, IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, socket

from hindbrain.stores.token_file import CHALLENGE, PROVE_PATH, owner_proof

# The typing module alone would cost a third of what a thin call may take, so it is never loaded at run time here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["CONNECT_S", "OwnerAddress", "OwnerGone", "Reply", "connect", "header_value", "request", "stream"]

_PROOF_BYTES = 4096
CONNECT_S = 0.25  # a live owner on this machine accepts within microseconds; only a stale address takes longer


class OwnerGone(Exception):
    """No owner answered. `sent` says whether the request may have reached one."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class OwnerAddress:
    """Where the owner of a home listens, as its owner file says."""

    __slots__ = ("host", "pid", "port", "started_ms", "version")

    def __init__(self, host: str, port: int, pid: int, version: str, started_ms: int) -> None:
        self.host = host
        self.port = port
        self.pid = pid
        self.version = version
        self.started_ms = started_ms

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


class Reply:
    """One HTTP answer."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


def connect(address: OwnerAddress, timeout: float) -> socket:
    """A connection to the owner, or OwnerGone. A dead process is never asked: its port may belong to a stranger by now."""
    if os.name == "posix":
        try:
            os.kill(address.pid, 0)
        except (ProcessLookupError, PermissionError):
            # A number that is another user's by now is no better: only this user can own this home.
            raise OwnerGone(f"the owner (process {address.pid}) is gone", sent=False) from None
    connection = socket(AF_INET6 if ":" in address.host else AF_INET, SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect((address.host, address.port))
        connection.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    except OSError as refused:
        connection.close()
        raise OwnerGone(f"no owner answers at {address.url}: {refused}", sent=False) from refused
    return connection


def header_value(value: str) -> str:
    """A header value: printable ASCII as it is, everything else and the percent sign as percent-encoded UTF-8."""
    if value.isascii() and value.isprintable() and "%" not in value and value == value.strip():
        return value
    raw = value.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte != 0x25 else f"%{byte:02X}" for byte in raw)


def _prove(connection: socket, answer: _Answer, address: OwnerAddress, token: str) -> None:
    """Have the other side show that it holds the token before it gets anything. OwnerGone, nothing sent, when it cannot.

    Only an owner of this home can, and only for the port that it listens on itself."""
    challenge = os.urandom(16).hex()
    asked = f"GET {PROVE_PATH} HTTP/1.1\r\nHost: {address.url[7:]}\r\n{CHALLENGE}: {challenge}\r\n\r\n"
    try:
        connection.sendall(asked.encode("ascii"))
        _, found = _head(answer)
        said = answer.exactly(min(_size(found.get("content-length", "0").encode("latin-1"), 10), _PROOF_BYTES))
    except OwnerGone as gone:
        if answer.late:
            raise  # it may be an owner that hangs: nobody works beside it
        raise OwnerGone(str(gone), sent=False) from gone
    except OSError as broken:
        raise OwnerGone(f"the owner broke off: {broken}", sent=False) from broken
    if owner_proof(token, challenge, address.host, address.port).encode("ascii") not in said:
        raise OwnerGone(f"what answers at {address.url} did not prove that it is the owner of this home", sent=False)


class _Answer:
    """The bytes of one answer as they arrive, all before one deadline."""

    late = False

    def __init__(self, connection: socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._buffer = b""

    def _more(self) -> bool:
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.late = True
            raise OwnerGone("the owner did not answer in time", sent=True)
        try:
            self._connection.settimeout(left)
            piece = self._connection.recv(262144)
        except TimeoutError as late:
            self.late = True
            raise OwnerGone("the owner did not answer in time", sent=True) from late
        except OSError as broken:
            raise OwnerGone(f"the owner broke off: {broken}", sent=True) from broken
        self._buffer += piece
        return bool(piece)

    def line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > 65536 or not self._more():
                raise OwnerGone("the owner's answer is not HTTP or broke off", sent=True)
        found, self._buffer = self._buffer[:end], self._buffer[end + 2 :]
        return found

    def exactly(self, count: int) -> bytes:
        pieces, missing = [self._buffer[:count]], count - len(self._buffer)
        self._buffer = self._buffer[count:]
        while missing > 0:
            if not self._more():
                raise OwnerGone("the owner's answer broke off", sent=True)
            pieces.append(self._buffer[:missing])
            taken, self._buffer = len(self._buffer), self._buffer[missing:]
            missing -= taken
        return b"".join(pieces)

    def rest(self) -> bytes:
        while self._more():
            pass
        return self._buffer


def stream(
    address: OwnerAddress,
    token: str,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    timeout: float,
) -> tuple[int, dict[str, str], Iterator[bytes]]:
    """One request to an owner that proved itself; its status, its headers, and its body piece by piece. The pieces must be read
    to their end."""
    deadline = time.monotonic() + timeout
    connection = connect(address, min(CONNECT_S, timeout))
    answer = _Answer(connection, deadline)
    try:
        connection.settimeout(timeout)
        _prove(connection, answer, address, token)
    except BaseException:
        connection.close()
        raise
    lines = [f"{method} {path} HTTP/1.1", f"Host: {address.url[7:]}", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"Authorization: Bearer {token}"]
    lines += [f"{name}: {header_value(value)}" for name, value in headers.items()]
    try:
        connection.settimeout(timeout)
        connection.sendall("\r\n".join([*lines, "", ""]).encode("ascii") + body)
    except OSError as broken:
        # An owner that refuses a body by its size answers and closes before it has read all of it.
        if not isinstance(broken, BrokenPipeError | ConnectionResetError):
            connection.close()
            raise OwnerGone(f"the owner broke off: {broken}", sent=True) from broken
    try:
        status, found = _head(answer)
    except BaseException:
        connection.close()
        raise
    return status, found, _pieces(connection, answer, found)


def _head(answer: _Answer) -> tuple[int, dict[str, str]]:
    words = answer.line().split(b" ", 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise OwnerGone("what answers there does not speak HTTP", sent=True)
    headers: dict[str, str] = {}
    while line := answer.line():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(words[1]), headers


def _pieces(connection: socket, answer: _Answer, headers: Mapping[str, str]) -> Iterator[bytes]:
    try:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := _size(answer.line().split(b";")[0], 16):
                yield answer.exactly(size)
                answer.line()
        elif "content-length" in headers:
            yield answer.exactly(_size(headers["content-length"].encode("latin-1"), 10))
        else:
            yield answer.rest()
    finally:
        connection.close()


def _size(text: bytes, base: int) -> int:
    try:
        return int(text, base)
    except ValueError as wrong:
        raise OwnerGone("the owner's answer has no readable length", sent=True) from wrong


def request(
    address: OwnerAddress,
    token: str,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    timeout: float,
) -> Reply:
    """One request and its whole answer."""
    status, found, pieces = stream(address, token, method, path, headers, body, timeout)
    return Reply(status, found, b"".join(pieces))
