"""No plain text argument is used as a path or a brain: what names a place is declared by its type, and dispatch checks it."""

import os
import sys
import threading
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain import places
from hindbrain.operations import REGISTRY
from hindbrain.operations.registry import Operation
from tests.support.world import World

OPERATIONS = [REGISTRY[name] for name in sorted(REGISTRY)]

# Words in a name that say "place", for arguments that are texts all the same, each with the reason.
TEXTS = {
    ("delegate", "under"): "an id",
    ("hosts.event", "payload"): "what a host told its own hook; the hook's token decides",
}
SUSPICIOUS = (
    "path",
    "paths",
    "root",
    "cwd",
    "dir",
    "file",
    "files",
    "target",
    "targets",
    "brain",
    "repo",
    "workspace",
    "source",
    "out",
    "table",
)
NAMES = {  # arguments with such a word that name something else
    "source": "a name that the caller gives its text, a node of the graph, or a filter of rows",
    "source_format": "a choice",
    "source_refs": "free references of a boot value",
    "target": "a node of the graph, or what an event was done to",
    "target_anchor_id": "an anchor id",
    "project": "a name inside the memory of another program",
    "filename_pattern": "a pattern over names of the graph",
    "dotfile_patterns": "patterns below the ingested directory",
    "workspace_binding_mismatch": "a word about a diagnosis",
    "profile": "a choice",
    "outcome": "a word",
    "tmux_target": "a pane",
    "expected_binding": "a fingerprint",
}


def strings(kind: Any) -> bool:
    """Whether a type lets a plain text in somewhere."""
    if kind is str:
        return True
    if isinstance(kind, typing.NewType):
        return False
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return any(strings(inner) for inner in typing.get_type_hints(kind, include_extras=True).values())
    return any(strings(inner) for inner in typing.get_args(kind) if inner is not Ellipsis)


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_arch_9_a_parameter_that_sounds_like_a_place_has_the_type_of_one(op: Operation) -> None:
    hints = typing.get_type_hints(op.run, include_extras=True)
    for name in op.arguments.__struct_fields__:
        if name in op.places or (op.name, name) in TEXTS or name in NAMES or not strings(hints[name]):
            continue
        assert not set(SUSPICIOUS) & set(name.strip("_").split("_")), f"{op.name}: {name} sounds like a place and is a plain text"


def test_arch_9_every_kind_of_place_is_used_and_has_a_rule(world: World) -> None:
    kinds = {one for one in places.__all__ if isinstance(getattr(places, one), typing.NewType)}

    assert {place.kind for op in OPERATIONS for place in op.places.values()} == kinds
    outputs = [(op.name, place) for op in OPERATIONS for place in op.places.values() if place.kind == "OutputFile"]
    assert all(place.endings for _, place in outputs), "an output file says which endings an agent may give it"


_WATCHED = threading.local()
_EVENTS = ("open", "os.", "shutil.", "glob.", "pathlib.", "subprocess.Popen", "sqlite3.connect")


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    seen = getattr(_WATCHED, "seen", None)
    if seen is not None and event.startswith(_EVENTS):
        seen.append(f"{event} {arguments!r}")


sys.addaudithook(_note)  # an audit hook cannot be removed: it records only while a test asks


@contextmanager
def file_accesses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What this thread opens, lists, makes or looks at in the block."""
    seen: list[str] = []
    for name in ("stat", "lstat", "readlink", "access"):
        original = getattr(os, name)

        def looked(path: Any, *more: Any, _original: Any = original, _name: str = name, **options: Any) -> Any:
            seen.append(f"os.{_name} {path!r}")
            return _original(path, *more, **options)

        monkeypatch.setattr(os, name, looked)
    _WATCHED.seen = seen
    try:
        yield seen
    finally:
        _WATCHED.seen = None
        monkeypatch.undo()


def values_for(op: Operation, name: str, value: str, root: str) -> dict[str, Any] | None:
    """Arguments of an operation with one text set; None where the argument takes no free text."""
    schema = msgspec.json.schema(op.arguments)["$defs"][op.arguments.__name__]
    given: dict[str, Any] = {}
    for required in schema.get("required", ()):
        given[required] = example(schema["properties"][required], root)
    wanted = fitted(schema["properties"].get(name, {}), value)
    return None if wanted is None else given | {name: wanted}


def fitted(schema: dict[str, Any], value: str) -> Any:
    kinds = [schema, *schema.get("anyOf", ())]
    for one in kinds:
        if (
            one.get("type") == "string"
            and "enum" not in one
            and "pattern" not in one
            and len(value) <= one.get("maxLength", 9999)
        ):
            return value
    for one in kinds:
        if one.get("type") == "array" and (inner := fitted(one.get("items", {}), value)) is not None:
            return [inner]
    return None


def example(schema: dict[str, Any], root: str) -> Any:
    for one in (schema, *schema.get("anyOf", ())):
        if "enum" in one:
            return one["enum"][0]
        match one.get("type"):
            case "string":
                return "x"
            case "integer" | "number":
                return one.get("minimum", 1)
            case "boolean":
                return False
            case "array":
                return [example(one.get("items", {}), root)]
            case "object":
                return {}
    return {}


# Starting a host's program, a model or the gym takes minutes; their texts are names of things that are looked up in tables.
SLOW = {"gym.run", "gym.judge", "gate", "accept", "update.apply", "model.install", "restart"}


def test_arch_9_no_plain_text_reaches_the_file_system(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = world.brain("a", main_py="x = 1\n")
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    agent = world.human(root)  # a person: the gate lets everything pass, and a text that is used as a path shows
    reached: list[str] = []
    number = 0
    for op in OPERATIONS:
        if op.name in SLOW:
            continue
        for name in op.arguments.__struct_encode_fields__:
            field = name if name in op.arguments.__struct_fields__ else f"{name}_"
            if field in op.places:
                continue
            number += 1
            value = str(outside / f"text-{number}" / "x.json")
            arguments = values_for(op, name, value, root)
            if arguments is None:
                continue
            with file_accesses(monkeypatch) as seen:
                agent.call(op.name, **arguments)
            reached += [f"{op.name}: {name}: {one[:160]}" for one in seen if str(outside / f"text-{number}") in one]

    assert reached == []
