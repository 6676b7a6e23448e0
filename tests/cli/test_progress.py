"""Long calls: a bar at a terminal, nothing but the answer in a pipe."""

import socket

import pytest

from hindbrain.surfaces.progress import events
from tests.cli.described import described, write_manifest
from tests.cli.program import Program
from tests.cli.strange import json_answer, strange_owner

WORK = described("work", progress=True)


def _stream(request: bytes, connection: socket.socket) -> None:
    if b"Accept: text/event-stream" not in request:
        connection.sendall(json_answer({"ok": True, "rendered": "plain"}))
        return
    frames = [
        b'event: progress\ndata: {"done":1,"total":4,"text":"read \\u001b[31mfiles"}\n\n',
        b": beat\n\n",
        b'event: answer\ndata: {"ok":true,"rendered":"all read"}\n\n',
    ]
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for frame in frames:
        connection.sendall(b"%x\r\n%s\r\n" % (len(frame), frame))
    connection.sendall(b"0\r\n\r\n")


def test_progress_is_drawn_at_a_terminal_and_not_in_a_pipe(program: Program) -> None:
    with strange_owner(program.home, _stream):
        write_manifest(program.home, WORK)
        drawn = program.at_terminal("work")
        piped = program.run("work")

    assert "read files" in drawn.out
    assert "1/4" in drawn.out
    assert "None" not in drawn.out
    assert drawn.out.rstrip().endswith("all read")
    assert (piped.json, piped.err) == ({"ok": True, "rendered": "plain"}, "")


def test_progress_a_stream_that_ends_without_an_answer_is_told(program: Program) -> None:
    def broken(request: bytes, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")

    with strange_owner(program.home, broken):
        write_manifest(program.home, {**WORK, "effect": "write"})
        ended = program.at_terminal("work")

    assert ended.code == 1
    assert "may have been carried out or not" in ended.out


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_progress_events_may_arrive_in_any_pieces(size: int) -> None:
    raw = b"event: progress\r\ndata: {}\n\n: beat\n\nid: 1\nevent: answer\ndata: a\ndata: b\n\n"
    pieces = iter([raw[start : start + size] for start in range(0, len(raw), size)])

    assert list(events(pieces)) == [("progress", b"{}"), ("answer", b"a\nb")]
