"""MCP progress: reports of a worker thread on their way to a client, in order, before the answer, and never in its way."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.session import ServerSession

from hindbrain.surfaces.runner import Progress

__all__ = ["progress_to"]

LOG = logging.getLogger("hindbrain.mcp")

Report = tuple[int, int, str]

# Reports that wait for a slow client. Past it they are dropped: progress is a courtesy, the operation goes on.
WAITING_REPORTS = 64


@asynccontextmanager
async def progress_to(session: ServerSession) -> AsyncIterator[Progress]:
    """A progress callback for the worker thread whose reports reach the client before the answer does."""
    loop = asyncio.get_running_loop()
    send, receive = anyio.create_memory_object_stream[Report](WAITING_REPORTS)

    def heard(done: int, total: int, text: str) -> None:
        try:
            loop.call_soon_threadsafe(_offer, send, (done, total, text))
        except RuntimeError:
            return  # the loop ended with its server while the operation went on: nobody is listening

    async with anyio.create_task_group() as group:
        group.start_soon(_forward, receive, session)
        try:
            yield heard
        finally:
            send.close()


def _offer(send: MemoryObjectSendStream[Report], report: Report) -> None:
    try:
        send.send_nowait(report)
    except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
        LOG.debug("dropped a progress report")


async def _forward(receive: MemoryObjectReceiveStream[Report], session: ServerSession) -> None:
    async with receive:
        async for done, total, text in receive:
            await session.report_progress(done, total or None, text or None)
