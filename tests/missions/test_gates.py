"""Gates of the waves and acceptance, run as somebody runs them: what opens, what does not, and what may be said then."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.domain.wave import Run
from hindbrain.engines.mission_packet import verify_packet
from hindbrain.policy.waves import ACCEPTANCE, WAVES
from hindbrain.services.gates.bench import Bench, NotShown, Shown
from hindbrain.services.gates.running import GATES, Gates
from tests.architecture.source import ROOT
from tests.cli.program import Program
from tests.support.world import World

NOTES = ROOT / "docs" / "strategy" / "waves.md"
LINES = ("checkpoint", "contract", "build", "proof", "non-claim")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="module")
def passed(place: Path) -> Iterator[World]:
    """A home in which all gates and one round of the gym with both arms were run, once for all tests."""
    world = World(place)
    assert world.at(None).call("gate", wave=6)["passed"]
    yield world
    world.close()


def recorded(world: World) -> tuple[Path, Run]:
    path = sorted((world.home.path / "gates").glob("*/results.json"))[-1]
    return path, msgspec.json.decode(path.read_bytes(), type=Run)


def test_aol_290_aol_291_aol_292_aol_293_aol_294_aol_295_the_gates_of_every_wave_open_with_evidence(passed: World) -> None:
    path, run = recorded(passed)

    shown: dict[int, set[str]] = {}
    for one in run.gates:
        assert one.passed, one
        assert one.evidence, one.name
        assert all(Path(file).exists() for file in one.evidence), one
        assert Path(one.evidence[0]).is_relative_to(path.parent)
        shown.setdefault(one.wave, set()).add(one.name)
    assert shown[1] >= {"kernel_calls", "earlier_loop", "guard_in_state", "digest_in_close", "evidence_classes", "adherence"}
    assert shown[2] >= {"light_ingest", "entity_edges", "literal_search", "drift_non_claim"}
    assert shown[3] >= {"flight_report", "flight_stream", "stays_here"}
    assert shown[4] >= {"routes", "direct_proof", "graph_stop", "dissent", "repeated_fixtures"}
    assert shown[5] >= {"stale_runtime", "wrong_workspace", "missing_tools", "dead_transport"}
    assert shown[6] >= {"resumed_work", "dead_paths", "parent_and_child", "no_swarm"}
    # The evidence is what it is called, not only a name: the packet of the first gate can be checked, and can be spoilt.
    packet = next(Path(file) for one in run.gates if one.name == "digest_in_close" for file in one.evidence)
    assert verify_packet(packet.read_bytes()) == ()
    assert verify_packet(packet.read_bytes().replace(b"once too often", b"once too seldom"))


def test_aol_297_gates_of_earlier_waves_run_first_and_one_that_fails_hides_no_other(world: World) -> None:
    ran: list[str] = []

    def gate(name: str) -> Callable[[Bench], Shown]:
        def run(bench: Bench) -> Shown:
            ran.append(name)
            if name == "kernel_calls":
                raise NotShown("the kernel is closed today")
            if name == "earlier_loop":
                raise StoreUnavailable("the store is gone", fix="look for it")
            return Shown(name, (bench.kept(f"{name}.txt", "shown"),))

        return run

    house = world.app.house
    assert house.lane_opener is not None
    these = {name: gate(name) for wave in WAVES.values() for name in wave.gates}
    gates = Gates(world.home, house.gym, opener=house.lane_opener, clock=world.clock, gates=these)

    place, results = gates.run(3, lambda done, total, text: None)

    assert ran == [name for number in (1, 2, 3) for name in WAVES[number].gates]
    closed = {one.name: one for one in results if not one.passed}
    assert {name: one.says for name, one in closed.items()} == {
        "kernel_calls": "the kernel is closed today",
        "earlier_loop": "StoreUnavailable: the store is gone",
    }
    assert all(one.evidence == (str(place),) for one in closed.values()), "where to look"
    assert [one.met for one in gates.conditions()][:2] == [False, True]
    assert world.at(None).call("gate", wave=7)["error"]["code"] == "invalid_params"


def test_aol_298_aol_299_aol_300_aol_302_aol_303_aol_304_each_condition_is_met_by_its_gates(passed: World) -> None:
    told = {one["row"]: one for one in passed.at(None).call("accept", version="v1")["conditions"]}

    for row in ("AOL-298", "AOL-299", "AOL-300", "AOL-302", "AOL-303", "AOL-304"):
        assert told[row]["met"], told[row]
        assert told[row]["evidence"]


def test_aol_301_aol_305_with_a_round_of_three_fixtures_the_version_is_named_and_without_one_it_is_not(
    passed: World, place: Path
) -> None:
    at = passed.at(None)
    before = at.call("accept", version="v1")
    assert (before["accepted"], before["exit_code"]) == (False, 1)
    assert "hindbrain gym run --lanes trained,mission" in before["rendered"]
    assert "v1" not in json.dumps(before), "the name is not said anywhere"
    typed = Program(home=passed.home.path, directory=place, environ={"HINDBRAIN_MODE": "embedded"}).run("accept", "v1")
    assert typed.code == 1
    assert "v1" not in typed.out + typed.err

    assert at.call("gym.run", lanes=["trained", "mission"])["complete"]
    after = at.call("accept", version="v1")

    assert (after["accepted"], after["exit_code"], after["version"]) == (True, 0, "v1")
    assert after["rendered"].splitlines()[-1] == "mission control v1 is accepted"
    recall = next(one for one in after["conditions"] if one["row"] == "AOL-301")
    assert "3 of 3 fixtures" in recall["says"]
    assert Path(recall["evidence"][0]).name == "report.json"


@pytest.mark.parametrize("gone", ["kernel_calls", "resumed_work", "dead_paths", "stale_runtime", "entity_edges"])
def test_aol_305_one_gate_that_fails_refuses(passed: World, gone: str) -> None:
    """After the round, as it stands: each gate of the acceptance can take it away again."""
    path, run = recorded(passed)
    whole = path.read_bytes()
    held = json.loads(whole)
    for one in held["gates"]:
        if one["name"] == gone:
            one["passed"], one["says"] = False, "it did not open"
    path.write_text(json.dumps(held), encoding="utf-8")
    try:
        refused = passed.at(None).call("accept", version="v1")
    finally:
        path.write_bytes(whole)

    assert run.gates
    assert (refused["accepted"], refused["exit_code"]) == (False, 1)
    assert "version" not in refused
    assert f"{gone}: it did not open" in refused["rendered"]


def test_aol_305_gates_of_another_build_count_for_nothing(passed: World) -> None:
    path, _ = recorded(passed)
    whole = path.read_bytes()
    path.write_text(json.dumps({**json.loads(whole), "build": "0123456789abcdef"}), encoding="utf-8")
    try:
        refused = passed.at(None).call("accept", version="v1")
    finally:
        path.write_bytes(whole)

    assert refused["accepted"] is False
    assert "was not run by this build: hindbrain gate 1" in refused["rendered"]


def test_aol_305_every_condition_of_the_seven_has_its_row_and_its_gates() -> None:
    assert [one.row for one in ACCEPTANCE.values()] == [f"AOL-{number}" for number in range(298, 305)]
    known = {(number, name) for number, wave in WAVES.items() for name in wave.gates}
    assert {gate for one in ACCEPTANCE.values() for gate in one.gates} <= known
    assert set(GATES) == {name for _, name in known}


def test_aol_296_every_wave_has_its_note_of_five_lines() -> None:
    """Each line says something, and what it names is there."""
    parts = re.split(r"^## Wave (\d): .+$", NOTES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    notes = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(notes) == ["1", "2", "3", "4", "5", "6"]
    for number, text in notes.items():
        told = dict(re.findall(r"^- ([a-z-]+): (.+)$", text, flags=re.MULTILINE))
        assert tuple(told) == LINES, f"wave {number}"
        assert len(text.strip().splitlines()) == len(LINES), f"wave {number} has more than its five lines"
        for name in re.findall(r"`((?:src|tests|docs)/[^`]+)`", text):
            assert (ROOT / name).exists(), f"wave {number} names {name}"
        assert f"`hindbrain gate {number}`" in told["proof"]
        assert WAVES[int(number)].non_claim in told["non-claim"]
