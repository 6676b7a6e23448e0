"""Reindex: sources that an older version read are read again. A source that is gone keeps its rows, and is counted."""

import os
from collections.abc import Callable
from typing import Any

from hindbrain.domain.anchor import Anchor, AnchorKind
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, PathRefused, StoreUnavailable
from hindbrain.domain.evidence import Domain, Provenance
from hindbrain.domain.stored import stored_json
from hindbrain.engines.transcripts import Format
from hindbrain.policy.evidence import NORMALIZE_VERSION
from hindbrain.services.authority import Authority
from hindbrain.services.brains import Brains
from hindbrain.services.evidence_ingest import Ingest, Request
from hindbrain.services.routing import Router
from hindbrain.stores.port import Source

__all__ = ["Reindex"]


class Reindex:
    """`memory.reindex`."""

    def __init__(self, brains: Brains, router: Router, ingest: Ingest, authority: Authority) -> None:
        self._brains = brains
        self._router = router
        self._ingest = ingest
        self._authority = authority

    def run(self, caller: Caller, *, force: bool, dry_run: bool, progress: Callable[[int, int, str], None]) -> dict[str, Any]:
        """Read stale sources again, or all of them."""
        brain = self._router.write_route(caller)
        report: dict[str, Any] = {"sources": 0, "rows": 0, "created": 0, "retired": 0, "missing": 0, "skipped": []}
        with self._brains.use(brain) as opened:
            wanted = [one for one in opened.store.sources() if force or one.normalize_version < NORMALIZE_VERSION]
            for number, source in enumerate(wanted):
                progress(number, len(wanted), source.source)
                path, request, anchor = _asked(source)
                if path is None or not os.path.isfile(path):
                    report["missing"] += 1
                    continue
                report["sources"] += 1
                report["rows"] += source.chunks
                if dry_run:
                    continue
                try:
                    self._check(caller, path)
                    kept = self._ingest.again(caller, opened, path, source.source, request, anchor)
                except StoreUnavailable:
                    raise
                except HindbrainError as refused:
                    report["skipped"].append({"source_file": source.source, "code": refused.code, "reason": refused.message})
                    continue
                report["created"] += len(kept.created)
                report["retired"] += kept.retired
        told = f"{'Would read' if dry_run else 'Read'} {report['sources']} source(s) again; {report['missing']} are gone."
        return {"ok": True, "schema": "hindbrain-memory-reindex-v0", "brain": brain.name, "dry_run": dry_run, **report} | {
            "rendered": told
        }

    def _check(self, caller: Caller, path: str) -> None:
        """A person may have recorded files of other places; an agent does not have them read again."""
        if not self._authority.reaches(caller, os.path.realpath(path)):
            raise PathRefused(
                f"{path[:200]!r} is outside this caller's repository", fix="a person can read it again in a terminal"
            )


def _asked(source: Source) -> tuple[str | None, Request, Anchor]:
    """How a source was taken in: where its file lies, if it has one, and everything that was said of it."""
    held = stored_json(source.scope, "source")
    anchor = Anchor(kind=AnchorKind(held["kind"]), id=held["anchor"], parent=held["parent"])
    root = anchor.id.removeprefix("worktree://") if anchor.kind is AnchorKind.WORKTREE else None
    path = source.source if os.path.isabs(source.source) else os.path.join(root, source.source) if root else None
    request = Request(
        path=path,
        source=source.source,
        form=Format(held["form"]),
        wing=held["wing"],
        room=held["room"],
        domain=Domain(held["domain"]),
        field=held["field"],
        provenance=Provenance(held["provenance"]),
        strip_noise=held["strip_noise"],
        keep_tools=held["keep_tools"],
        again=True,
    )
    return (None if held["typed"] else path), request, anchor
