"""The source as the architecture tests see it: every module with its parsed text, and what it imports wherever it does so."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["PACKAGE", "ROOT", "SRC", "Import", "Module", "imports", "modules", "outermost"]

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PACKAGE = "hindbrain"
_LOADERS = {"import_module", "__import__", "find_spec"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One file of the package."""

    name: str
    path: Path
    tree: ast.Module
    text: str

    @property
    def where(self) -> str:
        return str(self.path.relative_to(ROOT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One name a module reaches for, and whether importing the module already reaches for it."""

    target: str
    line: int
    at_import: bool


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package."""
    found = []
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(name=name, path=path, tree=ast.parse(text, str(path)), text=text))
    return tuple(found)


@cache
def _names() -> frozenset[str]:
    return frozenset(module.name for module in modules())


def imports(module: Module) -> Iterator[Import]:
    """Everything a module imports: at the top, under conditions, inside functions, and by name through importlib."""
    running = {id(node) for node in outermost(module.tree)}
    for node in ast.walk(module.tree):
        for target in _targets(module, node):
            yield Import(target=target, line=getattr(node, "lineno", 0), at_import=id(node) in running)


def outermost(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node that is evaluated when the module is imported: function bodies and type-checking blocks are not."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _targets(module: Module, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _base(module, node)
        for alias in node.names:
            whole = f"{base}.{alias.name}"
            # The package's one public verb is a name of the composition root.
            yield "hindbrain.app" if whole == "hindbrain.open" else whole if whole in _names() else base
    elif isinstance(node, ast.Call) and _called(node) in _LOADERS and node.args and isinstance(node.args[0], ast.Constant):
        yield str(node.args[0].value)


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.path.name == "__init__.py" else module.name.split(".")[:-1]
    parts = package[: len(package) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
