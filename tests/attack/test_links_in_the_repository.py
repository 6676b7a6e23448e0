"""Links that a repository puts in place of its own memory, before a call or while it runs: nothing outside is written or read."""

import ctypes
import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hindbrain.domain.errors import PathRefused
from hindbrain.stores.archive_file import writing_archive
from hindbrain.stores.atomic import write_below, write_new
from hindbrain.stores.files import ClaimDirectory
from tests.support.world import World, git

# Two names change places again and again: at each moment one is the directory, the other a link to the outside.
SWAP = (
    "import ctypes, sys\n"
    "exchange = ctypes.CDLL(None).renameat2\n"
    "first, second = (one.encode() for one in sys.argv[1:])\n"
    "print('ready', flush=True)\n"
    "while True: exchange(-100, first, -100, second, 2)\n"
)


def outside(place: Path) -> Path:
    made = place / "outside"
    made.mkdir()
    (made / "secret.light.md").write_text("---\nnode: secret\n---\nSENTINEL\n")
    return made


def state(place: Path) -> list[tuple[str, int, int]]:
    return sorted((str(one.relative_to(place)), one.lstat().st_mode, one.lstat().st_mtime_ns) for one in place.rglob("*"))


def tries() -> Iterator[int]:
    """Numbers, for as long as a busy machine may need to run both processes."""
    ends = time.monotonic() + 60
    return itertools.takewhile(lambda _: time.monotonic() < ends, itertools.count())


@contextmanager
def swapping(words: list[str]) -> Iterator[None]:
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


EXCHANGES = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="names cannot change places at once")


@EXCHANGES
@pytest.mark.parametrize("swapped", [".hindbrain", ".hindbrain/agent-memory", ".hindbrain/agent-memory/.history"])
def test_a_link_that_replaces_the_memory_during_a_write_leads_nowhere(tmp_path: Path, swapped: str) -> None:
    """Another account that may write in the repository, or an agent that is confined to it, moves faster than a check."""
    directory = ClaimDirectory(tmp_path / "repo" / ".hindbrain" / "agent-memory")
    directory.path.parent.mkdir(parents=True)
    directory.archive("first", "text", at=1)
    there, link = outside(tmp_path), tmp_path / "repo" / "link"
    before = state(there)
    link.symlink_to(there)
    words = [sys.executable, "-c", SWAP, str(tmp_path / "repo" / swapped), str(link)]
    done = refused = 0
    with swapping(words):
        for number in tries():
            if done + refused >= 200 and refused >= 20:
                break
            try:
                with directory.lock("first", wait_s=5):
                    directory.place("first", directory.stage("first", "new", replaced="old"), at=number)
                directory.archive("first", "text", at=number)
                directory.sweep()
                found = [facts.slug for facts in directory.scan()]
                assert "secret" not in found
                assert directory.read("secret") is None
                directory.remove("secret")
                done += 1
            except (PathRefused, FileNotFoundError):
                refused += 1

    assert state(there) == before
    assert refused >= 20  # control: the names did change places


@EXCHANGES
def test_a_link_that_replaces_a_directory_during_an_export_leads_nowhere(tmp_path: Path) -> None:
    """The directory was checked when the call began; an archive takes its time."""
    there, link, exports = outside(tmp_path), tmp_path / "link", tmp_path / "repo" / "exports"
    exports.mkdir(parents=True)
    before = state(there)
    link.symlink_to(there)
    done = refused = 0
    with swapping([sys.executable, "-c", SWAP, str(exports), str(link)]):
        for number in tries():
            if done >= 5 and refused >= 50:
                break
            try:
                write_new(exports / f"{number}.json", b"{}")
                write_below(tmp_path / "repo", f"exports/note-{number}.md", b"x")
                with writing_archive(exports / f"{number}.tar.gz", tmp_path) as writer:
                    writer.add("member", b"x")
                done += 1
            except PathRefused:
                refused += 1

    assert state(there) == before
    assert done
    assert refused


@pytest.mark.parametrize("where", ["other", "plain", "missing", "inside"])
def test_the_note_of_a_mission_is_written_in_no_other_repository(tmp_path: Path, where: str) -> None:
    """An agent names any directory when it starts a mission; closing it must not write there."""
    world = World(tmp_path)
    root, target = tmp_path / "repo", tmp_path / "repo" / "inside" if where == "inside" else tmp_path / where
    root.mkdir()
    git(str(root), "init", "-q")
    if where != "missing":
        target.mkdir()
    if where in ("other", "inside"):
        git(str(target), "init", "-q")
        assert world.at(str(target)).call("init", path=str(target))["ok"]
    agent = world.at(str(root))
    assert agent.call("init", path=str(root))["ok"]
    before = state(target) if target.exists() else []

    started = agent.call("mission.start", task="find out how it works", repo=str(target))
    answer = agent.call("mission.close", mission_id=started["mission_id"], force=True, reason="over", write_light=True)

    assert answer["ok"], answer
    assert "light_file" not in answer
    assert "another repository" in answer["light_error"]
    assert (state(target) if target.exists() else []) == before
    world.close()


def test_the_note_of_a_mission_follows_no_link(tmp_path: Path) -> None:
    world = World(tmp_path)
    root, there = tmp_path / "repo", outside(tmp_path)
    root.mkdir()
    git(str(root), "init", "-q")
    agent = world.at(str(root))
    assert agent.call("init", path=str(root))["ok"]
    before = state(there)
    (root / ".hindbrain" / "missions").symlink_to(there)
    notes = []
    for _ in range(2):
        started = agent.call("mission.start", task="find out how it works")
        notes.append(agent.call("mission.close", mission_id=started["mission_id"], force=True, reason="over", write_light=True))
        if (root / ".hindbrain" / "missions").is_symlink():
            (root / ".hindbrain" / "missions").unlink()

    assert "leads through a link" in notes[0]["light_error"]
    assert state(there) == before
    assert Path(notes[1]["light_file"]).is_file()  # control: without the link it is written
    world.close()


SWAPPED = [".hindbrain", ".hindbrain/agent-memory", ".hindbrain/agent-memory/.history", ".hindbrain/agent-memory/.locks"]


def test_a_link_that_came_with_a_commit_leads_nowhere(tmp_path: Path) -> None:
    """`agent-memory` is part of the repository: a commit of somebody else can turn it into a link."""
    world = World(tmp_path)
    there = outside(tmp_path)
    before = state(there)
    for number, name in enumerate(SWAPPED):
        root = tmp_path / f"repo{number}"
        root.mkdir()
        git(str(root), "init", "-q")
        agent = world.at(str(root))
        assert agent.call("init", path=str(root))["ok"]
        agent.memorize("first", "one text of it")
        shutil.rmtree(root / name)
        (root / name).symlink_to(there)
        agent.call("memorize", node_label="first", text="another text of it")
        agent.call("memorize", node_label="second", text="a second claim")
        answers = [agent.north("secret"), agent.seek("secret node")]

        assert "SENTINEL" not in str(answers)
        assert state(there) == before, name
    world.close()


def test_a_claim_directory_below_a_missing_home_is_made(tmp_path: Path) -> None:
    directory = ClaimDirectory(tmp_path / "home" / "medulla" / "agent-memory")

    directory.place("a", directory.stage("a", "text", replaced=None), at=1)

    assert directory.read("a") == "text"
    assert os.stat(directory.path).st_mode & 0o777 == 0o700
