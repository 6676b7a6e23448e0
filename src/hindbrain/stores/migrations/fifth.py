"""Schema 5: missions, their events and the papers they leave.

The rules of the first schema hold: every key begins with brain_id, and no row refers to another brain's.
"""

from hindbrain.stores.migrations.words import (
    POSTGRES_TYPES,
    SQLITE_TYPES,
    figures,
    guarded,
    kept_in_postgres,
    kept_in_sqlite,
    tables,
)

__all__ = ["POSTGRES", "SQLITE", "TABLES"]

_HERE = "foreign key (brain_id, mission_id) references mission (brain_id, mission_id) on delete restrict"

TABLES: dict[str, str] = {
    # The only row of a mission that changes: how far its events go. Times are milliseconds since 1970, UTC.
    "mission": """(
        brain_id {T} not null, mission_id {T} not null, agent {T} not null, status {T} not null, mode {T} not null,
        parent_id {T}, created_at {N} not null, updated_at {N} not null, seq {N} not null check (seq >= 0), hash {T} not null,
        steps {N} not null check (steps >= 0), told {T} not null, spec {T} not null,
        primary key (brain_id, mission_id)){heap}""",
    # `ledger_seq` is the entry of the ledger that records it.
    "mission_event": f"""(
        brain_id {{T}} not null, mission_id {{T}} not null, seq {{N}} not null check (seq >= 1), event_id {{T}} not null,
        at {{N}} not null, event_type {{T}} not null, hash {{T}} not null, ledger_seq {{N}} not null, body {{T}} not null,
        primary key (brain_id, mission_id, seq), {_HERE}){{heap}}""",
    "mission_paper": f"""(
        brain_id {{T}} not null, paper_id {{T}} not null, mission_id {{T}} not null,
        kind {{T}} not null check (kind in ('handoff', 'proof')), number {{N}} not null, at {{N}} not null, body {{T}} not null,
        primary key (brain_id, paper_id), {_HERE}){{heap}}""",
}

_INDEXES = (
    "create index mission_agent on mission (brain_id, agent, status, created_at, mission_id)",
    "create index mission_time on mission (brain_id, created_at, mission_id)",
    "create index mission_parent on mission (brain_id, parent_id, created_at, mission_id) where parent_id is not null",
    "create unique index mission_event_id on mission_event (brain_id, mission_id, event_id)",
    "create unique index mission_paper_number on mission_paper (brain_id, mission_id, kind, number)",
)

_STATISTICS = (
    ("mission", "sqlite_autoindex_mission_1", "10000 10000 1"),
    ("mission", "mission_agent", "10000 10000 1000 300 1 1"),
    ("mission", "mission_time", "10000 10000 1 1"),
    ("mission", "mission_parent", "2000 2000 2 1 1"),
    ("mission_event", "sqlite_autoindex_mission_event_1", "1000000 1000000 100 1"),
    ("mission_event", "mission_event_id", "1000000 1000000 100 1"),
    ("mission_paper", "sqlite_autoindex_mission_paper_1", "20000 20000 1"),
    ("mission_paper", "mission_paper_number", "20000 20000 2 1 1"),
)

# Only added to, like what is experienced; the note `erasing` lets a brain be emptied, in one transaction.
_KEPT = ("mission_event", "mission_paper")

SQLITE = (
    *tables(TABLES, SQLITE_TYPES),
    *_INDEXES,
    *figures(_STATISTICS),
    *kept_in_sqlite(_KEPT),
)

POSTGRES = (
    *tables(TABLES, POSTGRES_TYPES),
    *_INDEXES,
    *kept_in_postgres(_KEPT),
    *guarded(TABLES),
)
