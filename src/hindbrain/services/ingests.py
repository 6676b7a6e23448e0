"""Ingests: one request to take something into a brain's graph, by the adapter it asks for, and what the answer says of it."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.ledger import Act
from hindbrain.services import anchors
from hindbrain.services.adapters import Adapters
from hindbrain.services.brains import OpenBrain
from hindbrain.services.graphs import Graphs, Ingested, Wish
from hindbrain.services.grounding import cited_lines, reground
from hindbrain.services.reconcile import Reconciler
from hindbrain.stores.home import Home

__all__ = ["ADAPTERS", "Ingests", "Request"]

ADAPTERS = ("code", "json", "memory", "light", "universal", "auto")
SHOWN = 50  # skipped files that an answer names; it counts all

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a caller wants to have taken in."""

    path: str
    adapter: str = "code"
    mode: str | None = None  # replace for the brain's own root by the adapter code, else merge
    namespace: str | None = None
    incremental: bool = False
    include_dotfiles: bool = False
    dotfile_patterns: tuple[str, ...] = ()
    force: bool = False


class Ingests:
    """Carries a request out and tells what came of it."""

    def __init__(self, home: Home, graphs: Graphs, reconciler: Reconciler, clock: Callable[[], int]) -> None:
        self._home = home
        self._graphs = graphs
        self._reconciler = reconciler
        self._adapters = Adapters(graphs)
        self._clock = clock

    def check(self, request: Request) -> None:
        """What can be refused before anything is opened."""
        if request.adapter not in ADAPTERS:
            raise InvalidParams(f"there is no adapter {request.adapter!r}", fix=f"use one of {', '.join(ADAPTERS)}")
        if request.incremental and request.adapter != "code":
            raise InvalidParams(f"incremental is for code, not for {request.adapter}", fix="leave incremental out")

    def run(self, caller: Caller, opened: OpenBrain, request: Request, progress: Progress) -> dict[str, Any]:
        """Take it in; the old graph stays until the new one is whole."""
        self.check(request)
        began = time.monotonic()
        mode = self._mode(opened, request)
        patterns = request.dotfile_patterns if request.include_dotfiles else None
        wish = Wish(root=request.path, anew=mode == "replace", only_changed=request.incremental, patterns=patterns)
        if request.adapter == "code":
            done = self._graphs.ingest(opened, wish, progress)
        else:
            done = self._adapters.ingest(opened, wish, request.adapter, request.namespace, progress, force=request.force)
        restored = self._restored(opened) if mode == "replace" else None
        resolved, unresolved = reground(opened)
        self._note(caller, opened, request, done)
        answer = self._answer(opened, request, mode, done) | {
            "elapsed_ms": round((time.monotonic() - began) * 1000),
            "light_evidence_resolved": resolved + done.evidence_resolved,
            "light_evidence_unresolved": unresolved + done.evidence_unresolved,
        }
        if request.adapter == "code":
            answer["memory_freshness"] = self._freshness(opened, set(done.changed))
        if restored is not None:
            answer["agent_memory_restored"] = restored
        return answer

    def rebuild(self, caller: Caller, opened: OpenBrain, progress: Progress) -> None:
        """Make a graph that is gone again, from every root that it was made of and that is still there."""
        brain = opened.brain
        for root in dict.fromkeys(one for one in (brain.root, *brain.ingest_roots) if one and os.path.isdir(one)):
            self.run(caller, opened, Request(path=root, mode=None if root == brain.root else "merge"), progress)

    @staticmethod
    def _mode(opened: OpenBrain, request: Request) -> str:
        if request.incremental:
            return "merge"
        own = request.adapter == "code" and request.path == opened.brain.root
        return request.mode or ("replace" if own else "merge")

    def _restored(self, opened: OpenBrain) -> dict[str, int]:
        loaded = sum(self._reconciler.scan(opened, place) for place in opened.places)
        return {"loaded_count": opened.store.counts().active_claims, "reconciled": loaded}

    def _note(self, caller: Caller, opened: OpenBrain, request: Request, done: Ingested) -> None:
        now = self._clock()
        payload: dict[str, str | int] = {"files": done.files_scanned, "parsed": done.files_parsed, "adapter": request.adapter}
        with opened.store.writing() as writer:
            act = Act(act="graph.ingest", subject="graph", actor=caller.agent, channel=caller.channel, at=now, payload=payload)
            writer.append(act)
            writer.put_graph("inventory", [], [])  # what an earlier release kept of the files
        counts = opened.counted()
        opened.brain = replace(opened.brain, last_ingest_ms=now)
        self._home.save(opened.brain, nodes=counts.nodes, edges=counts.edges)

    def _answer(self, opened: OpenBrain, request: Request, mode: str, done: Ingested) -> dict[str, Any]:
        counts = opened.counted()
        written = done.written
        answer: dict[str, Any] = {
            "path": request.path,
            "mode": mode,
            "adapter": request.adapter,
            "namespace": done.namespace,
            "adapters_used": done.adapters or None,
            "files": done.files_scanned,
            "files_scanned": done.files_scanned,
            "files_parsed": done.files_parsed,
            "lines": done.lines,
            "nodes_created": written.nodes_created if written else 0,
            "edges_created": written.edges_created if written else 0,
            "references_resolved": written.references_resolved if written else 0,
            "references_ambiguous": written.references_ambiguous if written else 0,
            "references_unresolved": written.references_unresolved if written else 0,
            "node_count": counts.nodes,
            "edge_count": counts.edges,
            "graph_generation": counts.generation,
            "ingest_roots": list(done.roots),
            "refused": [{"path": path, "reason": why} for path, why in done.refused],
            "skipped": [{"path": path, "reason": why} for path, why in done.skipped[:SHOWN]],
            "skipped_count": len(done.skipped),
            "truncated": written.truncated if written else False,
            "timed_out": done.timed_out,
        }
        if done.providers:
            answer["provider_status"] = done.providers
        return {key: value for key, value in answer.items() if value is not None}

    # -- freshness ---------------------------------------------------------------------------------------------------

    def _freshness(self, opened: OpenBrain, changed: set[str]) -> dict[str, Any]:
        """Claims whose cited file is another one since this ingest."""
        stale = []
        if changed and opened.brain.root is not None:
            for slug, cited in opened.store.anchors(sorted(opened.store.digests())).items():
                touched = {path: digest for path, digest in cited.items() if path in changed}
                for path, why in anchors.changed(touched, opened.brain.root).items():
                    stale.append({"slug": slug, "evidence_path": path, "reason": why} | cited_lines(opened, slug, path))
        return {"stale_evidence_count": len(stale), "stale_evidence": stale}
