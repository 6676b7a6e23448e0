"""The plan: every live claim with a proposal, nothing changed, and a table that is a person's."""

import json
from pathlib import Path

import pytest

from hindbrain.domain.claim import Block, Claim
from hindbrain.domain.migration import Placement
from hindbrain.engines.triage import proposal
from hindbrain.operations import REGISTRY, describe
from hindbrain.surfaces.manifest import Manifest
from tests.migration.mixed import claim_file, mixed, plan, put, rows_of, table
from tests.support.world import World, tree_hash


@pytest.mark.req("MED-316")
def test_med_316_the_plan_lists_every_live_file_and_changes_nothing(any_world: World) -> None:
    world = any_world
    x = mixed(world, facts=2, laws=2, notes=1, born_here=1)
    put(world, "pointer", claim_file("Pointer", "moved_to: /elsewhere#pointer").replace("authored", "outdated"))
    before = tree_hash(world.home.path)

    answer = plan(world)

    assert tree_hash(world.home.path) == before
    assert answer["counts"] == {"project": 2, "stay": 2, "ambiguous": 1}
    assert {row["slug"]: (row["class"], row["destination"], row["has_origin_brain"]) for row in answer["rows"]} == {
        "project-0": ("project", x, False),
        "project-1": ("project", x, False),
        "stay-0": ("stay", None, True),
        "stay-1": ("stay", None, False),
        "ambiguous-0": ("ambiguous", None, False),
    }
    assert all(Path(row["file"]).is_file() and row["reason"] for row in answer["rows"])
    assert answer["ghost_roots"] == []


@pytest.mark.req("MED-316")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["migrate"], ("migrate.plan", 1)),
        (["migrate", "--json"], ("migrate.plan", 1)),
        (["migrate", "plan"], ("migrate.plan", 2)),
        (["migrate", "apply", "t"], ("migrate.apply", 2)),
        (["migrate", "aply"], None),
        (["ledger"], None),
    ],
)
def test_med_316_the_plan_is_what_a_bare_migrate_does(words: list[str], named: tuple[str, int] | None) -> None:
    found = Manifest([describe(op) for op in REGISTRY.values()]).resolve(words)

    assert (found and (found[0]["name"], found[1])) == named


@pytest.mark.req("MED-316", "MED-352")
def test_med_316_the_plan_reads_the_directory_and_no_written_list(world: World) -> None:
    mixed(world, facts=1, laws=0, notes=0)
    assert set(rows_of(world)) == {"project-0"}

    put(world, "late", claim_file("Late", "Came by an editor."))
    assert world.human(None).call("claim.remove", claim="project-0", tier="medulla")["ok"]

    assert set(rows_of(world)) == {"late"}


@pytest.mark.req("MED-316")
def test_med_316_a_home_without_a_medulla_gets_an_empty_plan_and_no_medulla(world: World) -> None:
    world.brain("x")

    assert plan(world)["rows"] == []
    assert not world.home.medulla_dir.exists()


@pytest.mark.req("MED-316")
def test_med_316_files_that_are_not_served_are_named(world: World) -> None:
    mixed(world, facts=0, laws=1, notes=0)
    odd = put(world, "Odd_Name", claim_file("Odd", "No label gives this name."))
    merged = put(world, "merged", claim_file("Merged", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs"))

    answer = plan(world)

    assert [row["slug"] for row in answer["rows"]] == ["stay-0"]
    assert answer["not_served"] == sorted([str(odd), str(merged)])


def claim(text: str, *evidence: str, **more: str) -> Claim:
    return Claim(label="Label", blocks=(Block(label="Label", text=text, evidence=evidence),), **more)  # type: ignore[arg-type]  # only texts here


@pytest.mark.req("MED-318")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (claim("The parser reads bytes.", "src/parser.py:12"), "project"),
        (claim("Shipped the new parser."), "project"),
        (claim("We fixed the flaky test."), "project"),
        (claim("CI needs two cores."), "project"),
        (claim("Doctrine: say why."), "stay"),
        (claim("A preference of the founder."), "stay"),
        (claim("Vocabulary: a brain is one project."), "stay"),
        (claim("A cross-project finding."), "stay"),
        (claim("The sky is blue."), "ambiguous"),
        (claim("The prefix of a shipment is long."), "ambiguous"),
        (claim("See the page.", "https://example.com/page"), "ambiguous"),
        (claim("Doctrine: fixed points are cited.", "src/parser.py"), "stay"),
        (claim("Shipped.", origin_claim="/x#label"), "stay"),
        (claim("Shipped.", origin_brain="medulla"), "stay"),
    ],
)
def test_med_318_the_proposal_follows_the_signals_and_doubt_means_stay(said: Claim, expected: str) -> None:
    placement, reason = proposal(said)

    assert placement is Placement(expected)
    assert reason


@pytest.mark.req("MED-318")
def test_med_318_a_project_is_proposed_only_when_one_can_be_told(world: World) -> None:
    x, y = world.brain("x", src__a_py="a\n"), world.brain("y", src__b_py="b\n")
    for root in (x, y):
        Path(root, "README.md").write_text("read me\n")
    for slug, evidence in {
        "by-file": "src/a.py",
        "by-absolute-path": f"{y}/src/b.py:3",
        "by-origin": f"{x}#src/gone.py",
        "in-both": "README.md",
        "in-none": "lib/else.py",
    }.items():
        put(world, slug, claim_file(slug, "A fact.", evidence=evidence))
    put(world, "by-birth", claim_file("By birth", "Shipped it.", more=f"Origin-Brain: {y}\n"))
    put(world, "by-name", claim_file("By name", "Fixed the queue of y."))

    found = {slug: row["destination"] for slug, row in rows_of(world).items()}

    assert found == {
        "by-file": x,
        "by-absolute-path": y,
        "by-origin": x,
        "in-both": None,
        "in-none": None,
        "by-birth": y,
        "by-name": y,
    }
    assert "cannot be told" in rows_of(world)["in-both"]["reason"]


@pytest.mark.req("MED-317")
def test_med_317_the_table_is_a_file_with_one_line_per_claim_that_is_never_overwritten(world: World) -> None:
    mixed(world)
    path = Path(table(world))

    lines = [json.loads(line) for line in path.read_text().splitlines() if not line.startswith("#")]
    again = world.human(None).call("migrate.plan", target=str(path))
    nowhere = world.human(None).call("migrate.plan", target=str(world.place / "no" / "such" / "place"))

    assert lines == plan(world)["rows"]
    assert (again["error"]["code"], nowhere["error"]["code"]) == ("invalid_params", "invalid_params")
