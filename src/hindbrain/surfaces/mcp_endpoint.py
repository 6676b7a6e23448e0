"""The MCP endpoint: one ASGI application around the SDK's session manager. Remembers each session's first words."""

import json
from collections.abc import Callable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hindbrain.surfaces.bridge_lines import INVALID_REQUEST, failure, found_id
from hindbrain.surfaces.json_keys import RepeatedKey, loads
from hindbrain.surfaces.mcp_callers import Remembered, Sessions
from hindbrain.surfaces.wire import BODY_LIMIT

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

        if scope["method"] == "POST":
            received, body = await _first(receive)
            if (ambiguous := _ambiguous(body)) is not None:
                await ambiguous(scope, receive, send)
                return
            receive = _again(received, receive)
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


async def _first(receive: Receive) -> tuple[list[Message], bytes]:
    """The messages of a body up to its end or the limit, and their bytes. The SDK refuses what is longer."""
    received: list[Message] = []
    body = bytearray()
    while len(body) <= BODY_LIMIT:
        received.append(message := await receive())
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    return received, bytes(body)


def _again(received: list[Message], receive: Receive) -> Receive:
    """The same messages once more, then whatever follows them."""
    waiting = iter(received)

    async def replay() -> Message:
        message = next(waiting, None)
        return message if message is not None else await receive()

    return replay


def _ambiguous(body: bytes) -> Response | None:
    """The refusal of a body that names a key twice; what is no JSON at all is for the SDK to refuse."""
    try:
        loads(body)
    except RepeatedKey as twice:
        told = failure(found_id(body), INVALID_REQUEST, f"ambiguous JSON: {twice}")
        return Response(told, status_code=400, media_type="application/json")
    except (ValueError, RecursionError):
        return None
    return None


def _session_not_found() -> Response:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": SESSION_NOT_FOUND, "message": "Session not found: initialize again"}}
    return Response(json.dumps(body), status_code=404, media_type="application/json")
