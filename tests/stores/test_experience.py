"""The contract of experience: what every store does with megrams, what befalls them, their sums, and messages."""

import hashlib
import json
import math
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.errors import InvalidParams, UnknownMegram
from hindbrain.domain.experience import (
    Action,
    Effective,
    EventKind,
    Level,
    MegramId,
    Pair,
    Writer,
)
from hindbrain.stores.port import BrainStore, MegramFilter, PairSums
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.stores.experiences import (
    DAY,
    NOW,
    PAIR,
    advice,
    apart,
    befall,
    forget,
    held,
    ids,
    keep,
    megram,
    rebuild,
    recall,
    say,
    settle,
    sums,
)

# --- a megram --------------------------------------------------------------------------------------------------------------


def test_exp_007_exp_048_a_megram_comes_back_as_it_was_put(store: BrainStore) -> None:
    whole = megram(
        level=Level.K,
        content="Ein Satz, 一つの文",
        task_id="t",
        mission_id="m",
        round=3,
        source_event_id="msg_1",
        loss='{"L":0.25}',
        category="fact",
        tags=("b", "ä", "a"),
        derived_from=(MegramId("m0"),),
        supersedes=MegramId("m00"),
    )
    keep(store, whole)

    assert held(store) == Effective(megram=whole, level=Level.K, k=0.05, origin=NOW)
    recall(store, "m1", at=NOW + 5)
    now = held(store)
    tuple_of_a_megram = {"id", "level", "created_at", "space", "entity", "content", "state", "f", "sigma", "k"}
    assert tuple_of_a_megram <= {one.name for one in fields(now.megram)}
    assert (now.megram, now.last_recalled_at) == (whole, NOW + 5)
    with store.writing() as writer:
        assert not writer.put_megram(replace(whole, content="another"))
    assert held(store).megram == whole
    assert store.megrams([MegramId("none")]) == {}


@pytest.mark.parametrize(
    ("f", "sigma", "k"),
    [(1.01, 0.0, 0.05), (-0.01, 0.0, 0.05), (0.5, 1.01, 0.05), (0.5, -1.01, 0.05), (0.5, 0.0, -0.01), (0.5, 0.0, math.inf)],
)
def test_exp_008_numbers_outside_their_range_are_refused(f: float, sigma: float, k: float) -> None:
    with pytest.raises(InvalidParams):
        megram("m1", "odd", f=f, sigma=sigma, k=k)
    with pytest.raises(InvalidParams):
        megram("m1", "odd", f=math.nan, sigma=sigma, k=k)


@pytest.mark.parametrize("level", [Level.C, Level.T])
def test_exp_008_a_rule_that_fades_is_refused(level: Level) -> None:
    with pytest.raises(InvalidParams, match="does not fade"):
        megram(level=level)
    assert megram(level=level, f=1.0, sigma=1.0, k=0.0).k == 0.0


def test_exp_008_numbers_at_the_ends_of_their_range_are_kept(store: BrainStore) -> None:
    ends = [megram(f"m{n}", "odd", f=f, sigma=s, k=k) for n, (f, s, k) in enumerate(((0.0, -1.0, 0.0), (1.0, 1.0, 0.5)))]
    keep(store, *ends)

    assert [held(store, one.id).megram for one in ends] == ends
    assert sums(store) == (1.0, 1.0)


# --- the sums of a pair ----------------------------------------------------------------------------------------------------


def test_exp_024_one_experience_counts_by_its_age_when_it_is_asked_for(store: BrainStore) -> None:
    left = {0: 0.90, 7: 0.634219281, 28: 0.221937268}
    for (days, expected), pair in zip(left.items(), apart(3), strict=True):
        keep(store, megram(f"m{days}", days=days, pair=pair))
        assert sums(store, pair=pair) == (expected, expected)
        assert sums(store, pair=pair, at=NOW - days * DAY) == (0.9, 0.9)


def test_exp_025_exp_030_good_and_bad_add_up_in_attention_and_cancel_in_decision(store: BrainStore) -> None:
    keep(store, megram("m1", "accept"), megram("m2", "abandon"))
    assert (sums(store), advice(store)) == ((1.85, -0.05), Action.CAUTION)


def test_exp_026_newer_outweighs_older_by_decay_alone(store: BrainStore) -> None:
    keep(store, megram("m1", "accept"), megram("m2", "change_approach", days=14))
    attention, decision = sums(store)
    assert (round(attention, 4), round(decision, 4), advice(store)) == (1.3221, 0.4779, Action.EXPLOIT)


def test_exp_027_too_little_attention_is_ignored(store: BrainStore) -> None:
    good, bad = apart(2)
    keep(store, megram("m1", "accept", days=11.756, pair=good), megram("m2", "abandon", days=12.838, pair=bad))
    assert (advice(store, pair=good), advice(store, pair=bad)) == (Action.IGNORE, Action.IGNORE)
    before = NOW - DAY // 1000
    assert (advice(store, pair=good, at=before), advice(store, pair=bad, at=before)) == (Action.EXPLOIT, Action.AVOID)


def test_exp_028_exp_031_attention_at_the_threshold_is_enough_and_a_second_later_is_not(store: BrainStore) -> None:
    keep(store, *(megram(f"m{n}", "refine") for n in range(5)))
    assert (sums(store), advice(store)) == ((0.5, 0.25), Action.EXPLOIT)
    assert advice(store, at=NOW + 1000) is Action.IGNORE


def test_exp_029_what_failed_is_avoided(store: BrainStore) -> None:
    keep(store, megram("m1", "abandon"))
    assert (sums(store), advice(store)) == ((0.95, -0.95), Action.AVOID)


def test_exp_030_attention_without_direction_is_caution(store: BrainStore) -> None:
    cases = {("change_path", "change_path"): (0.6, 0.0), ("success", "change_approach"): (1.65, -0.05)}
    for (states, expected), pair in zip(cases.items(), apart(2), strict=True):
        keep(store, *(megram(f"{pair.entity}-{number}", state, pair=pair) for number, state in enumerate(states)))
        assert (sums(store, pair=pair), advice(store, pair=pair)) == (expected, Action.CAUTION)


def test_exp_031_thresholds_from_both_sides(store: BrainStore) -> None:
    cases = {
        (0.5, 0.4): Action.CAUTION,
        (0.5, 0.42): Action.EXPLOIT,
        (0.5, -0.4): Action.CAUTION,
        (0.5, -0.42): Action.AVOID,
        (0.499, 1.0): Action.IGNORE,
    }
    for ((f, sigma), said), pair in zip(cases.items(), apart(5), strict=True):
        keep(store, megram(pair.entity, "odd", f=f, sigma=sigma, k=0.05, pair=pair))
        assert advice(store, pair=pair) is said, (f, sigma)


def test_exp_032_a_pair_without_experience_is_no_error(store: BrainStore) -> None:
    assert store.potentials(PAIR, at=NOW) == PairSums(attention=0.0, decision=0.0, count=0)
    assert store.space_potentials("tool:shell", at=NOW).count == 0
    assert advice(store) is Action.IGNORE
    assert (list(store.effective()), list(store.pairs()), store.level_counts()) == ([], [], {})
    assert (store.unsettled_pairs(limit=9), store.faded(at=NOW, limit=9), store.messages(), store.tasks(limit=9)) == (
        *((), (), ()),
        (),
    )


def test_exp_033_levels_that_count_and_sources_that_a_rule_carries(store: BrainStore) -> None:
    keep(store, *(megram(f"m{n}") for n in range(6)), megram("t1", "value", level=Level.T, f=1.0, sigma=1.0, k=0.0))
    assert sums(store) == (5.4, 5.4)

    keep(store, megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0, writer=Writer.DREAMER))
    for number in range(6):
        befall(store, f"m{number}", EventKind.CONSOLIDATED, into_id=MegramId("c1"))

    assert store.potentials(PAIR, at=NOW + 90 * DAY) == PairSums(attention=1.0, decision=1.0, count=1)
    assert store.level_counts() == {"C": 1, "T": 1}
    befall(store, "c1", EventKind.SUPERSEDED, into_id=MegramId("c2"))
    assert store.potentials(PAIR, at=NOW).count == 0
    befall(store, "m3", EventKind.RESTORED)
    assert sums(store) == (0.9, 0.9)


def test_exp_034_a_time_in_the_future_is_age_0(store: BrainStore) -> None:
    keep(store, megram(days=-3))
    assert sums(store) == (0.9, 0.9)
    assert store.faded(at=NOW + 10 * DAY, limit=9) == ()


def test_exp_035_the_sums_of_a_space_are_those_of_its_pairs(store: BrainStore) -> None:
    pairs = [Pair(space="tool:shell", entity=f"path:{name}") for name in "abc"]
    states = ("accept", "abandon", "change_path")
    keep(store, *(megram(f"m{n}", states[n], pair=pair, days=n) for n, pair in enumerate(pairs)))
    keep(store, megram("other", pair=Pair(space="tool:shell2", entity="path:a")))

    parts = [store.potentials(pair, at=NOW) for pair in pairs]
    together = store.space_potentials("tool:shell", at=NOW)

    assert together.attention == pytest.approx(sum(one.attention for one in parts), abs=1e-12)
    assert together.decision == pytest.approx(sum(one.decision for one in parts), abs=1e-12)
    assert (together.count, list(store.pairs())) == (3, [*pairs, Pair(space="tool:shell2", entity="path:a")])


def test_exp_024_what_is_ages_old_or_next_to_nothing_breaks_no_sum(store: BrainStore) -> None:
    tiny = 5e-324
    keep(store, megram("m1", "refine", days=20_000), megram("m2", "odd", f=tiny, sigma=tiny, k=5.0, days=9_000))
    assert (sums(store), store.potentials(PAIR, at=NOW).count) == ((0.0, 0.0), 2)


# --- recall and what befalls a megram --------------------------------------------------------------------------------------


def test_exp_052_exp_053_recall_lets_age_begin_anew_everywhere(store: BrainStore) -> None:
    rule = megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0, days=40)
    keep(store, rule)
    befall(store, "c1", EventKind.DEMOTED, at=NOW - 40 * DAY, level=Level.K, k=0.05)
    assert sums(store)[0] == round(math.exp(-2), 9)
    before = store.faded(at=NOW + 7 * DAY, limit=9)

    recall(store, "c1", "c1", "none")

    now = held(store, "c1")
    assert (now.megram, now.last_recalled_at, now.recalls, now.origin) == (rule, NOW, 1, NOW)
    assert (sums(store)[0], before, store.faded(at=NOW + 7 * DAY, limit=9)) == (1.0, ("c1",), ())
    recall(store, "c1", at=NOW - DAY)
    assert (held(store, "c1").last_recalled_at, held(store, "c1").recalls, held(store, "c1").origin) == (NOW, 2, NOW)


def test_exp_053_a_recall_that_changes_sums_unsettles_its_pair(store: BrainStore) -> None:
    rules = Pair(space="intent:x", entity="env:local")
    keep(store, megram(days=3), megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0, pair=rules))
    settle(store, PAIR, rules)

    recall(store, "m1", "c1")

    assert store.unsettled_pairs(limit=9) == (PAIR,)


def test_exp_056_an_opposite_megram_cancels_the_decision_and_not_the_attention(store: BrainStore) -> None:
    keep(store, megram(), megram("m2", "correction", f=0.9, sigma=-1.0, k=0.05))
    assert (sums(store), advice(store)) == ((1.8, 0.0), Action.CAUTION)


def test_exp_057_what_befalls_a_megram_is_told_beside_it(store: BrainStore) -> None:
    rule = megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0, days=9)
    keep(store, rule)

    first = befall(store, "c1", EventKind.DEMOTED, level=Level.K, k=0.05, detail='{"why":"bankrupt"}')
    second = befall(store, "c1", EventKind.SUPERSEDED, into_id=MegramId("c2"), at=NOW + 1)

    now = held(store, "c1")
    assert (now.megram, now.level, now.k, now.origin) == (rule, Level.K, 0.05, NOW)
    assert (now.consolidated, now.superseded_at, now.live) == (False, NOW + 1, False)
    assert (first.seq, second.seq) == (1, 2)
    assert store.megram_events(MegramId("c1")) == store.megram_events() == (first, second)
    assert store.megram_events(after=1) == store.megram_events(MegramId("c1"), after=1, limit=1) == (second,)
    assert store.megram_events(MegramId("c2")) == ()


def test_exp_057_a_demoted_rule_fades_from_its_demotion_on(store: BrainStore) -> None:
    keep(store, megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0, days=400))
    assert store.faded(at=NOW + 4000 * DAY, limit=9) == ()
    befall(store, "c1", EventKind.DEMOTED, level=Level.K, k=0.05)

    assert store.faded(at=NOW + round(46.05 * DAY), limit=9) == ()
    assert store.faded(at=NOW + round(46.06 * DAY), limit=9) == ("c1",)


def test_exp_057_nothing_befalls_what_is_not_there(store: BrainStore) -> None:
    keep(store, megram())
    with pytest.raises(UnknownMegram):
        befall(store, "none", EventKind.DEMOTED)
    with pytest.raises(InvalidParams, match="still there"):
        befall(store, "m1", EventKind.FORGOTTEN)
    assert befall(store, "none", EventKind.FORGOTTEN, content_sha256="d").seq == 1  # as an import tells it
    assert len(store.megram_events()) == 1


def test_exp_058_what_is_forgotten_leaves_its_pair_state_and_digest(store: BrainStore) -> None:
    keep(store, megram(tags=("x",)), megram("m2"), megram("m3", pair=Pair(space="s", entity="e")))
    recall(store, "m1")
    settle(store, PAIR, Pair(space="s", entity="e"), watch=(Pair(space="s", entity="e"),))

    assert forget(store, "m1", "m3", "none", "m1") == 2

    assert ids(store.effective()) == ["m2"]
    assert (store.megrams_tagged(["x"], limit=9), list(store.pairs())) == ((), [PAIR])
    assert store.unsettled_pairs(limit=9) == (PAIR,)
    told = store.megram_events(MegramId("m1"))[0]
    assert (told.kind, told.content_sha256) == (EventKind.FORGOTTEN, hashlib.sha256(b"content of m1").hexdigest())
    assert json.loads(told.detail) == {"space": PAIR.space, "entity": PAIR.entity, "state": "accept"}
    assert store.meta("erasing") is None


def test_exp_058_what_is_written_again_under_a_forgotten_id_is_new(store: BrainStore) -> None:
    keep(store, megram())
    befall(store, "m1", EventKind.CONSOLIDATED)
    forget(store, "m1")
    keep(store, megram(content="again"))

    assert (held(store).live, held(store).megram.content) == (True, "again")
    assert rebuild(store) == 0


# --- what counts now follows from what was told ----------------------------------------------------------------------------


def test_exp_057_what_counts_now_can_be_made_again_from_what_was_told(store: BrainStore) -> None:
    keep(store, *(megram(f"m{n}", days=n) for n in range(5)), megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0))
    befall(store, "m0", EventKind.CONSOLIDATED, into_id=MegramId("c1"))
    befall(store, "m1", EventKind.PROMOTED_K, at=NOW + 3)
    befall(store, "m2", EventKind.CONSOLIDATED)
    befall(store, "m2", EventKind.RESTORED, at=NOW + 4)
    befall(store, "c1", EventKind.DEMOTED, level=Level.K, k=0.05, at=NOW + 5)
    recall(store, "m3", "c1", at=NOW + 6)
    forget(store, "m4")
    before = {one.megram.id: one for one in store.effective(MegramFilter(settled=True))}
    gone = store.faded(at=NOW + 99 * DAY, limit=9)

    assert rebuild(store) == 0
    assert {one.megram.id: one for one in store.effective(MegramFilter(settled=True))} == before
    assert store.faded(at=NOW + 99 * DAY, limit=9) == gone == ("m0", "m1", "m2", "m3", "c1")[1:]
    assert (before[MegramId("m1")].level, before[MegramId("m2")].origin) == (Level.K, NOW + 4)


# --- finding ---------------------------------------------------------------------------------------------------------------


def test_exp_087_exp_088_a_pair_is_found_by_both_names_exactly(store: BrainStore) -> None:
    alike = [("a:b", "c"), ("a", "b:c"), ("a", "b"), ("A", "b:c"), ("a", "b:c|d"), ("a|b", "c"), ("", "a"), ("a", "")]
    pairs = [Pair(space=space, entity=entity) for space, entity in alike]
    keep(store, *(megram(f"m{n}", pair=pair) for n, pair in enumerate(pairs)))

    for number, pair in enumerate(pairs):
        assert store.potentials(pair, at=NOW).count == 1
        assert ids(store.effective(MegramFilter(pair=pair))) == [f"m{number}"]
    assert list(store.pairs()) == sorted(pairs)


def test_exp_086_megrams_are_found_by_level_writer_task_and_space_newest_first(store: BrainStore) -> None:
    keep(
        store,
        megram("m1", days=5, task_id="t"),
        megram("m2", days=3, pair=Pair(space="s", entity="e"), task_id="t"),
        megram("k1", days=4, level=Level.K),
        megram("c1", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0, days=4, writer=Writer.DREAMER),
        megram("m3", days=4),
    )
    befall(store, "m3", EventKind.CONSOLIDATED)

    def found(**where: Any) -> list[str]:
        return ids(store.effective(MegramFilter(**where)))

    assert ids(store.effective()) == ["m2", "k1", "c1", "m1"]
    assert ids(store.effective(limit=2)) == ["m2", "k1"]
    assert ids(store.effective(limit=0)) == []
    assert found(settled=True) == ["m2", "m3", "k1", "c1", "m1"]
    assert (found(levels=("C",)), found(levels=("K", "M", "K")), found(levels=())) == (["c1"], ["m2", "k1", "m1"], [])
    assert ids(store.effective(MegramFilter(levels=("C", "M")), limit=2)) == ["m2", "c1"]
    assert (found(writer="dreamer"), found(task_id="t"), found(space="s")) == (["c1"], ["m2", "m1"], ["m2"])
    assert found(pair=PAIR, levels=("M",), settled=True) == ["m3", "m1"]
    assert (store.level_counts(), store.megrams_like("m", limit=2)) == ({"C": 1, "K": 1, "M": 2}, ("m1", "m2"))
    assert (store.megrams_like("", limit=9), store.megrams_like("m_", limit=9)) == (("c1", "k1", "m1", "m2", "m3"), ())
    assert list(store.megrams([MegramId("m3"), MegramId("c1")])) == ["m3", "c1"]


def test_exp_086_a_stream_goes_on_over_its_pages(store: BrainStore) -> None:
    keep(store, *(megram(f"m{n:04}", created_at=NOW + n // 3) for n in range(520)))
    expected = [f"m{n:04}" for n in reversed(range(520))]

    assert ids(store.effective()) == expected
    assert ids(store.effective(MegramFilter(levels=("M",)))) == expected
    assert ids(store.effective(MegramFilter(pair=PAIR), limit=510)) == expected[:510]


def test_exp_090_the_order_of_stored_times_is_the_order_of_times(store: BrainStore) -> None:
    moments = ["1999-12-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z", "2026-11-30T09:05:07.040Z"]
    at = {text: round(datetime.fromisoformat(text).timestamp() * 1000) for text in moments}
    keep(store, *(megram(text, created_at=at[text]) for text in (moments[2], moments[0], moments[3], moments[1])))

    found = list(store.effective())
    told = [
        datetime.fromtimestamp(one.megram.created_at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for one in found
    ]
    assert told == ids(found) == sorted(moments, reverse=True)


def test_exp_100_megrams_are_found_by_any_tag_and_those_with_most_come_first(store: BrainStore) -> None:
    keep(
        store,
        megram("m1", tags=("a", "b"), days=9),
        megram("m2", tags=("b", "c", "b"), days=1),
        megram("m3", tags=("a", "b", "c"), days=2),
        megram("m4", tags=("d",)),
        megram("m5", tags=("a",), days=0.5),
    )
    befall(store, "m5", EventKind.CONSOLIDATED)

    assert ids(store.megrams_tagged(["a", "b", "a"], limit=9)) == ["m3", "m1", "m2"]
    assert ids(store.megrams_tagged(["b"], limit=2)) == ["m2", "m3"]
    assert store.megrams_tagged([], limit=9) == store.megrams_tagged(["none"], limit=9) == ()


# --- what the Dreamer asks -------------------------------------------------------------------------------------------------


def test_exp_080_what_has_faded_is_found_to_the_millisecond(store: BrainStore) -> None:
    own = {name: Pair(space="s", entity=name) for name in ("accept", "change_path", "refine", "x", "weak", "firm")}
    keep(store, *(megram(state, state, pair=own[state]) for state in ("accept", "change_path", "refine")))
    keep(store, megram("c1", "x", level=Level.C, f=0.05, sigma=1.0, k=0.0, pair=own["x"]))
    keep(store, megram("weak", "odd", f=0.09, sigma=1.0, k=0.0, pair=own["weak"]))
    keep(store, megram("firm", "odd", f=0.1, sigma=1.0, k=0.0, pair=own["firm"]))
    befall(store, "weak", EventKind.CONSOLIDATED)

    assert store.faded(at=NOW, limit=9) == ()
    assert store.faded(at=NOW + 1, limit=9) == ("refine",)
    assert store.faded(at=NOW + 1000, limit=9) == ("refine",)
    assert store.faded(at=NOW + round(5.493 * DAY), limit=9) == ("refine",)
    assert store.faded(at=NOW + round(5.4931 * DAY), limit=9) == ("refine", "change_path")
    assert store.faded(at=NOW + round(43.9444 * DAY), limit=9) == ("refine", "change_path")
    assert store.faded(at=NOW + round(43.9445 * DAY), limit=9) == ("refine", "change_path", "accept")
    assert store.faded(at=NOW + 9_999 * DAY, limit=2) == ("refine", "change_path")
    befall(store, "weak", EventKind.RESTORED)
    assert store.faded(at=NOW, limit=9) == ("weak",)


def test_exp_080_exp_082_the_megrams_of_a_pair_fade_together(store: BrainStore) -> None:
    pair, other = Pair(space="s", entity="a"), Pair(space="s", entity="b")
    keep(store, *(megram(f"r{n}", "refine", pair=pair) for n in range(3)), megram("path", "change_path", pair=pair))
    keep(store, megram("rule", "x", level=Level.C, f=1.0, sigma=1.0, k=0.0, pair=pair))
    keep(store, megram("lone", "refine", pair=other), megram("gone", "accept", pair=other))
    befall(store, "gone", EventKind.CONSOLIDATED)

    assert store.faded(at=NOW + 1000, limit=9) == ("lone",)  # what a rule carries keeps nothing
    assert store.faded(at=NOW + round(6.1 * DAY), limit=9) == ("lone",)  # 0.0886 and three times 0.0047
    assert store.faded(at=NOW + round(6.3 * DAY), limit=9) == ("lone", "r0", "r1", "r2", "path")
    assert store.faded(at=NOW + round(6.3 * DAY), limit=2) == ("lone", "r0")


def test_exp_071_what_a_rule_has_carried_long_enough_is_spent(store: BrainStore) -> None:
    keep(store, *(megram(f"m{n}") for n in range(4)))
    for number, days in ((0, 1), (1, 31), (2, 30)):
        befall(store, f"m{number}", EventKind.CONSOLIDATED, at=NOW - days * DAY)

    assert store.spent(before=NOW - 30 * DAY, limit=9) == ("m1",)
    assert store.spent(before=NOW - 30 * DAY + 1, limit=9) == ("m1", "m2")
    assert store.spent(before=NOW, limit=1) == ("m1",)


def test_exp_083_a_pair_is_unsettled_until_it_was_looked_at_and_watched_as_long_as_wanted(store: BrainStore) -> None:
    one, two, three = (Pair(space="s", entity=name) for name in "abc")
    keep(store, *(megram(pair.entity, pair=pair) for pair in (three, one, two)))
    assert store.unsettled_pairs(limit=2) == (one, two)
    assert store.unsettled_pairs(limit=2, after=two) == (three,)

    settle(store, one, two, three, watch=(two,))
    assert store.unsettled_pairs(limit=9) == (two,)
    keep(store, megram("new", pair=three))
    assert store.unsettled_pairs(limit=9) == (two, three)
    settle(store, two, three, Pair(space="s", entity="none"), watch=(Pair(space="s", entity="none"),))
    assert store.unsettled_pairs(limit=9) == ()
    befall(store, "a", EventKind.CONSOLIDATED)
    assert store.unsettled_pairs(limit=9) == ()
    befall(store, "a", EventKind.RESTORED)
    assert store.unsettled_pairs(limit=9) == (one,)


def test_exp_084_one_dreams_at_a_time(store: BrainStore) -> None:
    with store.dreaming() as mine, store.dreaming() as second:
        assert (mine, second) == (True, False)
        keep(store, megram())  # who does not dream is not kept waiting
    with store.dreaming() as again:
        assert again
    with pytest.raises(ZeroDivisionError), store.dreaming():
        raise ZeroDivisionError
    with store.dreaming() as again:
        assert again


def test_exp_084_one_dreams_at_a_time_in_all_processes(tmp_path: Path) -> None:
    # Two stores on one directory share nothing but the files, as two processes do: the lock belongs to an open file.
    one, other = SqliteStore(tmp_path / "brain", BRAIN), SqliteStore(tmp_path / "brain", BRAIN)
    with one.dreaming() as first, other.dreaming() as second:
        assert (first, second) == (True, False)
    with other.dreaming() as again:
        assert again
    one.close()
    other.close()


# --- messages --------------------------------------------------------------------------------------------------------------


def test_ctl_023_messages_are_read_in_order_by_cursor_task_and_recipient(store: BrainStore) -> None:
    first, second = say(store, "a", body='{"f":0.25,"x":"ä"}'), say(store, "b", "t2", "R6")
    third, fourth = say(store, "c", None), say(store, "d")

    assert store.messages() == (first, second, third, fourth)
    assert store.messages(after=second.seq) == (third, fourth)
    assert store.messages(after=first.seq, limit=1) == (second,)
    assert store.messages(task_id="t1") == (first, fourth)
    assert store.messages(task_id="t1", after=first.seq, recipient="R2") == (fourth,)
    assert store.messages(recipient="R6") == (second,)
    assert (store.tasks(limit=9), store.tasks(limit=1)) == (("t2", "t1"), ("t2",))


def test_ctl_312_a_message_has_an_entry_and_an_id_of_its_own(store: BrainStore) -> None:
    first = say(store, "a")
    for twin in (replace(first, id="b"), replace(first, seq=99)):
        with pytest.raises(InvalidParams), store.writing() as writer:
            writer.put_message(twin)
    assert store.messages() == (first,)


def test_ctl_312_the_texts_of_a_task_can_be_erased_and_its_entries_stay(store: BrainStore) -> None:
    say(store, "a")
    kept = say(store, "b", "t2")
    say(store, "c")

    with store.writing() as writer:
        assert writer.erase_messages(["t1", "none"]) == 2
        assert writer.erase_messages([]) == 0

    assert (store.messages(), store.tasks(limit=9), len(store.entries())) == ((kept,), ("t2",), 3)
    assert store.meta("erasing") is None


def test_exp_092_what_is_at_stake_in_pairs_that_wait(store: BrainStore) -> None:
    one, two, three, four = apart(4)
    keep(
        store,
        megram("a", pair=one, days=7),
        megram("b", "refine", pair=one, category="fact"),
        megram("c", "rule", pair=two, level=Level.C, f=1.0, sigma=1.0, k=0.0),
        megram("d", "law", pair=three, level=Level.T, f=1.0, sigma=1.0, k=0.0, writer=Writer.OPERATOR),
        megram("e", pair=four),
        megram("f", "abandon", pair=four),
        megram("g", "change_path", pair=four),
    )
    found = store.stakes(at=NOW, limit=9)
    assert [
        (stake.pair, round(stake.attention, 4), round(stake.decision, 4), stake.uneven, stake.rules, stake.categorised)
        for stake in found
    ] == [
        (one, 0.7342, 0.6842, True, False, True),
        (two, 0.0, 0.0, False, True, False),
        (three, 0.0, 0.0, False, False, False),
        (four, 2.15, -0.05, False, False, False),  # what points nowhere does not make it uneven
    ]
    assert [stake.pair for stake in store.stakes(at=NOW, limit=1, after=one)] == [two]
    settle(store, two)
    assert [stake.pair for stake in store.stakes(at=NOW, limit=9)] == [one, three, four]


def test_exp_070_many_are_carried_by_a_rule_at_once(store: BrainStore) -> None:
    keep(store, *(megram(name) for name in ("a", "b", "c")), megram("rule", "rule", level=Level.C, f=1.0, sigma=1.0, k=0.0))
    with store.writing() as writer:
        writer.carry_megrams([MegramId("b"), MegramId("a"), MegramId("b")], into=MegramId("rule"), at=NOW + 1, detail='{"n": 2}')
    assert [held(store, name).consolidated_at for name in ("a", "b", "c")] == [NOW + 1, NOW + 1, None]
    assert [(one.megram_id, one.kind, one.into_id, one.detail) for one in store.megram_events()] == [
        ("b", EventKind.CONSOLIDATED, "rule", '{"n": 2}'),
        ("a", EventKind.CONSOLIDATED, "rule", '{"n": 2}'),
    ]
    assert [one.seq for one in store.megram_events()] == [1, 2]
    assert store.spent(before=NOW + 2, limit=9) == ("a", "b")
    assert sums(store) == (1.9, 1.9)
    with pytest.raises(UnknownMegram), store.writing() as writer:
        writer.carry_megrams([MegramId("c"), MegramId("nobody")], into=MegramId("rule"), at=NOW)
    assert held(store, "c").consolidated_at is None
    rebuild(store)
    assert held(store, "a").consolidated_at == NOW + 1
