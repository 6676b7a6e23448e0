"""Lanes run offline from a fresh copy to a score, on a home of their own, and never see the key."""

import contextlib
import os
import select
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.gym_fixture import LANES, Arm, Finding, GymFamily, LaneRun
from hindbrain.domain.mission import EventType, Family
from hindbrain.engines.gym_key import matched
from hindbrain.engines.gym_verdict import FamilyScore, scored
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.reproduction import Reproducer
from tests.support.gym import lanes

FAMILIES = {
    "reviewed": GymFamily.CODE_REVIEW,
    "drifted": GymFamily.DOCS_DRIFT,
    "unready": GymFamily.RELEASE_READINESS,
    "bound-notes": GymFamily.LIGHT_BINDING,
    "relay": GymFamily.HANDOFF_RESUME,
    "hosts": GymFamily.HOST_RECOVERY,
    "shops": GymFamily.MULTI_REPO_ORIENTATION,
    "renamed": GymFamily.BOUNDED_REFACTOR,
}


Runs = Callable[[str, str], LaneRun]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs of this module, each made once."""

    @cache
    def run(name: str, lane: str) -> LaneRun:
        return lanes().run(name, lane, tmp_path_factory.mktemp("lanes") / lane)

    return run


def recall(run: LaneRun) -> int:
    return len(matched(Fixtures().key(run.fixture), run.findings))


@pytest.mark.parametrize("name", FAMILIES)
def test_aol_200_aol_201_aol_202_aol_203_aol_204_aol_205_aol_206_aol_207_a_family_runs_offline_as_a_mission_and_is_scored(
    name: str, runs: Runs
) -> None:
    key = Fixtures().key(name)

    run = runs(name, "mission")

    assert key.family is FAMILIES[name]
    assert (run.valid, run.completed, run.arm) == (True, True, Arm.MISSION_CONTROL)
    score = scored(key, run)
    assert (score.passed, score.extra) == (True, 0), score.says


@pytest.mark.parametrize("name", ["clix", "pooled", "tabular"])
def test_aol_198_aol_219_a_mission_finds_at_least_what_the_graph_and_the_files_alone_give(name: str, runs: Runs) -> None:
    done = {lane: runs(name, lane) for lane in ("direct", "graph", "trained", "mission")}

    found = {lane: recall(run) for lane, run in done.items()}
    assert found["mission"] >= max(found["direct"], found["graph"])
    assert found["mission"] >= found["trained"]
    assert found["direct"] > 0
    assert [run.arm for run in done.values()] == [Arm.DIRECT, Arm.BASIC, Arm.TRAINED, Arm.MISSION_CONTROL]
    assert all(len(run.findings) == found[lane] for lane, run in done.items())  # nothing is made up either
    mission = done["mission"]
    assert mission.closed
    assert set(mission.steps) == {"start", "event", "next", "verify", "close"}
    verdicts = [one.payload["verdict"] for one in mission.events if one.event_type is EventType.VERIFY]
    assert verdicts == ["verified_for_mission"] * len(mission.findings)


def test_aol_230_discipline_finds_more_with_fewer_repeats_than_asking_the_graph_again(runs: Runs) -> None:
    happy, trained = runs("clix", "graph"), runs("clix", "trained")

    asked = {run.lane: [one.target or "" for one in run.events if one.tool_family is Family.GRAPH] for run in (happy, trained)}
    assert recall(trained) > recall(happy)
    assert len(asked["trained"]) == 1
    again = [one.rstrip(".") for one in asked["graph"]]
    assert len(again) > len(set(again))


def test_aol_230_a_scripted_lane_does_the_same_every_time(tmp_path: Path) -> None:
    one, other = (lanes().run("unkeyed", "direct", tmp_path / name) for name in ("one", "other"))

    assert [(e.event_type, e.target) for e in one.events] == [(e.event_type, e.target) for e in other.events]
    assert [f.statement for f in one.findings] == [f.statement for f in other.findings]


def test_aol_205_a_second_agent_with_a_hand_over_reads_nothing_twice_and_one_without_reads_all_again(runs: Runs) -> None:
    key, handed, alone = Fixtures().key("relay"), runs("relay", "mission"), runs("relay", "direct")

    assert scored(key, handed).score == 1.0
    assert recall(handed) == recall(alone) == len(key.seeds)
    afresh = scored(key, alone)
    assert afresh.score is not None
    assert afresh.score < 0.5
    assert "4 of 7 files were read again" in afresh.says


def test_aol_199_findings_without_a_key_are_judged_by_their_own_tests(tmp_path: Path) -> None:
    run = lanes().run("unkeyed", "direct", tmp_path / "lane")

    judge = Reproducer(Fixtures())
    ruled = {one.symbol: judge.judge("unkeyed", one.reproduction).verdict for one in run.findings}
    assert scored(Fixtures().key("unkeyed"), run).score is None
    assert ruled == {"hours": "confirmed", "turns": "confirmed", "wished": "not_reproduced"}


def test_aol_221_aol_222_aol_323_a_lane_has_its_own_copy_and_home_and_no_word_of_the_key(tmp_path: Path) -> None:
    run = lanes().run("clix", "trained", tmp_path / "lane")

    assert run.digest_locked == run.digest_before == run.digest_after
    assert (tmp_path / "lane" / "home").is_dir()
    assert any((tmp_path / "lane" / "home").iterdir())
    assert Fixtures().scan("clix", tmp_path / "lane" / "workspace") == ()
    assert Fixtures().scan("clix", tmp_path / "lane" / "home") == ()
    assert (tmp_path / "lane" / "prompt.md").read_text(encoding="utf-8") == Fixtures().prompt("clix", "trained")


def test_aol_204_naming_a_repository_after_retrieving_from_one_does_not_count(tmp_path: Path) -> None:
    run = lanes().run("shops", "direct", tmp_path / "lane")
    key = Fixtures().key("shops")
    named = next(one for one in run.events if one.event_type is EventType.HYPOTHESIS)
    retrieved = msgspec.structs.replace(named, seq=1, event_type=EventType.SEMANTIC_SEARCH, tool_family=Family.GRAPH)
    early = msgspec.structs.replace(run, events=(retrieved, *run.events[1:]))

    assert scored(key, run).passed
    assert not scored(key, early).passed


def test_aol_203_a_host_state_is_wrong_without_its_step_or_with_a_claim_nobody_saw(tmp_path: Path) -> None:
    run, key = lanes().run("hosts", "trained", tmp_path / "lane"), Fixtures().key("hosts")
    assert scored(key, run).score == 1.0

    run.answer["states"]["d"]["claims"] = ["host_rebound"]
    run.answer["states"]["h"]["plan"] = []
    run.answer["states"]["f"]["diagnosis"] = "stale_runtime"

    assert scored(key, run).score == 0.625


def test_aol_207_a_binding_that_is_missed_or_wrongly_called_stale_fails_the_lane(runs: Runs) -> None:
    key, run = Fixtures().key("bound-notes"), runs("bound-notes", "mission")
    note, held = next((one.path, target) for one in run.findings for target in key.expects["bound"])
    false = Finding(finding_id="false", path=note, symbol=held, statement=f"{held} is gone")
    again = msgspec.structs.replace(run.findings[0], finding_id="again")

    missed = scored(key, msgspec.structs.replace(run, findings=run.findings[1:]))
    wrong = scored(key, msgspec.structs.replace(run, findings=(*run.findings, false)))
    twice = scored(key, msgspec.structs.replace(run, findings=(*run.findings, again)))

    assert (missed.score, missed.passed) == (0.5, False)
    assert (wrong.score, wrong.passed) == (round(2 / 3, 9), False)
    assert "reported as stale, and not stale: 1" in wrong.says
    assert twice.passed


# -- any agent command -----------------------------------------------------------------------------------------------

AGENT = """
import json, os, sys
report = {
    "findings": [{"path": "src/clix/convert.py", "line": 21, "symbol": "within", "statement": sys.argv[1][:40],
                  "reproduction": "from clix.convert import within\\ndef test_end():\\n    assert within('10', 1, 10) == 10\\n"}],
    "events": [{"event_type": "file_read", "target": "src/clix/convert.py", "outcome": "found"}],
    "answer": {"home": os.environ["HINDBRAIN_HOME"], "here": os.getcwd()},
}
json.dump(report, open("findings.json", "w"))
"""


# An agent that works with Hindbrain in the home it was given.
WITH_MISSION = """
import json, os, hindbrain
with hindbrain.open(root="clix") as session:
    root = os.path.abspath("clix")
    session.call("ingest", path=root, project_root=root)
    started = session.call("mission.start", task="look around", mode="architecture")
    session.call("mission.event", event_type="file_read", target="src/clix/run.py")
    session.call("mission.verify", claim="run.py holds `self.commands = {}`", evidence_class="direct_source",
                 evidence_refs=["direct_source:src/clix/run.py:25"], targets=["src/clix/run.py"])
    session.call("mission.close", summary="seen")
json.dump({"findings": [], "answer": {"mission": started["mission_id"]}}, open("findings.json", "w"))
"""


def commanded(tmp_path: Path, script: str, *words: str, **more: Any) -> LaneRun:
    program = tmp_path / "agent.py"
    program.write_text(script, encoding="utf-8")
    command = " ".join([sys.executable, str(program), *words])
    return lanes().run("clix", "agent", tmp_path / "lane", agent_command=command, **more)


def test_aol_218_any_agent_command_is_a_lane_and_its_finding_is_judged(tmp_path: Path) -> None:
    run = commanded(tmp_path, AGENT, "{prompt}")

    assert (run.valid, run.completed, run.note) == (True, True, "")
    assert recall(run) == 1
    assert run.findings[0].statement.startswith("# Clix")  # it was given the prompt as one word
    assert [one.event_type for one in run.events] == [EventType.FILE_READ]
    assert run.answer == {"home": str(tmp_path / "lane" / "home"), "here": str(tmp_path / "lane" / "workspace")}
    assert Reproducer(Fixtures()).judge("clix", run.findings[0].reproduction).verdict == "confirmed"


def test_aol_219_aol_224_the_mission_of_an_agent_command_is_its_stream_and_its_arm_is_what_it_was_told(tmp_path: Path) -> None:
    run = commanded(tmp_path, WITH_MISSION, arm=Arm.MISSION_CONTROL)

    assert (run.valid, run.completed, run.closed, run.arm) == (True, True, True, Arm.MISSION_CONTROL)
    assert run.mission_id == run.answer["mission"]
    assert set(run.steps) == {"start", "event", "verify", "close"}
    assert [one.target for one in run.events if one.event_type is EventType.FILE_READ and one.source == "agent"] == [
        "src/clix/run.py"
    ]
    assert "Work as a mission" in (tmp_path / "lane" / "prompt.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to hear of the end of a process that is not ours")
def test_aol_218_what_an_agent_command_started_ends_with_it(tmp_path: Path) -> None:
    waits = "[sys.executable, '-c', 'import threading; threading.Event().wait()']"
    told = "json.dump({'answer': {'pid': child.pid}}, open('findings.json', 'w'))"

    run = commanded(tmp_path, f"import json, subprocess, sys\nchild = subprocess.Popen({waits})\n{told}\n")

    assert run.completed
    with contextlib.suppress(ProcessLookupError):  # gone already
        watched = os.pidfd_open(run.answer["pid"])
        ended, _, _ = select.select([watched], [], [], 60.0)
        os.close(watched)
        assert ended == [watched]


def test_aol_222_an_agent_that_changes_its_copy_makes_the_lane_invalid(tmp_path: Path) -> None:
    edits = "import json\nopen('clix/src/clix/errors.py', 'a').write('# mine')\njson.dump({}, open('findings.json', 'w'))\n"

    run = commanded(tmp_path, edits)

    assert not run.valid
    assert "clix/src/clix/errors.py" in run.invalid_reason
    assert scored(Fixtures().key("clix"), run).score is None


RENAMES = """
import json, pathlib, sys
for place in sys.argv[1:]:
    for path in pathlib.Path("rows", place).rglob("*.py"):
        path.write_text(path.read_text().replace("fetch_rows", "read_rows"))
json.dump({}, open("findings.json", "w"))
"""


def test_aol_201_a_refactor_passes_only_inside_the_bound_with_tests_that_pass(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(RENAMES, encoding="utf-8")

    def score(*places: str) -> FamilyScore:
        words = " ".join([sys.executable, str(program), *places])
        run = lanes().run("renamed", "agent", tmp_path / "-".join(("lane", *places)), agent_command=words)
        return scored(Fixtures().key("renamed"), run)

    assert score("src", "tests").passed
    untested = score("src")
    assert (untested.score, untested.says) == (0.0, ("the tests do not pass",))
    outside = score("src", "tests", "vendor")
    assert not outside.passed
    assert "rows/vendor/remote.py" in outside.says[0]
    idle = score()
    assert (idle.passed, "nothing was changed" in idle.says) == (False, True)


@pytest.mark.parametrize(
    ("script", "limit_s", "says"),
    [
        ("print('nothing')", 60, "wrote no findings.json"),
        ("import sys; sys.exit('no model')", 60, "no model"),
        ("open('findings.json', 'w').write('{')", 60, "cannot be read"),
        ("import threading; threading.Event().wait()", 0.7, "did not end within"),
    ],
)
def test_aol_224_an_agent_that_leaves_nothing_usable_is_not_complete(
    script: str, limit_s: float, says: str, tmp_path: Path
) -> None:
    run = commanded(tmp_path, script, time_limit_s=limit_s)

    assert not run.completed
    assert says in run.note
    assert run.findings == ()


def test_aol_219_a_lane_that_is_none_and_an_agent_without_a_command_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams) as unknown:
        lanes().run("clix", "lucky", tmp_path / "one")
    with pytest.raises(InvalidParams, match="needs a command"):
        lanes().run("clix", "agent", tmp_path / "two")

    assert all(name in unknown.value.fix for name in LANES)
    assert not (tmp_path / "one").exists()
