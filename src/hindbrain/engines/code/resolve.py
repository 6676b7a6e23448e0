"""Resolution: which definitions the names of one file mean. What is ambiguous or unknown is counted and makes no node."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hindbrain.engines.code.mentions import mentioned
from hindbrain.engines.code.pairs import Tested
from hindbrain.engines.code.scope import AMBIGUOUS, SELF, Scope
from hindbrain.engines.code.table import Source, Table, path_of
from hindbrain.policy.graph import FILE_IMPORT_WEIGHT, strength

__all__ = ["Bound", "Resolved", "Use", "resolver"]

Use = tuple[str, str, str, str, int]  # source node id, name, relation as extracted, qualifier, line
Bound = tuple[str, str, str, int, float, float]  # source, target, relation, flags, weight, causal
_Edges = dict[tuple[str, str, str], tuple[float, float]]

# A type in a signature and a decorator weigh differently; both are stored as references.
_STORED = {"type": "references", "decorator": "references"}
_DOCUMENTS = frozenset({"markdown", "rst", "html", "text", "json", "toml", "yaml", "gomod"})


class Resolved(NamedTuple):
    """The edges one file contributes and what could not be told."""

    edges: Sequence[Bound]
    resolved: int
    ambiguous: int
    unresolved: int


def resolver(source: Source) -> Callable[[str, Iterable[Use]], Resolved]:
    """What resolves one file after the other against all files of a source, which must not change meanwhile."""
    table = Table(source)
    tested = Tested(table.paths)

    def resolve(path: str, uses: Iterable[Use]) -> Resolved:
        scope = Scope(table, table.file(path))
        edges: _Edges = {}
        counts = _Counts()
        shared = _imports(scope, counts, edges)
        if scope.here.language in _DOCUMENTS:
            _mentions(table, path, uses, counts, edges)
        else:
            _uses(scope, uses, counts, edges)
        _narrow(path, shared, edges)
        if (target := tested.by(path, table, _imported(edges, path))) is not None:
            given = strength("tests")
            edges[(f"file::{path}", f"file::{target}", "tests")] = (given.weight, given.causal)
        rows = [(source_id, target_id, relation, 0, *value) for (source_id, target_id, relation), value in edges.items()]
        return Resolved(rows, counts.resolved, counts.ambiguous, counts.unresolved)

    return resolve


class _Counts:
    __slots__ = ("ambiguous", "resolved", "unresolved")

    def __init__(self) -> None:
        self.resolved = self.ambiguous = self.unresolved = 0

    def take(self, target: str) -> bool:
        """Count one answer; whether it is one."""
        if not target:
            self.unresolved += 1
        elif target is AMBIGUOUS:
            self.ambiguous += 1
        else:
            self.resolved += 1
            return True
        return False


def _uses(scope: Scope, uses: Iterable[Use], counts: _Counts, edges: _Edges) -> None:
    known: dict[tuple[str, str], str] = {}
    names = scope.here.names
    for source, name, relation, qualifier, _ in uses:
        if relation == "declares_module":
            target = next((f"file::{one}" for one in scope.module(f"self::{name}")), "")
        elif qualifier in SELF:
            target = scope.own(source, name)
        elif qualifier or name not in names:  # the same from everywhere in the file
            target = known.get((qualifier, name), "-")
            if target == "-":
                target = known[(qualifier, name)] = scope.find(source, name, qualifier)
        else:
            target = scope.find(source, name, "")
        if counts.take(target) and target != source:
            _bind(edges, source, target, relation)


def _mentions(table: Table, path: str, uses: Iterable[Use], counts: _Counts, edges: _Edges) -> None:
    for source, name, relation, qualifier, _ in uses:
        target = mentioned(table, path, name, qualifier)
        if counts.take(target) and target != f"file::{path}":
            _bind(edges, source, target, relation)


def _bind(edges: _Edges, source: str, target: str, relation: str) -> None:
    given = strength(relation)
    key = (source, target, _STORED.get(relation, relation))
    if key not in edges or edges[key][0] < given.weight:
        edges[key] = (given.weight, given.causal)
    if relation == "registers":
        one, other = f"file::{path_of(source)}", f"file::{path_of(target)}"
        if one != other:
            edges.setdefault((one, other, relation), (given.weight, given.causal))


def _imports(scope: Scope, counts: _Counts, edges: _Edges) -> list[tuple[str, ...]]:
    """File to file, and file to the symbol that was asked for by name; modules of several files are given back."""
    shared = []
    here = f"file::{scope.here.path}"
    given = strength("imports")
    for module in scope.here.modules:
        paths = scope.module(module)
        counts.take(paths[0] if paths else "")
        if len(paths) > 1:
            shared.append(paths)
        elif paths and paths[0] != scope.here.path:
            edges[(here, f"file::{paths[0]}", "imports")] = (FILE_IMPORT_WEIGHT, given.causal)
    for relation, names in (("imports", scope.here.locals), ("reexports", scope.here.exports)):
        given = strength(relation)
        for wanted in names.values():
            if "#" not in wanted and len(scope.module(wanted)) > 1:
                continue
            target = scope.imported(wanted)
            if target and target is not AMBIGUOUS and target != here:
                whole = relation == "imports" and target.count("::") == 1
                edges.setdefault((here, target, relation), (FILE_IMPORT_WEIGHT if whole else given.weight, given.causal))
    return shared


def _narrow(path: str, shared: list[tuple[str, ...]], edges: _Edges) -> None:
    """Of a module of several files those that are used; the first when none is, so that the import is not lost."""
    here = f"file::{path}"
    used = {path_of(target) for _, target, _ in edges}
    causal = strength("imports").causal
    for paths in shared:
        for one in [one for one in paths if one in used] or paths[:1]:
            if one != path:
                edges[(here, f"file::{one}", "imports")] = (FILE_IMPORT_WEIGHT, causal)


def _imported(edges: _Edges, path: str) -> set[str]:
    here = f"file::{path}"
    return {path_of(target) for source, target, relation in edges if relation == "imports" and source == here}
