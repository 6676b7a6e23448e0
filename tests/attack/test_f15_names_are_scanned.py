"""F15 and L13: a secret as a name is stored nowhere, also by reads; signs that steer a terminal reach no rendered line."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY
from hindbrain.operations.registry import input_schema
from tests.hygiene.texts import secret
from tests.support.world import World

TOKEN = secret("github_token")
TAIL = TOKEN[-30:].encode()


def everything(*places: Path) -> list[str]:
    """Every file below the places that holds the secret in its name or its bytes."""
    found = []
    for place in places:
        for path in place.rglob("*"):
            if TAIL in str(path).encode() or (path.is_file() and TAIL in path.read_bytes()):
                found.append(str(path.relative_to(place)))
    return found


def value_for(schema: dict[str, Any], root: str) -> Any:
    """Some value that an argument takes."""
    for one in (schema, *schema.get("anyOf", ())):
        if one.get("enum"):
            return next(value for value in one["enum"] if value is not None)
        match one.get("type"):
            case "string":
                return "worker"
            case "integer" | "number":
                return max(1, int(one.get("minimum", 1)))
            case "boolean":
                return False
            case "array":
                return [value_for(one.get("items", {"type": "string"}), root)]
            case "object":
                return {}
    return "worker"


def arguments_of(name: str, root: str) -> dict[str, Any]:
    schema = input_schema(REGISTRY[name])
    given = {key: value_for(schema["properties"][key], root) for key in schema.get("required", ())}
    for key in given:
        if key in ("path", "project_root", "root", "file", "old", "new", "target"):
            given[key] = root
    return given


def strings_of(name: str) -> list[str]:
    properties = input_schema(REGISTRY[name])["properties"]
    return [
        key
        for key, schema in properties.items()
        if any(one.get("type") == "string" and not one.get("enum") for one in (schema, *schema.get("anyOf", ())))
        and key not in ("agent_id", "caller_root")
    ]


@pytest.fixture
def world_with_code(world: World) -> tuple[World, str]:
    root = world.brain("a", src__worker_py="def retry():\n    return attempt()\n\n\ndef attempt():\n    return 1\n")
    world.at(root).memorize("Worker", "The worker retries three times.", evidence=["src/worker.py"])
    return world, root


def test_f15_a_secret_as_agent_is_refused_by_every_operation_and_stored_nowhere(world_with_code: tuple[World, str]) -> None:
    world, root = world_with_code
    refused = {}

    for name in sorted(REGISTRY):
        given = arguments_of(name, root)
        if "agent_id" in given:  # an operation about agents
            given["agent_id"] = f"codex:{TOKEN}"
        refused[name] = json.dumps(world.at(root, f"codex:{TOKEN}").call(name, **given))

    world.close()
    assert everything(world.place) == []
    assert {name: answer[:300] for name, answer in refused.items() if '"hygiene"' not in answer} == {}
    assert [name for name, answer in refused.items() if TAIL.decode() in answer] == []


def test_f15_nor_is_a_secret_as_session_or_packet(world_with_code: tuple[World, str]) -> None:
    world, root = world_with_code

    answer = world.at(root, session=TOKEN).call("impact", node="retry")

    assert answer["error"]["code"] == "hygiene"
    world.close()
    assert everything(world.place) == []


def test_f15_a_secret_in_a_string_of_any_operation_is_stored_nowhere(world_with_code: tuple[World, str]) -> None:
    world, root = world_with_code
    actor = world.at(root)
    names = sorted(REGISTRY)

    for name in names:
        if REGISTRY[name].human:
            continue
        for key in strings_of(name):
            actor.call(name, **{**arguments_of(name, root), key: f"see {TOKEN}" if key in ("text", "query", "task") else TOKEN})

    world.close()
    assert everything(world.place) == []


STEERING = ("\u2028", "\u2029", "\u202e", "\u2066", "\x1b[31m", "\x85", "\x07")


@pytest.mark.parametrize("sign", STEERING)
def test_l13_no_steering_sign_reaches_a_rendered_line(world: World, sign: str) -> None:
    root = world.brain("a")
    world.at(root).call("memorize", node_label=f"Retry{sign}policy of the worker", text=f"The worker{sign} retries three times.")
    world.at(root, f"codex{sign}maker").memorize("Other", "The worker retries.")

    answers = [
        world.at(root).north("worker"),
        world.at(root).seek("worker retries"),
        world.at(root).call("claims"),
        world.at(root).call("history", claim="retry-policy-of-the-worker"),
    ]

    for answer in answers:
        rendered = answer.get("rendered", "")
        assert not [c for c in rendered if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")], rendered
    assert not [row["source_agent"] for row in answers[2]["claims"] if not row["source_agent"].isprintable()]


@pytest.mark.parametrize("where", ["analysis", "repository", "directory"])
def test_f15_a_secret_names_no_analysis_and_no_repository_in_it(world: World, where: str) -> None:
    root = world.brain("x")
    repo = {"name": TOKEN if where == "repository" else "x", "path": f"{root}/{TOKEN}" if where == "directory" else root}

    answer = world.at(root).call("federate", name=TOKEN if where == "analysis" else "both", repos=[repo])

    assert answer["error"]["code"] == "hygiene"
    assert everything(world.home.path, Path(root)) == []
    assert not [brain for brain in world.home.projects() if (brain.root or "").startswith("analysis:")]
