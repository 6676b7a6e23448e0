"""Four states, derived from where a file lies; each change of state is an act that leaves a record."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.domain.brain import Tier
from hindbrain.domain.claim import Claim, ClaimState, parse, render, stamped, state_of
from hindbrain.operations import REGISTRY, Effect
from tests.support.world import World, tree_hash


def a_shared_claim(world: World) -> tuple[str, str]:
    """A claim of X that was promoted, and a second project."""
    x, y = world.brain("x"), world.brain("y")
    world.at(x).memorize("Lesson", "retries need jitter")
    world.clock.forward(1_000)
    answer = world.at(x, "claude:orchestrator").call("promote", brain=x, claim="Lesson", reason="seen in y too")
    assert answer["promoted"] is True, answer
    return x, y


def states(world: World, root: str | None) -> dict[str, str]:
    """The state of every claim file below a store, archives too."""
    tier = Tier.MEDULLA if root is None else Tier.PROJECT
    found = {}
    for path in world.store(root).rglob("*.light.md"):
        in_history = path.parent.name == ".history"
        found[path.name] = state_of(parse(path.read_text()), tier=tier, in_history=in_history).value
    return found


@pytest.mark.req("MED-079")
def test_med_079_each_kind_of_file_has_its_one_state(world: World) -> None:
    x, _ = a_shared_claim(world)
    world.human(x).memorize("Doctrine", tier="medulla")
    world.at(x).memorize("Old", "first")
    world.at(x).memorize("Old", "second")
    world.file(x, "pointer").write_text(stamped(world.file(x, "old").read_text(), "State", "outdated"))

    own, shared = states(world, x), states(world, None)

    assert own.pop("pointer.light.md") == "superseded"
    assert {name: state for name, state in own.items() if name.count(".") == 2} == {
        "lesson.light.md": "project_private",
        "old.light.md": "project_private",
    }
    assert {state for name, state in own.items() if name.count(".") == 3} == {"superseded"}
    assert shared == {"lesson.light.md": "promoted", "doctrine.light.md": "doctrine_born"}


@pytest.mark.req("MED-079", "MED-042")
@settings(deadline=None)
@given(
    origin=st.none() | st.just("/r#a"),
    told=st.sampled_from(["authored", "verified", "outdated", "live", "promoted"]),
    tier=st.sampled_from(Tier),
    in_history=st.booleans(),
    noise=st.lists(st.sampled_from(["Tier: medulla", "Status: promoted", "X: 1"]), max_size=3),
)
def test_med_079_where_a_file_lies_decides_and_nothing_else(
    origin: str | None, told: str, tier: Tier, in_history: bool, noise: list[str]
) -> None:
    claim = parse(render(Claim(label="a", state=told, origin_claim=origin, extra=tuple(noise))))

    conditions = {
        ClaimState.SUPERSEDED: in_history or told == "outdated",
        ClaimState.PROJECT_PRIVATE: tier is Tier.PROJECT and not in_history and told != "outdated",
        ClaimState.PROMOTED: tier is Tier.MEDULLA and origin is not None and not in_history and told != "outdated",
        ClaimState.DOCTRINE_BORN: tier is Tier.MEDULLA and origin is None and not in_history and told != "outdated",
    }
    assert [state for state, holds in conditions.items() if holds] == [state_of(claim, tier=tier, in_history=in_history)]


@pytest.mark.req("MED-080")
@pytest.mark.parametrize("agent", ["codex:maker", "claude:orchestrator", "human:founder"])
def test_med_080_a_claim_is_born_private_whoever_writes_it(world: World, agent: str) -> None:
    x = world.brain("x")

    answer = world.at(x, agent).memorize("Born")

    assert (answer["path"], answer["tier"]) == (str(world.file(x, "born")), "project")
    assert not world.home.medulla_dir.exists()


@pytest.mark.req("MED-081")
@pytest.mark.parametrize("inside", [True, False], ids=["from a project", "from nowhere"])
def test_med_081_doctrine_is_born_in_the_medulla_on_purpose(world: World, inside: bool) -> None:
    root = world.brain("x") if inside else None

    answer = world.human(root).memorize("Small commits", "commit small", tier="medulla")

    claim = parse(world.file(None, "small-commits").read_text())
    assert answer["path"] == str(world.file(None, "small-commits"))
    assert (claim.origin_brain, claim.origin_claim) == ("medulla", None)
    (row,) = world.human(root).seek("commit small", tier="medulla")["results"]
    assert (row["state"], row["tier"]) == ("doctrine_born", "medulla")
    assert "etiquette" not in answer


@pytest.mark.req("MED-082")
def test_med_082_doctrine_by_another_role_lands_with_a_word_about_it(world: World) -> None:
    x = world.brain("x")

    answer = world.at(x, "codex:maker").memorize("By a maker", tier="medulla")

    assert answer["etiquette"] == "expected *:orchestrator or human:founder"
    assert "Source-Agent: codex:maker" in world.file(None, "by-a-maker").read_text().split("\n")


READS: dict[str, dict[str, Any]] = {
    "seek": {"query": "lesson retries"},
    "history": {"claim": "Lesson"},
    "recall": {"query": "lesson"},
}


@pytest.mark.req("MED-083")
def test_med_083_no_read_and_no_restart_changes_a_store(world: World) -> None:
    x, y = a_shared_claim(world)
    world.at(y).memorize("Lesson", "y sees it otherwise")
    stores = [world.store(root) for root in (x, y, None)]
    before = tree_hash(*stores)
    reads = [name for name, operation in REGISTRY.items() if operation.effect is Effect.READ]
    assert {"north", "seek", "history", "doctor", "cross_verify", "instances", "audit_promotions"} <= set(reads)

    for turn in range(100):
        name = reads[turn % len(reads)]
        world.at(x).call(name, **READS.get(name, {}))
        world.at(y).north("retries", tier="all-brains" if turn % 2 else None)
    world.restart()
    world.at(x).call("ingest", path=str(world.store(x)), adapter="light")
    world.at(y).north("lesson")

    assert tree_hash(*stores) == before


@pytest.mark.req("MED-084", "MED-085")
def test_med_085_the_original_stays_as_witness_and_the_pair_is_no_conflict(world: World) -> None:
    x, _ = a_shared_claim(world)

    north = world.at(x).north("retries jitter")

    assert world.file(x, "lesson").exists()
    assert [(row["tier"], row["state"]) for row in north["memory"]] == [("project", "project_private"), ("medulla", "promoted")]
    assert north["memory"][0]["witness"] is True
    assert {row["pair"] for row in north["memory"]} == {"witness"}
    assert north["conflicts"] == []


@pytest.mark.req("MED-086")
def test_med_086_a_history_file_that_was_copied_back_is_not_live_and_is_named(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Label", "first wording")
    world.at(x).memorize("Label", "second wording")
    (archived,) = world.history(x, "label")

    shutil.copyfile(archived, world.file(x, "label"))

    assert world.at(x).seek("wording")["results"] == []
    warnings = world.at(x).call("doctor")["warnings"]
    assert [one["kind"] for one in warnings] == ["unattributed_change"]
    revived = world.at(x).memorize("Label", "first wording")
    assert revived["superseded"] is True
    assert [row["text"] for row in world.at(x).seek("wording")["results"]] == ["first wording"]


@pytest.mark.req("MED-087")
def test_med_087_the_history_of_a_label_is_one_chain(world: World) -> None:
    x = world.brain("x")
    born = []
    for number in (1, 2, 3):
        world.at(x, f"codex:{number}").memorize("Label", f"v{number}")
        born.append(world.clock.now)
        world.clock.forward(500)

    versions = world.at(x).call("history", claim="Label")["versions"]

    assert [(one["live"], one["source_agent"], one["created"]) for one in versions] == [
        (True, "codex:3", born[2]),
        (False, "codex:2", born[1]),
        (False, "codex:1", born[0]),
    ]
    assert [one["archived_at"] for one in versions] == [None, born[2], born[1]]
    assert "Supersedes: label" in versions[0]["text"]


@pytest.mark.req("MED-066", "MED-088", "MED-089")
def test_med_088_supersession_runs_in_each_store_by_itself(world: World) -> None:
    x, _ = a_shared_claim(world)
    copy, witness = world.file(None, "lesson").read_bytes(), parse(world.file(x, "lesson").read_text())
    assert witness.created == world.clock.now - 1_000
    world.clock.forward(1_000)

    world.at(x).memorize("Lesson", "retries need jitter and a cap")

    assert world.file(None, "lesson").read_bytes() == copy
    assert parse(world.file(x, "lesson").read_text()).promoted_to is None
    newest = max(world.history(x, "lesson"), key=lambda path: int(path.name.split(".")[1]))
    assert parse(newest.read_text()).promoted_to == witness.promoted_to is not None
    own = world.file(x, "lesson").read_bytes()
    world.human(x).memorize("Lesson", "doctrine about jitter", tier="medulla")
    assert world.file(x, "lesson").read_bytes() == own
    assert Path(world.history(None, "lesson")[0]).exists()
