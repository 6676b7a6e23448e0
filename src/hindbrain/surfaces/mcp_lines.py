"""MCP lines: newline-delimited JSON-RPC on a byte stream, as bridges speak it. Knows framing, not what a message means."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import BinaryIO, Protocol

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from hindbrain.surfaces.bridge_lines import INVALID_REQUEST, LINE_LIMIT, PARSE_ERROR, Lines, failure, found_id
from hindbrain.surfaces.json_keys import RepeatedKey, loads

__all__ = ["Line", "line_session", "lines_from", "lines_of", "standard_streams"]

LOG = logging.getLogger("hindbrain.mcp")

_CHUNK = 256 * 1024

Line = tuple[bytes, bool]
Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]


class LineWriter(Protocol):
    """Where lines go: a connection, or standard output."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


class _Output:
    """Standard output as a writer of lines; a worker thread does the writing."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting: list[bytes] = []
        self._lock = anyio.Lock()

    def write(self, data: bytes) -> None:
        self._waiting.append(data)

    async def drain(self) -> None:
        async with self._lock:
            waiting, self._waiting = b"".join(self._waiting), []
            if waiting:
                await anyio.to_thread.run_sync(self._put, waiting)

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()


@contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, LineWriter]]:
    """Standard input and output for messages alone: whatever else prints in this process goes to standard error."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        with open(source, "rb", buffering=0, closefd=False) as read, open(sink, "wb", closefd=False) as written:
            yield read, _Output(written)
    finally:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


async def lines_from(file: BinaryIO, *, limit: int = LINE_LIMIT) -> AsyncIterator[Line]:
    """The lines of a file or pipe; a worker thread waits for them."""
    held = Lines(limit)
    while chunk := await anyio.to_thread.run_sync(file.read, _CHUNK, abandon_on_cancel=True):
        for line in held.feed(chunk):
            yield line
    for line in held.rest():
        yield line


async def lines_of(reader: asyncio.StreamReader, *, limit: int = LINE_LIMIT) -> AsyncIterator[Line]:
    """The lines of a stream, each with whether it was whole; one above the limit comes as its two ends."""
    held = Lines(limit)
    while chunk := await reader.read(_CHUNK):
        for line in held.feed(chunk):
            yield line
    for line in held.rest():
        yield line


@asynccontextmanager
async def line_session(lines: AsyncIterator[Line], writer: LineWriter) -> AsyncIterator[tuple[Inbound, Outbound]]:
    """The two message streams of a session over lines. A broken line is answered here and never reaches the session."""
    inbound_send, inbound = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbound, outbound_receive = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, lines, inbound_send, writer)
        group.start_soon(_send, outbound_receive, writer)
        yield inbound, outbound
        group.cancel_scope.cancel()


async def _receive(
    lines: AsyncIterator[Line], into: MemoryObjectSendStream[SessionMessage | Exception], writer: LineWriter
) -> None:
    async with into:
        try:
            async for line, whole in lines:
                if not line.strip():
                    continue
                message, error = _message(line) if whole else (None, _too_long(line))
                if message is not None:
                    await into.send(SessionMessage(message))
                else:
                    writer.write(error)
                    await writer.drain()
        except (ConnectionError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            LOG.debug("the bridge is gone")


async def _send(out: MemoryObjectReceiveStream[SessionMessage], writer: LineWriter) -> None:
    async with out:
        async for item in out:
            try:
                writer.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()
            except ConnectionError:
                LOG.debug("the bridge is gone")
                return


def _message(line: bytes) -> tuple[types.JSONRPCMessage | None, bytes]:
    """A line as a message, or the error that answers it."""
    try:
        # The standard library reads lone surrogates, so that the operation can refuse them with its own code.
        found = loads(line)
    except RepeatedKey as twice:
        return None, failure(found_id(line), INVALID_REQUEST, f"ambiguous JSON: {twice}")
    except (ValueError, RecursionError):
        return None, failure(None, PARSE_ERROR, "not JSON")
    try:
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False), b""
    except ValidationError:
        told = found.get("id") if isinstance(found, dict) else None
        return None, failure(told if isinstance(told, (str, int)) else None, INVALID_REQUEST, "not a JSON-RPC 2.0 message")


def _too_long(ends: bytes) -> bytes:
    return failure(found_id(ends), INVALID_REQUEST, f"a message may have {LINE_LIMIT} bytes at most")
