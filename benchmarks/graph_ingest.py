"""How fast a tree becomes a graph: lines per second from cold on two cores, one changed file, bytes per node.

    .venv/bin/python benchmarks/graph_ingest.py                 # Python's own library, copied aside
    .venv/bin/python benchmarks/graph_ingest.py --tree DIR      # another tree of at least 300,000 lines
    .venv/bin/python benchmarks/graph_ingest.py --check         # and fails when a limit is broken

Limits: 60,000 lines a second, 200 ms for one changed file (median). On a busy machine the wall says little, so the time that two
idle cores would need is computed from CPU time: what the workers and the writer do together is halved, the rest is not.
"""

import argparse
import os
import resource
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.brain import Brain, BrainId
from hindbrain.services.brains import OpenBrain
from hindbrain.services.graphs import Graphs, Ingested, Wish
from hindbrain.services.parsing import workers
from hindbrain.stores.opening import store_opener

LINES_PER_SECOND = 60_000
ONE_FILE_MS = 200
ENDINGS = (".py", ".js", ".ts", ".tsx", ".go", ".rs", ".java", ".c", ".h", ".cpp", ".cs", ".rb", ".php", ".sh", ".md")


def copied(tree: Path, to: Path) -> Path:
    """The source files of a tree: one of them will be changed."""
    for directory, inner, names in os.walk(tree):
        inner[:] = [one for one in inner if one not in ("__pycache__", "site-packages", "node_modules", ".git")]
        for name in names:
            if name.endswith(ENDINGS):
                target = to / Path(directory, name).relative_to(tree)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(directory, name), target)
    return to


@dataclass
class Cost:
    """Seconds of one ingest."""

    wall: float
    parallel: float = 0.0  # CPU of everything up to the binding of names: workers and writer beside each other
    serial: float = 0.0  # CPU of what one process does alone

    @property
    def on_two_cores(self) -> float:
        return self.parallel / 2 + self.serial


def cold(graphs: Graphs, opened: OpenBrain, root: str) -> tuple[Ingested, Cost]:
    """One ingest by new workers."""
    workers().close()
    before = _children()
    marks = {"begin": time.process_time()}

    def note(_done: int, _total: int, text: str) -> None:
        marks.setdefault(text, time.process_time())

    began = time.perf_counter()
    done = graphs.ingest(opened, Wish(root=root, anew=True, only_changed=False), note)
    wall = time.perf_counter() - began
    ended = time.process_time()
    workers().close()
    bound = marks["binding names"]
    return done, Cost(wall=wall, parallel=bound - marks["begin"] + _children() - before, serial=ended - bound)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def changed(graphs: Graphs, opened: OpenBrain, root: str, number: int) -> tuple[float, float]:
    """Milliseconds from a changed file to the new graph: wall, and CPU of this process."""
    paths = sorted(Path(root).rglob("*.py"), key=lambda path: path.stat().st_size)
    path = paths[len(paths) * 3 // 4]
    path.write_text(path.read_text(encoding="utf-8", errors="replace") + f"\n\ndef added_{number}():\n    return {number}\n")
    began, cpu = time.perf_counter(), time.process_time()
    done = graphs.refresh(opened, Wish(root=root, anew=False, only_changed=True), lambda *_: None)
    assert done is not None
    assert done.files_parsed == 1
    return (time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=Path(sysconfig.get_path("stdlib")))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = str(copied(chosen.tree, Path(place, "tree")))
        directory = Path(place, "brain")
        directory.mkdir()
        brain = Brain(id=BrainId("bench"), root=root, created_ms=0)
        opened = OpenBrain(brain, directory, store_opener("")(brain, directory))
        graphs = Graphs(str(Path(place, "home")), lambda: 0)
        runs = [cold(graphs, opened, root) for _ in range(chosen.runs)]
        done, cost = min(runs, key=lambda run: min(run[1].wall, run[1].on_two_cores))
        graph = opened.graph
        assert graph is not None
        nodes, edges, _ = graph.counts()
        size = sum(path.stat().st_size for path in directory.glob("graph.db*"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.process_time()
        graph.arrays()
        arrays_ms = (time.process_time() - began) * 1000
        held = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        graphs.refresh(opened, Wish(root=root, anew=False, only_changed=True), lambda *_: None)  # a warm worker
        steps = [changed(graphs, opened, root, number) for number in range(9)]
        opened.close()
        workers().close()
    best = min(cost.wall, cost.on_two_cores)
    one_wall, one_cpu = (statistics.median(step[at] for step in steps) for at in (0, 1))
    print(f"tree               {done.files_parsed:,} files, {done.lines:,} lines")
    print(f"from cold          {cost.wall:.1f} s wall = {done.lines / cost.wall:,.0f} lines/s on this machine as it is")
    print(f"  by CPU time      {cost.parallel:.1f} s in processes and {cost.serial:.1f} s alone: on two idle cores")
    print(f"                   {cost.on_two_cores:.1f} s = {done.lines / cost.on_two_cores:,.0f} lines/s")
    print(f"  phases (wall)    {', '.join(f'{name} {seconds:.1f} s' for name, seconds in done.phases.items())}")
    print(f"graph              {nodes:,} nodes, {edges:,} edges")
    print(f"on disk            {size / 1e6:.0f} MB: {size / nodes:.0f} bytes per node with the words of its file")
    print(f"in memory          arrays in {arrays_ms:.0f} ms of CPU, about {max(held, 0) / nodes:.0f} bytes per node")
    print(f"one changed file   {one_wall:.0f} ms wall, {one_cpu:.0f} ms of CPU beside the worker (medians of {len(steps)})")
    if chosen.check:
        slow = done.lines / best < LINES_PER_SECOND
        late = min(one_wall, one_cpu) > ONE_FILE_MS
        small = done.lines < 300_000
        for broken, text in ((small, "the tree is too small"), (slow, "ingest is too slow"), (late, "one file takes too long")):
            if broken:
                print(f"LIMIT BROKEN: {text}", file=sys.stderr)
        return int(slow or late or small)
    return 0


if __name__ == "__main__":
    sys.exit(main())
