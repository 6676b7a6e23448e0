"""The MCP endpoint: one ASGI application around the SDK's session manager. Remembers each session's first words."""

import json
from collections.abc import Callable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hindbrain.surfaces.mcp_callers import Remembered, Sessions

__all__ = ["SESSION_NOT_FOUND", "Endpoint"]

# What GR-171 and other servers answer; the SDK says -32600 here, which clients do not take as a call to initialize again.
SESSION_NOT_FOUND = -32001


class Endpoint:
    """Streamable HTTP for both eras. Host, Origin and token were checked before a request comes here."""

    def __init__(self, manager: StreamableHTTPSessionManager, sessions: Sessions, on_call: Callable[[], None]) -> None:
        self._manager = manager
        self._sessions = sessions
        self._on_call = on_call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._on_call()
        headers = Headers(scope=scope)
        handshake_era = headers.get("mcp-protocol-version", HANDSHAKE_PROTOCOL_VERSIONS[-1]) in HANDSHAKE_PROTOCOL_VERSIONS
        session = headers.get("mcp-session-id")
        replaced = False

        async def watched(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and handshake_era:
                # In this era the transport says 404 for one reason only: it does not know the session (any more).
                if message["status"] == 404:
                    replaced = True
                    await _session_not_found()(scope, receive, send)
                self._note(scope, session, message)
            if not replaced:
                await send(message)

        await self._manager.handle_request(scope, receive, watched)

    def _note(self, scope: Scope, session: str | None, start: Message) -> None:
        """Keep what a new session said at initialize; drop what a closed one said."""
        if session is not None:
            if start["status"] == 404 or (scope["method"] == "DELETE" and start["status"] < 300):
                self._sessions.forget(session)
            return
        opened = Headers(raw=start["headers"]).get("mcp-session-id")
        if opened is not None and start["status"] < 300:
            told = dict(scope["headers"])
            self._sessions.remember(
                opened, Remembered(root=told.get(b"hindbrain-caller-root"), agent=told.get(b"hindbrain-agent"))
            )


def _session_not_found() -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": SESSION_NOT_FOUND, "message": "Session not found: initialize again"}}
    return Response(json.dumps(body), status_code=404, media_type="application/json")
