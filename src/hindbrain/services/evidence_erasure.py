"""Erasure of evidence: a forgotten row leaves nothing behind, a rejected value is cut out of the rows that hold it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, UnknownEvidence
from hindbrain.domain.evidence import Evidence, EvidenceId, Provenance
from hindbrain.domain.ledger import Act
from hindbrain.engines.chunking import Chunk, without
from hindbrain.engines.text import folds, query_terms
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
from hindbrain.stores.vector_port import Shelf

__all__ = ["EvidenceErasure"]

_SAME_MOST = 500  # rows with the words of a value that are looked at


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
        same = set(folds(row.content))
        like = (one.id for one in self._with_words(opened, row.content) if same & set(folds(one.content)))
        return _there(opened, list(dict.fromkeys((row.id, *like))))

    @staticmethod
    def _with_words(opened: OpenBrain, text: str) -> list[Evidence]:
        found = opened.store.find(query_terms(text)[:64], limit=_SAME_MOST, shelf=Shelf.EVIDENCE)
        return list(opened.store.evidence_at(found.turns).values())

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
        rows = {row.id: row for text in value.texts for row in self._with_words(opened, text)}
        deleted = [EvidenceId(mark.slug) for mark in opened.store.marks(kind=DELETED)]
        rows |= opened.store.evidence(deleted, deleted=True)
        hit = {id_: row for id_, row in rows.items() if value.held_by(row.content)}
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
                if id_ in live and spans:
                    self._put_parts(writer, row, spans)
            writer.erase_evidence(list(hit))
        return len(hit)

    # -- reject ------------------------------------------------------------------------------------------------------

    def withdraw(self, caller: Caller, opened: OpenBrain, texts: Iterable[str], prints: Collection[str]) -> int:
        """Take a rejected value out of the rows that hold it: what stood around it stays, as rows of its own."""
        salt, marks = self._gateway.salt(opened), frozenset(prints)
        hit: dict[EvidenceId, tuple[Evidence, list[tuple[int, int]]]] = {}
        for text in texts:
            for row in self._with_words(opened, text):
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

    def _put_parts(self, writer: Writer, row: Evidence, spans: Sequence[tuple[int, int]]) -> None:
        """What stood around some spans, as rows of its own."""
        whole = Chunk(start=0, end=len(row.content))
        rest = [_piece(row, row.content[part.start : part.end]) for part in without(whole, spans, row.content)]
        writer.put_evidence([(one, self._batches.words(one)) for one in rest])


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
    return replace(made, normalize_version=row.normalize_version)


def _act(act: str, caller: Caller, salt: str, ids: Sequence[EvidenceId], now: int) -> Act:
    return Act(
        act=act,
        subject="evidence",
        actor=caller.agent,
        channel=caller.channel,
        at=now,
        payload={"rows": len(ids), "ids": [recorded(salt, id_)[:16] for id_ in ids]},
    )
