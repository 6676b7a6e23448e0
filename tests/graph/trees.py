"""Trees of files that exist only in a test: parsed, resolved, and told as short lines."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hindbrain.domain.graph import Parsed
from hindbrain.engines.code.extract import parse_file
from hindbrain.engines.code.resolve import Resolved, resolver

__all__ = ["Tree", "parsed", "references", "symbols"]


def parsed(path: str, text: str | bytes) -> Parsed:
    """One file."""
    return parse_file(path, text if isinstance(text, bytes) else text.encode(), mtime_ns=0)


def symbols(one: Parsed) -> list[str]:
    """`id kind first-last` of every node but the file's."""
    root = one.nodes[0].id
    return [f"{node.id.removeprefix(root + '::')} {node.kind} {node.line_start}-{node.line_end}" for node in one.nodes[1:]]


def references(one: Parsed) -> list[str]:
    """`source relation qualifier.name` of every reference, sources by their last name."""
    return [
        f"{ref.source.rsplit('::', 1)[-1]} {ref.relation} {ref.qualifier + '.' if ref.qualifier else ''}{ref.name}"
        for ref in one.references
    ]


class Tree:
    """Files of a tree as the resolver sees them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._parsed = {path: parsed(path, text) for path, text in files.items()}
        self._named: dict[str, list[str]] = defaultdict(list)
        for one in self._parsed.values():
            for node in one.nodes[1:]:
                self._named[node.label].append(node.id)
        resolve = resolver(self)
        self.answers: dict[str, Resolved] = {
            path: resolve(path, [(r.source, r.name, r.relation, r.qualifier, r.line) for r in one.references])
            for path, one in self._parsed.items()
        }

    @property
    def files(self) -> Mapping[str, Parsed]:
        return self._parsed

    def named(self, label: str) -> Sequence[str]:
        return self._named.get(label, ())

    def language(self, path: str) -> str:
        return self._parsed[path].facts.language

    def about(
        self, path: str
    ) -> tuple[str, Sequence[tuple[str, str]], Sequence[tuple[str, str]], Sequence[tuple[str, str, str]]]:
        one = self._parsed[path]
        bases = [(r.source, r.name, r.qualifier) for r in one.references if r.relation in ("inherits", "implements")]
        return one.facts.language, [(node.id, node.label) for node in one.nodes[1:]], one.imports, bases

    def edges(self, path: str) -> set[str]:
        """`source relation target` of what one file resolves to, without `file::`."""
        return {f"{_bare(edge[0])} {edge[2]} {_bare(edge[1])}" for edge in self.answers[path].edges}

    def strengths(self) -> dict[tuple[str, str, str], tuple[float, float]]:
        """(source, relation, target) -> weight, causal of every edge."""
        return {
            (_bare(edge[0]), edge[2], _bare(edge[1])): (edge[4], edge[5]) for one in self.answers.values() for edge in one.edges
        }


def _bare(node_id: str) -> str:
    return node_id.removeprefix("file::")
