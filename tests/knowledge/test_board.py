"""Cards as a board asks for them: by words, of one brain, with what each lacks, how many there are, and rejected by their id."""

import pytest

from tests.support.scholar import Scholar


def test_board_cards_are_found_by_the_beginnings_of_their_words(scholar: Scholar) -> None:
    bound, cap = scholar.distilled("Bound every retry."), scholar.distilled("Cap the queue.", field="Queues")

    def found(query: str) -> list[str]:
        return [card["id"] for card in scholar.ok("knowledge.list", query=query)["cards"]]

    assert found("retr BOUND") == [bound]
    assert found("queues ca") == [cap]
    assert found("etry") == []
    assert sorted(found(" ")) == sorted([bound, cap])


def test_board_counts_tell_of_every_card_and_not_only_of_those_that_are_shown(scholar: Scholar) -> None:
    scholar.promoted("Bound every retry.")
    scholar.distilled("Cap the queue.", field="queues")
    scholar.distilled("A retry hides a fault.", tier="dao_ren")

    answer = scholar.ok("knowledge.list", limit=1, facets=True)

    assert (len(answer["cards"]), answer["total"]) == (1, 3)
    assert answer["counts"] == {"dao_ren": {"candidate": 1}, "qi": {"candidate": 1, "promoted": 1}}
    assert answer["facets"]["fields"] == [{"name": "general", "count": 2}, {"name": "queues", "count": 1}]
    assert answer["facets"]["domains"] == {"project": 3}
    assert scholar.ok("knowledge.list", field="queues", facets=True)["facets"] == answer["facets"]


def test_board_a_listed_card_tells_what_it_lacks(here: Scholar, person: Scholar) -> None:
    card = here.distilled()

    (row,) = here.ok("knowledge.list", gates=True)["cards"]

    gate = here.ok("knowledge.gate", card_id=card)
    assert row["gate"] == {name: gate[name] for name in ("allowed", "target_status", "reasons")}
    assert "gate" not in here.ok("knowledge.list")["cards"][0]
    law = here.canonical()
    told = {one["id"]: one["gate"] for one in person.ok("knowledge.list", gates=True)["cards"]}
    assert told[law]["allowed"]  # a person who looks could review it


def test_board_the_cards_and_the_queue_of_one_brain_are_told_alone(here: Scholar) -> None:
    own, shared = here.distilled(), here.canonical()
    here.ok("knowledge.link", card_id=own, evidence_id=here.saw(), role="verification")

    def of(brain: str) -> set[str]:
        return {card["id"] for card in here.ok("knowledge.list", brain=brain)["cards"]}

    assert (own in of("project"), shared in of("project")) == (True, False)
    assert (own in of("medulla"), shared in of("medulla")) == (False, True)
    assert [item["card_ids"] for item in here.ok("review", brain="project")["items"]] == [[own]]
    assert here.ok("review", brain="medulla")["items"] == []


@pytest.mark.parametrize("statement", ["Bound every retry of the uploader.", "Bound it."])
def test_board_what_a_card_says_is_rejected_by_its_id(here: Scholar, person: Scholar, statement: str) -> None:
    card = here.promoted(statement)

    assert here.refused("reject", claim=card)["code"] == "human_needed"
    person.ok("reject", claim=card, reason="never true")

    assert here.status(card) == "retired"
    again = {"statement": statement, "content": "Another why.", "tier": "qi", "supporting_refs": [here.saw()]}
    assert here.refused("knowledge.distill", **again)["code"] == "rejected_value"
    person.ok("reject", claim=card, lift=True)
    assert here.ok("knowledge.distill", **again)["ok"]


def test_board_a_claim_that_is_labelled_like_a_card_is_still_a_claim(here: Scholar, person: Scholar) -> None:
    here.ok("memorize", node_label="card_index", text="The card index stands in the cellar.")

    assert person.ok("reject", claim="card_index", reason="it moved")["ended"]
