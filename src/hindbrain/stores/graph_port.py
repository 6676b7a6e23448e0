"""The port of the graph: a checkout's files, symbols and documents, derived from the disk and always local to it.

It may be dropped and made again by an ingest. What was learned about its edges is kept elsewhere and outlives it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hindbrain.domain.graph import Edge, FileFacts, Node, Parsed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "About",
    "Bound",
    "CodeHit",
    "GraphArrays",
    "GraphStore",
    "Resolution",
    "ResolveFile",
    "Resolver",
    "Symbols",
    "Written",
]


class About(NamedTuple):
    """One file as a resolver sees it."""

    language: str
    symbols: Sequence[tuple[str, str]]  # node id, label; without the file's own node
    imports: Sequence[tuple[str, str]]  # local name, module as written
    bases: Sequence[tuple[str, str, str]]  # node id of a type, name and qualifier of what it inherits


class Symbols(Protocol):
    """What a resolver may ask of all files. Good until the end of one transaction."""

    @property
    def files(self) -> Mapping[str, int]:
        """Every path of the graph."""
        ...

    def named(self, label: str) -> Sequence[str]:
        """The node ids of all definitions with this label, in order."""
        ...

    def language(self, path: str) -> str: ...

    def about(self, path: str) -> About: ...


class Resolution(Protocol):
    """What the names of one file mean: rows of source, target, relation, flags, weight, causal; and how many meant something."""

    @property
    def edges(self) -> Sequence[tuple[str, str, str, int, float, float]]: ...

    @property
    def resolved(self) -> int: ...

    @property
    def ambiguous(self) -> int: ...

    @property
    def unresolved(self) -> int: ...


class Bound(NamedTuple):
    """A resolution as plain values."""

    edges: Sequence[tuple[str, str, str, int, float, float]]
    resolved: int
    ambiguous: int
    unresolved: int


# Given all symbols, what resolves one file: its path and references (source, name, relation, qualifier, line).
ResolveFile = Callable[[str, Sequence[tuple[str, str, str, str, int]]], Resolution]
Resolver = Callable[[Symbols], ResolveFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an ingest left behind."""

    files_parsed: int
    nodes_created: int
    edges_created: int
    references_resolved: int
    references_ambiguous: int
    references_unresolved: int
    truncated: bool = False
    edges_skipped: int = 0  # whose ends are not both there
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeHit:
    """A stretch of a file that full text found."""

    path: str
    line_start: int
    line_end: int
    score: float  # BM25, larger is better


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphArrays:
    """The whole graph in columns, ready for arithmetic. Row i of every node column is one node, ordered by external id."""

    generation: int
    ids: Sequence[str]
    labels: Sequence[str]
    kinds: Sequence[str]
    paths: Sequence[str]
    tags: Sequence[str]  # joined by a space
    last_modified: "NDArray[np.float64]"
    change_frequency: "NDArray[np.float32]"
    pagerank: "NDArray[np.float32]"
    source: "NDArray[np.int32]"  # of each edge
    target: "NDArray[np.int32]"
    relation: "NDArray[np.int16]"  # index into `relations`
    relations: Sequence[str]
    weight: "NDArray[np.float32]"
    causal: "NDArray[np.float32]"
    inhibitory: "NDArray[np.bool_]"
    bidirectional: "NDArray[np.bool_]"


class GraphStore(Protocol):
    """The graph of one brain on this machine. Safe for several threads and processes; one writer at a time."""

    def put(self, parsed: Iterable[Parsed], *, removed: Collection[str] = (), replace: bool = False) -> Written:
        """Take in files: each replaces what its path contributed before; `removed` paths go; with `replace` all others go too.
        References are resolved against all files; the generation grows by one if anything changed."""
        ...

    def merge(self, owner: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> Written:
        """Replace what another owner than a file (documents, descriptors, notes) contributed. Edges to unknown nodes are
        left out and counted."""
        ...

    def files(self) -> dict[str, FileFacts]:
        """The inventory: path -> facts as of the last ingest."""
        ...

    def counts(self) -> tuple[int, int, int]:
        """Nodes, edges, generation."""
        ...

    def arrays(self) -> GraphArrays:
        """Everything, in columns; kept until the generation changes."""
        ...

    def nodes(self, ids: Sequence[str]) -> dict[str, Node]: ...

    def edges_of(self, node_id: str, *, limit: int) -> tuple[Edge, ...]:
        """Edges from and to a node."""
        ...

    def find(self, terms: Sequence[str], *, limit: int, field: str = "chunks", within: int | None = None) -> tuple[CodeHit, ...]:
        """Full text over `chunks` (stretches of files), `names` (path, definitions, docstrings of a file) or `whole` (a file as
        one), best first. With `within` only the rarest terms are looked up, as many as together touch no more rows than that."""
        ...

    def frequencies(self, terms: Sequence[str], *, field: str = "chunks") -> tuple[Mapping[str, int], int]:
        """term -> number of rows with it, and the number of rows."""
        ...

    def changes(self, paths: Sequence[str]) -> dict[str, tuple[tuple[str, int], ...]]:
        """path -> files that were committed together with it, with how often; most often first."""
        ...

    def meta(self, key: str) -> str | None: ...

    def set_meta(self, key: str, value: str) -> None: ...

    def close(self) -> None: ...
