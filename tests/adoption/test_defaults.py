"""Gates, readiness, and a default that a person switches on and takes back (MIND-364 to MIND-387)."""

import itertools
import json
from typing import Any

import pytest

from hindbrain.domain.adoption import Track
from hindbrain.engines.readiness import gate, readiness
from tests.adoption.outcomes import seen, table_counts
from tests.adoption.test_reports import made
from tests.support.scholar import Scholar
from tests.support.still import still
from tests.support.world import DAY, Actor, World

CRITERION = "disable on rollback"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


class Stage:
    """One brain, an agent and a person in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = world.brain("app")
        self.agent: Actor = world.at(self.root)
        self.person: Actor = world.human(self.root)

    def enabled(self, **more: Any) -> dict[str, Any]:
        return self.person.call(
            "defaults.set", candidate="card-context", enable=True, **({"rollback_criteria": [CRITERION]} | more)
        )

    def disabled(self) -> dict[str, Any]:
        return self.person.call("defaults.set", candidate="card-context", disable=True)

    @property
    def on(self) -> bool:
        """As the context service asks."""
        house = self.world.app.house
        brain = house.brains.covering(self.root)
        assert brain is not None
        with house.brains.use(brain) as opened:
            return house.defaults.include_cards(opened)

    def meta(self, key: str, value: str) -> None:
        """What somebody with the database file could do."""
        house = self.world.app.house
        brain = house.brains.covering(self.root)
        assert brain is not None
        with house.brains.use(brain) as opened, opened.store.writing() as writer:
            writer.set_meta(key, value)


@pytest.fixture
def stage(any_world: World) -> Stage:
    return Stage(any_world)


# -- gates and readiness ---------------------------------------------------------------------------------------------

GATES: tuple[tuple[str, Track, dict[str, int], bool], ...] = (
    ("card-context-default", Track.CARD_CONTEXT, {"accepted": 3}, True),
    ("card-context-default", Track.CARD_CONTEXT, {"accepted": 3, "rollback": 1}, False),
    ("card-context-default", Track.CARD_CONTEXT, {"accepted": 3, "rejected": 4}, False),
    ("card-context-default", Track.CARD_CONTEXT, {"accepted": 3, "rejected": 3}, True),
    ("card-context-default", Track.CARD_CONTEXT, {"accepted": 2}, False),
    ("card-embeddings", Track.CARD_EMBEDDING, {"miss": 2}, False),
    ("card-embeddings", Track.CARD_EMBEDDING, {"miss": 3}, True),
    ("card-embeddings", Track.CARD_EMBEDDING, {"miss": 3, "rollback": 1}, False),
    ("evaluator-api", Track.EVALUATOR, {"accepted": 3}, True),
    ("evaluator-api", Track.EVALUATOR, {"accepted": 2}, False),
    ("evaluator-api", Track.EVALUATOR, {"accepted": 3, "contradiction": 1}, False),
    ("evaluator-api", Track.EVALUATOR, {"accepted": 3, "rollback": 1}, False),
    ("research-adapter", Track.RESEARCH_ADAPTER, {"accepted": 1}, True),
    ("research-adapter", Track.RESEARCH_ADAPTER, {"accepted": 1, "rollback": 1}, False),
    ("research-adapter", Track.RESEARCH_ADAPTER, {"accepted": 1, "contradiction": 1}, False),
)


@pytest.mark.req("MIND-364", "MIND-365", "MIND-366", "MIND-367")
@pytest.mark.parametrize(("candidate", "track", "counts", "ready"), GATES)
def test_mind_364_mind_365_mind_366_mind_367_what_each_gate_asks_for(
    candidate: str, track: Track, counts: dict[str, int], ready: bool
) -> None:
    found = gate(candidate, made(counts, feature="f", track=track))

    assert found["ready"] is ready
    assert found["required_track"] == track.value
    if "contradiction" in counts:
        assert any("contradictions" in reason for reason in found["reasons"])
    if "rollback" in counts:
        assert any("rollbacks" in reason for reason in found["reasons"])


@pytest.mark.req("MIND-364", "MIND-366", "MIND-368", "MIND-330")
def test_mind_364_mind_366_a_gate_counts_its_own_track_and_opens_nothing(world: World) -> None:
    stage = Stage(world)
    empty = stage.agent.call("adoption.gate", candidate="card-context-default")
    seen(stage.agent, "accepted", 3, track="evaluator", feature="advisory_gate")
    config = world.app.house.settings.as_dict()

    with still(world.place):
        opened = stage.agent.call("adoption.gate", candidate="evaluator-api")
        other = stage.agent.call("adoption.gate", candidate="card-context")

    assert (empty["candidate"], empty["ready"], empty["required_track"]) == ("card-context-default", False, "card_context")
    assert set(empty["stats"].values()) == {0}
    assert len(empty["reasons"]) == 1
    assert (opened["ready"], opened["stats"]["accepted"]) == (True, 3)
    assert (other["candidate"], other["ready"]) == ("card-context-default", False)
    assert world.app.house.settings.as_dict() == config
    advice = {"evaluator_id": "ev1", "subject_kind": "qi", "subject_id": "k", "proposed_action": "promote"}
    assert stage.agent.call("knowledge.advise", **advice)["lifecycle_authority"] is False
    assert stage.agent.call("adoption.gate", candidate="nope")["error"]["code"] == "invalid_params"
    ready = []
    for signal, times in (("accepted", 2), ("accepted", 1), ("rejected", 4), ("accepted", 1), ("rollback", 1)):
        seen(stage.agent, signal, times, track="card_context", feature="include_cards")
        ready.append(stage.agent.call("adoption.gate", candidate="card-context-default")["ready"])
    assert ready == [False, True, False, True, False]


@pytest.mark.req("MIND-365")
def test_mind_365_misses_of_vectors_make_no_vectors(world: World) -> None:
    stage = Stage(world)
    before = sorted(path.name for path in world.store(stage.root).parent.iterdir())
    seen(stage.agent, "miss", 3, track="card_embedding", feature="card_statement_recall", query="q")

    assert stage.agent.call("adoption.gate", candidate="card-embeddings")["ready"] is True
    assert sorted(path.name for path in world.store(stage.root).parent.iterdir()) == before


@pytest.mark.req("MIND-370")
@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"accepted": 3}, None),
        ({"accepted": 4, "rejected": 2, "miss": 2}, None),
        ({"accepted": 2}, "accepted: have 2, need 3"),
        ({"accepted": 3, "rollback": 1}, "rollbacks"),
        ({"accepted": 3, "contradiction": 1}, "contradictions"),
        ({"accepted": 3, "rejected": 2, "miss": 2}, "rejected or missed"),
    ],
)
def test_mind_370_what_readiness_asks_for(counts: dict[str, int], reason: str | None) -> None:
    found = readiness("card-context-default", made(counts), {})

    assert found["ready"] is (reason is None)
    assert found["decision"] == ("keep_opt_in" if reason else "eligible_for_future_default_spec")
    assert reason is None or any(reason in one for one in found["reasons"])


@pytest.mark.req("MIND-369", "MIND-371")
def test_mind_369_mind_371_ready_means_eligible_and_enables_nothing(stage: Stage) -> None:
    seen(stage.agent, "accepted", 3)
    seen(stage.agent, "rollback", feature="other")  # of another feature: not counted

    found = stage.agent.call("adoption.readiness", candidate="card-context-default")

    keys = {"writes", "candidate", "ready", "decision", "required_track", "required_feature", "review", "reasons"}
    assert keys <= set(found)
    assert (found["writes"], found["ready"]) == (False, True)
    assert (found["required_track"], found["required_feature"]) == ("card_context", "include_cards")
    assert found["review"]["stats"]["accepted"] == 3
    assert stage.on is False
    assert stage.agent.call("adoption.readiness", candidate="unknown")["error"]["code"] == "invalid_params"


@pytest.mark.req("MIND-372")
def test_mind_372_enabling_follows_readiness_not_the_gate(stage: Stage) -> None:
    seen(stage.agent, "accepted", 3)
    seen(stage.agent, "contradiction")

    assert stage.agent.call("adoption.gate", candidate="card-context")["ready"] is True
    assert stage.agent.call("adoption.readiness", candidate="card-context")["ready"] is False
    refused = stage.enabled()
    assert (refused["applied"], refused["writes"], stage.on) == (False, False, False)
    assert any("contradictions" in reason for reason in refused["reasons"])


# -- the proposal ----------------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-373", "MIND-374")
@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize("criteria", [[], ["   "], [CRITERION]])
def test_mind_373_mind_374_a_proposal_needs_outcomes_and_a_criterion(world: World, ready: bool, criteria: list[str]) -> None:
    stage = Stage(world)
    seen(stage.agent, "accepted", 3 if ready else 1)
    stage.agent.call("adoption.stats")

    with still(world.place):
        found = stage.agent.call("defaults.propose", candidate="card-context", rollback_criteria=criteria)

    complete = ready and criteria == [CRITERION]
    assert found["proposal_ready"] is complete
    assert found["decision"] == ("eligible_for_default_on_spec" if complete else "keep_opt_in")
    assert (found["writes"], found["candidate"], found["readiness"]["ready"]) == (False, "card-context", ready)
    assert found["rollback_criteria"] == [one for one in criteria if one.strip()]
    assert found["reasons"]
    assert stage.on is False
    assert stage.agent.call("defaults.propose", candidate="other")["error"]["code"] == "invalid_params"


# -- setting it ------------------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-375")
@pytest.mark.parametrize("flags", [{}, {"enable": True, "disable": True}])
def test_mind_375_exactly_one_of_two_flags(stage: Stage, flags: dict[str, bool]) -> None:
    seen(stage.agent, "accepted", 3)
    before = table_counts(stage.world, stage.root)

    answer = stage.person.call("defaults.set", candidate="card-context", rollback_criteria=[CRITERION], **flags)

    assert answer["error"]["code"] == "invalid_params"
    assert table_counts(stage.world, stage.root) == before
    assert stage.on is False


@pytest.mark.req("MIND-375", "MIND-379")
def test_mind_375_only_a_person_changes_a_default(stage: Stage) -> None:
    seen(stage.agent, "accepted", 3)
    forger = stage.world.at(stage.root, "human:founder")

    answers = [
        forger.call("defaults.set", candidate="card-context", enable=True, rollback_criteria=[CRITERION]),
        forger.call("defaults.set", candidate="card-context", disable=True),
    ]

    assert [answer["error"]["code"] for answer in answers] == ["human_needed", "human_needed"]
    assert stage.on is False
    stage.meta("context.include_cards_default", "true")
    assert stage.on is False, "a value that no entry of the ledger gave counts for nothing"
    stage.meta("context.include_cards_basis", '{"seq": 1, "counts": {}, "criteria": [], "at": 1}')
    assert stage.on is False
    stage.meta("context.include_cards_basis", "not JSON")
    assert stage.on is False


@pytest.mark.req("MIND-376", "MIND-377", "MIND-380")
def test_mind_376_mind_377_mind_380_enabling_needs_a_ready_proposal_and_keeps_its_basis(stage: Stage) -> None:
    before = table_counts(stage.world, stage.root)
    early = stage.enabled()
    assert (early["applied"], early["writes"], early["requested"]) == (False, False, "enable")
    assert early["reasons"]
    assert early["proposal"]["proposal_ready"] is False
    assert table_counts(stage.world, stage.root) == before
    seen(stage.agent, "accepted", 3)
    bare = stage.enabled(rollback_criteria=[" "])
    assert (bare["applied"], stage.on) == (False, False)

    done = stage.enabled()

    assert (done["applied"], done["writes"], done["include_cards_default"], stage.on) == (True, True, True, True)
    shown = stage.agent.call("defaults.show")
    assert shown["include_cards_default"] is True
    basis = shown["include_cards_basis"]
    assert (basis["criteria"], basis["counts"]["accepted"]) == ([CRITERION], 3)
    assert basis["at"].endswith("Z")
    assert CRITERION in shown["rendered"]
    again = stage.enabled()
    assert (again["applied"], again["writes"]) == (False, False)

    off = stage.disabled()

    assert (off["applied"], off["writes"], off["include_cards_default"], stage.on) == (True, True, False, False)
    assert stage.agent.call("defaults.show")["include_cards_basis"] is None


@pytest.mark.req("MIND-378")
def test_mind_378_switching_off_what_is_off_changes_nothing(stage: Stage) -> None:
    before = table_counts(stage.world, stage.root)
    answer = stage.disabled()
    assert (answer["applied"], answer["writes"], answer["include_cards_default"]) == (False, False, False)
    assert table_counts(stage.world, stage.root) == before


@pytest.mark.req("MIND-379")
def test_mind_379_it_changes_the_default_and_nothing_else(stage: Stage) -> None:
    stage.agent.call("record", text="the retry budget is three")
    seen(stage.agent, "accepted", 3)
    before, found = table_counts(stage.world, stage.root), stage.agent.call("memory.search", query="retry budget")["results"]

    assert stage.enabled()["applied"]
    unknown = stage.person.call("defaults.set", candidate="other", enable=True, rollback_criteria=[CRITERION])

    assert table_counts(stage.world, stage.root) == before | {"entries": before["entries"] + 1}
    assert stage.agent.call("memory.search", query="retry budget")["results"] == found
    assert unknown["error"]["code"] == "invalid_params"
    (entry,) = stage.agent.call("ledger.show", act="default.")["entries"]
    assert (entry["act"], entry["channel"], entry["payload"]["include_cards"]) == ("default.set", "human", True)
    assert CRITERION not in str(entry)
    assert stage.agent.call("ledger.verify")["ok"]


def test_a_criterion_with_a_secret_is_refused(stage: Stage) -> None:
    seen(stage.agent, "accepted", 3)
    answer = stage.enabled(rollback_criteria=[f"when {TOKEN} fails"])
    assert answer["error"]["code"] == "hygiene"
    assert stage.on is False


def test_a_default_is_one_projects_own(world: World) -> None:
    stage = Stage(world)
    seen(stage.agent, "accepted", 3)
    assert stage.enabled()["applied"]
    assert world.at(world.brain("other")).call("defaults.show")["include_cards_default"] is False
    world.restart()
    assert stage.on is True


# -- taking it back --------------------------------------------------------------------------------------------------


@pytest.mark.req("MIND-381", "MIND-383")
@pytest.mark.parametrize(("on", "evidence", "execute"), list(itertools.product([False, True], repeat=3)))
def test_mind_381_mind_383_it_is_taken_back_only_when_on_asked_for_and_executed(
    world: World, on: bool, evidence: bool, execute: bool
) -> None:
    stage = Stage(world)
    seen(stage.agent, "accepted", 3)
    if on:
        assert stage.enabled()["applied"]
    if evidence:
        seen(stage.agent, "rollback", note="it crowded out the law")
    seen(stage.agent, "rollback", feature="other")  # says nothing about this default
    before = table_counts(world, stage.root)

    found = stage.person.call("defaults.rollback", candidate="card-context", execute=execute)

    applied = on and evidence and execute
    assert (found["applied"], found["writes"], found["rollback_required"]) == (applied, applied, evidence)
    assert (found["include_cards_default_before"], found["include_cards_default_after"]) == (on, on and not applied)
    assert (found["execute"], found["candidate"]) == (execute, "card-context")
    assert found["review"]["stats"]["rollbacks"] == int(evidence)
    assert found["reasons"]
    assert stage.on is (on and not applied)
    assert table_counts(world, stage.root) == before | {"entries": before["entries"] + applied}
    if applied:
        (entry,) = stage.agent.call("ledger.show", act="default.rolled_back")["entries"]
        assert entry["payload"] == {"include_cards": False}


@pytest.mark.req("MIND-382")
def test_mind_382_an_agent_may_ask_but_not_take_back(stage: Stage) -> None:
    seen(stage.agent, "accepted", 3)
    stage.enabled()
    seen(stage.agent, "rollback")

    asked = stage.agent.call("defaults.rollback", candidate="card-context")
    refused = stage.agent.call("defaults.rollback", candidate="card-context", execute=True)

    assert (asked["writes"], asked["rollback_required"], asked["applied"]) == (False, True, False)
    assert refused["error"]["code"] == "human_needed"
    assert stage.on is True


@pytest.mark.req("MIND-384")
def test_mind_384_outcomes_from_before_it_was_switched_on_do_not_take_it_back(stage: Stage) -> None:
    seen(stage.agent, "rollback")
    assert stage.agent.call("defaults.rollback", candidate="card-context")["rollback_required"] is True
    stage.world.clock.forward(DAY)
    fixed = stage.world.clock()
    seen(stage.agent, "accepted", 3)
    assert stage.enabled()["applied"] is False, "all time counts"

    assert stage.enabled(since=fixed)["applied"] is True, "unless a person says from when on"
    assert stage.person.call("defaults.rollback", candidate="card-context", execute=True)["applied"] is False
    assert stage.agent.call("defaults.rollback", candidate="card-context")["rollback_required"] is False
    seen(stage.agent, "rollback")
    assert stage.agent.call("defaults.rollback", candidate="card-context")["rollback_required"] is True
    assert stage.person.call("defaults.rollback", candidate="card-context-default", execute=True)["applied"] is True
    assert stage.on is False


# -- how outcomes may be observed ------------------------------------------------------------------------------------


@pytest.mark.req("MIND-385", "MIND-386", "MIND-387")
def test_mind_385_mind_386_mind_387_how_outcomes_may_be_observed(world: World) -> None:
    found = world.at(world.directory("nowhere")).call("adoption.instrumentation")

    assert (found["version"], found["writes"], found["default_mode"]) == (1, False, "manual_only")
    assert {one["mode"]: (one["requires_execute"], one["requires_checked_capture"]) for one in found["allowed_modes"]} == {
        "manual_only": (False, True),
        "opt_in_wrapper": (True, True),
    }
    assert all(one["description"] for one in found["allowed_modes"])
    assert found["forbidden_modes"] == ["implicit_background_capture", "silent_event_append", "quality_gate_bypass"]
    rules = " ".join((*found["requirements"], *found["rollback_requirements"]))
    for word in (
        "opt-in",
        "opt-out",
        "preserved identifiers",
        "checked writes",
        "criteria before default-on",
        "rollback signals",
    ):
        assert word in rules
    assert list(world.place.rglob("*.db")) == []


@pytest.mark.req("MIND-371", "MIND-374", "MIND-376", "MIND-377", "MIND-381")
def test_mind_371_mind_374_a_context_follows_the_default_and_nothing_less(world: World) -> None:
    stage = Stage(world)
    scholar = Scholar(world, stage.root)
    card = scholar.created("Bound every retry.")
    scholar.ok("knowledge.promote", card_id=card, status="promoted", verification_refs=[scholar.saw()], reason="checked")

    def shown() -> bool:
        return card in json.dumps(stage.agent.call("context", query="bound every retry"))

    assert shown() is False
    seen(stage.agent, "accepted", 3, card_id=card, note="it helped")
    assert stage.agent.call("adoption.readiness", candidate="card-context")["ready"] is True
    assert stage.agent.call("defaults.propose", candidate="card-context", rollback_criteria=[CRITERION])["proposal_ready"] is True
    assert shown() is False, "eligible is not on"
    assert stage.enabled()["applied"]
    assert shown() is True
    assert stage.disabled()["applied"]
    assert shown() is False
    assert stage.enabled()["applied"]
    seen(stage.agent, "rollback", note="it crowded out the law")
    assert shown() is True, "an outcome alone changes nothing"
    assert stage.person.call("defaults.rollback", candidate="card-context", execute=True)["applied"]
    assert shown() is False
