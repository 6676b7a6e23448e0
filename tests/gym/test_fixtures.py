"""Fixtures of the gym: real repositories with defects that can be shown, keys that stay apart, and locks that hold."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.gym_fixture import LANES, GymFamily
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.probing import Probe
from hindbrain.services.gym.reproduction import Reproducer
from tests.support.gym import HUNTS, outcomes
from tests.support.plants import CONTAINED

SEEDED = ("clix", "pooled", "tabular", "reviewed", "relay")


def test_aol_218_aol_324_every_family_has_a_fixture_that_comes_with_hindbrain() -> None:
    fixtures = Fixtures()

    assert {fixtures.info(name).family for name in fixtures.names()} == set(GymFamily)


def test_aol_228_three_bug_hunts_are_bundled_each_with_six_to_ten_defects() -> None:
    fixtures = Fixtures()

    hunts = [name for name in fixtures.names() if fixtures.info(name).family is GymFamily.SEEDED_BUG_HUNT]

    assert hunts == list(HUNTS)
    assert all(6 <= fixtures.info(name).seeded <= 10 for name in hunts)


@pytest.mark.parametrize("name", SEEDED)
def test_aol_198_aol_200_every_planted_defect_can_be_shown_and_is_gone_once_repaired(name: str, tmp_path: Path) -> None:
    fixtures = Fixtures()
    planted = fixtures.make(name, tmp_path / "planted")
    repaired = fixtures.make(name, tmp_path / "repaired", repaired=True)
    first = fixtures.info(name).repositories[0]
    tests = {f"{seed.seed_id}.py": str(seed.reproduction) for seed in fixtures.key(name).seeds}

    assert outcomes(planted.repositories[first], tests, tmp_path / "on-planted") == dict.fromkeys(tests, 1)
    assert outcomes(repaired.repositories[first], tests, tmp_path / "on-repaired") == dict.fromkeys(tests, 0)


@pytest.mark.parametrize("name", SEEDED)
def test_aol_198_the_tests_of_a_planted_repository_pass_and_do_not_give_the_defects_away(name: str, tmp_path: Path) -> None:
    made = Fixtures().make(name, tmp_path / "copy")

    probed = Probe(next(iter(made.repositories.values()))).tests()

    assert probed.ran.status == 0, probed.ran.output


@pytest.mark.parametrize("name", HUNTS)
def test_aol_198_the_documents_of_a_repaired_repository_say_what_is(name: str, tmp_path: Path) -> None:
    made = Fixtures().make(name, tmp_path / "copy", repaired=True)
    root = next(iter(made.repositories.values()))

    probed = Probe(root).examples(*(path.relative_to(root).as_posix() for path in sorted((root / "docs").glob("*.md"))))

    assert probed.failed == ()
    assert probed.ran.status == 0


def test_aol_222_two_copies_are_the_same_repository_to_the_byte_and_to_the_commit(tmp_path: Path) -> None:
    fixtures = Fixtures()

    one, other = fixtures.make("reviewed", tmp_path / "one"), fixtures.make("reviewed", tmp_path / "other")

    assert one.digest == other.digest == fixtures.info("reviewed").digest
    assert one.heads == other.heads
    log = subprocess.run(["git", "-C", str(one.root / "tally"), "log", "--format=%s"], capture_output=True, text=True, check=True)
    assert len(log.stdout.splitlines()) == 2


def test_aol_222_aol_323_a_fixture_that_is_not_the_locked_one_is_refused(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "gym" / "fixtures" / "renamed"
    shutil.copytree(source, tmp_path / "places" / "renamed")
    reader = tmp_path / "places" / "renamed" / "files" / "rows" / "src" / "rows" / "reader.py"
    reader.write_text(reader.read_text() + "\n# one line more\n")

    with pytest.raises(InvalidParams, match="not the one that was locked"):
        Fixtures((tmp_path / "places",)).make("renamed", tmp_path / "copy")


def test_aol_221_no_prompt_tells_what_is_planted_how_much_or_what_another_lane_found() -> None:
    fixtures = Fixtures()
    for name in fixtures.names():
        key = fixtures.key(name)
        for lane in LANES:
            prompt = fixtures.prompt(name, lane)
            told = [word for seed in key.seeds for word in (seed.seed_id, seed.statement, seed.kind) if word in prompt]
            assert told == []
            assert not any(f"{len(key.seeds)} {word}" in prompt for word in ("defects", "bugs", "findings") if key.seeds)
            assert not any(f"# {other}" in prompt or f"lane {other}" in prompt for other in LANES if other != lane)


def test_aol_221_the_scan_finds_a_key_wherever_it_was_put(tmp_path: Path) -> None:
    fixtures = Fixtures()
    fixtures.make("clix", tmp_path / "lane" / "workspace")
    clean = fixtures.scan("clix", tmp_path / "lane")
    deep = tmp_path / "lane" / "workspace" / "clix" / "docs" / "hint.txt"
    deep.write_text(f"look for: {fixtures.key('clix').seeds[3].statement}\n")

    assert clean == ()
    assert [line for line in fixtures.scan("clix", tmp_path / "lane") if "hint.txt" in line]


@CONTAINED
def test_aol_227_a_finding_with_a_failing_test_is_confirmed_by_running_it() -> None:
    judge, seed = Reproducer(Fixtures()), Fixtures().key("clix").seeds[0]

    ruled = judge.judge("clix", seed.reproduction)

    assert (ruled.verdict, ruled.against_repair) == ("confirmed", True)


@pytest.mark.parametrize(
    ("test", "verdict", "why"),
    [
        ("def test_true():\n    assert True\n", "refuted", "passes on the fixture"),
        (
            "from clix.convert import size\ndef test_wish():\n    assert size('1') == 2\n",
            "refuted",
            "repaired version too",
        ),
        ("import clix.nowhere\ndef test_it():\n    pass\n", "unrunnable", "nowhere"),
        ("answer = 42\n", "unrunnable", "no function"),
        (None, "not_reproduced", "brings no test"),
    ],
)
@CONTAINED
def test_aol_227_a_test_that_shows_nothing_confirms_nothing(test: str | None, verdict: str, why: str) -> None:
    ruled = Reproducer(Fixtures()).judge("clix", test)

    assert ruled.verdict == verdict
    assert why in ruled.why


@CONTAINED
def test_aol_227_a_test_that_never_ends_is_ended_and_shows_nothing() -> None:
    endless = "import threading\ndef test_waits():\n    threading.Event().wait()\n"

    ruled = Reproducer(Fixtures(), time_limit_s=0.5).judge("unkeyed", endless)

    assert ruled.verdict == "not_reproduced"
    assert "timed out" in ruled.why


@CONTAINED
def test_aol_199_aol_227_without_a_repaired_version_the_test_has_to_fail_in_the_repository_itself() -> None:
    judge = Reproducer(Fixtures())
    real = "from roster.shifts import hours\ndef test_over_midnight():\n    assert hours(22, 6) == 8\n"

    assert judge.judge("unkeyed", real).verdict == "confirmed"
    assert judge.judge("unkeyed", "def test_nothing():\n    assert 1 == 2\n").verdict == "unrunnable"


@pytest.mark.parametrize("name", ["../clix", "nothing-like-it", "CLIX", ""])
def test_aol_222_a_name_that_is_no_fixture_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        Fixtures().info(name)

    assert "clix" in refused.value.fix
