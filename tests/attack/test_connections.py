"""Clients that hold the owner's attention without ever showing a token: they get little memory and no place for long."""

import asyncio
import contextlib
import socket

import uvicorn

from hindbrain.surfaces.connection import HEAD_LIMIT, Connection
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
