"""Parsed files as a test writes them down: a path, what it defines, and what it uses."""

import hashlib
from collections.abc import Sequence

from hindbrain.domain.graph import Chunk, Edge, FileFacts, Node, Parsed, Reference

__all__ = ["parsed"]


def parsed(path: str, *, defines: Sequence[str] = (), uses: Sequence[str] = (), text: str = "", frequency: float = 0.0) -> Parsed:
    """A file with functions, all of which the file contains, that uses names out of the file."""
    own = f"file::{path}"
    nodes = [Node(id=own, label=path.rpartition("/")[2], kind="file", path=path, line_end=9, change_frequency=frequency)]
    for line, name in enumerate(defines, 2):
        nodes.append(
            Node(
                id=f"{own}::fn::{name}",
                label=name,
                kind="function",
                path=path,
                line_start=line,
                line_end=line,
                excerpt=f"def {name}()",
                change_frequency=frequency,
            )
        )
    words = text or " ".join((path, *defines))
    return Parsed(
        facts=FileFacts(
            path=path, size=len(words), mtime_ns=1, sha256=hashlib.sha256(words.encode()).hexdigest(), language="python", lines=9
        ),
        nodes=tuple(nodes),
        edges=tuple(Edge(source=own, target=node.id, relation="contains", weight=1.0) for node in nodes[1:]),
        references=tuple(Reference(source=own, name=name, relation="calls", line=1) for name in uses),
        chunks=(Chunk(line_start=1, line_end=5, terms=words), Chunk(line_start=6, line_end=9, terms="end")),
        names=" ".join(defines),
    )
