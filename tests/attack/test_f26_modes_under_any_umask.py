"""Modes: whatever the umask, others may neither read the home nor write what lies in a repository."""

import ast
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import modules
from tests.support.full_home import fill
from tests.support.owner import Starter
from tests.support.reads import READS, arguments
from tests.support.world import Actor, World


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def _modes(place: Path, forbidden: int) -> list[str]:
    """Everything below a place that gives somebody else a right which it must not give."""
    found = [place, *place.rglob("*")]
    return [
        f"{stat.filemode(mode)} {path.relative_to(place)}"
        for path in found
        if not stat.S_ISLNK(mode := path.lstat().st_mode) and mode & forbidden
    ]


def _use(here: Actor, person: Actor, root: str, exports: Path) -> None:
    """Every reading operation, and those that write files of a kind that the rich brain has not."""
    for name in READS:
        here.call(name, **arguments(name))
    session = {"session_id": "s1", "cwd": root}
    more: list[tuple[Actor, str, dict[str, Any]]] = [
        (here, "hosts.event", {"host": "claude", "event": "SessionStart", "payload": session}),
        (here, "hosts.event", {"host": "claude", "event": "UserPromptSubmit", "payload": {**session, "prompt": "worker"}}),
        (here, "cowork.drain", {"agent_id": "claude-reviewer", "batch": "one"}),
        (here, "cowork.channel.set", {"channel": "tea", "agents": ["codex-maker"]}),
        (here, "partner.push", {"content": "the kettle is on", "target_tool": "claude"}),
        (here, "mission.start", {"task": "look at the worker", "mode": "review"}),
        (here, "mission.next", {}),
        (here, "run", {"goal": "count the files", "empty": True, "wait_s": 20}),
        (here, "run", {"goal": "count the files", "wait_s": 20}),
        (here, "persist", {"action": "save"}),
        (here, "experience.dream", {}),
        (here, "battery.list", {}),
        (here, "consolidate", {"apply": True}),
        (person, "control.audit", {}),
        (person, "defaults.set", {"candidate": "include_cards", "enable": True}),
        (person, "migrate.plan", {}),
        (person, "export", {"target": str(exports / "brain.tar.gz")}),
        (person, "graph.export", {"target": str(exports / "graph.json"), "format": "json"}),
        (person, "experience.export", {"target": str(exports / "experience.jsonl")}),
        (person, "install", {"host": "claude", "project": root, "yes": True}),
        (person, "doctor.fix", {"yes": True}),
    ]
    for actor, name, given in more:
        actor.call(name, **given)


def test_f26_a_home_is_private_under_any_umask(tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "user"
    user.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(user))
    world = World(tmp_path / "world")
    root = fill(world, model=True, rows=2)
    exports = Path(root, "exports")
    exports.mkdir(mode=0o755)

    _use(world.at(root), world.human(root), root, exports)
    open_now = _modes(world.home.path, 0o077)  # with the logs of open databases
    world.close()

    lived = "hygiene_allow.json"  # the test itself writes this one
    assert [one for one in (*open_now, *_modes(world.home.path, 0o077)) if lived not in one] == []
    assert _modes(Path(root, ".hindbrain"), 0o022) == []
    assert _modes(exports, 0o022) == []
    kinds = {path.name for path in world.home.path.rglob("*") if path.is_dir()}
    assert {"missions", "runs", "models", "runtime", "hooks", "inbox", "delegations", "medulla"} <= kinds


def test_f26_an_owner_s_files_are_private_under_any_umask(tmp_path: Path, umask: int, starter: Starter) -> None:
    home = tmp_path / "home"
    owner = starter(home)
    world = World(tmp_path)
    root = world.repository("x", src__worker_py="def retry(n):\n    return n\n")
    assert owner.call("init", root=root, path=root)["ok"]
    assert owner.call("memorize", root=root, node_label="Kettle", text="It boils.")["ok"]

    assert _modes(home, 0o077) == []
    assert _modes(Path(root, ".hindbrain"), 0o022) == []


def test_f26_only_one_helper_makes_directories_above_a_directory() -> None:
    """`Path.mkdir(parents=True)` and `os.makedirs` leave the mode of the directories above to the umask."""
    found = [
        f"{module.where}:{node.lineno}"
        for module in modules()
        if not module.name.startswith(("hindbrain.surfaces.demo", "hindbrain.services.gym", "hindbrain.services.gates"))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr == "makedirs" or (node.func.attr == "mkdir" and any(k.arg == "parents" for k in node.keywords)))
    ]

    assert found == []
