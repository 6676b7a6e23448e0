"""HTTP requests: who calls, with which body, and which brain is asked for by name. Reads nothing from the named paths."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from starlette.requests import Request

from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.caller import UNKNOWN_AGENT, AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.domain.errors import BodyTooLarge, InvalidParams, TimedOut, UnknownBrain, UnsupportedMedia
from hindbrain.stores.home import Home
from hindbrain.stores.repository import canonical_root
from hindbrain.surfaces.security import SIGNED, only_header
from hindbrain.surfaces.wire import BODY_LIMIT, checked_root, decode_object, decode_word, session_word

__all__ = ["Asker", "Selected", "asker_of", "json_body", "selected_in", "with_selection"]

_BODY_WAIT_S = 30  # a client that stalls in the middle of a body must not hold a connection for ever
_DRAIN_LIMIT = 64 * BODY_LIMIT  # how much of a refused body is read, so that its sender gets to see why


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The brain a request asks for by name. The medulla has no root."""

    root: str | None

    @property
    def name(self) -> str:
        return MEDULLA if self.root is None else self.root

    def echo(self) -> dict[str, Any]:
        """What tells the asker which brain answered."""
        shown = self.name.rstrip("/").rsplit("/", 1)[-1] or self.name
        return {"served_brain": {"project_root": self.root, "display_name": shown}}


def selected_in(home: Home, name: str) -> Selected:
    """The registered brain of that name, compared as text: the path itself is never looked at."""
    if name == MEDULLA:
        return Selected(root=None)
    known = [brain.root for brain in home.projects() if brain.root is not None]
    if name in known:
        return Selected(root=name)
    raise UnknownBrain(
        "no brain is registered under that name" if name else "no brain is bound",
        fix="name one of `known` in ?brain=",
        known=[*known, MEDULLA],
    )


# Where a program at a terminal learned its root, as it tells the owner; any other client says it by the header itself.
_LOCAL_SOURCES = frozenset({RootSource.CALL.value, RootSource.ENVIRONMENT.value, RootSource.DIRECTORY.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who calls, as the headers say it and as the token proves it."""

    agent: AgentId
    root: str | None
    session: SessionId
    channel: Channel
    source: RootSource = RootSource.HEADER
    selected: Selected | None = None
    delegation: str | None = None
    visit: str | None = None
    passphrase: str | None = field(default=None, repr=False)

    def doing(self, operation: str) -> "Asker":
        """The same, for one operation: the token of hooks tells what a host saw, and for all else is an agent's."""
        told = self.channel is Channel.RUNTIME and operation != "mission.heard"
        return replace(self, channel=Channel.AGENT) if told else self

    def selecting(self, selected: Selected | None) -> "Asker":
        """The same asker, reading a brain by name. In a session of its own: a look must not move the sticky choice."""
        if selected is None:
            return self
        return replace(self, selected=selected, session=SessionId(secrets.token_hex(8)))

    def caller(self) -> Caller:
        """The caller of the core. Resolving the directory waits for the disk: this belongs into a worker thread."""
        if self.selected is not None:
            root, source = self.selected.root, RootSource.CALL
        elif self.root is not None:
            root, source = canonical_root(self.root), self.source
        else:
            root, source = None, RootSource.UNKNOWN
        return Caller(
            agent=self.agent,
            root=root,
            root_source=source,
            session=self.session,
            channel=self.channel,
            delegation=self.delegation,
            visit=self.visit,
            passphrase=self.passphrase,
        )


def asker_of(request: Request) -> Asker:
    """Who calls, from the headers and the guard's verdict. A session is made for a caller that names none."""
    agent = only_header(request.scope, b"hindbrain-agent")
    session = only_header(request.scope, b"hindbrain-session")
    root = only_header(request.scope, b"hindbrain-caller-root")
    source = (only_header(request.scope, b"hindbrain-root-source") or b"").decode("latin-1")
    under = only_header(request.scope, b"hindbrain-delegation")
    passphrase = only_header(request.scope, b"hindbrain-passphrase")
    signed = request.scope["state"].get(SIGNED)
    return Asker(
        source=RootSource(source) if source in _LOCAL_SOURCES else RootSource.HEADER,
        agent=AgentId(decode_word(agent, "Hindbrain-Agent")) if agent is not None else UNKNOWN_AGENT,
        root=checked_root(root) if root is not None else None,
        session=SessionId(session_word(session) if session is not None else secrets.token_hex(8)),
        channel=request.state.channel,
        delegation=decode_word(under, "Hindbrain-Delegation") if under else None,
        visit=signed.visit if signed is not None else None,
        passphrase=decode_word(passphrase, "Hindbrain-Passphrase") if passphrase else None,
    )


def with_selection(op: Mapping[str, Any], arguments: dict[str, Any], selected: Selected | None) -> dict[str, Any]:
    """The arguments of a call, of a read of the selected brain if there is one."""
    if selected is None:
        return arguments
    if op["effect"] != "read":
        raise InvalidParams(
            f"?brain= selects what is read; {op['name']} writes", fix="say where the call comes from with Hindbrain-Caller-Root"
        )
    if "caller_root" in arguments:
        raise InvalidParams("?brain= and caller_root name the brain twice", fix="send one of them")
    if selected.root is not None:
        return arguments
    name = _medulla_argument(op["schema"]["properties"])
    if name is None or arguments.get(name, MEDULLA) != MEDULLA:
        raise InvalidParams(f"{op['name']} cannot be asked of the medulla this way", fix="leave ?brain= out")
    return {**arguments, name: MEDULLA}


def _medulla_argument(properties: Mapping[str, Any]) -> str | None:
    """The argument that may say medulla: `tier`, unless that is the rank of a card; there it is `brain`."""
    for name in ("tier", "brain"):
        schema = properties.get(name, {})
        options = [schema, *schema.get("anyOf", ())]
        if any(MEDULLA in one.get("enum", ()) for one in options) or (
            name == "tier" and any(one.get("type") == "string" and "enum" not in one for one in options)
        ):
            return name
    return None


async def json_body(request: Request) -> dict[str, Any]:
    """The body as one JSON object, within its limits of type, size and time."""
    kind = (only_header(request.scope, b"content-type") or b"").decode("latin-1").lower()
    media, _, parameter = kind.partition(";")
    if media.strip() != "application/json" or parameter.strip() not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise UnsupportedMedia("the body is not declared as JSON", fix="send Content-Type: application/json")
    try:
        with anyio.fail_after(_BODY_WAIT_S):
            return decode_object(await _read(request))
    except TimeoutError as late:
        raise TimedOut(f"the body did not arrive within {_BODY_WAIT_S} s", fix="send it again") from late


async def _read(request: Request) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= BODY_LIMIT:
            pieces.append(piece)
        elif size > _DRAIN_LIMIT:
            break
    if size > BODY_LIMIT:
        raise BodyTooLarge(
            f"the body has more than {BODY_LIMIT} bytes", fix="a claim is one belief: split the text", limit=BODY_LIMIT
        )
    return b"".join(pieces)
