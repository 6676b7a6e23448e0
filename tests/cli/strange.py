"""Something on the owner's port that does what no owner should: every byte of its answer is given by the test."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["address_file", "json_answer", "strange_owner"]

Handler = Callable[[bytes, socket.socket], None]


def json_answer(document: object, *, status: str = "200 OK") -> bytes:
    body = json.dumps(document).encode()
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(body)) + body


def address_file(home: Path, port: int, *, pid: int | None = None, version: str = "0.1.0") -> None:
    """An owner file as an owner would write it."""
    home.mkdir(mode=0o700, exist_ok=True)
    facts = {"pid": pid or os.getpid(), "host": "127.0.0.1", "port": port, "version": version, "started_ms": 1}
    (home / "owner.json").write_text(json.dumps(facts))
    (home / "token").write_text("secret\n")
    (home / "hook-token").write_text("hook-secret\n")


def _request(connection: socket.socket) -> bytes:
    """One request: the head and the body it announces."""
    heard = b""
    while b"\r\n\r\n" not in heard and (piece := connection.recv(65536)):
        heard += piece
    head, _, body = heard.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
    while len(body) < length and (piece := connection.recv(65536)):
        body += piece
    return head + b"\r\n\r\n" + body


def _answer(connection: socket.socket, answer: bytes | Handler, heard: list[bytes]) -> None:
    if request := _request(connection).strip():
        heard.append(request)
        if isinstance(answer, bytes):
            connection.sendall(answer)
        else:
            answer(request, connection)


@contextmanager
def strange_owner(home: Path, answer: bytes | Handler) -> Iterator[list[bytes]]:
    """Answer every connection with these bytes, or let the handler do it; gives the requests that came in."""
    heard: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    address_file(home, listener.getsockname()[1])
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            connection, _ = listener.accept()
            with connection:
                if over.is_set():
                    return
                with suppress(ConnectionError):  # a client may have had enough at any moment
                    _answer(connection, answer, heard)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        over.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()
        listener.close()
