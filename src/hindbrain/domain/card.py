"""Cards: distilled, governed knowledge. A statement with a rank, a status and cited evidence; moves are a table."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import IllegalMove, InvalidParams
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.domain.ledger import Entry, is_whole

__all__ = [
    "ACTIVE",
    "ACTIVE_OF",
    "NO_HINTS",
    "RANKS",
    "STATEMENT_MAX",
    "Card",
    "CardEvent",
    "CardId",
    "EventType",
    "Hints",
    "Link",
    "Rank",
    "ReasonType",
    "Role",
    "Status",
    "card_id",
    "check_move",
    "check_texts",
    "gave",
    "named_id",
    "slugged",
]

CardId = NewType("CardId", str)

_DIGITS = 24
STATEMENT_MAX = 240  # one line that can be shown by itself


class Rank(StrEnum):
    """How far a card reaches; on the wire `tier`. In the order in which they are read."""

    DAO_TIAN = "dao_tian"
    DAO_REN = "dao_ren"
    SHU = "shu"
    QI = "qi"


RANKS: tuple[Rank, ...] = tuple(Rank)


class Status(StrEnum):
    """How much a card is trusted."""

    CANDIDATE = "candidate"
    PROMOTED = "promoted"
    CANONICAL = "canonical"
    DEMOTED = "demoted"
    RETIRED = "retired"


class Role(StrEnum):
    """What a piece of evidence is to a card."""

    SUPPORTING = "supporting"
    VERIFICATION = "verification"
    COUNTEREXAMPLE = "counterexample"
    TEACHING = "teaching"


class EventType(StrEnum):
    """What can happen to a card."""

    CREATED = "created"
    PROMOTED = "promoted"
    DEMOTED = "demoted"
    RETIRED = "retired"
    LINKED = "linked"
    UNLINKED = "unlinked"
    UPDATED = "updated"
    PUBLISHED = "published_anchor"


class ReasonType(StrEnum):
    """Why a card lost its standing."""

    CONTRADICTED = "contradicted"
    OBSOLETE = "obsolete"
    SUPERSEDED = "superseded"
    OUT_OF_SCOPE = "out_of_scope"
    UNSAFE = "unsafe"


ACTIVE = frozenset((Status.PROMOTED, Status.CANONICAL))
ACTIVE_OF: dict[Rank, Status] = {rank: Status.CANONICAL if rank is Rank.DAO_TIAN else Status.PROMOTED for rank in Rank}

# What may follow what; `None` stands for the one active status of the rank. Retired is final: a successor is distilled anew.
_MOVES: dict[Status, tuple[Status | None, ...]] = {
    Status.CANDIDATE: (None, Status.RETIRED),
    Status.PROMOTED: (Status.DEMOTED, Status.RETIRED),
    Status.CANONICAL: (Status.DEMOTED, Status.RETIRED),
    Status.DEMOTED: (None, Status.RETIRED),
    Status.RETIRED: (),
}


def check_move(rank: Rank, now: Status, to: Status) -> None:
    """Refuse a move that is not in the table."""
    allowed = [status or ACTIVE_OF[rank] for status in _MOVES[now]]
    if to not in allowed:
        open_to = " or ".join(one.value for one in allowed) or "nothing; it is final"
        raise IllegalMove(
            f"a {rank.value} card cannot go from {now.value} to {to.value}: {now.value} leads to {open_to}",
            fix="distill a successor that supersedes it" if now is Status.RETIRED else f"ask for {open_to}",
        )


# The acts that give each status. A card comes in by an import with the status it had, and keeps it when it is published.
_GIVEN_BY: dict[Status, tuple[EventType, ...]] = {
    Status.CANDIDATE: (EventType.CREATED,),
    Status.PROMOTED: (EventType.PROMOTED, EventType.PUBLISHED, EventType.CREATED),
    Status.CANONICAL: (EventType.PROMOTED, EventType.PUBLISHED, EventType.CREATED),
    Status.DEMOTED: (EventType.DEMOTED, EventType.CREATED),
    Status.RETIRED: (EventType.RETIRED, EventType.CREATED),
}


def gave(entry: Entry, *, rank: Rank, status: Status) -> bool:
    """Whether an entry of the ledger could have given a card of this rank this status. A universal law and a status that was
    taken over from elsewhere are given by a person."""
    try:
        told = json.loads(entry.payload)
    except ValueError:
        return False  # somebody wrote over it; what is left of it gives nothing
    if not isinstance(told, dict) or (told.get("to"), told.get("tier")) != (status.value, rank.value):
        return False
    kind = next((one for one in _GIVEN_BY[status] if entry.act == f"card.{one.value}"), None)
    by_person = (status, kind) == (Status.CANONICAL, EventType.PROMOTED) or (status in ACTIVE and kind is EventType.CREATED)
    if kind is None or (by_person and entry.channel != Channel.HUMAN.value):
        return False
    return status not in ACTIVE or is_whole(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What a card may bias: never which skill or tool runs, and never by itself."""

    intent_tags: tuple[str, ...] = ()
    workflow_bias: tuple[str, ...] = ()
    tool_needs: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Sequence[str]] | None) -> "Hints":
        """Hints as a caller wrote them; blank entries are dropped, another key is refused."""
        if unknown := sorted(set(given or {}) - set(cls.__slots__)):
            raise InvalidParams(
                f"trigger_hints knows {', '.join(cls.__slots__)}, not {', '.join(unknown)[:80]}",
                fix=f"give lists under {', '.join(cls.__slots__)}; a skill is never named",
            )
        lists = {name: tuple(dict.fromkeys(filter(None, map(str.strip, words)))) for name, words in (given or {}).items()}
        return cls(**lists)

    def told(self) -> dict[str, list[str]] | None:
        """As JSON shows them; None when there are none."""
        return {name: list(getattr(self, name)) for name in self.__slots__} if self != NO_HINTS else None


NO_HINTS = Hints()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One piece of knowledge. `version` is the ledger entry of its last change, `status_seq` that of its status."""

    id: CardId
    statement: str
    content: str
    rank: Rank
    status: Status
    domain: Domain
    field: str
    anchor: Anchor
    created_at: int
    updated_at: int
    created_by: str
    scope_constraints: str | None = None
    hints: Hints = NO_HINTS
    importance: int = 3
    opt_in: bool = False  # shown in a context only where cards are asked for
    derived_from: CardId | None = None
    supersedes: CardId | None = None
    version: int = 0
    status_seq: int = 0
    backed: bool = True  # the ledger has the entry that gave it its status; a status that was forced in has none

    def __post_init__(self) -> None:
        if self.anchor.kind is AnchorKind.GLOBAL and self.domain is not Domain.GLOBAL:
            raise InvalidParams(
                f"a global anchor needs the domain global, not {self.domain.value}",
                fix="give domain=global, or anchor it at the repository",
            )
        if not 0 <= self.importance <= 5:
            raise InvalidParams(f"importance {self.importance} is not 0 to 5", fix="give importance from 0 to 5")

    @property
    def active(self) -> bool:
        """Whether it may be used: promoted or canonical, and by an act that was recorded."""
        return self.status in ACTIVE and self.backed

    @property
    def source(self) -> str:
        """What stands where evidence has its file."""
        if self.opt_in:
            return f"knowledge-card://{self.id}"
        return f"knowledge://{self.domain.value}/{slugged(self.field)}/{self.rank.value}/{slugged(self.statement)}"

    @property
    def text(self) -> str:
        """What is shown at work: the statement; the content only where an imported card has none."""
        return self.statement if self.statement.strip() else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One piece of evidence in one role. `live` is false once the evidence was deleted: it then counts for nothing."""

    card_id: CardId
    evidence_id: EvidenceId
    role: Role
    note: str = ""
    at: int = 0
    live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CardEvent:
    """How a card changed. `seq` is the ledger entry that records it; `metadata` is JSON text."""

    seq: int
    card_id: CardId
    type: EventType
    reason: str
    actor: str
    channel: str
    at: int
    before: Status | None = None
    after: Status | None = None
    metadata: str = "{}"

    @property
    def id(self) -> str:
        return f"event_{self.card_id.removeprefix('card_')[:12]}_{self.seq}"


def named_id(name: str) -> CardId:
    """The id that somebody gave a card."""
    if not re.fullmatch(r"card_[A-Za-z0-9_-]{1,80}", name):
        raise InvalidParams(f"{name[:100]!r} is no id of a card", fix="write card_ and up to 80 plain characters")
    return CardId(name)


def slugged(text: str) -> str:
    """Lower-case ASCII letters and digits, the rest joined by single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def check_texts(statement: str, content: str, evidence: Iterable[str]) -> None:
    """A statement is one short line, the content says why, and neither is a copy of what was observed."""
    if not statement.strip():
        raise InvalidParams("statement is missing", fix="say in one line what holds")
    lines = len(statement.splitlines())
    if len(statement) > STATEMENT_MAX or lines > 1 or statement[-1] in "\r\n":
        raise InvalidParams(
            f"a statement has one line of at most {STATEMENT_MAX} characters; this one has {lines} and {len(statement)}",
            fix="keep the proposition in statement; reasons and limits belong into content",
        )
    if not content.strip():
        raise InvalidParams("content is missing", fix="say why it holds, and where it does not")
    if _folded(statement) == _folded(content):
        raise InvalidParams("content only repeats the statement", fix="content must add a rationale: why it holds and where not")
    if any(content.strip() == one.strip() for one in evidence):
        raise InvalidParams(
            "content is a copy of its evidence; knowledge must be distilled", fix="say what follows from it, in your own words"
        )


def card_id(
    *,
    statement: str,
    content: str,
    rank: Rank,
    domain: Domain,
    field: str,
    anchor: Anchor,
    scope_constraints: str | None,
    hints: Hints,
    refs: Mapping[Role, Sequence[EvidenceId]],
    opt_in: bool,
) -> CardId:
    """The same knowledge gets the same id. Status and verification change over its life and take no part."""
    parts = {
        "card": [statement, content, rank.value, domain.value, field, scope_constraints or "", opt_in],
        "anchor": [anchor.kind.value, anchor.id, anchor.parent or ""],
        "hints": [sorted(getattr(hints, name)) for name in Hints.__slots__],
        "refs": {role.value: sorted(set(refs.get(role, ()))) for role in Role if role is not Role.VERIFICATION},
    }
    made = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return CardId(f"card_{hashlib.sha256(made.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}")
