"""MemPalace: its rows in ChromaDB's chroma.sqlite3 and its facts in knowledge_graph.sqlite3, as plain records of the shape that
mempal's have. Reads the SQLite files themselves, so that no vector database has to be installed."""

from collections.abc import Iterator
from pathlib import Path

from hindbrain.domain.errors import InvalidParams
from hindbrain.policy.legacy import CELL_MAX_BYTES, MEMPALACE_COLLECTION, MEMPALACE_INNER_ROOMS
from hindbrain.stores.foreign_file import ForeignFile, Record

__all__ = ["FACTS", "NAME", "MempalaceFacts", "MempalaceFile", "is_facts", "is_mempalace"]

NAME = "chroma.sqlite3"
FACTS = "knowledge_graph.sqlite3"

_NEEDED = {
    "collections": {"id", "name"},
    "segments": {"id", "collection"},
    "embeddings": {"id", "segment_id", "embedding_id"},
    "embedding_metadata": {"id", "key", "string_value", "int_value", "float_value"},
}
_DOCUMENT = "chroma:document"
# One row a piece of metadata, all of one entry together. Bytes come as bytes: a text may be none.
_ENTRIES = f"""
    select e.id, cast(e.embedding_id as blob), cast(m.key as blob),
        substr(cast(m.string_value as blob), 1, {CELL_MAX_BYTES + 1}), m.int_value, m.float_value
    from embeddings e join segments s on s.id = e.segment_id join collections c on c.id = s.collection
    left join embedding_metadata m on m.id = e.id
    where c.name = ? order by e.id"""


def is_mempalace(file: ForeignFile) -> bool:
    """Whether a database is ChromaDB's with a collection of MemPalace's."""
    if not all(columns <= set(file.tables.get(table, ())) for table, columns in _NEEDED.items()):
        return False
    return any(file.asked("select 1 from collections where name = ?", (MEMPALACE_COLLECTION,)))


def is_facts(file: ForeignFile) -> bool:
    """Whether a database is a knowledge graph of MemPalace's."""
    needed = {"triples": {"id", "subject", "predicate", "object"}, "entities": {"id", "name"}}
    return all(columns <= set(file.tables.get(table, ())) for table, columns in needed.items())


class MempalaceFacts:
    """A knowledge graph by itself: newer versions keep it apart from the palace, in another directory."""

    kind = "mempalace"
    version = 0

    def __init__(self, file: ForeignFile) -> None:
        self._file = file
        self.path: Path = file.path

    def brief(self) -> Iterator[Record]:
        yield from ()

    def rows(self) -> Iterator[Record]:
        yield from ()

    def facts(self) -> Iterator[Record]:
        """Relations with the names of what they relate, as they were typed."""
        if "triples" not in self._file.tables:
            return
        names = {row.get("id"): row.get("name") for row in self._file.rows("entities", ("id", "name"))}
        for row in self._file.rows("triples", tail="order by rowid"):
            named = {side: names.get(row.get(side)) or row.get(side) for side in ("subject", "object")}
            yield row | named | {"source_drawer": row.get("source_drawer_id")}

    def cards(self) -> Iterator[Record]:
        yield from ()

    def outcomes(self) -> Iterator[Record]:
        yield from ()

    def left_out(self) -> dict[str, int]:
        return {}


class MempalaceFile:
    """One palace: the rows, and the facts where they lie beside it."""

    kind = "mempalace"
    version = 0  # ChromaDB counts its own migrations; what is read here has been the same in all of them

    def __init__(self, file: ForeignFile, facts: ForeignFile | None = None) -> None:
        if not is_mempalace(file):
            raise InvalidParams(f"{file.path.name} is not a database of MemPalace", fix=f"give its palace directory or {NAME}")
        self._file = file
        self._facts = facts
        self.path: Path = file.path
        self._inner = 0

    def brief(self) -> Iterator[Record]:
        yield from self.rows()

    def rows(self) -> Iterator[Record]:
        """Every entry that somebody filed, in the order in which it came; the program's own book-keeping is left out."""
        self._inner = 0
        for old_id, told in self._entries():
            if told.get("room") in MEMPALACE_INNER_ROOMS:
                self._inner += 1
                continue
            yield _row(old_id, told)

    def _entries(self) -> Iterator[tuple[str, Record]]:
        held: tuple[int, str, Record] | None = None
        for number, old_id, key, text, whole, broken in self._file.asked(_ENTRIES, (MEMPALACE_COLLECTION,)):
            if held is None or held[0] != number:
                if held is not None:
                    yield held[1], held[2]
                held = (number, str(old_id), {})
            if key is not None:
                held[2][str(key)] = text if text is not None else whole if whole is not None else broken
        if held is not None:
            yield held[1], held[2]

    def facts(self) -> Iterator[Record]:
        if self._facts is not None:
            yield from MempalaceFacts(self._facts).facts()

    def cards(self) -> Iterator[Record]:
        yield from ()

    def outcomes(self) -> Iterator[Record]:
        yield from ()

    def left_out(self) -> dict[str, int]:
        other = self._file.asked(
            "select cast(c.name as blob), count(*) from embeddings e join segments s on s.id = e.segment_id "
            "join collections c on c.id = s.collection where c.name <> ? group by c.name",
            (MEMPALACE_COLLECTION,),
        )
        counts = {str(name): int(number) for name, number in other}
        return counts | ({"registry": self._inner} if self._inner else {})


def _row(old_id: str, told: Record) -> Record:
    """An entry in the shape of a row of mempal."""
    said = told.get("ingest_mode") == "convos"
    diary = told.get("type") == "diary_entry"
    source = told.get("source_file") or None
    return {
        "id": old_id,
        "content": told.get(_DOCUMENT),
        "wing": told.get("wing"),
        "room": told.get("room"),
        "source_file": source,
        "source_type": "conversation" if said else "project" if source and not diary else "manual",
        "added_at": told.get("filed_at") or told.get("date"),
        "chunk_index": told.get("chunk_index"),
        "importance": told.get("importance", 0),
        "memory_kind": "evidence",
        "domain": "project",
        "field": "general",
        "anchor_kind": "repo",
        "anchor_id": "repo://legacy",
        "provenance": "runtime" if diary else None,
        "tags": [tag for tag in (told.get("hall"),) if isinstance(tag, str) and tag.strip()],
        "speaker": told.get("agent") if diary else None,
        "thread": told.get("parent_drawer_id"),
    }
