"""SQL evidence: rows of observations in statements that both databases understand. Knows no connection and no full text."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from operator import attrgetter
from typing import ClassVar

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import HindbrainError, InvalidParams, StoreUnavailable
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType
from hindbrain.domain.stored import stored_json
from hindbrain.stores.port import Seat, Source, Voice, Where, Words
from hindbrain.stores.sql_rows import COLUMNS, Head, Row, Session, TextIndex, upsert
from hindbrain.stores.sql_terms import joined
from hindbrain.stores.vector_port import Shelf

__all__ = [
    "LIVE_TURNS",
    "MARKED",
    "SEATS",
    "UNMARKED",
    "EvidenceReads",
    "EvidenceWriter",
    "clashing",
    "evidence_values",
    "where_values",
]

PAGE = 500  # rows of one page of a stream; observations are short

_SHOWN = tuple(name for name in COLUMNS["evidence"] if name not in ("brain_id", "changed", "terms", "near"))
_ROW = f"select {', '.join(f'e.{name}' for name in _SHOWN)} from evidence e where e.brain_id = ?"
_LIVE = f"{_ROW} and e.deleted_at is null"
SEATS = (
    f"select turn, thread, position, message, {', '.join(Voice._fields)} from evidence where brain_id = ? and deleted_at is null"
)
LIVE_TURNS = "select turn from evidence where brain_id = ? and deleted_at is null and turn"
MARKED = f"{_LIVE} and e.importance > 0 order by e.importance desc, e.added_at desc, e.id desc limit ?"
UNMARKED = f"{_LIVE} and e.importance = 0 order by e.turn desc limit ?"
_PLAIN = ("wing", "room", "domain", "field", "provenance", "source_type", "source", "thread", "anchor_kind")
_source_values: Callable[[Source], Row] = attrgetter(*COLUMNS["source"][1:])

_WITHHELD = """
select e.turn, e.id from evidence e where e.brain_id = ? and e.origin_brain is not null and e.deleted_at is null and not exists (
  select 1 from card_link l join card c on c.brain_id = l.brain_id and c.id = l.card_id
  where l.brain_id = e.brain_id and l.evidence_id = e.id and c.status in ('promoted', 'canonical'))"""


def clashing(evidence_id: EvidenceId) -> InvalidParams:
    """The refusal of a second content under one id."""
    return InvalidParams(f"the id {evidence_id} belongs to another content", fix="let the id be made from the content")


def evidence_values(one: Evidence, turn: int, *, changed: int, terms: str, near: str) -> Row:
    """The columns of a row, without the brain."""
    return (
        *(one.id, turn, one.content, one.source, one.source_type.value, one.provenance.value, one.domain.value, one.field),
        *(one.wing, one.room, json.dumps(one.tags, ensure_ascii=False), one.importance, one.chunk_index, one.normalize_version),
        *(one.anchor.kind.value, one.anchor.id, one.anchor.parent, one.thread, one.position, one.message, one.speaker, one.role),
        *(one.said_at, one.added_at, one.deleted_at, changed, terms, near, one.recorded_by, one.origin),
    )


def evidence_of(row: Row) -> Evidence:
    """A row as a value; a row that breaks a rule of the domain was not written by us, and is told and not shown."""
    id_, _, content, source, source_type, provenance, domain, field, wing, room, tags, importance, chunk_index, *rest = row
    normalize_version, kind, anchor_id, parent, thread, position, message, speaker, role, *last = rest
    said_at, added_at, deleted_at, recorded_by, origin = last
    try:
        return Evidence(
            id=id_,
            content=content,
            source=source,
            source_type=SourceType(source_type),
            provenance=Provenance(provenance),
            anchor=Anchor(kind=AnchorKind(kind), id=anchor_id, parent=parent),
            added_at=added_at,
            domain=Domain(domain),
            field=field,
            wing=wing,
            room=room,
            tags=tuple(stored_json(tags, "evidence")) if tags != "[]" else (),
            importance=importance,
            chunk_index=chunk_index,
            normalize_version=normalize_version,
            thread=thread,
            position=position,
            message=message,
            speaker=speaker,
            role=role,
            recorded_by=recorded_by,
            origin=origin,
            said_at=said_at,
            deleted_at=deleted_at,
        )
    except (HindbrainError, ValueError) as error:
        raise StoreUnavailable(
            f"the metadata of evidence {id_} is not valid: {error}", fix="restore the brain from a backup of brain.db"
        ) from error


def where_values(where: Where) -> dict[str, object]:
    """What a filter asks for, by name."""
    held = {name: getattr(where, name) for name in where.__slots__}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in held.items() if value is not None}


class EvidenceWriter:
    """The part of a write transaction that keeps observations."""

    def __init__(self, brain_id: BrainId, session: Session, head: Head, index: TextIndex) -> None:
        self._index = index
        self._session = session
        self._brain = brain_id
        self.head = head
        self.erased = False
        self.gone: dict[Shelf, list[int]] = {shelf: [] for shelf in Shelf}

    def put_evidence(self, rows: Sequence[tuple[Evidence, Words]]) -> tuple[EvidenceId, ...]:
        given: dict[EvidenceId, tuple[Evidence, Words]] = {}
        for one, words in rows:
            if given.setdefault(one.id, (one, words))[0].content != one.content:
                raise clashing(one.id)
        back = set()
        for id_, content, deleted_at in self._among("id, content, deleted_at", list(given)):
            if given[id_][0].content != content:
                raise clashing(id_)
            if deleted_at is None:
                del given[id_]
            else:
                back.add(id_)
        self._keep(list(given.values()), back)
        self._note_cited(list(back))
        return tuple(given)

    def _keep(self, fresh: Sequence[tuple[Evidence, Words]], back: Collection[EvidenceId]) -> None:
        """Rows that are new, and rows that come back: a card may cite those, so they stay where they are."""
        if not fresh:
            return
        first = self.head.turn + 1
        made, again = [], []
        for turn, (one, words) in enumerate(fresh, start=first):
            text, near = joined(words.text), joined(words.near)
            self.head.evidence_terms += _size(text, near)
            live = one if one.deleted_at is None else replace(one, deleted_at=None)
            values = evidence_values(live, turn, changed=turn, terms=text, near=near)
            if one.id in back:
                again.append((*values[1:], self._brain, one.id))
            else:
                made.append((self._brain, *values))
        self.head.turn += len(fresh)
        self.head.evidence += len(fresh)
        self._session.insert_many("evidence", made)
        if again:
            self._session.update_many("evidence", COLUMNS["evidence"][2:], ("brain_id", "id"), again)
        self._index.index_evidence(self._session, range(first, self.head.turn + 1))

    def put_near(self, near: Mapping[EvidenceId, Sequence[str]]) -> None:
        changes, turns = [], []
        for id_, turn, text, had in self._among("id, turn, terms, near", list(near), live=True):
            words = joined(near[id_])
            if words != had:
                self.head.evidence_terms += _size(text, words) - _size(text, had)
                changes.append((words, self.head.turn + 1, self._brain, id_))
                turns.append(turn)
        if changes:
            self.head.turn += 1
            self._session.update_many("evidence", ("near", "changed"), ("brain_id", "id"), changes)
            self._index.unindex_evidence(self._session, turns)
            self._index.index_evidence(self._session, turns)

    def delete_evidence(self, ids: Collection[EvidenceId], *, at: int) -> tuple[EvidenceId, ...]:
        ended = self._end(list(dict.fromkeys(ids)))
        if ended:
            self._session.rows(
                f"update evidence set deleted_at = ?, terms = '', near = '' where brain_id = ? and id {self._index.among}",
                (at, self._brain, self._index.listed(ended)),
            )
        return tuple(ended)

    def _end(self, ids: Sequence[EvidenceId]) -> list[EvidenceId]:
        """Take live rows out of the counts and the index; those that were live, in the order asked for."""
        found = {row[0]: row for row in self._among("id, turn, terms, near", ids, live=True)}
        turns = [row[1] for row in found.values()]
        if found:
            self.head.turn += 1
            self.head.evidence -= len(found)
            self.head.evidence_terms -= sum(_size(text, near) for _, _, text, near in found.values())
            self._index.unindex_evidence(self._session, turns)
            self.gone[Shelf.EVIDENCE] += turns
            self._note_cited(list(found))
        return [id_ for id_ in ids if id_ in found]

    def erase_evidence(self, ids: Collection[EvidenceId]) -> int:
        wanted = list(dict.fromkeys(ids))
        self._end(wanted)
        there = self._among("id", wanted)
        if there:
            self._note_cited(wanted)
            self._session.delete_many("card_link", ("brain_id", "evidence_id"), [(self._brain, id_) for (id_,) in there])
            self._session.delete_many("evidence", ("brain_id", "id"), [(self._brain, id_) for (id_,) in there])
            self._index.erasing(self._session, Shelf.EVIDENCE)
            self.erased = True
        return len(there)

    def observed(self, ids: Collection[EvidenceId]) -> dict[EvidenceId, Evidence]:
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        found = self._session.rows(f"{_LIVE} and e.id {self._index.among}", (self._brain, self._index.listed(wanted)))
        by_id = {row[0]: evidence_of(row) for row in found}
        return {id_: by_id[id_] for id_ in wanted if id_ in by_id}

    def _note_cited(self, ids: Sequence[EvidenceId]) -> None:
        """Rows come or go: cards that cite them stand differently now."""
        statement = f"select 1 from card_link where brain_id = ? and evidence_id {self._index.among} limit 1"
        if ids and self._session.rows(statement, (self._brain, self._index.listed(ids))):
            self.head.card_turn += 1

    def put_source(self, source: Source) -> None:
        values = _source_values(source)
        self._session.rows(upsert("source", "source", "scope"), (self._brain, *values[:-2], int(source.done), source.at))

    def _among(self, columns: str, ids: Sequence[EvidenceId], *, live: bool = False) -> list[Row]:
        if not ids:
            return []
        return self._session.rows(
            f"select {columns} from evidence where brain_id = ? {'and deleted_at is null ' if live else ''}"
            f"and id {self._index.among}",
            (self._brain, self._index.listed(ids)),
        )


def _size(text: str, near: str) -> int:
    return len(text.split()) + len(near.split())


class EvidenceReads(ABC):
    """The reads of observations."""

    brain_id: BrainId
    among: ClassVar[str]
    tagged: ClassVar[str]  # a condition: the row has a tag

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]: ...

    @abstractmethod
    def listed(self, values: Sequence[object]) -> object: ...

    def asking(self) -> AbstractContextManager[Session]:
        """A session for one statement, which sees one state by itself."""
        return self.reading()

    def _asked(self, statement: str, values: Sequence[object]) -> list[Row]:
        with self.asking() as session:
            return session.rows(statement, values)

    def conditions(self, where: Where | None) -> tuple[str, list[object]]:
        """A filter as conditions on a row `e`, each with ` and ` before it."""
        if where is None:
            return "", []
        said, values = "", []  # type: str, list[object]
        for name in _PLAIN:
            if (wanted := getattr(where, name)) is not None:
                said += f" and e.{name} = ?"
                values.append(wanted)
        if where.anchor_ids is not None:
            said += f" and e.anchor_id {self.among}"
            values.append(self.listed(where.anchor_ids))
        if where.tag is not None:
            said += f" and {self.tagged}"
            values.append(where.tag)
        return said, values

    def keys(self, shelf: Shelf, turns: Sequence[int]) -> dict[int, str]:
        if not turns:
            return {}
        source = (
            "slug from claim_version where brain_id = ? and ended_at is null and active = 1"
            if shelf is Shelf.CLAIM
            else "id from evidence where brain_id = ? and deleted_at is null"
        )
        found = self._asked(f"select turn, {source} and turn {self.among}", (self.brain_id, self.listed(turns)))
        return dict(found)

    def seats(self, turns: Sequence[int]) -> dict[int, Seat]:
        if not turns:
            return {}
        found = self._asked(f"{SEATS} and turn {self.among}", (self.brain_id, self.listed(turns)))
        return {turn: Seat(thread, place, message, Voice(*voice)) for turn, thread, place, message, *voice in found}

    def turns(self, where: Where) -> frozenset[int]:
        said, values = self.conditions(where)
        statement = f"select e.turn from evidence e where e.brain_id = ? and e.deleted_at is null{said}"
        return frozenset(row[0] for row in self._asked(statement, (self.brain_id, *values)))

    def withheld(self) -> dict[int, EvidenceId]:
        return dict(self._asked(_WITHHELD, (self.brain_id,)))

    def evidence(self, ids: Sequence[EvidenceId], *, deleted: bool = False) -> dict[EvidenceId, Evidence]:
        if not ids:
            return {}
        found = self._asked(f"{_ROW if deleted else _LIVE} and e.id {self.among}", (self.brain_id, self.listed(ids)))
        by_id = {row[0]: evidence_of(row) for row in found}
        return {id_: by_id[id_] for id_ in ids if id_ in by_id}

    def evidence_at(self, turns: Sequence[int]) -> dict[int, Evidence]:
        if not turns:
            return {}
        found = self._asked(f"{_LIVE} and e.turn {self.among}", (self.brain_id, self.listed(turns)))
        by_turn = {row[1]: evidence_of(row) for row in found}
        return {turn: by_turn[turn] for turn in turns if turn in by_turn}

    def each_evidence(self, where: Where | None = None) -> Iterator[Evidence]:
        said, values = self.conditions(where)
        last = 0
        while page := self._asked(f"{_LIVE}{said} and e.turn > ? order by e.turn limit {PAGE}", (self.brain_id, *values, last)):
            yield from map(evidence_of, page)
            last = page[-1][1]

    def evidence_page(
        self, where: Where, *, anchor_id: str | None = None, limit: int, after: tuple[int, int] | None = None, newest: bool = True
    ) -> tuple[tuple[int, Evidence], ...]:
        said, values = self._anchored(where, anchor_id)
        side, order = ("<", "desc") if newest else (">", "asc")
        if after is not None:
            said += f" and (e.added_at, e.turn) {side} (?, ?)"
            values += after
        ordered = f"{_LIVE}{said} order by e.added_at {order}, e.turn {order} limit ?"
        found = self._asked(ordered, (self.brain_id, *values, max(limit, 0)))
        return tuple((row[1], evidence_of(row)) for row in found)

    def evidence_count(self, where: Where, *, anchor_id: str | None = None) -> int:
        said, values = self._anchored(where, anchor_id)
        counted = f"select count(*) from evidence e where e.brain_id = ? and e.deleted_at is null{said}"
        return int(self._asked(counted, (self.brain_id, *values))[0][0])

    def _anchored(self, where: Where, anchor_id: str | None) -> tuple[str, list[object]]:
        said, values = self.conditions(where)
        if anchor_id is None:
            return said, values
        return f"{said} and (e.anchor_id = ? or e.parent_anchor_id = ?)", [*values, anchor_id, anchor_id]

    def foremost(self, limit: int) -> tuple[Evidence, ...]:
        most = max(limit, 0)
        found = self._asked(MARKED, (self.brain_id, most))
        if left := most - len(found):
            found += self._asked(UNMARKED, (self.brain_id, left))
        return tuple(map(evidence_of, found))

    def thread(self, thread: str, *, first: int, last: int, where: Where | None = None) -> tuple[Evidence, ...]:
        said, values = self.conditions(where)
        found = self._asked(
            f"{_LIVE} and e.thread = ? and e.position between ? and ?{said} order by e.position, e.turn",
            (self.brain_id, thread, first, last, *values),
        )
        return tuple(map(evidence_of, found))

    def evidence_words(self, turns: Sequence[int]) -> dict[int, frozenset[str]]:
        if not turns:
            return {}
        statement = f"select turn, terms from evidence where brain_id = ? and deleted_at is null and turn {self.among}"
        return {turn: frozenset(terms.split()) for turn, terms in self._asked(statement, (self.brain_id, self.listed(turns)))}

    def sources(self, scope: str | None = None) -> tuple[Source, ...]:
        names = COLUMNS["source"][1:]
        only, values = ("and scope = ?", (scope,)) if scope is not None else ("", ())
        found = self._asked(
            f"select {', '.join(names)} from source where brain_id = ? {only} order by source, scope", (self.brain_id, *values)
        )
        return tuple(Source(**{**dict(zip(names, row, strict=True)), "done": bool(row[5])}) for row in found)
