"""Fusion: scores by hand. Likenesses are shares of the best one; words lead as far as they can be trusted."""

from dataclasses import replace

import numpy as np
import pytest

from hindbrain.engines.retrieval import (
    Candidate,
    Scored,
    Signs,
    best_of_each,
    distinct,
    fused,
    late_likeness,
    leading,
    names_in,
    rarity,
    relevance,
    telling,
    trust,
)
from hindbrain.policy.retrieval import BESIDE, RAMP, WEIGHTS


def turns(scored: list[Scored]) -> list[int]:
    return [one.candidate.turn for one in scored]


def test_each_likeness_counts_by_its_share_of_the_best() -> None:
    a = Candidate(turn=1, lexical=8.0, cosine=0.3)
    b = Candidate(turn=2, lexical=4.0, cosine=0.6)

    first, second = fused([a, b], words=1.0)

    # a: 0.9 * 8/8 + 0.3/0.6; b: 0.9 * 4/8 + 0.6/0.6; no row has token states, so nothing is said by them
    assert turns([first, second]) == [2, 1]
    assert first.parts == pytest.approx((WEIGHTS.lexical * 0.5, 1.0, 0.0, 0.0, 0.0))
    assert second.parts == pytest.approx((WEIGHTS.lexical, 0.5, 0.0, 0.0, 0.0))


def test_words_that_cannot_be_trusted_leave_the_order_to_meaning() -> None:
    a = Candidate(turn=1, lexical=1.0, cosine=0.3)
    b = Candidate(turn=2, lexical=0.0, cosine=0.5)

    assert turns(fused([a, b], words=1.0)) == [1, 2]
    assert turns(fused([a, b], words=RAMP.least)) == [2, 1]


@pytest.mark.parametrize(
    ("best", "whole", "expected"),
    [
        (10.0, 10.0, 1.0),
        (3.0, 10.0, 1.0),
        (10 * (RAMP.start + RAMP.over / 2), 10.0, 0.5),
        (1.0, 10.0, RAMP.least),
        (0.0, 10.0, RAMP.least),
        (0.0, 0.0, RAMP.least),
    ],
)
def test_trust_grows_with_the_share_of_the_question_that_words_reach(best: float, whole: float, expected: float) -> None:
    assert trust(best, whole) == pytest.approx(expected)


def test_a_long_row_without_token_states_gets_the_mean_of_what_is_known() -> None:
    short = Candidate(turn=1, lexical=4.0, cosine=0.4, late=0.8)
    long = Candidate(turn=2, lexical=4.0, cosine=0.2)

    scored = {one.candidate.turn: one.parts.late for one in fused([short, long], words=1.0)}

    assert scored[short.turn] == pytest.approx(1.0)
    assert scored[long.turn] == pytest.approx((1.0 + 0.5) / 2)


def test_a_row_that_has_no_vector_yet_is_ranked_by_its_words() -> None:
    old = Candidate(turn=1, lexical=2.0, cosine=0.5)
    fresh = Candidate(turn=2, lexical=4.0)

    assert turns(fused([old, fresh], words=1.0)) == [fresh.turn, old.turn]


def test_what_is_read_is_what_would_lead() -> None:
    rows = [Candidate(turn=n, lexical=float(n % 4), cosine=(n % 5) / 10 if n % 3 else None) for n in range(30)]

    for words in (1.0, RAMP.least):
        known = [(one.turn, one.lexical, one.cosine, one.prior) for one in rows]
        assert leading(known, words=words, limit=9) == turns(fused(rows, words=words))[:9]


def test_equal_rows_come_newest_first_and_nothing_gives_nothing() -> None:
    rows = [Candidate(turn=turn, lexical=1.0) for turn in range(3)]
    assert turns(fused(rows, words=1.0)) == [2, 1, 0]
    assert turns(fused(reversed(rows), words=1.0)) == [2, 1, 0]
    assert fused([], words=1.0) == []


def test_a_conversation_that_answers_well_lifts_its_other_rows() -> None:
    best = Candidate(turn=1, lexical=10.0, thread="t")
    beside = Candidate(turn=2, lexical=5.0, thread="t")
    other = Candidate(turn=3, lexical=6.0, thread="u")

    assert turns(fused([best, beside, other], words=1.0)) == [1, 2, 3]
    assert turns(fused([replace(one, thread="") for one in (best, beside, other)], words=1.0)) == [1, 3, 2]


def test_a_long_row_gains_by_the_better_row_beside_it_and_a_short_one_does_not() -> None:
    asked = Candidate(turn=1, lexical=10.0, cosine=0.5, late=0.8, thread="t", position=4, message="a")
    long = Candidate(turn=2, lexical=1.0, cosine=0.5, thread="t", position=5, message="b")
    rest = Candidate(turn=3, lexical=1.0, cosine=0.5, thread="t", position=6, message="b")
    short = Candidate(turn=4, lexical=1.0, cosine=0.5, late=0.1, thread="t", position=3, message="c")

    scored = {one.candidate.turn: one for one in fused([asked, long, rest, short], words=1.0)}
    apart = {one.candidate.turn: one for one in fused([asked, replace(long, position=9), rest, short], words=1.0)}
    by_words = {one.candidate.turn: one for one in fused([replace(one, cosine=None) for one in (asked, long)], words=1.0)}

    own = sum(scored[1].own)
    assert scored[2].lift == pytest.approx(scored[1].lift + WEIGHTS.beside * own)
    assert scored[3].lift == scored[1].lift == scored[4].lift  # beside it stands only a piece of the same message, or it is short
    assert apart[2].lift == pytest.approx(apart[1].lift)
    assert by_words[2].lift == by_words[1].lift  # without vectors every row is without token states


def test_of_two_rows_at_one_place_the_better_one_lifts_whichever_comes_first() -> None:
    good = Candidate(turn=1, lexical=10.0, cosine=0.5, late=0.8, thread="t", position=4, message="a")
    poor = Candidate(turn=2, lexical=1.0, cosine=0.1, late=0.1, thread="t", position=4, message="b")
    long = Candidate(turn=3, lexical=1.0, cosine=0.5, thread="t", position=5, message="c")
    fresh = Candidate(turn=4, lexical=1.0, thread="t", position=3, message="d")  # no vector yet: it may be short

    one, other = (
        {row.candidate.turn: row.lift for row in fused([*pair, long, fresh], words=1.0)} for pair in ((good, poor), (poor, good))
    )

    assert one == other
    assert one[3] > one[1] == one[4]


def test_a_message_is_found_by_its_best_chunk_and_a_repeated_text_shows_once() -> None:
    rows = [
        Candidate(turn=1, lexical=9.0, message="m1"),
        Candidate(turn=2, lexical=8.0, message="m1"),
        Candidate(turn=3, lexical=7.0),
        Candidate(turn=4, lexical=6.0),
    ]
    ranked = best_of_each(fused(rows, words=1.0))

    assert turns(ranked) == [1, 3, 4]
    assert turns(distinct(ranked, {1: "mine", 3: "same", 4: "same"}, 10)) == [1, 3]
    assert turns(distinct(ranked, {turn: str(turn) for turn in turns(ranked)}, 2)) == [1, 3]


def test_a_text_of_many_conversations_is_shown_for_two_of_them() -> None:
    rows = [Candidate(turn=turn, lexical=9.0 - turn, thread=thread) for turn, thread in enumerate("aabcd")]

    ranked = fused(rows, words=1.0)

    assert turns(distinct(ranked, dict.fromkeys(turns(ranked), "restart the worker"), 10)) == [0, 2]
    assert len(distinct(ranked, dict.fromkeys(turns(ranked), ""), 10)) == 5  # what has no words is not compared by them


def test_tokens_of_the_turn_beside_count_a_little_less() -> None:
    question = np.eye(2, dtype=np.float32)  # two tokens that share nothing
    states, tokens = np.array([[1, 0], [0, 1]], dtype=np.float32), {1: 1, 2: 1}

    alone = late_likeness(question, [1.0, 1.0], states, tokens, {})
    beside = late_likeness(question, [1.0, 1.0], states, tokens, {1: [2], 2: [1]})
    weighted = late_likeness(question, [3.0, 1.0], states, tokens, {})
    together = late_likeness(question, [1.0, 1.0], states, {1: 2}, {})

    assert alone == pytest.approx({1: 0.5, 2: 0.5})
    assert beside == pytest.approx({1: (1 + BESIDE) / 2, 2: (1 + BESIDE) / 2})
    assert weighted == pytest.approx({1: 0.75, 2: 0.25})
    assert together == pytest.approx({1: 1.0})
    assert late_likeness(question, [1.0, 1.0], states[:0], {}, {}) == {}
    assert late_likeness(question[:0], [], states, tokens, {}) == {}


def test_a_rare_word_tells_more_and_a_word_in_every_row_nearly_nothing() -> None:
    assert rarity(1, 100) > rarity(10, 100) > rarity(50, 100)
    assert rarity(100, 100) == pytest.approx(1e-6)
    assert rarity(0, 0) >= 0


def test_a_token_of_a_common_word_still_counts_where_meanings_are_compared() -> None:
    assert telling(1, 100) > telling(10, 100) > telling(50, 100) > telling(90, 100) > 0
    assert telling(1, 100) == pytest.approx(rarity(1, 100), abs=0.02)  # rare words weigh as they do elsewhere
    assert telling(50, 100) > 0.5 > rarity(50, 100)


def signs(covered: float, near: float | None, rows: int = 500, *, unknown: float = 0.0, stranger: bool = False) -> Signs:
    return Signs(covered=covered, near=near, unknown=unknown, stranger=stranger, speaker=False, rows=rows)


@pytest.mark.parametrize(
    ("seen", "relevant"),
    [
        (signs(0.9, 0.5), True),
        (signs(0.3, 0.55), True),
        (signs(0.0, 0.1), False),
        (signs(0.15, 0.3), False),
        (signs(0.5, 0.32), True),
        (signs(0.5, 0.32, stranger=True), False),
        (signs(0.0, 0.35, unknown=0.9), False),
        (replace(signs(0.0, 0.35, unknown=0.9), speaker=True), False),
        (replace(signs(0.1, 0.3), speaker=True), True),  # it names one who speaks here
        (signs(0.1, 0.3), False),
        (signs(0.1, 0.3, 50), True),  # among few rows chance brings nothing near
        (signs(0.1, 0.3, 5_000), False),
        (signs(0.2, None), True),  # by words only: any rare word counts
        (signs(0.0, None), False),
        (signs(0.2, 0.28), False),
        (replace(signs(0.2, 0.28), narrowed=True), True),  # who said where to look has judged already
        (replace(signs(0.0, 0.1), narrowed=True), False),  # but not what is there
        (replace(signs(0.0, 0.05, 6), best=0.08), False),  # six rows, and none is about it
        (replace(signs(0.0, 0.1, 6), best=0.2), False),
        (replace(signs(0.0, 0.15, 6), best=0.32), True),  # six rows, and one is
        (replace(signs(0.4, 0.05, 6), best=0.08), True),  # the words are there
    ],
)
def test_the_floor_has_two_sides(seen: Signs, relevant: bool) -> None:
    assert (relevance(seen) >= 0) is relevant


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Caroline say about Oslo?", ["Caroline", "Oslo"]),
        ("Caroline likes what?", []),
        ("What is it? When was it?", []),
        ("how does HTTP work in the API", []),
    ],
)
def test_names_are_words_with_a_capital_inside_a_sentence(question: str, names: list[str]) -> None:
    assert names_in(question) == names
