"""Evidence under the conformance table: what reaches a context has a living source, and a source takes everything with it."""

from pathlib import Path
from typing import Any

import pytest

from hindbrain.stores.port import Where
from hindbrain.stores.vector_port import Shelf
from tests.conformance.house import background
from tests.support.evidence_sources import jsonl
from tests.support.model import tiny_weights
from tests.support.world import World

GONE, SIBLING = "quxzebra", "quxgiraffa"


def rows_in(answer: dict[str, Any]) -> list[str]:
    """Ids of the evidence that an answer shows."""
    rows = [*answer.get("results", ()), *answer.get("evidence", ()), *answer.get("memory", ())]
    return [str(row["evidence_id"]) for row in rows if row.get("evidence_id")]


@pytest.mark.req("CONF-04")
def test_conf_04_every_row_of_evidence_that_is_shown_resolves_to_a_living_record(any_world: World) -> None:
    root = any_world.brain("app")
    agent = any_world.at(root)
    Path(root, "notes.txt").write_text("The ferry leaves at nine from the north quay.\n")
    assert agent.call("memory.ingest", path="notes.txt")["ok"]
    log = jsonl(*({"session": "k", "text": text} for text in ("when does the ferry leave", "the ferry leaves at ten today")))
    assert agent.call("memory.ingest", text=log, source="chat.jsonl")["ok"]
    (late,) = [row for row in agent.call("memory.list")["rows"] if "ten today" in row["content"]]
    assert agent.call("memory.delete", evidence_id=late["evidence_id"], reason="that was yesterday")["ok"]
    background(any_world)

    question = "when does the ferry leave from the quay"
    shown = [
        *rows_in(agent.call("memory.search", query=question, floor=False)),
        *rows_in(agent.seek(question)),
        *rows_in(agent.north(question)),
    ]

    assert len(set(shown)) >= 2, "the control: something was injected"
    for one in set(shown):
        record = agent.call("memory.get", evidence_id=one)
        assert record["ok"], record
        assert record["source_file"]
        assert record["deleted_at"] is None
    assert late["evidence_id"] not in shown


@pytest.mark.req("CONF-05")
def test_conf_05_a_source_that_is_forgotten_takes_every_derived_kind_with_it(any_world: World, tmp_path: Path) -> None:
    assert any_world.human(None).call("model.install", path=str(tiny_weights(tmp_path / "weights")))["ok"]
    root = any_world.brain("app")
    agent, human = any_world.at(root), any_world.human(root)
    for word in (GONE, SIBLING):
        Path(root, f"{word}.txt").write_text(f"The {word} vault opens with seven turns.\n")
        assert agent.call("memory.ingest", path=f"{word}.txt")["ok"]
    assert agent.call("model.embed")["pending"] == 0
    (row,) = [one for one in agent.call("memory.list")["rows"] if GONE in one["content"]]
    before = held(any_world, root, GONE)
    assert before == {"rows": 1, "words": 1, "vectors": 2}, "the control: it was in every place"

    assert human.call("forget", claim=row["evidence_id"], reason="private")["ok"]
    background(any_world)
    assert agent.call("memory.reindex", force=True)["ok"]

    assert held(any_world, root, GONE) == {"rows": 0, "words": 0, "vectors": 1}
    assert agent.call("memory.get", evidence_id=row["evidence_id"])["error"]["code"] == "unknown_evidence"
    assert GONE not in str(agent.call("memory.search", query=f"{GONE} vault seven turns", floor=False)["results"])
    assert held(any_world, root, SIBLING) == {"rows": 1, "words": 1, "vectors": 1}
    assert SIBLING in str(agent.call("memory.search", query=f"{SIBLING} vault")["results"])


def held(world: World, root: str, word: str) -> dict[str, int]:
    """What each place has of a word; vectors know no words, so all of the shelf are counted."""
    brain = world.app.house.brains.covering(root)
    assert brain is not None
    with world.app.house.brains.use(brain) as opened:
        store = opened.store
        return {
            "rows": sum(word in one.content for one in store.each_evidence(Where())),
            "words": len(store.find([word], limit=10, shelf=Shelf.EVIDENCE).turns),
            "vectors": sum(store.vectors.stamps(Shelf.EVIDENCE).values()),
        }
