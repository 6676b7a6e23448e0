"""How words of a command line become arguments. The schema decides, for every operation alike (GR-180)."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.surfaces.arguments import Usage, kind_of, leading, parse

NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
COMMAND: dict[str, Any] = {
    "name": "claim.write",
    "schema": {
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "text": NULLABLE,
            "evidence": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "count": {"type": "integer"},
            "confidence": {"type": "number"},
            "apply": {"type": "boolean"},
            "tier": {"enum": ["project", "medulla"]},
            "claims": {"type": "array", "items": {"type": "object"}},
            "findings": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
            "options": {"type": "object"},
            "value": {},
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        },
        "required": ["label"],
    },
    "positional": ["label", "text"],
}


def test_gr_180_where_a_plain_text_would_do_it_needs_no_quotes() -> None:
    words = ("x", "--finding", "wait is capped", "--finding", '{"text": "two"}', "--finding", '["three", "four"]')

    assert parsed(*words)["findings"] == ["wait is capped", {"text": "two"}, "three", "four"]


def parsed(*words: str) -> dict[str, Any]:
    return parse(COMMAND, list(words), {})


@pytest.mark.req("GR-180")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["L"], {"label": "L"}),
        (["L", "some text"], {"label": "L", "text": "some text"}),
        (["--label", "L", "--text=a=b"], {"label": "L", "text": "a=b"}),
        (["L", "--count", "-3"], {"label": "L", "count": -3}),
        (["L", "--confidence", "0.9"], {"label": "L", "confidence": 0.9}),
        (["L", "--apply"], {"label": "L", "apply": True}),
        (["L", "--no-apply"], {"label": "L", "apply": False}),
        (["L", "--apply=false"], {"label": "L", "apply": False}),
        (["L", "--tier", "medulla"], {"label": "L", "tier": "medulla"}),
        (["L", "--evidence", "a", "--evidence", "b"], {"label": "L", "evidence": ["a", "b"]}),
        (["L", "--evidence", '["a", "b"]', "--evidence", "[c"], {"label": "L", "evidence": ["a", "b", "[c"]}),
        (["L", "--numbers", "1", "--numbers", "2"], {"label": "L", "numbers": [1, 2]}),
        (["L", "--claims", '{"text": "x"}', "--claims", "[{}]"], {"label": "L", "claims": [{"text": "x"}, {}]}),
        (["L", "--options", '{"a": [1]}'], {"label": "L", "options": {"a": [1]}}),
        (["L", "--value", "7"], {"label": "L", "value": 7}),
        (["L", "--value", "seven"], {"label": "L", "value": "seven"}),
        (["L", "--either", "a", "--either", "b"], {"label": "L", "either": ["a", "b"]}),
        (["--", "--label", "-"], {"label": "--label", "text": "-"}),
    ],
)
def test_gr_180_words_become_the_arguments_that_the_schema_names(words: list[str], expected: dict[str, Any]) -> None:
    assert parsed(*words) == expected


@pytest.mark.req("GR-180")
@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        ([], "needs LABEL", "see hindbrain claim write --help"),
        (["L", "t", "more"], "does not know what to do with 'more'", "--help"),
        (["L", "--cuont", "3"], "has no flag --cuont", "did you mean --count"),
        (["L", "--count"], "--count needs a value", "--count VALUE"),
        (["L", "--count", "three"], "takes an integer, not 'three'", "--count 3"),
        (["L", "--confidence", "nan"], "takes a number", "--confidence"),
        (["L", "--confidence", "inf"], "takes a number", "--confidence"),
        (["L", "--tier", "global"], "--tier cannot be 'global'", "project, medulla"),
        (["L", "--apply=yes"], "true or false", "--no-apply"),
        (["L", "--no-count"], "has no flag --no-count", "--count"),
        (["L", "--options", "{"], "is not JSON", "@FILE"),
        (["L", "--options", "@/does/not/exist"], "cannot be read", "readable file"),
        (["L", "-x"], "has no flag -x", "--help"),
        (["L", "-count", "3"], "has no flag -count", "did you mean --count"),
    ],
)
def test_gr_180_a_wrong_word_is_named_with_its_fix(words: list[str], message: str, fix: str) -> None:
    with pytest.raises(Usage) as wrong:
        parsed(*words)

    assert message in wrong.value.message
    assert fix in wrong.value.fix


def test_gr_180_a_document_may_come_from_a_file_or_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"claims": [{"text": "ü"}]}
    (tmp_path / "options.json").write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(document).encode())))

    from_file = parsed("L", "--options", f"@{tmp_path}/options.json")
    from_stdin = parsed("L", "--options", "-")

    assert from_file["options"] == from_stdin["options"] == document


def test_gr_180_flags_of_every_command_stand_before_or_behind_it() -> None:
    before: dict[str, Any] = {}
    rest = leading(["--home", "/h", "--json", "claim", "write", "L"], before)
    behind: dict[str, Any] = {}
    parse(COMMAND, ["L", "--root=/r", "--no-json", "--agent", "a:b"], behind)

    assert (before, rest) == ({"home": "/h", "json": True}, ["claim", "write", "L"])
    assert behind == {"root": "/r", "json": False, "agent": "a:b"}


def test_gr_180_an_argument_of_the_operation_wins_over_a_flag_of_every_command() -> None:
    command = {**COMMAND, "schema": {"properties": {"root": {"type": "string"}}}, "positional": []}
    told: dict[str, Any] = {}

    found = parse(command, ["--root", "/mine"], told)

    assert (found, told) == ({"root": "/mine"}, {})


def test_a_list_is_told_by_repeating_its_flag_in_the_singular() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    properties = {"evidence_refs": texts, "criteria": texts, "refs": {"type": "string"}}
    command = {"name": "x", "schema": {"properties": properties}, "positional": []}

    read = parse(command, ["--evidence-ref", "a", "--evidence-refs", "b", "--evidence-ref=c", "--criterion", "d"], {})

    assert read == {"evidence_refs": ["a", "b", "c"], "criteria": ["d"]}
    with pytest.raises(Usage, match="no flag --ref"):
        parse(command, ["--ref", "a"], {})  # no list: it has one name


def test_mind_335_the_flag_of_an_object_may_end_in_json_and_other_flags_may_not() -> None:
    properties = {"metadata": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "note": {"type": "string"}}
    command = {"name": "x", "schema": {"properties": properties}, "positional": []}

    assert parse(command, ["--metadata-json", '{"t": 1}'], {}) == {"metadata": {"t": 1}}
    with pytest.raises(Usage, match="no flag --note-json"):
        parse(command, ["--note-json", "a"], {})


def test_gr_180_required_arguments_are_not_missed_by_a_call_for_help() -> None:
    told: dict[str, Any] = {}

    assert parse(COMMAND, ["-h"], told) == {}
    assert told == {"help": True}


values = st.fixed_dictionaries(
    {"label": st.text()},
    optional={
        "text": st.text(),
        "evidence": st.lists(st.text().filter(lambda text: not text.startswith("[")), min_size=1),
        "count": st.integers(),
        "confidence": st.floats(allow_nan=False, allow_infinity=False),
        "apply": st.booleans(),
        "tier": st.sampled_from(["project", "medulla"]),
        "claims": st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), min_size=1),
        "options": st.dictionaries(st.text(), st.lists(st.integers() | st.text())),
    },
)


@pytest.mark.req("GR-180")
@given(arguments=values)
def test_gr_180_every_argument_can_be_written_as_flags_and_read_back(arguments: dict[str, Any]) -> None:
    words: list[str] = []
    for name, value in arguments.items():
        kind = kind_of(COMMAND["schema"]["properties"][name])[0]
        if kind == "boolean":
            words.append(f"--{name}" if value else f"--no-{name}")
        elif kind in ("list", "documents"):
            words += [f"--{name}={one if kind == 'list' else json.dumps(one)}" for one in value]
        else:
            words.append(f"--{name}={json.dumps(value) if kind == 'object' else value}")

    assert parsed(*words) == arguments
