"""Corrections hold after a new index, history keeps what was corrected, and feeding the source again undoes nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.house import background, found
from tests.support.world import DAY, World, block

LABEL = "Staging port"
OLD, NEW = "The staging database listens on port 5433.", "The staging database listens on port 6121."
KEPT = "Backups of staging run at two in the night."


def by_replacement(world: World, root: str) -> None:
    world.at(root).memorize(LABEL, NEW)


def by_negation(world: World, root: str) -> None:
    assert world.human(root).call("reject", claim=LABEL, value=OLD, reason="never true")["ok"]
    world.at(root).memorize(LABEL, NEW)


def by_retraction(world: World, root: str) -> None:
    assert world.human(root).call("reject", claim=LABEL, reason="a guess, and nothing better is known")["ok"]
    world.at(root).memorize("Staging ports", NEW)


def in_part(world: World, root: str) -> None:
    assert world.at(root).call("memorize", node_label=LABEL, claims=[block(LABEL, NEW), block("Nightly", KEPT)])["ok"]


CORRECTIONS: dict[str, Callable[[World, str], None]] = {
    "replacement": by_replacement,
    "negation": by_negation,
    "retraction": by_retraction,
    "in part": in_part,
}


@pytest.mark.req("CONF-15")
@pytest.mark.parametrize("way", CORRECTIONS)
def test_conf_15_a_correction_holds_after_a_new_index(any_world: World, way: str) -> None:
    root = any_world.brain("app")
    agent = any_world.at(root)
    if way == "in part":
        assert agent.call("memorize", node_label=LABEL, claims=[block(LABEL, OLD), block("Nightly", KEPT)])["ok"]
    else:
        agent.memorize(LABEL, OLD)
        agent.memorize("Nightly", KEPT)
    assert any("5433" in text for text in found(any_world, root, "staging database port"))
    any_world.clock.forward(DAY)

    CORRECTIONS[way](any_world, root)
    background(any_world)

    told = found(any_world, root, "staging database port backups night")
    assert not any("5433" in text for text in told)
    assert any("6121" in text for text in told)
    assert any(KEPT in text for text in told)
    assert any_world.at(root).call("ledger.verify")["intact"]
    if way in ("replacement", "in part"):
        versions = any_world.at(root).call("history", claim="staging-port")["versions"]
        assert any("5433" in str(one) for one in versions), "history is intact"


@pytest.mark.req("CONF-15")
def test_conf_15_a_correction_for_a_bounded_time_ends_with_it(any_world: World) -> None:
    root = any_world.brain("app")
    any_world.at(root).memorize(LABEL, OLD)
    any_world.clock.forward(DAY)
    any_world.at(root).memorize(LABEL, NEW)
    during = any_world.clock()
    background(any_world)
    assert not any("5433" in text for text in found(any_world, root, "staging database port"))
    any_world.clock.forward(DAY)

    any_world.at(root).memorize(LABEL, OLD)
    background(any_world)

    assert any("5433" in text for text in found(any_world, root, "staging database port"))
    assert not any("6121" in text for text in found(any_world, root, "staging database port"))
    then = any_world.at(root).call("recall", query="staging database port", as_of=during)
    assert "6121" in str(then["memory"])
    assert "5433" not in str(then["memory"])


@pytest.mark.req("CONF-16")
def test_conf_16_feeding_the_source_again_does_not_undo_a_retraction_in_memory_or_evidence(any_world: World) -> None:
    root = any_world.brain("app")
    agent = any_world.at(root)
    Path(root, "notes.txt").write_text(f"{OLD} {KEPT}\n")
    agent.memorize(LABEL, OLD)
    assert agent.call("memory.ingest", path="notes.txt")["ok"]

    assert any_world.human(root).call("reject", claim=LABEL, reason="withdrawn")["ok"]
    background(any_world)
    agent = any_world.at(root)
    assert agent.call("memorize", node_label="Port again", text=OLD)["refused"] == "rejected_value"
    Path(root, "notes.txt").write_text(f"{OLD} {KEPT} And more.\n")
    assert agent.call("memory.ingest", path="notes.txt")["ok"]

    assert not any("5433" in text for text in found(any_world, root, "staging database port"))
    rows = agent.call("memory.search", query="staging backups night port", floor=False)["results"]
    assert "5433" not in str(rows)
    assert any(KEPT in row["content"] for row in rows), "everything else the source said is recalled"
