"""What agents are told about memory (MED-393, MED-394; MED-391 and MED-392 are held beside the registry)."""

import pytest

from hindbrain.policy.texts import RULES


def paragraph(word: str) -> str:
    """The one point of the rule text that has a word."""
    (found,) = [point for point in RULES.split("\n- ") if word in point]
    return " ".join(found.split())


@pytest.mark.req("MED-393")
def test_med_393_the_rule_text_tells_the_merge_policy() -> None:
    merging = paragraph("Merging")

    assert "one claim per file" in merging
    assert "keep both claims and mark the loser wrong after a merge" in merging
    assert "resolve conflict markers by hand" in merging


@pytest.mark.req("MED-394")
def test_med_394_the_rule_text_tells_why_the_wide_read_is_never_a_default() -> None:
    wide = paragraph("all-brains")

    assert "never a default" in wide
    assert "memory of another project that arrives unasked is a leak" in wide
