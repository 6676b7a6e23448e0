"""Demotion and consolidation: un-sharing is an act beside the claim; the witness is never touched."""

import json
from typing import Any

import pytest

from tests.promotion.test_promote import keys, promoted
from tests.support.light import light_file
from tests.support.world import DAY, World, tree_hash


def shared(world: World) -> tuple[str, str]:
    """A claim of X in the medulla, and Y who reads it."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Port", "The port is 1338.", state="verified", confidence=0.9)
    promoted(world, x, "port")
    return x, y


def learn_wrong(world: World, root: str, agent: str = "claude:orchestrator", **more: Any) -> dict[str, Any]:
    answer = world.at(root, agent).call("learn", **{"feedback": "wrong", "node_ids": ["port"], **more})
    assert answer["ok"], answer
    return answer


def slugs(answer: dict[str, Any], key: str = "memory") -> list[tuple[str, str]]:
    return [(row["slug"], row["tier"]) for row in answer[key]]


@pytest.mark.req("MED-184", "MED-188")
@pytest.mark.parametrize("named", ["slug", "label", "node_id"])
def test_med_184_learn_wrong_marks_beside_the_claim(world: World, named: str) -> None:
    _, y = shared(world)
    row = world.at(y).north("port")["memory"][0]
    before = tree_hash(world.store(None))

    answer = learn_wrong(world, y, "codex:maker", node_ids=[{"slug": "port", "label": "Port", "node_id": row["node_id"]}[named]])

    assert tree_hash(world.store(None)) == before
    grade = answer["claim_grades"][0]
    assert (grade["slug"], grade["trust"], grade["demotion_pending"]) == ("port", 0, True)
    pending = world.at(y).call("doctor")["memory"]["demotion_pending"]
    assert [(one["slug"], one["by"]) for one in pending] == [("port", "codex:maker")]
    entries = world.at(y).call("ledger.show", act="claim.grade", tier="medulla")["entries"]
    assert [entry["actor"] for entry in entries] == ["codex:maker"]


@pytest.mark.req("MED-185")
def test_med_185_a_marked_claim_leaves_the_beats_and_is_shown_on_request(world: World) -> None:
    x, y = shared(world)
    learn_wrong(world, y)

    for actor in (world.at(x), world.at(y)):
        assert ("port", "medulla") not in slugs(actor.north("port"))
        assert ("port", "medulla") not in slugs(actor.north("nothing like it")), "nor as a recent one"
        assert ("port", "medulla") not in slugs(actor.seek("port"), "results")
    explicit = world.at(y).seek("port", tier="medulla")["results"]
    wide = [row for group in world.at(y).seek("port", tier="all-brains")["groups"] for row in group["rows"]]
    assert [row["demotion_pending"] for row in explicit] == [True]
    assert [row["demotion_pending"] for row in wide if row["tier"] == "medulla"] == [True]


def demote_by_learning(world: World, y: str) -> None:
    learn_wrong(world, y)


def demote_by_superseding(world: World, y: str) -> None:
    answer = world.at(y, "claude:orchestrator").call(
        "memorize", node_label="Port", tier="medulla", state="verified", confidence=0.95, text="moved_to: X, it was never general"
    )
    assert answer["superseded"]


def demote_by_consolidating(world: World, y: str) -> None:
    learn_wrong(world, y)
    assert world.at(y, "claude:orchestrator").call("consolidate", apply=True)["done"]


@pytest.mark.req("MED-186")
def test_med_186_a_superseding_doctrine_demotes_with_a_pointer(world: World) -> None:
    _, y = shared(world)
    copy = world.file(None, "port").read_text(encoding="utf-8")

    demote_by_superseding(world, y)

    assert "moved_to: X" in world.file(None, "port").read_text(encoding="utf-8")
    archived = [path.read_text(encoding="utf-8") for path in world.history(None)]
    assert archived == [copy.replace("State: verified", "State: outdated")]


@pytest.mark.req("MED-187")
@pytest.mark.parametrize("demote", [demote_by_learning, demote_by_superseding, demote_by_consolidating])
def test_med_187_no_demotion_touches_the_witness(world: World, demote: Any) -> None:
    x, y = shared(world)
    before = tree_hash(world.store(x))
    stamp = keys(world.file(x, "port").read_text(encoding="utf-8"))["Promoted-To"]

    demote(world, y)
    world.at(x).north("port")
    world.at(x).call("doctor", scan=True)

    assert tree_hash(world.store(x)) == before
    assert keys(world.file(x, "port").read_text(encoding="utf-8"))["Promoted-To"] == stamp


def medulla_rows(world: World) -> list[Any]:
    """What the medulla's database holds about its claims, for comparing before and after."""
    with world.app.house.brains.use(world.home.medulla()) as opened:
        return [sorted(opened.store.marks(), key=str), opened.store.head(), opened.store.digests()]


@pytest.mark.req("MED-189", "MED-193")
def test_med_189_a_pass_is_a_dry_run_unless_it_is_applied(world: World) -> None:
    x, y = shared(world)
    world.at(x).memorize("Stays", "This one stays.", tier="medulla")
    learn_wrong(world, y)
    before = tree_hash(world.home.medulla_dir), medulla_rows(world)

    plan = world.at(y).call("consolidate")
    after_plan = tree_hash(world.home.medulla_dir), medulla_rows(world)
    done = world.at(y).call("consolidate", apply=True)

    assert plan["plan"] == [{"act": "demote", "slug": "port", "by": "claude:orchestrator", "why": "graded wrong"}]
    assert after_plan == before
    assert not world.file(None, "port").exists()
    assert len(world.history(None, "port")) == 1
    assert (plan["medulla_claim_count"], done["medulla_claim_count"]) == (2, 1)
    lines = (world.home.medulla_dir / "consolidation.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    assert len(lines) == 1
    assert [(act["act"], act["slug"]) for act in record["acts"]] == [("demote", "port")]
    assert (record["before"], record["after"]) == (2, len(list(world.store(None).glob("*.light.md"))))
    assert world.at(y).seek("port", tier="medulla")["results"] == []


@pytest.mark.req("MED-189")
def test_med_189_duplicates_are_merged_only_when_they_are_named(world: World) -> None:
    x = world.brain("x")
    for label in ("Port", "Harbour"):
        world.at(x).memorize(label, "The port of all services is 1338.", tier="medulla")

    applied = world.at(x).call("consolidate", apply=True)
    still = sorted(path.name for path in world.store(None).glob("*.light.md"))
    merged = world.at(x).call("consolidate", apply=True, merge=["harbour", "port"])

    assert [(step["act"], step["slugs"]) for step in applied["plan"]] == [("merge", ["harbour", "port"])]
    assert applied["done"] == []
    assert still == ["harbour.light.md", "port.light.md"]
    assert [step["act"] for step in merged["done"]] == ["merge"]
    assert merged["medulla_claim_count"] == 1


@pytest.mark.req("MED-189")
def test_med_189_what_only_restates_a_rules_file_is_named_for_a_pointer(world: World) -> None:
    rule = "Every service listens on the port 1338 unless its manifest says otherwise."
    x = world.brain("x")
    (world.place / "x" / "AGENTS.md").write_text(f"# Rules\n\n- {rule}\n", encoding="utf-8")
    world.at(x).memorize("Port", rule, tier="medulla")

    plan = world.at(x).call("consolidate")["plan"]

    assert [(step["act"], step["slug"]) for step in plan] == [("prune_to_pointer", "port")]
    assert "AGENTS.md" in plan[0]["why"]


@pytest.mark.req("MED-190")
@pytest.mark.parametrize("how", ["memorized", "edited", "removed"])
def test_med_190_a_copy_without_its_witness_is_reported_and_left_alone(world: World, how: str) -> None:
    x, y = shared(world)
    assert world.at(y).call("consolidate")["witness_superseded"] == []
    witness = world.file(x, "port")
    if how == "memorized":
        world.clock.forward(DAY)
        world.at(x).memorize("Port", "The port is 1339.", state="verified", confidence=0.9)
    elif how == "edited":
        witness.write_text(light_file("Port", "The port is 1340."), encoding="utf-8")
    else:
        assert world.human(x).call("claim.remove", claim="port")["ok"]
    copy, rows = tree_hash(world.store(None)), medulla_rows(world)

    dry = world.at(y).call("consolidate")
    assert medulla_rows(world) == rows, "a dry run notes nothing"
    applied = world.at(y).call("consolidate", apply=True)

    for report in (dry, applied):
        assert report["witness_superseded"] == [{"slug": "port", "witness_superseded": True}]
    assert tree_hash(world.store(None)) == copy
    row = world.at(y).north("port")["memory"][0]
    assert row["witness_superseded"] is True


@pytest.mark.req("MED-191")
def test_med_191_files_nobody_signed_are_reported(world: World) -> None:
    _, y = shared(world)
    (world.store(None) / "by-hand.light.md").write_text(light_file("By hand"), encoding="utf-8")

    assert world.at(y).call("consolidate")["unattributed"] == ["by-hand"]
    assert world.at(y).call("doctor")["memory"]["unattributed"] == ["by-hand"]
