"""MCP callers: who calls and from where, as far as a connection can know it. The channel is always `agent`."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from hindbrain.domain.caller import UNKNOWN_AGENT, AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.stores.repository import canonical_root
from hindbrain.surfaces.security import only_header
from hindbrain.surfaces.wire import checked_root, decode_word, session_word

__all__ = ["Context", "HttpPeer", "LocalPeer", "Peer", "Remembered", "Sessions"]

Context = ServerRequestContext["Peer", Any]

# Sessions whose initialize is remembered. Past it the oldest has to name its root again, as after an owner's restart.
REMEMBERED_SESSIONS = 2000

# A client that offers roots but does not answer must not hold up the call.
ROOTS_WAIT_S = 2.0


class Peer(Protocol):
    """The other side of a connection: which tools it wants listed and who its calls come from."""

    def profile(self, ctx: Context) -> str: ...

    async def caller(self, ctx: Context) -> Callable[[], Caller]:
        """Who calls. The rest of the answer waits for the disk and belongs into the worker thread of the call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPeer:
    """A bridge or an embedded server: started by the host in the project's directory, it knows its root from the start."""

    root: str | None
    root_source: RootSource
    agent: str | None
    listed: str
    session: str

    def profile(self, ctx: Context) -> str:
        return self.listed

    async def caller(self, ctx: Context) -> Callable[[], Caller]:
        agent = AgentId(self.agent) if self.agent else client_agent(ctx)
        source = self.root_source if self.root else RootSource.UNKNOWN
        return partial(_caller, agent, self.root, source, SessionId(self.session))


@dataclass(slots=True, kw_only=True)
class Remembered:
    """What the `initialize` of one HTTP session told, for its later requests (MED-017)."""

    root: bytes | None = None  # as it stood in the header: each call that needs it checks it
    agent: bytes | None = None
    offered_root: str | None = None
    roots_asked: bool = False


class Sessions:
    """The HTTP sessions whose initialize is remembered, oldest first."""

    def __init__(self, *, keep: int = REMEMBERED_SESSIONS) -> None:
        self._keep = keep
        self._known: OrderedDict[str, Remembered] = OrderedDict()

    def remember(self, session: str, told: Remembered) -> None:
        self._known[session] = told
        while len(self._known) > self._keep:
            self._known.popitem(last=False)

    def of(self, session: str | None) -> Remembered:
        return self._known.get(session, Remembered(roots_asked=True)) if session else Remembered(roots_asked=True)

    def forget(self, session: str) -> None:
        self._known.pop(session, None)


class HttpPeer:
    """Clients over streamable HTTP: header of the request, else what the session remembers, else the client's roots."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def profile(self, ctx: Context) -> str:
        return "full" if _request(ctx).query_params.get("profile") == "full" else "default"

    async def caller(self, ctx: Context) -> Callable[[], Caller]:
        scope = _request(ctx).scope
        session = (only_header(scope, b"mcp-session-id") or b"").decode("latin-1") or None
        remembered = self._sessions.of(session)
        said = only_header(scope, b"hindbrain-agent") or remembered.agent
        agent = AgentId(decode_word(said, "Hindbrain-Agent")) if said else client_agent(ctx)
        root, source = await self._root(ctx, only_header(scope, b"hindbrain-caller-root"), remembered)
        # 2026-07-28 has no sessions: a client that wants sticky routing there names one itself.
        named = only_header(scope, b"hindbrain-session")
        stays = session or (session_word(named) if named else secrets.token_hex(8))
        return partial(_caller, agent, root, source, SessionId(stays))

    async def _root(self, ctx: Context, header: bytes | None, remembered: Remembered) -> tuple[str | None, RootSource]:
        if header:
            return checked_root(header), RootSource.HEADER
        if remembered.root:
            return checked_root(remembered.root), RootSource.SESSION
        offered = await _offered_root(ctx, remembered)
        return (checked_root(offered), RootSource.SESSION) if offered else (None, RootSource.UNKNOWN)


def _caller(agent: AgentId, root: str | None, source: RootSource, session: SessionId) -> Caller:
    found = canonical_root(root) if root else None
    return Caller(agent=agent, root=found, root_source=source, session=session, channel=Channel.AGENT, reads_files=False)


def client_agent(ctx: Context) -> AgentId:
    """The agent id of a client that did not say one: its own name, in the role of an agent."""
    told = ctx.session.client_params
    name = "-".join(told.client_info.name.lower().split()) if told else ""
    return AgentId(f"{name}:agent") if name else UNKNOWN_AGENT


def _request(ctx: Context) -> Request:
    if not isinstance(ctx.request, Request):
        raise TypeError("a message over HTTP carries its request")
    return ctx.request


async def _offered_root(ctx: Context, remembered: Remembered) -> str | None:
    """The first file root of a 2025 client that offers roots. Asked once per session; 2026-07-28 has no such request."""
    offers = ctx.session.client_capabilities
    if remembered.roots_asked or offers is None or offers.roots is None or ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return remembered.offered_root
    remembered.roots_asked = True
    with anyio.move_on_after(ROOTS_WAIT_S):
        try:
            found = await ctx.session.send_request(
                types.ListRootsRequest(),
                types.ListRootsResult,
                metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
            )
        except MCPError:
            return None
        remembered.offered_root = next((path for root in found.roots if (path := _file_path(str(root.uri)))), None)
    return remembered.offered_root


def _file_path(uri: str) -> str | None:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None
