"""A writer that dies: runs one call in its own process and ends it, without any clean-up, at a chosen rename of a file.

    python -m tests.support.dying HOME ROOT SUFFIX OPERATION ARGUMENTS [CHANNEL]

The process ends with status 86 the first time a file whose name ends with SUFFIX is about to be renamed into place.
DYING_STORE_URL names the database of the home, if it has one.
"""

import json
import os
import sys
from pathlib import Path

from hindbrain.app import App, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from tests.support.world import START_MS

DIED = 86


def main() -> None:
    home, root, suffix, operation, arguments, *channel = sys.argv[1:]
    rename = os.replace

    def dying(source: str, target: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        where = "" if dst_dir_fd is None else os.readlink(f"/proc/self/fd/{dst_dir_fd}")
        if os.path.join(where, target).endswith(suffix):
            os._exit(DIED)
        rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    os.replace = dying  # type: ignore[assignment]  # a power cut at this very call
    app = App(Home(Path(home)), Settings({"store_url": os.environ.get("DYING_STORE_URL", "")}), clock=lambda: START_MS)
    caller = local_caller(root=root, agent="codex:maker", channel=Channel(*(channel or ["agent"])))
    app.call(operation, json.loads(arguments), caller=caller)


if __name__ == "__main__":
    main()
