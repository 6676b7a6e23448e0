"""How fast a graph answers: activate and impact through the house, from 1,000 to 1,000,000 edges of a power-law graph.

    .venv/bin/python benchmarks/graph.py                     # every size, prints a table
    .venv/bin/python benchmarks/graph.py --check             # and fails when a limit is broken
    .venv/bin/python benchmarks/graph.py --plot docs/graph-growth.svg

Medians over warm calls, in processor time and on the clock: on a busy machine the first is the one that repeats. The graph is
made, not read from files: nodes are named like code, a few are used by thousands, as in real projects.
Limits: 10 ms at 10,000 nodes, 40 ms at 1,000,000 edges.
"""

import argparse
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from _plot import line_chart
from hindbrain.app import App
from hindbrain.domain.caller import AgentId, Caller, RootSource, SessionId
from hindbrain.domain.graph import Edge, Node
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

SIZES = ((1_000, 5_000), (10_000, 50_000), (50_000, 250_000), (200_000, 1_000_000))
LIMITS_MS = {10_000: 10.0, 200_000: 40.0}  # nodes -> limit of both
WORDS = "retry lock cache index token parser worker queue schema deploy socket timeout branch commit merge hook agent ledger load"
MORE = "save open close read write build parse run start stop route session claim store brain event mark order price user team"
STEMS = f"{WORDS} {MORE}".split()
RELATIONS = (("calls", 0.4, 0.5), ("imports", 0.6, 0.6), ("references", 0.3, 0.4))
ROUNDS = 60


def named(rng: random.Random, count: int) -> list[Node]:
    """Files with their symbols: about eight of them each."""
    nodes: list[Node] = []
    while len(nodes) < count:
        path = f"src/{rng.choice(STEMS)}/{rng.choice(STEMS)}_{len(nodes)}.py"
        nodes.append(Node(id=f"file::{path}", label=path.rsplit("/", 1)[1], kind="file", path=path))
        for number in range(min(8, count - len(nodes))):
            label = f"{rng.choice(STEMS)}_{rng.choice(STEMS)}_{rng.choice(STEMS)}"
            nodes.append(
                Node(id=f"file::{path}::fn::{label}{number}", label=label, kind="function", path=path, line_start=number)
            )
    return nodes


def bound(rng: random.Random, nodes: list[Node], count: int) -> Iterator[Edge]:
    """Every symbol in its file; the rest between random nodes and targets that few are the target of many."""
    files = {node.path: node.id for node in nodes if node.kind == "file"}
    told: set[tuple[str, str, str]] = set()
    for node in nodes:
        if node.kind == "function":
            told.add((files[node.path], node.id, "contains"))
            yield Edge(source=files[node.path], target=node.id, relation="contains", weight=1.0)
    targets = (np.random.default_rng(7).pareto(1.2, count * 2) * len(nodes) * 0.002).astype(np.int64) % len(nodes)
    shuffled = rng.sample(range(len(nodes)), len(nodes))
    for target in targets.tolist():
        if len(told) >= count:
            return
        relation, weight, causal = RELATIONS[rng.randrange(3)]
        key = (nodes[rng.randrange(len(nodes))].id, nodes[shuffled[target]].id, relation)
        if key not in told:
            told.add(key)
            yield Edge(source=key[0], target=key[1], relation=relation, weight=weight, causal=causal)


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds of the processor and of the clock."""
    processor, clock = time.process_time(), time.perf_counter()
    call()
    return (time.process_time() - processor) * 1000, (time.perf_counter() - clock) * 1000


def memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6


def measured(nodes: int, edges: int) -> dict[str, float]:
    """One size, in a home of its own."""
    rng = random.Random(nodes)
    with tempfile.TemporaryDirectory() as place:
        root = os.path.realpath(os.path.join(place, "repo"))
        os.makedirs(root)
        app = App(Home(Path(place) / "home"), Settings({}))
        caller = Caller(agent=AgentId("bench:asker"), root=root, root_source=RootSource.CALL, session=SessionId("bench"))
        app.call("ingest", {"path": root, "project_root": root}, caller=caller)
        brain = app.house.brains.covering(root)
        assert brain is not None
        every = named(rng, nodes)
        with app.house.brains.use(brain) as opened:
            assert opened.graph is not None
            opened.graph.merge("bench", every, bound(rng, every, edges))
            counts = opened.graph.counts()
            disk = sum(path.stat().st_size for path in opened.directory.glob("graph.db*"))
        before = memory_mb()

        def ask(operation: str, **arguments: Any) -> dict[str, Any]:
            answer = app.call(operation, arguments, caller=caller)
            assert answer["ok"], answer
            return answer

        load = timed(lambda: ask("activate", query="retry lock", learn=False))
        questions = [" ".join(rng.sample(STEMS, rng.randint(1, 4))) for _ in range(ROUNDS)]
        places = [every[rng.randrange(len(every))].id for _ in range(ROUNDS)]
        for question in questions[:5]:
            ask("activate", query=question)
        woke = [timed(lambda q=question: ask("activate", query=q)) for question in questions]  # type: ignore[misc]
        quiet = [timed(lambda q=question: ask("activate", query=q, learn=False)) for question in questions]  # type: ignore[misc]
        moved = [timed(lambda n=one: ask("impact", node_id=n, direction="both")) for one in places]  # type: ignore[misc]
        used = memory_mb() - before
        app.close()

    def middle(times: list[tuple[float, float]], which: int) -> float:
        return statistics.median(time[which] for time in times)

    return {
        "size": nodes,
        "nodes": counts[0],
        "edges": counts[1],
        "load_s": load[1] / 1000,
        "activate_cpu": middle(woke, 0),
        "activate_wall": middle(woke, 1),
        "activate_p95_cpu": sorted(time[0] for time in woke)[int(ROUNDS * 0.95)],
        "still_cpu": middle(quiet, 0),
        "impact_cpu": middle(moved, 0),
        "impact_wall": middle(moved, 1),
        "impact_p95_cpu": sorted(time[0] for time in moved)[int(ROUNDS * 0.95)],
        "memory_mb": used,
        "memory_per_edge": used * 1e6 / max(counts[1], 1),
        "disk_per_edge": disk / max(counts[1], 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when a limit is broken")
    parser.add_argument("--plot", type=Path, help="write the growth curve there")
    parser.add_argument("--largest", type=int, default=SIZES[-1][0], help="leave out graphs with more nodes")
    options = parser.parse_args()
    rows = []
    heads = f"{'nodes':>8} {'edges':>9}  {'activate ms':>20}  {'no learning':>11}  {'impact ms':>20}  {'load s':>6}  {'MB':>5}"
    print(f"{heads}  {'B/edge':>6}  {'disk B/edge':>11}")
    print(f"{'':>8} {'':>9}  {'cpu (p95)  clock':>20}  {'cpu':>11}  {'cpu (p95)  clock':>20}")
    for nodes, edges in SIZES:
        if nodes > options.largest:
            continue
        row = measured(nodes, edges)
        rows.append(row)
        woke = f"{row['activate_cpu']:.1f} ({row['activate_p95_cpu']:.1f})  {row['activate_wall']:.1f}"
        moved = f"{row['impact_cpu']:.1f} ({row['impact_p95_cpu']:.1f})  {row['impact_wall']:.1f}"
        times = f"{woke:>20}  {row['still_cpu']:>11.1f}  {moved:>20}  {row['load_s']:>6.1f}"
        sizes = f"{row['memory_mb']:>5.0f}  {row['memory_per_edge']:>6.0f}  {row['disk_per_edge']:>11.0f}"
        print(f"{row['nodes']:>8.0f} {row['edges']:>9.0f}  {times}  {sizes}", flush=True)
    if options.plot is not None:
        line_chart(
            options.plot,
            "activate and impact over a growing graph",
            {
                "activate": [(row["edges"], row["activate_cpu"]) for row in rows],
                "activate, not learning": [(row["edges"], row["still_cpu"]) for row in rows],
                "impact": [(row["edges"], row["impact_cpu"]) for row in rows],
            },
            x_title="edges",
            y_title="milliseconds of processor, median",
            log_x=True,
            log_y=True,
            limits={"limit at 10,000 nodes: 10 ms": 10.0, "limit at 1,000,000 edges: 40 ms": 40.0},
        )
    broken = [
        f"{name} {row[name]:.1f} ms at {row['nodes']:.0f} nodes"
        for row in rows
        for name in ("activate_cpu", "impact_cpu")
        if row[name] > LIMITS_MS.get(int(row["size"]), float("inf"))
    ]
    for line in broken:
        print(f"over the limit: {line}", file=sys.stderr)
    return 1 if broken and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
