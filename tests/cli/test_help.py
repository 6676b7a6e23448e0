"""Help and completion come from the registry: what exists is offered, what is offered exists (GR-180)."""

import ast
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain import __version__
from hindbrain.operations import REGISTRY, describe
from hindbrain.surfaces import cli, local
from hindbrain.surfaces.arguments import kind_of, parse
from hindbrain.surfaces.completion import SHELLS, script
from hindbrain.surfaces.helping import command
from hindbrain.surfaces.helping import program as program_help
from hindbrain.surfaces.manifest import Manifest
from tests.cli.described import described, write_manifest
from tests.cli.program import Program

OPERATIONS = [describe(REGISTRY[name]) for name in sorted(REGISTRY)]
ON_THE_CLI = [op for op in OPERATIONS if "cli" in op["surfaces"]]


def spoken(name: str) -> str:
    return name.replace(".", " ").replace("_", "-")


@pytest.mark.req("GR-180")
def test_gr_180_every_operation_is_a_command_unless_it_says_why_not() -> None:
    offered = Manifest(OPERATIONS).offered

    assert {name for name in REGISTRY if "cli" not in REGISTRY[name].left_out} == set(offered)
    assert all(reason for op in REGISTRY.values() for reason in op.left_out.values())
    assert not set(offered) & set(cli.LOCAL)


@pytest.mark.req("GR-180")
@pytest.mark.parametrize("op", ON_THE_CLI, ids=lambda op: op["name"])
def test_gr_180_every_command_takes_every_argument_of_its_operation(op: dict[str, Any]) -> None:
    shown = command(op)

    for name, schema in op["schema"]["properties"].items():
        flag = f"--{name.replace('_', '-')}"
        value = {"integer": "1", "number": "1", "object": "{}", "documents": "[]", "list": "[]"}.get(kind_of(schema)[0], "x")
        value = str(kind_of(schema)[1]["enum"][0]) if kind_of(schema)[0] == "enum" else value
        words = [flag] if kind_of(schema)[0] == "boolean" else [flag, value]
        assert name in parse({**op, "schema": {**op["schema"], "required": []}}, words, {})
        assert flag in shown or name in ("agent_id", "caller_root")
    assert op["summary"] in shown.replace("\n", " ")
    assert set(op["positional"]) <= set(op["schema"]["properties"])


@pytest.mark.req("GR-180")
def test_gr_180_the_commands_of_a_family_are_words_with_dashes_or_underscores() -> None:
    known = Manifest(OPERATIONS)

    for op in ON_THE_CLI:
        for words in (spoken(op["name"]).split(), op["name"].split("."), [op["name"]]):
            found = known.resolve([*words, "--json"])
            assert found is not None
            assert (found[0]["name"], found[1]) == (op["name"], len(words))


def test_help_lists_everyday_commands_first_and_all_of_them(program: Program) -> None:
    write_manifest(program.home, *OPERATIONS)

    ended = program.run("--help")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == program.run("help").out == program.run().out
    assert ended.out.split() == program_help(Manifest(OPERATIONS), local.COMMANDS).split()
    first_words = [line[2:].split("  ")[0] for line in ended.out.splitlines() if line.startswith("  ") and line[2:3].strip()]
    assert first_words[:6] == ["init", "status", "north", "memorize", "seek", "doctor"]
    assert {spoken(op["name"]) for op in ON_THE_CLI} | set(map(spoken, cli.LOCAL)) <= set(first_words)


def test_help_of_a_command_is_the_same_by_both_ways(program: Program) -> None:
    write_manifest(program.home, *OPERATIONS)

    asked, flagged = program.run("help", "ledger", "verify"), program.run("ledger", "verify", "--help")

    assert asked == flagged
    assert asked.out.split() == command(describe(REGISTRY["ledger.verify"])).split()
    assert program.run("help", "stop").out == program.run("stop", "--help").out
    assert program.run("call", "--help").out == program.run("help", "call").out
    assert program.run("help", "nothing-like-it").code == 2


@pytest.mark.parametrize("op", ON_THE_CLI, ids=lambda op: op["name"])
def test_help_the_examples_of_a_command_can_be_typed_as_they_stand(op: dict[str, Any]) -> None:
    lines = command(op).splitlines()
    typed, called = (shlex.split(line) for line in lines[lines.index("Examples:") + 1 :][:2])

    count = len(spoken(op["name"]).split())
    read = parse(op, typed[1 + count :], {})
    assert read == json.loads(called[-1])
    assert set(op["schema"].get("required", ())) <= set(read)
    assert "some text" not in " ".join(typed)


def test_help_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    for op in ON_THE_CLI:
        lines = command(op).splitlines()
        examples = lines[lines.index("Examples:") + 1 :][:2]  # kept whole, to be copied
        assert [line for line in lines if len(line) > 60 and line not in examples and not line.startswith("Usage:")] == []


def test_help_without_an_owners_manifest_is_the_same(program: Program) -> None:
    built = program.run("--help")
    write_manifest(program.home, *OPERATIONS)
    read = program.run("--help")

    assert built == read
    assert built.code == 0


def test_help_local_commands_are_described_where_they_are_named() -> None:
    assert set(local.COMMANDS) == set(cli.LOCAL)


@pytest.mark.req("GR-180")
@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (("nroth",), "no command 'nroth'", "north"),
        (("memorise", "x"), "no command 'memorise'", "memorize"),
        (("ledger", "verfy"), "no command 'ledger verfy'", "ledger verify"),
        (("ledger",), "no command 'ledger'", "ledger show or ledger verify"),
        (("call", "ledger.verfy"), "no command 'ledger.verfy'", "ledger verify"),
        (("zzzzzz",), "no command 'zzzzzz'", "see hindbrain --help"),
        (("--frobnicate", "north"), "no flag --frobnicate", "see hindbrain --help"),
        (("call", "north", "[]"), "one JSON object", "hindbrain help north"),
        (("call", "north", "{"), "is not JSON", "@FILE"),
    ],
)
def test_gr_180_a_mistyped_command_exits_2_with_the_nearest_names(
    program: Program, words: tuple[str, ...], message: str, fix: str
) -> None:
    write_manifest(program.home, *OPERATIONS)

    ended = program.run(*words)

    assert ended.code == 2
    assert message in ended.json["error"]["message"]
    assert fix in ended.json["error"]["fix"]
    assert message in ended.err


def test_help_every_command_that_a_text_tells_to_run_exists() -> None:
    parts = [name.split(".") for name in (*(op["name"] for op in ON_THE_CLI), *cli.LOCAL)]
    groups = sorted({" ".join(one[:depth]) for one in parts for depth in (1, 2) if len(one) > depth})
    families = "|".join(reversed(groups))  # the longer name first
    told = re.compile(rf"(?:^|[`:] ?|\brun |\bthen |\bwith )hindbrain ((?:(?:{families}) )?[a-z][a-z-]*)")
    named = {
        (found, path.name)
        for path in Path(hindbrain.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for found in told.findall(node.value)
    }

    known = {spoken(op["name"]) for op in ON_THE_CLI} | set(map(spoken, cli.LOCAL)) | {"migrate"}
    assert len(named) > 10
    assert {one for one in named if one[0] not in known} == set()


def test_help_version_is_the_packages(program: Program) -> None:
    assert program.run("--version").out == program.run("version").out == f"hindbrain {__version__}\n"
    assert program.answer("version", "--json") == {"ok": True, "version": __version__}


# -- completion ----------------------------------------------------------------------------------------------------------


def completed(tmp_path: Path, *words: str) -> set[str]:
    """What bash would offer for the last word."""
    (tmp_path / "completion.bash").write_text(script("bash", [*ON_THE_CLI, *local.COMMANDS.values()]))
    typed = " ".join(f'"{word}"' for word in ("hindbrain", *words))
    lines = f'. ./completion.bash; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _hindbrain; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_completion_offers_commands_verbs_and_flags(tmp_path: Path) -> None:
    assert completed(tmp_path, "memo") == {"memorize", "memory"}
    assert completed(tmp_path, "") >= {"north", "ledger", "serve"}
    assert completed(tmp_path, "ledger", "") == {"show", "verify"}
    assert {"--evidence", "--absolute", "--no-absolute", "--json"} <= completed(tmp_path, "memorize", "Label", "--")
    assert completed(tmp_path, "ledger", "verify", "--ti") == {"--tier"}
    assert completed(tmp_path, "cowork", "ch") == {"channel"}
    assert completed(tmp_path, "cowork", "channel", "") == {"list", "send", "set"}
    assert completed(tmp_path, "cowork", "channel", "set", "--ag") >= {"--agents"}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_name_every_command(program: Program, shell: str) -> None:
    write_manifest(program.home, *OPERATIONS, described("odd.family_verb", {"some_flag": {"type": "string"}}))

    ended = program.run("completion", shell)

    assert ended.code == 0
    for word in ("north", "family-verb", "some-flag", "completion"):
        assert word in ended.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=ended.out, text=True, check=True, capture_output=True)


def test_completion_of_an_unknown_shell_is_a_usage_error(program: Program) -> None:
    ended = program.run("completion", "tcsh")

    assert ended.code == 2
    assert "bash, zsh, fish" in ended.json["error"]["fix"]


@pytest.mark.parametrize("words", [("memory", "--help"), ("graph", "-h")])
def test_help_of_a_family_lists_its_commands(program: Program, words: tuple[str, ...]) -> None:
    done = program.run(*words)

    assert done.code == 0
    assert f"hindbrain {words[0]} COMMAND" in done.out
    assert ("search" if words[0] == "memory" else "export") in done.out
