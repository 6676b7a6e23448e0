"""Adapters: takes in what is not code. Descriptors, notes, L1GHT files, documents; or a mix, each file by its own kind."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace

from hindbrain.domain.claim import looks_like_light
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.graph import Edge
from hindbrain.engines.document_adapters import read_bibliography, read_descriptor, read_notes, read_universal
from hindbrain.engines.document_graph import DocumentGraph, namespaced
from hindbrain.engines.hygiene import Finding
from hindbrain.engines.light_file import read_light
from hindbrain.engines.light_graph import evidence_path
from hindbrain.policy.activation import LIGHT_WEIGHTS
from hindbrain.policy.ingest import DOCUMENTS, NOTES
from hindbrain.services import anchors
from hindbrain.services.brains import OpenBrain
from hindbrain.services.floor import findings
from hindbrain.services.graphs import Graphs, Ingested, Wish
from hindbrain.services.grounding import symbol_node
from hindbrain.stores.checkout import FileFound, listing
from hindbrain.stores.graph import LocalGraph
from hindbrain.stores.graph_port import Written

__all__ = ["DOCUMENTS_KEY", "Adapters"]

Progress = Callable[[int, int, str], None]
_NOTHING = Written(
    files_parsed=0,
    nodes_created=0,
    edges_created=0,
    references_resolved=0,
    references_ambiguous=0,
    references_unresolved=0,
)
_MARKDOWN = (".md", ".markdown")
_ENDINGS = {"json": (".json",), "memory": NOTES, "light": _MARKDOWN, "universal": DOCUMENTS, "bibtex": (".bib",)}
DOCUMENTS_KEY = "light_documents"  # where each strategy document was read from, by the path that its nodes carry
_UNCLEAN = "hygiene: "  # how the reason begins for a document with a secret
_SHARED = "entities"  # owner of the nodes that several documents name
_MIXED = (*DOCUMENTS, ".bib")  # what `auto` takes by another adapter than code


class Adapters:
    """Everything but code into a brain's graph. A source that is taken in again replaces what it gave before, and only that."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs

    def ingest(
        self, opened: OpenBrain, wish: Wish, adapter: str, namespace: str | None, progress: Progress, *, force: bool
    ) -> Ingested:
        """Take in a file or a directory by one adapter, or by those that its files ask for."""
        graph = opened.graph
        if graph is None:
            raise InvalidParams("the medulla takes in its own claims only", fix="ingest it into a project brain")
        if wish.anew and adapter != "auto" and graph.files() and not force:
            raise InvalidParams(
                f"adapter {adapter} with mode replace would throw away the code of this brain",
                fix='use mode "merge", which leaves the code where it is',
            )
        if adapter == "auto":
            done = self._mixed(opened, wish, progress)
        else:
            if wish.anew:
                graph.put((), replace=True)
            done = Ingested(files_scanned=0, written=_NOTHING)
        self._by_file(opened, graph, wish, adapter, namespace, done)
        done.namespace = namespaced(namespace, adapter)
        done.roots = tuple(place.root for place in self._graphs.places(opened))
        return done

    def _mixed(self, opened: OpenBrain, wish: Wish, progress: Progress) -> Ingested:
        """The code of a mixed directory; its documents are left to the other adapters."""
        if os.path.isfile(wish.root):
            if not wish.root.lower().endswith(_MIXED):
                raise InvalidParams(f"{wish.root} is code", fix="ingest its directory")
            return Ingested(files_scanned=0, written=_NOTHING)
        done = self._graphs.ingest(opened, replace(wish, only=lambda path: not path.lower().endswith(_MIXED)), progress)
        if done.read:
            done.adapters.append("code")
        return done

    def _by_file(
        self, opened: OpenBrain, graph: LocalGraph, wish: Wish, adapter: str, namespace: str | None, done: Ingested
    ) -> None:
        files = _files(wish.root, None if adapter == "universal" else _MIXED if adapter == "auto" else _ENDINGS[adapter])
        single = os.path.isfile(wish.root)
        kept = set()
        sharing: list[tuple[str, DocumentGraph]] = []
        read_from: dict[str, str] = {}
        for one in files:
            content = anchors.content(os.path.dirname(one.full), os.path.basename(one.full))
            chosen = adapter if adapter != "auto" else _adapter_of(one.path, content or b"")
            path = os.path.basename(one.path) if single else one.path
            secret = next(_secrets(opened, content), None) if content is not None else None
            found = (
                _read(chosen, path, content, namespace)
                if secret is None
                else DocumentGraph(skipped=((path, f"{_UNCLEAN}line {secret.line} looks like {secret.pattern_class}"),))
            )
            if isinstance(found, str):
                done.skipped.append((one.path, found))
            if adapter != "universal" or not isinstance(found, str):
                done.files_scanned += 1
            if found is None or isinstance(found, str):
                continue
            kept.add(name := f"{chosen}:{one.full}")
            if found.shared:
                sharing.append((name, found))
                read_from[found.nodes[0].path] = one.full
            else:
                self._put(opened, graph, name, found, done)
            if found.nodes and chosen not in done.adapters:
                done.adapters.append(chosen)
        done.adapters.sort()
        before = graph.owned(_SHARED)
        now = {node.id: node for _, found in sharing for node in found.shared}
        # The shared nodes have an owner of their own and come first: an edge needs both its ends.
        if now:
            graph.merge(_SHARED, [*now.values(), *(n for i, n in graph.nodes(before).items() if i not in now)], ())
            graph.set_meta(DOCUMENTS_KEY, json.dumps(json.loads(graph.meta(DOCUMENTS_KEY) or "{}") | read_from))
        for name, found in sharing:
            self._put(opened, graph, name, found, done)
        if not single:
            for name in _ENDINGS:
                if adapter in ("auto", name):
                    graph.unmerge(f"{name}:{wish.root.rstrip('/')}/", keep=kept)
        if set(before) - now.keys():
            _unshare(graph)

    @staticmethod
    def _put(opened: OpenBrain, graph: LocalGraph, name: str, found: DocumentGraph, done: Ingested) -> None:
        done.providers |= {kind: state for kind, state in found.provider_status.items() if state == "missing"}
        conflicts = [(path, "conflict_marker") for path, why in found.skipped if why == "merge_conflict"]
        done.refused += conflicts
        done.refused += [(path, why) for path, why in found.skipped if why.startswith(_UNCLEAN)]
        done.skipped += [(what, why) for what, why in found.skipped if why != "merge_conflict" and not why.startswith(_UNCLEAN)]
        if not found.nodes:
            graph.unmerge(name)
            return
        edges = [*found.edges, *_grounded(opened, graph, found, done)]
        more = graph.merge(name, found.nodes, edges)
        before = done.written or _NOTHING
        done.written = replace(
            before,
            nodes_created=before.nodes_created + more.nodes_created,
            edges_created=before.edges_created + more.edges_created,
            edges_skipped=before.edges_skipped + more.edges_skipped,
            truncated=before.truncated or more.truncated,
        )
        done.files_parsed += 1


def _unshare(graph: LocalGraph) -> None:
    """Let go of shared nodes that no document names any more."""
    arrays = graph.arrays()
    tied = {*arrays.source.tolist(), *arrays.target.tolist()}
    named = {arrays.ids[row] for row in tied}
    held = graph.owned(_SHARED)
    kept = [node for node_id, node in graph.nodes(held).items() if node_id in named]
    if len(kept) < len(held):
        graph.merge(_SHARED, kept, ())


def _grounded(opened: OpenBrain, graph: LocalGraph, found: DocumentGraph, done: Ingested) -> list[Edge]:
    """Evidence that leads to code, to the symbol if it names one."""
    weight, causal = LIGHT_WEIGHTS["grounded_in"]
    edges = []
    for node, value in found.evidence:
        file = f"file::{evidence_path(value)}"
        target = symbol_node(opened, value) or (file if graph.nodes([file]) else None)
        if target is None:
            done.evidence_unresolved += 1
            continue
        done.evidence_resolved += 1
        edges.append(Edge(source=node, target=target, relation="grounded_in", weight=weight, causal=causal))
    return edges


def _adapter_of(path: str, content: bytes) -> str:
    if path.lower().endswith(".bib"):
        return "bibtex"
    return "light" if path.lower().endswith(_MARKDOWN) and looks_like_light(content.decode("utf-8", "replace")) else "universal"


def _read(adapter: str, path: str, content: bytes | None, namespace: str | None) -> DocumentGraph | str | None:
    """One file by one adapter; None when it is not of that kind, a text when it cannot be read."""
    if content is None:
        return "cannot be read"
    if adapter == "universal":
        return read_universal(path, content, namespace=namespace) if _is_document(path) else None
    text = content.decode("utf-8", "replace")
    if adapter == "json":
        return read_descriptor(text)
    reader = {"memory": read_notes, "light": read_light, "bibtex": read_bibliography}[adapter]
    return reader(path, text, namespace=namespace)


def _secrets(opened: OpenBrain, content: bytes) -> Iterator[Finding]:
    """What must not be remembered of a document. A merge marker is the concern of the adapters that know it."""
    if b"\0" in content[:8192]:
        return iter(())
    found = findings(opened, content.decode("utf-8", "replace"))
    return (hit for hit in found if hit.pattern_class != "conflict_marker")


def _is_document(path: str) -> bool:
    return path.lower().endswith((*DOCUMENTS, ".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".doc", ".xls"))


def _files(root: str, endings: tuple[str, ...] | None) -> list[FileFound]:
    if os.path.isfile(root):
        facts = os.stat(root)
        return [FileFound(root, root, facts.st_size, facts.st_mtime_ns)]
    found = listing(root).files
    return [one for one in found if (_is_document(one.path) if endings is None else one.path.lower().endswith(endings))]
