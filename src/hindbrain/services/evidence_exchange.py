"""Evidence in an export: one row a line, and back through the same gateway as any write."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any

import msgspec

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, InvalidParams, Rejected
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType, evidence_id
from hindbrain.domain.ledger import Act
from hindbrain.domain.typed import decoded
from hindbrain.policy.evidence import BATCH_ROWS, LINE_MAX_BYTES, PATH_MAX, WORD_MAX
from hindbrain.services.brains import OpenBrain
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import check_tags, check_word, check_words, row_print, secrets_in, traces_of
from hindbrain.services.gateway import Gateway, recorded

__all__ = ["MEMBER", "EvidenceExchange"]

MEMBER = "evidence.jsonl"
_Time = Annotated[int, msgspec.Meta(ge=-(1 << 52), lt=1 << 52)]
_Place = Annotated[int, msgspec.Meta(ge=0, lt=1 << 40)]


class _Line(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One row as an export holds it."""

    id: str = ""  # what it was called there; here it gets its own, and cards that cite it follow
    content: str
    source: str
    source_type: SourceType
    provenance: Provenance
    anchor_kind: AnchorKind
    anchor_id: str
    parent_anchor_id: str | None = None
    added_at: _Time
    domain: Domain = Domain.PROJECT
    field: str = "general"
    wing: str = ""
    room: str | None = None
    tags: list[str] = []
    importance: int = 0
    chunk_index: _Place = 0
    normalize_version: _Place = 0
    thread: str | None = None
    position: _Place = 0
    message: str = ""
    speaker: str | None = None
    role: str | None = None
    recorded_by: str | None = None
    origin: str | None = None
    said_at: _Time | None = None


class EvidenceExchange:
    """The part of `export` and `import` that is about evidence."""

    def __init__(self, gateway: Gateway, batches: Batches, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    @staticmethod
    def lines(opened: OpenBrain) -> Iterator[str]:
        """Every live row as a line of JSON."""
        for row in opened.store.each_evidence():
            held = {
                name: getattr(row, name)
                for name in _Line.__struct_fields__
                if name not in ("anchor_kind", "anchor_id", "parent_anchor_id")
            }
            anchor = {"anchor_kind": row.anchor.kind, "anchor_id": row.anchor.id, "parent_anchor_id": row.anchor.parent}
            yield json.dumps(held | anchor, ensure_ascii=False, sort_keys=True) + "\n"

    def take_in(
        self,
        caller: Caller,
        opened: OpenBrain,
        lines: Iterable[bytes],
        report: dict[str, Any],
        *,
        dry_run: bool,
        origin: OpenBrain | None,
    ) -> dict[str, EvidenceId]:
        """Read rows back; id there -> id here. What this brain or the one they come from has forgotten or rejected since stays
        away."""
        batch: list[Evidence] = []
        ids: dict[str, EvidenceId] = {}
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                named, row = self._row(opened, line)
                ids |= {named: row.id} if named else {}
                batch.append(row)
            except HindbrainError as refused:
                report["refused"].append({"name": f"evidence:{number}", "code": refused.code, "reason": refused.message})
            if len(batch) >= BATCH_ROWS:
                self._put(caller, opened, batch, report, dry_run=dry_run, origin=origin)
                batch = []
        self._put(caller, opened, batch, report, dry_run=dry_run, origin=origin)
        return ids

    def _row(self, opened: OpenBrain, line: bytes) -> tuple[str, Evidence]:
        try:
            held = decoded(line, _Line) if len(line) < LINE_MAX_BYTES else None
        except (msgspec.DecodeError, RecursionError) as wrong:
            raise InvalidParams(f"not a row of evidence: {wrong}") from wrong
        if held is None:
            raise InvalidParams("a row of evidence is not that long")
        self._gateway.check_text(held.content)
        names = [
            held.wing,
            held.room,
            held.field,
            held.thread,
            held.message,
            held.speaker,
            held.role,
            held.recorded_by,
            held.origin,
        ]
        for word in filter(None, names):
            check_word(word, "a name", WORD_MAX * 10)
        for word in (held.id, held.source, held.anchor_id, held.parent_anchor_id or ""):
            check_word(word, "a path", PATH_MAX)
        check_tags(held.tags)
        words = [held.wing, held.room, held.field, held.speaker, held.role, held.recorded_by, held.origin, *held.tags]
        check_words(self._gateway, opened, words, (held.source, held.thread, held.message), site="import")
        if secrets := secrets_in(self._gateway, opened, held.content, site="import"):
            raise secrets[0].refusal
        # A copy that came to the medulla with a card kept the name it had in its project: it is the same row still.
        there = opened.store.evidence([EvidenceId(held.id)]).get(EvidenceId(held.id)) if held.id else None
        return held.id, there if there is not None and there.content == held.content else _evidence(held)

    def _put(
        self,
        caller: Caller,
        opened: OpenBrain,
        rows: Sequence[Evidence],
        report: dict[str, Any],
        *,
        dry_run: bool,
        origin: OpenBrain | None,
    ) -> None:
        known = opened.store.evidence([row.id for row in rows])
        report["unchanged"] += [row.id for row in rows if row.id in known]
        fresh = [row for row in rows if row.id not in known]
        allowed = [row for row in fresh if not _buried(opened, row) and not (origin is not None and _buried(origin, row))]
        report["refused"] += [
            {"name": row.id, "code": Rejected.code, "reason": "rejected, deleted or forgotten here"}
            for row in fresh
            if row not in allowed
        ]
        report["taken"] += [row.id for row in allowed]
        if dry_run or not allowed:
            return
        salt = self._gateway.salt(opened)
        with opened.store.writing() as writer:
            writer.append(
                Act(
                    act="evidence.import",
                    subject="evidence",
                    actor=caller.agent,
                    channel=Channel.IMPORT,
                    at=self._clock(),
                    payload={"rows": len(allowed), "digests": [recorded(salt, row.content)[:16] for row in allowed]},
                )
            )
            writer.put_evidence(self._batches.with_words(opened, allowed))


def _evidence(held: _Line) -> Evidence:
    anchor = Anchor(kind=held.anchor_kind, id=held.anchor_id, parent=held.parent_anchor_id)
    made: EvidenceId = evidence_id(
        held.content,
        anchor=anchor,
        domain=held.domain,
        field=held.field,
        provenance=held.provenance,
        wing=held.wing,
        room=held.room,
        thread=held.thread,
        position=held.position,
    )
    values = {
        name: getattr(held, name)
        for name in held.__struct_fields__
        if name not in ("id", "anchor_kind", "anchor_id", "parent_anchor_id", "tags")
    }
    return Evidence(id=made, anchor=anchor, tags=tuple(held.tags), **values)


def _buried(opened: OpenBrain, row: Evidence) -> bool:
    salt = opened.store.meta("salt")
    if salt is None:
        return False
    marks = [mark for mark, _, _ in traces_of(row.content, salt)]
    return bool(opened.store.tombstones([*marks, row_print(salt, row.id)]))
