"""What a step makes of the texts of earlier steps."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.engines.transforming import BadTransform, afterwards, apply, prepared
from hindbrain.policy.transforms import TRANSFORMS


@pytest.mark.parametrize(
    ("name", "args", "text", "made"),
    [
        ("upper", {}, "a B\n", "A B\n"),
        ("lower", {}, "A b", "a b"),
        ("sort_lines", {}, "b\na\nc\n", "a\nb\nc\n"),
        ("sort_lines", {"reverse": True}, "b\na\nc", "c\nb\na"),
        ("sort_lines", {"numeric": True}, "10\n9\nx\n", "9\n10\nx\n"),
        ("dedupe_lines", {}, "b\na\nb\n", "b\na\n"),
        ("reverse_lines", {}, "1\n2\n", "2\n1\n"),
        ("strip_blank_lines", {}, "a\n\n \nb\n", "a\nb\n"),
        ("number_lines", {}, "x\ny\n", "1: x\n2: y\n"),
        ("replace", {"old": "foo", "new": "a.b"}, "foo(foo)", "a.b(a.b)"),
        ("count_lines", {}, "a\nb", "2"),
        ("count_lines", {}, "", "0"),
        ("count_lines", {}, "a\u2028b\n\n", "2"),
        ("sort_lines", {}, "b\u2028a\na\n", "a\nb\u2028a\n"),
        ("count_words", {}, " a  b\nc ", "3"),
        ("count_characters", {}, "äb", "2"),
        ("count_matches", {"text": "aa"}, "aaaa b aa", "3"),
        ("count_matching_lines", {"text": "ERR"}, "ERR ERR\nok\nERR\n", "2"),
        ("matching_lines", {"text": "E"}, "E1\nx\nE2\n", "E1\nE2\n"),
        ("first_line", {}, "\n  a\nb", "a"),
        ("closest_line", {"name": "note.txt"}, "zzz.md\ndocs/notes.txt\nsrc/n.py", "docs/notes.txt"),
        ("sha256", {}, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("equals", {"text": "a\n"}, "a", "equal"),
        ("equals", {"text": "b"}, "a", "different"),
        ("contains", {"text": "x"}, "axb", "found"),
        ("contains", {"text": "y"}, "axb", "missing"),
    ],
)
def test_ctl_107_a_transform_does_what_its_table_says(name, args, text, made):
    assert apply(name, text, args) == made
    assert name in TRANSFORMS


def test_ctl_107_tables_become_objects_and_come_back():
    made = apply("csv_to_json", 'name,age\n"Ada, L.",36\nBob,\n')
    assert json.loads(made) == [{"name": "Ada, L.", "age": "36"}, {"name": "Bob", "age": ""}]
    assert apply("json_to_csv", made) == 'name,age\n"Ada, L.",36\nBob,\n'
    assert apply("json_to_csv", '[{"a": 1, "b": null}, {"a": true, "c": [1]}]') == "a,b,c\n1,,\ntrue,,[1]\n"


_CELL = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8)


@given(st.lists(st.tuples(_CELL, _CELL), min_size=1, max_size=5))
def test_ctl_107_no_cell_is_lost_on_the_way(rows):
    objects = [{"one": one, "two": two} for one, two in rows]
    back = apply("csv_to_json", apply("json_to_csv", json.dumps(objects)))
    assert json.loads(back) == objects


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("nothing", {}, "a"),
        ("replace", {"old": "a"}, "a"),
        ("replace", {"old": "", "new": "x"}, "a"),
        ("upper", {"loud": True}, "a"),
        ("count_matches", {"text": ""}, "a"),
        ("csv_to_json", {}, ""),
        ("csv_to_json", {}, "a,b\n1\n"),
        ("csv_to_json", {}, "a,a\n1,2\n"),
        ("json_to_csv", {}, "{}"),
        ("json_to_csv", {}, "not json"),
        ("first_line", {}, "\n"),
        ("closest_line", {"name": "a"}, ""),
    ],
)
def test_ctl_107_what_cannot_be_done_to_a_text_is_said(name, args, text):
    with pytest.raises(BadTransform):
        apply(name, text, args)


def test_ctl_107_a_step_gets_its_input_from_earlier_steps():
    step = {"path": "out.txt", "content_from": "previous", "transform": "sort_lines", "args": {"reverse": True}}
    assert prepared(step, ["x", "a\nb"]) == {"path": "out.txt", "content": "b\na"}
    assert prepared({"path_from": 1, "transform": "first_line"}, ["p\nq", "r"]) == {"path": "p"}
    assert prepared({"path": "c", "content_from": "all"}, ["a", "b\n", "c"]) == {"path": "c", "content": "a\nb\nc"}
    assert afterwards({"path": "x", "then": "equals", "then_args": {"text": {"step": 1}}}, "s", ["s"]) == "equal"
    assert afterwards({"path": "x"}, "s", []) == "s"
    for source in ("previous", "all", 3, 0, True, "later"):
        with pytest.raises(BadTransform):
            prepared({"content_from": source}, [])
