"""The composition root: the only place that sees everything. Reads the settings once and puts the rooms together."""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain import __version__
from hindbrain.domain.caller import UNKNOWN_AGENT, AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.operations import REGISTRY, describe, dispatch
from hindbrain.policy.texts import INSTRUCTIONS
from hindbrain.services.call import Call
from hindbrain.services.events import Event
from hindbrain.services.house import House
from hindbrain.settings import Settings
from hindbrain.stores.home import Home, default_home
from hindbrain.stores.opening import store_opener
from hindbrain.stores.repository import canonical_root
from hindbrain.surfaces.client import caller_root, remote_session
from hindbrain.surfaces.remote import Session

if TYPE_CHECKING:
    from hindbrain.services.telemetry import Telemetry

__all__ = ["App", "Session", "open"]

Progress = Callable[[int, int, str], None]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _is_text(value: str) -> bool:
    """Whether a text can be stored and sent: half a character cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _no_progress(done: int, total: int, text: str) -> None:
    """Nobody is watching."""


def _telemetry(where: str) -> "Telemetry | None":
    if where.strip().lower() in ("", "off", "false"):
        return None
    from hindbrain.services.telemetry import Telemetry, sink_of  # only an operator who asked for it pays for it

    return Telemetry(sink_of(where.strip()))


class App:
    """The whole product in one process: the owner holds one, an embedded session holds one."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        *,
        clock: Callable[[], int] = _now_ms,
        bound_root: str | None = None,
        resident: bool = False,
    ) -> None:
        self.home = home
        self.settings = settings
        self.house = House(
            home,
            settings,
            clock=clock,
            open_store=store_opener(settings.text("store_url")),
            bound_root=canonical_root(bound_root) if bound_root else None,
            environ=os.environ,
            resident=resident,  # the owner stays and has time beside its calls
        )
        self.events = self.house.events
        self.telemetry = _telemetry(settings.text("otel_export"))
        if self.telemetry is not None:
            self.house.mission_log.mirrors.append(self.telemetry.mirror)
        self.house.lane_opener = _lane
        self.house.recovery.offered = tuple(name for name, op in REGISTRY.items() if op.everyday)

    def call(
        self, operation: str, arguments: Mapping[str, Any], *, caller: Caller, progress: Progress | None = None
    ) -> dict[str, Any]:
        """One call, from whatever surface: resolve what it says of its caller, then dispatch, which refuses wrong words."""
        agent, root = arguments.get("agent_id"), arguments.get("caller_root")
        named = canonical_root(root) if isinstance(root, str) and os.path.isabs(root) and "\x00" not in root else None
        heard = named is not None and self.house.router.may_name(caller, named)
        told = replace(
            caller,
            agent=AgentId(agent) if isinstance(agent, str) and agent.strip() and _is_text(agent) else caller.agent,
            told_root=named if heard else None,
            refused_root=None if heard else named,
        )
        call = Call(caller=told, house=self.house, progress=progress or _no_progress)
        with self.house.bell.call(told.session):
            return self._answered(call, operation, arguments)

    def _answered(self, call: Call, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if self.telemetry is None:
            return dispatch(call, operation, arguments)
        started = time.time_ns()
        answer = dispatch(call, operation, arguments)
        self.telemetry.operation(self.house.brains, call.caller, operation, answer, started_ns=started, ended_ns=time.time_ns())
        return answer

    def end_session(self, session: str) -> None:
        """A connection closed: its session binds nothing any more."""
        self.house.router.end(session)

    def roots_changed(self, caller: Caller) -> None:
        """A client of MCP says that other directories are open now: missions of its session are looked at again."""
        self.house.guard.moved(caller)

    def shaken(self, caller: Caller, **told: Any) -> None:
        """A host began a session over MCP: what it was served by is written down."""
        self.house.handshakes.record(caller, **told)

    def hears(self, caller: Caller) -> Callable[[Event], bool]:
        """Which events may be told to this caller."""
        return self.house.audience.hears(caller)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Messages and writes of other processes ring the bell of this one for the block."""
        with self.house.cowork.noticing.listening(), self.house.elsewhere.listening():
            yield

    def manifest(self) -> dict[str, Any]:
        """What a thin client or bridge needs to offer every operation without importing this process's libraries."""
        return {
            "version": __version__,
            "instructions": INSTRUCTIONS,
            "operations": [describe(REGISTRY[name]) for name in sorted(REGISTRY)],
        }

    def close(self) -> None:
        self.house.close()
        if self.telemetry is not None:
            self.telemetry.close()


class EmbeddedSession:
    """A session on services in this process."""

    def __init__(self, app: App, caller: Caller) -> None:
        self.app = app
        self.caller = caller

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self.app.call(operation, arguments, caller=self.caller)

    def close(self) -> None:
        self.app.close()

    def __enter__(self) -> "EmbeddedSession":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def local_caller(
    *, root: str | os.PathLike[str] | None, agent: str | None, channel: Channel, environ: Mapping[str, str] = os.environ
) -> Caller:
    """The caller of a local surface: what is given, else the environment, else the working directory."""
    chosen, source = caller_root(os.fspath(root) if root is not None else None, environ)
    return Caller(
        agent=AgentId(agent or environ.get("HINDBRAIN_AGENT_ID") or UNKNOWN_AGENT),
        root=chosen,
        root_source=RootSource(source),
        session=SessionId(secrets.token_hex(8)),
        channel=channel,
        delegation=environ.get("HINDBRAIN_DELEGATION") or None,
    )


def embedded(home: Home, settings: Settings, caller: Caller, *, clock: Callable[[], int] = _now_ms) -> EmbeddedSession:
    """A session in this process, on this home."""
    return EmbeddedSession(App(home, settings, clock=clock), caller)


class _LaneSession(EmbeddedSession):
    """A session of an agent whose host is the lane: of the commands that it ran for the agent it tells as a host's hook does."""

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        caller = replace(self.caller, channel=Channel.RUNTIME) if operation == "mission.heard" else self.caller
        return self.app.call(operation, arguments, caller=caller)


def _lane(home: Path, root: Path, agent: str) -> EmbeddedSession:
    """A session of a lane of the gym: a home of its own, and nothing of this machine's settings."""
    caller = local_caller(root=root, agent=agent, channel=Channel.AGENT, environ={})
    return _LaneSession(App(Home(home), Settings({}), clock=_now_ms), caller)


def open(  # noqa: A001 - the public name is the verb
    home: str | os.PathLike[str] | None = None,
    root: str | os.PathLike[str] | None = None,
    agent: str | None = None,
) -> Session:
    """A session on a home. HINDBRAIN_MODE chooses the process: embedded, owner, or auto (the owner if it is up)."""
    place = Home(Path(os.fspath(home)).expanduser().absolute() if home is not None else default_home(dict(os.environ)))
    settings = Settings.read(place.config_file)
    caller = local_caller(root=root, agent=agent, channel=Channel.AGENT)
    mode = settings.text("mode")

    def alone() -> Session:
        return embedded(place, settings, caller)

    if mode != "embedded":
        owned = mode == "owner"
        remote = remote_session(place.path, caller, start=owned, alone=None if owned else alone)
        if remote is not None:
            return remote
    return alone()
