"""What the wire takes as arguments, and what it refuses before any operation sees it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.surfaces.wire import checked_root, decode_object, encode, status_of

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_gr_174_what_is_sent_is_what_arrives(sent: dict[str, Any]) -> None:
    assert decode_object(json.dumps(sent).encode()) == sent
    assert decode_object(json.dumps(sent, ensure_ascii=False).encode()) == sent


@given(st.binary(max_size=200))
def test_gr_174_any_bytes_are_an_object_or_a_refusal(raw: bytes) -> None:
    try:
        found: Any = decode_object(raw)
    except InvalidParams as refused:
        found = refused

    assert isinstance(found, dict) or (found.code == "invalid_params" and found.fix)


BAD_BODIES = {
    "empty": b"",
    "not json": b"label=x",
    "an array": b"[1]",
    "a string": b'"x"',
    "not utf-8": b'{"label": "\xff\xfe"}',
    "overlong utf-8": b'{"label": "\xc0\xaf"}',
    "utf-8 surrogate": b'{"label": "\xed\xa0\x80"}',
    "utf-16": '{"label": "x"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"label": "x"}',
    "raw NUL": b'{"label": "a\x00b"}',
    "escaped NUL": b'{"label": "a\\u0000b"}',
    "NUL in a key": b'{"a\\u0000b": 1}',
    "lone high surrogate": b'{"label": "\\ud800"}',
    "lone low surrogate": b'{"label": "x\\udfffy"}',
    "lone surrogate in a key": b'{"\\ud800": 1}',
    "lone surrogate deep inside": b'{"a": [{"b": ["\\udc00"]}]}',
    "duplicate key": b'{"label": "a", "label": "b"}',
    "duplicate key inside": b'{"a": {"x": 1, "\\u0078": 2}}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "float overflow": b'{"a": 1e999}',
    "65 bits": b'{"a": 18446744073709551616}',
    "a million digits": b'{"a": ' + b"9" * 1_000_000 + b"}",
    "deep arrays": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a": ' * 20_000 + b"1" + b"}" * 20_000,
    "just too deep": b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}",
    "two documents": b"{} {}",
}


@pytest.mark.parametrize("raw", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_gr_174_a_body_two_readers_could_read_differently_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidParams):
        decode_object(raw)


@pytest.mark.parametrize(
    "raw", [b"repo", b"../repo", b"", b"/a/../b", b"/a/%2e%2e/b", b"/a%00b", b"/a\x00b", b"%ff", b"\xff", b"C:\\x"]
)
def test_gr_174_a_caller_root_that_is_no_plain_absolute_path_is_refused(raw: bytes) -> None:
    with pytest.raises(PathRefused):
        checked_root(raw)


def test_gr_174_a_caller_root_is_percent_decoded_utf_8() -> None:
    assert checked_root(b"/home/m%C3%BCller/100%25") == "/home/müller/100%"
    assert checked_root("/home/müller".encode()) == "/home/müller"


def test_gr_174_an_undecodable_directory_name_travels_as_an_escape() -> None:
    assert json.loads(encode({"root": "/tmp/\udcff"})) == {"root": "/tmp/\udcff"}


def test_gr_174_a_refusal_is_an_answer_and_an_error_has_its_status() -> None:
    assert status_of({"ok": True}) == 200
    assert status_of({"ok": False, "refused": "brainless_root", "reason": "…"}) == 200
    assert status_of({"ok": False, "error": {"code": "unknown_claim", "message": "…"}}) == 404
    assert status_of({"ok": False, "error": {"code": "timed_out", "message": "…"}}) == 504
