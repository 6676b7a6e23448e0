"""Research: reports of research tools, looked at and taken in as evidence. Every act beyond that is somebody else's."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import ClaimTooLarge, InvalidParams, Rejected, StoreUnavailable
from hindbrain.domain.evidence import Domain, EvidenceId, Provenance, SourceType
from hindbrain.engines.chunking import Chunk
from hindbrain.engines.research import Finding, Report, read, suggested
from hindbrain.engines.transcripts import Turn
from hindbrain.policy.evidence import RECORD_MAX_BYTES
from hindbrain.policy.research import FIELD, FILE_MAX_BYTES, IMPORTANCE, ROOM, WING
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence_anchor import Anchors
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import row_print, traces_of
from hindbrain.services.evidence_rows import Piece, Scope
from hindbrain.services.gateway import Gateway
from hindbrain.stores.ordinary_file import open_ordinary

__all__ = ["Research"]

ACT = "evidence.research"


class Research:
    """Validates and ingests reports."""

    def __init__(self, brains: Brains, anchors: Anchors, gateway: Gateway, batches: Batches, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._anchors = anchors
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    def validate(self, caller: Caller, *, path: str | None, report: dict[str, Any] | None) -> dict[str, Any]:
        """Only look at a report, and count."""
        found = read(self._given(caller, path, report))
        return {"ok": True, "schema": "hindbrain-research-validate-v0", **found.told(), "rendered": _told(found)}

    def ingest(
        self, caller: Caller, *, path: str | None, report: dict[str, Any] | None, branch_local: bool, execute: bool
    ) -> dict[str, Any]:
        """Plan what a report gives, and with `execute` keep it: one row of evidence a finding, all of them or none."""
        if execute and not _keeps(caller):
            raise InvalidParams(
                "execute is not offered over MCP: there a report is only planned",
                fix="run it at a command line: hindbrain research ingest PATH --execute",
            )
        found = read(self._given(caller, path, report))
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-research-ingest-v0",
            **found.told(),
            "writes": False,
            "planned_evidence_count": len(found.findings),
            "created_count": 0,
            "skipped_count": 0,
            "evidence": [],
            "candidate_insights": [],
        }
        if not found.valid:
            return answer | {"rendered": _told(found)}
        return answer | self._kept(caller, found, branch_local=branch_local, execute=execute)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _given(self, caller: Caller, path: str | None, report: dict[str, Any] | None) -> object:
        if (path is None) == (report is None):
            raise InvalidParams("give a path, or the report itself", fix="hindbrain research validate PATH")
        if path is None:
            return report
        if not _keeps(caller):
            raise InvalidParams("over MCP a report comes in the call, not from a file", fix="give the report as an object")
        try:
            with open_ordinary(path) as file:
                raw = file.read(FILE_MAX_BYTES + 1)
        except (OSError, ValueError) as failure:
            raise StoreUnavailable(f"{path[:200]} cannot be read: {failure}", fix="name a readable file") from failure
        if len(raw) > FILE_MAX_BYTES:
            raise StoreUnavailable(f"{path[:200]} has more than {FILE_MAX_BYTES} bytes", fix="split the report")
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as broken:
            raise StoreUnavailable(f"{path[:200]} is not JSON: {broken}", fix="write the report as one JSON object") from broken

    # -- keeping -----------------------------------------------------------------------------------------------------

    def _kept(self, caller: Caller, report: Report, *, branch_local: bool, execute: bool) -> dict[str, Any]:
        placed = self._anchors.placed(
            caller,
            domain=Domain.PROJECT,
            provenance=Provenance.RESEARCH,
            kind=None,
            anchor_id=None,
            cwd=None,
            branch_local=branch_local,
        )
        scope = Scope(
            source=f"research://{report.report_id}",
            source_type=SourceType.PROJECT,
            provenance=Provenance.RESEARCH,
            anchor=placed.anchor,
            domain=Domain.PROJECT,
            field=FIELD,
            wing=WING,
            room=ROOM,
            added_at=self._clock(),
            importance=IMPORTANCE,
            recorded_by=caller.signature,
        )
        with self._brains.use(placed.brain) as opened:
            for finding in report.findings:
                self._check(finding.content)
            words = [report.report_id, report.title, *(one.content for one in report.findings)]
            words += [one.statement for one in report.insights]
            self._gateway.check_hygiene(opened, words, site="research.ingest")
            salt = self._gateway.salt(opened) if execute or opened.store.meta("salt") is not None else ""
            pieces = [_piece(one, scope, salt) for one in report.findings]
            _refuse_buried(opened, pieces)
            ids = [_id_of(piece) for piece in pieces]
            if execute:
                kept = self._batches.put(caller, opened, scope, pieces, salt, act=ACT, channel=Channel.RESEARCH)
            else:
                kept = self._batches.planned(opened, scope, pieces, salt)
            deleted = opened.store.tombstones([row_print(salt, one) for one in ids])
        fresh = set(kept.created)
        rows = []
        for finding, id_ in zip(report.findings, ids, strict=True):
            new = id_ in fresh
            fresh.discard(id_)
            row = {"evidence_id": id_, "finding_index": finding.index, "source_file": finding.source}
            row |= {"created": new and execute, "skipped": not new}
            rows.append(row | ({"reason": "it was deleted here"} if row_print(salt, id_) in deleted else {}))
        created = sum(bool(row["created"]) for row in rows)
        skipped = sum(bool(row["skipped"]) for row in rows)
        done = (
            f"Kept {created} of {len(rows)} findings" if execute else f"Would keep {len(rows) - skipped} of {len(rows)} findings"
        )
        return {
            "writes": created > 0,
            "created_count": created,
            "skipped_count": skipped,
            "evidence": rows,
            "candidate_insights": [suggested(one, [ids[at] for at in one.findings], FIELD) for one in report.insights],
            "brain": placed.brain.name,
            "anchor_kind": placed.anchor.kind.value,
            "anchor_id": placed.anchor.id,
            "rendered": "\n".join(
                [
                    f"{done} of {len(rows)} findings of “{report.title}” in {placed.brain.display_name}"
                    + ("." if execute else "; --execute keeps them."),
                    *(f"suggested, not made: {one.statement}" for one in report.insights),
                ]
            ),
        }

    def _check(self, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > RECORD_MAX_BYTES:
            raise ClaimTooLarge(
                f"a finding with its sources has {size} bytes; {RECORD_MAX_BYTES} is the most",
                fix="keep the material in a file; hindbrain memory ingest takes documents of any kind",
            )
        self._gateway.check_text(text)


def _keeps(caller: Caller) -> bool:
    """A process of the user may read its files and write; over MCP research is only planned."""
    return caller.reads_files or caller.channel is Channel.HUMAN


def _piece(finding: Finding, scope: Scope, salt: str) -> Piece:
    """A finding is one row, whole: what is cited is the finding, not a part of it."""
    return Piece(
        text=finding.content,
        turn=Turn(text=finding.content, thread=None, message="", speaker=None, role=None, said_at=None),
        thread=None,
        first=0,
        chunks=[Chunk(start=0, end=len(finding.content))],
        secrets=(),
        traces=traces_of(finding.content, salt),
        document=True,
        index=finding.index,
        scope=replace(scope, source=finding.source, tags=finding.tags),
    )


def _id_of(piece: Piece) -> EvidenceId:
    if piece.scope is None:
        raise ValueError("a finding has a source of its own")
    return piece.scope.row(piece.text, thread=None, position=0, chunk_index=piece.index, message="", turn=piece.turn).id


def _refuse_buried(opened: OpenBrain, pieces: list[Piece]) -> None:
    for piece in pieces:
        if opened.store.tombstones([mark for mark, _, _ in piece.traces]):
            raise Rejected(
                f"finding {piece.index} holds a value that was rejected or forgotten in {opened.brain.display_name}",
                fix="leave it out of the report; a person can lift the rejection in a terminal",
            )


def _told(report: Report) -> str:
    if report.valid:
        counts = f"{report.source_count} sources, {report.finding_count} findings, {report.insight_count} candidate insights"
        return f"“{report.title}” ({report.report_id}) is valid: {counts}."
    return "\n".join(["This report cannot be taken in:", *(f"- {one}" for one in report.errors)])
