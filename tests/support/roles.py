"""A voice that keeps what a role said, for tests of one role. It checks paths like the bus and gives its answers."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.errors import BoundaryViolation
from hindbrain.domain.message import TYPES, BusMessage, MessageType, Role
from hindbrain.domain.task import Record
from hindbrain.policy.control import PATHS
from hindbrain.services.control.ports import Heard

__all__ = ["RecordingVoice", "Said", "heard"]

Answer = Record | Callable[[Record], Record | None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing a role said."""

    id: str
    to: Role
    record: Any
    task_id: str | None
    correlation: str | None
    because: Heard | None
    asked: bool = False

    @property
    def type(self) -> MessageType:
        return TYPES[type(self.record)]


class RecordingVoice:
    """Implements `Voice`. What `ask` gets is queued with `answering`: a record, a function of the question, or None."""

    def __init__(self, role: Role, *, at: int = 1_000_000) -> None:
        self.role = role
        self.at = at
        self.log: list[Said] = []
        self.answers: dict[MessageType, deque[Answer]] = {}
        self.timeouts: list[float] = []

    def say(
        self,
        to: Role,
        record: Record,
        *,
        task_id: str | None,
        because: Heard | None = None,
        correlation: str | None = None,
    ) -> str:
        return self._keep(to, record, task_id=task_id, because=because, correlation=correlation, asked=False)

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
        self.timeouts.append(timeout_s)
        got: list[Record | None] = []
        for record in records:
            self._keep(to, record, task_id=task_id, because=because, correlation=None, asked=True)
            waiting = self.answers.get(answers)
            answer = waiting.popleft() if waiting else None
            got.append(answer(record) if callable(answer) else answer)
        return tuple(got)

    def now(self) -> int:
        return self.at

    def answering(self, kind: MessageType, *answers: Answer) -> None:
        """Give these, in order, to who asks for this kind."""
        self.answers.setdefault(kind, deque()).extend(answers)

    def said(self, kind: MessageType) -> list[Any]:
        """The records of this kind, in order."""
        return [one.record for one in self.log if one.type is kind]

    def last(self, kind: MessageType) -> Any:
        return self.said(kind)[-1]

    def _keep(
        self, to: Role, record: Record, *, task_id: str | None, because: Heard | None, correlation: str | None, asked: bool
    ) -> str:
        kind = TYPES[type(record)]
        if PATHS[kind] != (self.role, to):
            raise BoundaryViolation(f"{self.role} may not say {kind} to {to}")
        # What a role says has to survive the wire: built in code, a record is not checked until it is decoded.
        carried = msgspec.convert(msgspec.to_builtins(record), type(record))
        message_id = f"msg_{self.role}_{len(self.log) + 1}"
        self.log.append(
            Said(id=message_id, to=to, record=carried, task_id=task_id, correlation=correlation, because=because, asked=asked)
        )
        return message_id


def heard(record: Record, *, task_id: str | None = None, seq: int = 1, at: str = "1970-01-01T00:16:40.000Z") -> Heard:
    """A record as it is delivered, on its own path."""
    kind = TYPES[type(record)]
    sender, recipient = PATHS[kind]
    message = BusMessage(
        id=f"msg_{kind}_{seq}",
        seq=seq,
        timestamp=at,
        sender=sender,
        recipient=recipient,
        type=kind,
        payload=msgspec.to_builtins(record),
        task_id=task_id if task_id is not None else getattr(record, "task_id", None),
        correlation_id=f"cor_{seq}",
    )
    return Heard(message=message, record=record)
