"""Replay: a task that is in the log comes to the same decisions again, whenever and however often it is read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.message import PAYLOADS, BusMessage, MessageType, Role
from hindbrain.domain.task import Criterion, DispatchManifest, ManifestMore, SubTaskOutcome
from hindbrain.policy.control import DEFAULTS, PATHS, Params
from hindbrain.services.control.bus import Bus, decoded
from hindbrain.services.control.journal import Journal
from hindbrain.services.control.meta_validator import MetaValidator
from hindbrain.services.control.ports import Heard
from hindbrain.services.control.solver import Solver
from hindbrain.stores.sqlite import SqliteStore
from tests.stores.conftest import BRAIN
from tests.support.roles import RecordingVoice, heard
from tests.support.rounds import a_call, a_fail, a_pass, an_outcome

DECISIONS = (MessageType.PLAN_DIRECTIVE, MessageType.FINAL_RESULT)


class Numbers:
    def of(self, task_class: str) -> Params:
        return DEFAULTS


class Log:
    """A bus on a real file, and a clock that the test moves."""

    def __init__(self, place: Path) -> None:
        self.now = 1_783_209_431_408
        self.store = SqliteStore(place, BRAIN)
        self.journal = Journal(self.store, written=lambda: None, retry_s=0.01)
        self.bus = Bus(self.store, self.journal, clock=lambda: self.now, salt="salt")

    def messages(self, after: int = 0) -> list[BusMessage]:
        assert self.journal.drain(20)
        return [decoded(one) for one in self.store.messages(after=after)]

    def close(self) -> None:
        self.journal.close()
        self.store.close()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "brain")
    yield made
    made.close()


def as_heard(message: BusMessage) -> Heard:
    return Heard(message=message, record=msgspec.convert(message.payload, PAYLOADS[message.type]))


def a_manifest(number: int) -> DispatchManifest:
    return DispatchManifest(
        task_id="t1",
        subtask_ids=(f"s{number}",),
        dispatched_at="2026-07-05T00:00:00.000Z",
        task_criteria=(Criterion(criterion="it works"),),
        x=ManifestMore(round=number, plan_fingerprint=f"sha256:{number}"),
    )


def outcomes() -> list[SubTaskOutcome]:
    shell, search = (a_call("shell", "make"),), (a_call("search", "how to make"),)
    return [
        an_outcome(a_fail("a", "logical"), a_fail("b", "logical"), name="s1", tool_calls=shell),
        an_outcome(a_fail("a", "logical"), a_pass("b", "e1"), name="s2", tool_calls=search),
        an_outcome(*(a_pass(f"p{n}", "e1") for n in range(4)), a_fail("a", "environmental"), name="s3", output="nearly"),
    ]


def recorded(log: Log) -> None:
    """Three rounds, the last of them good enough, with all that R4b and R7 say to them."""
    gate = MetaValidator(log.bus.voice(Role.META_VALIDATOR), None, Numbers().of)
    solver = Solver(log.bus.voice(Role.SOLVER), Numbers())
    parts: dict[Role, Any] = {Role.META_VALIDATOR: gate, Role.SOLVER: solver}
    cursor = 0
    for number, outcome in enumerate(outcomes(), start=1):
        for record in (a_manifest(number), outcome):
            sender, to = PATHS[MessageType.DISPATCH_MANIFEST if record is not outcome else MessageType.SUB_TASK_OUTCOME]
            log.bus.publish(sender, to, record, task_id="t1")
            log.now += 15_000
            while news := log.messages(cursor):
                cursor = news[-1].seq
                for message in news:
                    if message.recipient in parts and message.type in parts[message.recipient].hears:
                        parts[message.recipient].hear(as_heard(message))


def replayed(log: Log, at: int) -> list[Any]:
    """The decisions of fresh roles on what others had said."""
    gate_voice, solver_voice = RecordingVoice(Role.META_VALIDATOR, at=at), RecordingVoice(Role.SOLVER, at=at)
    gate, solver = MetaValidator(gate_voice, None, Numbers().of), Solver(solver_voice, Numbers())
    for message in log.messages():
        if message.type in gate.hears:
            gate.hear(as_heard(message))
            for said in gate_voice.log:
                solver.hear(heard(said.record, seq=message.seq))
            gate_voice.log.clear()
    return [said.record for said in solver_voice.log if said.type in DECISIONS]


def test_ctl_032_a_recorded_task_comes_to_the_same_decisions_again(log: Log) -> None:
    recorded(log)

    said = [as_heard(one).record for one in log.messages() if one.type in DECISIONS]

    assert [one.directive for one in said] == ["break_symmetry", "change_approach", "success"]  # type: ignore[attr-defined]
    assert replayed(log, at=0) == said
    assert replayed(log, at=9_999_999_999_999) == said
