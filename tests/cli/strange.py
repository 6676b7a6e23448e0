"""Something on the owner's port that does what no owner should: every byte of its answer is given by the test."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hindbrain.stores.owner_file import announce
from hindbrain.stores.token_file import CHALLENGE, PROVE_PATH, owner_proof

__all__ = ["HOOK_TOKEN", "HUMAN_TOKEN", "TOKEN", "address_file", "json_answer", "proof_answer", "strange_owner"]

Handler = Callable[[bytes, socket.socket], None]


def json_answer(document: object, *, status: str = "200 OK") -> bytes:
    body = json.dumps(document).encode()
    return b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(body)) + body


TOKEN = "s" * 43
HUMAN_TOKEN = "p" * 43
HOOK_TOKEN = "h" * 43

_LOCKS: list[int] = []  # a lock that no handle keeps is no lock


def address_file(home: Path, port: int, *, pid: int | None = None, version: str = "0.1.0", locked: bool = True) -> None:
    """An owner file as an owner would write it, locked by this process; without the lock as a dead owner leaves it."""
    home.mkdir(mode=0o700, exist_ok=True)
    facts = {"pid": pid or os.getpid(), "host": "127.0.0.1", "port": port, "version": version, "started_ms": 1}
    handle = announce(home / "owner.json", facts)
    if locked:
        _LOCKS.append(handle)
    else:
        os.close(handle)
    for name, token in (("token", TOKEN), ("human-token", HUMAN_TOKEN), ("hook-token", HOOK_TOKEN)):
        (home / name).write_text(f"{token}\n")


def proof_answer(request: bytes, port: int) -> bytes | None:
    """What an owner answers to a challenge, if this is one."""
    head, _, _ = request.partition(b"\r\n\r\n")
    found = [line.partition(b": ")[2].decode() for line in head.split(b"\r\n") if line.startswith(CHALLENGE.encode())]
    if not request.startswith(f"GET {PROVE_PATH} ".encode()) or not found:
        return None
    proofs = [owner_proof(token, found[0], "127.0.0.1", port) for token in (TOKEN, HUMAN_TOKEN, HOOK_TOKEN)]
    return json_answer({"ok": True, "proofs": proofs})


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
    request = _request(connection).strip()
    if (proof := proof_answer(request, connection.getsockname()[1])) is not None:
        connection.sendall(proof)
        request = _request(connection).strip()
    if request:
        heard.append(request)
        if isinstance(answer, bytes):
            connection.sendall(answer)
        else:
            answer(request, connection)


@contextmanager
def strange_owner(home: Path, answer: bytes | Handler) -> Iterator[list[bytes]]:
    """Prove to be the owner, then answer with these bytes, or let the handler do it; gives the requests that came in."""
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
