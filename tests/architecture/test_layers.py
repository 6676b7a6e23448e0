"""The import rule: dependencies point one way, and the inner rooms touch nothing outside themselves."""

import ast

import pytest

from tests.architecture.source import PACKAGE, Module, imports, modules, outermost

# A module imports from its own room or from a room of a lower rank. Rooms of equal rank do not know each other.
RANKS = {
    "domain": 0,
    "policy": 1,
    "launcher": 1,  # stores, providers, services and surfaces start programs by it
    "engines": 2,
    "providers": 2,
    "stores": 2,
    "settings": 2,
    "services": 3,
    "operations": 4,
    "surfaces": 5,
}

# The front door, the program and the composition root see everything.
ROOTS = {PACKAGE, f"{PACKAGE}.__main__", f"{PACKAGE}.app"}

# What the rooms without I/O may import from outside the package. Not listed: whatever has a clock, chance, files or sockets.
_VALUES = {"__future__", "abc", "collections", "collections.abc", "dataclasses", "enum", "types", "typing"}
# Parsers of text that is handed to them; `importlib` loads a grammar when a file asks for it, `datetime` reads the times that a
# text holds and is asked for no other.
# `csv` and `difflib` read and compare lines that are handed to them.
# `regex` is asked with a time limit, which is its own; `Stemmer` and `fnmatch` turn a word or a pattern into another.
# `tomllib` and `shlex` read a configuration and a command line of a host.
# `base64`, `binascii` and `urllib.parse` decode a text in which a secret may be hidden.
# `ast` reads Python that a scripted agent of the gym looks at.
_READERS = {
    "Stemmer",
    "ast",
    "base64",
    "binascii",
    "csv",
    "datetime",
    "difflib",
    "fnmatch",
    "importlib",
    "msgspec",
    "posixpath",
    "regex",
    "shlex",
    "tomllib",
    "tree_sitter",
    "urllib.parse",
}
_NUMBERS = {"numpy", "numpy.typing"}
PURE = {
    # How experience fades is a rule that stores and engines share: a formula, and what it gave for the few numbers there are.
    "policy": _VALUES | {"functools", "math", "re"},
    # `msgspec` makes records that check themselves: what a role says to another is closed. `threading` has each learnt once.
    # `unicodedata` knows the letters of every script, of which the name of a claim is made.
    "domain": _VALUES | {"hashlib", "json", "msgspec", "posixpath", "re", "threading", "unicodedata"},
    "engines": _VALUES
    | _READERS
    | _NUMBERS
    | {"bisect", "functools", "hashlib", "itertools", "json", "math", "operator", "re", "threading", "unicodedata"},
}
_SPEAKING = {"open", "print", "input", "exec", "eval", "compile", "breakpoint"}


def room(name: str) -> str:
    """The room of a module: `hindbrain.stores.home` is in `stores`."""
    return name.split(".")[1]


def trespasses(module: Module) -> list[str]:
    """Every import of a module that does not point inward."""
    found = []
    for one in imports(module):
        if not one.target.startswith(f"{PACKAGE}.") or module.name in ROOTS:
            continue
        if one.target in ROOTS:
            allowed = room(module.name) == "surfaces" and one.target == f"{PACKAGE}.app"
        else:
            here, there = room(module.name), room(one.target)
            allowed = here == there or RANKS[there] < RANKS[here]
        if not allowed:
            found.append(f"{module.where}:{one.line} imports {one.target}")
    return found


def test_arch_1_every_module_is_in_a_known_room() -> None:
    strangers = [module.where for module in modules() if module.name not in ROOTS and room(module.name) not in RANKS]

    assert strangers == []


def test_arch_1_imports_point_inward() -> None:
    found = [line for module in modules() for line in trespasses(module)]

    assert found == []


def test_arch_1_the_rule_sees_imports_inside_functions_and_by_name() -> None:
    """Control: the rule is not green because it looks away."""
    hidden = (
        "def go():\n    from hindbrain.surfaces import cli\n    import importlib\n    importlib.import_module('hindbrain.app')\n"
    )
    home = next(module for module in modules() if module.name == "hindbrain.stores.home")
    bad = Module(name="hindbrain.stores.bad", path=home.path.with_name("bad.py"), tree=ast.parse(hidden), text=hidden)

    assert [line.split(" imports ")[1] for line in trespasses(bad)] == ["hindbrain.surfaces.cli", "hindbrain.app"]


@pytest.mark.parametrize("name", sorted(PURE))
def test_arch_2_the_inner_rooms_do_no_input_and_output(name: str) -> None:
    inside = [module for module in modules() if module.name not in ROOTS and room(module.name) == name]
    found = [
        f"{module.where}:{one.line} imports {one.target}"
        for module in inside
        for one in imports(module)
        if one.target.split(".")[0] != PACKAGE and one.target not in PURE[name]
    ]
    found += [
        f"{module.where}:{node.lineno} calls {node.func.id}"
        for module in inside
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SPEAKING
    ]

    assert inside
    assert found == []


def _reads_environment(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "os" and node.attr in ("environ", "environb", "getenv")
    return isinstance(node, ast.ImportFrom) and node.module == "os" and any(a.name in ("environ", "getenv") for a in node.names)


def _handed_on(module: Module) -> set[int]:
    """Nodes in functions that start a program with an environment of its own: handing it on is not reading a setting."""
    return {
        id(inner)
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef)
        and any(keyword.arg == "env" for call in ast.walk(function) if isinstance(call, ast.Call) for keyword in call.keywords)
        for whole in ast.walk(function)
        if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and whole.func.attr == "items"
        for inner in ast.walk(whole)
    }


def test_arch_3_only_the_edges_read_the_environment() -> None:
    """Configuration is read once: by the composition root and the settings table, and by a surface for its own caller.

    The launcher hands the environment on to children and takes no setting from it."""
    found = [
        f"{module.where}:{getattr(node, 'lineno', 0)}"
        for module in modules()
        if module.name not in (f"{PACKAGE}.app", f"{PACKAGE}.settings", f"{PACKAGE}.launcher")
        and not module.name.startswith(f"{PACKAGE}.surfaces")
        for node in ast.walk(module.tree)
        if _reads_environment(node) and id(node) not in _handed_on(module)
    ]

    assert found == []


def test_arch_3_no_module_reads_the_environment_or_a_file_when_it_is_imported() -> None:
    defaults = {
        id(default)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef)
        for default in [*node.args.defaults, *node.args.kw_defaults]
        if default is not None  # `environ=os.environ` names the mapping and reads nothing from it
    }
    files = {"read_text", "read_bytes", "open", "connect", "Popen", "getcwd", "listdir", "scandir", "stat"}
    found = [
        f"{module.where}:{getattr(node, 'lineno', 0)}"
        for module in modules()
        for node in outermost(module.tree)
        if (_reads_environment(node) and id(node) not in defaults)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in files)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SPEAKING)
    ]

    assert found == []
