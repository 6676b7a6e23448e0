"""The gym in tests: sessions on homes of their own, and many small tests of a copy in one process."""

import json
import subprocess
import sys
from pathlib import Path

from hindbrain.app import EmbeddedSession, embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.lanes import Lanes
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

__all__ = ["HUNTS", "lanes", "opened", "outcomes"]

HUNTS = ("clix", "pooled", "tabular")

# Each test file has a process of its own, forked from one that has not imported the library yet.
_DRIVER = """
import json, os, sys
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(sys.argv[1], "src"), sys.argv[1]]
found = {}
for name in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        sys.stderr = open(os.devnull, "w")
        names = {}
        exec(compile(open(name).read(), name, "exec"), names)
        try:
            for test in [value for key, value in names.items() if key.startswith("test_")]:
                test()
        except Exception:
            os._exit(1)
        os._exit(0)
    found[os.path.basename(name)] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(found))
"""


def opened(home: Path, root: Path, agent: str) -> EmbeddedSession:
    """A session as the composition root gives it to a lane."""
    return embedded(Home(home), Settings({}), local_caller(root=str(root), agent=agent, channel=Channel.AGENT, environ={}))


def lanes() -> Lanes:
    return Lanes(fixtures=Fixtures(), opener=opened)


def outcomes(copy: Path, tests: dict[str, str], place: Path) -> dict[str, int]:
    """Exit codes of small test files, each run by itself on a copy."""
    place.mkdir()
    for name, text in tests.items():
        (place / name).write_text(text, encoding="utf-8")
    words = [sys.executable, "-B", "-c", _DRIVER, str(copy), *(str(place / name) for name in tests)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    found: dict[str, int] = json.loads(done.stdout)
    return found
