"""Memories of other programs, made for tests: a palace.db of each of mempal's nine schema versions, and a MemPalace palace."""

import json
import sqlite3
from pathlib import Path
from typing import Any

__all__ = ["MEMPAL_VERSIONS", "Palace", "chroma", "facts", "mempal"]

MEMPAL_VERSIONS = tuple(range(1, 10))

# What each version added, in the order in which mempal migrates.
_STEPS: dict[int, str] = {
    1: """
        CREATE TABLE drawers (
          id TEXT PRIMARY KEY, content TEXT NOT NULL, wing TEXT NOT NULL, room TEXT, source_file TEXT,
          source_type TEXT NOT NULL CHECK (source_type IN ('project','conversation','manual')),
          added_at TEXT NOT NULL, chunk_index INTEGER);
        CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
          valid_from TEXT, valid_to TEXT, confidence REAL DEFAULT 1.0, source_drawer TEXT REFERENCES drawers(id));
        CREATE TABLE taxonomy (wing TEXT NOT NULL, room TEXT NOT NULL DEFAULT '', display_name TEXT, keywords TEXT,
          PRIMARY KEY (wing, room));
        CREATE INDEX idx_drawers_wing ON drawers(wing);""",
    2: "ALTER TABLE drawers ADD COLUMN deleted_at TEXT;",
    3: """
        CREATE VIRTUAL TABLE drawers_fts USING fts5(content, content='drawers', content_rowid='rowid');
        CREATE TRIGGER drawers_ai AFTER INSERT ON drawers BEGIN
          INSERT INTO drawers_fts(rowid, content) VALUES (new.rowid, new.content); END;""",
    4: "ALTER TABLE drawers ADD COLUMN importance INTEGER DEFAULT 0;",
    5: """
        ALTER TABLE drawers ADD COLUMN memory_kind TEXT NOT NULL DEFAULT 'evidence'
          CHECK (memory_kind IN ('evidence','knowledge'));
        ALTER TABLE drawers ADD COLUMN domain TEXT NOT NULL DEFAULT 'project'
          CHECK (domain IN ('project','agent','skill','global'));
        ALTER TABLE drawers ADD COLUMN field TEXT NOT NULL DEFAULT 'general';
        ALTER TABLE drawers ADD COLUMN anchor_kind TEXT NOT NULL DEFAULT 'repo'
          CHECK (anchor_kind IN ('global','repo','worktree'));
        ALTER TABLE drawers ADD COLUMN anchor_id TEXT NOT NULL DEFAULT 'repo://legacy';
        ALTER TABLE drawers ADD COLUMN parent_anchor_id TEXT;
        ALTER TABLE drawers ADD COLUMN provenance TEXT CHECK (provenance IN ('runtime','research','human'));
        ALTER TABLE drawers ADD COLUMN statement TEXT;
        ALTER TABLE drawers ADD COLUMN tier TEXT;
        ALTER TABLE drawers ADD COLUMN status TEXT;
        ALTER TABLE drawers ADD COLUMN supporting_refs TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE drawers ADD COLUMN counterexample_refs TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE drawers ADD COLUMN teaching_refs TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE drawers ADD COLUMN verification_refs TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE drawers ADD COLUMN scope_constraints TEXT;
        ALTER TABLE drawers ADD COLUMN trigger_hints TEXT;
        UPDATE drawers SET provenance = CASE source_type WHEN 'project' THEN 'research' ELSE 'human' END;""",
    6: """
        CREATE TABLE tunnels (id TEXT PRIMARY KEY, left_wing TEXT NOT NULL, left_room TEXT, right_wing TEXT NOT NULL,
          right_room TEXT, label TEXT NOT NULL, created_at TEXT NOT NULL, created_by TEXT, deleted_at TEXT);""",
    7: "ALTER TABLE drawers ADD COLUMN normalize_version INTEGER NOT NULL DEFAULT 1;",
    8: """
        CREATE TABLE knowledge_cards (
          id TEXT PRIMARY KEY, statement TEXT NOT NULL, content TEXT NOT NULL,
          tier TEXT NOT NULL CHECK (tier IN ('qi','shu','dao_ren','dao_tian')),
          status TEXT NOT NULL CHECK (status IN ('candidate','promoted','canonical','demoted','retired')),
          domain TEXT NOT NULL CHECK (domain IN ('project','agent','skill','global')),
          field TEXT NOT NULL DEFAULT 'general',
          anchor_kind TEXT NOT NULL CHECK (anchor_kind IN ('global','repo','worktree')),
          anchor_id TEXT NOT NULL, parent_anchor_id TEXT, scope_constraints TEXT, trigger_hints TEXT,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
        CREATE TABLE knowledge_evidence_links (
          id TEXT PRIMARY KEY, card_id TEXT NOT NULL REFERENCES knowledge_cards(id) ON DELETE RESTRICT,
          evidence_drawer_id TEXT NOT NULL REFERENCES drawers(id) ON DELETE RESTRICT,
          role TEXT NOT NULL CHECK (role IN ('supporting','verification','counterexample','teaching')),
          note TEXT, created_at TEXT NOT NULL, UNIQUE (card_id, evidence_drawer_id, role));
        CREATE TABLE knowledge_events (
          id TEXT PRIMARY KEY, card_id TEXT NOT NULL REFERENCES knowledge_cards(id) ON DELETE RESTRICT,
          event_type TEXT NOT NULL CHECK (event_type IN
            ('created','promoted','demoted','retired','linked','unlinked','updated','published_anchor')),
          from_status TEXT, to_status TEXT, reason TEXT NOT NULL, actor TEXT, metadata TEXT, created_at TEXT NOT NULL);
        CREATE INDEX idx_knowledge_cards_tier_status ON knowledge_cards(tier, status);
        CREATE TRIGGER knowledge_events_no_update BEFORE UPDATE ON knowledge_events
          BEGIN SELECT RAISE(ABORT, 'append-only'); END;
        CREATE TRIGGER knowledge_events_no_delete BEFORE DELETE ON knowledge_events
          BEGIN SELECT RAISE(ABORT, 'append-only'); END;""",
    9: """
        CREATE TABLE runtime_adoption_events (
          id TEXT PRIMARY KEY,
          track TEXT NOT NULL CHECK (track IN
            ('runtime_adoption','card_context','card_embedding','evaluator','research_adapter')),
          signal TEXT NOT NULL CHECK (signal IN
            ('used','accepted','rejected','miss','rollback','contradiction','neutral')),
          feature TEXT NOT NULL, query TEXT, context_hash TEXT,
          card_id TEXT REFERENCES knowledge_cards(id) ON DELETE SET NULL,
          evaluator_id TEXT, research_report_id TEXT, note TEXT, metadata TEXT, created_at TEXT NOT NULL);""",
}

_CHROMA = """
    CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER, database_id TEXT NOT NULL,
      config_json_str TEXT, UNIQUE (name, database_id));
    CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, collection TEXT NOT NULL);
    CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL, seq_id BLOB NOT NULL,
      created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id));
    CREATE TABLE embedding_metadata (id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL, string_value TEXT,
      int_value INTEGER, float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key));"""


class Palace:
    """A palace.db under a test's hands."""

    def __init__(self, path: Path, version: int) -> None:
        self.path = path
        self.version = version
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(path)
        for step in range(1, version + 1):
            self.connection.executescript(_STEPS[step])
        self.connection.execute(f"PRAGMA user_version = {version}")
        self.connection.commit()

    def put(self, table: str, **values: Any) -> None:
        plain = {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in values.items()}
        names = ", ".join(plain)
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(plain))})", list(plain.values()))
        self.connection.commit()

    def row(self, old_id: str, content: Any = "", **more: Any) -> None:
        """One row of evidence."""
        told = {"wing": "app", "source_type": "manual", "added_at": "1777710000", "content": content or f"what {old_id} saw"}
        self.put("drawers", id=old_id, **{**told, **more})

    def knowledge(self, old_id: str, tier: str, status: str, **more: Any) -> None:
        """One knowledge row of the first kind."""
        told = {
            "statement": f"The law of {old_id}",
            "content": f"It holds because {old_id} was seen.",
            "memory_kind": "knowledge",
        }
        self.row(old_id, **{**told, "tier": tier, "status": status, **more})

    def card(self, card_id: str, tier: str, status: str, **more: Any) -> None:
        told = {"statement": f"The law of {card_id}", "content": f"It holds because {card_id} was seen.", "domain": "project"}
        told |= {"anchor_kind": "repo", "anchor_id": "repo://legacy", "created_at": "1777710000", "updated_at": "1777710060"}
        self.put("knowledge_cards", id=card_id, tier=tier, status=status, **{**told, **more})

    def link(self, card_id: str, old_id: str, role: str = "supporting", **more: Any) -> None:
        told = {"id": f"link_{card_id}_{old_id}_{role}", "created_at": "1777710001"}
        self.put("knowledge_evidence_links", card_id=card_id, evidence_drawer_id=old_id, role=role, **{**told, **more})

    def event(self, card_id: str, kind: str, **more: Any) -> None:
        number = self.connection.execute("SELECT count(*) FROM knowledge_events").fetchone()[0]
        told = {"id": f"event_{number}", "reason": f"{kind} there", "actor": "ann", "created_at": str(1777710000 + number)}
        self.put("knowledge_events", card_id=card_id, event_type=kind, **{**told, **more})

    def outcome(self, old_id: str, signal: str = "accepted", **more: Any) -> None:
        told = {"track": "card_context", "feature": "include_cards", "created_at": "1777710000"}
        self.put("runtime_adoption_events", id=old_id, signal=signal, **{**told, **more})

    def close(self) -> str:
        self.connection.close()
        return str(self.path)


def mempal(path: Path, version: int) -> Palace:
    """An empty palace.db of one schema version."""
    return Palace(path, version)


def chroma(directory: Path, rows: list[dict[str, Any]], *, other: list[dict[str, Any]] | None = None) -> str:
    """A MemPalace palace: rows are metadata with their text under `document`; `other` go into its derived collection."""
    directory.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(directory / "chroma.sqlite3")
    connection.executescript(_CHROMA)
    number = 0
    for name, held in (("mempalace_drawers", rows), ("mempalace_closets", other or [])):
        connection.execute("INSERT INTO collections VALUES (?, ?, 384, 'd', '{}')", (f"c-{name}", name))
        connection.execute("INSERT INTO segments VALUES (?, 'metadata', 'METADATA', ?)", (f"s-{name}", f"c-{name}"))
        for row in held:
            number += 1
            told = {"chroma:document" if key == "document" else key: value for key, value in row.items() if key != "id"}
            connection.execute(
                "INSERT INTO embeddings (id, segment_id, embedding_id, seq_id) VALUES (?, ?, ?, ?)",
                (number, f"s-{name}", row["id"], number),
            )
            for key, value in told.items():
                cells = [value if isinstance(value, kind) else None for kind in (str | bytes, int, float)]
                connection.execute("INSERT INTO embedding_metadata VALUES (?, ?, ?, ?, ?, NULL)", (number, key, *cells))
    connection.commit()
    connection.close()
    return str(directory)


def facts(path: Path, *triples: tuple[str, str, str]) -> None:
    """The facts of a MemPalace palace: entities by name, relations by the entities' ids."""
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT DEFAULT 'unknown', properties TEXT DEFAULT '{}',
          created_at TEXT DEFAULT CURRENT_TIMESTAMP);
        CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
          valid_from TEXT, valid_to TEXT, confidence REAL DEFAULT 1.0, source_closet TEXT, source_file TEXT,
          extracted_at TEXT DEFAULT CURRENT_TIMESTAMP);"""
    )
    for number, (subject, predicate, target) in enumerate(triples):
        for name in (subject, target):
            connection.execute("INSERT OR IGNORE INTO entities (id, name) VALUES (?, ?)", (name.lower(), name))
        connection.execute(
            "INSERT INTO triples (id, subject, predicate, object, valid_from) VALUES (?, ?, ?, ?, '2025-10-01')",
            (f"t_{number}", subject.lower(), predicate, target.lower()),
        )
    connection.commit()
    connection.close()
