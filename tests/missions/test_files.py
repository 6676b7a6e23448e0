"""The files of a mission: mirrors that follow each event, survive a killed process, heal themselves and never fail a write."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.handover import FlightRecord
from hindbrain.domain.mission import EventType, MissionEvent, MissionState
from hindbrain.engines.mission_chain import first_break
from hindbrain.services.missions.files import MissionFiles
from hindbrain.services.missions.flight import Flights
from hindbrain.services.missions.log import Draft
from hindbrain.stores.mission_port import StoredPaper
from tests.support.missions import MissionDesk

ID = "msn_01TEST"


class Recorded(MissionDesk):
    """A desk whose log writes its files."""

    def again(self) -> None:
        super().again()
        self.files = MissionFiles(self.log)
        self.log.mirrors.append(self.files.mirror)

    @property
    def place_of(self) -> Path:
        return self.files.directory(self.opened, ID).path

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.place_of / name).read_text().splitlines()]

    def seqs(self) -> tuple[list[int], list[int]]:
        return [one["seq"] for one in self.lines("events.jsonl")], [one["step_id"] for one in self.lines("flight.jsonl")]

    def papers(self) -> None:
        """Hand over, come back, and close, with the papers of both."""
        for type_, kind, payload in (
            (EventType.HANDOFF, "handoff", {"handoff_id": "hnd_1", "leave": True}),
            (EventType.RESUME, None, {}),
            (EventType.CLOSE, "proof", {"status": "closed"}),
        ):
            with self.log.turn(self.opened, self.caller(), ID, over=True) as turn:
                turn.add(Draft(event_type=type_, payload=payload))
                if kind is not None:
                    name = "hnd_1" if kind == "handoff" else ID
                    turn.keep(
                        StoredPaper(
                            paper_id=name, mission_id=ID, kind=kind, number=1, at=self.clock.now, body=json.dumps({"of": kind})
                        )
                    )


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Recorded]:
    made = Recorded(tmp_path)
    yield made
    made.close()


def test_aol_043_the_files_of_a_closed_mission_agree_with_its_log(desk: Recorded) -> None:
    desk.begin()
    desk.add(ID, "file_read", "a.py")
    desk.add(ID, "graph_query", payload={"query": "who calls a"})
    desk.papers()

    place = desk.place_of
    assert place == desk.opened.directory / "missions" / ID
    assert {path.name for path in place.iterdir()} == {
        *("state.json", "events.jsonl", "flight.jsonl", "handoff-1.json", "proof.json", ".lock"),
    }
    events = desk.log.events(desk.opened, ID)
    assert [msgspec.json.decode(line, type=MissionEvent) for line in (place / "events.jsonl").read_bytes().splitlines()] == [
        *events
    ]
    assert first_break(ID, desk.lines("events.jsonl")) is None
    written = [msgspec.json.decode(line, type=FlightRecord) for line in (place / "flight.jsonl").read_bytes().splitlines()]
    assert tuple(written) == Flights(desk.log).records(desk.opened, ID)
    state = msgspec.json.decode((place / "state.json").read_bytes(), type=MissionState)
    assert (state.status.value, state.event_count, state.event_digest) == ("closed", 5, events[-1].hash)
    assert (json.loads((place / "handoff-1.json").read_text()), json.loads((place / "proof.json").read_text())) == (
        {"of": "handoff"},
        {"of": "proof"},
    )


def test_aol_043_the_files_are_for_their_owner_only(desk: Recorded) -> None:
    desk.begin()
    desk.add(ID, "file_read", "a.py")
    desk.papers()

    assert stat.S_IMODE(desk.place_of.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in desk.place_of.iterdir()} == {0o600}


def test_aol_042_the_state_is_the_same_after_a_restart_and_without_its_file(desk: Recorded) -> None:
    desk.begin()
    desk.add(ID, "file_read", "a.py", confidence=0.4)
    desk.add(ID, "dead_path", "b.py", payload={"why": "not reached"})
    with desk.log.reading(desk.opened, ID) as course:
        before = desk.files.state(desk.opened, course)
    (desk.place_of / "state.json").unlink()
    desk.again()
    with desk.log.reading(desk.opened, ID) as course:
        after = desk.files.state(desk.opened, course)

    assert json.loads(before)["event_count"] == 2
    assert after == before == (desk.place_of / "state.json").read_text()


def test_aol_042_the_state_file_does_not_grow_with_the_events(desk: Recorded) -> None:
    desk.begin()
    desk.add(ID, "file_read", "a.py")
    first = (desk.place_of / "state.json").read_bytes()
    desk.add(ID, "file_read", "a.py")

    assert (desk.place_of / "state.json").read_bytes() == first
    assert json.loads(first)["events"] == []


def test_aol_114_five_events_are_five_lines_when_the_process_is_killed(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-m", "tests.missions.dying", str(tmp_path)], capture_output=True, check=False)
    desk = Recorded(tmp_path)

    assert dead.returncode == -9, dead.stderr
    assert desk.seqs() == ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert [one["target"] for one in desk.lines("flight.jsonl")] == [f"src/{number}.py" for number in range(5)]
    assert len(desk.log.events(desk.opened, ID)) == 5
    desk.close()


def test_aol_117_a_deleted_stream_is_made_again_to_the_byte(desk: Recorded) -> None:
    desk.begin()
    for number in range(4):
        desk.add(ID, "file_read" if number % 2 else "graph_query", f"{number}.py", confidence=number / 10)
    desk.papers()
    before = {path.name: path.read_bytes() for path in desk.place_of.iterdir()}
    for path in desk.place_of.iterdir():
        path.unlink()
    desk.again()

    names = desk.files.rebuild(desk.opened, ID)

    assert set(names) == {name for name in before if name != ".lock"}
    assert {path.name: path.read_bytes() for path in desk.place_of.iterdir()} == before


@pytest.mark.parametrize("damage", ["lost", "cut", "behind", "garbage"])
def test_aol_117_the_next_event_heals_a_stream_that_fell_behind(desk: Recorded, damage: str) -> None:
    desk.begin()
    for number in range(3):
        desk.add(ID, "file_read", f"{number}.py")
    for name in ("events.jsonl", "flight.jsonl"):
        path = desk.place_of / name
        whole = path.read_bytes()
        if damage == "lost":
            path.unlink()
        else:
            end = {"cut": whole[:-9], "behind": b"".join(whole.splitlines(keepends=True)[:1]), "garbage": whole + b"not json\n"}
            path.write_bytes(end[damage])
    desk.again()

    desk.add(ID, "file_read", "3.py")

    assert desk.seqs() == ([1, 2, 3, 4], [1, 2, 3, 4])
    assert first_break(ID, desk.lines("events.jsonl")) is None
    assert [one["direct_evidence_count"] for one in desk.lines("flight.jsonl")] == [
        one.direct_evidence_count for one in Flights(desk.log).records(desk.opened, ID)
    ]


def test_aol_043_a_mirror_that_cannot_be_written_fails_no_event_and_is_healed(
    desk: Recorded, caplog: pytest.LogCaptureFixture
) -> None:
    """The place of the directory is taken by a file, as on a disk that went away; later it is free again."""
    missions = desk.opened.directory / "missions"
    missions.write_text("in the way")
    desk.begin()
    desk.add(ID, "file_read", "a.py")
    desk.add(ID, "file_read", "b.py")

    assert [one.target for one in desk.log.events(desk.opened, ID)] == ["a.py", "b.py"]
    assert ID in desk.files.troubles
    assert f"the files of mission {ID} are behind" in caplog.text

    missions.unlink()
    desk.add(ID, "file_read", "c.py")

    assert desk.files.troubles == {}
    assert desk.seqs() == ([1, 2, 3], [1, 2, 3])
    assert json.loads((desk.place_of / "state.json").read_text())["event_count"] == 3


def test_aol_043_a_link_in_the_place_of_a_file_is_not_followed(desk: Recorded, tmp_path: Path) -> None:
    desk.begin()
    desk.add(ID, "file_read", "a.py")
    outside = tmp_path / "outside"
    outside.write_text("mine\n")
    (desk.place_of / "events.jsonl").unlink()
    os.symlink(outside, desk.place_of / "events.jsonl")

    desk.add(ID, "file_read", "b.py")

    assert outside.read_text() == "mine\n"
    assert ID in desk.files.troubles


def test_aol_041_two_writers_of_one_mission_leave_whole_files(tmp_path: Path) -> None:
    """Two desks on one brain, as two processes have: each event is one line, in order, whoever wrote it."""
    desks = [Recorded(tmp_path), Recorded(tmp_path)]
    desks[0].begin()

    def write(desk: Recorded) -> None:
        for number in range(10):
            desk.add(ID, "file_read", f"{number}.py")

    writers = [threading.Thread(target=write, args=(desk,)) for desk in desks]
    for one in writers:
        one.start()
    for one in writers:
        one.join()

    assert desks[0].seqs() == ([*range(1, 21)], [*range(1, 21)])
    assert first_break(ID, desks[0].lines("events.jsonl")) is None
    kept = desks[1].log.events(desks[1].opened, ID)
    assert [one["event_id"] for one in desks[1].lines("events.jsonl")] == [one.event_id for one in kept]
    for desk in desks:
        desk.close()
