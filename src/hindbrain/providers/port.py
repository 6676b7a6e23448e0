"""The port of the providers: how a model is asked, what it answers, and the one way in which that fails. Knows no wire."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["LIMITS", "PACE", "Failure", "Key", "Limits", "Pace", "Provider", "ProviderFailed", "Reply", "Usage", "estimated"]

Failure = Literal[
    "broken",  # not what the wire format says: cut, wrong shape, not UTF-8
    "cut",  # the model stopped at max_tokens
    "empty",
    "no_key",
    "rate_limited",
    "redirected",
    "refused",  # the endpoint turned the request away
    "server",
    "stopped",  # the model would not answer
    "timeout",
    "too_large",
    "unreachable",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call cost in tokens; `estimated` when the endpoint did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered. `data` is filled in by who checks the text against a schema."""

    text: str
    usage: Usage
    elapsed_ms: int
    provider: str
    model: str
    tier: int
    data: Any = None


class ProviderFailed(Exception):
    """A model gave no usable answer. `usage` is what it cost nevertheless, where that is known."""

    def __init__(self, kind: Failure, reason: str, *, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.kind: Failure = kind
        self.reason = reason
        self.usage = usage


class Provider(Protocol):
    """One model of one provider."""

    name: str
    model: str
    tier: int

    def complete(
        self,
        role: str,
        system: str,
        user: str,
        *,
        json_schema: Mapping[str, Any] | None = None,
        max_tokens: int,
        temperature: float = 0.0,
        timeout_s: float,
    ) -> Reply:
        """Ask once. Raises ProviderFailed and nothing else. `role` says who asks; the answer does not depend on it."""
        ...

    def reachable(self) -> str | None:
        """None when a call would get through; otherwise why not. Costs no tokens."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how much. A model may think long, but a dead line is noticed soon."""

    connect_s: float = 10.0
    first_byte_s: float = 30.0
    total_s: float = 120.0
    max_bytes: int = 4 * 1024 * 1024


LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a call waits before it tries again. Who tests gives a waiter that does not."""

    wait: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random  # in [0, 1)
    base_s: float = 0.5
    most_s: float = 20.0
    rate_limited: int = 6  # attempts in all at an endpoint that is busy
    broken: int = 3  # attempts in all at one that fails by itself

    def backoff(self, attempt: int) -> float:
        """Seconds before the next attempt: doubled each time, half of it by chance, so that many do not come back at once."""
        whole: float = min(self.base_s * 2**attempt, self.most_s)
        return whole / 2 + whole / 2 * self.jitter()


PACE = Pace()


class Key:
    """A secret that shows itself only to who sends it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def out_of(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self._value, "[key]") if self._value else text

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __reduce__(self) -> Any:
        raise TypeError("a key is not written anywhere")


def estimated(system: str, user: str, text: str) -> Usage:
    """A count for an endpoint that gives none: four characters make a token, rounded up."""
    return Usage(prompt_tokens=-(-(len(system) + len(user)) // 4), completion_tokens=-(-len(text) // 4), estimated=True)
