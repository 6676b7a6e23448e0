"""Child processes: one module starts them."""

import ast

import pytest

from tests.architecture.source import PACKAGE, Module, imports, modules

LAUNCHER = f"{PACKAGE}.launcher"
# The program that the launcher starts to contain a command. It runs by itself and imports nothing of the package.
SANDBOX = f"{PACKAGE}.stores.confined"

STARTING_MODULES = frozenset(
    {"subprocess", "_posixsubprocess", "multiprocessing", "pty", "popen2", "commands", "pexpect", "sh", "plumbum", "webbrowser"}
    | {"concurrent.futures.process", "asyncio.subprocess", "antigravity"}
)
STARTING_NAMES = frozenset(
    {"popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile", "ProcessPoolExecutor"}
    | {"execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe", "spawnl", "spawnle", "spawnlp", "spawnlpe"}
    | {"spawnv", "spawnve", "spawnvp", "spawnvpe", "create_subprocess_exec", "create_subprocess_shell", "subprocess_exec"}
    | {"subprocess_shell", "run_process", "open_process", "fork_exec"}
)


def starts(module: Module) -> list[str]:
    """Every place of a module that can start a process."""
    found = [
        f"{module.where}:{one.line} imports {one.target}"
        for one in imports(module)
        if one.target in STARTING_MODULES or one.target.split(".")[0] in STARTING_MODULES
    ]
    for node in ast.walk(module.tree):
        # `system` is also the name of a message of a model.
        if isinstance(node, ast.Attribute) and (
            node.attr in STARTING_NAMES or ast.unparse(node) in ("os.system", "posix.system")
        ):
            found.append(f"{module.where}:{node.lineno} names {node.attr}")
        elif isinstance(node, ast.ImportFrom):
            found += [
                f"{module.where}:{node.lineno} imports {one.name}"
                for one in node.names
                if one.name in STARTING_NAMES | {"system"}
            ]
    return found


@pytest.mark.req("CONF-02")
def test_only_the_launcher_starts_processes() -> None:
    found = [line for module in modules() if module.name not in (LAUNCHER, SANDBOX) for line in starts(module)]

    assert found == []


def test_the_sandbox_program_imports_nothing_of_the_package() -> None:
    alone = next(module for module in modules() if module.name == SANDBOX)

    assert [one.target for one in imports(alone) if one.target.startswith(PACKAGE)] == []


def test_rooms_without_input_and_output_do_not_know_the_launcher() -> None:
    inner = [module for module in modules() if module.name.split(".")[1:2] in (["domain"], ["policy"], ["engines"])]

    assert [module.where for module in inner for one in imports(module) if one.target == LAUNCHER] == []


@pytest.mark.parametrize(
    "text",
    [
        "def go():\n    import subprocess\n",
        "from subprocess import run\n",
        "import os\nos.system('x')\n",
        "from os import execv\n",
        "from os import system\n",
        "import os\nspawn = os.posix_spawn\n",
        "import asyncio\nasync def go():\n    await asyncio.create_subprocess_exec('x')\n",
        "import anyio\nasync def go():\n    await anyio.run_process(['x'])\n",
        "from concurrent.futures import ProcessPoolExecutor\n",
        "import multiprocessing.pool\n",
        "import importlib\nimportlib.import_module('subprocess')\n",
        "def go():\n    import webbrowser\n",
    ],
)
def test_the_rule_sees_every_way_to_start_a_process(text: str) -> None:
    """Control: the rule is not green because it misses a way."""
    home = next(module for module in modules() if module.name == "hindbrain.stores.home")

    assert starts(Module(name="hindbrain.stores.bad", path=home.path.with_name("bad.py"), tree=ast.parse(text), text=text))
