"""A thin call stays thin: what it loads is counted, because what it takes cannot be (a machine's speed is no test)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain import __version__
from tests.cli.program import Program
from tests.cli.strange import json_answer, strange_owner

NORTH: dict[str, Any] = {
    "name": "north",
    "effect": "read",
    "summary": "What is known here.",
    "help": "What is known here.",
    "schema": {"type": "object", "properties": {"query": {"type": "string"}}},
    "everyday": True,
    "human": False,
    "progress": False,
    "positional": ["query"],
    "raises": [],
    "surfaces": ["cli", "mcp", "http"],
}

# Each of these costs between a tenth and the whole of what a thin call may take.
DEAR = {
    "argparse",
    "asyncio",
    "click",
    "contextlib",
    "dataclasses",
    "logging",
    "msgspec",
    "pathlib",
    "rich",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "typing",
    "urllib.parse",
    "hindbrain.app",
    "hindbrain.domain",
    "hindbrain.operations",
    "hindbrain.services",
}
# All that a thin call may load of the stores: where the owner is, and the token that it must prove to know.
LIGHT = {"hindbrain.stores", "hindbrain.stores.owner_file", "hindbrain.stores.token_file"}

_PROBE = """
import os, sys
before = set(sys.modules)
sys.argv = ["hindbrain", *sys.argv[1:]]
os._exit = lambda code: sys.exit(code)
from hindbrain.__main__ import main
try:
    main()
finally:
    sys.stderr.write("\\n".join(sorted(set(sys.modules) - before)))
"""


def loaded(program: Program, *words: str) -> set[str]:
    """The modules that one call loaded beyond those of the bare interpreter."""
    command = [sys.executable, "-I", "-c", _PROBE, *words]
    done = subprocess.run(command, env=program.environment(), cwd=program.directory, input=b"{}", capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    assert isinstance(json.loads(done.stdout), dict)
    return set(done.stderr.decode().splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ("north", "where am I"),
        ("call", "north", '{"query": "x"}'),
        ("--json", "north", "--query=x", "--agent", "codex:maker"),
        ("hook", "claude-code", "SessionStart"),
        ("hook", "claude-code", "Stop"),
        ("north", "--hook"),
    ],
)
def test_thin_calls_load_nothing_dear(program: Program, words: tuple[str, ...]) -> None:
    with strange_owner(program.home, json_answer({"ok": True, "rendered": "é"})):
        (program.home / "manifest.json").write_text(json.dumps({"version": __version__, "operations": [NORTH]}))
        found = loaded(program, *words)

    assert not found & DEAR
    assert {name for name in found if name.startswith("hindbrain.stores")} <= LIGHT
    assert "hindbrain.surfaces.exchange" in found


def test_thin_the_package_itself_loads_nothing() -> None:
    probe = "import sys; before = set(sys.modules); import hindbrain; print(set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-I", "-c", probe], capture_output=True, check=True, text=True)

    assert done.stdout.strip() == "{'hindbrain'}"


def test_thin_help_is_free_of_server_libraries(program: Program, tmp_path: Path) -> None:
    program.home.mkdir()
    (program.home / "manifest.json").write_text(json.dumps({"version": __version__, "operations": [NORTH]}))
    probe = _PROBE.replace("main()\n", "sys.exit(main())\n")
    for words in (["--help"], ["north", "--help"], ["--version"]):
        command = [sys.executable, "-I", "-c", probe, *words]
        done = subprocess.run(command, env=program.environment(), cwd=tmp_path, capture_output=True, timeout=60, text=True)
        assert done.returncode == 0
        assert not set(done.stderr.splitlines()) & {"mcp", "starlette", "uvicorn", "asyncio", "apsw", "psycopg", "rich"}
