"""An agent in a process of its own that closes a mission when it is told to, and dies on the way if it is to.

usage: python -m tests.support.closing_worker HOME ROOT AGENT MISSION (lives | in_transaction | after_commit)
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.services.missions.log import MissionLog, Turn
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

_STEPS: dict[str, tuple[type, str]] = {"in_transaction": (Turn, "keep"), "after_commit": (MissionLog, "_settled")}


def _die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(home: str, root: str, agent: str, mission: str, ends: str) -> int:
    caller = local_caller(root=root, agent=agent, channel=Channel.AGENT, environ={})
    session = embedded(Home(Path(home)), Settings({}), caller)
    assert session.call("mission.status", mission_id=mission)["ok"]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    if ends in _STEPS:
        setattr(*_STEPS[ends], _die)
    answer = session.call("mission.close", mission_id=mission, force=True, reason="enough was seen")
    sys.stdout.write(json.dumps({"ok": answer["ok"], "code": answer.get("error", {}).get("code")}) + "\n")
    session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
