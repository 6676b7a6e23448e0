"""Foreign evidence: rows of another program on their way in, through the same door as any observation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hindbrain.domain.anchor import Anchor
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, InvalidParams, Rejected
from hindbrain.domain.evidence import EvidenceId, SourceType
from hindbrain.domain.ledger import Act
from hindbrain.engines.chunking import Shape
from hindbrain.engines.legacy import Observed
from hindbrain.engines.legacy_cards import known
from hindbrain.engines.own_text import without_own_text
from hindbrain.engines.transcripts import Turn
from hindbrain.policy.evidence import PATH_MAX
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_arrival import refusal
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import check_word, check_words, row_print, secrets_in, traces_of
from hindbrain.services.evidence_rows import Piece, Scope, admitted, pieces_of, rows_of
from hindbrain.services.foreign_cards import held
from hindbrain.services.gateway import Gateway, recorded, strings_in
from hindbrain.stores.port import ForeignCard

__all__ = ["ForeignEvidence", "Taken"]

SITE = "memory.import"
_ACT = "evidence.import"


@dataclass(slots=True, kw_only=True)
class Taken:
    """What became of some rows. `ids` says which row here each of theirs is."""

    ids: dict[str, EvidenceId] = field(default_factory=dict)
    created: int = 0
    unchanged: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)


class ForeignEvidence:
    """Takes rows in."""

    def __init__(self, gateway: Gateway, batches: Batches, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    def put(
        self, caller: Caller, opened: OpenBrain, rows: Sequence[tuple[Observed, Anchor]], *, name: str, execute: bool
    ) -> Taken:
        """One batch in one transaction. The id a row had elsewhere stays with it as the name of its message."""
        found = Taken()
        salt = self._gateway.salt(opened) if execute else opened.store.meta("salt") or ""
        made: list[tuple[Piece, Scope]] = []
        for seen, anchor in rows:
            try:
                made.append(self._piece(opened, seen, anchor, salt))
            except HindbrainError as refused:
                found.refused.append(refusal(seen.id, refused))
        if not made:
            return found
        pieces = [piece for piece, _ in made]
        scope = replace(made[0][1], source=name)  # what the batch is called in the ledger; each piece has its own
        if execute:
            kept = self._batches.put(caller, opened, scope, pieces, salt, act=_ACT, channel=Channel.IMPORT)
        else:
            kept = self._batches.planned(opened, scope, pieces, salt)
        standing = set(kept.seen)
        for piece, own in made:
            chunks, closed = admitted(piece, frozenset(), own.source)
            alive = [row.evidence.id for row in rows_of(piece, own, chunks, salt, frozenset()) if row.evidence.id in standing]
            if alive:
                found.ids[piece.turn.message] = alive[0]
            elif not closed:
                found.refused.append(refusal(piece.turn.message, _buried()))
            found.refused += [refusal(piece.turn.message, one.error) for one in closed]
        found.created, found.unchanged = len(kept.created), len(standing) - len(set(kept.created))
        return found

    def _piece(self, opened: OpenBrain, seen: Observed, anchor: Anchor, salt: str) -> tuple[Piece, Scope]:
        names = (seen.wing, seen.room, seen.field, seen.speaker, *seen.tags)
        check_words(self._gateway, opened, names, (seen.source, seen.thread, seen.id), site=SITE)
        # A chunk of a document stands in its place among the others; a row by itself is found by what it says alone.
        thread = seen.thread or (seen.source if seen.chunk_index is not None and seen.source else None)
        content = without_own_text(seen.content)
        if not content.strip():
            raise InvalidParams("the row says nothing but what Hindbrain itself showed", fix="leave it where it is")
        turn = Turn(text=content, thread=thread, message=seen.id, speaker=seen.speaker)
        (piece,) = pieces_of(self._gateway, opened, [turn], salt, default_thread=None, shape=Shape.MESSAGE, site=SITE)
        scope = Scope(
            source=seen.source,
            source_type=seen.source_type,
            provenance=seen.provenance,
            anchor=anchor,
            domain=seen.domain,
            field=seen.field,
            wing=seen.wing,
            room=seen.room,
            added_at=seen.added_at if seen.added_at is not None else self._clock(),
            tags=seen.tags,
            importance=seen.importance,
        )
        document = seen.source_type is SourceType.PROJECT
        if len(piece.chunks) > 1:  # longer than an embedder reads: its pieces are neighbours of each other
            return replace(piece, scope=scope, document=document, thread=seen.id), scope
        place = seen.chunk_index or 0
        first = place if thread is not None else 0
        return replace(piece, scope=scope, document=document, first=first, index=place), scope

    # -- knowledge that waits ----------------------------------------------------------------------------------------

    def hold(self, caller: Caller, opened: OpenBrain, rows: Sequence[ForeignCard], *, execute: bool) -> Taken:
        """Keep knowledge rows as they stood there; one that is there stays as it is."""
        found = Taken()
        known_ids = {one.id for one in opened.store.foreign_cards()}
        fresh: dict[str, ForeignCard] = {}
        for one in rows:
            if one.id in known_ids or one.id in fresh:
                found.unchanged += 1
                continue
            try:
                self._check_held(opened, one)
                fresh[one.id] = one
            except HindbrainError as refused:
                found.refused.append(refusal(one.id, refused))
        found.created = len(fresh)
        if execute and fresh:
            salt = self._gateway.salt(opened)
            with opened.store.writing() as writer:
                writer.append(
                    Act(
                        act="foreign_card.held",
                        subject="foreign_cards",
                        actor=caller.agent,
                        channel=Channel.IMPORT,
                        at=self._clock(),
                        payload={"rows": len(fresh), "digests": [recorded(salt, one.body)[:16] for one in fresh.values()]},
                    )
                )
                for one in fresh.values():
                    writer.put_foreign_card(one)
        return found

    def _check_held(self, opened: OpenBrain, one: ForeignCard) -> None:
        """Nothing that is kept may hold a secret, whatever column it stands in."""
        row = held(one).row
        read = known(row)
        check_word(one.id, "an id", PATH_MAX)
        if not one.id:
            raise InvalidParams("a knowledge row without an id")
        for text in strings_in(dict(row)):
            self._gateway.check_text(text)
            if len(text.split()) < 2:
                check_words(self._gateway, opened, (), (text,), site=SITE)
            elif hits := secrets_in(self._gateway, opened, text, site=SITE):
                raise hits[0].refusal
        if salt := opened.store.meta("salt"):
            texts = (read.statement, read.content, f"{read.statement}\n{read.content}")
            marks = [mark for text in texts for mark, _, _ in traces_of(text, salt)]
            if opened.store.tombstones([*marks, row_print(salt, one.id)]):
                raise _buried()


def _buried() -> Rejected:
    return Rejected("rejected, deleted or forgotten here", fix="a person can lift the rejection in a terminal")
