"""An agent in a process of its own: begins a mission, reads some files, says which mission it is, and waits to be killed.

usage: python -m tests.support.mission_worker HOME ROOT AGENT FILE…
"""

import sys
from pathlib import Path

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home


def main(home: str, root: str, agent: str, *files: str) -> int:
    caller = local_caller(root=root, agent=agent, channel=Channel.AGENT, environ={})
    session = embedded(Home(Path(home)), Settings({}), caller)
    answer = session.call("mission.start", task="find the leak", mode="review")
    assert answer["ok"], answer
    for name in files:
        told = session.call("mission.event", event_type="file_read", target=name)
        assert told["ok"], told
    sys.stdout.write(answer["mission_id"] + "\n")
    sys.stdout.flush()
    sys.stdin.read()  # until the end comes from outside
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
