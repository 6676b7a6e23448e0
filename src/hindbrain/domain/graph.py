"""The graph: files, symbols, documents and claims as nodes, what binds them as edges. Values only."""

from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Chunk", "Edge", "FileFacts", "Node", "Parsed", "Reference", "Relation"]


class Relation(StrEnum):
    """What binds two nodes of code or documents; claims add the relations of their own grammar."""

    CONTAINS = "contains"
    IMPORTS = "imports"
    CALLS = "calls"
    REFERENCES = "references"
    IMPLEMENTS = "implements"
    INHERITS = "inherits"
    TESTS = "tests"
    REGISTERS = "registers"
    CONFIGURES = "configures"
    REEXPORTS = "reexports"
    DECLARES_MODULE = "declares_module"
    DEPENDS_ON = "depends_on"
    CO_CHANGES = "co_changes"
    MENTIONS = "mentions"
    CITES = "cites"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node. `id` is the external id, e.g. `file::src/a.py::class::A::fn::run`; stable over re-ingest."""

    id: str
    label: str
    kind: str  # file, directory, function, class, struct, enum, type, module, reference, concept, process, custom:<n> ...
    path: str = ""  # relative to the root of the brain
    line_start: int = 0
    line_end: int = 0
    excerpt: str = ""  # signature or first line, at most 220 characters
    namespace: str = ""
    tags: tuple[str, ...] = ()
    last_modified: float = 0.0  # seconds
    change_frequency: float = 0.0  # 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One edge between two nodes that exist. At most one per source, target and relation."""

    source: str
    target: str
    relation: str
    weight: float = 0.5
    causal: float = 0.0
    bidirectional: bool = False
    inhibitory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A name that a node uses and that has to be found: resolved against all files once they are known."""

    source: str  # node id
    name: str  # last part of the name, e.g. `run`
    relation: str
    qualifier: str = ""  # what stood before it: `self`, a module path, an object
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stretch of a file that is searched as one: a symbol or about sixty lines."""

    line_start: int
    line_end: int
    terms: str  # words as the index takes them, joined by a space


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What the inventory keeps of one file."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    language: str
    lines: int
    commits: int = 0
    last_commit: int = 0  # seconds
    parse: str = "full"  # full, fallback, text, skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """Everything one file contributes. The file's own node comes first."""

    facts: FileFacts
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]  # inside the file
    references: tuple[Reference, ...] = ()  # out of it, not yet resolved
    imports: tuple[tuple[str, str], ...] = ()  # (local name, module path or file) as written
    chunks: tuple[Chunk, ...] = ()
    names: str = ""  # terms of path, definition names and docstrings: the short text a file is found by
    warnings: tuple[str, ...] = field(default=())
