"""The code view: a graph's files and definitions, arranged once per generation for questions about code. Pure."""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hindbrain.engines.code_terms import code_terms
from hindbrain.engines.network import Outline

__all__ = ["CodeView", "file_kind", "module_name"]

_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|e2e|test_[^/]*)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest|[^/]*[.-](?:test|spec))\.\w+$",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(?:^|/)(?:generated|vendor|third_party|node_modules|dist|build|fixtures?|testdata|snapshots|__snapshots__|extern|externals)/"
    r"|\.min\.\w+$|\.lock$|\.snap$|_pb2\.py$|\.pb\.go$|(?:^|/)(?:package-lock\.json|go\.sum)$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|benchmarks?|asv_benchmarks|tutorials?|gallery|scripts?|bin|tools?)/", re.I
)
_DOCUMENT = re.compile(
    r"(?:^|/)docs?/|\.(?:md|mdx|rst|txt|adoc|markdown)$|(?:^|/)(?:changelog|changes|license|authors)[^/]*$", re.I
)
_DATA = (".json", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".csv", ".xml", ".html", ".css", ".svg", ".po", ".ipynb", ".conf")
_ROOTS = ("src/", "lib/")

Ints = NDArray[np.int64]


def file_kind(path: str) -> str:
    """What a file is for, by its path alone."""
    if _GENERATED.search(path):
        return "generated"
    if _TEST.search(path):
        return "test"
    if _DOCUMENT.search(path):
        return "document"
    if path.lower().endswith(_DATA):
        return "data"
    return "example" if _EXAMPLE.search(path) else "source"


def module_name(path: str) -> str:
    """A file as an import spells it."""
    for root in _ROOTS:
        path = path.removeprefix(root)
    stem = path.rsplit(".", 1)[0].replace("/", ".")
    return stem.removesuffix(".__init__").removesuffix(".index").removesuffix(".mod")


class CodeView:
    """Files by what they define, what they are called and what their path says."""

    def __init__(self, graph: Outline, commits: Mapping[str, int]) -> None:
        self._graph = graph
        self.commits = commits
        self.paths = tuple(sorted(commits))

    @cached_property
    def kind(self) -> dict[str, str]:
        return {path: file_kind(path) for path in self.paths}

    @cached_property
    def sources(self) -> frozenset[str]:
        """Files that hold the code itself."""
        return frozenset(path for path, kind in self.kind.items() if kind in ("source", "example"))

    @cached_property
    def defined(self) -> dict[str, tuple[int, ...]]:
        """Label -> nodes that define it."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, (label, kind) in enumerate(zip(self._graph.labels, self._graph.kinds, strict=True)):
            if kind not in ("file", "directory", "document", "reference"):
                found[label].append(at)
        return {label: tuple(nodes) for label, nodes in found.items()}

    @cached_property
    def by_name(self) -> dict[str, tuple[str, ...]]:
        """Base name -> files."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            found[path.rsplit("/", 1)[-1]].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @cached_property
    def by_stem(self) -> dict[str, tuple[str, ...]]:
        """Base name without its ending, in lower case -> files."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            found[path.rsplit("/", 1)[-1].split(".", 1)[0].lower()].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @cached_property
    def by_module(self) -> dict[str, tuple[str, ...]]:
        """Last part of a module name -> files of such modules."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            found[module_name(path).rsplit(".", 1)[-1]].append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @cached_property
    def by_path_term(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            for term in dict.fromkeys(code_terms(path.rsplit(".", 1)[0].replace("/", " "))):
                found[term].append(path)
        return {term: tuple(paths) for term, paths in found.items()}

    @cached_property
    def _arcs(self) -> tuple[Ints, Ints]:
        """Edges ordered by a node they touch, and where those of each node begin."""
        source, target = np.asarray(self._graph.source), np.asarray(self._graph.target)
        ends = np.concatenate([source, target])
        order = np.argsort(ends, kind="stable")
        starts = np.searchsorted(ends[order], np.arange(len(self._graph.ids) + 1))
        return order % max(1, len(source)), starts

    def edges_at(self, node: int) -> Ints:
        """Numbers of the edges from and to a node."""
        edges, starts = self._arcs
        return edges[starts[node] : starts[node + 1]]

    def place(self, node_id: str) -> int | None:
        """The row of a node. Ids are in order."""
        at = bisect_left(self._graph.ids, node_id)
        return at if at < len(self._graph.ids) and self._graph.ids[at] == node_id else None

    def rarity(self, files: int) -> float:
        """How much a sign says that so many files show: 1 for one of them, near 0 for all."""
        total = max(2, len(self.paths))
        return math.log(1 + total / max(1, files)) / math.log(1 + total)
