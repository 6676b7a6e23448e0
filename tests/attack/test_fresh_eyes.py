"""What an attack with fresh eyes found after the repairs of F1 to F39."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from hindbrain.domain.places import SourcePath
from hindbrain.operations.registry import place_arguments
from hindbrain.services.call import Call
from tests.support.world import World, git


def _code(answer: dict[str, object]) -> object:
    error = answer.get("error")
    return error["code"] if isinstance(error, dict) else None


@pytest.mark.parametrize("where", ["home", "root of the disk", "another repository"])
def test_a_repository_cannot_move_its_boundary_by_core_worktree(world: World, where: str) -> None:
    """Git says `--show-toplevel` as the settings of the repository want it; the guard installed its hook elsewhere."""
    evil, victim = world.brain("evil"), world.brain("victim")
    outside = world.directory("hooks") if where == "home" else f"{victim}/.git/hooks"
    git(evil, "config", "core.worktree", {"home": str(world.place), "root of the disk": "/"}.get(where, victim))
    git(evil, "config", "core.hooksPath", outside)
    before = sorted(os.listdir(outside)) if os.path.isdir(outside) else None

    for operation in ("cowork.guard.install", "cowork.guard.uninstall"):
        assert _code(world.at(evil).call(operation)) == "path_refused"

    assert (sorted(os.listdir(outside)) if os.path.isdir(outside) else None) == before


def test_a_git_file_that_names_a_strangers_repository_opens_no_hooks_there(world: World) -> None:
    victim, evil = world.brain("victim"), world.directory("evil")
    Path(evil, ".git").write_text(f"gitdir: {victim}/.git\n", encoding="utf-8")

    assert _code(world.at(evil).call("cowork.guard.install")) == "path_refused"

    assert not os.path.lexists(f"{victim}/.git/hooks/pre-commit")


@pytest.mark.parametrize(("operation", "given"), [("model.remove", {}), ("model.install", {"force": True})])
def test_an_agent_does_not_change_the_model_of_all_brains(world: World, operation: str, given: dict[str, bool]) -> None:
    assert _code(world.at(world.brain("x")).call(operation, **given)) == "human_needed"


def test_a_log_of_another_project_is_not_the_report_of_a_child(world: World) -> None:
    """`agent_transcript_path` of a hook was read wherever it lay; `transcript_path` had its check."""
    x, other = world.brain("x"), world.brain("other")
    line = {
        "type": "assistant",
        "cwd": other,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "SENTINEL"}]},
    }
    log = Path(world.directory("logs"), "agent.jsonl")
    log.write_text(json.dumps(line) + "\n", encoding="utf-8")
    ended = {"session_id": "s1", "agent_id": "child", "agent_transcript_path": str(log)}

    world.at(x).call("hosts.event", host="claude", event="SessionStart", payload={"session_id": "s1"})
    answer = world.at(x).call("hosts.event", host="claude", event="SubagentStop", payload=ended)

    assert "another project" in json.dumps(answer)
    assert not [path for path in world.home.path.rglob("*") if path.is_file() and b"SENTINEL" in path.read_bytes()]


def test_a_directory_of_settings_is_no_project(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.place))
    for name in (".ssh", ".config/autostart"):
        keys = world.directory(name)
        Path(keys, "id.txt").write_text("SENTINEL", encoding="utf-8")

        assert _code(world.at(keys).call("init", path=keys)) == "path_refused"
        assert world.at(keys).call("search", query="SENTINEL")["results"] == []
        assert not os.path.exists(os.path.join(keys, ".hindbrain"))


def test_a_record_with_two_places_cannot_be_declared() -> None:
    """Only the first one was checked."""

    class Two(msgspec.Struct):
        one: SourcePath
        two: SourcePath

    def pairs(call: Call, given: list[Two]) -> None: ...
    def named(call: Call, given: dict[str, SourcePath]) -> None: ...

    with pytest.raises(TypeError, match="more than one place"):
        place_arguments(pairs)
    with pytest.raises(TypeError, match="not checked"):
        place_arguments(named)
