"""JSON edits: one value changes, and every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.engines.json_edit import BrokenJson, drop, put, read

KEYS = st.text('abc"\\ é/*,:{', min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(document=DOCUMENTS, value=VALUES, indent=st.sampled_from([None, 1, 4, "\t"]), line=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60, deadline=None)
def test_json_what_was_put_in_goes_out_and_leaves_the_same_bytes(document: Any, value: Any, indent: Any, line: str) -> None:
    document.pop("new", None)
    text = json.dumps(document, indent=indent, ensure_ascii=False).replace("\n", line) + line

    with_it = put(text, ("new", "deep"), value)

    assert read(with_it) == {**document, "new": {"deep": value}}
    assert drop(with_it, ("new",)) == text
    assert read(text) == document


@given(text=st.text('{}[]",:/* \n\\ab1', max_size=30))
@settings(max_examples=150, deadline=None)
def test_json_any_text_is_read_or_refused(text: str) -> None:
    """What the strict reader takes, ours takes as the same."""
    try:
        strict = json.loads(text)
    except ValueError:
        try:
            read(text)
        except BrokenJson:
            return
    else:
        assert read(text) == strict


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        ('{"a": [1, 2]}', ("a", 0), '{"a": [ 2]}'),
        ('{"a": [1, 2]}', ("a", 1), '{"a": [1]}'),
        ('{\n  "a": 1, // one\n  "b": 2 // two\n}', ("b",), '{\n  "a": 1 // one // two\n}'),
        ('{\n  "a": 1,\n  "b": 2,\n}', ("b",), '{\n  "a": 1,\n}'),
        ('{\n  // why\n  "a": 1\n}', ("a",), "{\n  // why\n}"),
        ('{"a": 1, "a": 2}', ("a",), '{"a": 1}'),
        ('{"a": 1}', ("b",), '{"a": 1}'),
    ],
)
def test_json_comments_and_commas_around_what_goes_stay_right(text: str, path: tuple[str | int, ...], after: str) -> None:
    assert drop(text, path) == after
    read(after)


@pytest.mark.parametrize(
    "text", ["{", '{"a" 1}', '{"a": }', "{'a': 1}", '{"a": 1} x', '{"a": 1 "b": 2}', "{,}", "[1,,2]", "/* open", "NaN"]
)
def test_json_what_is_broken_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BrokenJson, match="line 1, column"):
        read(text)
