"""Rows: what one file contributes to the graph as plain tuples, cheap to send from a worker process and to store."""

import math
import re
from collections.abc import Iterable

import msgspec

from hindbrain.domain.graph import Edge, Node, Parsed
from hindbrain.domain.typed import unpacker

__all__ = [
    "BaseRow",
    "EdgeRow",
    "FileRow",
    "NodeRow",
    "Packed",
    "ReferenceRow",
    "edge_row",
    "finite",
    "node_row",
    "pack",
    "references_of",
    "usable",
]

# path, size, mtime_ns, sha256, language, lines, commits, last_commit, parse, last_modified, change_frequency
FileRow = tuple[str, int, int, str, str, int, int, int, str, float, float]
# id, label, kind, line_start, line_end, excerpt, namespace, tags, path, last_modified, change_frequency; None: as its file has it
NodeRow = tuple[str, str, str, int, int, str, str, str, str | None, float | None, float | None]
# source, target, relation, flags, weight, causal
EdgeRow = tuple[str, str, str, int, float, float]
# source, name, relation, qualifier, line
ReferenceRow = tuple[str, str, str, str, int]
# node id of a type, name and qualifier of what it inherits
BaseRow = tuple[str, str, str]
# file, nodes, edges, references (packed), imports, bases, names used, chunks (first line, last line, terms), names, warnings
Packed = tuple[
    FileRow,
    list[NodeRow],
    list[EdgeRow],
    bytes,
    list[tuple[str, str]],
    list[BaseRow],
    list[str],
    list[tuple[int, int, str]],
    str,
    list[str],
]
_INHERITING = ("inherits", "implements")
_PARTS = re.compile(r"\w+")
_references = unpacker(list[ReferenceRow])


def references_of(packed: bytes) -> list[ReferenceRow]:
    """References as they were packed."""
    return _references.decode(packed)


def finite(value: float) -> float:
    """A number one can calculate with: what is not finite counts for nothing."""
    return value if math.isfinite(value) else 0.0


def usable(node_id: str) -> bool:
    """False for ids that name nothing: empty ones, and files without a path."""
    if not node_id.strip():
        return False
    kind, mark, rest = node_id.partition("::")
    path = rest.partition("::")[0]
    return not mark or kind != "file" or any(part not in ("", ".", "..") for part in path.split("/"))


def node_row(node: Node, *, path: str | None, modified: float | None, frequency: float | None) -> NodeRow:
    """A node beside the file it belongs to; what is the same there is not told twice."""
    return (
        node.id,
        node.label,
        node.kind,
        node.line_start,
        node.line_end,
        node.excerpt[:220],
        node.namespace,
        " ".join(tag.replace(" ", "_") for tag in node.tags),
        None if node.path == path else node.path,
        None if node.last_modified == modified else finite(node.last_modified),
        None if node.change_frequency == frequency else finite(node.change_frequency),
    )


def edge_row(edge: Edge) -> EdgeRow:
    flags = int(edge.bidirectional) | int(edge.inhibitory) << 1
    return (edge.source, edge.target, edge.relation, flags, finite(edge.weight), finite(edge.causal))


def pack(parsed: Parsed) -> Packed:
    """A parsed file as rows. Ids that name nothing are left out with a warning."""
    facts = parsed.facts
    own = parsed.nodes[0] if parsed.nodes else Node(id=f"file::{facts.path}", label=facts.path, kind="file", path=facts.path)
    modified, frequency = finite(own.last_modified), finite(own.change_frequency)
    nodes = [node_row(node, path=facts.path, modified=modified, frequency=frequency) for node in parsed.nodes if usable(node.id)]
    left_out: Iterable[str] = (f"{facts.path}: {node.id!r} is no id" for node in parsed.nodes if not usable(node.id))
    return (
        (
            facts.path,
            facts.size,
            facts.mtime_ns,
            facts.sha256,
            facts.language,
            facts.lines,
            facts.commits,
            facts.last_commit,
            facts.parse,
            modified,
            frequency,
        ),
        nodes,
        [edge_row(edge) for edge in parsed.edges],
        msgspec.msgpack.encode([(ref.source, ref.name, ref.relation, ref.qualifier, ref.line) for ref in parsed.references]),
        list(parsed.imports),
        [(ref.source, ref.name, ref.qualifier) for ref in parsed.references if ref.relation in _INHERITING],
        sorted(
            {ref.name for ref in parsed.references} | {part for pair in parsed.imports for part in _PARTS.findall(" ".join(pair))}
        ),
        [(chunk.line_start, chunk.line_end, chunk.terms) for chunk in parsed.chunks],
        parsed.names,
        [*parsed.warnings, *left_out],
    )
