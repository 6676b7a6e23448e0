"""What R7 writes into experience after each decision, and that it never waits for it."""

import threading
import time
import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import Cancel, MegramNote
from hindbrain.domain.task import OverriddenRule, Record
from hindbrain.policy.control import DEFAULTS, Params
from hindbrain.services.control.bus import Bus
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.solver import Solver
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.support.roles import RecordingVoice, heard
from tests.support.rounds import a_call, a_pass, a_request, a_round, a_summary, an_outcome

MEGRAM, DIRECTIVE = MessageType.MEGRAM, MessageType.PLAN_DIRECTIVE


class Numbers:
    def __init__(self, params: Params = DEFAULTS) -> None:
        self.params = params

    def of(self, task_class: str) -> Params:
        return self.params


class Pen:
    """A solver, and what it wrote."""

    def __init__(self, params: Params = DEFAULTS, **more: Any) -> None:
        self.voice = RecordingVoice(Role.SOLVER)
        self.solver = Solver(self.voice, Numbers(params), **more)
        self._seq = 0

    def after(self, record: Record) -> list[MegramNote]:
        """What this report made it write."""
        before = len(self.voice.said(MEGRAM))
        self._seq += 1
        self.solver.hear(heard(record, seq=self._seq))
        return self.voice.said(MEGRAM)[before:]

    def move(self) -> str:
        return str(self.voice.last(DIRECTIVE).directive)


def pairs(notes: list[MegramNote]) -> list[tuple[str, str, str]]:
    return [(note.state, note.space, note.entity) for note in notes]


def numbers(note: MegramNote) -> tuple[float, float, float]:
    return note.f, note.sigma, note.k


def test_ctl_252_each_new_blocked_target_is_written_once() -> None:
    pen = Pen()
    first = pen.after(a_round(1, 0, calls=[a_call("search", "a")]))
    second = pen.after(a_round(0.5, 0, calls=[a_call("search", "a"), a_call("read", "b"), a_call("read", None)]))

    assert pairs(first) == [("change_path", "tool:search", "path:a")]
    assert pairs(second) == [("refine", "tool:read", "path:b")]
    assert numbers(first[0]) == (0.3, 0.0, 0.2)
    assert numbers(second[0]) == (0.1, 0.5, 0.5)


def test_ctl_253_a_wrong_approach_is_remembered_by_its_calls() -> None:
    pen = Pen()
    pen.after(a_round(1, 1, 30_000))
    found = pen.after(a_round(0.6, 1, 60_000, calls=[a_call("shell", "make"), a_call("shell", None), a_call("shell", "make")]))

    assert pen.move() == "change_approach"
    assert pairs(found) == [("change_approach", "tool:shell", "path:make"), ("change_approach", "tool:shell", "path:*")]
    assert {numbers(note) for note in found} == {(0.85, -1.0, 0.05)}


def test_ctl_253_what_a_wrong_approach_wrote_is_not_written_again_as_a_dead_end() -> None:
    pen = Pen()
    pen.after(a_round(0.5, 1, calls=[a_call("a", "x")]))
    pen.after(a_round(0.8, 1, calls=[a_call("b", "y")]))
    found = pen.after(a_round(0.7, 0, calls=[a_call("c", "z")]))

    assert (pen.move(), pairs(found)) == (
        "refine",
        [("refine", "tool:a", "path:x"), ("refine", "tool:c", "path:z")],  # x was withheld till now; y is written
    )


def a_break(pen: Pen, distance: float = 1.0) -> None:
    assert pen.after(a_round(distance, 1, calls=[a_call("shell", "make")])) == []
    assert pen.move() == "break_symmetry"


def solved() -> Any:
    return an_outcome(a_pass("a"), tool_calls=(a_call("glob", "x"), a_call("glob", "x")))


def test_ctl_254_a_break_is_credited_to_what_worked_after_it() -> None:
    pen = Pen()
    a_break(pen)
    found = pen.after(a_summary(solved()))

    assert pairs(found)[:-1] == [("break_symmetry", "tool:glob", "path:x")]
    assert numbers(found[0]) == (0.75, 1.0, 0.05)
    assert found[-1].state == "accept"


def test_ctl_254_a_break_is_credited_when_the_distance_falls_and_only_once() -> None:
    pen = Pen()
    a_break(pen)
    lower = a_request(*a_round(0.5, 1, calls=[a_call("shell", "again")]).outcomes, solved())
    found = pen.after(lower)

    assert ("break_symmetry", "tool:glob", "path:x") in pairs(found)
    assert "break_symmetry" not in {note.state for note in pen.after(a_summary(solved()))}


def test_ctl_254_a_break_that_brought_nothing_is_not_credited() -> None:
    pen = Pen()
    a_break(pen)
    same = a_request(*a_round(1, 1).outcomes, *a_round(1, 1).outcomes)
    assert "break_symmetry" not in {note.state for note in pen.after(same)}
    assert {note.state for note in pen.after(Cancel(task_id="t1"))} == {"abandon"}


def test_ctl_254_the_credit_can_be_given_at_once() -> None:
    pen = Pen(Params(break_credit="immediate"))
    found = pen.after(a_round(1, 1, calls=[a_call("shell", "make")]))

    assert pairs(found) == [("break_symmetry", "tool:shell", "path:make")]
    assert [note.state for note in pen.after(a_summary(solved()))] == ["accept"]


@pytest.mark.parametrize(
    ("record", "state", "values"),
    [
        (a_summary(), "accept", (0.9, 1.0, 0.05)),
        (a_round(0.25, 0), "success", (0.8, 1.0, 0.05)),
        (a_round(1, 0, 450_000), "abandon", (0.95, -1.0, 0.05)),
    ],
    ids=["accept", "success", "abandon"],
)
def test_ctl_255_ctl_143_each_end_is_one_megram_of_its_intent(record: Record, state: str, values: tuple[float, ...]) -> None:
    (note,) = Pen().after(record)

    assert pairs([note]) == [(state, "intent:build_the_thing", "env:local")]
    assert numbers(note) == values
    assert (note.level, note.x.writer, note.x.task_id) == ("M", "R7", "t1")


def test_ctl_256_ctl_294_an_end_is_told_with_tools_targets_and_result_or_gap() -> None:
    calls = (a_call("read", "y" * 200), a_call("read", "a.txt"), a_call("read", "a.txt"), a_call("ask", None))
    done = an_outcome(a_pass("a"), output=3, tool_calls=calls)
    (well,) = Pen().after(a_summary(done, merged_output={"lines": 3}))
    pen = Pen()
    pen.after(a_round(1, 0, calls=[a_call("search", "q1")]))
    ill = pen.after(a_round(1, 0, 450_000, calls=[a_call("search", "q2")], gap_summary="no file was found"))[-1]

    cut = ("read " + "y" * 200)[:120]
    assert well.content == f'Succeeded. Tools: {cut}, read a.txt, ask. Result: {{"lines": 3}}'
    assert ill.content == "Failed. Tools tried: search q1, search q2. Gap: no file was found"


def test_exp_013_each_megram_names_the_message_round_and_loss_it_comes_from() -> None:
    pen = Pen()
    (note,) = pen.after(a_round(0.5, 0, 30_000, calls=[a_call("search", "a")], mission_id="mis_1"))

    assert note.x.source_event_id == "msg_ReplanRequest_1"
    assert (note.x.round, note.x.mission_id) == (1, "mis_1")
    assert note.x.loss == pen.voice.last(DIRECTIVE).loss
    assert note.created_at == "1970-01-01T00:16:40.000Z"
    assert uuid.UUID(note.id).version == 5


def test_ctl_032_the_same_message_makes_the_same_megrams() -> None:
    record = a_round(0.5, 0, calls=[a_call("search", "a"), a_call("search", "b")])

    assert Pen().after(record) == Pen().after(record)
    assert len({note.id for note in Pen().after(record)}) == 2


def test_ctl_258_each_write_is_a_message_to_memory() -> None:
    pen = Pen()
    pen.after(a_round(0.5, 0, calls=[a_call("search", "a"), a_call("search", "b")]))
    pen.after(a_summary())

    assert [(one.to, one.record.state) for one in pen.voice.log if one.type is MEGRAM] == [
        (Role.MEMORY, "change_path"),
        (Role.MEMORY, "change_path"),
        (Role.MEMORY, "accept"),
    ]


def test_ctl_259_without_memory_the_decisions_are_the_same_and_nothing_is_written() -> None:
    reports = [a_round(d, 0, calls=[a_call("search", str(d))]) for d in (1.0, 0.5)] + [a_summary()]
    pen, blank = Pen(), Pen(memory=False)
    for report in reports:
        pen.after(report)
        assert blank.after(report) == []

    assert [one.record for one in blank.voice.log] == [one.record for one in pen.voice.log if one.type is not MEGRAM]


@pytest.mark.parametrize(("rule", "against"), [(1.0, -1.0), (0.5, -1.0), (0.0, 1.0), (-1.0, 1.0)])
def test_exp_106_ctl_330_ending_well_without_a_rule_speaks_against_it(rule: float, against: float) -> None:
    overridden = (OverriddenRule(id="m-1", space="intent:x", entity="env:local", sigma=rule),)
    found = Pen().after(a_summary(overridden=overridden))
    enough = Pen().after(a_round(0.25, 0, overridden=overridden))

    for notes in (found, enough):
        assert pairs(notes)[1:] == [("dissonance", "intent:x", "env:local")]
        assert numbers(notes[1]) == (0.9, against, 0.05)
    assert [note.state for note in Pen().after(a_round(1, 0, 450_000, overridden=overridden))] == ["abandon"]
    assert [note.state for note in Pen().after(a_summary())] == ["accept"]


def test_exp_102_what_a_person_stated_and_what_held_is_common_sense_at_once() -> None:
    (note,) = Pen().after(a_summary(declarative=True))

    assert (note.level, *numbers(note), note.x.category) == ("C", 1.0, 1.0, 0.0, "fact")


def test_ctl_257_a_decision_does_not_wait_for_a_store_that_is_held_up(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "brain", BRAIN)
    journal = Journal(store, written=lambda: bus.wake(), retry_s=0.01)
    bus = Bus(store, journal, clock=lambda: 1_783_209_431_408, salt="salt")
    solver = Solver(bus.voice(Role.SOLVER), Numbers())
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with store.writing():
            held.set()
            free.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(20)
    calls = [a_call("search", f"q{n}") for n in range(50)]
    started = time.monotonic()
    solver.hear(heard(a_round(0.5, 0, calls=calls)))
    took = time.monotonic() - started
    written = store.messages()
    free.set()
    holder.join()
    assert journal.drain(20)
    kept = [msgspec.json.decode(one.body)["type"] for one in store.messages()]
    journal.close()
    store.close()

    assert took < 10  # of the twenty seconds for which the store is held
    assert written == ()
    assert kept == ["PlanDirective"] + ["Megram"] * 50
