"""What each host reads on standard output, and how much of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.engines.fence import fenced
from hindbrain.engines.hook_text import bounded, size
from hindbrain.surfaces.hook_shapes import HOSTS, event_name, shaped

LIMIT = 10_000


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "generic"])
def test_hook_memory_goes_into_the_additional_context_of_a_session_start(host: str) -> None:
    assert shaped(host, "SessionStart", "memory") == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "memory"}
    }


def test_hook_cursor_reads_its_own_field_and_lets_every_prompt_pass() -> None:
    assert shaped("cursor", "SessionStart", "memory") == {"additional_context": "memory"}
    assert shaped("cursor", "BeforeSubmitPrompt", "") == {"continue": True}


def test_hook_codex_gets_its_envelope_also_without_memory() -> None:
    assert shaped("codex", "SessionStart", "") == {"hookSpecificOutput": {"hookEventName": "SessionStart"}}
    assert shaped("claude-code", "SessionStart", " \n") == {}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "PreCompress", "SessionEnd", "AfterAgent", "whatever"])
def test_hook_events_that_only_listen_say_nothing(host: str, event: str) -> None:
    assert shaped(host, event, "memory") == {}


@pytest.mark.parametrize("told", ["SessionStart", "sessionStart", "session-start", "session_start", "SESSIONSTART"])
def test_hook_one_event_has_one_name(told: str) -> None:
    assert event_name(told) == "SessionStart"


@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1).map(lambda text: text * 40), min_size=1, max_size=60),
    st.sampled_from(["utf-8", "utf-16-le"]),
)
def test_hook_a_long_memory_is_cut_within_the_limit_and_never_inside_an_open_fence(claims: list[str], unit: str) -> None:
    text = "\n".join(fenced(claim) for claim in claims)

    told = bounded(text, LIMIT, unit)

    assert size(told, unit) <= LIMIT
    if size(text, unit) <= LIMIT:
        assert told == text
    else:
        assert told.endswith("shows the rest]")
        assert _open_fence(told) is None


def _open_fence(text: str) -> str | None:
    fence = None
    for line in text.split("\n"):
        if fence is None and line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
        elif line == fence:
            fence = None
    return fence


def test_hook_one_line_without_end_is_cut_as_well() -> None:
    told = bounded("x" * 50_000, LIMIT)

    assert len(told) <= LIMIT
    assert json.dumps(told)
