"""HTTP: the operations under /api, and the reads that a page needs. A loop over the registry, no logic of its own."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hindbrain.domain.errors import (
    HindbrainError,
    HumanNeeded,
    InternalError,
    MethodRefused,
    NotReady,
    PathRefused,
    SwitchedOff,
    UnknownOperation,
    UnknownRoute,
)
from hindbrain.services.events import Event
from hindbrain.surfaces.hall.routes import HallRoutes
from hindbrain.surfaces.http_request import (
    Asker,
    Selected,
    asker_of,
    json_body,
    selected_in,
    with_selection,
)
from hindbrain.surfaces.long_poll import WAITING
from hindbrain.surfaces.openapi import document
from hindbrain.surfaces.runner import Progress, Runner, Served
from hindbrain.surfaces.security import json_response, refusal_response
from hindbrain.surfaces.sse import answer_stream, change_stream, event_response
from hindbrain.surfaces.wire import checked_root

__all__ = ["Facts", "Hooks", "LateMount", "build"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one owner says of itself."""

    version: str
    build: str
    instance: str
    pid: int
    started_ms: int
    host: str
    port: int
    bridge_port: int
    on_demand: bool
    bound_root: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What a route may ask of the owner around it."""

    stop: Callable[[], None]
    stopping: asyncio.Event
    end_session: Callable[[str], None]


class LateMount:
    """A part that is mounted when its import is done; until then it says when to come back."""

    def __init__(self, wait_s: float = 10.0) -> None:
        self.state = "starting"
        self._app: ASGIApp | None = None
        self._settled = asyncio.Event()
        self._wait_s = wait_s  # MCP clients rarely come back after a refusal; the import takes a second or two

    def mount(self, app: ASGIApp) -> None:
        self._app, self.state = app, "ready"
        self._settled.set()

    def failed(self) -> None:
        self.state = "failed"
        self._settled.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._wait_s):
                await self._settled.wait()
        if self._app is not None:
            await self._app(scope, receive, send)
            return
        reason = "MCP is still starting" if self.state == "starting" else "MCP could not be started; owner.log has the reason"
        await refusal_response(NotReady(reason, fix="call again in a second"))(scope, receive, send)


def build(served: Served, runner: Runner, facts: Facts, *, mcp: LateMount, hooks: Hooks, hall: HallRoutes) -> Starlette:
    """The routes of the owner. The guard of `security` goes around the result."""
    api = _Api(served, runner, facts, mcp=mcp, hooks=hooks)
    reads = {
        "/api/health": api.health,
        "/api/status": api.status,
        "/api/operations": api.operations,
        # The seeds call operations tools: both names stand in requirement rows and lead to one handler.
        "/api/tools": api.operations,
        "/api/instances": api.instances,
        "/api/instance/self": api.instance_self,
        "/api/overview": api.overview,
        "/api/mailbox": api.mailbox,
        "/api/inbox_sweep": api.inbox_sweep,
        "/api/graph/stats": api.graph_stats,
        "/api/graph/snapshot": api.graph_snapshot,
        "/api/graph/subgraph": api.graph_subgraph,
        "/api/openapi.json": api.openapi,
        "/api/events": api.events,
    }
    writes = {"/api/op/{name}": api.operation, "/api/tools/{name}": api.operation, "/api/stop": api.stop}
    app = Starlette(
        routes=[
            *(Route(path, endpoint, methods=["GET"]) for path, endpoint in reads.items()),
            *(Route(path, endpoint, methods=["POST"]) for path, endpoint in writes.items()),
            *hall.routes(),
            Route("/mcp", mcp),
        ],
        exception_handlers={
            PathRefused: _bad_path,
            HindbrainError: _refused,
            HTTPException: _no_route,
            Exception: _defect,
        },
    )
    app.router.redirect_slashes = False
    return app


class _Api:
    """The handlers: parse, run, answer."""

    def __init__(self, served: Served, runner: Runner, facts: Facts, *, mcp: LateMount, hooks: Hooks) -> None:
        self._served = served
        self._runner = runner
        self._facts = facts
        self._mcp = mcp
        self._hooks = hooks
        self._operations: list[dict[str, Any]] = served.manifest()["operations"]
        self._by_name: dict[str, dict[str, Any]] = {op["name"]: op for op in self._operations}

    async def health(self, request: Request) -> Response:
        return json_response({"ok": True, "status": "ok", **self._owner()})

    async def status(self, request: Request) -> Response:
        op, reader = self._offered("health"), asker_of(request).selecting(await self._selected(request))
        health = await self._answer(op, with_selection(op, {}, reader.selected), reader, None)
        served = {"served_brain": health.pop("served_brain")} if "served_brain" in health else {}
        failed = {"error": health["error"]} if "error" in health else {}
        return json_response({"ok": health["ok"], **failed, "owner": self._owner(), "health": health} | served)

    async def operations(self, request: Request) -> Response:
        listed = {"operations": self._operations, "rest_brain_selector": True, "version": self._facts.version}
        return json_response({"ok": True, **listed})

    async def instances(self, request: Request) -> Response:
        answer = await self._runner.answer("instances", {}, asker_of(request).caller)
        return json_response({key: value for key, value in answer.items() if key != "self"})

    async def instance_self(self, request: Request) -> Response:
        answer = await self._runner.answer("instances", {}, asker_of(request).caller)
        if not answer.get("ok"):
            return json_response(answer)
        return json_response({"ok": True, **self._owner(), **answer["self"], "scope": "across all brains"})

    async def overview(self, request: Request) -> Response:
        return json_response(await self._answer(self._offered("overview"), {}, asker_of(request), None))

    async def graph_stats(self, request: Request) -> Response:
        selected = await self._selected(request) or await self._registered(self._facts.bound_root or "")
        nodes, edges = await anyio.to_thread.run_sync(self._counts, selected)
        return json_response({"ok": True, "node_count": nodes, "edge_count": edges} | selected.echo())

    async def mailbox(self, request: Request) -> Response:
        """The letters of one box: of the brain that is named, else of the bound one."""
        selected = await self._selected(request) or await self._registered(self._facts.bound_root or "")
        op, reader = self._offered("mailbox.show"), asker_of(request).selecting(selected)
        return json_response(await self._answer(op, with_selection(op, _limit(request), selected), reader, None))

    async def inbox_sweep(self, request: Request) -> Response:
        return json_response(await self._answer(self._offered("inbox_sweep"), _limit(request), asker_of(request), None))

    async def graph_snapshot(self, request: Request) -> Response:
        return await self._graph(request, {})

    async def graph_subgraph(self, request: Request) -> Response:
        asked = {"node": request.query_params.get("node", ""), "depth": _number(request.query_params.get("depth", "1"))}
        return await self._graph(request, asked)

    async def _graph(self, request: Request, asked: dict[str, Any]) -> Response:
        """A graph as the snapshot that `graph.export` writes, of the selected brain if there is one."""
        op, reader = self._offered("graph.export"), asker_of(request).selecting(await self._selected(request))
        answer = await self._answer(op, {"format": "json", **asked}, reader, None)  # without a target it only reads
        if answer.get("ok"):
            answer = {key: value for key, value in answer.items() if key not in ("content", "rendered")} | json.loads(
                answer["content"]
            )
        return json_response(answer)

    async def openapi(self, request: Request) -> Response:
        url = f"http://{self._facts.host}:{self._facts.port}"
        return json_response(document(self._operations, version=self._facts.version, url=url))

    async def events(self, request: Request) -> Response:
        asker, selected = asker_of(request), await self._selected(request)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")

        hears = await anyio.to_thread.run_sync(lambda: self._served.hears(asker.caller()))
        if selected is not None and not hears(_of(selected)):
            raise HumanNeeded(
                "an agent hears of its own project and of the medulla only",
                fix="leave ?brain= out, or let a person look: hindbrain hall",
            )

        def wanted(event: Event) -> bool:
            echo = event.session is not None and event.session == asker.session
            of_brain = selected is None or selected.name in (event.data.get("brain"), event.data.get("repository"))
            return not echo and of_brain and hears(event)

        stream = change_stream(
            self._served,
            instance=self._facts.instance,
            wanted=wanted,
            last_event_id=request.headers.get("last-event-id"),
            stopping=self._hooks.stopping,
        )
        return event_response(stream, headers={"Hindbrain-Session": asker.session})

    async def operation(self, request: Request) -> Response:
        op = self._offered(request.path_params["name"])
        asker = asker_of(request).doing(op["name"])
        arguments = await json_body(request)
        if isinstance(root := arguments.get("caller_root"), str):
            checked_root(root)
        reader = asker.selecting(await self._selected(request))
        arguments = with_selection(op, arguments, reader.selected)

        async def call(progress: Progress | None) -> dict[str, Any]:
            return await self._answer(op, arguments, reader, progress)

        async def patient(progress: Progress | None) -> dict[str, Any]:
            """A call that may wait for minutes: it ends with the owner, and when its caller leaves, which a stream notices."""
            ends = [self._hooks.stopping.wait(), *([_left(request)] if progress is None else [])]
            return await _until(call(progress), *ends)

        headers = {"Hindbrain-Session": asker.session}
        answered = patient if op["name"] == WAITING else call
        if op["progress"] and "text/event-stream" in request.headers.get("accept", ""):
            return event_response(answer_stream(answered), headers=headers)
        return json_response(await answered(None), headers=headers)

    async def stop(self, request: Request) -> Response:
        self._hooks.stop()
        return json_response({"ok": True, "stopping": True, "pid": self._facts.pid, "instance": self._facts.instance})

    async def _answer(
        self, op: dict[str, Any], arguments: dict[str, Any], asker: Asker, progress: Progress | None
    ) -> dict[str, Any]:
        """One call, of the selected brain if there is one; the answer then says which."""
        answer = await self._runner.answer(op["name"], arguments, asker.caller, progress=progress)
        if asker.selected is None:
            return answer
        self._hooks.end_session(asker.session)
        return answer | asker.selected.echo()

    def _owner(self) -> dict[str, Any]:
        return {**asdict(self._facts), "mcp": self._mcp.state}

    def _offered(self, name: str) -> dict[str, Any]:
        op = self._by_name.get(name)
        if op is None or "http" in op["left_out"]:
            why = f": {op['left_out']['http']}" if op else ""
            raise UnknownOperation(f"HTTP has no operation {name[:80]!r}{why}", fix="GET /api/operations lists them all")
        return op

    async def _selected(self, request: Request) -> Selected | None:
        """The brain that ?brain= names, if it names one. Of another project it is a wide read, which can be switched off."""
        name = request.query_params.get("brain")
        if name is None:
            return None
        selected, asker = await self._registered(name), asker_of(request)
        if not self._served.settings.flag("all_brains"):
            hears = await anyio.to_thread.run_sync(lambda: self._served.hears(asker.caller()))
            if not hears(_of(selected)):
                raise SwitchedOff("reading another brain is switched off on this machine", fix="set all_brains in config.toml")
        return selected

    async def _registered(self, name: str) -> Selected:
        return await anyio.to_thread.run_sync(selected_in, self._served.home, name)

    def _counts(self, selected: Selected) -> tuple[int, int]:
        home = self._served.home
        brain = home.medulla() if selected.root is None else home.project(selected.root)
        return home.manifest_counts(brain) if brain is not None else (0, 0)


async def _until(call: Coroutine[Any, Any, dict[str, Any]], *ends: Coroutine[Any, Any, object]) -> dict[str, Any]:
    """The answer of a call, unless one of the ends comes first."""
    work, others = asyncio.ensure_future(call), [asyncio.ensure_future(end) for end in ends]
    try:
        await asyncio.wait({work, *others}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        return NotReady("the owner stops, or nobody waits any more", fix="wait again: the next call finds an owner").answer()
    finally:
        for task in (work, *others):
            task.cancel()


async def _left(request: Request) -> None:
    """Until the other side has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _of(selected: Selected) -> Event:
    """An event of a brain, to ask whether somebody may hear of it."""
    return Event(id=0, data={"brain": selected.name}, session=None)


def _limit(request: Request) -> dict[str, Any]:
    """How many letters are asked for; what is no number is for the operation to refuse."""
    asked = request.query_params.get("limit")
    return {} if asked is None else {"limit": _number(asked)}


def _number(text: str) -> int | str:
    """The number a text stands for, or the text itself."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HindbrainError)  # noqa: S101 - the table of handlers says so
    return refusal_response(error)


async def _bad_path(request: Request, error: Exception) -> Response:
    """A caller root that cannot be a path is a malformed request, not a path somebody may not see."""
    assert isinstance(error, PathRefused)  # noqa: S101
    return refusal_response(error, status=400)


async def _no_route(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        refused = MethodRefused(f"{request.method[:10]} is not offered here", fix="operations are POST, reads are GET")
        return json_response(refused.answer(), status=refused.http_status, headers=error.headers)
    return refusal_response(UnknownRoute("nothing is served at this address", fix="GET /api/openapi.json lists every address"))


async def _defect(request: Request, error: Exception) -> Response:
    return refusal_response(InternalError("the owner failed on this request", fix="see owner.log in the home"))
