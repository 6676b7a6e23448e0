"""MCP callers: who calls and from where, as far as a connection can know it. The channel is always `agent`."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
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

__all__ = ["Context", "HttpPeer", "LocalPeer", "Offered", "Peer", "Remembered", "Sessions"]

Context = ServerRequestContext["Peer", Any]

# Sessions whose initialize is remembered. Past it the oldest has to name its root again, as after an owner's restart.
REMEMBERED_SESSIONS = 2000

# A client that offers roots but does not answer must not hold up the call.
ROOTS_WAIT_S = 2.0


class Peer(Protocol):
    """The other side of a connection: which tools it wants listed and who its calls come from."""

    def profile(self, ctx: Context) -> str: ...

    async def caller(self, ctx: Context, *, roots: bool = False, ask: bool = True) -> Callable[[], Caller]:
        """Who calls; with `roots` also which directories the client says are open, and without `ask` only what is known already.
        The rest of the answer waits for the disk and belongs into the worker thread of the call."""
        ...

    def roots_changed(self, ctx: Context) -> None:
        """What the client offered does not hold any more."""
        ...

    def session_of(self, ctx: Context) -> str | None:
        """The session of a request, if it has one that lasts."""
        ...

    def rooted(self, ctx: Context) -> bool:
        """Whether it is known by now, without a question, where a request comes from."""
        ...

    def way(self) -> tuple[str, int | None]:
        """The transport, and the process that the host started for it."""
        ...

    @property
    def only_session(self) -> str | None:
        """The one session of this peer, if it never has another."""
        ...

    def lasts(self, session: str) -> bool:
        """Whether a session of this peer is not over yet."""
        ...


@dataclass(slots=True, kw_only=True)
class Offered:
    """The roots that a client of the sessions' era offers, asked for once and again after it says that they changed."""

    asked: bool = False
    roots: tuple[str, ...] = ()

    async def of(self, ctx: Context) -> tuple[str, ...]:
        """The directories. A client of 2026-07-28 has no such request, and one that does not answer offers nothing."""
        offers = ctx.session.client_capabilities
        if self.asked or offers is None or offers.roots is None or ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self.roots
        self.asked = True
        related = ServerMessageMetadata(related_request_id=ctx.request_id) if ctx.request_id is not None else None
        with anyio.move_on_after(ROOTS_WAIT_S):
            try:
                found = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult, metadata=related)
            except MCPError:
                return ()
            self.roots = tuple(path for root in found.roots if (path := _file_path(str(root.uri))))
        return self.roots

    def forget(self) -> None:
        self.asked, self.roots = False, ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPeer:
    """A bridge or an embedded server: started by the host in the project's directory, it knows its root from the start."""

    root: str | None
    root_source: RootSource
    agent: str | None
    listed: str
    session: str
    pid: int | None = None
    delegation: str | None = None
    offered: Offered = field(default_factory=Offered)

    def profile(self, ctx: Context) -> str:
        return self.listed

    def session_of(self, ctx: Context) -> str | None:
        return self.session

    def rooted(self, ctx: Context) -> bool:
        return True  # it knew from the start, or never will

    def way(self) -> tuple[str, int | None]:
        return "stdio", self.pid

    @property
    def only_session(self) -> str | None:
        return self.session

    def lasts(self, session: str) -> bool:
        return True  # it ends with its server

    async def caller(self, ctx: Context, *, roots: bool = False, ask: bool = True) -> Callable[[], Caller]:
        agent = AgentId(self.agent) if self.agent else client_agent(ctx)
        source = self.root_source if self.root else RootSource.UNKNOWN
        offered = await self.offered.of(ctx) if roots else ()
        return partial(_caller, agent, self.root, source, SessionId(self.session), offered, self.delegation)

    def roots_changed(self, ctx: Context) -> None:
        self.offered.forget()


@dataclass(slots=True, kw_only=True)
class Remembered:
    """What the `initialize` of one HTTP session told, for its later requests (MED-017)."""

    root: bytes | None = None  # as it stood in the header: each call that needs it checks it
    agent: bytes | None = None
    offered: Offered = field(default_factory=Offered)


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
        unknown = Remembered(offered=Offered(asked=True))
        return self._known.get(session, unknown) if session else unknown

    def knows(self, session: str) -> bool:
        return session in self._known

    def forget(self, session: str) -> None:
        self._known.pop(session, None)


class HttpPeer:
    """Clients over streamable HTTP: header of the request, else what the session remembers, else the client's roots."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def profile(self, ctx: Context) -> str:
        return "full" if _request(ctx).query_params.get("profile") == "full" else "default"

    def session_of(self, ctx: Context) -> str | None:
        named = only_header(_request(ctx).scope, b"hindbrain-session")
        return _session(ctx) or (session_word(named) if named else None)

    def rooted(self, ctx: Context) -> bool:
        remembered = self._sessions.of(_session(ctx))
        header = only_header(_request(ctx).scope, b"hindbrain-caller-root")
        return bool(header or remembered.root or remembered.offered.roots)

    def way(self) -> tuple[str, int | None]:
        return "http", None

    @property
    def only_session(self) -> str | None:
        return None

    def lasts(self, session: str) -> bool:
        return self._sessions.knows(session)

    def roots_changed(self, ctx: Context) -> None:
        self._sessions.of(_session(ctx)).offered.forget()

    async def caller(self, ctx: Context, *, roots: bool = False, ask: bool = True) -> Callable[[], Caller]:
        scope, session = _request(ctx).scope, _session(ctx)
        remembered = self._sessions.of(session)
        said = only_header(scope, b"hindbrain-agent") or remembered.agent
        agent = AgentId(decode_word(said, "Hindbrain-Agent")) if said else client_agent(ctx)
        root, source = await self._root(ctx, only_header(scope, b"hindbrain-caller-root"), remembered, ask=ask)
        # 2026-07-28 has no sessions: a client that wants sticky routing there names one itself.
        named = only_header(scope, b"hindbrain-session")
        stays = session or (session_word(named) if named else secrets.token_hex(8))
        offered = await remembered.offered.of(ctx) if roots else ()
        under = only_header(scope, b"hindbrain-delegation")
        told = decode_word(under, "Hindbrain-Delegation") if under else None
        return partial(_caller, agent, root, source, SessionId(stays), offered, told)

    async def _root(
        self, ctx: Context, header: bytes | None, remembered: Remembered, *, ask: bool
    ) -> tuple[str | None, RootSource]:
        if header:
            return checked_root(header), RootSource.HEADER
        if remembered.root:
            return checked_root(remembered.root), RootSource.SESSION
        offered = await remembered.offered.of(ctx) if ask else remembered.offered.roots
        return (checked_root(offered[0]), RootSource.ROOTS) if offered else (None, RootSource.UNKNOWN)


def _caller(
    agent: AgentId,
    root: str | None,
    source: RootSource,
    session: SessionId,
    offered: tuple[str, ...] = (),
    delegation: str | None = None,
) -> Caller:
    return Caller(
        agent=agent,
        root=canonical_root(root) if root else None,
        root_source=source,
        session=session,
        channel=Channel.AGENT,
        reads_files=False,
        delegation=delegation,
        offered_roots=tuple(canonical_root(checked_root(one)) for one in offered),
    )


def client_agent(ctx: Context) -> AgentId:
    """The agent id of a client that did not say one: its own name, in the role of an agent."""
    told = ctx.session.client_params
    name = "-".join(told.client_info.name.lower().split()) if told else ""
    return AgentId(f"{name}:agent") if name else UNKNOWN_AGENT


def _request(ctx: Context) -> Request:
    if not isinstance(ctx.request, Request):
        raise TypeError("a message over HTTP carries its request")
    return ctx.request


def _session(ctx: Context) -> str | None:
    return (only_header(_request(ctx).scope, b"mcp-session-id") or b"").decode("latin-1") or None


def _file_path(uri: str) -> str | None:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None
