"""One call in this process: the same house as the owner's, opened for one answer and closed again."""

import os
import secrets
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.domain.caller import UNKNOWN_AGENT, AgentId, Caller, Channel, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.surfaces.client import Who
from hindbrain.surfaces.manifest import Command

__all__ = ["run"]


def run(
    op: Command, arguments: dict[str, Any], *, home: str, who: Who, source: str, human: bool, hook: bool = False
) -> dict[str, Any]:
    """Answer one operation without an owner. `hook`: a host's hook tells what it saw."""
    place = Home(Path(home))
    caller = Caller(
        agent=AgentId(who.agent) if who.agent else UNKNOWN_AGENT,
        root=who.root,
        root_source=RootSource(source),
        session=SessionId(secrets.token_hex(8)),
        channel=Channel.HUMAN if human else Channel.RUNTIME if hook else Channel.AGENT,
        delegation=who.delegation,
        passphrase=who.passphrase,
    )
    app = App(place, Settings.read(place.config_file))
    try:
        if op["progress"] and os.isatty(2):
            from hindbrain.surfaces import progress

            with progress.bar(str(op["name"])) as advance:
                return app.call(str(op["name"]), arguments, caller=caller, progress=advance)
        return app.call(str(op["name"]), arguments, caller=caller)
    finally:
        app.close()
