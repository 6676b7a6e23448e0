"""Backfill: knowledge rows that an import kept become cards, planned first, once each, and never with a status by themselves."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_mempal import opened, rows, state, taken
from tests.support.palaces import mempal
from tests.support.world import Actor, World

PLANNED = ["source_id", "prospective_card_id", "status", "reasons", "statement", "tier", "knowledge_status", "domain", "field"]


@pytest.fixture
def kept(any_world: World, tmp_path: Path) -> tuple[World, str]:
    """A project with three knowledge rows of mempal, one of them without a statement."""
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 7)
    palace.row("drawer_e1", "the kettle whistled")
    palace.row("drawer_e2", "the kettle whistled again")
    refs = {
        "supporting_refs": ["drawer_e1", "drawer_e2"],
        "field": "rust",
        "trigger_hints": {"intent_tags": ["tea"], "skill": "x"},
    }
    palace.knowledge("drawer_full", "qi", "candidate", **refs)
    palace.knowledge("drawer_blank", "qi", "candidate", statement="  ")
    palace.knowledge("drawer_torn", "dao_ren", "candidate", supporting_refs=["drawer_e1", "drawer_missing"])
    taken(any_world.at(root), palace.close())
    return any_world, root


def applied(actor: Actor, **more: Any) -> dict[str, Any]:
    answer = actor.call("knowledge.backfill_apply", execute=True, **more)
    assert answer["ok"], answer
    return answer


@pytest.mark.req("MIND-299", "MIND-300", "MIND-011")
def test_mind_299_the_plan_tells_what_could_become_a_card(kept: tuple[World, str]) -> None:
    world, root = kept
    before = state(world, root)

    plan = world.at(root).call("knowledge.backfill_plan")
    rust = world.at(root).call("knowledge.backfill_plan", field="rust")

    assert (plan["ready_count"], plan["skipped_count"], plan["already_exists_count"], plan["writes"]) == (2, 1, 0, False)
    by_id = {one["source_id"]: one for one in plan["candidates"]}
    assert list(by_id["drawer_full"])[: len(PLANNED)] == PLANNED
    assert (by_id["drawer_blank"]["status"], by_id["drawer_blank"]["reasons"]) == ("skipped", ["missing statement"])
    assert [one["source_id"] for one in rust["candidates"]] == ["drawer_full"]
    for name, value in {"tier": "dao_ren", "status": "candidate", "domain": "agent", "anchor_kind": "worktree"}.items():
        found = world.at(root).call("knowledge.backfill_plan", **{name: value})["candidates"]
        wanted = {"tier": 1, "status": 3, "domain": 0, "anchor_kind": 0}[name]
        assert len(found) == wanted, name
    assert len(world.at(root).call("knowledge.backfill_plan", anchor_id="repo://legacy")["candidates"]) == 3
    assert state(world, root) == before


@pytest.mark.req("MIND-301")
def test_mind_301_the_id_of_a_card_follows_from_the_row_alone(kept: tuple[World, str], tmp_path: Path) -> None:
    world, root = kept
    other = world.brain("other")
    palace = mempal(tmp_path / "second.db", 5)
    palace.knowledge("drawer_full", "shu", "promoted", statement="something else")
    taken(world.at(other), palace.close())

    plans = [world.at(one).call("knowledge.backfill_plan")["candidates"] for one in (root, root, other)]

    ids = {one["prospective_card_id"] for plan in plans for one in plan if one["source_id"] == "drawer_full"}
    assert len(ids) == 1


@pytest.mark.req("MIND-302", "MIND-303", "MIND-304", "MIND-305", "MIND-012")
def test_mind_302_a_backfill_is_asked_for_and_happens_once(kept: tuple[World, str]) -> None:
    world, root = kept
    before = state(world, root)
    with opened(world, root) as brain:
        held, vectors = brain.store.foreign_cards(), brain.store.counts().evidence

    dry = world.at(root).call("knowledge.backfill_apply")
    assert (dry["dry_run"], dry["created_count"], dry["writes"]) == (True, 0, False)
    assert state(world, root) == before

    done = applied(world.at(root))
    after = state(world, root)
    again = applied(world.at(root))

    assert (done["created_count"], done["linked_count"], done["event_count"]) == (2, 3, 2)
    (error,) = done["link_errors"]
    assert (error["evidence_id"], error["role"]) == ("drawer_missing", "supporting")
    assert (again["created_count"], again["linked_count"], again["event_count"], again["already_exists_count"]) == (0, 0, 0, 2)
    assert state(world, root) == after
    with opened(world, root) as brain:
        cards = {card.statement: card for card in brain.store.each_card()}
        full = cards["The law of drawer_full"]
        events = brain.store.card_events(full.id)
        links = brain.store.links(cards=[full.id])
        assert (brain.store.foreign_cards(), brain.store.counts().evidence) == (held, vectors), "the rows stay as they were"
    assert (full.status.value, full.opt_in, full.field, full.hints.intent_tags) == ("candidate", False, "rust", ("tea",))
    assert [link.role.value for link in links] == ["supporting", "supporting"]
    (created,) = events
    assert "drawer_full" in created.reason
    assert json.loads(created.metadata)["imported"] is True


@pytest.mark.req("MIND-306")
def test_mind_306_two_rows_make_two_cards_and_a_native_brain_has_none(any_world: World, tmp_path: Path) -> None:
    root, native = any_world.brain("app"), any_world.brain("native")
    palace = mempal(tmp_path / "palace.db", 7)
    palace.row("drawer_e1")
    for name in ("one", "two"):
        palace.knowledge(f"drawer_{name}", "qi", "candidate", supporting_refs=["drawer_e1"])
    taken(any_world.at(root), palace.close())

    plan = any_world.at(root).call("knowledge.backfill_plan")
    applied(any_world.at(root))

    assert {one["source_id"] for one in plan["candidates"]} == {"drawer_one", "drawer_two"}
    with opened(any_world, root) as brain:
        assert len(list(brain.store.each_card())) == 2
    empty = any_world.at(native).call("knowledge.backfill_plan")
    assert (empty["ready_count"], empty["skipped_count"], empty["already_exists_count"], empty["candidates"]) == (0, 0, 0, [])


@pytest.mark.req("MIND-092")
def test_mind_092_a_promoted_row_stays_promoted_only_by_a_person(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 7)
    palace.row("drawer_e1")
    palace.knowledge("drawer_on", "qi", "promoted", supporting_refs=["drawer_e1"], verification_refs=["drawer_e1"])
    path = palace.close()
    taken(any_world.at(root), path)  # a row that waits gives nothing, so anybody may bring it
    other = any_world.brain("other")
    taken(any_world.at(other), path)

    for agent in ("codex:maker", "human:founder"):
        refused = any_world.at(root, agent).call("knowledge.backfill_apply", execute=True)
        assert refused["error"]["code"] == "human_needed"
    lowered = applied(any_world.at(other), as_candidates=True)
    applied(any_world.human(root))

    with opened(any_world, root) as brain:
        (card,) = brain.store.each_card()
        (created,) = brain.store.card_events(card.id)
    assert card.active
    assert (created.type.value, json.loads(created.metadata)["imported"]) == ("created", True)
    with opened(any_world, other) as brain:
        (low,) = brain.store.each_card()
    assert (low.status.value, lowered["as_candidates"]) == ("candidate", [low.id])


def test_a_global_row_waits_in_the_medulla_and_brings_what_it_cites(any_world: World, tmp_path: Path) -> None:
    root = any_world.brain("app")
    palace = mempal(tmp_path / "palace.db", 7)
    palace.row("drawer_e1", "seen in the project")
    everywhere = {"domain": "global", "anchor_kind": "global", "anchor_id": "global://default"}
    palace.knowledge("drawer_all", "dao_tian", "canonical", supporting_refs=["drawer_e1"], **everywhere)
    path = palace.close()
    assert any_world.at(root).call("memory.import", path=path, execute=True)["error"]["code"] == "human_needed"
    taken(any_world.human(root), path)

    done = applied(any_world.human(root))

    assert (done["created_count"], done["linked_count"], done["link_errors"]) == (1, 1, [])
    with opened(any_world, None) as medulla:
        (card,) = medulla.store.each_card()
        (link,) = medulla.store.links(cards=[card.id])
        assert medulla.store.evidence([link.evidence_id])[link.evidence_id].content == "seen in the project"
    assert card.active


def test_what_was_forgotten_meanwhile_is_not_cited(kept: tuple[World, str]) -> None:
    world, root = kept
    human = world.human(root)
    (first,) = [row["id"] for row in rows(human) if row["content"] == "the kettle whistled"]
    assert human.call("memory.delete", evidence_id=first, reason="wrong")["ok"]

    done = applied(world.at(root))

    assert done["linked_count"] == 1
    assert sum(error["evidence_id"] in (first, "drawer_missing") for error in done["link_errors"]) == 3


def test_a_row_with_a_rejected_value_waits_no_longer_and_makes_no_card(kept: tuple[World, str]) -> None:
    world, root = kept
    assert world.human(root).call("reject", claim="law", value="It holds because drawer_full was seen.")["ok"]

    done = applied(world.at(root))

    assert (done["created_count"], done["refused"]) == (1, [])
    with opened(world, root) as brain:
        assert "drawer_full was seen" not in str(brain.store.foreign_cards()) + str(list(brain.store.each_card()))
