"""Batches of evidence: rows, their neighbours' words and their ledger event in one transaction. The one door for evidence."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.evidence import Evidence, EvidenceId, SourceType
from hindbrain.domain.ledger import Act
from hindbrain.engines.chunking import is_short
from hindbrain.engines.text import terms
from hindbrain.policy.evidence import NEAR_TURNS, NORMALIZE_VERSION
from hindbrain.services.brains import OpenBrain
from hindbrain.services.evidence_guard import row_print
from hindbrain.services.evidence_rows import Piece, Refused, Row, Scope, admitted, document_words, near_words, rows_of
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import Source, Where, Words, Writer

__all__ = ["Batches", "Kept"]

_MARK = 16  # hex digits of a keyed digest: enough to find an entry again, nothing to guess from


@dataclass(slots=True, kw_only=True)
class Kept:
    """What became of some rows."""

    created: list[EvidenceId] = field(default_factory=list)
    seen: list[EvidenceId] = field(default_factory=list)  # every row of the source that may stand, new or not
    skipped: int = 0
    retired: int = 0
    refused: list[Refused] = field(default_factory=list)

    def add(self, other: "Kept") -> None:
        self.created += other.created
        self.seen += other.seen
        self.skipped += other.skipped
        self.retired += other.retired
        self.refused += other.refused


class Batches:
    """Writes batches of rows. Every row of evidence comes in here, whoever brings it."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock

    def put(
        self,
        caller: Caller,
        opened: OpenBrain,
        scope: Scope,
        pieces: Sequence[Piece],
        salt: str,
        *,
        act: str,
        channel: Channel | None = None,
        source: Source | None = None,
        retire: Callable[[], Collection[EvidenceId]] | None = None,
        revive: bool = False,
    ) -> Kept:
        """Keep what may be kept of these pieces. What is there already is skipped; without anything new nothing is written."""
        rows, kept = self._made(pieces, scope, salt, frozenset())
        known = opened.store.evidence([row.evidence.id for row in rows])
        held = set(retire()) if retire is not None else set()
        if source is None and held <= known.keys() and all(row.evidence.id in known for row in rows) and not kept.refused:
            kept.skipped += len(rows)
            return kept
        marks = [mark for piece in pieces for mark, _, _ in piece.traces]
        marks += [row_print(salt, row.evidence.id) for row in rows] if not revive else []
        near = self._near(opened, rows, scope, resumed=bool(known))
        with opened.store.writing() as writer:
            # Asked where no other writer can come between: a value may have been rejected a moment ago.
            if buried := opened.store.tombstones(list(dict.fromkeys(marks))):
                rows, kept = self._made(pieces, scope, salt, buried)
                near = self._near(opened, rows, scope, resumed=bool(known))
            older = [id_ for id_, row in known.items() if row.normalize_version < NORMALIZE_VERSION]
            if older and source is not None:
                writer.delete_evidence(older, at=self._clock())  # they come back below, as this version reads them
            self._write(caller, writer, rows, near, kept, salt, act=act, channel=channel or caller.channel, scope=scope)
            if revive:
                for row in rows:
                    writer.drop_tombstone(row_print(salt, row.evidence.id))
            # Only now: a chunk may have fallen into pieces around what stays away.
            if gone := held - set(kept.seen):
                kept.retired += len(writer.delete_evidence(sorted(gone), at=self._clock()))
            if source is not None:
                writer.put_source(replace(source, chunks=source.chunks + len(rows)))
        return kept

    def revive(self, caller: Caller, opened: OpenBrain, row: Evidence, salt: str, *, mark: str) -> None:
        """Bring a deleted row back as it was, with the words it is found by."""
        with opened.store.writing() as writer:
            writer.append(
                Act(
                    act="evidence.restore",
                    subject="evidence",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=self._clock(),
                    payload={"rows": 1, "ids": [recorded(salt, row.id)[:_MARK]]},
                )
            )
            writer.drop_tombstone(row_print(salt, row.id))
            writer.drop_mark(row.id, mark)
            writer.put_evidence([(replace(row, deleted_at=None), self.words(row))])
            self.put_anew(opened, writer, [row], at=self._clock(), itself=True)

    @staticmethod
    def words(row: Evidence) -> Words:
        """The words a row is found by, without those of any neighbour."""
        return Words(
            text=terms(row.content), near=document_words(row.source, ()) if row.source_type is SourceType.PROJECT else ()
        )

    def with_words(self, opened: OpenBrain, rows: Sequence[Evidence]) -> list[tuple[Evidence, Words]]:
        """Rows that come from elsewhere, each with its words and those of the short turns around it."""
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault((row.thread, row.anchor.id, row.wing, row.room), []).append(_stored_row(row))
        near: dict[EvidenceId, list[str]] = {}
        for (thread, *_), found in groups.items():
            if thread is not None:
                found.sort(key=lambda one: one.evidence.position)
                first = found[0].evidence
                held = self._beside(opened, first, first.position - NEAR_TURNS, first.position - 1)
                near |= near_words([*held, *found])
        return [(row, replace(self.words(row), near=near[row.id]) if row.id in near else self.words(row)) for row in rows]

    @staticmethod
    def _beside(opened: OpenBrain, row: Evidence, first: int, last: int) -> list[Row]:
        """Rows of the same thread and scope as another one."""
        if row.thread is None or last < 0:
            return []
        where = Where(anchor_ids=(row.anchor.id,), wing=row.wing, room=row.room)
        stored = opened.store.thread(row.thread, first=max(0, first), last=last, where=where)
        return [_stored_row(one) for one in stored if one.room == row.room]

    def put_anew(
        self,
        opened: OpenBrain,
        writer: Writer,
        changed: Sequence[Evidence],
        *,
        at: int,
        itself: bool = False,
        documents: bool = False,
    ) -> None:
        """Rows beside one that went or came are put again: their neighbours' words, and the vectors that mix them, are made
        anew. Within the same transaction, so that nothing is ever found by what is gone."""
        gone = {row.id for row in changed if not itself}
        fresh: dict[EvidenceId, tuple[Evidence, Words]] = {}
        for row in changed:
            if row.source_type is SourceType.PROJECT and not documents:
                continue
            around = self._beside(opened, row, row.position - 2 * NEAR_TURNS, row.position + 2 * NEAR_TURNS)
            beside = [one for one in around if one.evidence.id not in gone]
            if itself and row.id not in {one.evidence.id for one in beside}:
                beside = sorted([*beside, _stored_row(replace(row, deleted_at=None))], key=lambda one: one.evidence.position)
            near = near_words(beside)
            fresh |= {
                one.evidence.id: (one.evidence, replace(one.words, near=near.get(one.evidence.id, one.words.near)))
                for one in beside
                if abs(one.evidence.position - row.position) <= NEAR_TURNS
            }
        if fresh:
            writer.delete_evidence(list(fresh), at=at)
            writer.put_evidence(list(fresh.values()))

    def planned(self, opened: OpenBrain, scope: Scope, pieces: Sequence[Piece], salt: str) -> Kept:
        """What `put` would do with these pieces; writes nothing."""
        rows, _ = self._made(pieces, scope, salt, frozenset())
        marks = [mark for piece in pieces for mark, _, _ in piece.traces]
        marks += [row_print(salt, row.evidence.id) for row in rows]
        rows, kept = self._made(pieces, scope, salt, opened.store.tombstones(list(dict.fromkeys(marks))))
        known = opened.store.evidence(kept.seen)
        kept.created = list(dict.fromkeys(id_ for id_ in kept.seen if id_ not in known))
        kept.skipped = len(rows) - len(kept.created)
        return kept

    @staticmethod
    def _made(pieces: Iterable[Piece], scope: Scope, salt: str, buried: frozenset[str]) -> tuple[list[Row], Kept]:
        rows: list[Row] = []
        kept = Kept()
        for piece in pieces:
            own = piece.scope or scope
            chunks, refused = admitted(piece, buried, own.source)
            kept.refused += refused
            rows += rows_of(piece, own, chunks, salt, buried)
        kept.seen = [row.evidence.id for row in rows]
        return rows, kept

    def _write(
        self,
        caller: Caller,
        writer: Writer,
        rows: Sequence[Row],
        near: Mapping[EvidenceId, Sequence[str]],
        kept: Kept,
        salt: str,
        *,
        act: str,
        channel: Channel,
        scope: Scope,
    ) -> None:
        told = [(row.evidence, Words(text=row.words.text, near=near.get(row.evidence.id, row.words.near))) for row in rows]
        kept.created = list(writer.put_evidence(told))
        fresh = set(kept.created)
        kept.skipped += len(rows) - len(fresh)
        # Rows that were there before have new neighbours now.
        writer.put_near({id_: words for id_, words in near.items() if id_ not in fresh})
        if kept.created or kept.refused:
            writer.append(
                Act(
                    act=act,
                    subject=f"source:{recorded(salt, scope.source)[:_MARK]}",
                    actor=caller.agent,
                    channel=channel,
                    at=self._clock(),
                    payload={
                        "rows": len(kept.created),
                        "refused": len(kept.refused),
                        "digests": [recorded(salt, row.evidence.content)[:_MARK] for row in rows if row.evidence.id in fresh],
                    },
                )
            )

    def _near(self, opened: OpenBrain, rows: Sequence[Row], scope: Scope, *, resumed: bool) -> dict[EvidenceId, list[str]]:
        """The neighbours' words of every short turn among these rows, and of the turns just before them."""
        threads: dict[str, list[Row]] = {}
        for row in rows:
            if row.evidence.thread is not None and row.short:
                threads.setdefault(row.evidence.thread, []).append(row)
        made: dict[EvidenceId, list[str]] = {}
        for thread, found in threads.items():
            found.sort(key=lambda row: row.evidence.position)
            first, last = found[0].evidence.position, found[-1].evidence.position
            before = self._stored(opened, thread, first - 2 * NEAR_TURNS, first - 1, scope) if first else []
            after = self._stored(opened, thread, last + 1, last + NEAR_TURNS, scope) if resumed else []
            words = near_words([*before, *found, *after])
            # The outermost were read for the sake of those between them; their own neighbours are not all here.
            outer = {row.evidence.id for row in before if row.evidence.position < first - NEAR_TURNS}
            outer |= {row.evidence.id for row in after}
            made |= {id_: near for id_, near in words.items() if id_ not in outer}
        return made

    @staticmethod
    def _stored(opened: OpenBrain, thread: str, first: int, last: int, scope: Scope) -> list[Row]:
        """Rows of a thread that are kept already, as they were when they came."""
        where = Where(anchor_ids=(scope.anchor.id,), wing=scope.wing, room=scope.room)
        stored: Iterable[Evidence] = opened.store.thread(thread, first=max(0, first), last=last, where=where)
        return [_stored_row(one) for one in stored if one.room == scope.room]


def _stored_row(row: Evidence) -> Row:
    short = row.chunk_index == 0 and row.source_type is not SourceType.PROJECT and is_short(row.content)
    return Row(evidence=row, words=Batches.words(row), short=short)
