"""The large home that the Hall is measured on: 50 brains, 100,000 memories, a graph of 10,000 nodes. Built once and kept."""

import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import graph
import memory
import store
from hindbrain.app import App
from hindbrain.domain.brain import fingerprint
from hindbrain.settings import Settings
from hindbrain.stores.home import Home

__all__ = ["BRAINS", "EDGES", "NODES", "LargeHome", "large_home"]

BRAINS = 50
LARGE = (40_000, 25_000)  # claims and evidence of the one that is searched
TOTAL = 100_000
NODES, EDGES = 10_000, 40_000
_SHAPE = "1"  # of what is built; another one is built anew


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeHome:
    """Where it lies, and its largest brain, which has the graph, too."""

    home: Home
    large: str  # the root of the largest brain

    @property
    def large_id(self) -> str:
        return fingerprint(self.large)


def large_home() -> LargeHome:
    """The home, built if it is not there whole: its place is the same each time, because brains belong to paths."""
    place = Path(os.path.realpath(tempfile.gettempdir()), f"hindbrain-bench-hall-{os.geteuid()}-{_SHAPE}")
    place.mkdir(mode=0o700, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.geteuid():
        raise SystemExit(f"{place} is somebody else's")
    made = LargeHome(home=Home(place / "home"), large=str(place / "repositories" / "brain-00"))
    whole = place / "whole"
    if not whole.exists():
        if made.home.path.exists():
            raise SystemExit(f"{place} was not built to its end; remove it and run this again")
        began = time.perf_counter()
        _build(made)
        whole.touch()
        took = time.perf_counter() - began
        print(f"  built in {took:.0f} s, {TOTAL / took:,.0f} memories a second, in {place}", file=sys.stderr)
    return made


def _build(made: LargeHome) -> None:
    rest = TOTAL - sum(LARGE)
    others = [rest // (BRAINS - 1) + (number < rest % (BRAINS - 1)) for number in range(BRAINS - 1)]
    app = App(made.home, Settings({}))
    for number, (claims, evidence) in enumerate([LARGE, *((count - count // 2, count // 2) for count in others)]):
        root = os.path.join(os.path.dirname(made.large), f"brain-{number:02}")
        os.makedirs(root)
        memory.learn(app, root, claims)
        _observe(app, root, evidence, with_graph=number == 0)
        print(f"\r  {number + 1} of {BRAINS} brains", end="", file=sys.stderr, flush=True)
    app.close()
    print(file=sys.stderr)


def _observe(app: App, root: str, evidence: int, *, with_graph: bool) -> None:
    """Evidence for a brain that has its claims, and a graph for one of them."""
    brain = app.house.brains.covering(root)
    assert brain is not None
    with app.house.brains.use(brain) as opened:
        store.keep(opened.store, evidence)
        if with_graph:
            assert opened.graph is not None
            rng = random.Random(NODES)
            nodes = graph.named(rng, NODES)
            opened.graph.merge("bench", nodes, graph.bound(rng, nodes, EDGES))
