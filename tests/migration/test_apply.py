"""Apply: exactly the table, nothing lost, nothing doubled, and every claim with its age and its origin."""

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.claim import outdated, parse
from tests.migration.mixed import applied, claim_file, mixed, plan, put, table
from tests.support.owner import Starter
from tests.support.world import DAY, START_MS, World, tree_hash


def apply(world: World, path: str) -> dict[str, Any]:
    return world.human(None).call("migrate.apply", table=path)


@pytest.mark.req("MED-317")
def test_med_317_a_table_must_name_every_live_claim_once(world: World) -> None:
    mixed(world)
    missing = table(world, "missing.jsonl", without=("stay-1",))
    twice, unknown = Path(table(world, "twice.jsonl")), Path(table(world, "unknown.jsonl"))
    twice.write_text(twice.read_text() + '{"slug": "stay-0", "class": "stay"}\n')
    unknown.write_text(unknown.read_text() + '{"slug": "no-such", "class": "stay"}\n')
    before = tree_hash(world.place)

    answers = {slug: apply(world, str(path)) for slug, path in (("stay-1", missing), ("stay-0", twice), ("no-such", unknown))}

    assert tree_hash(world.place, leave=(".db", ".db-wal", ".db-shm", ".lock", "refusals.jsonl")) == before
    for slug, answer in answers.items():
        assert answer["error"]["code"] == "table_refused"
        assert slug in answer["error"]["message"]
        assert [problem["slug"] for problem in answer["error"]["problems"]] == [slug]


@pytest.mark.req("MED-317")
@pytest.mark.parametrize(
    "line", ["not json", "[]", "{}", '{"slug": "stay-0", "class": "elsewhere"}', '{"slug": 1, "class": "stay"}']
)
def test_med_317_a_line_that_is_no_row_is_named(world: World, line: str) -> None:
    mixed(world)
    path = world.place / "broken.jsonl"
    path.write_text(f"# a comment\n\n{line}\n")

    answer = apply(world, str(path))

    assert answer["error"]["code"] == "invalid_params"
    assert "line 3" in answer["error"]["message"]


@pytest.mark.req("MED-317", "MED-319")
def test_med_317_what_the_person_wrote_is_done_and_not_what_was_proposed(world: World) -> None:
    x = mixed(world)
    path = table(world, project_0={"class": "stay", "destination": None}, ambiguous_0={"class": "project", "destination": x})

    applied(world, path)

    assert {file.name for file in world.store(x).glob("*.light.md")} == {"project-1.light.md", "ambiguous-0.light.md"}
    assert parse(world.file(None, "project-0").read_text()).origin_brain == "medulla"


@pytest.mark.req("MED-319", "MED-084")
def test_med_319_a_project_fact_moves_and_leaves_a_pointer_and_its_original(any_world: World) -> None:
    world = any_world
    x = mixed(world)
    original = world.file(None, "project-0").read_text()

    applied(world)

    moved, pointer = parse(world.file(x, "project-0").read_text()), parse(world.file(None, "project-0").read_text())
    assert (moved.state, moved.origin_brain) == ("authored", x)
    assert (pointer.state, pointer.blocks[0].text) == ("outdated", f"moved_to: {x}#project-0")
    assert [path.read_text() for path in world.history(None, "project-0")] == [outdated(original)]
    (row,) = world.at(x).seek("importer number 0", tier="project")["results"][:1]
    assert (row["slug"], row["tier"]) == ("project-0", "project")
    acts = [entry["act"] for entry in world.at(x).call("ledger.show")["entries"]]
    assert "claim.migrate" in acts
    assert world.at(x).call("ledger.verify")["ok"]
    assert world.at(x).call("ledger.verify", tier="medulla")["ok"]


@pytest.mark.req("MED-319")
def test_med_319_doctrine_is_stamped_and_the_rest_is_not_touched(world: World) -> None:
    mixed(world, laws=2, born_here=1)
    before = {slug: world.file(None, slug).read_bytes() for slug in ("stay-0", "ambiguous-0")}

    applied(world)

    assert {slug: world.file(None, slug).read_bytes() for slug in before} == before
    assert "\nOrigin-Brain: medulla\n" in world.file(None, "stay-1").read_text()
    assert [path.name.split(".")[0] for path in world.history(None, "stay")] == ["stay-1"]


@pytest.mark.req("MED-320")
def test_med_320_a_moved_claim_keeps_its_age_and_its_author(world: World) -> None:
    x = mixed(world, facts=0)
    put(
        world, "old", claim_file("Old", "Fixed the old importer.", created=START_MS - 60 * DAY, evidence=f"{x}#src/importer.py:7")
    )
    put(world, "ageless", claim_file("Ageless", "Fixed the ageless importer.", created=None, evidence="src/importer.py"))

    applied(world, table(world))

    old, ageless = (world.file(x, slug).read_text() for slug in ("old", "ageless"))
    assert (parse(old).created, parse(old).source_agent) == (START_MS - 60 * DAY, "codex:maker")
    assert str(START_MS - 60 * DAY) in old.split("---")[2]
    assert "by codex:maker" in old.split("---")[2]
    assert parse(old).evidence == ("src/importer.py:7",)
    assert "Created: " not in ageless.split("---")[1]
    assert "an unknown date by codex:maker" in ageless
    rows = {row["slug"]: row for row in world.at(x).seek("the old or ageless importer", tier="project")["results"]}
    assert rows["old"]["stale"] is True
    assert "stale" not in rows["ageless"]


@pytest.mark.req("MED-320", "MED-356")
def test_med_320_a_file_from_before_the_fence_loses_nothing(world: World) -> None:
    x = mixed(world, facts=0)
    text = (
        f"Protocol: L1GHT/1.0\r\nNode: Token validator\r\nCreated: {START_MS - DAY}\r\nSource-Agent: codex:maker\r\n\r\n"
        "# Token validator\r\n\r\nIt was fixed to refuse old tokens.\r\n\r\nNote: prose without any marker.\r\n"
    )
    world.file(None, "token-validator").write_bytes(text.encode())
    put(world, "old-law", "Node: Old law\nCreated: 5\n\n# Old law\n\nDoctrine: be old.\n")

    applied(world, table(world, token_validator={"destination": x}))

    moved = parse(world.file(x, "token-validator").read_bytes().decode())
    law = parse(world.file(None, "old-law").read_text())
    assert (moved.label, moved.created, moved.source_agent, moved.origin_brain) == (
        "Token validator",
        START_MS - DAY,
        "codex:maker",
        x,
    )
    assert "refuse old tokens" in moved.blocks[0].text
    assert "prose without any marker" in moved.blocks[0].text
    assert (law.label, law.created, law.origin_brain) == ("Old law", 5, "medulla")


@pytest.mark.req("MED-321", "MED-324")
def test_med_321_the_counts_are_told_and_every_original_is_in_the_history(world: World) -> None:
    x = mixed(world, facts=3, laws=4, notes=2, born_here=1)
    before = len(world.history(None))

    answer = applied(world)

    assert answer["gates"] == {"active_before": 9, "active_in_projects": 3, "active_in_medulla": 6, "history_files": 6}
    assert answer["counts"] == {"moved": 3, "stamped": 3, "ambiguous": 2}
    assert len(world.history(None)) - before == 6
    assert world.at(x).call("doctor")["memory"]["volume_by_store"] == {x: 3, "medulla": 6}


@pytest.mark.req("MED-322")
def test_med_322_a_destination_that_is_taken_is_refused_before_anything_is_written(world: World) -> None:
    x = mixed(world)
    world.at(x).memorize("Project 1", "Something else of that name.")
    path, before = table(world), tree_hash(world.home.medulla_dir, world.home.brains_dir)

    answer = apply(world, path)

    assert answer["error"]["code"] == "table_refused"
    assert str(world.file(x, "project-1")) in answer["error"]["message"]
    assert tree_hash(world.home.medulla_dir, world.home.brains_dir) == before


@pytest.mark.req("MED-322", "MED-028")
def test_med_322_a_destination_without_a_brain_is_refused_with_its_bootstrap(world: World) -> None:
    mixed(world)
    z = world.repository("z")

    answer = apply(world, table(world, project_0={"destination": z}, project_1={"destination": None}))

    problems = {one["slug"]: one for one in answer["error"]["problems"]}
    assert problems["project-0"]["code"] == "brainless_root"
    call = problems["project-0"]["fix"]["call"]
    assert world.at(z).call(call["tool"], **call["arguments"])["ok"]
    assert "no destination" in problems["project-1"]["problem"]


@pytest.mark.req("MED-322")
def test_med_322_what_the_project_would_refuse_is_refused_before_anything_is_written(world: World) -> None:
    x = mixed(world)
    world.at(x).memorize("Harbour", "the harbour opens at six")
    assert world.human(x).call("reject", claim="harbour")["ok"]
    put(world, "bad", claim_file("Bad", "the harbour opens at six", evidence="src/importer.py"))
    path, before = table(world), tree_hash(world.home.medulla_dir)

    answer = apply(world, path)

    assert answer["error"]["code"] == "rejected_value"
    assert tree_hash(world.home.medulla_dir) == before


@pytest.mark.req("MED-322")
def test_med_322_a_claim_with_a_secret_is_not_moved(world: World) -> None:
    x = mixed(world)
    put(world, "bad", claim_file("Bad", "The key is ghp_" + "a1B2c3D4e5F6" * 3, evidence="src/importer.py"))

    path = table(world)
    answer = apply(world, path)

    assert answer["ok"]
    assert '"bad"' not in Path(path).read_text(encoding="utf-8"), "it is in quarantine, and no answer has it"
    assert "secret_in_file" in [one["kind"] for one in world.human(x).call("doctor")["warnings"]]


@pytest.mark.req("MED-323")
def test_med_323_every_claim_is_found_in_exactly_one_tier(any_world: World) -> None:
    world = any_world
    x = mixed(world, facts=3, laws=3, notes=2)
    labels = {row["slug"]: parse(Path(row["file"]).read_text()).label for row in plan(world)["rows"]}

    applied(world)

    for slug, label in labels.items():
        groups = world.at(x).seek(label, tier="all-brains", top_k=50)["groups"]
        found = [row["tier"] for group in groups for row in group["rows"] if row["slug"] == slug]
        assert found == [slug.split("-")[0] if slug.startswith("project") else "medulla"], slug


@pytest.mark.req("MED-323")
def test_med_323_a_promoted_claim_and_its_witness_stay_two(world: World) -> None:
    x = mixed(world)
    world.at(x).memorize("Lesson", "retries need jitter")
    world.at(x, "claude:orchestrator").call("promote", brain=x, claim="lesson", reason="seen twice")

    applied(world)

    assert parse(world.file(None, "lesson").read_text()).origin_claim == f"{x}#lesson"
    assert world.file(x, "lesson").is_file()


@pytest.mark.req("MED-327")
def test_med_327_a_second_apply_changes_nothing(any_world: World) -> None:
    world = any_world
    mixed(world)
    path = table(world)
    applied(world, path)
    before = tree_hash(world.place)
    world.clock.forward(DAY)
    world.restart()

    second, fresh = applied(world, path), applied(world, table(world, "fresh.jsonl"))

    (world.place / "fresh.jsonl").unlink()
    assert (second["already_migrated"], fresh["already_migrated"]) == (True, True)
    assert tree_hash(world.place) == before


@pytest.mark.req("MED-328")
def test_med_328_apply_and_rollback_refuse_while_an_owner_runs(world: World, starter: Starter) -> None:
    mixed(world)
    path = table(world)
    world.close()
    owner = starter(world.home.path)
    before = tree_hash(world.home.medulla_dir)

    asked = [
        owner.post("migrate.apply", {"table": path}, token=owner.human_token).json,
        owner.post("migrate.rollback", {}, token=owner.human_token).json,
    ]
    beside = [apply(world, path), world.human(None).call("migrate.rollback")]
    planned = owner.call("migrate.plan")

    for answer in asked + beside:
        assert answer["error"]["code"] == "owner_running"
        assert "hindbrain stop" in answer["error"]["fix"]
    assert len(planned["rows"]) == 5
    assert tree_hash(world.home.medulla_dir) == before


@pytest.mark.req("MED-329")
def test_med_329_doctor_lists_ambiguous_claims_until_they_are_classified(any_world: World) -> None:
    world = any_world
    x = mixed(world, notes=2)
    assert world.at(x).call("doctor")["memory"]["ambiguous"] == 0

    applied(world)

    doctor = world.at(x).call("doctor")
    assert (doctor["memory"]["ambiguous"], doctor["memory"]["ambiguous_slugs"]) == (2, ["ambiguous-0", "ambiguous-1"])
    assert any(warning["kind"] == "ambiguous" and "migrate" in warning["fix"] for warning in doctor["warnings"])
    world.restart()
    applied(
        world, table(world, "second.jsonl", ambiguous_0={"class": "stay"}, ambiguous_1={"class": "project", "destination": x})
    )
    assert world.at(x).call("doctor")["memory"]["ambiguous"] == 0
    assert parse(world.file(None, "ambiguous-0").read_text()).origin_brain == "medulla"
    assert world.file(x, "ambiguous-1").is_file()


@pytest.mark.req("MED-331")
def test_med_331_the_medulla_holds_memory_and_no_code(world: World) -> None:
    x = mixed(world)
    path = world.home.medulla_dir / "ingest_roots.json"
    path.write_text(json.dumps([x, str(world.store(None))]))

    answer = applied(world)

    house = world.app.house
    with house.brains.use(world.home.medulla()) as medulla, house.brains.use(world.home.project(x)) as project:  # type: ignore[arg-type]  # x has its brain
        ids = ["file::src/importer.py", "file::package.json"]
        assert medulla.store.nodes(ids) == {}
        assert medulla.graph is None
        assert project.graph is not None
        assert set(project.graph.nodes(ids)) == set(ids)
        for name in plan(world)["rows"]:
            section = f"light::light::file::{name['slug']}-light-md"
            reached = {edge.target for edge in medulla.store.neighbours(section, limit=100)}
            assert reached
            assert not any(target.startswith("file::") for target in reached)
    assert json.loads(path.read_text()) == [str(world.store(None))]
    assert answer["roots"][0]["removed"] == [{"entry": x, "reason": "the medulla holds no code"}]


def test_a_claim_that_was_graded_wrong_is_wrong_in_its_project_too(world: World) -> None:
    x = mixed(world)
    plan(world)
    assert world.at(x, "claude:orchestrator").call("learn", feedback="wrong", node_ids=["project-0"], tier="medulla")["ok"]

    applied(world)

    rows = {row["slug"]: row for row in world.at(x).seek("importer number", tier="project")["results"]}
    assert rows["project-0"]["graded_wrong"] is True
    assert "graded_wrong" not in rows["project-1"]
