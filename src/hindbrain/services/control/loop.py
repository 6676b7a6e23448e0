"""The loop: one task on its way. Each role listens by its own cursor on its own thread; nothing here decides anything."""

import logging
import threading
from collections.abc import Callable, Mapping

from hindbrain.domain.control import FinalResult
from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.message import Role
from hindbrain.domain.notes import Cancel
from hindbrain.policy.control import LISTEN_S
from hindbrain.services.control.bus import Bus, Subscription
from hindbrain.services.control.ports import Heard, Part

__all__ = ["Loop"]

LOG = logging.getLogger("hindbrain.loop")


class Loop:
    """The threads of one task, from its beginning to its final result."""

    def __init__(self, bus: Bus, task_id: str, *, parts: Mapping[Role, Part], dispatcher: Part) -> None:
        self._bus = bus
        self._task_id = task_id
        self._parts = parts
        self._dispatcher = dispatcher
        self._threads: list[threading.Thread] = []
        self._ended = threading.Event()
        self.final: FinalResult | None = None
        self.failed = ""  # why it ended without a final result

    def start(self) -> None:
        """Every listener has its cursor before anything is said."""
        for role, part in self._parts.items():
            self._listen(role.value, _to(role, part), part)
        self._listen("dispatcher", lambda heard: heard.message.type in self._dispatcher.hears, self._dispatcher)
        watching = self._bus.subscribe("end", task_id=self._task_id)
        self._run("end", lambda: self._watch(watching))

    def wait(self, timeout_s: float | None = None) -> bool:
        """True when the task has ended."""
        return self._ended.wait(timeout_s)

    def cancel(self, why: str) -> None:
        """Say so; the controller ends the task."""
        self._bus.voice(Role.USER).say(Role.SOLVER, Cancel(task_id=self._task_id, why=why), task_id=self._task_id)

    def stop(self, timeout_s: float) -> None:
        """End the threads whether or not the task ended."""
        self._ended.set()
        self._bus.wake()
        for thread in self._threads:
            thread.join(timeout_s)

    def _listen(self, name: str, wanted: Callable[[Heard], bool], part: Part) -> None:
        listening = self._bus.subscribe(name, task_id=self._task_id)
        self._run(name, lambda: self._serve(name, listening, wanted, part))

    def _run(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=f"hindbrain-{name}-{self._task_id[-6:]}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self, name: str, listening: Subscription, wanted: Callable[[Heard], bool], part: Part) -> None:
        while not self._ended.is_set():
            heard = listening.next(LISTEN_S, ended=self._ended)
            if heard is None or not wanted(heard):
                continue
            try:
                part.hear(heard)
            except Exception as failure:  # noqa: BLE001 - a role that breaks must not leave its task hanging
                self.broken(name, failure)

    def broken(self, name: str, failure: Exception) -> None:
        """A role failed: the controller is told to end the task; when it is the controller itself, the task ends here."""
        why = failure.message if isinstance(failure, HindbrainError) else f"{type(failure).__name__}: {failure}"
        LOG.error("%s failed in %s: %s", name, self._task_id, why, exc_info=failure)
        self.failed = f"{name} failed: {why}"
        if name == Role.SOLVER.value:
            self._ended.set()
            self._bus.wake()
        else:
            self.cancel(self.failed)

    def _watch(self, watching: Subscription) -> None:
        while not self._ended.is_set():
            heard = watching.next(LISTEN_S, ended=self._ended)
            if heard is not None and isinstance(heard.record, FinalResult):
                self.final = heard.record
                self._ended.set()
                self._bus.wake()


def _to(role: Role, part: Part) -> Callable[[Heard], bool]:
    def wanted(heard: Heard) -> bool:
        return heard.message.recipient is role and heard.message.type in part.hears

    return wanted
