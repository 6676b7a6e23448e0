"""Embedded MCP: the server in the host's own child process, for homes where no owner may run. Slower, the same answers."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import anyio

from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.surfaces.mcp import serve_stdio

__all__ = ["serve"]


def serve(home: str, hello: Mapping[str, object]) -> int:
    """Serve one host on stdin and stdout until it closes its side."""
    from hindbrain.app import App

    place = Home(Path(home))
    app = App(place, Settings.read(place.config_file))
    app.house.guard.serving = True
    try:
        anyio.run(partial(serve_stdio, app, hello))
    finally:
        app.close()
    return 0
