"""A row of evidence, with what was said around it and what rests on it."""

from tests.support.scholar import Scholar


def test_citing_a_row_tells_its_neighbours_and_the_cards_that_cite_it(here: Scholar) -> None:
    said = [here.ok("record", text=f"turn {number}", thread="talk", wing="app")["evidence_id"] for number in range(5)]
    here.ok("record", text="another room", thread="talk", wing="elsewhere")
    card = here.created("Bound every retry.", supporting_refs=[said[2]])

    told = here.ok("memory.get", evidence_id=said[2], around=1, citing=True)

    assert [one["content"] for one in told["around"]] == ["turn 1", "turn 3"]
    assert [(one["card_id"], one["role"], one["statement"]) for one in told["cited_by"]] == [
        (card, "supporting", "Bound every retry.")
    ]
    assert not {"around", "cited_by"} & set(here.ok("memory.get", evidence_id=said[2]))
