"""Experience: who may write and ask, what is filled in and refused, what is answered."""

import math
import threading
import time
from dataclasses import fields
from typing import Any

import pytest

from hindbrain.domain.errors import BoundaryViolation, InvalidParams, StoreUnavailable
from hindbrain.domain.experience import Action, Level, Megram, MegramId, Pair, Writer
from hindbrain.domain.message import Role
from hindbrain.domain.notes import MegramNote, MemoryQuery, PotentialsNote, RuleNote
from hindbrain.engines.hygiene import scan
from hindbrain.engines.insight import Insight, insight_text
from hindbrain.policy.experience import LAWS, law_lines
from hindbrain.services.control.journal import Journal
from hindbrain.services.experience.drafts import note_of, of_note
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import MegramFilter
from tests.support.experience import PAIR, Lab, megram, open_sqlite
from tests.support.world import DAY, START_MS

SPACE, ENTITY = PAIR.space, PAIR.entity
R2 = Role.PLANNER
RULE = {"level": Level.C, "f": 1.0, "writer": Writer.DREAMER}


def only(lab: Lab) -> Megram:
    (held,) = lab.all()
    return held.megram


# -- writing -----------------------------------------------------------------------------------------------------------


def test_exp_001_exp_037_what_is_missing_is_filled_in():
    lab = Lab()
    lab.experience.write(lab.draft(), by=Role.SOLVER)
    stored = only(lab)
    assert (stored.level, stored.created_at, len(stored.id)) == (Level.M, START_MS, 36)
    assert [level.value for level in Level] == ["M", "K", "C", "T"]


def test_exp_007_a_megram_is_its_tuple():
    named = {one.name for one in fields(Megram)}
    assert {"id", "level", "created_at", "space", "entity", "content", "state", "f", "sigma", "k"} <= named
    told = MegramNote.__struct_fields__
    assert set(told) >= {
        "id",
        "level",
        "created_at",
        "last_recalled_at",
        "space",
        "entity",
        "content",
        "state",
        "f",
        "sigma",
        "k",
    }


@pytest.mark.parametrize("level", ["C", "T"])
def test_exp_002_what_does_not_fade_has_no_decay(level):
    lab = Lab()
    with pytest.raises(InvalidParams, match="does not fade"):
        lab.experience.write(lab.draft("declared", level=Level(level), f=1.0, sigma=1.0, k=0.05), by=Writer.OPERATOR)
    lab.experience.write(lab.draft("declared", level=Level(level), f=1.0, sigma=1.0, k=0.0), by=Writer.OPERATOR)
    assert only(lab).k == 0.0


def test_exp_002_the_decay_of_an_episode_comes_from_the_table():
    lab = Lab()
    with pytest.raises(InvalidParams, match="has its numbers"):
        lab.experience.write(lab.draft("accept", k=0.2), by=Role.SOLVER)
    lab.experience.write(lab.draft("refine"), by=Role.SOLVER)
    lab.experience.write(lab.draft("change_path", level=Level.K), by=Writer.OPERATOR)
    assert {(one.level, one.k) for one in lab.all()} == {(Level.M, 0.5), (Level.K, 0.2)}


@pytest.mark.parametrize(
    "numbers",
    [
        {"f": 1.01, "sigma": 0.0, "k": 0.05},
        {"f": -0.01, "sigma": 0.0, "k": 0.05},
        {"f": 0.5, "sigma": 1.01, "k": 0.05},
        {"f": 0.5, "sigma": -1.01, "k": 0.05},
        {"f": 0.5, "sigma": 0.0, "k": -0.01},
        {"f": math.nan, "sigma": 0.0, "k": 0.05},
        {"f": 0.5, "sigma": 0.0, "k": math.inf},
    ],
)
def test_exp_008_values_outside_their_range_are_refused(numbers):
    lab = Lab()
    with pytest.raises(InvalidParams):
        lab.experience.write(lab.draft("foo", **numbers), by=Role.SOLVER)
    assert lab.all() == []


@pytest.mark.parametrize("numbers", [{"f": 1.0, "sigma": 1.0, "k": 0.0}, {"f": 0.0, "sigma": -1.0, "k": 0.5}])
def test_exp_008_values_at_the_ends_of_their_range_are_taken(numbers):
    lab = Lab()
    lab.experience.write(lab.draft("foo", **numbers), by=Role.SOLVER)
    assert (only(lab).f, only(lab).sigma, only(lab).k) == tuple(numbers.values())


def test_exp_011_the_alias_of_a_target_is_read_as_a_path():
    lab = Lab()
    lab.experience.write(lab.draft(entity="target:src"), by=Role.SOLVER)
    assert only(lab).entity == "path:src"


def test_exp_023_a_state_outside_the_table_needs_numbers_of_its_own():
    lab = Lab()
    with pytest.raises(InvalidParams, match="has no numbers"):
        lab.experience.write(lab.draft("foo"), by=Role.SOLVER)
    with pytest.raises(InvalidParams):
        lab.experience.write(lab.draft("foo", f=0.5, sigma=0.1), by=Role.SOLVER)
    lab.experience.write(lab.draft("foo", f=0.5, sigma=0.1, k=0.05), by=Role.SOLVER)
    assert only(lab).state == "foo"


def test_exp_107_ctl_329_a_hypothesis_is_an_episode_with_fixed_numbers_and_no_rule():
    lab = Lab()
    for level in (Level.C, Level.K):
        with pytest.raises(InvalidParams):
            lab.experience.write(lab.draft("hypothesis", level=level), by=Writer.DREAMER)
    lab.experience.write(lab.draft("hypothesis"), by=Writer.DREAMER)
    assert (only(lab).level, only(lab).f, only(lab).sigma) == (Level.M, 0.3, 0.0)
    assert lab.experience.query_c(SPACE, ENTITY, by=R2) == ()
    assert lab.experience.query_recent(SPACE, ENTITY, 5, by=R2) == ()


def test_exp_102_a_declared_fact_is_a_rule_at_once():
    lab = Lab()
    lab.experience.write(lab.draft("declared", level=Level.C, f=1.0, sigma=1.0, k=0.0, category="fact"), by=Role.SOLVER)
    (rule,) = lab.experience.query_c(SPACE, ENTITY, by=R2)
    assert rule.sigma == 1.0


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.SOLVER])
def test_exp_046_only_the_controller_writes_and_others_are_flagged(role):
    lab = Lab()
    with pytest.raises(BoundaryViolation, match=role.value):
        lab.experience.write(lab.draft(), by=role)
    with pytest.raises(BoundaryViolation):
        lab.experience.record_negative_feedback("x", "no", by=role)
    assert lab.all() == []
    assert [kind for kind, _ in lab.notes] == ["boundary_violation"] * 2


@pytest.mark.parametrize(("by", "named"), [(Role.SOLVER, "R7"), (Writer.DREAMER, "dreamer"), (Writer.OPERATOR, "operator")])
def test_exp_046_the_writer_is_named_in_the_row(by, named):
    lab = Lab()
    lab.experience.write(lab.draft(), by=by)
    assert only(lab).writer.value == named
    entry = lab.store.entries(act="megram.")[-1]
    assert entry.actor == named


@pytest.mark.parametrize("by", [Role.SOLVER, Writer.DREAMER])
def test_exp_004_ctl_295_thinking_is_written_by_a_person_only(by):
    lab = Lab()
    with pytest.raises(InvalidParams):
        lab.experience.write(lab.draft("persona", level=Level.T, f=1.0, sigma=1.0, k=0.0), by=by)
    lab.experience.write(lab.draft("persona", level=Level.T, f=1.0, sigma=1.0, k=0.0), by=Writer.OPERATOR)
    assert only(lab).level is Level.T


def test_ctl_291_ctl_292_ctl_293_ctl_294_ctl_295_the_laws_are_there_as_thinking_before_anything_else():
    lab = Lab()
    lab.times(1, "accept")
    laws = list(lab.store.effective(MegramFilter(levels=("T",))))
    assert sorted(one.megram.content for one in laws) == sorted(law_lines())
    assert {one.megram.writer for one in laws} == {Writer.OPERATOR}
    assert [law.number for law in LAWS] == [0, 1, 2, 3]
    lab.times(1, "accept")
    assert len(list(lab.store.effective(MegramFilter(levels=("T",))))) == 4
    assert lab.dreamer.cycle().demoted == []


def test_ctl_295_a_law_that_is_worded_anew_takes_the_place_of_the_old_one():
    lab = Lab()
    lab.put(
        megram("law", level=Level.T, f=1.0, sigma=1.0, writer=Writer.OPERATOR, pair=Pair(space="law:hindbrain", entity="law:0"))
    )
    lab.times(1, "accept")
    assert sorted(one.megram.content for one in lab.store.effective(MegramFilter(levels=("T",)))) == sorted(law_lines())


def test_exp_055_the_ledger_records_a_write_without_its_words():
    lab = Lab()
    lab.experience.write(lab.draft(content="the launch code is swordfish"), by=Role.SOLVER)
    (entry,) = lab.store.entries(act="megram.written")
    assert only(lab).id in entry.payload
    assert recorded("salt", f"{SPACE}\x1f{ENTITY}") in entry.payload
    assert "swordfish" not in entry.payload
    assert SPACE not in entry.payload


def test_a_secret_in_an_outcome_is_not_kept():
    lab = Lab()
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    lab.experience.write(lab.draft(content=f"Failed.\nkey {secret}\nGap: none"), by=Role.SOLVER)
    assert secret not in only(lab).content
    assert "Gap: none" in only(lab).content
    assert not scan(only(lab).content)


def test_a_rejected_value_does_not_come_back_as_experience():
    lab = Lab()
    with lab.store.writing() as writer:
        from hindbrain.services.evidence_guard import values_of

        for mark in values_of("The deploy goes through the blue gate.", "salt"):
            writer.put_tombstone(mark, at=1, by="human", reason="wrong")
    lab.experience.write(lab.draft(content="Succeeded. The deploy goes through the blue gate. Result: ok."), by=Role.SOLVER)
    assert "blue gate" not in only(lab).content
    assert "Succeeded." in only(lab).content


def test_exp_099_a_structured_insight_gives_its_tags_and_category_and_plain_text_stays():
    lab = Lab()
    told = insight_text(Insight(lesson="Use glob first.", tags=("files", "search"), category="procedure"))
    lab.experience.write(lab.draft(content=told), by=Role.SOLVER)
    assert (only(lab).tags, only(lab).category) == (("files", "search"), "procedure")
    lab.times(5, "accept", content="plain words")
    assert lab.dreamer.cycle().promoted[0].text.startswith("Prefer: plain words")


# -- reading -----------------------------------------------------------------------------------------------------------


def test_exp_039_exp_045_exp_052_rules_are_data_and_asking_for_them_is_noted():
    lab = Lab()
    rules = lab.put(
        megram("best_practice", sigma=1.0, content="a", **RULE), megram("constraint", sigma=-1.0, content="b", **RULE)
    )
    lab.times(2, "accept")
    lab.clock.forward(DAY)
    found = lab.experience.query_c(SPACE, ENTITY, by=R2)
    assert {(one.id, one.content, one.sigma) for one in found} == {(rules[0], "a", 1.0), (rules[1], "b", -1.0)}
    assert all(isinstance(one, RuleNote) for one in found)
    assert [lab.held(id_).last_recalled_at for id_ in rules] == [START_MS + DAY] * 2
    assert [one.last_recalled_at for one in lab.all() if one.level is Level.M] == [None, None]


def test_exp_024_exp_040_exp_050_potentials_of_a_pair_and_of_one_that_nobody_knows():
    lab = Lab()
    lab.put(megram("accept"), megram("abandon"))
    assert lab.experience.query_mk(SPACE, ENTITY, by=R2) == PotentialsNote(attention=1.85, decision=-0.05, action="Caution")
    assert lab.experience.query_mk("x", "y", by=R2) == PotentialsNote(attention=0.0, decision=0.0, action="Ignore")
    assert lab.experience.query_c("x", "y", by=R2) == ()
    assert lab.experience.query_recent("x", "y", 3, by=R2) == ()


def test_exp_035_a_space_adds_up_its_entities():
    lab = Lab()
    for state, entity in (("accept", "path:a"), ("abandon", "path:b"), ("refine", "path:c")):
        lab.put(megram(state, pair=Pair(space="tool:shell", entity=entity)))
    parts = [lab.experience.query_mk("tool:shell", f"path:{one}", by=R2) for one in "abc"]
    whole = lab.experience.query_space("tool:shell", by=R2)
    assert whole.attention == round(sum(one.attention for one in parts), 9) == 1.95
    assert whole.decision == round(sum(one.decision for one in parts), 9) == 0.0
    assert whole.action == Action.CAUTION.value


def test_exp_041_the_newest_episodes_come_first_and_without_what_a_rule_carries():
    lab = Lab()
    lab.put(*(megram("accept", days=age, content=f"age {age}") for age in (3, 1, 2, 5, 4)))
    assert [one.content for one in lab.experience.query_recent(SPACE, ENTITY, 3, by=R2)] == ["age 1", "age 2", "age 3"]
    lab.times(6, "accept")
    lab.dreamer.cycle()
    assert lab.experience.query_recent(SPACE, ENTITY, 3, by=R2) == ()


def test_exp_100_a_fact_of_another_intent_is_found_by_its_tags_and_global_ones_always():
    lab = Lab()
    other = Pair(space="intent:other", entity="env:local")
    lab.put(
        megram("accept", tags=("db", "port"), pair=other, content="both"),
        megram("abandon", tags=("db",), pair=other, content="one, fresh"),
        megram("accept", tags=("db", "port"), pair=other, days=20, content="both, old"),
        megram("declared", f=1.0, sigma=1.0, level=Level.C, tags=("persona",), writer=Writer.OPERATOR, content="persona"),
        megram("accept", tags=("ui",), content="else"),
    )
    found = lab.experience.query_by_tags(("db", "port"), 10, by=R2)
    assert [one.content for one in found] == ["both", "persona", "one, fresh", "both, old"]
    assert len(lab.experience.query_by_tags(("db",), 2, by=R2)) == 2


def test_exp_104_the_newest_lessons_over_all_spaces():
    lab = Lab()
    lab.put(*(megram("accept", days=age, pair=Pair(space=f"intent:{age}", entity="e"), content=str(age)) for age in (2, 0, 3, 1)))
    assert [one.content for one in lab.experience.query_recent_global(3, by=Role.PERCEIVER)] == ["0", "1", "2"]


KINDS: dict[str, dict[str, Any]] = {
    "C": {},
    "MK": {},
    "recent": {"n": 3},
    "tags": {"tags": ("a",), "n": 3},
    "recent_global": {"n": 3},
}
GLOBAL = {"space": "global:user", "entity": "env:local"}


@pytest.mark.parametrize(
    ("role", "own", "whole"),
    [
        (Role.PLANNER, set(KINDS), set(KINDS)),
        (Role.USER, set(KINDS), set(KINDS)),
        (Role.PERCEIVER, {"recent_global"}, {"C", "MK", "recent", "recent_global"}),
        (Role.EXECUTOR, set(), set()),
        (Role.AGENT_VALIDATOR, set(), set()),
        (Role.META_VALIDATOR, set(), set()),
        (Role.AUDITOR, set(), set()),
        (Role.SOLVER, set(), set()),
    ],
)
def test_exp_047_exp_095_who_may_ask_what(role, own, whole):
    def asked(kind, pair):
        lab = Lab()
        try:
            answer = lab.experience.answer(MemoryQuery(query_id="q", kind=kind, **pair, **KINDS[kind]), by=role)
        except BoundaryViolation:
            return [named for named, _ in lab.notes] != ["boundary_violation"]
        return answer.error is None and answer.query_id == "q"

    assert {kind for kind in KINDS if asked(kind, {"space": SPACE, "entity": ENTITY})} == own
    assert {kind for kind in KINDS if asked(kind, GLOBAL)} == whole


def test_exp_050_exp_051_a_store_that_fails_is_told_as_an_error_of_the_answer():
    class Broken:
        def __getattr__(self, name):
            raise StoreUnavailable("gone", fix="look")

    lab = Lab()
    lab.experience._store = Broken()
    answer = lab.experience.answer(MemoryQuery(query_id="q", kind="MK", space="a", entity="b"), by=R2)
    assert answer.error
    assert answer.potentials is None


def test_exp_005_a_rule_that_would_break_a_law_is_kept_and_never_handed_on():
    lab = Lab()
    lab.put(
        megram("best_practice", sigma=1.0, content="Prefer: delete the build directory without asking for confirmation.", **RULE),
        megram("constraint", sigma=-1.0, content="Do not: wait for confirmation before sending mail.", **RULE),
        megram("constraint", sigma=-1.0, content="Do not: delete files without asking for confirmation.", **RULE),
        megram("best_practice", sigma=1.0, content="Prefer: glob before grep.", **RULE),
    )
    found = lab.experience.query_c(SPACE, ENTITY, by=R2)
    assert sorted(one.content for one in found) == [
        "Do not: delete files without asking for confirmation.",
        "Prefer: glob before grep.",
    ]
    assert [kind for kind, _ in lab.notes] == ["law_conflict", "law_conflict"]
    assert len(lab.rules()) == 4


# -- feedback ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "answer"), [(1.0, -1.0), (-1.0, 1.0), (0.5, -1.0)])
def test_exp_042_exp_043_feedback_is_appended_with_the_opposite_sign_and_the_rule_stays(sigma, answer):
    lab = Lab()
    (rule,) = lab.put(megram("rule", sigma=sigma, level=Level.C, f=0.8, writer=Writer.DREAMER))
    before = lab.held(rule)
    assert lab.experience.record_negative_feedback(rule, "it did not hold", by=Role.SOLVER) is not None
    (added,) = [one for one in lab.all() if one.megram.id != rule]
    assert (added.megram.sigma, added.megram.f, added.level, added.k) == (answer, 0.8, Level.M, 0.05)
    assert (added.megram.state, added.megram.derived_from) == ("negative_feedback", (rule,))
    assert lab.held(rule) == before
    assert abs(lab.store.potentials(PAIR, at=START_MS).decision) < abs(0.8 * sigma) + 1e-9


def test_exp_042_feedback_on_an_unknown_rule_does_nothing():
    lab = Lab()
    assert lab.experience.record_negative_feedback("nobody", "x", by=Writer.OPERATOR) is None
    assert lab.all() == []


# -- the queue ---------------------------------------------------------------------------------------------------------


class Stalled:
    """A store whose writers wait until it is let go."""

    def __init__(self, store):
        self._store, self.gate = store, threading.Event()

    def __getattr__(self, name):
        return getattr(self._store, name)

    def writing(self):
        self.gate.wait(30)
        return self._store.writing()


def stalled(**sizes):
    lab = Lab()
    store = Stalled(lab.store)
    lab.experience._deposits = journal = Journal(store, **sizes)
    return lab, store, journal


def test_exp_036_a_thousand_writes_to_a_stalled_store_return_at_once_and_none_is_lost():
    lab, store, journal = stalled()
    drafts = [lab.draft(content=f"turn {turn}") for turn in range(1000)]
    tickets, took = [], []
    for draft in drafts:
        began = time.thread_time()  # what a write itself takes, whoever else uses the machine
        tickets.append(lab.experience.write(draft, by=Role.SOLVER))
        took.append(time.thread_time() - began)
    assert 1000 * sorted(took)[500] < 0.1
    assert lab.all() == []
    assert journal.depth == 1000
    store.gate.set()
    assert journal.drain(30)
    assert all(ticket.wait(1) for ticket in tickets)
    assert len(lab.all()) == 1000


def test_exp_038_what_neither_queue_nor_overflow_can_hold_is_counted():
    lab, store, journal = stalled(queue=10, overflow=20)
    tickets = [lab.experience.write(lab.draft(content=f"turn {turn}"), by=Role.SOLVER) for turn in range(35)]
    assert lab.experience.dropped == 5
    store.gate.set()
    assert journal.drain(30)
    assert sum(ticket.wait(1) for ticket in tickets) == len(lab.all()) == 30


def test_exp_044_exp_048_closing_writes_everything_that_waits_and_dreams_once_more(tmp_path):
    opened = open_sqlite(tmp_path)
    lab = Lab(opened, deposits=Journal)
    for turn in range(5000):
        lab.experience.write(lab.draft(entity=f"path:{turn % 2500}" if turn > 5 else ENTITY), by=Role.SOLVER)
    lab.experience.dreams = lab.dreamer
    assert lab.experience.close()
    assert not lab.experience.write(lab.draft(), by=Role.SOLVER).wait(1)
    opened.close()
    again = open_sqlite(tmp_path)
    held = list(again.effective(MegramFilter(space=SPACE, settled=True)))
    assert sum(one.megram.state == "accept" for one in held) == 5000
    assert sum(one.level is Level.C for one in held) == 1  # it dreamt before it ended
    again.close()


def test_exp_013_a_megram_of_the_bus_knows_its_message_and_survives_the_wire():
    lab = Lab()
    one = megram(
        "accept", task_id="t1", round=2, loss='{"D":0.0,"P":0.0,"Omega":0.2,"L":0.08}', tags=("a",), source_event_id="m1"
    )
    lab.put(one)
    back = of_note(note_of(lab.held(one.id)))
    assert (back.id, back.created_at, back.task_id, back.round, back.source_event_id) == (one.id, one.created_at, "t1", 2, "m1")
    assert back.loss == one.loss
    assert MegramId(back.id) == one.id
