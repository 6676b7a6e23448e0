"""Attacks F14 and F30: answers in a shape of their own, words that are ignored in silence, keys that are named twice."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, Effect
from tests.cli.program import Program, end_owner
from tests.http.test_brains import a_project, bootstrap
from tests.support.owner import RunningOwner, start_owner
from tests.support.world import World

TWICE = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"north","arguments":{"task":"a","task":"b"}}}'


def shaped(answer: dict[str, Any]) -> bool:
    """Whether an answer has the one shape: done, or failed with code, message and fix."""
    if answer["ok"] is True:
        return "error" not in answer
    return {"code", "message", "fix"} <= answer["error"].keys() and bool(answer["error"]["message"])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningOwner, Path]]:
    place = tmp_path_factory.mktemp("shape").resolve()
    root = a_project(place, "repo")
    running = start_owner(place / "home")
    bootstrap(running, root)
    yield running, root
    running.kill()


# -- reports and unknown names ---------------------------------------------------------------------------------------


def test_f14_an_export_around_an_unknown_node_is_an_error_with_a_fix(world: World) -> None:
    answer = world.at(world.brain("x", src__worker_py="def run(): ...\n")).call("graph.export", node="no-such-node-at-all")

    assert shaped(answer)
    assert answer["error"]["code"] == "unknown_node"


def test_f14_a_selftest_that_fails_says_why_and_keeps_its_report(world: World) -> None:
    root = world.repository("empty")

    answer = world.at(root).call("trust_selftest")

    assert answer["ok"] is False
    assert shaped(answer)
    assert answer["verdict"] in answer["error"]["message"]
    assert answer["recovery_playbook"]


def test_f14_no_operation_that_reads_is_given_a_file_to_write() -> None:
    """The names of arguments that take a file to write; each of them belongs to a write."""
    writing = {"target", "out"}
    graph = {"why"}  # its target is a node

    found = {
        name for name, op in REGISTRY.items() if op.effect is Effect.READ and writing & set(op.arguments.__struct_encode_fields__)
    }

    assert found - graph == set()


# -- words about the caller ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["agent_id", "caller_root"])
@pytest.mark.parametrize("wrong", [7, None, True, ["x"], {"a": 1}, "", "  "])
def test_f30_a_word_about_the_caller_of_a_wrong_type_is_refused(world: World, name: str, wrong: object) -> None:
    agent = world.at(world.brain("x"))

    answer = agent.call("memorize", node_label="A label", text="A fact.", **{name: wrong})
    read = agent.call("north", **{name: wrong})

    assert answer["error"]["code"] == "invalid_params"
    assert read["error"]["code"] == "invalid_params"
    assert agent.call("claims")["claims"] == []


@pytest.mark.parametrize("wrong", ["relative/path", "/a/../b", "~"])
def test_f30_a_caller_root_that_is_no_absolute_path_is_refused_on_every_surface(world: World, wrong: str) -> None:
    answer = world.at(world.brain("x")).call("north", caller_root=wrong)

    assert answer["error"]["code"] == "path_refused"


@pytest.mark.req("MED-031")
@pytest.mark.parametrize("path", ["/api/status", "/api/mailbox", "/api/graph/stats", "/api/graph/snapshot", "/api/events"])
def test_f30_an_unknown_brain_is_told_in_the_one_shape(served: tuple[RunningOwner, Path], path: str) -> None:
    running, root = served

    answer = running.get(f"{path}?brain=/nowhere")

    assert answer.status == 404
    assert shaped(answer.json)
    assert str(root) in answer.json["error"]["known"]


def test_f30_a_depth_of_five_thousand_digits_is_refused(served: tuple[RunningOwner, Path]) -> None:
    running, root = served

    answer = running.get(f"/api/graph/subgraph?node=x&depth={'9' * 5000}", hindbrain_caller_root=str(root))

    assert (answer.status, answer.code) == (400, "invalid_params")


# -- keys that are named twice ---------------------------------------------------------------------------------------


def test_f30_a_key_named_twice_is_refused_by_the_http_routes(served: tuple[RunningOwner, Path]) -> None:
    running, _ = served

    answer = running.post("north", b'{"task": "a", "task": "b"}')

    assert (answer.status, answer.code) == (400, "invalid_params")


def test_f30_a_key_named_twice_is_refused_by_mcp_over_http(served: tuple[RunningOwner, Path]) -> None:
    running, root = served
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Hindbrain-Caller-Root": str(root),
        "Mcp-Protocol-Version": "2026-07-28",
    }

    answer = running.request("POST", "/mcp", body=TWICE, headers=headers)

    assert answer.status == 400
    assert answer.json["id"] == 7
    assert "twice" in answer.json["error"]["message"]


@pytest.mark.parametrize("mode", ["embedded", "owner"])
def test_f30_a_key_named_twice_is_refused_by_mcp_over_stdio(tmp_path: Path, mode: str) -> None:
    program = Program(home=tmp_path / "home", directory=tmp_path, environ={"HINDBRAIN_MODE": mode})
    bridge = program.start("mcp", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        out, _ = bridge.communicate(TWICE + b"\n", timeout=60)
    finally:
        end_owner(program.home)

    answer = json.loads(out.splitlines()[0])
    assert answer["id"] == 7
    assert "twice" in answer["error"]["message"]


def test_f30_a_key_named_twice_is_refused_on_the_command_line(tmp_path: Path) -> None:
    program = Program(home=tmp_path / "home", directory=tmp_path, environ={"HINDBRAIN_MODE": "embedded"})

    done = program.run("adoption", "check", "--track", "card_context", "--signal", "accepted", "--metadata", '{"a": 1, "a": 2}')

    assert done.code == 2
    assert "twice" in done.err
