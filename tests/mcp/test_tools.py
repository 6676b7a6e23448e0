"""Tools and results: what the registry and an answer look like on the MCP wire."""

from typing import Any

import pytest

from hindbrain.surfaces.mcp_tools import DESCRIPTION_LIMIT, TEXT_LIMIT, Catalog, tool_result

LATEST = "2025-11-25"
BEFORE_STRUCTURED = "2025-03-26"


def entry(name: str, **told: Any) -> dict[str, Any]:
    return {
        "name": name,
        "effect": "read",
        "summary": "Do it.",
        "help": "Do it.",
        "schema": {"type": "object", "properties": {}},
        "everyday": False,
        "idempotent": False,
        "surfaces": ["cli", "mcp", "http"],
        **told,
    }


def catalog(*entries: dict[str, Any]) -> Catalog:
    return Catalog({"operations": list(entries)})


def test_the_default_profile_lists_everyday_operations_and_the_full_one_all_with_underscores() -> None:
    tools = catalog(entry("north", everyday=True), entry("mission.start"), entry("serve", surfaces=["cli"]))

    assert [tool.name for tool in tools.listed("default")] == ["north"]
    assert [tool.name for tool in tools.listed("full")] == ["north", "mission_start"]


def test_a_tool_that_is_not_listed_is_still_found_by_either_of_its_names() -> None:
    tools = catalog(entry("mission.start"), entry("serve", surfaces=["cli"]))

    assert tools.operation("mission_start") == "mission.start"
    assert tools.operation("mission.start") == "mission.start"
    assert tools.operation("serve") is None


@pytest.mark.parametrize(
    ("effect", "idempotent", "hints"),
    [
        ("read", False, (True, False, True, False)),
        ("write", False, (False, False, False, False)),
        ("write", True, (False, False, True, False)),
        ("destructive", False, (False, True, False, False)),
    ],
)
def test_annotations_follow_the_effect(effect: str, idempotent: bool, hints: tuple[bool, ...]) -> None:
    (tool,) = catalog(entry("act", effect=effect, idempotent=idempotent)).listed("full")

    told = tool.annotations
    assert told is not None
    assert (told.read_only_hint, told.destructive_hint, told.idempotent_hint, told.open_world_hint) == hints


def test_a_description_is_one_short_paragraph() -> None:
    (tool,) = catalog(entry("act", help="First line\nof the help.\n\n" + "More. " * 300)).listed("full")
    (long,) = catalog(entry("act", help="word " * 300)).listed("full")

    assert tool.description == "First line of the help."
    assert long.description is not None
    assert len(long.description) <= DESCRIPTION_LIMIT


def test_an_optional_argument_has_no_union_with_null() -> None:
    properties = {
        "tier": {"anyOf": [{"type": "null"}, {"enum": ["project", "medulla"]}], "default": None},
        "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": None},
        "k": {"type": "integer", "default": 5},
    }
    (tool,) = catalog(entry("seek", schema={"type": "object", "properties": properties})).listed("full")

    assert tool.input_schema["properties"] == {
        "tier": {"enum": ["project", "medulla"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "k": {"type": "integer", "default": 5},
    }


def test_the_text_of_an_answer_is_its_rendering_which_is_not_sent_twice() -> None:
    result = tool_result({"ok": True, "rows": [1], "rendered": "# North\n1 row"}, LATEST)

    assert result.content[0].text == "# North\n1 row"  # type: ignore[union-attr]
    assert result.structured_content == {"ok": True, "rows": [1]}
    assert result.is_error is False


def test_a_small_answer_is_readable_as_it_is_and_a_large_one_by_its_outline() -> None:
    small = tool_result({"ok": True, "label": "a"}, LATEST)
    large = tool_result({"ok": True, "label": "a", "rows": ["x" * 100] * 100}, LATEST)

    assert small.content[0].text == '{"ok":true,"label":"a"}'  # type: ignore[union-attr]
    text = large.content[0].text  # type: ignore[union-attr]
    assert "rows: 100 entries" in text
    assert "label: a" in text
    assert len(text) < TEXT_LIMIT
    assert large.structured_content["rows"] == ["x" * 100] * 100


def test_a_client_from_before_structured_content_gets_the_whole_answer_as_text() -> None:
    result = tool_result({"ok": True, "rows": ["x" * 100] * 100}, BEFORE_STRUCTURED)

    assert result.structured_content is None
    assert result.content[0].text.count("x" * 100) == 100  # type: ignore[union-attr]


@pytest.mark.req("GR-172")
def test_gr_172_an_error_is_a_tool_error_and_a_refusal_is_an_answer() -> None:
    error = tool_result({"ok": False, "error": {"code": "unknown_claim", "message": "no claim x", "fix": "seek it"}}, LATEST)
    refusal = tool_result(
        {"ok": False, "refused": "brainless_root", "reason": "no brain here", "fix": {"tool": "init", "arguments": {}}}, LATEST
    )

    assert error.is_error is True
    assert error.content[0].text == "unknown_claim: no claim x\nfix: seek it"  # type: ignore[union-attr]
    assert refusal.is_error is False
    assert refusal.content[0].text == (  # type: ignore[union-attr]
        'refused: brainless_root: no brain here\nfix: {"tool":"init","arguments":{}}'
    )
    assert refusal.structured_content["refused"] == "brainless_root"


def test_a_lone_surrogate_in_an_answer_does_not_break_the_wire() -> None:
    result = tool_result({"ok": True, "label": "a\ud800b", "rendered": "c\ud800d"}, LATEST)

    assert result.structured_content == {"ok": True, "label": "a?b"}
    assert result.content[0].text == "c?d"  # type: ignore[union-attr]
    result.model_dump_json()
