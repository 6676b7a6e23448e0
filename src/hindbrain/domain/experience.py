"""Experience: what happened when something was tried, as a tuple that fades. Nothing stored is edited; a mistake is answered by
an opposite megram. Owns the values; how they fade is `engines.potentials`, how strongly they count is `policy.experience`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

__all__ = ["Action", "Effective", "EventKind", "Level", "Megram", "MegramEvent", "MegramId", "Pair", "Potentials", "Writer"]

MegramId = NewType("MegramId", str)


class Level(StrEnum):
    """How far an experience has hardened: episode, task knowledge, common sense, thinking."""

    M = "M"
    K = "K"
    C = "C"
    T = "T"


class Writer(StrEnum):
    """Who may write experience: the controller, the Dreamer, and the person who owns the machine."""

    SOLVER = "R7"
    DREAMER = "dreamer"
    OPERATOR = "operator"


class Action(StrEnum):
    """What a pair's potentials advise."""

    IGNORE = "Ignore"
    EXPLOIT = "Exploit"
    AVOID = "Avoid"
    CAUTION = "Caution"


class EventKind(StrEnum):
    """What became of a megram after it was written."""

    CONSOLIDATED = "consolidated"
    DEMOTED = "demoted"
    PROMOTED_K = "promoted_k"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Pair:
    """What an experience is about: a kind of act and what it was done to."""

    space: str
    entity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Megram:
    """One experience as it was written. Times are milliseconds since 1970, UTC."""

    id: MegramId
    space: str
    entity: str
    content: str
    state: str
    f: float
    sigma: float
    k: float
    created_at: int
    writer: Writer
    level: Level = Level.M
    task_id: str | None = None
    mission_id: str | None = None
    round: int | None = None
    source_event_id: str | None = None  # the message or decision that caused it
    loss: str | None = None  # JSON text
    category: str | None = None
    tags: tuple[str, ...] = ()
    derived_from: tuple[MegramId, ...] = ()
    supersedes: MegramId | None = None

    @property
    def pair(self) -> Pair:
        return Pair(space=self.space, entity=self.entity)


@dataclass(frozen=True, slots=True, kw_only=True)
class MegramEvent:
    """Something that befell a megram. Only added to. A forgotten one keeps the digest of its words, not the words."""

    megram_id: MegramId
    kind: EventKind
    at: int
    seq: int = 0  # given by the store
    level: Level | None = None
    k: float | None = None
    into_id: MegramId | None = None
    content_sha256: str | None = None
    detail: str = "{}"  # JSON text


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """A megram as it counts now: its level, decay and age after everything that befell it."""

    megram: Megram
    level: Level
    k: float
    origin: int  # from when its age counts: the latest of creation, recall and demotion
    consolidated: bool = False
    superseded: bool = False
    last_recalled_at: int | None = None
    recalls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Potentials:
    """How much a pair deserves attention, which way it points, and what that advises."""

    attention: float
    decision: float
    action: Action
