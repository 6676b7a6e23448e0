"""Erasure of evidence: a forgotten row leaves nothing behind, a rejected value is cut out of the rows that hold it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, UnknownEvidence
from hindbrain.domain.evidence import Evidence, EvidenceId, Provenance
from hindbrain.domain.ledger import Act
from hindbrain.engines.chunking import Chunk, without
from hindbrain.engines.row_borders import border_of, head_of, tail_of
from hindbrain.engines.text import folds
from hindbrain.engines.transcripts import Turn
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_erasure import CardErasure
from hindbrain.services.evidence import DELETED, Observations
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import row_print, traces_of, values_of
from hindbrain.services.evidence_rows import Scope
from hindbrain.services.experience.erasing import Value
from hindbrain.services.forgetting import OUT_OF_REACH, Forgetting, walk_sentence
from hindbrain.services.gateway import Gateway, recorded
from hindbrain.services.missions.erasing import MissionErasure, sentence
from hindbrain.stores.port import Mark, Writer

__all__ = ["EvidenceErasure"]

_SENTENCE = 4  # words


class EvidenceErasure:
    """What `forget` and `reject` do to evidence."""

    name = "evidence"

    def __init__(
        self,
        brains: Brains,
        gateway: Gateway,
        observations: Observations,
        batches: Batches,
        cards: CardErasure,
        missions: MissionErasure,
        forgetting: Forgetting,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._gateway = gateway
        self._observations = observations
        self._batches = batches
        self._cards = cards
        self._missions = missions
        self._forgetting = forgetting
        self._clock = clock

    @staticmethod
    def is_id(name: str) -> bool:
        """Whether a name is one of a row of evidence; a claim's slug has no underscore."""
        return name.startswith("ev_")

    # -- forget ------------------------------------------------------------------------------------------------------

    def forget(self, caller: Caller, *, evidence_id: str, reason: str) -> dict[str, Any]:
        """Erase a row and its like for real: text, words, vectors, and its part in what is found around it."""
        self._gateway.check_text(reason)
        home, row = self._observations.holding(caller, evidence_id, deleted=True)
        reached, unreached = [], []
        for brain in self.all_brains(home):
            try:
                with self._brains.use(brain) as opened:
                    if brain.name == home.name:
                        self._gateway.check_hygiene(opened, [reason], site="forget")
                    ids = self._copies(opened, row) if brain.name == home.name else _there(opened, [row.id])
                    if ids:
                        reached.append({"brain": brain.name, **self._erase(caller, opened, row, ids, reason)})
            except (HindbrainError, OSError) as failure:
                if brain.name == home.name:
                    raise
                unreached.append({"brain": brain.name, "reason": str(failure)})
        if not reached:
            raise UnknownEvidence(
                f"there is no evidence {evidence_id[:80]!r} here", fix="hindbrain memory list shows what there is"
            )
        return {
            "ok": True,
            "schema": "hindbrain-forget-v0",
            "evidence_id": row.id,
            "reached": reached,
            "unreached": unreached,
            "rendered": f"Forgot {row.id} in {len(reached)} place(s).{sentence(reached)}{walk_sentence(reached)} {OUT_OF_REACH}",
        }

    def all_brains(self, home: Brain | None) -> list[Brain]:
        """The other brains first: whoever is interrupted finds the row still here, and asking again reaches what is left."""
        shared = [self._brains.home.medulla()] if self._brains.has_medulla() else []
        others = [brain for brain in (*self._brains.all(), *shared) if home is None or brain.name != home.name]
        return [*others, *([home] if home is not None else [])]

    def _copies(self, opened: OpenBrain, row: Evidence) -> list[EvidenceId]:
        """The row itself, and every other one of this brain that says just the same."""
        same, value = set(folds(row.content)), Value([row.content], (), self._gateway.salt(opened))
        like = (one.id for one in _each_with(opened, value) if same & set(folds(one.content)))
        return _there(opened, list(dict.fromkeys((row.id, *like))))

    def _erase(self, caller: Caller, opened: OpenBrain, row: Evidence, ids: Sequence[EvidenceId], reason: str) -> dict[str, Any]:
        salt, now = self._gateway.salt(opened), self._clock()
        rows = list(opened.store.evidence(ids, deleted=True).values())
        with opened.store.writing() as writer:
            writer.append(_act("evidence.forget", caller, salt, ids, now))
            values = values_of(row.content, salt)
            for mark in (*values, *(row_print(salt, id_) for id_ in ids)):
                writer.put_tombstone(mark, at=now, by=caller.agent, reason=reason or "forgotten")
            cards = self._cards.reach(caller, opened, writer, ids, frozenset(values), salt)
            for id_ in ids:
                writer.drop_mark(id_, DELETED)
            # The neighbours first: what they were found by goes out of the index together with the row itself.
            self._batches.put_anew(opened, writer, rows, at=now, documents=True)
            erased = writer.erase_evidence(ids)
            missions = self._missions.reach(caller, opened, writer, [row.content], values)
        walked = self._forgetting.walk(caller, opened, [row.content], values)
        return {"rows": erased, "cards": cards, **self._missions.cleared(opened, missions).told(), **walked}

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Erase the rows that hold a forgotten value, deleted ones too; what stood around it stays, as rows of its own."""
        deleted = [EvidenceId(mark.slug) for mark in opened.store.marks(kind=DELETED)]
        # A path or a single word is a name that many rows share; only a sentence in a name is the value itself.
        sentences = Value([text for text in value.texts if len(text.split()) >= _SENTENCE], value.marks, value.salt)
        hit: dict[EvidenceId, Evidence] = {}
        named: set[EvidenceId] = set()
        joins = _Joins(value)
        for row in chain(opened.store.each_evidence(), opened.store.evidence(deleted, deleted=True).values()):
            if any(map(sentences.held_by, _told_with(row))):
                named.add(row.id)
            holds = value.held_by(row.content)
            if row.id in named or holds:
                hit[row.id] = row
            joins.look_at(row, holds=holds)
        cut = joins.spans()
        hit |= {row.id: row for row, _ in cut.values()}
        if not hit:
            return 0
        now, live = self._clock(), set(opened.store.evidence(list(hit)))
        with opened.store.writing() as writer:
            writer.append(_act("evidence.forget", caller, value.salt, list(hit), now))
            for id_ in hit:
                writer.put_tombstone(row_print(value.salt, id_), at=now, by=caller.agent, reason="forgotten")
                writer.drop_mark(id_, DELETED)
            self._cards.reach(caller, opened, writer, list(hit), value.marks, value.salt)
            self._batches.put_anew(opened, writer, list(hit.values()), at=now, documents=True)
            for id_, row in hit.items():
                spans = [(start, end) for mark, start, end in traces_of(row.content, value.salt) if mark in value.marks]
                spans += cut[id_][1] if id_ in cut else []
                if id_ in live and spans and id_ not in named:
                    self._put_parts(writer, row, spans, value)
            writer.erase_evidence(list(hit))
        return len(hit)

    # -- reject ------------------------------------------------------------------------------------------------------

    def withdraw(self, caller: Caller, opened: OpenBrain, texts: Iterable[str], prints: Collection[str]) -> int:
        """Take a rejected value out of the rows that hold it: what stood around it stays, as rows of its own."""
        salt, marks = self._gateway.salt(opened), frozenset(prints)
        hit: dict[EvidenceId, tuple[Evidence, list[tuple[int, int]]]] = {}
        for row in _each_with(opened, Value(texts, prints, salt)):
            spans = [(start, end) for mark, start, end in traces_of(row.content, salt) if mark in marks]
            if spans:
                hit[row.id] = (row, spans)
        if not hit:
            return 0
        now = self._clock()
        with opened.store.writing() as writer:
            writer.append(_act("evidence.reject", caller, salt, list(hit), now))
            writer.delete_evidence(list(hit), at=now)
            for row, spans in hit.values():
                self._put_rest(caller, writer, row, spans, now)
            self._batches.put_anew(opened, writer, [row for row, _ in hit.values()], at=now)
        return len(hit)

    def _put_rest(self, caller: Caller, writer: Writer, row: Evidence, spans: Sequence[tuple[int, int]], now: int) -> None:
        note = Mark(slug=row.id, kind=DELETED, at=now, by=caller.agent, channel=caller.channel.value, note="rejected")
        writer.put_mark(note)
        self._put_parts(writer, row, spans)

    def _put_parts(self, writer: Writer, row: Evidence, spans: Sequence[tuple[int, int]], value: Value | None = None) -> None:
        """What stood around some spans, as rows of its own; nothing that holds the value inside of a longer sentence."""
        whole = Chunk(start=0, end=len(row.content))
        parts = (row.content[part.start : part.end] for part in without(whole, spans, row.content))
        rest = [_piece(row, part) for part in parts if value is None or not value.held_by(part)]
        writer.put_evidence([(one, self._batches.words(one)) for one in rest])


_Key = tuple[str, str | None, int]  # source, thread, which form of the value
_Place = tuple[int, int]  # of a row in its thread
_Cut = dict[EvidenceId, tuple[Evidence, list[tuple[int, int]]]]


class _Joins:
    """Finds parts of a value where a document was cut into rows: at the end of one and at the start of the next.

    Both parts may make the value, or one row holds it whole and shares some words with its neighbour."""

    def __init__(self, value: Value) -> None:
        self._folded = value.folded
        self._ends: dict[_Key, dict[_Place, tuple[Evidence, int]]] = {}
        self._starts: dict[_Key, dict[_Place, tuple[Evidence, int]]] = {}
        self._whole: dict[_Key, set[_Place]] = {}

    def look_at(self, row: Evidence, *, holds: bool) -> None:
        place = (row.position, row.chunk_index)
        for number, value in enumerate(self._folded):
            key = (row.source, row.thread, number)
            if holds:
                self._whole.setdefault(key, set()).add(place)
            if size := tail_of(row.content, value):
                self._ends.setdefault(key, {})[place] = (row, size)
            if size := head_of(row.content, value):
                self._starts.setdefault(key, {})[place] = (row, size)

    def spans(self) -> _Cut:
        """The rows with a part, and where in their text it is."""
        found: _Cut = {}
        for key, ends in self._ends.items():
            starts, whole = self._starts.get(key, {}), self._whole.get(key, set())
            for place, (row, size) in ends.items():
                for after in _following(place):
                    head = starts[after][1] if after in starts else 0
                    if after in whole or (head and size + head >= len(self._folded[key[2]])):
                        begin = border_of(row.content, size, at_end=True)
                        found.setdefault(row.id, (row, []))[1].append((begin, len(row.content)))
        for key, starts in self._starts.items():
            ends, whole = self._ends.get(key, {}), self._whole.get(key, set())
            known = {after: place for place in (*ends, *whole) for after in _following(place)}
            for place, (row, size) in starts.items():
                before = known.get(place)
                tail = ends[before][1] if before in ends else 0
                if before in whole or (tail and size + tail >= len(self._folded[key[2]])):
                    found.setdefault(row.id, (row, []))[1].append((0, border_of(row.content, size, at_end=False)))
        return found


def _following(place: _Place) -> tuple[_Place, ...]:
    """Where the next row of a thread may be: a piece of the same turn, or the next turn."""
    position, index = place
    return ((position, index + 1), (position + 1, 0), (position + 1, index), (position + 1, index + 1))


def _each_with(opened: OpenBrain, value: Value) -> Iterator[Evidence]:
    """Every live row that may hold a value."""
    return (row for row in opened.store.each_evidence() if value.hinted_in(row.content))


def _told_with(row: Evidence) -> tuple[str, ...]:
    """What somebody wrote about a row, beside its text."""
    return tuple(filter(None, (row.source, row.wing, row.room, row.thread, row.message, row.speaker, *row.tags)))


def _there(opened: OpenBrain, ids: Sequence[EvidenceId]) -> list[EvidenceId]:
    return list(opened.store.evidence(ids, deleted=True))


def _piece(row: Evidence, content: str) -> Evidence:
    """A row like another one, with a part of its text; the id that a later ingest gives it too."""
    scope = Scope(
        source=row.source,
        source_type=row.source_type,
        provenance=row.provenance,
        anchor=row.anchor,
        domain=row.domain,
        field=row.field,
        wing=row.wing,
        room=row.room,
        added_at=row.added_at,
        tags=row.tags,
        importance=row.importance,
        recorded_by=row.recorded_by,
    )
    turn = Turn(
        text=content,
        speaker=row.speaker,
        role=row.role,
        said_at=row.said_at,
        of_people=row.provenance is Provenance.HUMAN,
    )
    made = scope.row(
        content, thread=row.thread, position=row.position, chunk_index=row.chunk_index, message=row.message, turn=turn
    )
    return replace(made, normalize_version=row.normalize_version, origin=row.origin)


def _act(act: str, caller: Caller, salt: str, ids: Sequence[EvidenceId], now: int) -> Act:
    return Act(
        act=act,
        subject="evidence",
        actor=caller.agent,
        channel=caller.channel,
        at=now,
        payload={"rows": len(ids), "ids": [recorded(salt, id_)[:16] for id_ in ids]},
    )
