"""What is rejected, retracted or forgotten stays away from evidence too: CONF-05, CONF-12 to CONF-17."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.evidence_sources import jsonl
from tests.support.world import Actor, World

VALUE = "The staging database listens on port 5433."
BEFORE, AFTER = "We deploy on Fridays only.", "Retries are bounded to three attempts."
DOCUMENT = f"{BEFORE} {VALUE} {AFTER}\n"


@pytest.fixture
def root(any_world: World) -> str:
    return any_world.brain("app")


def contents(actor: Actor) -> list[str]:
    return sorted(row["content"] for row in actor.call("memory.list", limit=1000)["rows"])


def said(actor: Actor, query: str) -> str:
    return "\n".join(row["content"] for row in actor.call("memory.search", query=query, floor=False, top_k=50)["results"])


def ingest(actor: Actor, **arguments: Any) -> dict[str, Any]:
    answer = actor.call("memory.ingest", **arguments)
    assert answer["ok"], answer
    return answer


@pytest.mark.req("CONF-12", "CONF-13", "CONF-16")
def test_conf_12_a_rejected_value_is_no_row_and_its_document_still_is(any_world: World, root: str) -> None:
    agent, human = any_world.at(root), any_world.human(root)
    Path(root, "notes.txt").write_text(DOCUMENT)
    ingest(agent, path="notes.txt")

    rejected = human.call("reject", claim="staging port", value=VALUE)
    assert rejected["evidence_ended"] == 1
    assert contents(agent) == sorted([AFTER, BEFORE])

    for number, text in enumerate((DOCUMENT, f"# Notes\n\n- {VALUE.upper()}\n- {AFTER}\n", f"> {VALUE}\n\n{BEFORE}\n")):
        Path(root, f"again{number}.md").write_text(text)
        answer = ingest(agent, path=f"again{number}.md")
        assert [one["code"] for one in answer["refused"]] == ["rejected_value"]
    log = jsonl({"session": "s", "text": VALUE}, {"session": "s", "text": AFTER}, {"session": "s", "text": f"Ada said: {VALUE}"})
    ingest(agent, text=log)

    assert "5433" not in "\n".join(contents(agent))
    assert "5433" not in said(agent, "staging database port 5433")
    assert AFTER in said(agent, "retries bounded")
    assert BEFORE in said(agent, "deploy Fridays")
    assert agent.call("record", text="  the staging DATABASE listens on port 5433 ")["error"]["code"] == "rejected_value"


@pytest.mark.req("CONF-12")
def test_conf_12_a_short_value_under_its_label_is_cut_out(any_world: World, root: str) -> None:
    agent, human = any_world.at(root), any_world.human(root)
    assert human.call("reject", claim="Database port", value="5433")["ok"]

    answer = ingest(agent, text=f"Database port: 5433\n{AFTER}\nThe bus number is 5433\n")

    assert len(answer["refused"]) == 1
    assert contents(agent) == [f"{AFTER}\nThe bus number is 5433"]


@pytest.mark.req("CONF-15", "CONF-16")
def test_conf_16_a_retraction_survives_its_source_and_an_index_made_anew(any_world: World, root: str) -> None:
    agent = any_world.at(root)
    turns = ["the budget is nine thousand", "we meet on Monday", "bring the blue folder"]
    Path(root, "k.jsonl").write_text(jsonl(*({"session": "k", "text": text} for text in turns)))
    ingest(agent, path="k.jsonl")
    (wrong,) = [row for row in agent.call("memory.list")["rows"] if "nine" in row["content"]]

    agent.call("memory.delete", evidence_id=wrong["evidence_id"], reason="it was a guess")
    agent.call("record", text="the budget is seven thousand", thread="k")
    Path(root, "k.jsonl").write_text(jsonl(*({"session": "k", "text": text} for text in [*turns, "and the map"])))
    ingest(agent, path="k.jsonl")
    agent.call("memory.reindex", force=True)
    any_world.restart()

    assert "nine" not in said(agent, "what is the budget nine")
    assert "seven thousand" in said(agent, "what is the budget")
    assert all(text in contents(agent) for text in [*turns[1:], "and the map"])
    assert [row["content"] for row in agent.call("memory.list", deleted=True)["rows"]] == [turns[0]], "history is intact"


@pytest.mark.req("CONF-05", "CONF-14", "CONF-17")
def test_conf_14_what_is_forgotten_leaves_nothing_behind(world: World) -> None:
    root = world.brain("app")
    agent, human = world.at(root), world.human(root)
    turns = ["are you there", "the zanzibar vault opens with seven turns", "understood", "see you at the quay"]
    log = jsonl(*({"session": "k", "id": str(i), "text": text} for i, text in enumerate(turns)))
    ingest(agent, text=log, source="log")
    agent.call("record", text=turns[1], wing="elsewhere")
    export = world.place / "before.tar.gz"
    assert human.call("export", target=str(export))["evidence"] == 5
    (row,) = [row for row in agent.call("memory.list", thread="k")["rows"] if "zanzibar" in row["content"]]

    answer = human.call("forget", claim=row["evidence_id"], reason="private")
    assert [one["rows"] for one in answer["reached"]] == [2]
    world.restart()

    assert contents(agent) == sorted([turns[0], *turns[2:]])
    for word in ("zanzibar", "vault", "seven turns"):
        assert "zanzibar" not in said(agent, word)
        assert agent.call("memory.search", query=word, floor=False)["results"] == []
    assert {row["code"] for row in ingest(agent, text=log + "\n", source="log")["refused"]} == {"rejected_value"}
    for kept in (human.call("import", source=str(export)), world.human(world.brain("other")).call("import", source=str(export))):
        assert {one["code"] for one in kept["refused"]} == {"rejected_value"}
        assert kept["counts"]["refused"] == 2
    assert "see you at the quay" in said(agent, "quay")
    world.close()
    holding = [path for path in (world.home.path / "brains").rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]
    assert holding == []
    assert agent.call("ledger.verify")["ok"]


@pytest.mark.req("CONF-14")
def test_conf_14_only_a_person_forgets(world: World) -> None:
    root = world.brain("app")
    agent = world.at(root, "human:founder")
    id_ = agent.call("record", text="the ferry left")["evidence_id"]

    assert agent.call("forget", claim=id_)["error"]["code"] == "human_needed"
    assert contents(agent) == ["the ferry left"]


def test_an_export_carries_evidence_to_another_brain(any_world: World, root: str) -> None:
    agent, human = any_world.at(root), any_world.human(root)
    ingest(agent, text=jsonl(*({"session": "k", "text": f"turn {i} of the ferry"} for i in range(12))), source="log")
    agent.call("record", text="a secret is refused on the way", tags=["t"], importance=3)
    archive = any_world.place / f"{Path(root).parent.name}.tar.gz"
    human.call("export", target=str(archive))
    there = any_world.brain("there")

    answer = any_world.human(there).call("import", source=str(archive))
    again = any_world.human(there).call("import", source=str(archive))

    assert (answer["counts"]["taken"], answer["counts"]["refused"]) == (13, 0)
    assert (again["counts"]["taken"], again["counts"]["unchanged"]) == (0, 13)
    mine, theirs = (any_world.at(one).call("memory.list", newest=False)["rows"] for one in (root, there))
    brainless = [{key: row[key] for key in row if key != "brain"} for row in mine]
    assert [{key: row[key] for key in row if key != "brain"} for row in theirs] == brainless
    assert len(any_world.at(there).call("memory.search", query="turn 5", floor=False)["results"]) > 1
