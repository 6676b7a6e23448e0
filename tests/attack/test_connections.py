"""Clients that hold the owner's attention without ever showing a token: they get little memory and no place for long."""

import asyncio
import contextlib
import json
import socket

import uvicorn

from hindbrain.surfaces.connection import HEAD_LIMIT, Connection
from hindbrain.surfaces.owner_mcp import MOST_SILENT
from tests.support.owner import LIMIT_S, RunningOwner


class Hasty(Connection):
    """The connection of an owner with less time."""

    head_wait_s = 0.2


async def _answers(scope: object, receive: object, send: uvicorn._types.ASGISendCallable) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")], "trailers": False})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _what_comes_back(first: bytes) -> bytes:
    """What a server says, until it hangs up, to a client that sends this and then waits."""
    config = uvicorn.Config(_answers, http=Hasty, lifespan="off", log_config=None, timeout_keep_alive=60)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.ensure_future(server.serve([listening]))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(first)
        said = await asyncio.wait_for(reader.read(), LIMIT_S)
        writer.close()
        server.should_exit = True
        await serving
    return said


def test_half_a_request_is_not_waited_for() -> None:
    assert asyncio.run(_what_comes_back(b"GET / HTTP/1.1\r\nHo")) == b""
    assert asyncio.run(_what_comes_back(b"")) == b""


def test_a_second_request_on_the_same_line_has_no_more_time_than_the_first() -> None:
    said = asyncio.run(_what_comes_back(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n" + b"GET / HTTP/1.1\r\nHo"))

    assert said.count(b"HTTP/1.1 200") == 1


def test_endless_headers_are_cut_off(owner: RunningOwner) -> None:
    for endless in (b"A" * 4096, b"Name: value\r\n" * 300):
        with socket.create_connection(("127.0.0.1", owner.port), timeout=LIMIT_S) as line:
            line.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{owner.port}\r\nName: ".encode())
            sent = 0
            with contextlib.suppress(ConnectionError):
                while sent < 1000 * HEAD_LIMIT:
                    sent += line.send(endless)
            assert sent < 1000 * HEAD_LIMIT

    assert owner.get("/api/health").status == 200


def test_many_requests_in_one_piece_are_all_answered(owner: RunningOwner) -> None:
    one = f"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{owner.port}\r\nAuthorization: Bearer {owner.token}\r\n\r\n".encode()
    many = 4 * HEAD_LIMIT // len(one)

    with socket.create_connection(("127.0.0.1", owner.port), timeout=LIMIT_S) as line:
        line.sendall(one * (many - 1) + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        said = b"".join(iter(lambda: line.recv(65536), b""))

    assert said.count(b"HTTP/1.1 200") == many


# -- F28: what a connection may hold before it has shown a token ------------------------------------------------------------


def _sent_until_refused(port: int, piece: bytes, most: int) -> int:
    """How many bytes a listener takes from a stranger before it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) as line:
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < most:
                sent += line.send(piece)
        return sent


def test_f28_the_bridge_port_takes_a_short_hello_and_no_more(owner: RunningOwner) -> None:
    line = 16 * 1024 * 1024  # what a bridge may send in one line once it has shown its token
    for piece in (b"x" * 65536, b'{"token":"' + b"x" * 65536):
        assert _sent_until_refused(owner.facts["bridge_port"], piece, line - 65536) < line - 65536

    with socket.create_connection(("127.0.0.1", owner.facts["bridge_port"]), timeout=LIMIT_S) as line_:
        line_.sendall(json.dumps({"token": owner.token, "caller_root": "/" + "r" * 4000}).encode() + b"\n")
        assert json.loads(line_.makefile("rb").readline()) == {"ok": True}


def test_f28_strangers_do_not_keep_bridges_out(owner: RunningOwner) -> None:
    with contextlib.ExitStack() as strangers:
        for _ in range(MOST_SILENT + 40):
            strangers.enter_context(socket.create_connection(("127.0.0.1", owner.facts["bridge_port"]), timeout=LIMIT_S))
        with socket.create_connection(("127.0.0.1", owner.facts["bridge_port"]), timeout=LIMIT_S) as line:
            line.sendall(json.dumps({"token": owner.token}).encode() + b"\n")
            assert json.loads(line.makefile("rb").readline()) == {"ok": True}


async def _open_until_one_is_ended(count: int) -> tuple[int, bytes]:
    """Open this many silent connections; how many are still open, and what the newest gets for a request."""
    server = uvicorn.Server(uvicorn.Config(_answers, http=Few, lifespan="off", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.ensure_future(server.serve([listening]))
        lines = [await asyncio.open_connection(*listening.getsockname()) for _ in range(count)]
        reader, writer = lines[-1]
        writer.write(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        said = await asyncio.wait_for(reader.read(), LIMIT_S)
        ended = [asyncio.wait_for(first.read(), LIMIT_S) for first, _ in lines[: count - Few.most_unknown]]
        await asyncio.gather(*ended, return_exceptions=True)
        still = sum(not first.at_eof() and first.exception() is None for first, _ in lines[:-1])
        for _, one in lines:
            one.close()
        server.should_exit = True
        await serving
    return still, said


class Few(Connection):
    """The connection of an owner with fewer places."""

    most_unknown = 5


def test_f28_the_oldest_connection_without_a_token_makes_place_for_the_newest() -> None:
    still, said = asyncio.run(_open_until_one_is_ended(12))

    assert said.startswith(b"HTTP/1.1 200")
    assert still == Few.most_unknown - 1
