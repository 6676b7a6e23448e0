"""SQL rows: the tables of a brain, their columns, and what a transaction offers. Knows no statement of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol

from hindbrain.domain.ledger import GENESIS
from hindbrain.stores.vector_port import Shelf

__all__ = ["COLUMNS", "KEYS", "NUMBERS", "REALS", "Gone", "Head", "Row", "Session", "TextIndex", "insert", "upsert"]

Row = tuple[Any, ...]
Gone = Mapping[Shelf, Sequence[int]]  # turns that are no longer live

# Every table with its columns; what a copy of a brain consists of.
COLUMNS: dict[str, tuple[str, ...]] = {
    "brain_head": (
        *("brain_id", "seq", "hash", "turn", "active_claims", "nodes", "edges", "generation", "forgotten"),
        *("evidence", "evidence_terms", "claim_terms", "card_turn"),
    ),
    "ledger": ("brain_id", "seq", "at", "actor", "channel", "act", "subject", "payload", "prev", "hash"),
    "claim_version": (
        *("brain_id", "slug", "version", "claim_id", "digest", "text", "active", "created", "born_at"),
        *("ended_at", "ended_act", "turn", "terms"),
    ),
    "mark": ("brain_id", "slug", "kind", "at", "marked_by", "channel", "note"),
    "tombstone": ("brain_id", "fingerprint", "at", "put_by", "reason"),
    "boot": ("brain_id", "key", "value", "tags", "source_refs", "updated_at_ms", "updated_by_agent"),
    "anchor": ("brain_id", "slug", "path", "digest"),
    "graph_node": ("brain_id", "id", "owner", "kind", "label", "path"),
    "graph_edge": ("brain_id", "source", "relation", "target", "owner"),
    "intent": ("brain_id", "id", "kind", "payload", "at"),
    "meta": ("brain_id", "key", "value"),
    "counter": ("brain_id", "name", "week", "value"),
    "evidence": (
        *("brain_id", "id", "turn", "content", "source", "source_type", "provenance", "domain", "field", "wing", "room"),
        *("tags", "importance", "chunk_index", "normalize_version", "anchor_kind", "anchor_id", "parent_anchor_id"),
        *("thread", "position", "message", "speaker", "role", "said_at", "added_at", "deleted_at", "changed", "terms", "near"),
        *("recorded_by", "origin_brain"),
    ),
    "source": ("brain_id", "source", "scope", "digest", "normalize_version", "chunks", "done", "at"),
    "card": (
        *("brain_id", "id", "statement", "content", "tier", "status", "domain", "field", "anchor_kind", "anchor_id"),
        *("parent_anchor_id", "scope_constraints", "trigger_hints", "importance", "opt_in", "derived_from", "supersedes"),
        *("created_by", "created_at", "updated_at", "version", "status_seq", "terms"),
    ),
    "card_link": ("brain_id", "card_id", "evidence_id", "role", "note", "at", "place"),
    "card_event": (
        *("brain_id", "seq", "card_id", "event_type", "from_status", "to_status", "reason", "actor", "channel", "metadata"),
        "at",
    ),
    "adoption_event": (
        *("brain_id", "id", "seq", "track", "signal", "feature", "actor", "channel", "at", "query", "context_hash"),
        *("card_id", "evaluator_id", "research_report_id", "note", "metadata"),
    ),
    "foreign_card": ("brain_id", "id", "body", "at"),
    "megram": (
        *("brain_id", "id", "level", "created_at", "space", "entity", "content", "state", "f", "sigma", "k", "writer"),
        *("task_id", "mission_id", "round", "source_event_id", "loss", "category", "tags", "derived_from", "supersedes"),
    ),
    "megram_event": ("brain_id", "seq", "at", "megram_id", "kind", "level", "k", "into_id", "content_sha256", "detail"),
    "megram_clock": (
        *("brain_id", "megram_id", "space", "entity", "created_at", "attention", "decision", "level", "k", "origin"),
        *("fades_at", "consolidated_at", "superseded_at", "last_recalled_at", "recalls"),
    ),
    "megram_tag": ("brain_id", "tag", "megram_id"),
    "megram_pair": ("brain_id", "space", "entity", "unsettled", "watch"),
    "control_message": ("brain_id", "seq", "id", "at", "sender", "recipient", "type", "task_id", "body"),
    "model_call": (
        *("brain_id", "seq", "at", "task_id", "role", "provider", "model", "prompt_tokens", "completion_tokens"),
        *("elapsed_ms", "cost_micros", "outcome", "prompt", "reply"),
    ),
    "mission": (
        *("brain_id", "mission_id", "agent", "status", "mode", "parent_id", "created_at", "updated_at", "seq", "hash"),
        *("steps", "told", "spec"),
    ),
    "mission_event": ("brain_id", "mission_id", "seq", "event_id", "at", "event_type", "hash", "ledger_seq", "body"),
    "mission_paper": ("brain_id", "paper_id", "mission_id", "kind", "number", "at", "body"),
}

# What names a row of each table within its brain.
KEYS: dict[str, tuple[str, ...]] = {
    "brain_head": (),
    "ledger": ("seq",),
    "claim_version": ("slug", "version"),
    "mark": ("slug", "kind"),
    "tombstone": ("fingerprint",),
    "boot": ("key",),
    "anchor": ("slug", "path"),
    "graph_node": ("id", "owner"),
    "graph_edge": ("source", "relation", "target", "owner"),
    "intent": ("id",),
    "meta": ("key",),
    "counter": ("name", "week"),
    "evidence": ("id",),
    "source": ("source", "scope"),
    "card": ("id",),
    "card_link": ("card_id", "evidence_id", "role"),
    "card_event": ("seq",),
    "adoption_event": ("id",),
    "foreign_card": ("id",),
    "megram": ("id",),
    "megram_event": ("seq",),
    "megram_clock": ("megram_id",),
    "megram_tag": ("tag", "megram_id"),
    "megram_pair": ("space", "entity"),
    "control_message": ("seq",),
    "model_call": ("seq",),
    "mission": ("mission_id",),
    "mission_event": ("mission_id", "seq"),
    "mission_paper": ("paper_id",),
}

# Columns of numbers in tables that are written in bulk: a server wants to know the type of an array.
NUMBERS = frozenset(
    (
        *("turn", "importance", "chunk_index", "normalize_version", "position", "said_at", "added_at", "deleted_at", "changed"),
        *("seq", "at", "created_at", "origin", "fades_at", "consolidated_at", "superseded_at", "last_recalled_at", "recalls"),
    )
)
REALS = frozenset(("k", "f", "sigma", "attention", "decision"))


def insert(table: str) -> str:
    columns = COLUMNS[table]
    return f"insert into {table} ({', '.join(columns)}) values ({', '.join('?' * len(columns))})"


def upsert(table: str, *keys: str) -> str:
    changed = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[table] if name not in ("brain_id", *keys))
    return f"{insert(table)} on conflict (brain_id, {', '.join(keys)}) do update set {changed}"


class Session(Protocol):
    """One transaction on one connection. Statements use `?`; a dialect translates."""

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]: ...

    def insert_many(self, table: str, rows: Sequence[Row]) -> None: ...

    def delete_many(self, table: str, keys: Sequence[str], rows: Sequence[Row]) -> None: ...

    def update_many(self, table: str, columns: Sequence[str], keys: Sequence[str], rows: Sequence[Row]) -> None:
        """Give columns of rows new values; each row has the values first and its keys after them."""
        ...


@dataclass(slots=True)
class Head:
    """The head row of a brain while a transaction holds it."""

    seq: int = 0
    hash: str = GENESIS
    turn: int = 0
    active_claims: int = 0
    nodes: int = 0
    edges: int = 0
    generation: int = 0
    forgotten: int = 0  # the highest number of an erased version: none comes back, and no label has to be kept for that
    evidence: int = 0  # live rows
    evidence_terms: int = 0  # words of all live rows, those of their neighbours too
    claim_terms: int = 0  # words of all live claims
    card_turn: int = 0  # grows with each change of a card, its links or their evidence

    def values(self) -> Row:
        return astuple(self)


class TextIndex(Protocol):
    """What follows a row when it changes; each database keeps its own."""

    @property
    def among(self) -> str:
        """A condition on a column: its value is one of a list."""
        ...

    def listed(self, values: Sequence[object]) -> object:
        """A list as the one parameter that `among` takes."""
        ...

    def index_claim(self, session: Session, turn: int, words: str) -> None: ...

    def unindex_claim(self, session: Session, turn: int) -> None: ...

    def index_evidence(self, session: Session, turns: Sequence[int]) -> None:
        """Make rows findable by the words that stand in them."""
        ...

    def unindex_evidence(self, session: Session, turns: Sequence[int]) -> None: ...

    def index_reached(self, session: Session, head: Head) -> None: ...

    def ending(self, session: Session, gone: Gone) -> int:
        """Rows ended in this transaction: what is derived from them goes too, where that can be in the same act."""
        ...

    def erasing(self, session: Session, shelf: Shelf | None) -> None: ...
