"""One writer among many: a process of its own that memorizes a label once it is told to begin.

    python -m tests.support.writer HOME ROOT LABEL TEXT

It says `ready` when everything is imported and open, waits for a line on its input, writes, and prints the answer as JSON.
"""

import json
import sys
from pathlib import Path

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home


def main() -> None:
    home, root, label, text = sys.argv[1:]
    caller = local_caller(root=root, agent="codex:maker", channel=Channel.AGENT)
    with embedded(Home(Path(home)), Settings({}), caller) as session:
        session.call("health")
        print("ready", flush=True)
        sys.stdin.readline()
        print(json.dumps(session.call("memorize", node_label=label, text=text)), flush=True)


if __name__ == "__main__":
    main()
