"""The story of two repositories, by hand on the command line, with an owner and without one."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program, git_repository

CLAIM = "The worker retries three times"


@dataclass(frozen=True)
class Two:
    """Two repositories with their brains on one home."""

    x: Program
    y: Program


@pytest.fixture
def two(request: pytest.FixtureRequest, program: Program, tmp_path: Path) -> Two:
    mode = getattr(request, "param", "embedded")
    both = Two(*(program.given(git_repository(tmp_path / name), HINDBRAIN_MODE=mode) for name in ("repo-x", "repo-y")))
    assert both.x.run("init").code == 0
    assert both.y.run("init").code == 0
    return both


either_way = pytest.mark.parametrize("two", ["embedded", "owner"], indirect=True)


def memory(program: Program) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = program.answer("north")["memory"]
    return rows


@either_way
@pytest.mark.req("MED-033", "MED-017")
def test_med_033_a_claim_stays_home_until_it_is_shared_and_comes_back_when_it_is_graded_wrong(two: Two) -> None:
    assert two.x.run("memorize", "Retry policy", CLAIM).code == 0
    assert [row["claim"] for row in memory(two.x)] == ["Retry policy"]
    assert memory(two.y) == []

    wide = two.y.answer("seek", "retries", "--tier", "all-brains")
    assert CLAIM in json.dumps(wide, ensure_ascii=False)
    assert str(two.x.directory) in json.dumps(wide)

    shared = two.x.run("promote", "retry-policy", "--reason", "seen in two projects")
    assert shared.code == 0, shared.out
    (row,) = memory(two.y)
    assert (row["tier"], row["claim"]) == ("medulla", "Retry policy")
    assert str(two.x.directory) in json.dumps(row)

    assert two.y.run("learn", "wrong", "retry-policy", "--tier", "medulla").code == 0
    assert memory(two.y) == []
    assert CLAIM in json.dumps(memory(two.x))


@either_way
@pytest.mark.req("GR-180", "MED-026")
def test_gr_180_a_refused_memorize_exits_1_and_its_fix_works_as_it_stands(two: Two, tmp_path: Path) -> None:
    elsewhere = two.x.given(git_repository(tmp_path / "it's new"))

    refused = elsewhere.run("memorize", "Retry policy", CLAIM)
    assert refused.code == 1
    assert refused.json["refused"] == "brainless_root"
    assert "(brainless_root)" in refused.err

    program_name, *words = shlex.split(refused.err.split("fix: ")[1].strip())
    assert program_name == "hindbrain"
    assert elsewhere.run(*words).code == 0
    assert elsewhere.run("memorize", "Retry policy", CLAIM).code == 0
    assert [row["claim"] for row in memory(elsewhere)] == ["Retry policy"]


@either_way
@pytest.mark.req("MED-038")
def test_med_038_the_agent_is_who_the_call_says_else_who_the_environment_says(two: Two) -> None:
    maker = two.x.given(HINDBRAIN_AGENT_ID="codex:maker")
    maker.answer("memorize", "First", "one")
    maker.answer("memorize", "Second", "two", "--agent", "claude:orchestrator")
    maker.answer("memorize", "Third", "three", "--agent-id", "x")

    folder = two.x.directory / ".hindbrain" / "agent-memory"
    agents = {path.stem.split(".")[0]: path.read_text() for path in folder.glob("*.light.md")}
    assert "Source-Agent: codex:maker" in agents["first"]
    assert "Source-Agent: claude:orchestrator" in agents["second"]
    assert "Source-Agent: x" in agents["third"]


@pytest.mark.req("RC-036")
def test_rc_036_an_empty_seek_ends_with_the_envelope_in_one_line(two: Two) -> None:
    two.x.answer("memorize", "Retry policy", CLAIM)

    ended = two.x.run("seek", "nothing", "--no-json")

    assert ended.code == 0
    assert ended.out.rstrip().splitlines()[-1].startswith("retrieval_needs_recovery · triaging · ")
    assert two.x.answer("seek", "nothing")["agent_runtime_contract"]["trust_mode"] == "retrieval_needs_recovery"


@pytest.mark.req("MED-017")
def test_med_017_a_named_root_wins_over_where_one_stands(two: Two) -> None:
    two.x.answer("memorize", "Retry policy", CLAIM)

    assert [row["claim"] for row in memory(two.y.given(HINDBRAIN_WORKSPACE_ROOT=str(two.x.directory)))] == ["Retry policy"]
    assert [row["claim"] for row in two.y.answer("--root", str(two.x.directory), "north")["memory"]] == ["Retry policy"]
    assert memory(two.y) == []


def test_story_a_claim_of_many_blocks_comes_as_json(two: Two, tmp_path: Path) -> None:
    blocks = [{"label": "one", "text": "first"}, {"label": "two", "text": "second", "confidence": 0.9}]
    (tmp_path / "blocks.json").write_text(json.dumps(blocks))

    by_file = two.x.answer("memorize", "Many", "--claims", f"@{tmp_path}/blocks.json")
    by_stdin = two.x.answer("call", "memorize", "-", stdin=json.dumps({"node_label": "More", "claims": blocks}).encode())

    assert (by_file["ok"], by_file["claims_written"]) == (True, 2)
    assert (by_stdin["ok"], by_stdin["claims_written"]) == (True, 2)


@either_way
def test_story_a_person_forgets_a_claim_at_a_terminal(two: Two) -> None:
    two.x.answer("memorize", "Retry policy", CLAIM)

    piped = two.x.run("forget", "retry-policy")
    typed = two.x.at_terminal("forget", "retry-policy", say=[("to go on: ", "retry-policy\n")])

    assert (piped.code, piped.json["error"]["code"]) == (1, "human_needed")
    assert typed.code == 0, typed.out
    assert memory(two.x) == []


def test_story_an_argument_that_only_a_person_may_give_asks_for_one(two: Two) -> None:
    words = ("memorize", "House rule", "Small commits", "--tier", "medulla", "--absolute")

    piped = two.x.run(*words)
    typed = two.x.at_terminal(*words, say=[("to go on: ", "House rule\n")])

    assert (piped.code, piped.json.get("refused") or piped.json["error"]["code"]) == (1, "human_needed")
    assert "It takes a person: " in typed.out
    assert typed.code == 0, typed.out
    assert [row["claim"] for row in memory(two.y)] == ["House rule"]


@pytest.mark.req("MED-040")
def test_med_040_init_tells_what_will_be_committed_and_refuses_the_home_directory(two: Two, tmp_path: Path) -> None:
    fresh = two.x.given(git_repository(tmp_path / "fresh"))
    at_home = two.x.given(tmp_path)  # the tests' HOME

    told = fresh.run("init", "--no-json")
    refused = at_home.run("init")

    assert "will be committed" in told.out
    assert refused.code != 0
    assert refused.json["ok"] is False
    assert not (tmp_path / ".hindbrain").exists()


@pytest.mark.req("MED-306", "MED-192")
def test_med_306_doctor_prints_its_numbers_and_exits_by_its_verdict(two: Two) -> None:
    two.x.answer("memorize", "Doctrine", "Small commits", "--tier", "medulla")
    healthy = two.x.run("doctor", "--no-json")
    (first,) = two.x.home.glob("medulla/agent-memory/*.light.md")
    for number in range(300):
        first.with_name(f"doctrine-{number}.light.md").write_text(first.read_text().replace("Doctrine", f"Doctrine {number}"))

    crowded = two.x.run("doctor", "--no-json")

    assert healthy.code == 0, healthy.out
    assert len(healthy.out.splitlines()) < 24, "it fits on a screen"
    assert healthy.out.split()[:2] == ["status", "ok"]
    assert crowded.code == 1
    assert any("301" in line and "medulla" in line for line in crowded.out.splitlines()), crowded.out
