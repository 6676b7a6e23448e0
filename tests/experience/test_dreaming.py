"""Dreaming: what hardens, what loses its trust and what is forgotten, at each threshold from both sides, through whole cycles."""

import itertools
import json
import math

import pytest

from hindbrain.domain.errors import ModelFailed
from hindbrain.domain.experience import EventKind, Level, Pair, Writer
from hindbrain.domain.message import Role
from hindbrain.engines.dreaming import bankrupt, faded, judged
from hindbrain.engines.potentials import settled
from hindbrain.policy.experience import Rules
from hindbrain.services.control.ports import Thought
from hindbrain.stores.port import MegramFilter
from tests.support.experience import PAIR, Lab, megram, seen
from tests.support.world import DAY, START_MS

RULE = {"level": Level.C, "f": 1.0, "writer": Writer.DREAMER}


def promotes(*held, rules=None):
    group = judged(PAIR, list(held), START_MS, rules or Rules()).group
    return group.sign if group else 0


# -- consolidation -----------------------------------------------------------------------------------------------------


def test_exp_062_only_the_identical_pair_is_one_group():
    lab = Lab()
    lab.times(3, "accept")
    lab.times(3, "accept", pair=Pair(space=PAIR.space, entity="path:tests"))
    assert lab.dreamer.cycle().promoted == []
    lab.times(3, "accept")
    assert [one.pair for one in lab.dreamer.cycle().promoted] == [PAIR]


def test_exp_063_exp_072_six_flawless_outcomes_become_a_best_practice_and_five_do_not():
    lab = Lab()
    lab.times(5, "accept")
    assert lab.dreamer.cycle().promoted == []
    lab.times(1, "accept")
    lab.dreamer.cycle()
    (rule,) = lab.rules()
    assert (rule.level, rule.k, rule.megram.sigma, rule.megram.f) == (Level.C, 0.0, 1.0, 1.0)
    assert (rule.megram.state, rule.megram.writer) == ("best_practice", Writer.DREAMER)


def test_exp_064_six_abandoned_tasks_become_a_constraint_and_five_do_not():
    lab = Lab()
    lab.times(5, "abandon")
    assert lab.dreamer.cycle().promoted == []
    lab.times(1, "abandon")
    lab.dreamer.cycle()
    (rule,) = lab.rules()
    assert (rule.level, rule.k, rule.megram.sigma, rule.megram.f) == (Level.C, 0.0, -1.0, 1.0)
    assert (rule.megram.state, rule.megram.category) == ("constraint", "constraint")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_exp_065_both_thresholds_are_inclusive(sign):
    four = [seen("foo", f=1.0, sigma=sign) for _ in range(3)]
    against = seen("foo", f=1.0, sigma=-sign)
    assert promotes(*four, seen("foo", f=1.0, sigma=sign), against) == sign  # 5.0 and 3.0
    assert promotes(*four, seen("foo", f=1.0, sigma=0.99 * sign), against) == 0
    assert promotes(*four, seen("foo", f=0.999, sigma=sign), seen("foo", f=1.0, sigma=0.0)) == 0  # 4.999 of attention
    assert promotes(*four, seen("foo", f=1.0, sigma=0.0), seen("foo", f=1.0, sigma=0.0)) == sign


def test_exp_066_attention_without_a_decision_hardens_nothing():
    lab = Lab()
    lab.times(4, "accept")
    lab.times(2, "abandon")
    sums = lab.store.potentials(PAIR, at=START_MS)
    assert (round(sums.attention, 9), round(sums.decision, 9)) == (5.5, 1.7)
    assert lab.dreamer.cycle().promoted == []


def test_exp_067_decay_counts_at_the_time_of_promotion():
    def daily(count):
        return [seen("accept", days=day) for day in range(count)]

    assert round(sum(0.9 * math.exp(-0.05 * day) for day in range(6)), 4) == 4.7829
    assert promotes(*daily(6)) == 0
    assert promotes(*daily(7)) == 1


def test_exp_067_a_steady_interval_of_a_week_never_hardens_and_below_four_days_it_does():
    def steady(days):
        return [seen("accept", days=days * turn) for turn in range(200)]

    assert promotes(*steady(7)) == 0
    assert promotes(*steady(3.98)) == 0
    assert promotes(*steady(3.96)) == 1


def test_exp_033_exp_070_a_rule_carries_its_sources_and_they_are_not_promoted_again():
    lab = Lab()
    sources = lab.times(6, "accept")
    before = lab.store.potentials(PAIR, at=START_MS)
    first = lab.dreamer.cycle()
    after = lab.store.potentials(PAIR, at=START_MS)
    assert (round(before.attention, 9), round(before.decision, 9)) == (5.4, 5.4)
    assert (after.attention, after.decision) == (1.0, 1.0)
    (rule,) = lab.rules()
    for id_ in sources:
        (event,) = lab.store.megram_events(id_)
        assert (event.kind, event.into_id) == (EventKind.CONSOLIDATED, rule.megram.id)
    assert len(first.promoted) == 1
    assert lab.dreamer.cycle().promoted == []
    assert set(rule.megram.derived_from) == set(sources)


def test_exp_068_a_later_rule_of_the_same_sign_takes_the_place_of_the_older():
    lab = Lab()
    lab.times(6, "accept")
    lab.dreamer.cycle()
    (old,) = lab.rules()
    lab.times(12, "accept")
    assert len(lab.dreamer.cycle().promoted) == 1  # one for a pair and a cycle
    (new,) = lab.rules()
    assert new.megram.supersedes == old.megram.id
    assert lab.held(old.megram.id).superseded
    assert lab.store.potentials(PAIR, at=START_MS).decision == 1.0


def test_exp_068_what_a_person_said_is_not_superseded():
    lab = Lab()
    (said,) = lab.put(megram("declared", f=1.0, sigma=1.0, level=Level.C, writer=Writer.OPERATOR))
    lab.times(6, "accept")
    lab.dreamer.cycle()
    assert {one.megram.writer for one in lab.rules()} == {Writer.OPERATOR, Writer.DREAMER}
    assert not lab.held(said).superseded


def test_exp_069_a_rule_of_the_opposite_sign_is_first_answered_by_feedback():
    lab = Lab()
    (old,) = lab.put(megram("best_practice", sigma=1.0, **RULE))
    lab.times(6, "abandon")
    done = lab.dreamer.cycle()
    (answer,) = [one for one in lab.all() if one.megram.state == "negative_feedback"]
    assert (answer.megram.sigma, answer.megram.f, answer.level, answer.megram.derived_from) == (-1.0, 1.0, Level.M, (old,))
    (rule,) = lab.rules()
    assert rule.megram.sigma == -1.0
    assert done.demoted == [old]
    assert lab.held(old).level is Level.K
    acts = [entry.subject for entry in lab.store.entries(act="megram.written")]
    assert acts.index(f"megram:{answer.megram.id}") < acts.index(f"megram:{rule.megram.id}")


def test_exp_069_exp_083_rules_that_a_new_one_makes_untrustworthy_fall_in_the_same_cycle():
    lab = Lab()
    old = lab.put(*(megram("declared", sigma=1.0, level=Level.C, f=1.0, writer=Writer.OPERATOR) for _ in range(6)))
    lab.times(6, "abandon")  # 6.0 - 5.7: trusted still, until the constraint and the feedback are there
    done = lab.dreamer.cycle()
    assert len(done.promoted) == 1
    assert set(done.demoted) == set(old)
    again = lab.dreamer.cycle()
    assert (again.changed, again.forgotten, again.demoted, again.promoted) == (False, 0, [], [])


def test_exp_071_what_a_rule_carries_is_kept_thirty_days_or_as_the_setting_says():
    for days, rules in ((30, None), (3, Rules(keep_days=3))):
        lab = Lab(rules=rules)
        lab.times(6, "accept")
        lab.dreamer.cycle()
        lab.clock.forward(days * DAY)
        assert lab.dreamer.cycle().spent == 0
        lab.clock.forward(1)
        assert lab.dreamer.cycle().spent == 6
        assert [one.level for one in lab.all()] == [Level.C]


# -- wording -----------------------------------------------------------------------------------------------------------


class Told:
    """A model that says one thing, or fails."""

    def __init__(self, said, *, tier=2):
        self.said, self.asked, self._tier = said, [], tier

    def think(self, role, *, task_id, system, user, schema=None, max_tokens=2000, timeout_s=120.0):
        self.asked.append((role, system, user))
        if isinstance(self.said, Exception):
            raise self.said
        return self.said and Thought(text=self.said, data=None, provider="local", model="m", tier=2)

    def tier(self, role):
        return self._tier


def test_exp_073_a_model_gets_pair_kind_valence_and_ten_newest_and_five_sentences_are_cut():
    mind = Told("Use glob. Then read. Third. Fourth. Fifth.")
    lab = Lab(mind=mind)
    lab.put(*(megram("accept", days=age / 100, content=f"lesson number {age}") for age in range(12)))
    (done,) = lab.dreamer.cycle().promoted
    ((role, system, user),) = mind.asked
    assert role is Role.MEMORY
    assert "two sentences" in system
    assert all(word in user for word in ("tool:glob", "path:src", "best practice", "positive", "lesson number 9"))
    assert "lesson number 10" not in user
    assert user.index("lesson number 0") < user.index("lesson number 9")
    assert lab.rules()[0].megram.content == "Use glob. Then read."
    assert done.cut
    events = lab.store.megram_events(lab.rules()[0].megram.derived_from[0])
    assert json.loads(events[0].detail) == {"distilled_by": "local:m", "sources": 12, "cut": True}


def test_exp_074_exp_098_without_a_model_the_rule_is_taken_from_the_texts():
    lab = Lab(mind=Told("unused", tier=0))
    common = "Succeeded. Tools: glob src/*.py, read a.py. Result: found the module."
    lab.put(megram("accept", days=0, content="Something else entirely."))
    lab.put(*(megram("accept", days=age, content=common) for age in (0.1, 0.2, 0.3)))
    lab.put(*(megram("accept", days=0.01 * age, content="Succeeded. Tools: glob src. Result: ok.") for age in (40, 50)))
    (done,) = lab.dreamer.cycle().promoted
    assert done.by == "extractive"
    rule = lab.rules()[0].megram.content
    assert rule.startswith("Prefer: Succeeded. Tools: glob src/*.py, read a.py.")
    assert "Result" not in rule.split("(")[0]  # two sentences
    assert "6 of 6" in rule
    assert rule.endswith("tools: glob, read)")


def test_exp_074_a_constraint_says_what_not_to_do():
    lab = Lab()
    lab.put(*(megram("abandon", content="Failed. Tools tried: shell rm. Gap: denied.") for _ in range(6)))
    lab.dreamer.cycle()
    rule = lab.rules()[0].megram.content
    assert rule.startswith("Do not: Failed.")
    assert "shell" in rule
    assert json.loads(lab.store.megram_events(lab.rules()[0].megram.derived_from[0])[0].detail)["distilled_by"] == "extractive"


@pytest.mark.parametrize("said", [ModelFailed("down", fix="wait"), "   "])
def test_exp_075_when_wording_fails_nothing_is_half_written_and_the_next_cycle_tries_again(said):
    mind = Told(said)
    lab = Lab(mind=mind)
    sources = lab.times(6, "accept")
    done = lab.dreamer.cycle()
    assert (done.failed, done.promoted, lab.rules()) == (1, [], [])
    assert not any(lab.held(id_).consolidated for id_ in sources)
    mind.said = "Use glob."
    assert len(lab.dreamer.cycle().promoted) == 1


def test_exp_098_a_spent_model_leaves_the_wording_to_the_texts():
    lab = Lab(mind=Told(None))
    lab.times(6, "accept")
    assert lab.dreamer.cycle().promoted[0].by == "extractive"


# -- trust -------------------------------------------------------------------------------------------------------------


def test_exp_002_exp_003_exp_076_a_rule_that_is_contradicted_twice_loses_its_immunity():
    lab = Lab()
    (rule,) = lab.put(megram("best_practice", sigma=1.0, **RULE))
    lab.times(1, "abandon")
    assert lab.dreamer.cycle().demoted == []  # +0.05
    lab.times(1, "abandon")
    assert lab.dreamer.cycle().demoted == [rule]  # -0.9
    held = lab.held(rule)
    assert (held.level, held.k, held.megram.level, held.megram.k) == (Level.K, 0.05, Level.C, 0.0)
    assert [event.kind for event in lab.store.megram_events(rule)] == [EventKind.DEMOTED]


def test_exp_077_a_constraint_alone_is_trusted_and_falls_when_experience_is_good():
    lab = Lab()
    (rule,) = lab.put(megram("constraint", sigma=-1.0, **RULE))
    assert lab.dreamer.cycle().demoted == []
    lab.times(1, "accept")
    assert lab.dreamer.cycle().demoted == []  # -0.1
    lab.times(1, "accept")
    assert lab.dreamer.cycle().demoted == [rule]  # +0.8


def test_exp_078_at_exactly_zero_a_rule_still_stands():
    lab = Lab()
    lab.put(megram("best_practice", sigma=1.0, **RULE), megram("correction", f=1.0, sigma=-1.0))
    assert lab.store.potentials(PAIR, at=START_MS).decision == 0.0
    assert lab.dreamer.cycle().demoted == []
    assert (bankrupt(1.0, -4e-10), bankrupt(1.0, -1e-9)) == (False, True)
    assert (bankrupt(-1.0, 4e-10), bankrupt(-1.0, 1e-9)) == (False, True)


def test_exp_079_a_demoted_rule_fades_from_its_demotion_on():
    lab = Lab()
    (rule,) = lab.put(megram("best_practice", sigma=1.0, days=400, **RULE))
    lab.times(2, "abandon")
    lab.dreamer.cycle()
    assert lab.store.potentials(PAIR, at=START_MS).attention == pytest.approx(2.9)
    lab.clock.forward(round(67.34 * DAY))  # ln 29 / 0.05 days, counted from the demotion
    lab.dreamer.cycle()
    assert lab.held(rule).level is Level.K
    lab.clock.forward(round(0.01 * DAY))
    lab.dreamer.cycle()
    assert lab.all() == []


# -- forgetting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "days"),
    [
        ("accept", 43.94),
        ("abandon", 45.03),
        ("change_approach", 42.80),
        ("success", 41.59),
        ("break_symmetry", 40.30),
        ("change_path", 5.49),
    ],
)
def test_exp_080_an_episode_is_deleted_when_too_little_of_it_is_left(state, days):
    lab = Lab()
    lab.put(megram(state))
    lab.clock.forward(round((days - 0.01) * DAY))
    assert lab.dreamer.cycle().forgotten == 0
    lab.clock.forward(round(0.02 * DAY))
    assert lab.dreamer.cycle().forgotten == 1
    assert lab.all() == []


def test_exp_080_exp_081_a_small_correction_is_kept_at_exactly_the_floor_and_gone_a_second_later():
    lab = Lab()
    (id_,) = lab.put(megram("refine"))
    assert lab.dreamer.cycle().forgotten == 0
    lab.clock.forward(1000)
    assert lab.dreamer.cycle().forgotten == 1
    (event,) = lab.store.megram_events(id_)
    assert (event.kind, len(event.content_sha256)) == (EventKind.FORGOTTEN, 64)


def test_exp_081_rules_and_thinking_are_never_deleted_by_fading():
    lab = Lab()
    weak = {"f": 0.01, "sigma": 1.0}
    lab.put(megram("foo", level=Level.C, **weak), megram("foo", level=Level.T, writer=Writer.OPERATOR, **weak))
    lab.clock.forward(4000 * DAY)
    assert lab.dreamer.cycle().forgotten == 0
    assert len(lab.all()) == 2


def test_exp_080_exp_082_a_pair_is_forgotten_as_a_whole_and_not_before():
    lab = Lab()
    lab.put(megram("refine", days=1), megram("accept"))
    other = Pair(space="tool:read", entity="path:elsewhere")
    lab.put(megram("refine", days=1, pair=other))
    assert lab.dreamer.cycle().forgotten == 1  # the one that is alone in its pair
    assert {one.megram.pair for one in lab.all()} == {PAIR}
    lab.clock.forward(43 * DAY)
    assert lab.dreamer.cycle().forgotten == 0
    lab.clock.forward(2 * DAY)
    assert lab.dreamer.cycle().forgotten == 2
    assert lab.all() == []


def test_exp_028_exp_080_corrections_that_repeat_are_remembered_for_days_though_each_alone_is_below_the_floor():
    lab = Lab()
    lab.put(*(megram("refine") for _ in range(6)))
    lab.clock.forward(DAY // 4)
    assert lab.dreamer.cycle().forgotten == 0
    sums = lab.store.potentials(PAIR, at=lab.clock())
    assert (round(sums.attention, 3), settled(sums.attention, sums.decision).action.value) == (0.529, "Exploit")
    lab.clock.forward(3 * DAY)
    assert lab.dreamer.cycle().forgotten == 0
    lab.clock.forward(DAY // 2)
    assert lab.dreamer.cycle().forgotten == 6


def test_exp_080_a_rule_does_not_keep_the_small_episodes_of_its_pair():
    lab = Lab()
    (rule, _) = lab.put(megram("best_practice", sigma=1.0, **RULE), megram("refine", days=1))
    assert lab.dreamer.cycle().forgotten == 1
    assert [one.megram.id for one in lab.all()] == [rule]


def test_exp_080_store_and_engine_agree_on_what_has_faded():
    lab = Lab()
    weights = [(f, k, days) for f in (0.04, 0.09, 0.1, 0.5) for k in (0.0, 0.2) for days in (0, 8, 9)]
    for number, two in enumerate(itertools.combinations_with_replacement(weights, 2)):
        pair = Pair(space="s", entity=str(number))
        lab.put(*(megram("foo", f=f, sigma=1.0, k=k, days=days, pair=pair) for f, k, days in two))
    held = {pair: list(lab.store.effective(MegramFilter(pair=pair))) for pair in lab.store.pairs()}
    expected = {id_ for pair in held for id_ in faded(held[pair], START_MS)}
    assert set(lab.store.faded(at=START_MS, limit=1000)) == expected
    assert 0 < len(expected) < sum(map(len, held.values()))


# -- a whole cycle -----------------------------------------------------------------------------------------------------


def test_exp_061_a_cycle_forgets_then_checks_trust_then_consolidates_and_tells_it(caplog):
    lab = Lab()
    # Only a rule that fell is answered as one that stood here.
    lab.put(megram("best_practice", sigma=1.0, pair=Pair(space="a", entity="b"), **RULE))
    lab.times(6, "abandon", pair=Pair(space="a", entity="b"))
    lab.put(megram("refine", days=3, pair=Pair(space="a", entity="faded")))
    lab.times(2, "accept", category="fact")
    with caplog.at_level("INFO", logger="hindbrain.dreamer"):
        done = lab.dreamer.cycle()
    assert (done.forgotten, len(done.demoted), len(done.promoted)) == (1, 1, 2)
    assert "elapsed_ms" in caplog.text
    acts = [(entry.act, json.loads(entry.payload)) for entry in lab.store.entries(act="dream.")]
    assert [act for act, _ in acts] == ["dream.cycle"]
    told = acts[0][1]
    assert (told["forgotten"], told["demoted"], told["promoted"]) == (1, 1, 2)
    assert told["pairs"] >= 2


def test_exp_083_a_cycle_without_news_changes_nothing():
    lab = Lab()
    lab.times(6, "accept")
    lab.times(3, "refine", days=1)
    lab.times(2, "abandon", pair=Pair(space="intent:x", entity="env:local"))
    assert lab.dreamer.cycle().changed
    head = lab.store.head()
    again = lab.dreamer.cycle()
    assert not again.changed
    assert again.pairs == 0
    assert lab.store.head() == head


def test_exp_083_a_pair_that_time_alone_may_change_is_watched():
    lab = Lab()
    lab.put(*(megram("foo", f=1.0, sigma=1.0, k=0.0) for _ in range(5)))
    lab.put(*(megram("foo", f=0.9, sigma=-1.0, k=0.5) for _ in range(3)))  # 5.0 - 2.7
    assert lab.dreamer.cycle().promoted == []
    assert lab.dreamer.cycle().pairs == 1
    lab.clock.forward(DAY)
    assert len(lab.dreamer.cycle().promoted) == 1
    assert lab.dreamer.cycle().pairs == 0


def test_exp_083_a_rule_whose_support_fades_faster_than_its_dissent_is_watched_until_it_falls():
    lab = Lab()
    (rule,) = lab.put(megram("best_practice", sigma=1.0, **RULE))
    lab.put(
        *(megram("foo", f=1.0, sigma=1.0, k=0.5) for _ in range(2)), *(megram("foo", f=0.9, sigma=-1.0, k=0.0) for _ in range(2))
    )
    assert lab.dreamer.cycle().demoted == []  # 1.0 + 2.0 - 1.8
    assert lab.dreamer.cycle().pairs == 1
    lab.clock.forward(2 * DAY)
    assert lab.dreamer.cycle().demoted == [rule]


def test_exp_083_a_pair_in_which_all_fades_alike_is_not_looked_at_again():
    lab = Lab()
    lab.times(8, "accept")
    lab.times(7, "abandon")
    lab.put(megram("best_practice", sigma=1.0, pair=Pair(space="a", entity="b"), **RULE))
    lab.put(megram("abandon", pair=Pair(space="a", entity="b")), megram("accept", pair=Pair(space="a", entity="b")))
    lab.dreamer.cycle()
    assert lab.dreamer.cycle().pairs == 0


def test_exp_085_a_dry_run_tells_what_the_next_cycle_does_and_changes_nothing():
    lab = Lab()
    lab.put(megram("best_practice", sigma=1.0, pair=Pair(space="a", entity="b"), **RULE))
    lab.times(2, "abandon", pair=Pair(space="a", entity="b"))
    lab.times(6, "accept")
    lab.times(4, "refine", days=4, pair=Pair(space="a", entity="faded"))
    head = lab.store.head()
    told = lab.dreamer.cycle(dry_run=True)
    assert lab.store.head() == head
    done = lab.dreamer.cycle()
    assert told.dry_run
    assert (told.forgotten, told.spent, told.demoted) == (done.forgotten, done.spent, done.demoted) == (4, 0, done.demoted)
    assert [(one.pair, one.sign, one.text) for one in told.promoted] == [(one.pair, one.sign, one.text) for one in done.promoted]
    assert len(done.promoted) == len(done.demoted) == 1


# -- categories, two stages, hypotheses --------------------------------------------------------------------------------


def test_exp_101_a_fact_hardens_earlier_and_the_others_only_by_setting():
    facts = [seen("accept", category="fact") for _ in range(2)]
    steps = [seen("accept", category="procedure") for _ in range(2)]
    harm = [seen("abandon", category="constraint") for _ in range(4)]
    everything = Rules(categories=frozenset({"fact", "procedure", "constraint"}))
    assert promotes(*facts) == 1
    assert promotes(facts[0]) == 0
    assert promotes(*facts, rules=Rules(categories=frozenset())) == 0
    assert promotes(*steps) == promotes(*steps, rules=everything) == 0
    assert promotes(*harm) == 0
    assert promotes(*harm, rules=everything) == -1
    assert promotes(*facts, seen("refine", category="procedure")) == 0  # not all of one kind


@pytest.mark.parametrize(("f", "sigma", "told"), [(0.75, 2 / 3, 1), (0.7499, 2 / 3, 0), (0.75, 0.66, 0)])
def test_exp_101_the_thresholds_of_a_fact_are_inclusive(f, sigma, told):
    assert promotes(*(seen("foo", f=f, sigma=sigma, category="fact") for _ in range(2))) == told


def levels(lab):
    return sorted((one.megram.state, one.level.value) for one in lab.all() if one.megram.state != "law")


@pytest.mark.parametrize(
    ("states", "ends"),
    [
        (["accept"], [("accept", "K")]),
        (["abandon"], [("abandon", "M")]),
        (["abandon", "abandon"], [("abandon", "K"), ("abandon", "M")]),
        (["accept", "abandon"], [("abandon", "M"), ("accept", "M")]),
        (["accept", "accept"], [("accept", "K"), ("accept", "K"), ("best_practice", "C")]),
    ],
)
def test_exp_105_with_two_stages_one_success_is_knowledge_and_two_failures_are(states, ends):
    lab = Lab(rules=Rules(two_stage=True))
    for place, state in enumerate(states):
        lab.clock.forward(1000)
        lab.put(megram(state, days=-(place + 1) / 86400))
        lab.dreamer.cycle()
    assert levels(lab) == ends


def test_exp_105_by_default_there_are_no_two_stages():
    lab = Lab()
    lab.times(2, "accept")
    lab.dreamer.cycle()
    assert levels(lab) == [("accept", "M"), ("accept", "M")]


def test_exp_106_ctl_330_dissonance_lowers_the_trust_of_its_rule():
    lab = Lab()
    (rule,) = lab.put(megram("best_practice", sigma=1.0, **RULE))
    lab.put(megram("dissonance", f=0.9, sigma=-1.0))
    assert round(lab.store.potentials(PAIR, at=START_MS).decision, 9) == 0.1
    assert lab.dreamer.cycle().demoted == []
    lab.put(megram("dissonance", f=0.9, sigma=-1.0))
    assert lab.dreamer.cycle().demoted == [rule]


COUNTED = "Succeeded. Tools: glob *.py, read a.py. Result: 3"
SEARCHED = "Succeeded. Tools: search TODO, read a.py. Result: x"


def test_exp_107_ctl_329_two_strong_groups_that_share_a_tool_suggest_an_untried_combination_and_advise_nothing():
    lab = Lab()
    counting, searching = (Pair(space=f"intent:{name}", entity="env:local") for name in ("count", "search"))
    lab.times(6, "accept", pair=counting, content=COUNTED)
    assert lab.dreamer.cycle().supposed == []
    lab.times(6, "accept", pair=searching, content=SEARCHED)
    told = lab.dreamer.cycle(dry_run=True).supposed
    done = lab.dreamer.cycle().supposed

    assert [one.tools for one in told] == [one.tools for one in done] == [("glob", "search", "read")]
    (guess,) = lab.store.effective(MegramFilter(pair=done[0].pair))
    assert (guess.megram.state, guess.level, guess.megram.f, guess.megram.sigma) == ("hypothesis", Level.M, 0.3, 0.0)
    assert guess.megram.writer is Writer.DREAMER
    assert set(guess.megram.derived_from) == {one.megram.id for one in lab.store.effective(MegramFilter(levels=("C",)))}
    assert lab.experience.query_recent(done[0].pair.space, done[0].pair.entity, 5, by=Role.PLANNER) == ()
    assert lab.experience.query_by_tags((), 50, by=Role.PLANNER) == ()
    assert "Untried" not in str([lab.experience.query_c(pair.space, pair.entity, by=Role.PLANNER) for pair in lab.store.pairs()])
    assert lab.dreamer.cycle().changed is False  # nothing new, nothing supposed
    lab.clock.forward(6 * DAY)
    lab.dreamer.cycle()
    assert list(lab.store.effective(MegramFilter(pair=done[0].pair))) == []


def test_exp_107_what_is_known_avoided_or_unrelated_suggests_nothing():
    lab = Lab()
    for name, state, content in (
        ("one", "accept", COUNTED),
        ("same", "accept", COUNTED),
        ("part", "accept", "Succeeded. Tools: read a.py. Result: x"),
        ("apart", "accept", "Succeeded. Tools: run make. Result: x"),
        ("failed", "abandon", "Failed. Tools tried: search TODO, read a.py. Gap: x"),
    ):
        lab.times(6, state, pair=Pair(space=f"intent:{name}", entity="env:local"), content=content)
    done = lab.dreamer.cycle()

    assert len(done.promoted) == 5
    assert done.supposed == []


def test_exp_107_ctl_329_a_hypothesis_never_becomes_a_rule_nor_part_of_one():
    guesses = [seen("hypothesis", f=0.3, sigma=0.0, k=0.2) for _ in range(40)]
    assert promotes(*guesses) == 0
    four = [seen("foo", f=1.0, sigma=1.0) for _ in range(4)]
    assert promotes(*four, *guesses) == 0  # its attention does not count towards a rule
    assert promotes(*four, seen("foo", f=1.0, sigma=1.0), *guesses) == 1
