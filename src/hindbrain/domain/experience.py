"""Experience: what happened when something was tried, as a tuple that fades. Nothing stored is edited; a mistake is answered by
an opposite megram. Owns the values and what becomes of them; how they fade is `policy.fading`, how strongly they count is
`policy.experience`."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NewType

from hindbrain.domain.errors import InvalidParams

__all__ = [
    "Action",
    "Effective",
    "EventKind",
    "Level",
    "Megram",
    "MegramEvent",
    "MegramId",
    "Pair",
    "Potentials",
    "Writer",
    "befallen",
    "fresh",
    "recalled",
]

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

    def __post_init__(self) -> None:
        within = 0 <= self.f <= 1 and -1 <= self.sigma <= 1 and 0 <= self.k < float("inf")
        if not within:
            raise InvalidParams(
                f"f {self.f}, sigma {self.sigma} and k {self.k} are no experience",
                fix="give f from 0 to 1, sigma from -1 to 1, and k that is not negative",
            )
        if self.k and self.level in (Level.C, Level.T):
            raise InvalidParams(f"level {self.level.value} does not fade: k is {self.k}", fix="give k = 0, or level M or K")

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
    origin: int  # from when its age counts: the latest of creation, recall and the last change of its level
    consolidated_at: int | None = None  # since when a rule carries it
    superseded_at: int | None = None  # since when a newer rule stands in its place
    last_recalled_at: int | None = None
    recalls: int = 0

    @property
    def consolidated(self) -> bool:
        return self.consolidated_at is not None

    @property
    def superseded(self) -> bool:
        return self.superseded_at is not None

    @property
    def live(self) -> bool:
        """Whether it still speaks for itself."""
        return self.consolidated_at is None and self.superseded_at is None


def fresh(megram: Megram) -> Effective:
    """A megram to which nothing has happened yet."""
    return Effective(megram=megram, level=megram.level, k=megram.k, origin=megram.created_at)


def befallen(was: Effective, event: MegramEvent) -> Effective:
    """What an event makes of a megram. Each change of its level lets its age begin anew, but never earlier than it does."""
    megram = was.megram
    if event.kind is EventKind.CONSOLIDATED:
        return replace(was, consolidated_at=event.at)
    if event.kind is EventKind.SUPERSEDED:
        return replace(was, superseded_at=event.at)
    if event.kind is EventKind.FORGOTTEN:
        return fresh(megram)  # what is held under this id now was written later
    level, k = event.level, event.k
    if event.kind in (EventKind.DEMOTED, EventKind.PROMOTED_K):
        level = level or Level.K
    if event.kind is EventKind.RESTORED:
        level, k = level or megram.level, megram.k if k is None else k
        was = replace(was, consolidated_at=None, superseded_at=None)
    return replace(was, level=level or was.level, k=was.k if k is None else k, origin=max(was.origin, event.at))


def recalled(was: Effective, at: int) -> Effective:
    """A megram that was used at a time."""
    last = at if was.last_recalled_at is None else max(was.last_recalled_at, at)
    return replace(was, last_recalled_at=last, recalls=was.recalls + 1, origin=max(was.origin, at))


@dataclass(frozen=True, slots=True, kw_only=True)
class Potentials:
    """How much a pair deserves attention, which way it points, and what that advises."""

    attention: float
    decision: float
    action: Action
