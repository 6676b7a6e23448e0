"""Effectors: one executor with its validator for one subtask, on a thread of their own. They hear of their own subtask only, know
no other and no memory, and are gone when it ends."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.task import CorrectionSignal, ExecutionResult, Record, SubTask
from hindbrain.policy.control import LISTEN_S, Params
from hindbrain.services.control.agent_validator import AgentValidator
from hindbrain.services.control.executor import Executor
from hindbrain.services.control.ports import Heard, Mind, Voice
from hindbrain.services.control.tools import Toolbox, path_facts, text_facts

__all__ = ["Effector", "EffectorVoice", "Effectors", "Listening", "Silenced"]


class Listening(Protocol):
    """A reader with its own cursor."""

    def next(self, timeout_s: float) -> Heard | None:
        """The next message; None when none comes in that time."""
        ...


class Silenced(Exception):
    """Its task was cancelled: nothing more is said."""


class EffectorVoice:
    """A voice that falls silent for good when its task is cancelled."""

    def __init__(self, voice: Voice, stopped: threading.Event) -> None:
        self.role = voice.role
        self._voice = voice
        self._stopped = stopped

    def say(
        self,
        to: Role,
        record: Record,
        *,
        task_id: str | None,
        because: Heard | None = None,
        correlation: str | None = None,
    ) -> str:
        if self._stopped.is_set():
            raise Silenced
        return self._voice.say(to, record, task_id=task_id, because=because, correlation=correlation)

    def ask(
        self,
        to: Role,
        records: Sequence[Record],
        *,
        task_id: str | None,
        answers: MessageType,
        timeout_s: float,
        because: Heard | None = None,
    ) -> tuple[Record | None, ...]:
        if self._stopped.is_set():
            raise Silenced
        return self._voice.ask(to, records, task_id=task_id, answers=answers, timeout_s=timeout_s, because=because)

    def now(self) -> int:
        return self._voice.now()


class Effector:
    """The fast loop of one subtask."""

    def __init__(
        self,
        begin: Heard,
        listening: Listening,
        executor: Executor,
        validator: AgentValidator,
        stopped: threading.Event,
        broken: Callable[[str, Exception], None],
    ) -> None:
        if not isinstance(begin.record, SubTask):
            raise TypeError("an effector begins with a subtask")
        self._begin = begin
        self._name = begin.record.subtask_id
        self._listening = listening
        self._executor = executor
        self._validator = validator
        self._stopped = stopped
        self._broken = broken
        self.thread = threading.Thread(target=self._work, name=f"hindbrain-effector-{self._name[-6:]}", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        """Say no more, and end what runs."""
        self._stopped.set()
        self._validator.stop()

    def _work(self) -> None:
        try:
            self._executor.hear(self._begin)
            while not self._stopped.is_set() and not self._validator.ended:
                heard = self._listening.next(LISTEN_S)
                if heard is not None:
                    self._passed_on(heard)
        except Silenced:
            return
        except Exception as failure:  # noqa: BLE001 - the task is told, so that it does not wait for this subtask for ever
            if not self._stopped.is_set():
                self._broken("effector", failure)

    def _passed_on(self, heard: Heard) -> None:
        """Only what is of this subtask."""
        record = heard.record
        if isinstance(record, ExecutionResult) and record.subtask_id == self._name:
            self._validator.hear(heard)
        elif isinstance(record, CorrectionSignal) and record.subtask_id == self._name:
            self._executor.hear(heard)


class Effectors:
    """Makes one effector for each subtask: what a dispatcher starts."""

    def __init__(
        self,
        *,
        listen: Callable[[str], Listening],
        voice: Callable[[Role], Voice],
        box: Toolbox,
        mind: Mind | None,
        numbers: Callable[[str], Params],
        broken: Callable[[str, Exception], None],
    ) -> None:
        self._listen = listen
        self._voice = voice
        self._box = box
        self._mind = mind
        self._numbers = numbers
        self._broken = broken
        self._made: list[Effector] = []

    def join(self, timeout_s: float) -> None:
        """Wait until those that were stopped have let go of what they ran."""
        ends = time.monotonic() + timeout_s
        for effector in self._made:
            effector.thread.join(max(0.0, ends - time.monotonic()))

    def start(self, heard: Heard, task_class: str = "") -> Effector:
        """A new one, at work, with the numbers of its task's class. Its cursor is set before anything is said."""
        params = self._numbers(task_class)
        subtask = heard.record
        if not isinstance(subtask, SubTask):
            raise TypeError("an effector begins with a subtask")
        stopped = threading.Event()
        voices = {role: EffectorVoice(self._voice(role), stopped) for role in (Role.EXECUTOR, Role.AGENT_VALIDATOR)}
        effector = Effector(
            heard,
            self._listen(f"effector {subtask.subtask_id}"),
            Executor(voices[Role.EXECUTOR], self._box, self._mind, params, stopped=stopped),
            AgentValidator(
                voices[Role.AGENT_VALIDATOR],
                subtask,
                path_facts(self._box.workspace),
                self._mind,
                params,
                texts=text_facts(self._box.workspace),
            ),
            stopped,
            self._broken,
        )
        self._made.append(effector)
        effector.start()
        return effector
