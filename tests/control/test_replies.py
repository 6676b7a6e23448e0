"""Replies of models: what is left of them after their thoughts, fences and chatter."""

import json
import time

import pytest

from hindbrain.engines.insight import Insight, insight_of, insight_text
from hindbrain.engines.reply import NoValue, cleaned, first_value

PLAN = {"subtasks": [{"intent": "count files", "note": "a } and a ] in a string"}]}
P = json.dumps(PLAN)


@pytest.mark.parametrize(
    "dirty",
    [
        P,
        f"\ufeff  {P}\n",
        f"<think>perhaps {{'x'}}</think>{P}",
        f'<think>a draft: {{"subtasks": []}}</think>\n{P}',
        f'{P}<think>was that right, or {{"subtasks": []}}',
        f'reasoning, {{"subtasks": []}} no</think>{P}',
        f'<THINK>outer <think>inner</think> {{"a": 1}} still</THINK>{P}',
        f"<thinking>\n{P[:10]}\n</thinking>\n\n{P}",
        f"```json\n{P}\n```",
        f"```\n{P}\n```",
        f"Here is the plan:\n```json\n{P}\n```\nLet me know {{if}} it helps.",
        f'Sure! For {{input}} I propose {P} as discussed in {{"other": 2}}',
        f"<think>x</think>```JSON\n{P}```",
        f"{P}{P}",
        f"See [1] first. {P}",
    ],
)
def test_ctl_079_ctl_307_a_dirty_reply_gives_the_same_plan(dirty):
    assert first_value(dirty, dict) == PLAN


def test_ctl_079_the_first_complete_value_counts_when_any_kind_will_do():
    assert first_value('so: [1, 2] and {"a": 1}') == [1, 2]
    assert first_value('{"cut": [1, 2], and [3]', list) == [1, 2]


@pytest.mark.parametrize(
    "empty", ["", "   ", "no value at all", "<think>never closed " + P, P[:-1], P[:-8], f"[{P}, {P[:9]}", '{"a": NaN}', "[" * 50]
)
def test_ctl_079_what_holds_no_complete_value_is_refused(empty):
    with pytest.raises(NoValue):
        first_value(empty, dict)


@pytest.mark.parametrize("value", [{"intent": "remove <think> tags"}, {"intent": "strip </think> tags"}])
def test_ctl_079_a_tag_inside_of_a_string_is_text(value):
    assert first_value(json.dumps(value), dict) == value
    assert first_value(f"I propose {json.dumps(value)} now", dict) == value


@pytest.mark.parametrize(
    ("dirty", "text"),
    [
        ("<think>hm</think> done \n", "done"),
        ("```\none\ntwo\n```", "one\ntwo"),
        ("hm</think>done", "done"),
        ("before <think>never closed", "before"),
        ("```a\n1\n```\nand\n```b\n2\n```", "```a\n1\n```\nand\n```b\n2\n```"),
    ],
)
def test_ctl_307_text_is_cleaned(dirty, text):
    assert cleaned(dirty) == text


@pytest.mark.parametrize("hostile", ["[" * 400_000, "[1," * 200_000, '{"a":' * 200_000, "{" * 400_000, '["' + "a" * 400_000])
def test_ctl_307_a_hostile_reply_costs_little(hostile):
    began = time.thread_time()  # what it costs, whoever else uses the machine
    with pytest.raises(NoValue):
        first_value(hostile, dict)
    assert time.thread_time() - began < 2


GOOD = {"lesson": "Run the tests of the parser alone", "tags": ["tests", "parser"], "category": "procedure"}


def test_exp_099_an_insight_is_read_from_a_reply_and_back_from_its_content():
    insight = insight_of(f"<think>hm</think>```json\n{json.dumps(GOOD)}\n```")
    assert insight == Insight(lesson=GOOD["lesson"], tags=("tests", "parser"), category="procedure")
    assert insight_of(insight_text(insight)) == insight


@pytest.mark.parametrize(
    "text",
    [
        "edit: the tests failed twice",
        json.dumps({**GOOD, "tags": ["one"]}),
        json.dumps({**GOOD, "tags": list("abcdef")}),
        json.dumps({**GOOD, "category": "opinion"}),
        json.dumps({**GOOD, "lesson": " "}),
        json.dumps({**GOOD, "more": 1}),
        json.dumps([GOOD["lesson"]]),
    ],
)
def test_exp_099_what_is_no_insight_stays_plain_text(text):
    assert insight_of(text) is None
