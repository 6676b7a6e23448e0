"""Listening: the sockets of an owner and the web server on them. Loopback always, elsewhere only behind a certificate."""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from hindbrain.domain.errors import BindRefused
from hindbrain.surfaces.connection import Connection

__all__ = ["LOOPBACK", "Bind", "Server", "allowed_hosts", "listen_loopback", "listen_remote"]

LOOPBACK = "127.0.0.1"
_LOOPBACK_NAMES = (LOOPBACK, "localhost", "[::1]")
_BACKLOG = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """Where an owner was told to listen. Anything but loopback needs a certificate and its key."""

    address: str = LOOPBACK
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @property
    def remote(self) -> bool:
        return self.address not in (LOOPBACK, "localhost")

    def check(self) -> None:
        """Refuse an address that would send the token and the memory over a wire in the clear."""
        if not self.remote and self.tls_cert is None and self.tls_key is None:
            return
        if not self.remote:
            raise BindRefused("a certificate was given, but no address to use it on", fix="add --bind ADDRESS, or leave it out")
        if self.tls_cert is None or self.tls_key is None:
            raise BindRefused(
                f"the owner binds to {LOOPBACK} only; {self.address} would carry the token and every memory in the clear",
                fix="leave --bind out, or give --tls-cert and --tls-key as well",
                address=self.address,
            )
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as broken:
            raise BindRefused(f"the certificate cannot be used: {broken}", fix="give a PEM certificate and its key") from broken


def listen_loopback(*ports: int) -> socket.socket:
    """A loopback socket on the first of the ports that nobody else has, else on a free one."""
    for port in ports:
        try:
            return _listening(LOOPBACK, port)
        except OSError as taken:
            if taken.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    return _listening(LOOPBACK, 0)


def listen_remote(bind: Bind, port: int) -> socket.socket:
    """The socket of the named address. No other port is taken here: remote clients know only the one they were told."""
    try:
        return _listening(bind.address, port)
    except OSError as wrong:
        raise BindRefused(
            f"{bind.address}:{port} cannot be bound: {wrong.strerror or wrong}", fix="choose another address or --port"
        ) from wrong


def _listening(address: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        sock.listen(_BACKLOG)
    except BaseException:
        sock.close()
        raise
    sock.setblocking(False)
    return sock


def allowed_hosts(port: int, *, remote: tuple[Bind, int] | None) -> frozenset[str]:
    """What a Host header may say: our own names with our own port."""
    names = {f"{name}:{port}" for name in _LOOPBACK_NAMES}
    if remote is not None:
        bind, remote_port = remote
        address = f"[{bind.address}]" if ":" in bind.address else bind.address
        names |= {f"{name}:{remote_port}" for name in (address, socket.gethostname(), *_LOOPBACK_NAMES)}
    return frozenset(names)


class Server(uvicorn.Server):
    """The web server on one socket. Signals are the owner's business, not its."""

    def __init__(self, app: ASGIApp, sock: socket.socket, *, drain_s: int, bind: Bind | None = None) -> None:
        tls = bind is not None and bind.remote
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=drain_s,
                ssl_certfile=bind.tls_cert if tls and bind else None,
                ssl_keyfile=bind.tls_key if tls and bind else None,
            )
        )
        self._socket = sock
        self.accepting = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.accepting.set()

    async def run_on_socket(self) -> None:
        await self.serve(sockets=[self._socket])
