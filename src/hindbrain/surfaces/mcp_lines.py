"""MCP lines: newline-delimited JSON-RPC on a byte stream, as bridges speak it. Knows framing, not what a message means."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

__all__ = ["LINE_LIMIT", "line_session", "lines_of"]

LOG = logging.getLogger("hindbrain.mcp")

# One message. Far above any claim, far below what would make a shared process notice.
LINE_LIMIT = 16 * 1024 * 1024

_CHUNK = 256 * 1024

Inbound = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbound = MemoryObjectSendStream[SessionMessage]


async def lines_of(reader: asyncio.StreamReader, *, limit: int = LINE_LIMIT) -> AsyncIterator[bytes | None]:
    """The lines of a stream; None in the place of one that is longer than the limit."""
    held = bytearray()
    too_long = False
    while chunk := await reader.read(_CHUNK):
        head, newline, rest = chunk.partition(b"\n")
        while newline:
            held += head
            yield None if too_long or len(held) > limit else bytes(held)
            held.clear()
            too_long = False
            head, newline, rest = rest.partition(b"\n")
        held += head
        if len(held) > limit:
            held.clear()
            too_long = True
    if held or too_long:
        yield None if too_long else bytes(held)


@asynccontextmanager
async def line_session(
    lines: AsyncIterator[bytes | None], writer: asyncio.StreamWriter
) -> AsyncIterator[tuple[Inbound, Outbound]]:
    """The two message streams of a session over lines. A broken line is answered here and never reaches the session."""
    inbound_send, inbound = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbound, outbound_receive = anyio.create_memory_object_stream[SessionMessage]()
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, lines, inbound_send, writer)
        group.start_soon(_send, outbound_receive, writer)
        yield inbound, outbound
        group.cancel_scope.cancel()


async def _receive(
    lines: AsyncIterator[bytes | None], into: MemoryObjectSendStream[SessionMessage | Exception], writer: asyncio.StreamWriter
) -> None:
    async with into:
        try:
            async for line in lines:
                if line is not None and not line.strip():
                    continue
                message, error = _message(line)
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


def _message(line: bytes | None) -> tuple[types.JSONRPCMessage | None, bytes]:
    """A line as a message, or the error that answers it."""
    if line is None:
        return None, _error(None, types.INVALID_REQUEST, f"a message may have {LINE_LIMIT} bytes at most")
    try:
        # The standard library reads lone surrogates, so that the operation can refuse them with its own code.
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None, _error(None, types.PARSE_ERROR, "not JSON")
    try:
        return types.jsonrpc_message_adapter.validate_python(found, by_name=False), b""
    except ValidationError:
        return None, _error(found, types.INVALID_REQUEST, "not a JSON-RPC 2.0 message")


def _error(found: Any, code: int, message: str) -> bytes:
    told = found.get("id") if isinstance(found, dict) else None
    request_id = told if isinstance(told, (str, int)) and not isinstance(told, bool) else None
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return json.dumps(error).encode() + b"\n"
