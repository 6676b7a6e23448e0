"""MCP subscriptions: a host is told when something comes for an agent whose inbox it subscribed to, in both protocol eras.

A subscription belongs to the bus of its caller's checkout: the same name on another bus is another inbox. The host is told that
there is something, never what."""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError

from hindbrain.services.events import Event, Events
from hindbrain.surfaces.long_poll import WAITING, heard_by, listening
from hindbrain.surfaces.mcp_callers import Context, Peer
from hindbrain.surfaces.mcp_texts import resource_at
from hindbrain.surfaces.runner import Served

__all__ = ["Subscriptions"]

LOG = logging.getLogger("hindbrain.mcp")

MOST = 1000  # subscriptions and listening streams of one process; the oldest subscription goes first

Ask = Callable[[Context, str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inbox:
    """The inbox behind an address, on the bus of whoever asked."""

    uri: str
    project: str
    agent_id: str

    def rung_by(self, event: Event) -> bool:
        return event.data.get("project") == self.project and heard_by(event, self.agent_id)


class Subscriptions:
    """Who wants to be told, in one process."""

    def __init__(self, served: Served, ask: Ask) -> None:
        self._served = served
        self._ask = ask
        self._kept: OrderedDict[tuple[str, str], Callable[[], None]] = OrderedDict()
        self._streams = 0

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """The sessions' era: tell of it on the session, until it unsubscribes or ends."""
        inbox, peer = await self._inbox(ctx, str(params.uri)), ctx.lifespan_context
        if (session := peer.session_of(ctx)) is None:
            raise MCPError(code=types.INVALID_REQUEST, message="a subscription needs a session")
        ear = self._served.listening()
        await anyio.to_thread.run_sync(ear.__enter__)
        self._drop((session, inbox.uri))  # not before: two requests for one inbox may be under way
        self._kept[session, inbox.uri] = _told_on(ctx.session, self._served.events, inbox, ear, self._gone(peer, session))
        while len(self._kept) > MOST:
            self._drop(next(iter(self._kept)))
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        session = ctx.lifespan_context.session_of(ctx)
        if session is not None:
            self._drop((session, str(params.uri)))
        return types.EmptyResult()

    async def listen(self, ctx: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        """2026-07-28: one request is one stream of notices; it ends when the client leaves."""
        wanted = [await self._inbox(ctx, str(uri)) for uri in params.notifications.resource_subscriptions or ()]
        if self._streams >= MOST:
            raise MCPError(code=types.INTERNAL_ERROR, message="too many listen; cowork_wait waits without a stream")
        self._streams += 1
        try:
            async with listening(self._served):
                return await ListenHandler(_Rings(self._served.events, wanted))(ctx, params)
        finally:
            self._streams -= 1

    def end(self, session: str) -> None:
        """A session is over."""
        for key in [one for one in self._kept if one[0] == session]:
            self._drop(key)

    async def _inbox(self, ctx: Context, uri: str) -> _Inbox:
        found = resource_at(uri)
        if found is None or found[0].operation != WAITING:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Only an inbox can be subscribed to: {uri[:200]}")
        answer = await self._ask(ctx, WAITING, found[1])
        if isinstance(error := answer.get("error"), Mapping):
            raise MCPError(code=types.INVALID_PARAMS, message=f"{error['code']}: {error['message']}", data=dict(error))
        return _Inbox(uri=uri, project=answer["project"], agent_id=answer["agent_id"])

    def _gone(self, peer: Peer, session: str) -> Callable[[], bool]:
        """Whether a session is over, and with it all that it subscribed to."""

        def gone() -> bool:
            if peer.lasts(session):
                return False
            self.end(session)
            return True

        return gone

    def _drop(self, key: tuple[str, str]) -> None:
        if (stop := self._kept.pop(key, None)) is not None:
            stop()


def _told_on(
    session: ServerSession, events: Events, inbox: _Inbox, ear: AbstractContextManager[None], gone: Callable[[], bool]
) -> Callable[[], None]:
    """Tell a session of each ring. Returns the way to stop."""
    loop = asyncio.get_running_loop()
    under_way: set[asyncio.Task[None]] = set()

    async def tell() -> None:
        if gone():
            return
        try:
            await session.send_resource_updated(inbox.uri)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            LOG.debug("a session that subscribed is gone")

    def start() -> None:
        task = loop.create_task(tell())
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    def heard(event: Event) -> None:
        if inbox.rung_by(event):
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it every session
                loop.call_soon_threadsafe(start)

    unsubscribe = events.subscribe(heard)

    def stop() -> None:
        unsubscribe()
        ear.__exit__(None, None, None)

    return stop


class _Rings(InMemorySubscriptionBus):
    """The bell as the SDK's listening stream wants it: it hears only what concerns the inboxes of one caller."""

    def __init__(self, events: Events, inboxes: list[_Inbox]) -> None:
        super().__init__()
        self._events = events
        self._inboxes = inboxes

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def heard(event: Event) -> None:
            for inbox in self._inboxes:
                if inbox.rung_by(event):
                    with contextlib.suppress(RuntimeError):
                        loop.call_soon_threadsafe(listener, ResourceUpdated(uri=inbox.uri))

        return self._events.subscribe(heard)
