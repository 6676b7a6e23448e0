"""The history of a claim: each version with what it said and from what, and how the live one stands now."""

from pathlib import Path

from tests.support.world import World


def test_history_tells_what_each_version_said_and_how_the_live_one_stands(world: World) -> None:
    root = world.brain("shop")
    cited = Path(root) / "retry.py"
    cited.write_text("TRIES = 3\n")
    world.at(root).memorize("Retry policy", "three times", confidence=0.5)
    world.at(root, "codex:second").call(
        "memorize", node_label="Retry policy", text="four times", confidence=0.9, evidence=["retry.py:1"]
    )
    world.at(root, "gemini:reviewer").call("learn", feedback="wrong", node_ids=["retry-policy"])
    cited.write_text("TRIES = 4\n")

    told = world.at(root).call("history", claim="retry-policy")

    said = [(one["body"], one["confidence"], one["evidence"], one["belief"]) for one in told["versions"]]
    assert said == [("four times", 0.9, ["retry.py:1"], "authored"), ("three times", 0.5, [], "authored")]
    row = told["row"]
    assert (row["text"], row["source_agent"], row["graded_wrong"]) == ("four times", "codex:second", True)
    assert [(one["grade"], one["by"]) for one in row["grades"]] == [("wrong", "gemini:reviewer")]
    assert row["evidence_changed"] == {"retry.py": "evidence_changed"}


def test_history_of_a_claim_that_ended_has_no_row(world: World) -> None:
    root = world.brain("shop")
    world.at(root).memorize("Retry policy", "three times")
    world.human(root).call("reject", claim="retry-policy", reason="it never held")

    told = world.at(root).call("history", claim="retry-policy")

    assert told["row"] is None
    assert [one["live"] for one in told["versions"]] == [False]
