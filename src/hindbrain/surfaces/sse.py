"""Server-sent events: what changes, as a stream, and the progress of one long call."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Send

from hindbrain.services.events import Event, Events
from hindbrain.surfaces.long_poll import Bell, listening
from hindbrain.surfaces.runner import Progress
from hindbrain.surfaces.wire import encode

__all__ = ["answer_stream", "change_stream", "event_response"]

HEARTBEAT_S = 15.0  # shorter than the idle limit of common proxies
_BACKLOG = 1000  # events a listener may be behind before it is told to start afresh
_PROGRESS_BACKLOG = 64


class _EventResponse(StreamingResponse):
    """Ends its stream with itself: who leaves while something is sent leaves no stream to the garbage collector."""

    def __init__(self, stream: AsyncGenerator[bytes, None], headers: Mapping[str, str]) -> None:
        super().__init__(stream, media_type="text/event-stream", headers=dict(headers))
        self._stream = stream

    async def stream_response(self, send: Send) -> None:
        async with contextlib.aclosing(self._stream):
            await super().stream_response(send)


def event_response(stream: AsyncGenerator[bytes, None], *, headers: Mapping[str, str]) -> StreamingResponse:
    return _EventResponse(stream, headers)


def _frame(event: str, data: Mapping[str, Any], *, number: str | None = None) -> bytes:
    head = f"id: {number}\n".encode("ascii") if number else b""
    return head + b"event: " + event.encode("ascii") + b"\ndata: " + encode(data) + b"\n\n"


async def change_stream(
    bell: Bell,
    *,
    instance: str,
    wanted: Callable[[Event], bool],
    last_event_id: str | None,
    stopping: asyncio.Event,
    heartbeat_s: float = HEARTBEAT_S,
) -> AsyncGenerator[bytes, None]:
    """Everything that changes, from now or from the last event seen. `reset` means: read the state anew, something was missed."""
    async with listening(bell):
        changes = _changes(
            bell.events,
            instance=instance,
            wanted=wanted,
            last_event_id=last_event_id,
            stopping=stopping,
            heartbeat_s=heartbeat_s,
        )
        async with contextlib.aclosing(changes):
            async for frame in changes:
                yield frame


async def _changes(
    events: Events,
    *,
    instance: str,
    wanted: Callable[[Event], bool],
    last_event_id: str | None,
    stopping: asyncio.Event,
    heartbeat_s: float,
) -> AsyncGenerator[bytes, None]:
    queue: asyncio.Queue[Event] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    after, complete = _resume(events, instance, last_event_id)
    unsubscribe = events.subscribe(lambda event: _hand_over(loop, queue, event), after=after)
    try:
        name = "hello" if complete else "reset"
        yield _frame(name, {"instance": instance, "last_id": after}, number=f"{instance}-{after}")
        while not stopping.is_set():
            event = await _next(queue, stopping, heartbeat_s)
            if queue.qsize() >= _BACKLOG:
                yield _frame("reset", {"instance": instance, "reason": "the listener fell behind"})
                return
            if event is None:
                yield b": beat\n\n"
            elif wanted(event):
                yield _frame(_name(event), _told(event), number=f"{instance}-{event.id}")
    finally:
        unsubscribe()


def _name(event: Event) -> str:
    """What a listener may ask for by name: the kind of what happens on a bus, else that something it shows has changed."""
    kind = str(event.data.get("kind", ""))
    return kind if kind.startswith("cowork.") else str(event.data.get("event", "graph_changed"))


def _told(event: Event) -> dict[str, Any]:
    brain = event.data.get("brain")
    return {**event.data, "brain_root": None if brain in (None, "medulla") else brain}


def _resume(events: Events, instance: str, last_event_id: str | None) -> tuple[int, bool]:
    """From which number to tell, and whether nothing is missing before it."""
    if last_event_id is None:
        return events.last_id, True
    name, _, number = last_event_id.rpartition("-")
    if name == instance and number.isascii() and number.isdigit() and len(number) < 20 and events.reaches(int(number)):
        return int(number), True
    return events.last_id, False


def _hand_over(loop: asyncio.AbstractEventLoop, queue: "asyncio.Queue[Event]", event: Event) -> None:
    def put() -> None:
        # Whoever does not read is told to start afresh: what is beyond the backlog would only take memory.
        if queue.qsize() <= _BACKLOG:
            queue.put_nowait(event)

    # The loop may be closed already while the last worker thread still publishes: then nobody listens any more.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(put)


async def _next(queue: "asyncio.Queue[Event]", stopping: asyncio.Event, heartbeat_s: float) -> Event | None:
    """The next event, or None after a while or when the owner stops."""
    waiting = asyncio.ensure_future(queue.get())
    ending = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({waiting, ending}, timeout=heartbeat_s, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else None
    finally:
        waiting.cancel()
        ending.cancel()


async def answer_stream(call: Callable[[Progress], Awaitable[dict[str, Any]]]) -> AsyncGenerator[bytes, None]:
    """`progress` events while a call runs, then one `answer` event."""
    queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_PROGRESS_BACKLOG)
    loop = asyncio.get_running_loop()

    def put(step: dict[str, Any]) -> None:
        # A reader that is slower than the work misses steps, never the answer.
        if not queue.full():
            queue.put_nowait(step)

    def progress(done: int, total: int, text: str) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(put, {"done": done, "total": total, "text": text})

    task = asyncio.ensure_future(call(progress))
    step = asyncio.ensure_future(queue.get())
    try:
        while not task.done() or not queue.empty() or step.done():
            await asyncio.wait({task, step}, return_when=asyncio.FIRST_COMPLETED)
            if step.done():
                told, step = step.result(), asyncio.ensure_future(queue.get())
                yield _frame("progress", told)
        yield _frame("answer", await task)
    finally:
        step.cancel()
        task.cancel()
