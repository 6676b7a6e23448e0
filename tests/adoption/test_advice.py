"""Evaluator advice: a report on a request, which decides nothing (MIND-323 to MIND-330)."""

from typing import Any

import pytest

from tests.adoption.outcomes import a_card, seen, table_counts
from tests.support.still import still
from tests.support.world import World

ASKED = {"evaluator_id": "ev1", "subject_kind": "dao_ren", "subject_id": "k1", "proposed_action": "promote"}


@pytest.mark.req("MIND-323", "MIND-326")
def test_mind_323_mind_326_advice_repeats_what_was_said_and_gives_reasons(world: World) -> None:
    here = world.at(world.brain("app"))

    against = here.call(
        "knowledge.advise", **ASKED, evidence_refs=["e1", " "], counterexample_refs=["e2"], risk_notes=["x"], note="n"
    )
    support = here.call("knowledge.advise", **ASKED, evidence_refs=["e1", "e2"])

    said = {"evidence_refs": ["e1"], "counterexample_refs": ["e2"], "risk_notes": ["x"], "note": "n"}
    assert {name: against[name] for name in (*ASKED, *said)} == ASKED | said
    assert any("e2" in reason for reason in against["reasons"])
    assert any("x" in reason for reason in against["reasons"])
    assert (support["writes"], support["lifecycle_authority"], support["deterministic_gate_required"]) == (False, False, True)
    assert support["recommendation"] == "advisory_support"
    assert support["requires_human_review"] is False
    assert support["adoption_capture"]["writes"] is False


@pytest.mark.req("MIND-324")
def test_mind_324_advice_changes_no_card_and_opens_no_gate(world: World) -> None:
    root = world.brain("app")
    here = world.at(root)
    card = a_card(here)
    refs = [here.call("record", text=f"seen again, number {number}")["evidence_id"] for number in range(5)]
    before, gate = table_counts(world, root), here.call("knowledge.gate", card_id=card)
    assert gate["allowed"] is False

    words = ASKED | {"evaluator_id": "human:founder", "subject_kind": "qi", "subject_id": card}
    with still(world.place):
        assert here.call("knowledge.advise", **words, evidence_refs=refs)["recommendation"] == "advisory_support"

    assert table_counts(world, root) == before
    assert here.call("knowledge.gate", card_id=card) == gate


@pytest.mark.req("MIND-325")
@pytest.mark.parametrize("name", list(ASKED))
def test_mind_325_who_and_what_must_be_said(world: World, name: str) -> None:
    here = world.at(world.directory("nowhere"))
    missing = here.call("knowledge.advise", **{key: value for key, value in ASKED.items() if key != name})
    blank = here.call("knowledge.advise", **(ASKED | {name: "  "}))

    for answer in (missing, blank):
        assert answer["error"]["code"] == "invalid_params"
        assert name in answer["error"]["message"]


@pytest.mark.req("MIND-327")
@pytest.mark.parametrize(
    ("more", "recommendation", "human"),
    [
        ({"evidence_refs": ["e1"], "risk_notes": ["r"]}, "do_not_promote", False),
        ({"evidence_refs": ["e1"], "counterexample_refs": ["e2"]}, "do_not_promote", False),
        ({}, "needs_evidence", False),
        ({"evidence_refs": ["  "], "risk_notes": [""]}, "needs_evidence", False),
        (
            {"subject_kind": "dao_tian", "proposed_action": "promote_canonical", "evidence_refs": ["e1"]},
            "requires_human_review",
            True,
        ),
        ({"subject_kind": "dao_tian", "evidence_refs": ["e1"]}, "advisory_support", False),
        ({"subject_kind": "qi", "evidence_refs": ["e1"]}, "advisory_support", False),
        (
            {
                "subject_kind": "dao_tian",
                "proposed_action": "promote_canonical",
                "evidence_refs": ["e1"],
                "risk_notes": ["r"],
            },
            "do_not_promote",
            True,
        ),
    ],
)
def test_mind_327_the_first_rule_that_applies(world: World, more: dict[str, Any], recommendation: str, human: bool) -> None:
    found = world.at(world.directory("nowhere")).call("knowledge.advise", **(ASKED | more))
    assert (found["recommendation"], found["requires_human_review"]) == (recommendation, human)


@pytest.mark.req("MIND-328")
def test_mind_328_advice_depends_on_the_request_alone(world: World) -> None:
    one, two = world.at(world.brain("one")), world.at(world.brain("two"))
    a_card(one)
    seen(two, "accepted", 3)
    nowhere = world.at(world.directory("nowhere"))

    found = [caller.call("knowledge.advise", **ASKED, evidence_refs=["e1"], note="n") for caller in (one, two, nowhere)]

    assert found[0] == found[1] == found[2]


@pytest.mark.req("MIND-329", "MIND-330")
def test_mind_329_mind_330_the_record_of_advice_is_prepared_and_not_written(world: World) -> None:
    here = world.at(world.brain("app"))

    plan = here.call("knowledge.advise", **ASKED, evidence_refs=["e1"], note="n")["adoption_capture"]

    assert plan["record_payload"] == {
        "action": "record",
        "track": "evaluator",
        "signal": "used",
        "feature": "advisory_gate",
        "query": "dao_ren:k1 promote",
        "evaluator_id": "ev1",
        "note": "n",
        "metadata": {
            "subject_kind": "dao_ren",
            "subject_id": "k1",
            "proposed_action": "promote",
            "recommendation": "advisory_support",
        },
    }
    assert here.call("adoption.stats")["total"] == 0
    assert here.call("adoption.record", **plan["record_call"]["arguments"], checked=True)["writes"] is True
    # Every outcome of the world makes advice no stronger: it goes on saying that it has no authority.
    seen(here, "accepted", 3, track="evaluator", feature="advisory_gate", evaluator_id="ev1")
    assert here.call("adoption.gate", candidate="evaluator-api")["ready"] is True
    assert here.call("knowledge.advise", **ASKED, evidence_refs=["e1"])["lifecycle_authority"] is False
