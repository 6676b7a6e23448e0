"""The MCP manifest: what this server answers to a client that only looks around, recorded for bridges without a server."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from hindbrain.domain.caller import RootSource
from hindbrain.surfaces.mcp_callers import LocalPeer
from hindbrain.surfaces.mcp_server import server_for
from hindbrain.surfaces.mcp_tools import PROFILES
from hindbrain.surfaces.runner import Served

__all__ = ["RECORDED", "mcp_manifest"]

# Requests whose answer is the same for every caller and every brain.
RECORDED = ("server/discover", "ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list")

_CLIENT = {"name": "manifest", "version": "0"}


def mcp_manifest(app: Served) -> dict[str, Any]:
    """Every recorded answer by profile and protocol version, as JSON texts that a bridge only has to number.

    The answers are those of the real server, so that a client cannot tell whether the owner was up.
    """
    # A thread of its own, because the caller may already be inside an event loop.
    with ThreadPoolExecutor(max_workers=1) as pool:
        recorded = pool.submit(anyio.run, _recorded, app).result()
    texts: dict[str, int] = {}
    answers = {
        profile: {
            version: {method: texts.setdefault(text, len(texts)) for method, text in found.items()}
            for version, found in by_version.items()
        }
        for profile, by_version in recorded.items()
    }
    return {
        "version": app.manifest()["version"],
        "handshake_versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "latest_handshake": LATEST_HANDSHAKE_VERSION,
        "modern_versions": list(MODERN_PROTOCOL_VERSIONS),
        "texts": list(texts),
        "answers": answers,
    }


async def _recorded(app: Served) -> dict[str, dict[str, dict[str, str]]]:
    versions = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
    return {profile: {version: await _visited(app, profile, version) for version in versions} for profile in PROFILES}


async def _visited(app: Served, profile: str, version: str) -> dict[str, str]:
    """One short session in one era: everything a client that only looks around would see."""
    peer = LocalPeer(root=None, root_source=RootSource.UNKNOWN, agent=None, listed=profile, session="manifest")
    server = server_for(app, peer)
    to_server, inbound = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbound, from_server = anyio.create_memory_object_stream[SessionMessage]()
    found: dict[str, str] = {}

    async def ask(method: str, params: Mapping[str, Any]) -> None:
        request = types.JSONRPCRequest(jsonrpc="2.0", id=len(found) + 1, method=method, params=dict(params))
        await to_server.send(SessionMessage(request))
        answer = (await from_server.receive()).message
        if isinstance(answer, types.JSONRPCResponse):
            found[method] = json.dumps(answer.result, ensure_ascii=False, separators=(",", ":"))

    async with anyio.create_task_group() as group:
        group.start_soon(server.run, inbound, outbound, server.create_initialization_options())
        async with to_server, from_server:
            if version in HANDSHAKE_PROTOCOL_VERSIONS:
                params: dict[str, Any] = {}
                await ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT})
                ready = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
                await to_server.send(SessionMessage(ready))
            else:
                meta = {types.PROTOCOL_VERSION_META_KEY: version, types.CLIENT_CAPABILITIES_META_KEY: {}}
                params = {"_meta": meta}
            for method in RECORDED:
                await ask(method, params)
    return found
