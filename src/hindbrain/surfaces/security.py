"""The guard before every HTTP route: which host, origin and token may ask, and what each answer forbids a browser."""

import logging
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import HindbrainError, HostRefused, InvalidParams, OriginRefused, Unauthorized
from hindbrain.stores.token_file import CHALLENGE, PROVE_PATH, check_token, is_challenge, owner_proof, same_token
from hindbrain.surfaces.hall.files import CLEAR_PATH, CLEARED, DOOR_SCRIPT
from hindbrain.surfaces.hall.visits import PROOF, SCHEME, Signed, Visits
from hindbrain.surfaces.runner import Activity
from hindbrain.surfaces.wire import encode, status_of

__all__ = ["ENTERING", "MEETING_PATH", "SECURITY_HEADERS", "SIGNED", "Guard", "json_response", "only_header", "refusal_response"]

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
ENTERING = "entering"  # the ticket that let a request in
MEETING_PATH = "/api/hall/owner"  # where a page has the owner prove itself; needs no signature
_NAVIGATION = {b"sec-fetch-mode": b"navigate", b"sec-fetch-dest": b"document"}

SIGNED = "signed"  # the signature of a page of the Hall
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
        door_port: int = 0,
    ) -> None:
        self._app = app
        self._visits = visits
        self._door_port = door_port
        self._hosts = frozenset(host.lower() for host in hosts)
        # An owner with a token that is empty or cut must not begin to serve.
        self._tokens = {channel: check_token(token) for channel, token in tokens.items()}
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        guarded = _with_security_headers(send)
        try:
            scope.setdefault("state", {})
            self._check_names(scope)
            if scope["path"] == PROVE_PATH and scope["method"] == "GET":
                await self._proof(scope)(scope, receive, guarded)
                return
            if any(name == b"service-worker" for name, _ in scope["headers"]):
                await _no_worker()(scope, receive, guarded)
                return
            scope["state"]["channel"] = self._admitted(scope)
            if (signed := scope["state"].get(SIGNED)) is not None:
                guarded = _with_proof(guarded, signed)
        except HindbrainError as refusal:
            LOG.info("refused %s: %s", scope["method"][:10], refusal.code)
            await _refused(scope, refusal)(scope, receive, guarded)
            return
        with self._activity.connection():
            await self._app(scope, receive, guarded)

    def _check_names(self, scope: Scope) -> None:
        """Refuse a foreign Host or Origin. This comes first: a rebound name must not even learn of the token."""
        host = (only_header(scope, b"host") or b"").decode("latin-1").lower()
        if host not in self._hosts:
            raise HostRefused("this Host is not the owner's", fix="call the owner by its own address: see owner.json in the home")
        origin = only_header(scope, b"origin")
        if origin is not None and origin.decode("latin-1").lower() != f"{scope['scheme']}://{host}":
            raise OriginRefused(
                "a page of another origin may not call the owner", fix="call it from a program or from its own page"
            )

    def _proof(self, scope: Scope) -> Response:
        """Show a client that this is the owner, before the client shows that it has a token."""
        challenge = (only_header(scope, CHALLENGE.lower().encode("ascii")) or b"").decode("latin-1")
        if not is_challenge(challenge):
            raise InvalidParams(f"{CHALLENGE} is missing or no challenge", fix="send 32 to 128 hexadecimal digits")
        address, port = scope["server"]
        return json_response(
            {"ok": True, "proofs": [owner_proof(token, challenge, address, port) for token in self._tokens.values()]}
        )

    def _admitted(self, scope: Scope) -> Channel | None:
        """The channel of the token, or a refusal."""
        if self._at_door(scope):
            self._check_door(scope)
            return None
        if self._visits_page(scope) or (scope["path"] == MEETING_PATH and scope["method"] == "GET"):
            return None
        scheme, _, given = (only_header(scope, b"authorization") or b"").partition(b" ")
        if scheme.lower() == SCHEME.lower().encode("ascii"):
            return self._page_channel(scope, given.strip())
        return self._channel(scheme, given.strip())

    def _visits_page(self, scope: Scope) -> bool:
        """Whether a browser asks for a file of the page and may have it: by its ticket, else by its cookie."""
        path = scope["path"]
        if scope["method"] != "GET" or not (path == "/" or path.startswith("/hall/")):
            return False
        ticket = _ticket(scope)
        if ticket is not None and _is_navigation(scope) and self._visits.take(ticket):
            scope["state"][ENTERING] = ticket
            return True
        return path == CLEAR_PATH or self._visits.may_load(only_header(scope, b"cookie") or b"")

    def _check_door(self, scope: Scope) -> None:
        """Admit a ticket to the door, which has one page and its script. The ticket is not used up: the page goes on with it."""
        ticket = _ticket(scope)
        if scope["method"] == "GET" and ticket is not None and self._visits.waits(ticket):
            scope["state"][ENTERING] = ticket
        elif scope["method"] != "GET" or scope["path"] != DOOR_SCRIPT:
            raise Unauthorized("this port only opens the Hall", fix="ask a person to run: hindbrain hall")

    def _at_door(self, scope: Scope) -> bool:
        """Whether the request came to the port of the door, which has its own page and nothing else."""
        return bool(scope["server"][1] == self._door_port)

    def _page_channel(self, scope: Scope, given: bytes) -> Channel:
        """The channel of a page of the Hall: a person's, if the page signed this very request for this owner."""
        query = scope["query_string"]
        target = (scope["raw_path"] + (b"?" + query if query else b"")).decode("latin-1")
        signed = self._visits.checked(given, scope["method"], target)
        if signed is None:
            raise Unauthorized("this visit is not of this owner, or has ended", fix="ask a person to run: hindbrain hall")
        scope["state"][SIGNED] = signed
        return Channel.HUMAN

    def _channel(self, scheme: bytes, given: bytes) -> Channel:
        # Every token is compared, each in constant time: the answer's delay says nothing about which one came close.
        matching = [channel for channel, token in self._tokens.items() if same_token(given, token)]
        if scheme.lower() != b"bearer" or not matching:
            raise Unauthorized(
                "the call has no token of this home", fix="send 'Authorization: Bearer …' with the token file of the home"
            )
        return matching[0]


def _ticket(scope: Scope) -> str | None:
    found = parse_qs(scope["query_string"].decode("latin-1")).get("ticket") if scope["path"] == "/" else None
    return found[0] if found else None


def _is_navigation(scope: Scope) -> bool:
    """Return False if the browser says that a script or a frame asks, and not a person: a worker of a stranger, for example."""
    return all(value == _NAVIGATION[name] for name, value in scope["headers"] if name in _NAVIGATION)


def _no_worker() -> Response:
    """Refuse the script of a service worker, and have the browser remove those that it has for this address."""
    refusal = Unauthorized("the Hall has no service worker", fix="leave it out")
    return json_response(refusal.answer(), status=refusal.http_status, headers=CLEARED)


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


def _with_proof(send: Send, signed: Signed) -> Send:
    """Sign the answer to a page, so that it knows who answered."""

    async def proven(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)[PROOF] = signed.proof(message["status"])
        await send(message)

    return proven


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
