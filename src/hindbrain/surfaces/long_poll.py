"""Long polls: a call that waits for something waits in the event loop, without a thread, and asks again when the bell rings."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Protocol

import anyio.to_thread

from hindbrain.policy.cowork import WAIT_MOST_S, WAIT_S
from hindbrain.services.events import Event, Events

__all__ = ["WAITING", "Bell", "heard_by", "listening", "polled"]

WAITING = "cowork.wait"

_HOLDING: set[asyncio.Task[None]] = set()  # the loop itself keeps no task alive

Ask = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


class Bell(Protocol):
    """What tells of changes, also of those that other processes make while somebody listens."""

    events: Events

    def listening(self) -> AbstractContextManager[None]: ...


@asynccontextmanager
async def listening(bell: Bell) -> AsyncIterator[None]:
    """Listen for the block. Beginning and ending look at the disk, so a worker thread does them.

    A thread goes on when the task that waits for it is cancelled: whoever left while the listening began would leave it behind.
    So a task of its own, which nobody cancels, begins and ends it."""
    begun, over = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        manager = bell.listening()
        try:
            await anyio.to_thread.run_sync(manager.__enter__)
        finally:
            begun.set()
        await over.wait()
        await anyio.to_thread.run_sync(manager.__exit__, None, None, None)

    holding = asyncio.create_task(hold())
    _HOLDING.add(holding)
    holding.add_done_callback(_HOLDING.discard)
    try:
        await begun.wait()
        if holding.done():
            holding.result()  # it could not begin
        yield
    finally:
        over.set()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({holding})


def heard_by(event: Event, agent_id: object) -> bool:
    """Whether an event tells of mail for an agent, on whichever bus."""
    return event.data.get("act") in ("cowork.send", "cowork.broadcast") and agent_id in event.data.get("agents", ())


async def polled(bell: Bell, arguments: Mapping[str, Any], ask: Ask) -> dict[str, Any]:
    """The answer to a wait: asked at once, and again with each ring that concerns the agent, until the time is over."""
    limit = arguments.get("timeout_s", WAIT_S)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= WAIT_MOST_S:
        return await ask(arguments)  # nothing to wait for, or for the operation to refuse
    loop, rung = asyncio.get_running_loop(), asyncio.Event()
    began = loop.time()

    def heard(event: Event) -> None:
        if heard_by(event, arguments.get("agent_id")):
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it every wait
                loop.call_soon_threadsafe(rung.set)

    async with listening(bell):
        stop = bell.events.subscribe(heard)
        try:
            while True:
                rung.clear()
                answer = await ask({**arguments, "timeout_s": 0})
                waited = loop.time() - began
                if not answer.get("ok") or answer["arrived"] or waited >= limit:
                    return {**answer, "waited_ms": round(waited * 1000)} if answer.get("ok") else answer
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(limit - waited):
                        await rung.wait()
        finally:
            stop()
