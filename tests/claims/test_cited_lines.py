"""Lines that a claim cites must be in the file."""

from pathlib import Path

import pytest

from tests.support.world import World, block, git


@pytest.mark.parametrize("lines", ["3", "99999", "0", "1-3", "2-1"])
def test_lines_that_the_file_does_not_have_are_refused_and_nothing_is_written(world: World, lines: str) -> None:
    x = world.brain("x", src__a_py="one = 1\ntwo = 2\n")
    agent = world.at(x)

    single = agent.call("memorize", node_label="Lesson", text="t", evidence=[f"src/a.py:{lines}"])
    several = agent.call("memorize", node_label="Lesson", claims=[block("L", evidence=["src/a.py", f"./src/a.py:{lines}"])])

    for answer in (single, several):
        assert answer["error"]["code"] == "invalid_params"
        assert f"src/a.py:{lines}" in answer["error"]["message"]
        assert answer["error"]["fix"] == "cite lines from 1 to 2, or the file without a line"
    assert agent.call("claims")["claims"] == []


@pytest.mark.parametrize("evidence", ["src/a.py:2", "src/a.py:1-2", "src/a.py", "src/later.py:99999"])
def test_lines_of_the_file_and_of_a_file_that_is_not_there_yet_are_accepted(world: World, evidence: str) -> None:
    x = world.brain("x", src__a_py="one = 1\ntwo = 2")

    assert world.at(x).call("memorize", node_label="Lesson", text="t", evidence=[evidence])["ok"]


def test_the_lines_are_those_of_the_callers_own_checkout(world: World) -> None:
    x = world.brain("x", src__a_py="one = 1\n")
    git(x, "add", "-A")
    git(x, "commit", "-q", "-m", "first")
    there = str(world.place / "branch")
    git(x, "worktree", "add", "-q", there, "-b", "branch")
    Path(there, "src/a.py").write_text("one = 1\n" * 9, encoding="utf-8")

    assert world.at(there).call("memorize", node_label="Lesson", text="t", evidence=["src/a.py:9"])["ok"]
    assert (
        world.at(x).call("memorize", node_label="Lesson", text="t", evidence=["src/a.py:9"])["error"]["code"] == "invalid_params"
    )
