"""The table of symbols: what every file defines and imports, as the resolver asks for it. Files are looked up when needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hindbrain.engines.code.languages import language_of
from hindbrain.engines.code.modules import Modules, family

__all__ = ["FileTable", "Source", "Table", "kind_of", "parent_of", "path_of"]

Pair = tuple[str, str]


class Source(Protocol):
    """Where the table gets its files from: everything that is known, however it is kept."""

    @property
    def files(self) -> Mapping[str, object]:
        """Every path."""
        ...

    def named(self, label: str) -> Sequence[str]:
        """The node ids of all definitions with this label."""
        ...

    def language(self, path: str) -> str: ...

    def about(self, path: str) -> tuple[str, Sequence[Pair], Sequence[Pair], Sequence[tuple[str, str, str]]]:
        """Language, (node id, label) of its symbols, imports as written, (node id, name, qualifier) of what its types inherit."""
        ...


def parent_of(node_id: str) -> str:
    """The id of the node around a symbol: `file::a.py::class::A::fn::run` -> `file::a.py::class::A`."""
    return node_id.rsplit("::", 2)[0]


def kind_of(node_id: str) -> str:
    """What a node id says its node is: `file`, `class`, `fn`, ..."""
    return node_id.rsplit("::", 2)[-2]


def path_of(node_id: str) -> str:
    """The path of the file that a node of code lies in."""
    return node_id.split("::", 2)[1]


@dataclass(slots=True)
class FileTable:
    """One file as others see it."""

    path: str
    language: str
    names: dict[str, list[str]] = field(default_factory=dict)  # label -> node ids
    locals: dict[str, str] = field(default_factory=dict)  # local name -> target of its import
    stars: list[str] = field(default_factory=list)  # modules all of whose names are taken
    exports: dict[str, str] = field(default_factory=dict)  # names passed on from another module
    modules: list[str] = field(default_factory=list)  # every module that is imported, in order
    bases: dict[str, list[Pair]] = field(default_factory=dict)  # class id -> (name, qualifier) of what it inherits


class Table:
    """All files of a tree. Good as long as its source does not change."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.paths = source.files
        self._files: dict[str, FileTable] = {}
        self._families: dict[str, str] = {}
        self._candidates: dict[tuple[str, str], list[str]] = {}
        self.members: dict[tuple[str, str], str] = {}  # (type, name) -> what it means: asked again and again
        self.exported: dict[tuple[str, str], str] = {}  # (path, name) -> what others get by it
        self.depth = 0  # how far the search for a base is inside the search for another
        roots = [path for path in self.paths if path == "go.mod" or path.endswith("/go.mod")]
        declared = {module: root.rpartition("/")[0] for root in roots for module in self.file(root).modules[:1]}
        self.modules = Modules(self.paths.keys(), go_modules=declared)

    def file(self, path: str) -> FileTable:
        """One file; it must be known."""
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = self._read(path)
        return found

    def family(self, path: str) -> str:
        """The family of a file's language."""
        found = self._families.get(path)
        if found is None:
            language = language_of(path)
            found = self._families[path] = family(self.source.language(path) if language == "text" else language)
        return found

    def named(self, label: str, kin: str) -> list[str]:
        """The definitions with a label in one family of languages; `""`: in all."""
        found = self._candidates.get((label, kin))
        if found is None:
            every = self.source.named(label)
            found = [one for one in every if one.startswith("file::") and (not kin or self.family(path_of(one)) == kin)]
            self._candidates[(label, kin)] = found
        return found

    def _read(self, path: str) -> FileTable:
        language, symbols, imports, bases = self.source.about(path)
        one = FileTable(path=path, language=language)
        for node_id, label in symbols:
            one.names.setdefault(label, []).append(node_id)
        for local, target in imports:
            _take_import(one, local, target)
        for type_id, name, qualifier in bases:
            one.bases.setdefault(type_id, []).append((name, qualifier))
        return one


def _take_import(one: FileTable, local: str, target: str) -> None:
    if target.startswith("#"):  # a package's own alias, which its manifest would have to explain
        return
    module, _, member = target.partition("#")
    if module and module not in one.modules:
        one.modules.append(module)
    if local == "export" or local.startswith("export "):
        name = local.removeprefix("export").strip()
        if name and member != "*":
            one.exports[name] = target
        else:
            one.stars.append(module)
    elif local == "*" or (not local and not member):
        one.stars.append(module)
    elif local:
        one.locals[local] = target
