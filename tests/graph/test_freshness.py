"""What claims cite: bound to code, tried again, followed when lines move, and named when it changed."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.graph.test_ingest import graph, ingest, write
from tests.support.world import World, block, git

CODE = "import os\n\n\ndef run():\n    return 1\n\n\ndef stop():\n    return 2\n"
HOUR = 3_600_000


def memorize(world: World, root: str, *evidence: str, label: str = "Lesson") -> dict[str, Any]:
    answer = world.at(root).call("memorize", node_label=label, claims=[block(label, evidence=list(evidence))])
    assert answer["ok"], answer
    return answer


def grounded(world: World, root: str) -> list[str]:
    brain = world.home.project(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        nodes, edges = opened.store.whole_graph()
        assert nodes
        return sorted(edge.target for edge in edges if edge.relation == "grounded_in")


def stale(world: World, root: str) -> list[dict[str, Any]]:
    return list(world.at(root).call("cross_verify", check=["evidence_freshness"])["stale_evidence"])


@pytest.mark.req("GR-050", "GR-053")
@pytest.mark.parametrize(
    ("evidence", "target"),
    [
        ("./src/a.py:4", "file::src/a.py"),
        ("src\\a.py", "file::src/a.py"),
        ("src/a.py::run", "file::src/a.py::fn::run"),
        ("src/a.py::nothing", "file::src/a.py"),
    ],
)
def test_gr_053_evidence_leads_to_the_symbol_it_names_or_to_the_file(world: World, evidence: str, target: str) -> None:
    x = world.brain("x", src__a_py=CODE)

    answer = memorize(world, x, evidence)

    assert grounded(world, x) == [target]
    assert (answer["light_evidence_resolved"], answer["light_evidence_unresolved"]) == (1, 0)


def test_gr_052_writing_it_again_adds_no_second_edge(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)

    for _ in range(3):
        memorize(world, x, "src/a.py")

    assert grounded(world, x) == ["file::src/a.py"]


def test_gr_054_evidence_that_led_nowhere_is_tried_again_after_an_ingest(world: World) -> None:
    x = world.brain("x")
    memorize(world, x, "src/late.py::run")
    assert grounded(world, x) == []
    write(x, src__late_py=CODE)

    answer = ingest(world, x, incremental=True)

    assert grounded(world, x) == ["file::src/late.py::fn::run"]
    assert (answer["light_evidence_resolved"], answer["light_evidence_unresolved"]) == (1, 0)
    assert ingest(world, x, incremental=True)["light_evidence_resolved"] == 0


def test_gr_056_files_that_only_one_side_has_are_named(world: World) -> None:
    x = world.brain("x", a_py=CODE, b_py=CODE, c_py=CODE)
    os.unlink(Path(x, "a.py"))
    write(x, new_py="x = 1\n", b_py=CODE + "\nmore = 1\n")

    answer = world.at(x).call("cross_verify", check=["existence", "loc", "hash"])

    found = answer["graph_vs_disk"]
    assert (found["missing_from_graph"], found["missing_from_disk"]) == (["new.py"], ["a.py"])
    assert found["hash_mismatches"] == ["b.py"]
    assert [(one["path"], one["disk"] - one["graph"]) for one in found["loc_drift"]] == [("b.py", 2)]
    assert 0 < answer["stale_confidence"] < 1
    assert answer["checks_run"] == ["existence", "loc", "hash"]
    assert world.at(x).call("cross_verify", scope="c")["graph_vs_disk"]["missing_from_disk"] == []


@pytest.mark.req("GR-057", "GR-058", "GR-059")
def test_gr_058_a_changed_file_is_stale_evidence_and_a_new_time_is_not(world: World) -> None:
    x = world.brain("x", src__a_py=CODE, src__b_py=CODE, src__c_py=CODE)
    memorize(world, x, "src/a.py", label="A")
    memorize(world, x, "src/b.py", label="B")
    memorize(world, x, "src/c.py", label="C")
    write(x, src__a_py="changed = 1\n")
    os.utime(Path(x, "src/b.py"), (1, 1))
    os.unlink(Path(x, "src/c.py"))

    found = stale(world, x)

    assert [(one["slug"], one["evidence_path"], one["reason"]) for one in found] == [
        ("a", "src/a.py", "evidence_changed"),
        ("c", "src/c.py", "evidence_missing"),
    ]


def test_gr_059_without_an_earlier_digest_it_possibly_changed(world: World) -> None:
    x = world.brain("x")
    memorize(world, x, "src/a.py")
    write(x, src__a_py=CODE)

    assert [one["reason"] for one in stale(world, x)] == ["evidence_possibly_changed"]


def test_gr_060_age_is_told_beside_a_change(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, "src/a.py")
    write(x, src__a_py="changed = 1\n")
    world.clock.forward(721 * HOUR)

    assert sorted(one["reason"] for one in stale(world, x)) == ["aged_out", "evidence_changed"]


def test_gr_061_without_an_inventory_nothing_is_called_changed(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, "src/a.py")
    write(x, src__a_py="changed = 1\n")
    assert world.at(x).call("cross_verify")["freshness_note"] == "verified_against_stored_inventory"
    path = graph(world, x).path
    world.restart()
    for one in path.parent.glob("graph.db*"):
        one.unlink()

    answer = world.at(x).call("cross_verify", check=["evidence_freshness"])

    assert (answer["freshness_note"], answer["stale_evidence"]) == ("unverifiable_until_code_reingest", [])


def test_gr_062_an_ingest_names_the_claims_whose_file_it_changed(world: World) -> None:
    x = world.brain("x", src__a_py=CODE, src__b_py=CODE)
    memorize(world, x, "src/a.py")
    write(x, src__b_py="other = 1\n")
    assert ingest(world, x, incremental=True)["memory_freshness"]["stale_evidence_count"] == 0
    write(x, src__a_py="changed = 1\n")

    found = ingest(world, x, incremental=True)["memory_freshness"]

    assert found["stale_evidence_count"] == 1
    assert found["stale_evidence"][0]["evidence_path"] == "src/a.py"


def test_gr_063_a_superseded_claim_is_not_reported(world: World) -> None:
    x = world.brain("x", src__a_py=CODE, src__b_py=CODE)
    memorize(world, x, "src/a.py")
    memorize(world, x, "src/b.py")
    write(x, src__a_py="changed = 1\n")

    assert stale(world, x) == []


def test_gr_064_looking_changes_nothing(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, "src/a.py")
    write(x, src__a_py="changed = 1\n")
    before = (graph(world, x).counts(), world.at(x).call("health")["node_count"])

    world.at(x).call("cross_verify")
    world.at(x).call("am_i_stale")

    assert (graph(world, x).counts(), world.at(x).call("health")["node_count"]) == before


def test_gr_065_which_files_changed_is_told_without_an_ingest(world: World) -> None:
    x = world.brain("x", a_py=CODE, b_py=CODE, c_py=CODE)
    write(x, b_py="changed = 1\n")
    os.utime(Path(x, "c.py"), (1, 1))

    assert world.at(x).call("am_i_stale", files=["a.py", "b.py", str(Path(x, "c.py"))])["stale"] == ["b.py"]
    assert world.at(x).call("am_i_stale")["stale"] == ["b.py"]
    assert world.at(x).call("am_i_stale", files=["nowhere.py"])["unknown"] == ["nowhere.py"]


# -- lines --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "state", "line"),
    [
        ("# first\n# second\n" + CODE, "moved", 7),
        (CODE.replace("return 2", "return 3"), "same", 5),
        (CODE.replace("return 1", "return 7"), "changed", None),
        ("if os:\n" + "".join(f"    {line}\n" for line in CODE.splitlines()), "moved", 6),
        (CODE.replace("def stop():\n    return 2", "def stop():\n    return 1"), "same", 5),
    ],
    ids=["moved", "same", "changed", "indented", "twice"],
)
def test_gr_058_a_cited_line_is_followed_and_its_change_is_told(world: World, now: str, state: str, line: int | None) -> None:
    """`src/a.py:5` says `return 1`."""
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, "src/a.py:5")
    write(x, src__a_py=now)

    (found,) = stale(world, x)

    assert [(one["cited_lines"], one["line_now"], one["cited_line"]) for one in found["lines"]] == [(state, line, 5)]
    (row,) = [one for one in world.at(x).call("seek", query="lesson")["results"] if one["kind"] == "light"]
    assert row.get("contradicted_by_code", False) is (state == "changed")  # other lines of the file may be edited
    (told,) = ingest(world, x, incremental=True)["memory_freshness"]["stale_evidence"]
    assert told["lines"] == found["lines"]


@pytest.mark.req("MED-198")
@pytest.mark.parametrize("evidence", ["src/a.py", "src/a.py::run", "src/a.py:4-5"])
@pytest.mark.parametrize(
    ("now", "contradicted"),
    [
        (CODE + "# more\n", False),
        ("\n\n" + CODE + "\n", False),
        (CODE.replace("return 1\n", "return 1  # once\n"), False),
        (CODE.replace("    return 1\n", "    # once\n\n    return 1\n"), False),
        (CODE.replace("return 1\n", "return 7  # once\n"), True),
        (CODE.replace("    return 1\n", '    return "# 1"\n'), True),
    ],
    ids=["appended", "blank", "trailing", "inside", "code", "string"],
)
def test_a_comment_or_a_blank_line_contradicts_nothing(world: World, evidence: str, now: str, contradicted: bool) -> None:
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, evidence)
    write(x, src__a_py=now)

    (row,) = [one for one in world.at(x).call("seek", query="lesson")["results"] if one["kind"] == "light"]

    assert row.get("contradicted_by_code", False) is row["stale"] is contradicted
    assert [one["evidence_path"] for one in stale(world, x)] == ["src/a.py"]  # its bytes are others


def test_a_cited_comment_that_was_edited_is_changed_evidence(world: World) -> None:
    x = world.brain("x", src__a_py="# once\n" + CODE)
    memorize(world, x, "src/a.py:1")
    write(x, src__a_py="# twice\n" + CODE)

    (row,) = [one for one in world.at(x).call("seek", query="lesson")["results"] if one["kind"] == "light"]

    assert row["contradicted_by_code"] is row["stale"] is True


@pytest.mark.parametrize("name", ["a.js", "a.rs", "a.go", "a.c", "a.kt", "a.sql", "a.toml", "a.sh"])
def test_comments_of_other_languages_contradict_nothing(world: World, name: str) -> None:
    mark = {"sql": "--", "toml": "#", "sh": "#"}.get(name.partition(".")[2], "//")
    x = world.brain("x")
    Path(x, name).write_text("x = 1\n", encoding="utf-8")
    memorize(world, x, name)
    Path(x, name).write_text(f"{mark} it's one\n\nx = 1\n", encoding="utf-8")
    (row,) = [one for one in world.at(x).call("seek", query="lesson")["results"] if one["kind"] == "light"]
    assert "contradicted_by_code" not in row
    Path(x, name).write_text("x = 2\n", encoding="utf-8")

    (row,) = [one for one in world.at(x).call("seek", query="lesson")["results"] if one["kind"] == "light"]

    assert row["contradicted_by_code"] is row["stale"] is True


@pytest.mark.req("MED-111")
def test_a_contradicted_row_is_stale_on_every_surface_that_shows_it(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, "src/a.py")
    write(x, src__a_py="changed = 1\n")
    agent = world.at(x)

    rows = [*agent.call("north", task="lesson")["memory"], *agent.call("claims")["claims"]]

    assert rows
    assert all(row["stale"] is row["contradicted_by_code"] is True for row in rows)
    assert "stale, cited code changed since" in agent.call("north", task="lesson")["rendered"]


def test_gr_058_a_range_of_lines_is_followed_as_one(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)
    memorize(world, x, "src/a.py:8-9")
    write(x, src__a_py="\n\n" + CODE)

    (found,) = stale(world, x)

    assert [(one["cited_lines"], one["line_now"]) for one in found["lines"]] == [("moved", 10)]


def test_gr_050_evidence_of_a_linked_worktree_is_read_there(world: World) -> None:
    x = world.brain("x", src__a_py=CODE)
    git(x, "add", "-A")
    git(x, "commit", "-q", "-m", "first")
    there = str(world.place / "branch")
    git(x, "worktree", "add", "-q", there, "-b", "branch")
    write(there, src__new_py=CODE, src__a_py="branch = 1\n")

    answer = world.at(there).call("memorize", node_label="L", claims=[block("L", evidence=["src/new.py", "src/a.py"])])

    assert (answer["light_evidence_resolved"], answer["light_evidence_unresolved"]) == (2, 0)
    assert stale(world, x) == []
    write(there, src__a_py="branch = 2\n")
    assert [one["evidence_path"] for one in stale(world, x)] == ["src/a.py"]
