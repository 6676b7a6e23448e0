"""Fixes: what can be run as it stands is given as a command, for the brain it is about."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain.engines.fixes import command_line, command_of
from hindbrain.operations import REGISTRY, describe
from hindbrain.surfaces import cli
from hindbrain.surfaces.arguments import parse
from hindbrain.surfaces.helping import command as help_of
from tests.cli.program import Program
from tests.recovery.test_environment import promoted
from tests.support.world import World

ON_THE_CLI = {name: op for name in sorted(REGISTRY) if "cli" in (op := describe(REGISTRY[name]))["surfaces"]}
_BEFORE = r"(?:^|: |\brun |\bruns |\bthen |\bwith )(hindbrain [a-z][^;,:()…`'\"]*?)"
AT_THE_END = re.compile(_BEFORE + r"(?=\.?$)")
MENTIONED = re.compile(
    _BEFORE + r"(?=[;,:)`]| (?:shows|lists|tells|takes|makes|brings|files|says|gives|explains|and|from|in a|to|with)\b)"
)
DESCRIBED = re.compile(r" (?:shows|lists|tells|takes|makes|brings|files|says|gives|explains|and|from|in a|to|with)\b")
FLAGS_OF_THE_CLI = {"doctor": {"--fix", "--yes"}}  # what only the command line carries out
NAMES_OF_TOOLS = {"hindbrain mission run"}  # a name in a suggestion, whose arguments stand beside it


@pytest.mark.parametrize(
    ("fix", "brain", "command"),
    [
        ("hindbrain doctor --fix", "/w/shop", "hindbrain doctor --fix"),
        ("run hindbrain model install", None, "hindbrain model install"),
        ("hindbrain ledger verify", "/w/my shop", "hindbrain ledger verify --root '/w/my shop'"),
        ("hindbrain ledger verify", "medulla", "hindbrain ledger verify --tier medulla"),
        ("hindbrain model install", "medulla", "hindbrain model install"),
        ("hindbrain model embed", "medulla", "hindbrain model embed --tier medulla"),
        ("hindbrain knowledge gate card_1", "medulla", "hindbrain knowledge gate card_1"),
        ("chmod 600 /home/TOKEN", None, "chmod 600 /home/TOKEN"),
        ("if it was moved: hindbrain rebind OLD NEW", "/w/shop", None),
        ("hindbrain migrate plan --target TABLE, edit it, then apply it", "medulla", None),
        ("hindbrain knowledge gate CARD_ID", "/w/shop", None),
        ("check the clock", "/w/shop", None),
        (None, None, None),
    ],
)
def test_rec_a_fix_is_a_command_only_when_it_can_be_run(fix: Any, brain: str | None, command: str | None) -> None:
    assert command_of(fix, brain) == command


def test_rec_a_finding_names_its_brain_and_the_command_that_says_more(world: World) -> None:
    root = world.brain("shop")
    card, refs = promoted(world.at(root))
    world.at(root).call("memory.delete", evidence_id=refs[0])

    (one,) = world.at(root).call("doctor")["warnings"]
    assert (one["brain"], one["command"]) == (root, f"hindbrain knowledge gate {card} --root {root}")


def texts() -> Iterator[tuple[str, str]]:
    """Every text of the program, with x for what is filled in, and where it stands."""
    for path in sorted(Path(hindbrain.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(one.value) if isinstance(one, ast.Constant) else "1" for one in node.values), path.name
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                yield node.value, path.name


def commands(told: re.Pattern[str]) -> list[str]:
    found = {line for text, _ in texts() if "\n" not in text for line in told.findall(text)}
    if told is AT_THE_END:
        found = {line for line in found if not DESCRIBED.search(line)}
    return sorted(line for line in found if not line.startswith("hindbrain 1") and line not in NAMES_OF_TOOLS)


def named(line: str) -> tuple[str, list[str]]:
    """The command of a line, and the words after it."""
    words = shlex.split(line)[1:]
    names = [".".join(word.replace("-", "_") for word in words[:depth]) for depth in (3, 2, 1)]
    name = next((name for name in names if name in ON_THE_CLI or name in cli.LOCAL), None)
    assert name is not None, f"there is no such command: {line}"
    return name, words[name.count(".") + 1 :]


@pytest.mark.parametrize("line", commands(AT_THE_END))
def test_rec_every_command_that_ends_a_text_can_be_typed_as_it_stands(line: str) -> None:
    name, rest = named(line)
    if name in cli.LOCAL or rest == ["--help"]:
        return
    op = ON_THE_CLI[name]

    read = parse(op, [word for word in rest if word not in FLAGS_OF_THE_CLI.get(name, ())], {})

    assert set(op["schema"].get("required", ())) <= set(read)


@pytest.mark.parametrize("line", commands(MENTIONED))
def test_rec_every_command_that_a_text_mentions_exists_with_its_flags(line: str) -> None:
    name, rest = named(line)
    flags = {word for word in rest if word.startswith("--")} - FLAGS_OF_THE_CLI.get(name, set())
    if name not in cli.LOCAL:
        assert flags <= {f"--{one.replace('_', '-')}" for one in ON_THE_CLI[name]["schema"]["properties"]}


def test_rec_there_are_many_such_commands() -> None:
    assert len(commands(AT_THE_END)) > 40
    assert len(commands(MENTIONED)) > 20


@pytest.mark.parametrize("name", ON_THE_CLI)
def test_rec_a_call_as_it_is_typed_is_read_as_the_same_call(name: str) -> None:
    op = ON_THE_CLI[name]
    lines = help_of(op).splitlines()
    typed = shlex.split(lines[lines.index("Examples:") + 1])
    depth = name.count(".") + 2
    read = parse(op, typed[depth:], {})

    again = shlex.split(command_line(name, op["positional"], read))

    assert again[:depth] == ["hindbrain", *name.replace("_", "-").split(".")]
    assert parse(op, again[depth:], {}) == read


def test_rec_a_human_act_without_a_terminal_names_the_whole_command(program: Program) -> None:
    done = program.run("forget", "no such", "--reason", "it is private", "--json")

    assert done.code != 0
    assert "hindbrain forget 'no such' --reason 'it is private'" in done.out + done.err
