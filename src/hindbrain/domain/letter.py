"""Letters: one line of the spool or of a box. Its bytes are the letter; its id is read from them and stored nowhere."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, NewType

__all__ = ["CLOSING", "FIELDS", "TRIAGE", "Letter", "LetterId", "Links", "letter_id"]

LetterId = NewType("LetterId", str)  # the first 12 hexadecimal characters of sha256 over the line, without its end

TRIAGE = "triage"
CLOSING = frozenset({TRIAGE, "receipt"})  # an answer of these classes ends what it answers; any other only moves it

# What is read of a letter, by its name on the line. A letter may say more; the bytes keep it.
FIELDS = (
    "ts",
    "agent",
    "class",
    "kind",
    "repo",
    "brain",
    "tool",
    "what",
    "expected",
    "snippet",
    "answers",
    "verdict",
    "external",
    "case",
)


def letter_id(raw: bytes) -> LetterId:
    """The id of a line, given without its end."""
    return LetterId(hashlib.sha256(raw).hexdigest()[:12])


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """The bytes of one line, without its end, and what is read of them. Everything said in a letter is a stranger's word."""

    id: LetterId
    raw: bytes
    ts: str | None = None
    agent: str | None = None
    klass: str | None = None  # `class` on the line
    kind: str | None = None
    repo: str | None = None
    brain: str | None = None
    tool: str | None = None
    what: str | None = None
    expected: str | None = None
    snippet: str | None = None
    answers: tuple[str, ...] = ()  # ids of letters, as they were written; some may be known to nobody
    verdict: str | None = None
    external: bool = False
    case: str | None = None  # the battery case that a triage names

    @property
    def closes(self) -> bool:
        """Whether its answers end what they answer."""
        return self.klass in CLOSING

    def told(self) -> dict[str, Any]:
        """What is known of it and present, under the names of the line."""
        found = {name: getattr(self, "klass" if name == "class" else name) for name in FIELDS}
        found["answers"] = list(self.answers)
        return {name: value for name, value in found.items() if value not in (None, [], False)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What old letters answer by words such as `L27`: the letters meant, and the references that lead nowhere."""

    answers: dict[LetterId, tuple[LetterId, ...]] = field(default_factory=dict)
    unresolved: dict[LetterId, tuple[str, ...]] = field(default_factory=dict)
