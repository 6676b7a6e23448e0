"""Attacks by a repository that brings code: no module, program, hook or git setting of it runs when a user works in it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.stores.git import installed
from tests.support.cowork import BusScene
from tests.support.world import World, git

LIMIT_S = 60.0
HINDBRAIN = str(Path(sys.executable).with_name("hindbrain"))
# Names that a child of ours could look for: modules it is started with, modules those import early, programs.
MODULES = ("webbrowser", "site", "sitecustomize", "usercustomize", "json", "shutil", "subprocess", "shlex", "threading", "ssl")
PACKAGES = ("pip", "hindbrain", "tree_sitter", "msgspec", "mcp")
PROGRAMS = ("git", "python", "python3", "sh", "xdg-open", "firefox", "x-www-browser", "www-browser", "tmux", "ps", "bwrap")


class HostileRepository:
    """A repository full of code that leaves a mark when it runs."""

    def __init__(self, place: Path) -> None:
        self.root, self.marks, self.home = place / "repo", place / "marks", place / "home"
        for made in (self.root, self.marks):
            made.mkdir()
        git(str(self.root), "init", "-q")
        for name in MODULES:
            (self.root / f"{name}.py").write_text(self.module(name))
        for name in PACKAGES:
            (self.root / name).mkdir()
            for part in ("__init__", "__main__"):
                (self.root / name / f"{part}.py").write_text(self.module(f"{name}.{part}"))
        for directory in (self.root, self.root / "bin"):
            directory.mkdir(exist_ok=True)
            for name in PROGRAMS:
                (directory / name).write_text(f"#!/bin/sh\n: > {self.marks}/{name}\n")
                (directory / name).chmod(0o755)

    def module(self, name: str) -> str:
        return f"open({str(self.marks / name)!r}, 'w').close()\n"

    def run(self, *words: str, **environ: str) -> "subprocess.CompletedProcess[bytes]":
        """Run hindbrain as a user who stands in the repository, with relative entries in front of the search path."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "GIT_", "PIP_"))}
        return subprocess.run(
            [HINDBRAIN, *words],
            cwd=self.root,
            env={**kept, "PATH": f".:bin::{os.environ['PATH']}", "HINDBRAIN_HOME": str(self.home), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=LIMIT_S,
        )

    def ran(self) -> list[str]:
        return sorted(os.listdir(self.marks))


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[HostileRepository]:
    made = HostileRepository(tmp_path)
    yield made
    made.run("stop")


def wait_for(fact: Callable[[], bool]) -> None:
    ends = time.monotonic() + LIMIT_S
    while not fact():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.req("CONF-02")
def test_f31_a_repository_s_module_never_runs_when_the_hall_opens(hostile: HostileRepository, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\npwd > {tmp_path}/opening && mv {tmp_path}/opening {tmp_path}/opened\n")
    browser.chmod(0o755)

    assert hostile.run("hall", "--json", DISPLAY=":0", BROWSER=str(browser)).returncode == 0
    wait_for(lambda: (tmp_path / "opened").exists() or bool(hostile.ran()))

    assert hostile.ran() == []
    assert not (tmp_path / "opened").read_text().startswith(str(hostile.root))


@pytest.mark.req("CONF-02")
def test_f31_a_repository_s_module_never_runs_when_a_model_is_installed(hostile: HostileRepository) -> None:
    done = hostile.run("model", "install", HINDBRAIN_MODE="embedded", PIP_NO_INDEX="1", PIP_CONFIG_FILE=os.devnull)

    assert hostile.ran() == []
    assert b"pip could not fetch" in done.stdout + done.stderr  # the real pip was asked, and was told to use no index


@pytest.mark.parametrize("mode", ["embedded", "owner"])
@pytest.mark.req("CONF-02")
def test_f31_nothing_of_a_repository_runs_whatever_is_called_in_it(hostile: HostileRepository, mode: str) -> None:
    calls = [
        ("init",),
        ("ingest", "."),
        ("north", "task"),
        ("memorize", "a-label", "a text"),
        ("seek", "text"),
        ("search", "open"),
        ("cowork", "guard", "check"),
        ("memory", "record", "a row of evidence"),
        ("doctor",),
        ("hosts", "status"),
        ("run", "Count the python files"),
        ("status",),
    ]

    for words in calls:
        done = hostile.run(*words, HINDBRAIN_MODE=mode)
        assert b"Traceback" not in done.stderr, (words, done.stderr)
        assert hostile.ran() == [], words


# --- git settings of a repository ----------------------------------------------------------------------------------------

HOOKS = ("pre-commit", "post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction", "pre-auto-gc")
SETTINGS: dict[str, tuple[str, ...]] = {
    "fsmonitor": ("core.fsmonitor",),
    "external diff": ("diff.external", "diff.evil.command"),
    "textconv": ("diff.evil.textconv",),
    "filter": ("filter.evil.clean", "filter.evil.smudge"),
    "filter process": ("filter.evil.process",),
    "pager": ("core.pager", "pager.log", "pager.diff", "pager.config"),
    "editor": ("core.editor", "sequence.editor"),
    "transport": ("core.sshCommand", "core.gitProxy", "credential.helper", "core.askPass", "remote.origin.uploadpack"),
    "signature": ("gpg.program", "gpg.ssh.program", "gpg.x509.program"),
    "alias": ("alias.diff", "alias.log", "alias.rev-parse", "alias.ls-files"),
    "merge": ("merge.evil.driver", "merge.tool", "mergetool.evil.cmd", "difftool.evil.cmd", "interactive.diffFilter"),
}
VALUES = {"log.showSignature": "true", "diff.renames": "true", "status.submoduleSummary": "true", "submodule.recurse": "true"}


@pytest.fixture
def guarded(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[BusScene, Path]:
    """A repository with a reservation, a submodule and staged changes, and a program that leaves a mark."""
    monkeypatch.delenv("HINDBRAIN_AGENT_ID", raising=False)
    world.clock.catch_up()
    scene = BusScene.of(world, "a", "b")
    root = Path(scene.root)
    (root / ".gitattributes").write_text("* diff=evil filter=evil merge=evil\n")
    (root / "a.txt").write_text("one\n")
    sub = root / "sub"
    sub.mkdir()
    git(str(sub), "init", "-q")
    (sub / "s.txt").write_text("s\n")
    git(str(sub), "add", "-A")
    git(str(sub), "commit", "-q", "-m", "s")
    git(str(root), "add", "-A")
    git(str(root), "commit", "-q", "-m", "first")
    scene.ok("cowork.reserve", agent_id="a", paths=["src/"], reason="mine")
    (root / "src").mkdir()
    (root / "src" / "x.py").write_text("x\n")
    git(str(root), "add", "-A")
    (root / "a.txt").write_text("two\n")
    (sub / "s.txt").write_text("changed\n")
    program = world.place / "program"
    program.write_text(f"#!/bin/sh\n: > {world.place}/started\n")
    program.chmod(0o755)
    return scene, program


def poison(root: Path, program: Path, names: tuple[str, ...]) -> None:
    for place in (root, root / "sub"):
        for name in names:
            git(str(place), "config", name, f"!{program}" if name.startswith("alias.") else str(program))
        for name, value in VALUES.items():
            git(str(place), "config", name, value)


@pytest.mark.parametrize("which", [*SETTINGS, "hooks"])
@pytest.mark.req("CONF-02")
def test_f32_no_git_setting_of_a_repository_starts_a_program(guarded: tuple[BusScene, Path], world: World, which: str) -> None:
    scene, program = guarded
    root = Path(scene.root)
    if which == "hooks":
        for place in (root, root / "sub"):
            for name in HOOKS:
                target = place / ".git" / "hooks" / name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(program.read_bytes())
                target.chmod(0o755)
    else:
        poison(root, program, SETTINGS[which])

    told = subprocess.run(
        [HINDBRAIN, "cowork", "guard", "check", "--json"],
        cwd=root,
        env={**os.environ, "HINDBRAIN_HOME": str(world.home.path), "HINDBRAIN_AGENT_ID": "b"},
        capture_output=True,
        check=False,
        timeout=LIMIT_S,
    )

    assert told.returncode == 1, told.stderr  # it did look: the reserved file is staged
    assert b"src/x.py" in told.stdout
    for name, given in (
        ("ingest", {"path": str(root), "project_root": str(root)}),
        ("north", {"query": "x"}),
        ("cowork.guard.check", {"agent_id": "b"}),
        ("impact", {"node_id": "a.txt"}),
        ("doctor", {}),
    ):
        world.at(str(root)).call(name, **given)
    assert not (world.place / "started").exists()


@pytest.mark.req("CONF-02")
def test_f31_a_program_of_the_repository_is_never_git_wherever_in_it_somebody_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search path often has an entry of the repository at work, such as `.venv/bin`."""
    root = tmp_path / "repo"
    for name in (".git", "src/deep", "bin"):
        (root / name).mkdir(parents=True)
    (root / "bin" / "git").write_text("#!/bin/sh\n")
    (root / "bin" / "git").chmod(0o755)
    real = os.environ["PATH"]
    monkeypatch.setenv("PATH", os.pathsep.join((str(root / "bin"), real)))

    found = [installed(str(root / one)) for one in (".", "src", "src/deep", "bin")]

    assert found == [shutil.which("git", path=real)] * 4
    assert installed(str(tmp_path / "elsewhere")) == str(root / "bin" / "git")  # control: elsewhere the entry counts
