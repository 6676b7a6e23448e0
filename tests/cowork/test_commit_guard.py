"""The guard of commits: a real git with a real hook. Only a reservation of somebody else holds up a commit."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.surfaces import cli
from tests.support.cowork import BusScene, code_of
from tests.support.world import World, git

OLD_HOOK = "#!/bin/sh\necho old hook >&2\n[ ! -e stop ]\n"


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> BusScene:
    """A repository of two agents, one of which reserved a directory. The time of day, since the hook is a process of its own."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for name in ("HINDBRAIN_GUARD", "HINDBRAIN_AGENT_ID"):
        monkeypatch.delenv(name, raising=False)
    world.clock.catch_up()
    found = BusScene.of(world, "a", "b")
    git(found.root, "commit", "-q", "--allow-empty", "-m", "x")
    found.ok("cowork.reserve", agent_id="a", paths=["src/"], reason="splitting it")
    return found


def staged(scene: BusScene, name: str) -> None:
    path = Path(scene.root, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("x\n")
    git(scene.root, "add", name)


def commit(scene: BusScene, *words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", *identity, "commit", "-q", "-m", "x", *words]
    return subprocess.run(command, cwd=scene.root, env={**os.environ, **environ}, capture_output=True, text=True, check=False)


def test_a_commit_of_what_another_agent_holds_is_held_up_by_the_hook(scene: BusScene) -> None:
    made = scene.ok("cowork.guard.install")
    until = scene.ok("cowork.reservations")["reservations"][0]["until"]
    assert (made["outcome"], made["chained"]) == ("installed", False)
    staged(scene, "src/x.py")

    held_up = commit(scene)

    assert held_up.returncode == 1
    assert f'src/x.py: a holds src/ until {until}, saying "splitting it"' in held_up.stderr
    assert commit(scene, HINDBRAIN_AGENT_ID="b").returncode == 1
    assert git(scene.root, "log", "--oneline").count("\n") == 1
    warned = commit(scene, HINDBRAIN_GUARD="warn")
    assert warned.returncode == 0
    assert "a holds src/" in warned.stderr
    staged(scene, "src/y.py")
    own = commit(scene, HINDBRAIN_AGENT_ID="a")
    assert (own.returncode, own.stderr) == (0, "")
    staged(scene, "src/z.py")
    assert commit(scene, "--no-verify").returncode == 0
    # Only what this commit takes counts: git gives such a commit an index of its own.
    staged(scene, "src/later.py")
    staged(scene, "free.py")
    assert commit(scene, "free.py").returncode == 0
    assert git(scene.root, "log", "--oneline").count("\n") == 5


def test_a_fault_of_hindbrain_holds_up_no_commit(scene: BusScene) -> None:
    scene.ok("cowork.guard.install")
    (scene.place / "reservations.json").write_bytes(b"{broken")
    staged(scene, "src/x.py")

    unchecked = commit(scene)

    assert unchecked.returncode == 0
    assert "reserved files were not checked" in unchecked.stderr
    hook = Path(scene.root, ".git/hooks/pre-commit")
    hook.write_bytes(b"".join(line for line in _gone(hook.read_bytes())))
    staged(scene, "src/y.py")
    gone = commit(scene, PATH=os.defpath)
    assert (gone.returncode, "the program is gone" in gone.stderr) == (0, True)


def _gone(script: bytes) -> Iterator[bytes]:
    """The same hook for a program that was taken away."""
    for line in script.splitlines(keepends=True):
        yield b"program=/nowhere/hindbrain\n" if line.startswith(b"program=/") else line


def test_a_hook_that_is_there_runs_first_and_comes_back_byte_for_byte(scene: BusScene) -> None:
    hook = Path(scene.root, ".git/hooks/pre-commit")
    hook.write_text(OLD_HOOK)
    hook.chmod(0o750)
    before = (hook.read_bytes(), hook.stat().st_mode, hook.stat().st_mtime_ns)

    assert scene.ok("cowork.guard.install")["chained"]
    assert scene.ok("cowork.guard.install")["outcome"] == "unchanged"

    staged(scene, "free.py")
    Path(scene.root, "stop").touch()
    stopped = commit(scene)
    assert (stopped.returncode, stopped.stderr) == (1, "old hook\n")
    Path(scene.root, "stop").unlink()
    assert commit(scene).stderr == "old hook\n"
    assert scene.ok("cowork.guard.uninstall")["outcome"] == "removed"
    assert (hook.read_bytes(), hook.stat().st_mode, hook.stat().st_mtime_ns) == before
    assert sorted(path.name for path in hook.parent.iterdir() if not path.name.endswith(".sample")) == ["pre-commit"]
    assert scene.ok("cowork.guard.uninstall")["outcome"] == "foreign"
    assert hook.read_bytes() == before[0]


def test_what_somebody_changed_is_left_alone_and_two_hooks_are_not_mixed_up(scene: BusScene) -> None:
    hook, kept = (Path(scene.root, ".git/hooks", name) for name in ("pre-commit", "pre-commit.before-hindbrain"))
    scene.ok("cowork.guard.install")
    changed = hook.read_bytes() + b"echo more\n"
    hook.write_bytes(changed)

    assert scene.ok("cowork.guard.uninstall")["outcome"] == "foreign"
    assert hook.read_bytes() == changed
    kept.write_text(OLD_HOOK)
    assert code_of(scene.call("cowork.guard.install")) == "path_refused"
    assert (hook.read_bytes(), kept.read_text()) == (changed, OLD_HOOK)
    hook.unlink()
    kept.unlink()
    assert scene.ok("cowork.guard.uninstall")["outcome"] == "absent"


def test_the_hook_lies_where_git_looks_and_never_outside_of_the_repository(scene: BusScene, world: World) -> None:
    git(scene.root, "config", "core.hooksPath", "tools/hooks")
    Path(scene.root, "tools").mkdir()
    assert scene.ok("cowork.guard.install")["hook"] == f"{scene.root}/tools/hooks/pre-commit"
    staged(scene, "src/x.py")
    assert commit(scene).returncode == 1
    scene.ok("cowork.guard.uninstall")
    outside = Path(world.directory("outside"))
    for elsewhere in (str(outside), "linked"):
        git(scene.root, "config", "core.hooksPath", elsewhere)
        if elsewhere == "linked":
            Path(scene.root, "linked").symlink_to(outside)
        assert code_of(scene.call("cowork.guard.install")) == "path_refused"
    assert list(outside.iterdir()) == []
    # A worktree shares the hooks of its repository, and its reservations.
    git(scene.root, "config", "--unset", "core.hooksPath")
    tree = str(world.place / "tree")
    git(scene.root, "worktree", "add", "-q", tree)
    there = BusScene(world, world.at(tree), tree)
    assert there.ok("cowork.guard.install")["hook"] == f"{scene.root}/.git/hooks/pre-commit"
    staged(there, "src/x.py")
    assert commit(there).returncode == 1
    assert code_of(world.at(world.directory("plain")).call("cowork.guard.install")) == "path_refused"


def test_the_check_tells_who_and_ends_with_1_and_those_who_share_or_were_told_pass(
    scene: BusScene, world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scene.root)
    monkeypatch.setenv("HINDBRAIN_HOME", str(world.home.path))
    monkeypatch.setenv("HINDBRAIN_MODE", "embedded")
    words = ["cowork", "guard", "check", "--json"]
    staged(scene, "src/x.py")

    assert cli.main(words) == 1

    shown = capfd.readouterr()
    told = json.loads(shown.out)
    assert (told["clear"], [(one["staged"], one["agent_id"]) for one in told["conflicts"]]) == (False, [("src/x.py", "a")])
    assert 'saying "splitting it"' in shown.err
    assert cli.main([*words, "free.py"]) == 0
    assert cli.main([*words, "--agent-id", "a"]) == 0
    monkeypatch.setenv("HINDBRAIN_AGENT_ID", "codex:maker")  # a name that nobody can have on a bus
    assert cli.main(words) == 1
    monkeypatch.chdir(world.directory("plain"))
    capfd.readouterr()
    assert cli.main(words) == 0
    assert "reserved files were not checked" in capfd.readouterr().err
    # Who went ahead and told it, and who was told, keep each other from nothing.
    scene.ok("cowork.reserve", agent_id="b", paths=["src/x.py"], force=True)
    assert scene.ok("cowork.guard.check", agent_id="b", paths=["src/x.py"])["clear"]
    assert scene.ok("cowork.guard.check", agent_id="a", paths=["src/x.py"])["clear"]
    assert not scene.ok("cowork.guard.check", agent_id="b", paths=["src/y.py"])["clear"]
    assert len(scene.ok("cowork.guard.check", paths=["src/x.py"])["conflicts"]) == 2
    for agent in "ab":
        scene.ok("cowork.release", agent_id=agent)
    scene.ok("cowork.reserve", agent_id="a", paths=["src/"], shared=True)
    assert scene.ok("cowork.guard.check", agent_id="b", paths=["src/x.py"])["clear"]
