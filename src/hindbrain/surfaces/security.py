"""The guard before every HTTP route: which host, origin and token may ask, and what each answer forbids a browser."""

import hmac
import logging
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import HindbrainError, HostRefused, InvalidParams, OriginRefused, Unauthorized
from hindbrain.surfaces.hall.visits import Visits
from hindbrain.surfaces.runner import Activity
from hindbrain.surfaces.wire import encode, status_of

__all__ = ["ENTERING", "SECURITY_HEADERS", "Guard", "json_response", "only_header", "refusal_response"]

LOG = logging.getLogger("hindbrain.http")

# Each line closes one door of a browser; a page of our own (the Hall) replaces the first with its own, narrow policy.
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
ENTERING = "entering"  # said of a request that a ticket let in

_STATUS_HEADERS = {401: {"WWW-Authenticate": 'Bearer realm="hindbrain"'}, 503: {"Retry-After": "1"}}


def json_response(answer: Mapping[str, Any], *, status: int | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """An answer, with the HTTP status of its code."""
    status = status or status_of(answer)
    all_headers = {**_STATUS_HEADERS.get(status, {}), **(headers or {})}
    return Response(encode(answer), status_code=status, headers=all_headers, media_type="application/json")


def refusal_response(error: HindbrainError, *, status: int | None = None) -> Response:
    return json_response(error.answer(), status=status or error.http_status)


def only_header(scope: Scope, name: bytes) -> bytes | None:
    """The value of a header, or None. Two values are refused: two readers could pick differently."""
    found = [value for key, value in scope["headers"] if key == name]
    if len(found) > 1:
        raise InvalidParams(f"the header {name.decode()} is there {len(found)} times", fix="send it once")
    return found[0] if found else None


class Guard:
    """ASGI middleware around everything the owner serves, MCP included."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        tokens: Mapping[Channel, str],
        visits: Visits,
        activity: Activity,
    ) -> None:
        self._app = app
        self._visits = visits
        self._hosts = frozenset(host.lower() for host in hosts)
        self._tokens = {channel: token.encode("ascii") for channel, token in tokens.items()}
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        guarded = _with_security_headers(send)
        try:
            scope.setdefault("state", {})
            scope["state"]["channel"] = self._admitted(scope)
        except HindbrainError as refusal:
            LOG.info("refused %s: %s", scope["method"][:10], refusal.code)
            await _refused(scope, refusal)(scope, receive, guarded)
            return
        with self._activity.connection():
            await self._app(scope, receive, guarded)

    def _admitted(self, scope: Scope) -> Channel | None:
        """The channel of the token, or a refusal. Host comes first: a rebound name must not even learn of the token."""
        host = (only_header(scope, b"host") or b"").decode("latin-1").lower()
        if host not in self._hosts:
            raise HostRefused("this Host is not the owner's", fix="call the owner by its own address: see owner.json in the home")
        origin = only_header(scope, b"origin")
        if origin is not None and origin.decode("latin-1").lower() != f"{scope['scheme']}://{host}":
            raise OriginRefused(
                "a page of another origin may not call the owner", fix="call it from a program or from its own page"
            )
        if self._visits_page(scope):
            return None
        return self._channel(only_header(scope, b"authorization") or b"")

    def _visits_page(self, scope: Scope) -> bool:
        """Whether a browser asks for a file of the page and may have it: by its ticket, else by its cookie."""
        path = scope["path"]
        if scope["method"] != "GET" or not (path == "/" or path.startswith("/hall/")):
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("ticket") if path == "/" else None
        if given and self._visits.take(given[0]):
            scope["state"][ENTERING] = True
            return True
        return self._visits.may_load(only_header(scope, b"cookie") or b"")

    def _channel(self, authorization: bytes) -> Channel:
        scheme, _, given = authorization.partition(b" ")
        # Every token is compared, each in constant time: the answer's delay says nothing about which one came close.
        matching = [channel for channel, token in self._tokens.items() if hmac.compare_digest(token, given.strip())]
        if not matching and self._visits.is_key(given.strip()):
            matching = [Channel.HUMAN]  # the Hall is a person's, as a terminal is
        if scheme.lower() != b"bearer" or not matching:
            raise Unauthorized(
                "the call has no token of this home", fix="send 'Authorization: Bearer …' with the token file of the home"
            )
        return matching[0]


def _refused(scope: Scope, refusal: HindbrainError) -> Response:
    """A refusal; to somebody who typed the address into a browser, in words."""
    if (
        not isinstance(refusal, Unauthorized)
        or scope["path"] != "/"
        or not any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
    ):
        return refusal_response(refusal)
    told = "This is a Hindbrain owner. Its page, the Hall, opens with:\n\n  hindbrain hall\n"
    return PlainTextResponse(told, status_code=refusal.http_status, headers=_STATUS_HEADERS[refusal.http_status])


def _with_security_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            # No other origin is ever let in, whatever a mounted library thinks of it.
            for name in [name for name in headers if name.startswith("access-control-")]:
                del headers[name]
        await send(message)

    return guarded
