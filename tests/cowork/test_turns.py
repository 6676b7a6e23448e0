"""Turns of a bus: all or nothing, whoever dies in between, and one after the other."""

import errno
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from hindbrain.app import embedded, local_caller
from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import StoreUnavailable
from hindbrain.settings import Settings
from hindbrain.stores import bus_intents
from hindbrain.stores.bus_files import BusFiles
from hindbrain.stores.home import Home
from tests.support.cowork import BusScene
from tests.support.world import World

DIED = 86


@pytest.fixture
def files(tmp_path: Path) -> BusFiles:
    made = BusFiles(Home(tmp_path / "home"), "/p/app", wait_s=5)
    with made.turn(make=True) as turn:
        turn.append("log", b"one\n")
        turn.append("inbox/b", b"m1\n")
        turn.replace("agents", b"{}")
    return made


def told(files: BusFiles) -> dict[str, bytes]:
    with files.look() as look:
        return {name: look.read(name) for name in ("log", "inbox/b", "agents", "old")}


BEFORE = {"log": b"one\n", "inbox/b": b"m1\n", "agents": b"{}", "old": b""}
AFTER = {"log": b"two\n", "inbox/b": b"m2\n", "agents": b"[1]", "old": b"one\n"}


def _change(files: BusFiles) -> None:
    with files.turn() as turn:
        turn.rename("log", "old")
        turn.append("log", b"two\n")
        turn.remove("inbox/b")
        turn.append("inbox/b", b"m2\n")
        turn.replace("agents", b"[1]")


def _dies_at(files: BusFiles, step: int) -> int:
    """Make a change in a child that is gone at its n-th call that changes a file. Its exit code: 0 when it came to the end."""
    pid = os.fork()
    if pid == 0:
        try:
            left = step

            def counted(kind: str) -> None:
                real = getattr(os, kind)

                def dying(*words: object, **more: object) -> object:
                    nonlocal left
                    if left == 0 and kind == "pwrite" and len(words[1]) > 1:  # type: ignore[arg-type]
                        real(words[0], words[1][:1], words[2])  # type: ignore[index]  # half of it was written
                    left -= 1
                    if left < 0:
                        os._exit(DIED)
                    return real(*words, **more)

                setattr(os, kind, dying)

            for kind in ("pwrite", "ftruncate", "rename", "unlink", "fdatasync"):
                counted(kind)
            _change(files)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_mind_427_a_turn_is_done_or_not_wherever_its_process_dies(tmp_path: Path) -> None:
    ends = set()
    for step in range(60):
        made = BusFiles(Home(tmp_path / str(step)), "/p/app", wait_s=5)
        with made.turn(make=True) as turn:
            turn.append("log", b"one\n")
            turn.append("inbox/b", b"m1\n")
            turn.replace("agents", b"{}")
        code = _dies_at(made, step)
        assert code in (0, DIED)
        found = told(made)
        assert found in (BEFORE, AFTER), step
        ends.add((code, found == AFTER))
        if code == 0:
            break
        with made.turn() as turn:  # and the bus goes on
            turn.append("log", b"three\n")
        assert told(made)["log"] == found["log"] + b"three\n"
    assert ends == {(DIED, False), (DIED, True), (0, True)}


@pytest.mark.parametrize("late", [False, True], ids=["not-done", "done-and-then"])
def test_mind_427_a_turn_that_the_disk_refused_is_never_done_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Who is told that it failed tries again: a message would come twice. Who is told that it is done will find it so."""
    ends = set()
    for step in range(60):
        made = BusFiles(Home(tmp_path / str(step)), "/p/app", wait_s=5)
        with made.turn(make=True) as turn:
            turn.append("log", b"one\n")
            turn.append("inbox/b", b"m1\n")
            turn.replace("agents", b"{}")
        with monkeypatch.context() as patched:
            calls = _refusing(patched, at=step, late=late)
            try:
                _change(made)
                said = AFTER
            except OSError:
                said = BEFORE
        assert told(made) == said, step
        ends.add(said["log"])
        if len(calls) <= step:
            break
    assert ends == {BEFORE["log"], AFTER["log"]}


def _refusing(patched: pytest.MonkeyPatch, *, at: int, late: bool) -> list[str]:
    """The n-th call that changes a file finds the disk full; `late`: after it has done its work. Returns the calls made."""
    calls: list[str] = []

    def counted(kind: str) -> None:
        real = getattr(os, kind)

        def refusing(*words: object, **more: object) -> object:
            calls.append(kind)
            if len(calls) - 1 != at:
                return real(*words, **more)
            if late:
                real(*words, **more)
            raise OSError(errno.ENOSPC, "No space left on device")

        patched.setattr(os, kind, refusing)

    for kind in ("pwrite", "ftruncate", "rename", "unlink", "fdatasync", "fsync"):
        counted(kind)
    return calls


def test_what_others_keep_beside_a_bus_makes_none_and_does_not_disturb_it(tmp_path: Path) -> None:
    files = BusFiles(Home(tmp_path / "home"), "/p/app", wait_s=5)
    beside = files.directory / "hooks"
    beside.mkdir(parents=True)
    (beside / "gone").symlink_to("nowhere")

    assert not files.exists
    with files.look() as look:
        assert look.names() == ["hooks"]
    with files.turn(make=True) as turn:
        turn.append("inbox/b", b"m1\n")
    with files.turn() as turn:
        turn.append("inbox/b", b"m2\n")
    shutil.rmtree(files.directory / "inbox")  # somebody tidied up; what the intents hold comes back after a power cut
    (files.directory / "intents.done").unlink()
    assert told(files)["inbox/b"] == b"m1\nm2\n"


def test_a_power_cut_is_made_good_from_the_intents(files: BusFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it, files hold what was synced and no more. The intents were."""
    kept = {path: path.read_bytes() for path in files.directory.rglob("*") if path.is_file()}
    with files.turn() as turn:
        turn.append("log", b"two\n")
        turn.remove("inbox/b")
    with files.turn() as turn:
        turn.append("log", b"three\n")
        turn.append("inbox/b", b"m2\n")
    for path, data in kept.items():
        if not path.name.startswith("intents"):
            path.write_bytes(data)
    (files.directory / "log").write_bytes(b"")
    monkeypatch.setattr(bus_intents, "_boot", lambda: "another run")

    assert told(files) == {"log": b"one\ntwo\nthree\n", "inbox/b": b"m2\n", "agents": b"{}", "old": b""}


def test_intents_are_dropped_once_what_they_did_is_synced(files: BusFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fdatasync

    def noted(handle: int) -> None:
        name = Path(os.readlink(f"/proc/self/fd/{handle}")).name
        synced.append(f"{name} {os.fstat(handle).st_size}" if name.startswith("intents") else name)
        real(handle)

    monkeypatch.setattr(os, "fdatasync", noted)
    for number in range(20):
        with files.turn() as turn:
            turn.append("log", b"x" * 20_000 + b"\n")
            turn.replace("agents", str(number).encode())

    dropped = synced.index("intents.jsonl 0")
    assert {"log", "agents", "b"} <= set(synced[:dropped])
    assert (files.directory / "intents.jsonl").stat().st_size < 300_000
    assert len(told(files)["log"]) == 4 + 20 * 20_001


def test_an_intent_that_nobody_can_read_is_set_aside_and_one_that_leads_outside_is_not_followed(files: BusFiles) -> None:
    outside = files.directory.parent / "outside"
    for line in (b'{"broken\n', b'[{"file":"../outside","data":"eA=="}]\n', b"\xff\xfe\n"):
        with (files.directory / "intents.jsonl").open("ab") as file:
            file.write(line)

    assert told(files) == BEFORE
    assert not outside.exists()
    assert (files.directory / "intents.damaged").read_bytes().count(b"\n") == 3
    for name in ("../outside", "/etc/passwd", "a/b/c", "..", "a\n", ""):
        with pytest.raises(StoreUnavailable), files.turn() as turn:
            turn.append(name, b"x")


def _fails(files: BusFiles) -> None:
    with files.turn() as turn:
        turn.append("log", b"two\n")
        turn.append("log", b"three\n")
        assert turn.read("log") == b"one\ntwo\nthree\n"
        turn.replace("agents", b"[]")
        turn.append("agents", b"!")
        turn.remove("inbox/b")
        assert (turn.read("agents"), turn.read("inbox/b"), turn.size("inbox/b")) == (b"[]!", b"", 0)
        raise ZeroDivisionError


def test_a_turn_that_fails_changes_nothing_and_sees_its_own_changes(files: BusFiles) -> None:
    with pytest.raises(ZeroDivisionError):
        _fails(files)

    assert told(files) == BEFORE


def test_a_link_in_the_bus_is_not_followed(files: BusFiles, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (files.directory / "log").unlink()
    (files.directory / "log").symlink_to(victim)

    with pytest.raises(OSError), files.turn() as turn:
        turn.append("log", b"theirs\n")

    assert victim.read_text() == "mine"


def _registers(home: str, root: str, number: int) -> None:
    caller = local_caller(root=root, agent="fire:maker", channel=Channel.AGENT, environ={})
    with embedded(Home(Path(home)), Settings({}), caller) as session:
        assert session.call("cowork.register", agent_id=f"agent-{number}", tool="codex")["ok"]


def _drains(home: str, root: str, told_to: "multiprocessing.Queue[list[str]]") -> None:
    caller = local_caller(root=root, agent="fire:maker", channel=Channel.AGENT, environ={})
    with embedded(Home(Path(home)), Settings({}), caller) as session:
        told_to.put([one["content"] for one in session.call("cowork.drain", agent_id="b")["messages"]])


def test_mind_428_mind_426_processes_at_once_lose_no_record_and_drain_no_message_twice(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    for number in range(10):
        scene.send("a", "b", f"m{number}")
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    home = str(world.home.path)
    children = [fork.Process(target=_registers, args=(home, scene.root, number)) for number in range(20)]
    children += [fork.Process(target=_drains, args=(home, scene.root, answers)) for _ in range(2)]

    for child in children:
        child.start()
    drained = [answers.get(timeout=60) for _ in range(2)]
    for child in children:
        child.join(60)

    assert [child.exitcode for child in children] == [0] * 22
    assert len(scene.ok("cowork.agents")["agents"]) == 22
    assert sorted(drained) == [[], [f"m{number}" for number in range(10)]]
