"""Fire around the code graph: a kill and a full disk in the middle of an ingest, and files that changed behind its back."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fire.test_evidence_fire import child
from tests.support.fire_brain import Caller, Planted, answers, copied, drop, every_token, plant
from tests.support.world import World


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """Not shared: these tests change the checkout too."""
    return plant(tmp_path)


@pytest.fixture
def copy(planted: Planted, tmp_path: Path) -> Iterator[World]:
    (tmp_path / "copy").mkdir()
    made = copied(planted, tmp_path / "copy")
    yield made
    made.close()


def caller(world: World, planted: Planted) -> Caller:
    return lambda operation, **arguments: world.at(planted.root).call(operation, **arguments)


def grow(root: str, count: int) -> None:
    """So many more files of some size."""
    for number in range(count):
        body = "\n\n".join(f"def grown_{number}_{one}(value):\n    return value + {one}" for one in range(60))
        Path(root, f"grown{number}.py").write_text(body + "\n")


def order(call: Caller, query: str) -> list[str]:
    """What is activated, in its order; the values grow a little with every question that is asked."""
    return [row["node_id"] for row in call("activate", query=query)["activated"]]


def indexes(call: Caller) -> list[str]:
    return [kind for one in call("doctor")["sections"] if one["section"] == "indexes" for kind in one["kinds"]]


@pytest.mark.req("GR-136")
def test_gr_136_a_kill_in_the_middle_of_an_ingest_leaves_the_old_graph_and_a_second_run_completes(
    copy: World, planted: Planted
) -> None:
    call = caller(copy, planted)
    before = answers(call)
    grow(planted.root, 150)
    copy.close()

    code, told = child(copy, planted.root, ("ingest", {"path": planted.root}), kill=50)

    assert (code, told) == (-signal.SIGKILL, [])
    assert answers(call) == before
    every_token(call, planted)
    done = call("ingest", path=planted.root)
    assert done["ok"]
    assert done["ingest"]["files_parsed"] > 150
    assert call("search", query="grown_149_59")["results"]
    assert call("doctor", scan=True)["status"] == "ok"


@pytest.mark.req("GR-136")
def test_gr_136_a_full_disk_in_the_middle_of_an_ingest_is_told_and_a_second_run_completes(copy: World, planted: Planted) -> None:
    call = caller(copy, planted)
    before = answers(call)
    grow(planted.root, 150)
    copy.close()
    asking = ("seek", {"query": "worker retries queue"})

    code, (full, found) = child(copy, planted.root, ("ingest", {"path": planted.root}), asking, room=400_000)

    assert code == 0
    assert full["error"]["code"] == "store_unavailable"
    assert full["error"]["fix"]
    assert [row["node_id"] for row in found["results"]] == [key for key, _ in before["seek"]]
    assert answers(call) == before
    every_token(call, planted)
    assert call("ingest", path=planted.root)["ok"]
    assert call("search", query="grown_149_59")["results"]
    assert call("ledger.verify")["intact"]


@pytest.mark.parametrize("change", ["edited", "removed"])
def test_files_that_changed_since_the_ingest_are_told_and_taken_in(copy: World, planted: Planted, change: str) -> None:
    call = caller(copy, planted)
    assert indexes(call) == [], "the control: nothing changed yet"
    path = Path(planted.root, "src", "part0.py")
    if change == "edited":
        path.write_text("def put_in_its_place():\n    return 1\n")
    else:
        path.unlink()

    told = call("doctor")

    assert indexes(call) == ["graph_stale"]
    assert "src/part0.py" in json.dumps([one["text"] for one in told["warnings"]])
    fixed: dict[str, Any] = call("doctor.fix", yes=True)
    assert [(one["kind"], one["done"]) for one in fixed["repairs"]] == [("graph", True)]
    assert indexes(call) == []
    assert bool(call("activate", query="put_in_its_place")["activated"]) == (change == "edited")


def test_a_lost_graph_is_made_again_from_all_its_roots(copy: World, planted: Planted) -> None:
    call = caller(copy, planted)
    beside = copy.place / "beside"
    beside.mkdir()
    (beside / "other.py").write_text("def from_beside():\n    return 2\n")
    copy.register_place()
    assert call("ingest", path=str(beside), mode="merge")["ok"]
    before = answers(call), order(call, "from_beside")
    copy.close()
    drop(planted.file(copy, "graph.db"))

    assert call("doctor.fix", yes=True)["ok"]

    assert (answers(call), order(call, "from_beside")) == before
