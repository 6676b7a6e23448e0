"""MCP inside the owner: loaded late, served over HTTP and to bridges, and written down for bridges that come too early."""

import asyncio
import contextlib
import importlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection
from types import ModuleType
from typing import Any

import anyio.to_thread

from hindbrain.stores.atomic import write_text
from hindbrain.surfaces.http import LateMount
from hindbrain.surfaces.runner import Activity, Served, defect_lines

__all__ = ["HELLO_LIMIT", "McpPart"]

LOG = logging.getLogger("hindbrain.owner")

# Bytes that a connection may hold before its hello, and its longest hello: a path, a few names, a token.
HELLO_LIMIT = 16 * 1024
# Connections without a hello. One more ends the oldest: a bridge says hello at once and is never the oldest for long.
MOST_SILENT = 256


class McpPart:
    """The MCP library, once it is there; until then HTTP is told to come back and bridges wait."""

    def __init__(self, served: Served, activity: Activity, hosts: Callable[[], Collection[str]], token: str) -> None:
        self.mount = LateMount()
        self._hosts = hosts
        self._served = served
        self._activity = activity
        self._settled = asyncio.Event()
        self._token = token
        self._mcp: ModuleType | None = None
        self._bridges: set[asyncio.Task[Any]] = set()
        self._silent: dict[asyncio.Task[Any], None] = {}  # in the order in which they came

    async def run(self, stopping: asyncio.Event, drain: Callable[[], Awaitable[None]]) -> None:
        """Load the library, which takes most of a second while the API answers already; serve until the owner stops."""
        try:
            self._write_manifest({})
            module = await anyio.to_thread.run_sync(importlib.import_module, "hindbrain.surfaces.mcp")
            if stopping.is_set():
                return
            asgi, lifespan = module.mount(self._served, on_call=self._activity.touch, hosts=self._hosts())
            self._write_manifest(await anyio.to_thread.run_sync(module.mcp_manifest, self._served))
            async with lifespan():
                self._mcp = module
                self.mount.mount(asgi)
                self._settled.set()
                await stopping.wait()
                await drain()
                await self._end_bridges()
        except Exception as defect:  # noqa: BLE001 - without MCP the owner still serves REST and the CLI, and says so
            LOG.error("MCP could not be served: %s", "; ".join(defect_lines(defect)))
            self.mount.failed()
        finally:
            self._settled.set()

    def _write_manifest(self, mcp: dict[str, Any]) -> None:
        """Keep what bridges and thin clients need on disk. A complete manifest of this version is never shortened."""
        path = self._served.home.manifest_file
        known: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(path.read_text(encoding="utf-8"))
        fresh = self._served.manifest()
        if mcp:
            fresh["mcp"] = mcp
        elif known.get("version") == fresh["version"] and known.get("operations") == fresh["operations"]:
            return
        if known != fresh:
            write_text(path, json.dumps(fresh, ensure_ascii=False, separators=(",", ":")))

    async def on_bridge(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a bridge, from its first byte to its last."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - the server runs this as a task
        self._bridges.add(task)
        task.add_done_callback(self._bridges.discard)
        try:
            peer = await self._greet(task, reader, writer)
            if peer is not None and self._mcp is not None:
                with self._activity.connection():
                    await self._mcp.serve_bridge(self._served, peer, reader, writer)
        except ConnectionError:
            LOG.info("a bridge broke off")
        except Exception as defect:  # noqa: BLE001 - one broken bridge must not take the others with it
            LOG.error("a bridge failed: %s", "; ".join(defect_lines(defect)))
        finally:
            writer.close()

    async def _greet(self, task: "asyncio.Task[Any]", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        """Who the bridge is, or None. Until it has shown the token it holds little memory, and one of few places."""
        self._silent[task] = None
        if len(self._silent) > MOST_SILENT:
            next(iter(self._silent)).cancel()
        try:
            await self._settled.wait()
            return await self._mcp.greet(self._token, reader, writer) if self._mcp is not None else None
        finally:
            del self._silent[task]

    async def _end_bridges(self) -> None:
        for task in list(self._bridges):
            task.cancel()
        await asyncio.gather(*self._bridges, return_exceptions=True)
