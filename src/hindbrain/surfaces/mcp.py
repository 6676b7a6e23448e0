"""MCP: the registry for agent hosts, over streamable HTTP, for bridges and in process, in both protocol eras."""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from hindbrain.domain.caller import RootSource
from hindbrain.stores.token_file import is_challenge, owner_proof, same_token
from hindbrain.surfaces.mcp_callers import HttpPeer, LocalPeer, Sessions
from hindbrain.surfaces.mcp_endpoint import Endpoint
from hindbrain.surfaces.mcp_lines import line_session, lines_from, lines_of, standard_streams
from hindbrain.surfaces.mcp_manifest import mcp_manifest
from hindbrain.surfaces.mcp_server import server_for
from hindbrain.surfaces.mcp_tools import PROFILES
from hindbrain.surfaces.runner import Served
from hindbrain.surfaces.wire import BODY_LIMIT

__all__ = ["greet", "mcp_manifest", "mount", "serve_bridge", "serve_stdio"]

LOG = logging.getLogger("hindbrain.mcp")

# A bridge says hello at once; whoever does not is none.
HELLO_WAIT_S = 5.0

_LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")


def mount(
    app: Served, *, on_call: Callable[[], None], hosts: Collection[str] = _LOOPBACK
) -> tuple[ASGIApp, Callable[[], AbstractAsyncContextManager[None]]]:
    """Streamable HTTP for /mcp: the ASGI application, and the lifespan to enter before its first request.

    `on_call` is told of every request; `hosts` are the names the owner goes by. `?profile=full` lists every tool.
    """
    sessions = Sessions()
    manager = StreamableHTTPSessionManager(
        server_for(app, HttpPeer(sessions)), security_settings=_guarded(hosts), max_request_body_size=BODY_LIMIT
    )
    return Endpoint(manager, sessions, on_call), manager.run


def _guarded(hosts: Collection[str]) -> TransportSecuritySettings:
    """The SDK's own check of Host and Origin: a second lock behind the owner's guard, with the same names."""
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)


async def greet(token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> LocalPeer | None:
    """Answer the challenge of a bridge, then read its hello with the token. None for anybody who has no token."""
    try:
        async with asyncio.timeout(HELLO_WAIT_S):
            told = await _line(reader)
            challenge = told.get("challenge")
            if isinstance(challenge, str) and is_challenge(challenge):
                proof = owner_proof(token, challenge, *writer.get_extra_info("sockname")[:2])
                writer.write(json.dumps({"ok": True, "proof": proof}).encode() + b"\n")
                told = await _line(reader)
    except (TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        told = {}
    if not same_token(str(told.get("token")).encode(), token.encode()):
        LOG.info("refused a bridge: no hello with the token of this home")
        writer.write(b'{"ok":false,"error":{"code":"unauthorized"}}\n')
        return None
    return _peer(told)


async def _line(reader: asyncio.StreamReader) -> dict[str, object]:
    """One short line; the reader's own limit ends a longer one."""
    found = json.loads(await reader.readuntil(b"\n"))
    return found if isinstance(found, dict) else {}


async def serve_bridge(app: Served, peer: LocalPeer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A whole MCP session in lines, with a bridge that has shown its token."""
    try:
        # The welcome tells the bridge that from here on the owner itself answers.
        writer.write(b'{"ok":true}\n')
        try:
            async with line_session(lines_of(reader), writer) as (inbound, outbound):
                server = server_for(app, peer)
                await server.run(inbound, outbound, server.create_initialization_options())
        finally:
            app.end_session(peer.session)
    except ConnectionError:
        LOG.debug("a bridge is gone")
    finally:
        writer.close()


def _peer(told: Mapping[str, object]) -> LocalPeer:
    return LocalPeer(
        root=_word(told, "caller_root"),
        root_source=RootSource.ENVIRONMENT if told.get("root_source") == "environment" else RootSource.DIRECTORY,
        agent=_word(told, "agent"),
        delegation=_word(told, "delegation"),
        listed="full" if told.get("profile") == PROFILES[1] else PROFILES[0],
        session=_word(told, "session") or secrets.token_hex(8),
        pid=pid if isinstance(pid := told.get("pid"), int) and not isinstance(pid, bool) and pid > 0 else None,
    )


def _word(told: Mapping[str, object], name: str) -> str | None:
    value = told.get(name)
    return value if isinstance(value, str) and value else None


async def serve_stdio(app: Served, hello: Mapping[str, object]) -> None:
    """The same server on this process's own stdin and stdout, for homes where no owner may run."""
    server = server_for(app, _peer(hello))
    with standard_streams() as (source, sink):
        async with line_session(lines_from(source), sink) as (inbound, outbound):
            await server.run(inbound, outbound, server.create_initialization_options())
