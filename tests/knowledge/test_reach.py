"""What goes with a source: deleted, purged, forgotten and rejected evidence, kind by kind (CONF-05, 12, 14, 17, MIND-084)."""

import json

import pytest

from tests.support.scholar import Scholar, knowledge_of
from tests.support.world import World


def everything(scholar: Scholar) -> str:
    """All that any read of cards, evidence and history shows."""
    found = [knowledge_of(scholar.world), scholar.ok("knowledge.list"), scholar.ok("knowledge.export")]
    found.append(scholar.context("xylophone", include_cards=True, include_evidence=True, max_items=50))
    found.append(scholar.ok("memory.search", query="xylophone", floor=False))
    found.append(scholar.ok("ledger.show", limit=5000))
    return json.dumps(found, default=str)


@pytest.mark.req("CONF-05", "CONF-04")
def test_conf_05_deleted_evidence_takes_its_card_out_of_every_context_and_brings_it_back(scholar: Scholar) -> None:
    alone, shared = scholar.saw("the xylophone rattles at dawn"), scholar.saw("the drum is silent")
    card = scholar.distilled("Tighten the xylophone.", supporting_refs=[alone])
    scholar.promote(card, verification_refs=[shared])
    sibling = scholar.promoted("Cover the xylophone.", supporting_refs=[shared])

    def shown() -> set[str]:
        answer = scholar.context("xylophone", include_cards=True)
        for section in answer["sections"]:
            for item in section["items"]:
                for one in item["evidence_citations"]:
                    assert scholar.ok("memory.get", evidence_id=one["evidence_id"])["deleted_at"] is None
        return {item["id"] for section in answer["sections"] for item in section["items"]}

    assert shown() == {card, sibling}
    scholar.ok("memory.delete", evidence_id=alone)
    assert shown() == {sibling}
    assert scholar.card(card)["missing_refs"] == [alone]
    assert scholar.ok("knowledge.retrieve", query="xylophone rattles at dawn")["cards"] == []
    scholar.ok("memory.restore", evidence_id=alone)
    assert shown() == {card, sibling}


@pytest.mark.req("MIND-084", "MIND-261")
def test_mind_084_what_a_card_cites_is_not_purged(here: Scholar, person: Scholar) -> None:
    cited, loose = here.saw("cited"), here.saw("loose")
    here.distilled(supporting_refs=[cited])
    for row in (cited, loose):
        here.ok("memory.delete", evidence_id=row)

    answer = person.ok("memory.purge")

    assert (answer["purged"], answer["kept"]) == (1, [cited])
    here.ok("memory.restore", evidence_id=cited)


@pytest.mark.req("CONF-05", "CONF-14")
def test_conf_14_a_forgotten_source_takes_what_rests_on_it_alone(scholar: Scholar) -> None:
    person = Scholar(scholar.world, scholar.root, human=True)
    source, other = scholar.saw("the xylophone rattles at dawn"), scholar.saw("the drum is silent at night")
    alone = scholar.distilled("Tighten what rattles.", content="A loose xylophone rattles.", supporting_refs=[source])
    both = scholar.distilled("Listen at night.", supporting_refs=[source, other])
    scholar.promote(both, verification_refs=[other])
    law = scholar.distilled("Wood moves.", tier="dao_ren", supporting_refs=[source, other])
    scholar.promote(law, verification_refs=[other])
    sibling = scholar.promoted("Rest by day.", supporting_refs=[other])

    (reached,) = person.ok("forget", claim=source)["reached"]

    assert {one["card_id"]: one["now"] for one in reached["cards"]} == {alone: "forgotten", both: "promoted", law: "demoted"}
    assert scholar.refused("knowledge.get", card_id=alone)["code"] == "unknown_card"
    assert (scholar.status(both), scholar.status(law), scholar.status(sibling)) == ("promoted", "demoted", "promoted")
    assert scholar.card(both)["supporting_refs"] == [other]
    assert scholar.ok("knowledge.events", card_id=law)["events"][-1]["event_type"] == "demoted"
    scholar.world.restart()
    assert "rattles" not in everything(scholar)
    assert "Listen at night." in everything(scholar)
    again = scholar.refused(
        "knowledge.distill", statement="Tighten what rattles.", content="As before.", tier="qi", supporting_refs=[other]
    )
    assert again["code"] == "rejected_value"
    assert scholar.ok("ledger.verify")["ok"]


@pytest.mark.req("CONF-14", "MIND-138")
def test_conf_14_a_forgotten_card_is_gone_with_its_words_and_history(scholar: Scholar) -> None:
    person = Scholar(scholar.world, scholar.root, human=True)
    card = scholar.promoted("Tighten the xylophone that rattles.", content="It rattles when loose.")
    scholar.ok("knowledge.annotate", card_id=card, reason="the xylophone rattles less")
    sibling = scholar.promoted("Rest by day.")

    assert scholar.refused("forget", claim=card)["code"] == "human_needed"
    person.ok("forget", claim=card)

    scholar.world.restart()
    assert "rattles" not in everything(scholar)
    assert [one["id"] for one in scholar.ok("knowledge.list")["cards"]] == [sibling]
    assert scholar.ok("ledger.verify")["ok"]


@pytest.mark.req("CONF-17", "CONF-05")
def test_conf_17_forgetting_and_deleting_reach_the_copies_of_a_published_card(any_world: World) -> None:
    here, other = Scholar(any_world, any_world.brain("a")), Scholar(any_world, any_world.brain("b"))
    person = Scholar(any_world, here.root, human=True)
    source = here.saw("the xylophone rattles at dawn")
    card = here.distilled("Tighten the xylophone.", tier="shu", supporting_refs=[source])
    here.promote(card)
    person.ok("knowledge.publish", card_id=card, to="global", reason="everywhere", as_global=True)
    assert other.shown("xylophone") == {"shu": ["Tighten the xylophone."]}

    here.ok("memory.delete", evidence_id=source)
    assert other.shown("xylophone") == {}
    here.ok("memory.restore", evidence_id=source)
    assert other.shown("xylophone") == {"shu": ["Tighten the xylophone."]}
    person.ok("forget", claim=source)
    assert other.shown("xylophone") == {}
    assert other.refused("memory.get", evidence_id=source)["code"] == "unknown_evidence"
    assert "rattles" not in everything(here)


@pytest.mark.req("CONF-09", "CONF-12", "CONF-13")
def test_conf_12_a_rejected_value_leaves_no_active_card_and_does_not_come_back(scholar: Scholar) -> None:
    person = Scholar(scholar.world, scholar.root, human=True)
    value = "The xylophone needs oil."
    card = scholar.promoted(value)
    neighbour = scholar.promoted("The xylophone needs wax.")

    answer = person.ok("reject", claim="oil", value=value, reason="it ruins the wood")

    assert answer["cards_retired"] == 1
    assert (scholar.status(card), scholar.status(neighbour)) == ("retired", "promoted")
    assert scholar.shown("xylophone needs") == {"qi": ["The xylophone needs wax."]}
    for disguise in (value, value.upper(), "The  xylophone needs oil !", "The xyl\u200bophone needs oil."):
        error = scholar.refused(
            "knowledge.distill", statement=disguise, content="Because it was so.", tier="qi", supporting_refs=[scholar.saw()]
        )
        assert error["code"] == "rejected_value", disguise


@pytest.mark.req("CONF-14", "CONF-05")
def test_conf_14_what_only_mentions_a_forgotten_value_goes_too(scholar: Scholar) -> None:
    person = Scholar(scholar.world, scholar.root, human=True)
    source = scholar.saw("the xylophone rattles at dawn")
    given = {"track": "runtime_adoption", "signal": "accepted", "feature": "context_pack"}
    told = scholar.ok("adoption.record", **given, note="Helped: the xylophone rattles at dawn.\nThe xylophone rattles at dawn.")
    other = scholar.ok("adoption.record", **given, note="the drum helped")["event"]["id"]
    loose = scholar.ok("adoption.record", **given, note="a second note")["event"]["id"]

    person.ok("forget", claim=source)
    person.ok("forget", claim=loose)

    assert [one["id"] for one in scholar.ok("adoption.list")["events"]] == [other], told
    assert "rattles" not in everything(scholar)
    assert scholar.ok("ledger.verify")["ok"]
    assert scholar.refused("forget", claim=other)["code"] == "human_needed"
