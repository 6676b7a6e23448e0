"""Rounds through the operations: the directory, the checks before a lane runs, interruption, judges and reports."""

import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.app import EmbeddedSession, embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.domain.gym import Wish
from hindbrain.domain.gym_fixture import LANES
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.gym import Gym
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.rounds import RoundDirectory
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from tests.support.gym import opened

QUIET = "renamed"  # the quickest fixture of all


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def session(home: Path, channel: Channel = Channel.AGENT, **settings: str) -> EmbeddedSession:
    caller = local_caller(root=str(home.parent), agent="t", channel=channel, environ={})
    return embedded(Home(home), Settings(settings), caller)


def called(home: Path, operation: str, *, channel: Channel = Channel.AGENT, **arguments: Any) -> dict[str, Any]:
    with session(home, channel) as at:
        return at.call(operation, **arguments)


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def scripted(tmp_path: Path, findings: list[dict[str, Any]], events: list[dict[str, Any]] | None = None) -> str:
    """An agent command that writes these findings."""
    script = tmp_path / "agent.py"
    told = {"findings": findings, "events": events if events is not None else [{"event_type": "file_read", "target": "a"}]}
    script.write_text(f"import json, pathlib\npathlib.Path('findings.json').write_text({json.dumps(json.dumps(told))})\n")
    return f"{sys.executable} -B {script}"


SHOWN = "from clix import nothing_like_it\n"


def by_agent(home: Path, tmp_path: Path, findings: list[dict[str, Any]], fixture: str = "clix", **more: Any) -> dict[str, Any]:
    command = scripted(tmp_path, findings, **more)
    return done(called(home, "gym.run", fixture=[fixture], lanes=["agent"], agent_command=command))


# -- the directory ---------------------------------------------------------------------------------------------------


def test_aol_220_a_round_has_all_of_its_files_and_its_key_is_private(home: Path) -> None:
    answer = done(called(home, "gym.run", fixture=[QUIET], lanes=["direct"]))
    place = Path(answer["path"])

    names = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}

    assert {
        "round.json",
        "operator-only/answer-key.json",
        f"event-streams/{QUIET}.direct.1.jsonl",
        f"lane-prompts/{QUIET}.direct.md",
        f"lane-results/{QUIET}.direct.1.json",
        "report.json",
        "report.md",
        "report.html",
        "notes.md",
    } <= names
    assert place == home / "gym" / "rounds" / answer["round_id"]
    assert stat.S_IMODE((place / "operator-only").stat().st_mode) == 0o700
    assert stat.S_IMODE((place / "operator-only" / "answer-key.json").stat().st_mode) == 0o600
    assert json.loads((place / "round.json").read_text())["state"] == "complete"


def test_aol_220_a_round_may_be_written_elsewhere_but_never_over_something(home: Path, tmp_path: Path) -> None:
    answer = done(called(home, "gym.run", fixture=[QUIET], lanes=["direct"], out=str(tmp_path / "mine")))

    again = called(home, "gym.run", fixture=[QUIET], lanes=["direct"], out=str(tmp_path / "mine"))
    inside = called(home, "gym.run", fixture=[QUIET], lanes=["direct"], out=str(home / "brains"))

    assert (tmp_path / "mine" / "report.json").is_file()
    assert done(called(home, "gym.report", round=str(tmp_path / "mine")))["round_id"] == answer["round_id"]
    assert again["error"]["code"] == "invalid_params"
    assert inside["error"]["code"] == "path_refused"


def test_aol_221_no_lane_has_the_key_near_it_and_every_workspace_is_scanned(home: Path, tmp_path: Path) -> None:
    told = tmp_path / "seen.json"
    script = tmp_path / "nosy.py"
    script.write_text(
        "import json, os, pathlib\n"
        "here = pathlib.Path.cwd()\n"
        "names = [str(p) for up in (here, here.parent, here.parent.parent) for p in up.rglob('*') if p.is_file()]\n"
        f"pathlib.Path({str(told)!r}).write_text(json.dumps([names, str(here)]))\n"
        "pathlib.Path('findings.json').write_text(json.dumps({'findings': [], 'events': []}))\n"
    )

    answer = done(called(home, "gym.run", fixture=["clix"], lanes=["agent"], agent_command=f"{sys.executable} {script}"))
    names, where = json.loads(told.read_text())

    statements = [seed.statement for seed in Fixtures().key("clix").seeds]
    assert not where.startswith(answer["path"])
    assert names
    assert not any("answer-key" in name or "operator-only" in name or "lane-results" in name for name in names)
    assert not Path(where).exists()
    prompt = (Path(answer["path"]) / "lane-prompts" / "clix.agent.md").read_text()
    assert not any(one in prompt for one in statements)
    result = json.loads((Path(answer["path"]) / "lane-results" / "clix.agent.1.json").read_text())
    assert result["leaked"] == []


def test_aol_219_an_agent_command_is_told_and_reported_under_the_arm_that_was_chosen(home: Path, tmp_path: Path) -> None:
    command = scripted(tmp_path, [])
    words = {"fixture": [QUIET], "lanes": ["direct", "agent"], "agent_command": command, "arm": "hindbrain-mission-control"}

    answer = done(called(home, "gym.run", **words))

    assert [one["arm"] for one in answer["report"]["arms"]] == ["direct", "hindbrain-mission-control"]
    assert "mission" in (Path(answer["path"]) / "lane-prompts" / f"{QUIET}.agent.md").read_text()


# -- before a lane runs ----------------------------------------------------------------------------------------------


def begun(home: Path, **wish: Any) -> tuple[Gym, RoundDirectory]:
    """A round that was made and has not run."""
    with session(home) as at:
        gym = at.app.house.gym
        return gym, gym.begin(Wish(**{"fixtures": (QUIET,), "lanes": ("direct",)} | wish))


def test_aol_223_a_missing_program_blocks_the_round_and_it_goes_on_once_it_is_there(home: Path, tmp_path: Path) -> None:
    tool = tmp_path / "agent-program"
    command = f"{tool} {{prompt_file}}"

    blocked = called(home, "gym.run", fixture=[QUIET], lanes=["agent"], agent_command=command)
    name = next((home / "gym" / "rounds").iterdir()).name
    tool.write_text("#!/bin/sh\necho '{\"findings\": []}' > findings.json\n")
    tool.chmod(0o700)
    later = done(called(home, "gym.run", round=name))

    assert blocked["error"]["code"] == "round_blocked"
    assert "agent-program" in blocked["error"]["message"]
    assert (later["round_id"], later["complete"]) == (name, True)


def test_aol_223_without_git_nothing_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    answer = called(home, "gym.run", fixture=[QUIET], lanes=["direct"])

    assert answer["error"]["code"] == "round_blocked"
    assert "git" in answer["error"]["message"]


def test_aol_223_an_operation_that_is_not_live_blocks_the_lanes_that_need_it(home: Path) -> None:
    class Deaf:
        """A session of a build that has no missions."""

        def __init__(self, inner: LaneSession) -> None:
            self._inner = inner

        def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
            answer = self._inner.call(operation, **arguments)
            if operation == "operations":
                answer["operations"] = [one for one in answer["operations"] if not one["name"].startswith("mission.")]
            return answer

        def close(self) -> None:
            self._inner.close()

    with session(home) as at:
        house = at.app.house
        house.lane_opener = lambda *given: Deaf(opened(*given))
        refused = at.call("gym.run", fixture=[QUIET], lanes=["mission"])
        allowed = at.call("gym.run", fixture=[QUIET], lanes=["direct"])

    assert refused["error"]["code"] == "round_blocked"
    assert "the operation mission.start is not live" in refused["error"]["problems"]
    assert allowed["ok"]


def spoil_prompt(place: RoundDirectory) -> None:
    prompt = place.path / "lane-prompts" / "clix.direct.md"
    prompt.write_text(f"{prompt.read_text()}\n{Fixtures().key('clix').seeds[0].statement}\n")


def spoil_stream(place: RoundDirectory) -> None:
    stream = place.path / "event-streams" / "clix.direct.1.jsonl"
    stream.write_text(stream.read_text() + '{"event_type": "nonsense"}\n')


def spoil_order(place: RoundDirectory) -> None:
    stream = place.path / "event-streams" / "clix.direct.1.jsonl"
    stream.write_text("\n".join(reversed(stream.read_text().splitlines())) + "\n")


def spoil_result(place: RoundDirectory) -> None:
    (place.path / "lane-results" / "clix.direct.1.json").write_text("{")


def spoil_lock(place: RoundDirectory) -> None:
    told = json.loads((place.path / "round.json").read_text())
    told["fixtures"][0]["digest"] = "sha256:other"
    (place.path / "round.json").write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda place: (place.path / "notes.md").unlink(), "no notes.md"),
        (lambda place: shutil.rmtree(place.path / "operator-only"), "answer-key.json"),
        (lambda place: (place.path / "lane-prompts" / "clix.mission.md").unlink(), "clix.mission.md is missing"),
        (spoil_prompt, "lane-prompts/clix.direct.md"),
        (spoil_stream, "what is no event"),
        (spoil_order, "not in order"),
        (spoil_result, "not what was written"),
        (spoil_lock, "not the one that the round was made for"),
    ],
)
def test_aol_223_shape_prompts_results_and_streams_are_checked(recorded: Path, tmp_path: Path, spoil: Any, why: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(recorded, copy)
    spoil(RoundDirectory(copy))

    answer = called(tmp_path / "home", "gym.run", round=str(copy))

    assert answer["error"]["code"] == "round_blocked"
    assert why in answer["error"]["message"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round of which the direct lane has run, and the mission lane has not."""
    room = tmp_path_factory.mktemp("gym")
    gym, place = begun(room / "home", fixtures=("clix",), lanes=("direct", "mission"), out=str(room / "round"))
    asked = place.asked()
    place.add(gym._lane(asked, asked.lanes[0], 60.0))
    return place.path


# -- going on --------------------------------------------------------------------------------------------------------


def test_a_round_that_was_interrupted_says_so_and_goes_on_where_it_stopped(recorded: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(recorded, copy)
    before = (copy / "lane-results" / "clix.direct.1.json").read_bytes()

    partly = done(called(tmp_path / "home", "gym.report", round=str(copy)))
    whole = done(called(tmp_path / "home", "gym.run", round=str(copy)))

    assert (partly["complete"], partly["report"]["missing"]) == (False, ["clix.mission.1"])
    assert whole["complete"]
    assert (copy / "lane-results" / "clix.direct.1.json").read_bytes() == before
    recalls = {one["lane"]: one["seeded_recall"] for one in whole["report"]["lanes"]}
    assert recalls["mission"] >= recalls["direct"] > 0


def test_ctrl_c_leaves_a_round_that_is_marked_incomplete(home: Path, tmp_path: Path) -> None:
    waits, fifo = tmp_path / "waits.sh", tmp_path / "begun"
    os.mkfifo(fifo)
    waits.write_text(f"#!/bin/sh\necho begun > {fifo}\nexec tail -f /dev/null\n")
    waits.chmod(0o700)
    words = ["gym", "run", "--fixture", QUIET, "--lanes", "agent", "--agent-command", str(waits), "--home", str(home)]
    ear = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    child = subprocess.Popen(
        [sys.executable, "-m", "hindbrain", *words],
        env={**os.environ, "HINDBRAIN_MODE": "embedded"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        heard, _, _ = select.select([ear], [], [], 60)
        assert heard, child.communicate(timeout=1)
        os.killpg(child.pid, signal.SIGINT)
        child.communicate(timeout=60)
    finally:
        os.close(ear)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    place = next((home / "gym" / "rounds").iterdir())
    told = json.loads((place / "round.json").read_text())

    assert child.returncode != 0
    assert (told["state"], told["why"]) == ("incomplete", "stopped by KeyboardInterrupt")
    assert json.loads((place / "report.json").read_text())["missing"] == [f"{QUIET}.agent.1"]


def test_two_processes_do_not_work_on_one_round_at_once(home: Path) -> None:
    _gym, place = begun(home)
    from hindbrain.services.gym.gym import _alone

    with _alone(place):
        answer = called(home, "gym.run", round=place.asked().round_id)

    assert answer["error"]["code"] == "busy"
    assert not place.done()


# -- reports and judges ----------------------------------------------------------------------------------------------


def test_aol_224_aol_324_an_agent_that_records_nothing_is_missing_capture(home: Path, tmp_path: Path) -> None:
    answer = by_agent(home, tmp_path, [], fixture=QUIET, events=[])

    assert answer["report"]["lanes"][0]["missing_capture"]
    assert any("missing capture" in one for one in answer["report"]["warnings"])
    assert "missing capture" in (Path(answer["path"]) / "report.md").read_text()


def test_aol_226_aol_227_the_reproduction_judge_rules_on_extras_unattended(home: Path, tmp_path: Path) -> None:
    seed = Fixtures().key("clix").seeds[0]
    extras = [
        {"path": "src/clix/nowhere.py", "line": 1, "statement": "shown by a test", "reproduction": seed.reproduction},
        {"path": "src/clix/nowhere.py", "line": 2, "statement": "refuted by a test", "reproduction": "def test_a():\n    pass\n"},
    ]
    answer = by_agent(home, tmp_path, extras)

    before = done(called(home, "gym.report", round=answer["round_id"]))["report"]["arms"][0]
    ruled = done(called(home, "gym.judge", round=answer["round_id"]))
    after = done(called(home, "gym.report", round=answer["round_id"], format="json"))

    assert (before["extra_unadjudicated"], before["precision"]) == (2, None)
    assert (ruled["rulings"], ruled["extra_unadjudicated"]) == (2, 0)
    assert after["report"]["arms"][0]["precision"] == 0.5
    standings = {one["statement"]: one["standing"] for one in json.loads(after["text"])["lanes"][0]["findings"]}
    assert standings == {"shown by a test": "extra_confirmed", "refuted by a test": "extra_refuted"}
    assert json.loads((Path(answer["path"]) / "report.json").read_text())["arms"][0]["precision"] == 0.5


def test_aol_227_a_file_of_rulings_is_a_persons_to_give(home: Path, tmp_path: Path) -> None:
    answer = by_agent(home, tmp_path, [{"path": "src/clix/nowhere.py", "statement": "no test with it"}])
    file = tmp_path / "rulings.json"
    file.write_text(json.dumps([{"lane_id": "clix.agent.1", "finding_id": "f1", "verdict": "confirmed", "why": "I saw it"}]))
    words = {"round": answer["round_id"], "by": "human", "file": str(file)}

    alone = done(called(home, "gym.judge", round=answer["round_id"]))
    refused = called(home, "gym.judge", **words)
    ruled = done(called(home, "gym.judge", channel=Channel.HUMAN, **words))

    assert alone["extra_unadjudicated"] == 1
    assert refused["error"]["code"] == "human_needed"
    assert (ruled["extra_unadjudicated"], ruled["report"]["arms"][0]["precision"]) == (0, 1.0)


@pytest.mark.parametrize(
    "text", ["{", '[{"lane_id": "clix.agent.1"}]', '[{"lane_id": "x", "finding_id": "f1", "verdict": "confirmed"}]', "[1]"]
)
def test_aol_227_a_file_that_is_no_list_of_rulings_changes_nothing(home: Path, tmp_path: Path, text: str) -> None:
    _gym, place = begun(home)
    file = tmp_path / "rulings.json"
    file.write_text(text)

    name = place.asked().round_id
    answer = called(home, "gym.judge", channel=Channel.HUMAN, round=name, by="human", file=str(file))

    assert answer["error"]["code"] == "invalid_params"
    assert place.rulings() == ()


def test_aol_227_a_model_judges_through_the_chain_that_is_set(home: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(
        "import sys\nasked = sys.stdin.read()\n"
        "print('{\"verdict\": \"%s\", \"why\": \"as shown\"}' % ('confirmed' if 'really wrong' in asked else 'refuted'))\n"
    )
    found = [{"path": "src/clix/nowhere.py", "statement": s} for s in ("it is really wrong", "it is fine")]
    answer = by_agent(home, tmp_path, found)

    unset = called(home, "gym.judge", round=answer["round_id"], by="model")
    chain = {"model_provider": "command", "model_command": f"{sys.executable} {model}", "model_name": "m"}
    with session(home, **chain) as at:
        ruled = at.call("gym.judge", round=answer["round_id"], by="model")

    assert unset["error"]["code"] == "model_unavailable"
    assert done(ruled)["report"]["arms"][0]["precision"] == 0.5
    assert ruled["report"]["judges"] == ["model"]


def test_a_secret_in_what_an_agent_wrote_is_not_kept(home: Path, tmp_path: Path) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    answer = by_agent(home, tmp_path, [{"path": "a.py", "statement": f"the key {secret} is in it"}])
    command = called(home, "gym.run", fixture=[QUIET], lanes=["agent"], agent_command=f"true {secret}")
    change = done(called(home, "gym.run", fixture=[QUIET], lanes=["direct"], change=f"key {secret}"))

    assert command["error"]["code"] == "invalid_params"
    for place in (answer["path"], change["path"]):
        kept = [path for path in Path(place).rglob("*") if path.is_file() and secret in path.read_text()]
        assert kept == []


# -- asking for a round ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"fixture": ["nothing-like-it"]}, "no fixture"),
        ({"fixture": ["../clix"]}, "no fixture"),
        ({"fixture": [QUIET], "lanes": ["fast"]}, "no lane"),
        ({"fixture": [QUIET], "lanes": ["agent"]}, "agent command"),
        ({"fixture": [QUIET], "lanes": ["direct"], "agent_command": "true"}, "agent command"),
        ({"fixture": [QUIET], "lanes": ["direct", "agent"], "agent_command": "true"}, "one arm"),
        ({"fixture": [QUIET], "lanes": ["direct"], "arm": "hindbrain-basic"}, "an arm is chosen"),
        ({"fixture": [QUIET], "budget": "endless"}, "budget"),
        ({"fixture": [QUIET], "repeats": 0}, "repeats"),
    ],
)
def test_a_round_that_cannot_be_is_refused_before_anything_is_written(home: Path, wish: dict[str, Any], why: str) -> None:
    answer = called(home, "gym.run", **wish)

    assert answer["error"]["code"] == "invalid_params"
    assert why in answer["error"]["message"]
    assert not (home / "gym").exists()


@pytest.mark.parametrize("name", ["rnd_" + "0" * 26, "../../etc", "/etc", "rnd_../x", "", "rnd_\x00"])
def test_a_name_that_is_no_round_is_refused(home: Path, name: str) -> None:
    assert called(home, "gym.report", round=name)["error"]["code"] in ("unknown_round", "invalid_params", "path_refused")


def test_aol_220_an_agent_names_a_round_elsewhere_by_its_id_and_never_by_a_path(home: Path, recorded: Path) -> None:
    with session(home) as at:
        answer = at.call("gym.report", round=str(recorded))

    assert answer["error"]["code"] == "path_refused"


def test_aol_219_aol_231_compare_takes_two_rounds_or_two_lanes_of_one(home: Path) -> None:
    one = done(called(home, "gym.run", fixture=[QUIET], lanes=["direct,trained"]))["round_id"]

    same = done(called(home, "gym.compare", a=one, b=one))
    lanes = done(called(home, "gym.compare", a=f"{one}:direct", b=f"{one}:trained"))
    unknown = called(home, "gym.compare", a=f"{one}:nothing", b=one)

    assert set(same["pairs"]) == {"direct", "hindbrain-trained"}
    assert lanes["pairs"] == ["direct / hindbrain-trained"]
    assert lanes["lanes"] == {"direct / hindbrain-trained": [1, 1]}
    assert lanes["gates"]["direct / hindbrain-trained"]["passed"] is False
    assert "What may not be claimed" in lanes["rendered"]
    assert not unknown["ok"]


def test_aol_197_aol_329_candidates_are_read_from_recorded_rounds_and_nothing_is_written(home: Path) -> None:
    base = done(called(home, "gym.run", fixture=[QUIET], lanes=["direct"]))["round_id"]
    other = done(called(home, "gym.run", fixture=[QUIET], lanes=["direct"], change="read documents first"))["round_id"]
    before = sorted((path, path.stat().st_mtime_ns) for path in home.rglob("*") if path.is_file() and path.suffix == ".json")

    told = done(called(home, "gym.candidates", baseline=base, rounds=[other], lane="direct"))

    assert told["candidates"][0]["change"] == "read documents first"
    assert told["best"] is None
    assert any("no direct lane on clix" in one for one in told["candidates"][0]["gate"]["says"])
    assert sorted((path, path.stat().st_mtime_ns) for path in home.rglob("*") if path.suffix == ".json") == before


def test_aol_218_fixtures_and_lanes_are_listed(home: Path) -> None:
    told = done(called(home, "gym.fixtures"))

    assert [one["name"] for one in told["lanes"]] == list(LANES)
    assert {"clix", "pooled", "tabular"} <= {one["name"] for one in told["fixtures"]}
    assert all(one["digest"].startswith("sha256:") for one in told["fixtures"])


def test_aol_215_wrong_bindings_are_put_in_where_there_are_several_repositories(home: Path) -> None:
    told = done(called(home, "gym.run", fixture=["shops"], lanes=["direct", "mission"]))["report"]

    by = {one["lane"]: one for one in told["lanes"]}
    assert by["direct"]["workspace_drift_catch_rate"] is None
    assert (by["mission"]["injections"], by["mission"]["workspace_drift_catch_rate"]) == (2, 1.0)
