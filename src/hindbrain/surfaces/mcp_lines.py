"""MCP lines: newline-delimited JSON-RPC on a byte stream, as bridges speak it. Knows framing, not what a message means."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from hindbrain.surfaces.bridge_lines import INVALID_REQUEST, LINE_LIMIT, PARSE_ERROR, Lines, failure, found_id

__all__ = ["Line", "line_session", "lines_of"]

LOG = logging.getLogger("hindbrain.mcp")

_CHUNK = 256 * 1024

Line = tuple[bytes, bool]
Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]


async def lines_of(reader: asyncio.StreamReader, *, limit: int = LINE_LIMIT) -> AsyncIterator[Line]:
    """The lines of a stream, each with whether it was whole; one above the limit comes as its two ends."""
    held = Lines(limit)
    while chunk := await reader.read(_CHUNK):
        for line in held.feed(chunk):
            yield line
    for line in held.rest():
        yield line


@asynccontextmanager
async def line_session(lines: AsyncIterator[Line], writer: asyncio.StreamWriter) -> AsyncIterator[tuple[Inbound, Outbound]]:
    """The two message streams of a session over lines. A broken line is answered here and never reaches the session."""
    inbound_send, inbound = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbound, outbound_receive = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, lines, inbound_send, writer)
        group.start_soon(_send, outbound_receive, writer)
        yield inbound, outbound
        group.cancel_scope.cancel()


async def _receive(
    lines: AsyncIterator[Line], into: MemoryObjectSendStream[SessionMessage | Exception], writer: asyncio.StreamWriter
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


async def _send(out: MemoryObjectReceiveStream[SessionMessage], writer: asyncio.StreamWriter) -> None:
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
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None, failure(None, PARSE_ERROR, "not JSON")
    try:
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False), b""
    except ValidationError:
        told = found.get("id") if isinstance(found, dict) else None
        return None, failure(told if isinstance(told, (str, int)) else None, INVALID_REQUEST, "not a JSON-RPC 2.0 message")


def _too_long(ends: bytes) -> bytes:
    return failure(found_id(ends), INVALID_REQUEST, f"a message may have {LINE_LIMIT} bytes at most")
