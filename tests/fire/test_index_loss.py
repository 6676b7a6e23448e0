"""Derived files that are lost or harmed: the same answers once they are made again, and the truth about it until then."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fire_brain import DAMAGES, DERIVED, Caller, Planted, answers, copied, drop, every_token, plant
from tests.support.owner import Starter
from tests.support.world import World

LOST = {name: (name,) for name in DERIVED} | {"all": DERIVED}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    return plant(tmp_path_factory.mktemp("planted"))


@pytest.fixture
def copy(planted: Planted, tmp_path: Path) -> Iterator[World]:
    """The planted home, to be harmed by one test."""
    made = copied(planted, tmp_path)
    yield made
    made.close()


def caller(world: World, planted: Planted) -> Caller:
    return lambda operation, **arguments: world.at(planted.root).call(operation, **arguments)


def kinds(answer: dict[str, Any]) -> set[str]:
    return {gap["kind"] for gap in answer["honest_gaps"]}


def warned(call: Caller) -> set[str]:
    """What doctor's section on indexes names."""
    return {kind for section in call("doctor")["sections"] if section["section"] == "indexes" for kind in section["kinds"]}


def _order(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Only what came and in which order: by an owner's clock rows grow older from call to call."""
    return {way: [key for key, _ in rows] for way, rows in found.items()}


def made_again(call: Caller, planted: Planted) -> None:
    assert call("model.embed")["pending"] == 0
    assert call("ingest", path=planted.root)["ok"]


@pytest.mark.req("CONF-06")
@pytest.mark.parametrize("lost", LOST)
def test_conf_06_every_index_can_be_dropped_and_the_same_answers_come_back(copy: World, planted: Planted, lost: str) -> None:
    call = caller(copy, planted)
    before = answers(call)
    every_token(call, planted)
    copy.close()
    for name in LOST[lost]:
        drop(planted.file(copy, name))
    if "vectors.db" in LOST[lost]:
        assert call("model.status")["embedded"][0]["vectors"] == {}, "nothing was lost, so nothing is shown"
    if "graph.db" in LOST[lost]:
        assert answers(call) != before

    made_again(call, planted)

    assert answers(call) == before
    every_token(call, planted)
    assert warned(call) == set()


@pytest.mark.req("CONF-06", "RC-012")
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", DERIVED)
def test_conf_06_a_harmed_file_is_told_and_nothing_is_lost(copy: World, planted: Planted, name: str, damage: str) -> None:
    call = caller(copy, planted)
    before = answers(call)
    copy.close()
    DAMAGES[damage](planted.file(copy, name))

    seek = call("seek", query="worker retries queue")

    found = {row["node_id"] for row in seek["results"]}
    memory = {key for key, _ in before["seek"] if key.startswith(("light::", "evidence::"))}
    assert memory <= found, "memory is served, whatever became of an index"
    every_token(call, planted, code=name != "graph.db")
    if name == "graph.db":
        assert kinds(seek) & {"snapshot_corrupt_recovered", "code_unreachable"}
        told = call("activate", query="retry worker")["agent_runtime_contract"]
        assert told["trust_mode"] == "retrieval_needs_recovery"
        assert warned(call) == {"graph_stale"}
    assert call("record", text="kept during the fire", source="fire", dry_run=True)["ok"]
    fixed = call("doctor.fix", yes=True)
    assert fixed["ok"], fixed
    assert answers(call) == before
    every_token(call, planted)
    assert call("doctor", scan=True)["status"] == "ok"


@pytest.mark.parametrize("damage", DAMAGES)
def test_conf_06_a_write_that_meets_a_harmed_index_is_undone_and_told_and_the_next_one_passes(
    copy: World, planted: Planted, damage: str
) -> None:
    call = caller(copy, planted)
    every_token(call, planted)  # connections to the sound file are open
    DAMAGES[damage](planted.file(copy, "index.db"))

    first = call("record", text="the kettle whistled at noon", source="kitchen")

    if not first["ok"]:
        assert first["error"]["code"] == "store_unavailable"
        assert "index.db was damaged and has been made again" in first["error"]["message"]
        assert "kettle" not in str(call("memory.search", query="kettle whistled")["results"])
    assert call("record", text="the kettle whistled at noon", source="kitchen")["ok"]
    contents = [row["content"] for row in call("memory.search", query="kettle whistled")["results"]]
    assert contents.count("the kettle whistled at noon") == 1
    every_token(call, planted)
    assert call("ledger.verify")["intact"]


@pytest.mark.parametrize(("name", "damage"), [("index.db", "garbage"), ("vectors.db", "middle"), ("graph.db", "directory")])
def test_conf_06_an_owner_whose_file_is_harmed_goes_on_and_is_whole_again(
    copy: World, planted: Planted, starter: Starter, name: str, damage: str
) -> None:
    owner = starter(copy.home.path)

    def call(operation: str, **arguments: Any) -> dict[str, Any]:
        return owner.call(operation, root=planted.root, **arguments)

    before = _order(answers(call))
    DAMAGES[damage](planted.file(copy, name))

    during = call("seek", query="worker retries queue")

    assert {key for key in before["seek"] if key.startswith(("light::", "evidence::"))} <= {
        row["node_id"] for row in during["results"]
    }, during["honest_gaps"]
    every_token(call, planted, code=False)
    assert call("doctor.fix", yes=True)["ok"]
    assert _order(answers(call)) == before
    every_token(call, planted)


def test_conf_06_what_use_taught_is_put_aside_when_it_cannot_be_read(copy: World, planted: Planted) -> None:
    call = caller(copy, planted)
    before = answers(call)
    copy.close()
    learned = planted.file(copy, "learned.db")
    DAMAGES["garbage"](learned)

    after = answers(call)

    assert after == before
    assert [path.read_bytes()[:20] for path in learned.parent.glob("learned.db.corrupt.*")] == [b"this is no database "]
    assert warned(call) == {"learned_lost"}


def test_the_harm_itself_is_harm(copy: World, planted: Planted) -> None:
    """The control: the same harm to the truth is told as such, and no repair of ours touches it."""
    copy.close()
    DAMAGES["garbage"](planted.file(copy, "brain.db"))

    told = caller(copy, planted)("doctor")

    assert told["status"] == "blocked"
    assert {one["kind"] for one in told["warnings"]} >= {"brain_unreachable"}
    assert planted.file(copy, "brain.db").read_bytes().startswith(b"this is no database")
