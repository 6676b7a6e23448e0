"""What a role is given: a voice on the bus, and a mind when there is a model. Roles know nothing else of each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hindbrain.domain.message import BusMessage, MessageType, Role
from hindbrain.domain.task import Record

__all__ = ["Heard", "Mind", "Part", "Thought", "Voice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message that was delivered, with its payload decoded and validated."""

    message: BusMessage
    record: Record


class Voice(Protocol):
    """One role's way to speak. What is said is appended to the ledger before anyone hears it; saying never waits for that."""

    role: Role

    def say(
        self,
        to: Role,
        record: Record,
        *,
        task_id: str | None,
        because: Heard | None = None,
        correlation: str | None = None,
    ) -> str:
        """Publish a record; the id of its message. Raises BoundaryViolation or InvalidParams where the bus refuses it."""
        ...

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
        """Publish records and wait for what answers each; None where nothing came in time. Who answers gives the `correlation_id`
        of the message that asked."""
        ...

    def now(self) -> int:
        """Milliseconds since 1970."""
        ...


class Part(Protocol):
    """A role as the bus sees it."""

    hears: frozenset[MessageType]

    def hear(self, heard: Heard) -> None:
        """Act on a message. Called in the order of the ledger, one at a time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What a model answered: cleaned text, the value that its schema was checked against, and who answered."""

    text: str
    data: Any
    provider: str
    model: str
    tier: int


class Mind(Protocol):
    """A model behind a role, whichever provider answers. Metered; never needed."""

    def think(
        self,
        role: Role,
        *,
        task_id: str | None,
        system: str,
        user: str,
        schema: type[Any] | None = None,
        max_tokens: int = 2000,
        timeout_s: float = 120.0,
    ) -> Thought | None:
        """Ask. None when no provider is set or all are spent: the role goes on by its rules. Raises ModelFailed when providers
        are set, none answered and rules are not to stand in."""
        ...

    def tier(self, role: Role) -> int:
        """0 without a model."""
        ...

    def named(self, role: Role) -> str:
        """The providers and models that are asked for a role, in their order."""
        ...
