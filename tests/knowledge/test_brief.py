"""Briefs: every part with its source, and doubt kept as doubt (MIND-398 to MIND-411)."""

import random
from itertools import product
from typing import Any

import pytest

from hindbrain.engines.brief import brief_of
from hindbrain.operations import REGISTRY
from tests.support.scholar import Scholar, knowledge_of
from tests.support.still import still

EIGHT = ("summary", "key_facts", "evidence", "cards", "entities", "unresolved_items", "uncertainty", "next_actions")
HEADS = ("Summary", "Key Facts", "Evidence", "Cards", "Entities", "Unresolved", "Uncertainty", "Next Actions")


@pytest.mark.req("MIND-398", "MIND-410")
def test_mind_398_names_defaults_and_refusals(here: Scholar) -> None:
    arguments = REGISTRY["brief"].arguments
    named = dict(zip(arguments.__struct_fields__[1:], arguments.__struct_defaults__, strict=True))

    assert (named["max_items"], named["dao_tian_limit"], named["field"], named["domain"]) == (12, 1, "general", "project")
    assert here.refused("brief", query="q", max_items=0)["code"] == "invalid_params"


@pytest.mark.req("MIND-399", "MIND-400", "MIND-401", "MIND-407")
def test_mind_399_a_brief_has_eight_parts_each_with_its_source(scholar: Scholar) -> None:
    scholar.saw("Alice pricing was raised in May", source="calls/may.md")
    fact = scholar.promoted("Alice pricing is yearly.", supporting_refs=[scholar.saw("a contract was signed")])
    card = scholar.created("Alice pricing is negotiable.", supporting_refs=[scholar.saw("a mail was sent")])
    scholar.promote(card)

    brief = scholar.ok("brief", query="Alice pricing")

    assert set(EIGHT) <= set(brief)
    assert [one["citation"]["id"] for one in brief["key_facts"]] == [fact]
    assert [one["card_id"] for one in brief["cards"]] == [fact, card]
    assert [one["citation"]["source_file"] for one in brief["evidence"]] == ["calls/may.md"]
    for one in (*brief["key_facts"], *brief["evidence"], *brief["cards"]):
        assert set(one["citation"]) >= {"id", "source_file", "anchor_kind", "anchor_id"}
    summary = brief["summary"]
    assert (summary["key_fact_count"], summary["evidence_count"], summary["card_count"]) == (1, 1, 2)
    assert summary["narrative"].startswith("Found: 1 key fact, 1 row of evidence, 2 cards, 0 open items")
    assert [line.removeprefix("## ") for line in brief["rendered"].splitlines() if line.startswith("## ")] == list(HEADS)


@pytest.mark.req("MIND-400")
def test_mind_400_every_citation_resolves(here: Scholar) -> None:
    dice = random.Random(7)
    for n in range(12):
        text = f"The gadget {n} " + dice.choice(["is stale", "needs a follow up", "hums", "remains open"])
        if dice.random() < 0.4:
            here.promoted(f"{text}.", tier=dice.choice(["qi", "shu"]))
        else:
            here.saw(text)

    brief = here.ok("brief", query="gadget", max_items=30)

    cited = [one["citation"] for part in ("key_facts", "evidence", "cards", "unresolved_items") for one in brief[part]]
    cited += [citation for one in brief["uncertainty"] for citation in one["citations"]]
    assert len(cited) > 10
    for one in cited:
        if one["id"].startswith("card_"):
            here.card(one["id"])
        else:
            here.ok("memory.get", evidence_id=one["id"])


def pack(*items: tuple[str, str]) -> dict[str, Any]:
    """A pack as a context makes it; items as (section, text)."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for at, (section, text) in enumerate(items):
        item = {"id": f"x{at}", "source_file": "s", "text": text, "anchor_kind": "repo", "anchor_id": "repo://r"}
        if section != "evidence":
            item |= {"card_id": f"card_{at}", "evidence_citations": []}  # type: ignore[dict-item]
        if section == "opt_in":
            item["source_file"] = f"knowledge-card://card_{at}"
        sections.setdefault("qi" if section == "opt_in" else section, []).append(item)
    return {
        "query": "q",
        "domain": "project",
        "field": "general",
        "sections": [{"name": name, "items": found} for name, found in sections.items()],
    }


@pytest.mark.req("MIND-402")
@pytest.mark.parametrize("cue", ["TODO: x", "an Action Item", "follow up", "unresolved", "remains", "blocked by", "next step"])
def test_mind_402_what_is_open_is_known_by_its_words(cue: str) -> None:
    found = brief_of(pack(("evidence", cue), ("evidence", "All done")))

    assert [one["text"] for one in found["unresolved_items"]] == [cue]


@pytest.mark.req("MIND-403", "MIND-404")
@pytest.mark.parametrize("cue", ["a contradiction", "Rollback needed", "this index is stale", "counterexample"])
def test_mind_403_a_conflict_is_known_by_its_words_and_cited(cue: str) -> None:
    doubts = brief_of(pack(("evidence", cue), ("evidence", "fine")))["uncertainty"]

    assert [[one["id"] for one in doubt["citations"]] for doubt in doubts if doubt["kind"] == "conflict_cue"] == [["x0"]]
    assert not any(doubt["kind"] == "conflict_cue" for doubt in brief_of(pack(("evidence", "fine")))["uncertainty"])


@pytest.mark.req("MIND-405")
def test_mind_405_one_action_for_each_missing_or_open_part() -> None:
    for evidence, fact, card, open_ in product((True, False), repeat=4):
        items = [("evidence", "TODO" if open_ else "seen")] * evidence + [("shu", "TODO" if open_ else "a fact")] * fact
        items += [("opt_in", "TODO" if open_ else "a card")] * card
        found = brief_of(pack(*items))
        there = (evidence, fact, fact or card, not (open_ and (evidence or fact or card)))
        assert len(found["next_actions"]) == max(1, sum(not one for one in there))


@pytest.mark.req("MIND-406")
def test_mind_406_names_begin_with_a_capital_and_are_sorted() -> None:
    assert brief_of(pack(("evidence", "The Alice plan for ACME, a X and Jean-Luc. No Review")))["entities"] == [
        "ACME",
        "Alice",
        "Jean-Luc",
    ]


@pytest.mark.req("MIND-404")
def test_mind_404_open_items_and_conflicts_are_doubts_with_their_citations(here: Scholar) -> None:
    waits = here.saw("TODO: Alice pricing needs an answer", source="calls/may.md")
    disputed = here.saw("Alice pricing: a contradiction with the contract", source="calls/june.md")
    here.saw("Alice pricing was raised in May")

    doubts = here.ok("brief", query="Alice pricing")["uncertainty"]

    told = [(one["kind"], [(cited["id"], cited["source_file"]) for cited in one["citations"]]) for one in doubts]
    assert told == [
        ("no_key_facts", []),
        ("no_cards", []),
        ("unresolved_items", [(waits, "calls/may.md")]),
        ("conflict_cue", [(disputed, "calls/june.md")]),
    ]


@pytest.mark.req("MIND-404", "MIND-407", "MIND-408", "MIND-409", "MIND-411")
def test_mind_408_an_empty_store_is_told_as_doubt_and_nothing_is_written(here: Scholar) -> None:
    before = knowledge_of(here.world)
    here.ok("brief", query="Unknown account")

    with still(here.world.place):
        brief = here.ok("brief", query="Unknown account")

    assert [one["kind"] for one in brief["uncertainty"]] == ["no_evidence", "no_key_facts", "no_cards"]
    assert (brief["key_facts"], brief["evidence"], brief["cards"]) == ([], [], [])
    assert "unsupported" in brief["summary"]["narrative"]
    assert brief["rendered"].count("- none") == 5
    assert knowledge_of(here.world) == before
