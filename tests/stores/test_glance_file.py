"""A glance at the file of a brain whose owner was killed: it reads the log and leaves everything as it is."""

import os
import shutil
from pathlib import Path

import pytest

from hindbrain.stores.glance_file import graph_counts
from tests.support.world import World


@pytest.mark.parametrize("log", ["left by a kill", "none"])
def test_a_glance_reads_the_graph_with_and_without_a_log(world: World, tmp_path: Path, log: str) -> None:
    """The last reader of a checked file ended in a disk error where a log was left: it tried to tidy up."""
    x = world.brain("x", src__a_py="def run(): ...\n")
    world.at(x).call("ingest", path=x)
    counted = world.at(x).call("health")
    (graph,) = world.home.brains_dir.glob("*/graph.db")
    if log == "none":
        world.close()
    place = tmp_path / "killed"
    place.mkdir()
    for file in graph.parent.glob("graph.db*"):
        shutil.copy(file, place / file.name)
    before = sorted(os.listdir(place))
    assert ("graph.db-wal" in before) == (log != "none")

    assert graph_counts(place / "graph.db") == (counted["node_count"], counted["edge_count"])

    assert sorted(os.listdir(place)) == before
