"""Own means own: what one project observed reaches another only by an act that names it, and keeps its origin."""

from typing import Any

import pytest

from tests.support.world import World

SECRETIVE = "The quokka exporter drops rows when its buffer is full."


def candidate(world: World, root: str) -> tuple[str, str, dict[str, Any]]:
    """A candidate card for every project that cites a row of one project. A person makes it."""
    seen = world.human(root).call("record", text=SECRETIVE)
    assert seen["ok"], seen
    made = world.human(root).call(
        "knowledge.distill",
        statement="Exporters need bounded buffers.",
        content="Seen once, in an exporter.",
        tier="shu",
        domain="global",
        anchor="global",
        supporting_refs=[seen["evidence_id"]],
    )
    assert made["ok"], made
    return seen["evidence_id"], made["card_id"], made


def shown(world: World, root: str) -> str:
    """Everything that recall gives to an agent in a project."""
    actor = world.at(root)
    answers = [
        actor.north("quokka exporter buffer"),
        actor.seek("quokka exporter buffer"),
        actor.call("memory.search", query="quokka exporter buffer"),
        actor.call("memory.list"),
        actor.call("context", query="quokka exporter buffer", include_evidence=True),
        actor.call("review"),
        actor.call("wake"),
    ]
    return str(answers)


def test_med_inv_1_what_a_candidate_cites_is_recalled_in_no_other_project(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    evidence, _, made = candidate(world, x)

    answer = world.at(y).call("memory.get", evidence_id=evidence)

    assert "quokka exporter drops" not in shown(world, y)
    assert answer["error"]["code"] == "unknown_evidence"
    assert [row["evidence_id"] for row in made["left_the_project"]] == [evidence]
    assert evidence in made["rendered"]
    assert "quokka exporter drops" in shown(world, x)


def test_med_156_a_published_copy_keeps_the_brain_it_was_born_in(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    evidence, card, _ = candidate(world, x)
    check = world.human(x).call("record", text="The exporter of quokka lost rows again under load.")["evidence_id"]

    promoted = world.human(x).call(
        "knowledge.promote",
        card_id=card,
        status="promoted",
        verification_refs=[check],
        reason="seen twice",
        reviewer="human:founder",
    )
    rows = world.at(y).call("memory.search", query="quokka exporter buffer")["results"]
    beat = world.at(y).north("quokka exporter buffer")

    assert promoted["ok"], promoted
    assert {row["evidence_id"] for row in promoted["left_the_project"]} == {evidence, check}
    assert {(row["tier"], row["origin_brain"]) for row in rows} == {("medulla", x)}
    assert {(row["store_brain"], row["origin_brain"]) for row in beat["evidence"]} == {("medulla", x)}
    assert f"from {x}" in beat["rendered"]


@pytest.mark.parametrize("tier", [None, "medulla"])
def test_shared_memory_that_does_not_match_the_task_stays_out_of_a_project(world: World, tier: str | None) -> None:
    x = world.brain("x")
    world.at(x).memorize("Commit style", "Write commits in the imperative.", tier="medulla")
    world.at(x).memorize("Own habit", "This one ships on Tuesdays.")

    answer = world.at(x).north("volcano telemetry parser", tier=tier)

    assert [row["slug"] for row in answer["memory"]] == (["commit-style"] if tier else ["own-habit"])
