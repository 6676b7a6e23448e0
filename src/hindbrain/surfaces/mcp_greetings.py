"""MCP greetings: every session is written down when it begins, before its first call is answered. In both eras."""

from collections import OrderedDict
from dataclasses import dataclass, field

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from hindbrain.domain.errors import HindbrainError
from hindbrain.surfaces.mcp_callers import Context, Peer
from hindbrain.surfaces.mcp_tools import Catalog
from hindbrain.surfaces.runner import Runner

__all__ = ["Greetings"]

_KEPT = 2000  # sessions that are known to be written down
_OPENING = "server/discover"  # how a client of 2026-07-28 begins; before, the notice after `initialize`
_BEGUN = "notifications/initialized"


@dataclass(slots=True, kw_only=True)
class _Greeted:
    rooted: bool  # it was known where the session is
    done: anyio.Event = field(default_factory=anyio.Event)


class Greetings(ServerMiddleware[Peer]):
    """Sees every message of every session of an application."""

    def __init__(self, runner: Runner, catalog: Catalog) -> None:
        self._runner = runner
        self._catalog = catalog
        self._known: OrderedDict[str, _Greeted] = OrderedDict()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "initialize":  # its client is known only when it was answered
            return await call_next(ctx)
        greeted = await self._greet(ctx)
        result = await call_next(ctx)
        if greeted is not None and not greeted.rooted and ctx.lifespan_context.rooted(ctx):
            # The call asked the client for its roots: now the record can say where the session is.
            greeted.rooted = True
            await self._record(ctx)
        return result

    async def _greet(self, ctx: Context) -> _Greeted | None:
        session = ctx.lifespan_context.session_of(ctx)
        if session is None:
            # Without a session every request would be a new one: only the one that opens is a handshake.
            if ctx.method == _OPENING:
                await self._record(ctx)
            return None
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern and ctx.method != _BEGUN and ctx.session.client_params is None:
            return None  # nobody shook hands yet
        known = self._known.get(session)
        if known is not None:
            await known.done.wait()
            return known
        made = self._known[session] = _Greeted(rooted=ctx.lifespan_context.rooted(ctx))
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        try:
            await self._record(ctx)
        finally:
            made.done.set()
        return made

    async def _record(self, ctx: Context) -> None:
        peer = ctx.lifespan_context
        try:
            caller = await peer.caller(ctx, ask=False)
        except HindbrainError:
            return  # the request itself is answered with the same refusal
        client = ctx.session.client_params.client_info if ctx.session.client_params is not None else None
        transport, pid = peer.way()
        await self._runner.shaken(
            caller,
            client_name=client.name if client else "",
            client_version=client.version if client else "",
            tools=list(self._catalog.names(peer.profile(ctx))),
            transport=transport,
            protocol_version=ctx.protocol_version,
            pid=pid,
        )
