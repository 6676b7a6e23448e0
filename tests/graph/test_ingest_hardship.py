"""Ingest when things go wrong: a parser that hangs, a killed process, two at once, a full disk."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hindbrain.domain.errors import Busy, StoreUnavailable
from hindbrain.services import parsing
from hindbrain.services.graphs import Wish
from hindbrain.services.parsing import Wanted, Workers
from hindbrain.stores.graph import LocalGraph
from tests.graph.files import parsed
from tests.graph.test_ingest import files, graph, ingest, write
from tests.support.world import World

INGEST = """
import sys
from pathlib import Path
from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, RootSource, SessionId
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

home, root = sys.argv[1:3]
app = App(Home(Path(home)), Settings({}))
caller = Caller(agent=AgentId("codex:other"), root=root, root_source=RootSource.CALL, session=SessionId("other"))
print("ready", flush=True)
sys.stdin.readline()
answer = app.call("ingest", {"path": root}, caller=caller)
print("done" if answer["ok"] else answer["error"]["code"], flush=True)
app.close()
"""


def other_process(world: World, root: str) -> "subprocess.Popen[str]":
    """A process that waits for a line, then ingests."""
    process = subprocess.Popen(
        [sys.executable, "-c", INGEST, str(world.home.path), root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    return process


def say(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def ended(process: "subprocess.Popen[str]") -> str:
    said, _ = process.communicate(timeout=120)
    return said.strip()


def gone(pid: int) -> bool:
    """Whether a process is no more, or waits for its parent only."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_gr_014_a_file_that_hangs_its_parser_is_skipped_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time limit of next to nothing makes any file one that hangs."""
    paths = [tmp_path / f"m{number}.py" for number in range(3)]
    for path in paths:
        path.write_text("def f(): ...\n" * 20_000)
    hands = Workers()
    monkeypatch.setattr(parsing, "FILE_SECONDS", 0.001)

    answers = list(hands.parse([Wanted(path.name, str(path), 1) for path in paths], until=time.monotonic() + 60))
    hands.close()

    assert sorted(answer.path for answer in answers) == ["m0.py", "m1.py", "m2.py"]
    assert all("longer than" in answer.reason for answer in answers)


@pytest.mark.parametrize("files", [60, 600])
def test_gr_014_a_worker_that_is_killed_costs_one_file(tmp_path: Path, files: int) -> None:
    """With many files it has answers left when it dies, and is given more while they are read."""
    wanted = []
    for number in range(files):
        path = tmp_path / f"m{number:03}.py"
        path.write_text(f"def f{number}(): ...\n")
        wanted.append(Wanted(path.name, str(path), 20))
    hands = Workers()
    answers = hands.parse(wanted, until=time.monotonic() + 60)
    first = next(answers)
    (child,) = children()
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)

    rest = list(answers)
    hands.close()

    assert first.packed is not None
    assert sorted(answer.path for answer in [first, *rest]) == [one.path for one in wanted]
    assert sum(answer.packed is None for answer in rest) <= 1


def children() -> list[int]:
    """Workers that this process started and that are at work."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    found = []
    for pid in map(int, listed):
        with contextlib.suppress(FileNotFoundError):
            if b"parse_worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return [pid for pid in found if pid not in _earlier]


_earlier: set[int] = set()


@pytest.fixture(autouse=True)
def _workers_of_other_tests() -> None:
    _earlier.clear()
    _earlier.update(children())


def test_gr_136_a_process_killed_in_the_middle_leaves_the_old_graph_whole(world: World) -> None:
    x = world.brain("x", **{f"m{number}_py": f"def f{number}(): ...\n" for number in range(40)})
    before = (graph(world, x).counts(), list(graph(world, x).arrays().ids))
    write(x, **{f"n{number}_py": f"def g{number}(): ...\n" for number in range(400)})
    process = other_process(world, x)
    say(process)
    deadline = time.monotonic() + 60
    workers_of = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not workers_of.read_text().strip() and time.monotonic() < deadline:
        os.sched_yield()
    started = [int(pid) for pid in workers_of.read_text().split()]

    process.kill()
    process.communicate()

    found = graph(world, x)
    assert (found.counts(), list(found.arrays().ids)) == before or len(found.files()) == 441
    while not all(gone(pid) for pid in started) and time.monotonic() < deadline:
        os.sched_yield()
    assert all(gone(pid) for pid in started), "a worker outlived its owner"
    assert ingest(world, x)["files_parsed"] == 441


def test_gr_038_two_processes_ingest_one_after_the_other(world: World) -> None:
    x = world.brain("x", **{f"m{number}_py": f"def f{number}(): ...\n" for number in range(30)})
    before = graph(world, x).counts()[2]
    one, other = other_process(world, x), other_process(world, x)

    say(one)
    say(other)

    assert {ended(one), ended(other)} <= {"done", "busy"}
    assert files(world, x) == {"package.json", *(f"m{number}.py" for number in range(30))}
    assert graph(world, x).counts()[2] > before


def test_gr_038_who_cannot_wait_is_told_busy(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    x = world.brain("x")
    monkeypatch.setattr("hindbrain.services.graphs.INGEST_WAIT_SECONDS", 0.05)
    brain = world.home.project(x)
    assert brain is not None
    holder = LocalGraph(graph(world, x).path.parent)

    with world.app.house.brains.use(brain) as opened, holder.turn(1.0) as mine:
        assert mine
        with pytest.raises(Busy):
            world.app.house.graphs.ingest(opened, Wish(root=x, anew=True, only_changed=False), lambda *_: None)
    holder.close()


def test_gr_136_a_full_disk_keeps_the_old_graph_and_says_so(tmp_path: Path) -> None:
    """SQLite may not grow the file by another page: what a full disk says."""
    store = LocalGraph(tmp_path)
    store.put([parsed("a.py", defines=["f"])])
    before = (store.counts(), list(store.arrays().ids))
    connection, _ = store._idle[-1]
    connection.pragma("max_page_count", connection.pragma("page_count"))

    with pytest.raises(StoreUnavailable, match="space"):
        store.put([parsed(f"m{number}.py", defines=[f"g{n}" for n in range(50)]) for number in range(200)])

    connection.pragma("max_page_count", 1 << 30)
    assert (store.counts(), list(store.arrays().ids)) == before
    store.put([parsed("b.py")])
    assert set(store.files()) == {"a.py", "b.py"}
    store.close()
