"""The owner: the one process per home that hosts every brain and serves REST, events, MCP and bridges on loopback."""

import asyncio
import contextlib
import logging
import os
import random
import resource
import secrets
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio.to_thread

from hindbrain import __version__
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.stores.installation import started_as
from hindbrain.stores.repository import canonical_root
from hindbrain.surfaces.hall.redirect import RedirectFiles
from hindbrain.surfaces.hall.routes import HallRoutes
from hindbrain.surfaces.hall.visits import Visits
from hindbrain.surfaces.http import Facts, Hooks, LateMount, build
from hindbrain.surfaces.listening import LOOPBACK, Bind, Server, allowed_hosts, listen_loopback, listen_remote
from hindbrain.surfaces.owner_log import start_log
from hindbrain.surfaces.owner_mcp import HELLO_LIMIT, McpPart
from hindbrain.surfaces.presence import Presence
from hindbrain.surfaces.runner import Activity, Runner, Watched, defect_lines
from hindbrain.surfaces.security import Guard

__all__ = ["Owner", "serve"]

LOG = logging.getLogger("hindbrain.owner")

DRAIN_S = 10  # how long running calls may take to end once the owner stops; what is left then ends as in a power cut
_DOOR_TRIES = 20  # ports that are tried for the door of the Hall; any port will do, but nobody may know it before
_FILES = 8192  # open files: brains, connections, and a reserve
_WATCH_S = 1.0  # how often an owner looks whether it is still needed
HOUSEKEEPING_S = 10.0  # how old a counter on disk, or an edited file that nobody asked for, may get


def serve(
    home: Path,
    *,
    port: int | None = None,
    root: str | None = None,
    on_demand: bool = False,
    foreground: bool = True,
    bind: str = LOOPBACK,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    housekeeping_s: float = HOUSEKEEPING_S,
    drain_s: int = DRAIN_S,
) -> int:
    """Own a home until somebody stops it. Raises OwnerRunning if it has an owner, BindRefused for an unsafe address."""
    _allow_files()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread of numpy waits by spinning: a core for nothing
    place = Home(home)
    settings = Settings.read(place.config_file)
    where = Bind(address=bind, tls_cert=tls_cert, tls_key=tls_key)
    where.check()
    presence = Presence(place)
    try:
        start_log(place.log_file, to_terminal=foreground)
        owner = Owner(
            place,
            settings,
            presence,
            port=port,
            root=root,
            on_demand=on_demand,
            bind=where,
            housekeeping_s=housekeeping_s,
            drain_s=drain_s,
        )
        owner.run(announce=_say if foreground else None)
    finally:
        presence.leave()
    if owner.unfinished:
        # A call that hangs sits on a thread nobody can end. Leaving it behind would be an orphan; the stores survive this.
        logging.shutdown()
        os._exit(int(owner.failed))
    return int(owner.failed)


def _allow_files() -> None:
    """Use as many open files as the system grants: connections of strangers must not leave none for the stores."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < min(hard, _FILES)):
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(soft, _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)), hard)
        )


def _say(line: str) -> None:
    print(line, flush=True)


class Owner:
    """One owner process, from its sockets to its end."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        presence: Presence,
        *,
        port: int | None,
        root: str | None,
        on_demand: bool,
        bind: Bind,
        housekeeping_s: float,
        drain_s: int,
    ) -> None:
        from hindbrain.app import App

        self._home = home
        self._presence = presence
        self._bind = bind
        self._on_demand = on_demand
        self._housekeeping_s = housekeeping_s
        self._drain_s = drain_s
        self._drained_by = 0.0
        self._idle_exit_s = settings.number("idle_exit_s")
        self._bound_root = canonical_root(root) if root else None
        wanted = settings.number("port") if port is None else port
        self._remote_socket = listen_remote(bind, wanted) if bind.remote else None
        # An open page comes back to where the last owner was, also when another home has the usual port, or none was asked for.
        self._socket = listen_loopback(*(() if bind.remote or not wanted else (wanted,)), home.last_port())
        self._door_socket = listen_loopback(*random.SystemRandom().sample(range(1024, 65536), _DOOR_TRIES))
        self._app = App(home, settings, bound_root=self._bound_root, resident=True)
        self._tokens = home.tokens()
        for damaged in self._tokens.replaced:
            LOG.warning("a token file was damaged and has a new token: %s", damaged)
        self._activity = Activity()
        self.unfinished = 0
        self.failed = False

    def run(self, *, announce: Callable[[str], None] | None) -> None:
        """Serve until stopped; then drain, close the brains and go."""
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._serve(announce))
        if self.unfinished:
            LOG.warning("%d calls did not end within %d s", self.unfinished, self._drain_s)
        elif self._presence.holds():
            self._app.close()
        LOG.info("stopped")

    async def _serve(self, announce: Callable[[str], None] | None) -> None:
        self._stopping = asyncio.Event()
        mcp = McpPart(Watched(self._app, self._activity), self._activity, self._hosts, self._tokens.agent)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self.stop, signal.Signals(number).name)
        bridge = await asyncio.start_server(mcp.on_bridge, LOOPBACK, 0, limit=HELLO_LIMIT)
        facts = self._facts(bridge.sockets[0].getsockname()[1])
        servers = self._servers(self._guarded(facts, mcp.mount))
        parts = [self._part(server.run_on_socket()) for server in servers]
        for server in servers:
            await server.accepting.wait()
        self._presence.announce(asdict(facts))
        self._home.keep_port(facts.port)
        LOG.info("owner %s of %s is process %d on port %d", facts.instance, self._home.path, facts.pid, facts.port)
        if announce is not None:
            announce(f"Hindbrain owner {facts.version} of {self._home.path} on http://{facts.host}:{facts.port}")
        around = (mcp.run(self._stopping, self._drain), self._watch(), self._keep_house())
        parts += [self._part(work) for work in around]
        await self._stopping.wait()
        bridge.close()
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*parts, return_exceptions=True)
        await self._drain()

    def stop(self, reason: str) -> None:
        """Begin to stop: no new connection, and every stream ends."""
        if not self._stopping.is_set():
            LOG.info("stopping: %s", reason)
            self._drained_by = time.monotonic() + self._drain_s
            self._stopping.set()

    def _part(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Something the owner cannot do without: when it fails, the owner ends instead of serving half."""

        def ended(task: "asyncio.Task[None]") -> None:
            if not task.cancelled() and (defect := task.exception()):
                self.failed = True
                self.stop("; ".join(defect_lines(defect)))

        task = asyncio.ensure_future(work)
        task.add_done_callback(ended)
        return task

    # -- parts -------------------------------------------------------------------------------------------------------

    def _facts(self, bridge_port: int) -> Facts:
        return Facts(
            version=__version__,
            build=started_as(),
            instance=secrets.token_hex(8),
            pid=os.getpid(),
            started_ms=time.time_ns() // 1_000_000,
            host=LOOPBACK,
            port=self._socket.getsockname()[1],
            bridge_port=bridge_port,
            on_demand=self._on_demand,
            bound_root=self._bound_root,
        )

    def _guarded(self, facts: Facts, mcp: LateMount) -> Guard:
        visits = Visits(self._tokens.human, facts.instance)
        door_port = self._door_socket.getsockname()[1]
        routes = build(
            self._app,
            Runner(self._app, self._activity),
            facts,
            mcp=mcp,
            hooks=Hooks(
                stop=lambda: self.stop("asked over HTTP"),
                stopping=self._stopping,
                end_session=self._app.end_session,
            ),
            hall=HallRoutes(visits, RedirectFiles(self._home.hall_dir), port=facts.port, door_port=door_port),
        )
        tokens = {
            Channel.AGENT: self._tokens.agent,
            Channel.HUMAN: self._tokens.human,
            Channel.RUNTIME: self._tokens.hook,  # what a host's hook saw, and no agent says
        }
        return Guard(routes, hosts=self._hosts(), tokens=tokens, visits=visits, activity=self._activity, door_port=door_port)

    def _hosts(self) -> frozenset[str]:
        """The names this owner goes by, for every route the same."""
        remote = (self._bind, self._remote_socket.getsockname()[1]) if self._remote_socket else None
        ports = [sock.getsockname()[1] for sock in (self._socket, self._door_socket)]
        return frozenset[str]().union(*(allowed_hosts(port, remote=remote) for port in ports))

    def _servers(self, guard: Guard) -> list[Server]:
        servers = [Server(guard, sock, drain_s=self._drain_s) for sock in (self._socket, self._door_socket)]
        if self._remote_socket is not None:
            servers.append(Server(guard, self._remote_socket, drain_s=self._drain_s, bind=self._bind))
        return servers

    # -- the end -----------------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """End an owner whose home is gone, and one that was started on demand and that nobody needs any more."""
        pause = max(0.05, min(_WATCH_S, self._idle_exit_s / 4)) if self._on_demand else _WATCH_S
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), timeout=pause)
            if not self._presence.holds():
                self.stop("the home is gone")
            elif self._on_demand and self._activity.idle_s() >= self._idle_exit_s and not self._app.house.running:
                self.stop("idle")

    async def _keep_house(self) -> None:
        """What is done beside the calls: counters go to disk, edited files are taken in. No reason to stay alive by itself."""
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), timeout=self._housekeeping_s)
            if not self._stopping.is_set() and self._presence.holds():
                await anyio.to_thread.run_sync(self._keep_house_once)

    def _keep_house_once(self) -> None:
        try:
            self._app.house.tick()
        except Exception as defect:  # noqa: BLE001 - the next tick tries again; a call that needs the same part reports it
            LOG.error("housekeeping failed: %s", "; ".join(defect_lines(defect)))

    async def _drain(self) -> None:
        while self._activity.running and time.monotonic() < self._drained_by:
            await asyncio.sleep(0.02)
        self.unfinished = self._activity.running


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it exists: three times the requests of the standard loop."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
