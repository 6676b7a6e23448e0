"""The bus: publishing is appending to the ledger, and who listens reads by cursor. Owns paths and delivery."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import BoundaryViolation, InvalidParams
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import PAYLOADS, TYPES, BusMessage, MessageType, Role
from hindbrain.domain.notes import MegramNote
from hindbrain.domain.reading import read_message, read_record
from hindbrain.domain.task import Record
from hindbrain.domain.typed import converted
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.moments import stamped
from hindbrain.policy.control import CONSUMER_LAG, LISTEN_S, PATHS
from hindbrain.services.control.journal import Journal, Ticket
from hindbrain.services.control.ports import Heard
from hindbrain.services.gateway import recorded
from hindbrain.stores.experience_port import StoredMessage
from hindbrain.stores.port import BrainStore, Writer

__all__ = ["Bus", "BusVoice", "Published", "Subscription", "decoded", "delivered"]

LOG = logging.getLogger("hindbrain.bus")
_PAGE = 200  # messages read at once
_ACT = "control.message"
_ENDS = (MessageType.CANCEL, MessageType.FINAL_RESULT)  # nobody answers a question of a task that is over

Deposit = Callable[[Writer, BusMessage, MegramNote], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A message that was handed over; the ticket tells when it is durable."""

    id: str
    ticket: Ticket


def decoded(stored: StoredMessage) -> BusMessage:
    """A message as it was said."""
    return read_message(msgspec.json.decode(stored.body) | {"seq": stored.seq})


def delivered(message: BusMessage) -> bool:
    """Whether anybody may hear it: it took its own path and its payload is of its kind."""
    return PATHS[message.type] == (message.sender, message.recipient) and "refused" not in message.payload


class Bus:
    """One brain's bus. It exists before any role does."""

    def __init__(
        self,
        store: BrainStore,
        journal: Journal,
        *,
        clock: Callable[[], int],
        salt: str,
        actor: str = "hindbrain",
        deposit: Deposit | None = None,
    ) -> None:
        self.store = store
        self._journal = journal
        self._clock = clock
        self._salt = salt
        self._actor = actor
        self._deposit = deposit  # what a Megram becomes, in the transaction that appends it
        self._news = threading.Condition()
        self._turn = 0

    def voice(self, role: Role) -> "BusVoice":
        """The one way for a role to speak."""
        return BusVoice(self, role)

    def subscribe(self, name: str, *, task_id: str | None = None, after: int | None = None) -> "Subscription":
        """Everything that is delivered, from now on or from a sequence on, in order."""
        return Subscription(self, name, task_id=task_id, after=self.store.head()[0] if after is None else after)

    def wake(self) -> None:
        """Something was written: whoever waits looks again."""
        with self._news:
            self._turn += 1
            self._news.notify_all()

    @property
    def turn(self) -> int:
        return self._turn

    def wait(self, turn: int, timeout_s: float) -> None:
        """Until something is written after that turn, or so long."""
        with self._news:
            self._news.wait_for(lambda: self._turn != turn, timeout_s)

    def now(self) -> int:
        return self._clock()

    def publish(
        self,
        sender: Role,
        to: Role,
        record: Record,
        *,
        task_id: str | None,
        correlation: str | None = None,
        causation: str | None = None,
    ) -> Published:
        """Hand a message over. One that takes a path not its own, or is not of its kind, is kept for the auditor and refused."""
        kind = TYPES[type(record)]
        payload, wrong = _checked(kind, record)
        at = self._clock()
        message = BusMessage(
            id=f"msg_{secrets.token_hex(13)}",
            seq=0,
            timestamp=stamped(at),
            sender=sender,
            recipient=to,
            type=kind,
            payload=payload if not wrong else {"refused": wrong},
            task_id=task_id,
            correlation_id=correlation,
            causation_id=causation,
        )
        ticket = self._journal.put(lambda writer: self._append(writer, message, at), droppable=kind is MessageType.MEGRAM)
        if PATHS[kind] != (sender, to):
            raise BoundaryViolation(
                f"{sender.value} may not send {kind.value} to {to.value}",
                fix=f"{kind.value} goes from {PATHS[kind][0].value} to {PATHS[kind][1].value}",
            )
        if wrong:
            raise InvalidParams(f"{kind.value} of {sender.value} is not of its kind: {wrong}", fix="send what its schema says")
        return Published(id=message.id, ticket=ticket)

    def _append(self, writer: Writer, message: BusMessage, at: int) -> int:
        told = msgspec.to_builtins(message)
        del told["seq"]
        body = msgspec.json.encode(told).decode()
        path = {"id": message.id, "type": message.type.value, "from": message.sender.value, "to": message.recipient.value}
        act = Act(
            act=_ACT,
            subject=f"task:{message.task_id or '-'}",
            actor=self._actor,
            channel=Channel.RUNTIME,
            at=at,
            payload=path | {"digest": recorded(self._salt, body)},
        )
        entry = writer.append(act)
        writer.put_message(
            StoredMessage(
                seq=entry.seq,
                id=message.id,
                at=at,
                sender=message.sender.value,
                recipient=message.recipient.value,
                type=message.type.value,
                task_id=message.task_id,
                body=body,
            )
        )
        if message.type is MessageType.MEGRAM and self._deposit is not None and delivered(message):
            self._deposit(writer, message, converted(message.payload, MegramNote))
        return entry.seq


def _checked(kind: MessageType, record: Record) -> tuple[dict[str, Any], str]:
    """The payload as data without secrets, and what is wrong with it."""
    try:
        payload = _clean(msgspec.to_builtins(record))
        converted(payload, PAYLOADS[kind])
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as wrong:
        return {}, str(wrong)[:400]
    return payload, ""


def _clean(value: Any) -> Any:
    """What a tool printed may hold a secret: its line is not kept."""
    if isinstance(value, str):
        return redacted(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {_clean(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value


class Subscription:
    """One reader with its own cursor. A slow one falls behind and catches up; it misses nothing and holds nobody up."""

    def __init__(self, bus: Bus, name: str, *, task_id: str | None, after: int) -> None:
        self._bus = bus
        self.name = name
        self._task_id = task_id
        self.cursor = after
        self._page: list[BusMessage] = []
        self._lagging = False

    def next(self, timeout_s: float, *, ended: threading.Event | None = None) -> Heard | None:
        """The next message that may be heard; None when none comes in that time, or when nobody listens any more."""
        ends = time.monotonic() + timeout_s
        while True:
            turn = self._bus.turn
            for message in self._pending():
                if delivered(message):
                    return Heard(message=message, record=read_record(message.type, message.payload))
            left = ends - time.monotonic()
            if left <= 0 or (ended is not None and ended.is_set()):
                return None
            self._bus.wait(turn, min(left, LISTEN_S))

    def _pending(self) -> Iterator[BusMessage]:
        """What was written after the cursor, which moves with each."""
        while True:
            if not self._page:
                stored = self._bus.store.messages(after=self.cursor, limit=_PAGE + CONSUMER_LAG, task_id=self._task_id)
                self._watch(len(stored))
                self._page = [decoded(one) for one in reversed(stored)]
            if not self._page:
                return
            message = self._page.pop()
            self.cursor = message.seq
            yield message

    def _watch(self, behind: int) -> None:
        if behind > CONSUMER_LAG and not self._lagging:
            LOG.warning("consumer_lag: %s is more than %d messages behind", self.name, CONSUMER_LAG)
        self._lagging = behind > CONSUMER_LAG


class BusVoice:
    """One role's way to speak."""

    def __init__(self, bus: Bus, role: Role) -> None:
        self.role = role
        self._bus = bus

    def say(
        self,
        to: Role,
        record: Record,
        *,
        task_id: str | None,
        because: Heard | None = None,
        correlation: str | None = None,
    ) -> str:
        because_id = because.message.id if because is not None else None
        return self._bus.publish(self.role, to, record, task_id=task_id, correlation=correlation, causation=because_id).id

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
        listening = self._bus.subscribe(f"{self.role.value} asks", task_id=task_id)
        ends = time.monotonic() + timeout_s
        keys = [f"ask_{secrets.token_hex(8)}" for _ in records]
        for key, record in zip(keys, records, strict=True):
            self.say(to, record, task_id=task_id, because=because, correlation=key)
        found: dict[str, Record] = {}
        while len(found) < len(keys) and (left := ends - time.monotonic()) > 0:
            heard = listening.next(left)
            if heard is None or heard.message.type in _ENDS:
                break
            answered = heard.message.correlation_id
            if heard.message.type is answers and heard.message.recipient is self.role and answered in keys:
                found.setdefault(str(answered), heard.record)
        return tuple(found.get(key) for key in keys)

    def now(self) -> int:
        return self._bus.now()
