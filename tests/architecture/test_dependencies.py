"""What the package imports is what it declares: nothing by luck of another's dependencies, nothing carried along unused."""

import ast
import re
import sys
import tomllib

from tests.architecture.source import PACKAGE, ROOT, imports, modules

# Modules that come with a distribution of another name.
COMES_WITH = {"mcp_types": "mcp", "uvloop": "uvicorn", "Stemmer": "PyStemmer"}


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0] for line in project["dependencies"]}


def imported() -> dict[str, str]:
    """Every foreign distribution, with one place that imports it."""
    found: dict[str, str] = {}
    for module in modules():
        for one in imports(module):
            top = one.target.split(".")[0]
            if top != PACKAGE and top not in sys.stdlib_module_names:
                found.setdefault(COMES_WITH.get(top, top.replace("_", "-")), f"{module.where}:{one.line}")
    return found


def named() -> set[str]:
    """Distributions whose module stands in a table of the source and is imported by that name: the grammars."""
    texts = {node.value for module in modules() for node in ast.walk(module.tree) if isinstance(node, ast.Constant)}
    return {name for name in declared() if name.replace("-", "_") in texts and name.startswith("tree-sitter-")}


def test_arch_9_every_import_is_declared() -> None:
    assert {name: where for name, where in imported().items() if name not in declared()} == {}


def test_arch_9_every_declared_dependency_is_imported() -> None:
    assert declared() - set(imported()) - named() == set()
