"""Evidence: single observations, recorded, looked at, taken away and brought back. Raw, word for word, and never knowledge."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import ClaimTooLarge, InvalidParams, Rejected, UnknownEvidence
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType
from hindbrain.domain.ledger import Act
from hindbrain.engines.chunking import Chunk, Shape, chunked
from hindbrain.engines.moments import stamped
from hindbrain.engines.own_text import without_own_text
from hindbrain.engines.transcripts import Turn
from hindbrain.policy.evidence import RECORD_MAX_BYTES, SOURCE_MAX, WORD_MAX
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence_anchor import Anchors
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import (
    check_human,
    check_tags,
    check_word,
    default_provenance,
    field_hint,
    row_print,
    traces_of,
)
from hindbrain.services.evidence_rows import Piece, Scope
from hindbrain.services.gateway import Gateway, recorded
from hindbrain.services.routing import Router
from hindbrain.stores.port import Mark, Where

__all__ = ["DELETED", "Observation", "Observations", "iso", "wire_row"]

DELETED = "evidence_deleted"
_LAST = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a caller saw, and where it belongs."""

    text: str
    wing: str = ""
    room: str | None = None
    domain: Domain = Domain.PROJECT
    field: str = "general"
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    importance: int = 0
    source: str | None = None
    thread: str | None = None
    message: str | None = None
    speaker: str | None = None
    role: str | None = None
    said_at: int | None = None
    anchor_kind: str | None = None
    anchor_id: str | None = None
    cwd: str | None = None
    branch_local: bool = False
    whole: bool = False  # one row, however long
    dry_run: bool = False

    def names(self) -> dict[str, str]:
        """The short words beside the text."""
        held = {
            name: getattr(self, name) for name in ("wing", "room", "field", "thread", "message", "speaker", "role", "anchor_id")
        }
        return {name: value for name, value in held.items() if value}


def iso(at: int | None) -> str | None:
    """A time as people and other programs read it."""
    return stamped(at) if at is not None else None


def wire_row(row: Evidence) -> dict[str, Any]:
    """A row as every surface shows it: with its citation, its scope and its place in a conversation."""
    return {
        "id": row.id,
        "evidence_id": row.id,
        "memory_kind": "evidence",
        "content": row.content,
        "wing": row.wing,
        "room": row.room,
        "source_file": row.source,
        "source_type": row.source_type.value,
        "provenance": row.provenance.value,
        "domain": row.domain.value,
        "field": row.field,
        "anchor_kind": row.anchor.kind.value,
        "anchor_id": row.anchor.id,
        "parent_anchor_id": row.anchor.parent,
        "tags": list(row.tags),
        "importance": row.importance,
        "chunk_index": row.chunk_index,
        "normalize_version": row.normalize_version,
        "thread": row.thread,
        "position": row.position,
        "message_id": row.message or None,
        "speaker": row.speaker,
        "role": row.role,
        "recorded_by": row.recorded_by,
        "origin": row.origin,
        "said_at": iso(row.said_at),
        "added_at": iso(row.added_at),
        "deleted_at": iso(row.deleted_at),
    }


class Observations:
    """Single observations of a brain."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        anchors: Anchors,
        gateway: Gateway,
        batches: Batches,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._anchors = anchors
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    # -- in ----------------------------------------------------------------------------------------------------------

    def record(self, caller: Caller, seen: Observation) -> dict[str, Any]:
        """Keep one observation. The same one again is no second row."""
        self._check(seen)
        check_human(caller, seen.provenance)
        seen = replace(seen, text=without_own_text(seen.text))
        if not seen.text:
            raise InvalidParams("the text is only what Hindbrain itself showed", fix="say what was observed, in other words")
        provenance = seen.provenance or default_provenance(caller.channel)
        placed = self._anchors.placed(
            caller,
            domain=seen.domain,
            provenance=provenance,
            kind=seen.anchor_kind,
            anchor_id=seen.anchor_id,
            cwd=seen.cwd,
            branch_local=seen.branch_local,
        )
        with self._brains.use(placed.brain) as opened:
            texts = [seen.text, seen.source or "", *seen.names().values(), *seen.tags]
            self._gateway.check_hygiene(opened, texts, site="record")
            salt = "" if seen.dry_run and opened.store.meta("salt") is None else self._gateway.salt(opened)
            scope = Scope(
                source=seen.source or "",
                source_type=SourceType.CONVERSATION if seen.thread is not None else SourceType.MANUAL,
                provenance=provenance,
                anchor=placed.anchor,
                domain=seen.domain,
                field=seen.field,
                wing=seen.wing,
                room=seen.room,
                added_at=self._clock(),
                tags=seen.tags,
                importance=seen.importance,
                recorded_by=caller.signature,
            )
            piece = self._piece(opened, seen, scope, salt)
            if opened.store.tombstones([mark for mark, _, _ in piece.traces]):
                raise Rejected(
                    f"this value was rejected or forgotten in {placed.brain.display_name}",
                    fix="record what holds instead; a person can lift the rejection in a terminal",
                )
            hinted = field_hint(opened, seen.field)
            if seen.dry_run:
                kept = self._batches.planned(opened, scope, [piece], salt)
            else:
                kept = self._batches.put(caller, opened, scope, [piece], salt, act="evidence.record", revive=True)
            row = opened.store.evidence(kept.seen[:1]).get(kept.seen[0]) if kept.seen else None
        if not kept.seen:
            raise Rejected("the value was rejected a moment ago", fix="record what holds instead")
        created = bool(kept.created)
        return {
            "ok": True,
            "schema": "hindbrain-record-v0",
            "evidence_id": kept.seen[0],
            "evidence_ids": kept.seen,
            "created": created,
            "dry_run": seen.dry_run,
            "brain": placed.brain.name,
            "source_file": row.source if row else seen.source,
            "provenance": scope.provenance_of(piece.turn).value,
            "anchor_kind": placed.anchor.kind.value,
            "anchor_id": placed.anchor.id,
            "parent_anchor_id": placed.anchor.parent,
            **hinted,
            "rendered": f"{'Kept' if created else 'Already there'}: {kept.seen[0]} in {placed.brain.display_name}.",
        }

    def _check(self, seen: Observation) -> None:
        if not seen.text.strip():
            raise InvalidParams("the text is empty", fix="say what was observed")
        size = len(seen.text.encode("utf-8", "surrogatepass"))
        if size > RECORD_MAX_BYTES:
            raise ClaimTooLarge(
                f"the observation has {size} bytes; {RECORD_MAX_BYTES} is the most",
                fix="hindbrain memory ingest takes documents of any kind",
            )
        self._gateway.check_text(seen.text)
        for name, value in seen.names().items():
            check_word(value, name, SOURCE_MAX if name == "anchor_id" else WORD_MAX)
        if seen.source is not None:
            check_word(seen.source, "source", SOURCE_MAX)
        check_tags(seen.tags)

    def _piece(self, opened: OpenBrain, seen: Observation, scope: Scope, salt: str) -> Piece:
        """The observation whole when an embedder can read it whole, else in chunks; at the end of its thread if it has one."""
        chunks = chunked(seen.text, Shape.MESSAGE)
        if len(chunks) == 1 or seen.whole:
            chunks = [Chunk(start=0, end=len(seen.text))]
        first, message, thread = 0, seen.message or "", seen.thread
        if thread is None and len(chunks) > 1:
            # A long text is a thread of its own chunks, so that they stand in order and beside each other.
            thread = f"text-{hashlib.sha256(seen.text.encode()).hexdigest()[:24]}"
        elif seen.thread is not None:
            held = [
                row
                for row in opened.store.thread(seen.thread, first=0, last=_LAST, where=Where(anchor_ids=(scope.anchor.id,)))
                if (row.wing, row.room) == (scope.wing, scope.room)
            ]
            same = [row.position for row in held if message and row.message == message]
            first = min(same) if same else max((row.position for row in held), default=-1) + 1
        turn = Turn(text=seen.text, thread=thread, message=message, speaker=seen.speaker, role=seen.role, said_at=seen.said_at)
        return Piece(
            text=seen.text,
            turn=turn,
            thread=thread,
            first=first,
            chunks=chunks,
            secrets=(),
            traces=traces_of(seen.text, salt),
            document=False,
        )

    # -- looking -----------------------------------------------------------------------------------------------------

    def readable(self, caller: Caller, tier: str | None) -> list[Brain]:
        """The brains a read goes to: the caller's own and the medulla, or the one that is named."""
        if tier not in (None, "", "project", MEDULLA):
            raise InvalidParams(f"tier {tier!r} means nothing here", fix="leave tier out, or give project or medulla")
        shared = [self._brains.home.medulla()] if self._brains.has_medulla() else []
        if tier == MEDULLA:
            return shared
        own = self._router.route(caller).brain
        return [*([own] if own is not None else []), *(shared if tier != "project" else [])]

    def holding(self, caller: Caller, evidence_id: str, *, deleted: bool = False) -> tuple[Brain, Evidence]:
        """The row with an id, and the brain that has it."""
        for brain in self.readable(caller, None):
            with self._brains.use(brain) as opened:
                id_ = EvidenceId(evidence_id)
                found = opened.store.evidence([id_], deleted=deleted).get(id_)
                # Until an active card cites it, a copy in the medulla is for those who work on that card.
                if found is not None and (found.origin is None or id_ not in opened.store.withheld().values()):
                    return brain, found
        raise UnknownEvidence(f"there is no evidence {evidence_id[:80]!r} here", fix="hindbrain memory list shows what there is")

    def get(self, caller: Caller, *, evidence_id: str, deleted: bool, around: int = 0, citing: bool = False) -> dict[str, Any]:
        """One row, whole; with the rows around it in its conversation, and the cards that cite it, if they are asked for."""
        brain, row = self.holding(caller, evidence_id, deleted=deleted)
        answer = {"ok": True, "schema": "hindbrain-evidence-v0", "brain": brain.name, **wire_row(row)}
        with self._brains.use(brain) as opened:
            if around:
                answer["around"] = [wire_row(one) for one in self._around(opened, row, around)]
            if citing:
                answer["cited_by"] = self._citing(opened, row.id)
        return answer

    @staticmethod
    def _around(opened: OpenBrain, row: Evidence, reach: int) -> list[Evidence]:
        if row.thread is None:
            return []
        first, last = max(0, row.position - reach), row.position + reach
        found = opened.store.thread(row.thread, first=first, last=last, where=Where(anchor_ids=(row.anchor.id,)))
        return [one for one in found if (one.wing, one.room) == (row.wing, row.room) and one.id != row.id]

    @staticmethod
    def _citing(opened: OpenBrain, evidence_id: EvidenceId) -> list[dict[str, Any]]:
        links = opened.store.links(evidence=[evidence_id])
        cards = opened.store.cards([link.card_id for link in links])
        return [
            {"card_id": link.card_id, "role": link.role.value, "statement": card.statement, "status": card.status.value}
            for link in links
            if (card := cards.get(link.card_id)) is not None
        ]

    @staticmethod
    def deleted(opened: OpenBrain) -> list[Evidence]:
        """What was deleted in a brain and can be brought back."""
        ids = [EvidenceId(mark.slug) for mark in opened.store.marks(kind=DELETED)]
        return [row for row in opened.store.evidence(ids, deleted=True).values() if row.deleted_at is not None]

    # -- away and back -----------------------------------------------------------------------------------------------

    def delete(self, caller: Caller, *, evidence_id: str, reason: str) -> dict[str, Any]:
        """Take a row out of every answer; it can be brought back until it is purged. Its source does not bring it back.

        The copy that a published card took to the medulla goes first: whoever is interrupted finds the row still here."""
        brain, row = self.holding(caller, evidence_id)
        self._gateway.check_text(reason)
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, [reason], site="memory.delete")
        for home, held in [*self._copies(brain, row.id, deleted=False), (brain, row)]:
            with self._brains.use(home) as opened:
                salt, now = self._gateway.salt(opened), self._clock()
                with opened.store.writing() as writer:
                    writer.append(self._act("evidence.delete", caller, salt, [row.id], now))
                    writer.delete_evidence([row.id], at=now)
                    self._batches.put_anew(opened, writer, [held], at=now)
                    writer.put_tombstone(row_print(salt, row.id), at=now, by=caller.agent, reason=reason)
                    writer.put_mark(
                        Mark(slug=row.id, kind=DELETED, at=now, by=caller.agent, channel=caller.channel.value, note=reason)
                    )
        return self._done("deleted", brain, row.id, f"Deleted {row.id}; memory.restore brings it back.")

    def _copies(self, brain: Brain, evidence_id: EvidenceId, *, deleted: bool) -> list[tuple[Brain, Evidence]]:
        """The medulla's copy of a project's row, if a card took one there."""
        if brain.root is None or not self._brains.has_medulla():
            return []
        medulla = self._brains.home.medulla()
        with self._brains.use(medulla) as opened:
            found = opened.store.evidence([evidence_id], deleted=deleted).get(evidence_id)
        return [(medulla, found)] if found is not None and (found.deleted_at is not None) is deleted else []

    def restore(self, caller: Caller, *, evidence_id: str) -> dict[str, Any]:
        """Bring a deleted row back as it was."""
        brain, row = self.holding(caller, evidence_id, deleted=True)
        if row.deleted_at is None:
            return self._done("restored", brain, row.id, f"{row.id} was not deleted.") | {"restored": False}
        for home, held in [(brain, row), *self._copies(brain, row.id, deleted=True)]:
            with self._brains.use(home) as opened:
                salt = self._gateway.salt(opened)
                if opened.store.tombstones([mark for mark, _, _ in traces_of(held.content, salt)]):
                    raise Rejected(
                        "this value was rejected or forgotten here", fix="a person can lift the rejection in a terminal"
                    )
                self._batches.revive(caller, opened, held, salt, mark=DELETED)
        return self._done("restored", brain, row.id, f"Restored {row.id}.")

    def purge(self, caller: Caller, *, before: int | None, tier: str | None) -> dict[str, Any]:
        """Erase for good what was deleted: text, words and vectors. What a card cites is kept: it is the root of a belief."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            rows = [row for row in self.deleted(opened) if before is None or (row.deleted_at or 0) < before]
            cited = {link.evidence_id for link in opened.store.links(evidence=[row.id for row in rows])}
            ids = [row.id for row in rows if row.id not in cited]
            salt, now = self._gateway.salt(opened), self._clock()
            if ids:
                with opened.store.writing() as writer:
                    writer.append(self._act("evidence.purge", caller, salt, ids, now))
                    writer.erase_evidence(ids)
                    for id_ in ids:
                        writer.drop_mark(id_, DELETED)
        return {
            "ok": True,
            "schema": "hindbrain-memory-purge-v0",
            "brain": brain.name,
            "purged": len(ids),
            "kept": sorted(cited),
            "rendered": f"Erased {len(ids)} deleted row(s) of {brain.display_name} for good."
            + (f" Kept {len(cited)} that cards cite; forget erases those too." if cited else ""),
        }

    @staticmethod
    def _act(act: str, caller: Caller, salt: str, ids: Sequence[EvidenceId], now: int) -> Act:
        return Act(
            act=act,
            subject="evidence",
            actor=caller.agent,
            channel=caller.channel,
            at=now,
            payload={"rows": len(ids), "ids": [recorded(salt, id_)[:16] for id_ in ids]},
        )

    @staticmethod
    def _done(what: str, brain: Brain, id_: str, told: str) -> dict[str, Any]:
        return {
            "ok": True,
            "schema": f"hindbrain-memory-{what}-v0",
            "evidence_id": id_,
            what: True,
            "brain": brain.name,
            "rendered": told,
        }
