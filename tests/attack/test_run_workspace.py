"""Attacks on the workspace of a run: nothing leads out of it, nothing outlives a command, nothing of ours is handed to one."""

import ctypes
import os
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.domain.errors import PathRefused
from hindbrain.engines.command_safety import judged
from hindbrain.stores.command import Commands, _Kept, _read
from hindbrain.stores.sandbox import Sandbox, available
from hindbrain.stores.workspace import Workspace
from tests.support.plants import box


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    (tmp_path / "secret.txt").write_text("SECRET")
    return box(tmp_path, {"a.txt": "x", "dir/b.txt": "y"}).workspace


OUT = ["../secret.txt", "dir/../../secret.txt", "/etc/passwd", "..", "/", "a.txt/../../secret.txt", "\x00", ""]


@pytest.mark.parametrize("path", OUT)
def test_ctl_097_no_path_leads_out_of_the_workspace(space: Workspace, path: str) -> None:
    for act in (
        lambda: space.read(path),
        lambda: space.write(path, "x", over=True),
        lambda: space.delete(path),
        lambda: space.move("a.txt", path),
        lambda: space.move(path, "new.txt"),
        lambda: space.search("x", under=path) if path not in ("",) else space.read(path),
    ):
        with pytest.raises(PathRefused):
            act()
    assert (space.root.parent / "secret.txt").read_text() == "SECRET"
    assert (space.root / "a.txt").read_text() == "x"


def test_ctl_097_no_link_is_followed_whatever_it_leads_to(space: Workspace) -> None:
    outside = space.root.parent
    (space.root / "file-link").symlink_to(outside / "secret.txt")
    (space.root / "dir-link").symlink_to(outside)
    (space.root / "inner-link").symlink_to(space.root / "a.txt")
    (space.root / "loop").symlink_to(space.root / "loop")

    for path in ("file-link", "dir-link/secret.txt", "inner-link", "loop", "dir-link/../work/file-link"):
        with pytest.raises(PathRefused):
            space.read(path)
    for path in ("file-link", "dir-link/new.txt", "inner-link", "loop"):
        with pytest.raises(PathRefused):
            space.write(path, "x", over=True)
    assert space.glob("*").paths == ("a.txt", "dir/b.txt")
    assert space.search("SECRET").lines == ()
    assert sorted(os.listdir(outside)) == ["secret.txt", "tmp", "work"]
    assert space.precious("dir-link/secret.txt")  # a command would write there


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="names cannot change places at once")
def test_ctl_097_a_directory_that_turns_into_a_link_meanwhile_leads_nowhere(space: Workspace) -> None:
    """A race: one thread swaps a directory for a link to the outside as fast as it can, the other writes and reads through it."""
    outside = space.root.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("SECRET")
    ended = threading.Event()

    (space.root / "other").symlink_to(outside)
    names = [os.fsencode(space.root / name) for name in ("dir", "other")]
    exchange = ctypes.CDLL(None).renameat2

    def swap() -> None:
        while not ended.is_set():
            exchange(-100, names[0], -100, names[1], 2)  # both change places at once: the name is never free

    thread = threading.Thread(target=swap)
    thread.start()
    seen, refused, ends = set(), 0, time.monotonic() + 60
    try:
        while (len(seen) < 1 or refused < 50) and time.monotonic() < ends:
            try:
                seen.add(space.read("dir/b.txt").text)
                space.write("dir/new.txt", "x", over=True)
            except PathRefused:
                refused += 1
    finally:
        ended.set()
        thread.join()

    assert refused
    assert seen == {"y"}
    assert os.listdir(outside) == ["b.txt"]


def test_ctl_097_no_pipe_and_no_device_is_opened(space: Workspace) -> None:
    os.mkfifo(space.root / "pipe")

    with pytest.raises(PathRefused, match="regular"):
        space.read("pipe")  # it would wait for ever for a writer
    with pytest.raises(PathRefused):
        space.write("pipe", "x", over=True)
    assert "pipe" not in space.glob("*").paths
    assert space.search("x").complete


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".GIT/config", "dir/.git/config", ".hindbrain/agent-memory/x.md"])
def test_ctl_097_what_starts_programs_or_is_memory_is_not_written(space: Workspace, path: str) -> None:
    with pytest.raises(PathRefused):
        space.write(path, "x", over=True)
    with pytest.raises(PathRefused):
        space.move("a.txt", path)


def test_ctl_097_hostile_names_are_shown_without_harm(space: Workspace) -> None:
    names = ["new\nline.txt", "esc\x1b[2J.txt", "-rf", "turned\u202etxt.exe", " space "]
    for name in names:
        (space.root / name).write_text("needle")
    (os.fsencode(space.root) + b"/bad\xff.txt").decode("utf-8", "surrogateescape")
    with open(os.fsencode(space.root) + b"/bad\xff.txt", "w") as file:
        file.write("needle")

    found = space.glob("*").paths
    lines = space.search("needle").lines

    assert len(found) == len(names) + 3
    assert len(lines) == len(names) + 1
    for text in (*found, *lines):
        assert text.encode("utf-8").decode().isprintable()
    space.write("a\nb.txt", "x", over=False)
    assert space.read("a\nb.txt").text == "x"
    with pytest.raises(PathRefused, match="too long"):
        space.write("x" * 300, "x", over=False)


def test_ctl_097_a_pattern_that_explodes_ends_in_time(space: Workspace) -> None:
    (space.root / "a.txt").write_text("a" * 40 + "!\n")
    space_before = time.thread_time()
    space.glob("*a" * 30)
    assert time.thread_time() - space_before < 1.0
    with pytest.raises(PathRefused, match="regular expression"):
        space.search("(", is_regex=True)


# --- commands ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """A workspace that lies inside of a home with a token, as it does in real."""
    if available() is Sandbox.NONE:
        pytest.skip("this machine has no sandbox, so no command runs unasked: test_run_sandbox shows that")
    home = tmp_path / "home"
    work, temporary = home / "runs" / "t" / "work", home / "runs" / "t" / "tmp"
    for place in (work, temporary):
        place.mkdir(parents=True)
    (home / "token").write_text("SECRET-TOKEN")
    user = tmp_path / "user"
    (user / ".ssh").mkdir(parents=True)
    (user / ".ssh" / "id").write_text("SECRET-KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "SECRET-API")
    monkeypatch.setenv("HINDBRAIN_HOME", str(home))
    return Commands(work, temporary=temporary, path="/usr/local/bin:/usr/bin:/bin:.", hidden=[home], user=user)


def test_ctl_105_a_command_gets_no_key_and_no_place_of_ours(commands: Commands) -> None:
    ran = commands.run("env")

    assert "SECRET" not in ran.output
    assert "HINDBRAIN" not in ran.output
    assert "PATH=/usr/local/bin:/usr/bin:/bin\n" in ran.output


def test_ctl_105_a_command_reads_no_token_and_writes_nowhere_else(commands: Commands, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ran = commands.run(
        f"cat {home}/token ../../../token {tmp_path}/user/.ssh/id; ls {home}; echo x > {tmp_path}/out; echo x > ../x;"
        f" echo x > {home}/config.toml; rm -f {home}/token; ln {home}/token t; ln -s {home}/token l; cat l;"
        " cat /proc/$PPID/../1/environ; echo fine > ok; cat ok; echo tmp > $TMPDIR/t"
    )

    assert ran.contained
    assert "SECRET" not in ran.output
    assert "fine\n" in ran.output
    assert (home / "token").read_text() == "SECRET-TOKEN"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "user"]
    assert sorted(one.name for one in home.iterdir()) == ["runs", "token"]


def test_ctl_105_a_command_cannot_end_who_started_it_and_connects_only_when_allowed(commands: Commands) -> None:
    commands.run(f"kill -9 {os.getpid()}; kill -9 {os.getppid()}; kill -9 $PPID; kill -9 1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        connect = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo connected'"
        refused = commands.run(connect, connect=False)
        with pytest.raises(BlockingIOError):
            server.accept()
        tried = commands.run(connect, connect=True)
        server.accept()[0].close()

    assert "connected" not in refused.output
    assert "connected" in tried.output


def _alive(mark: str) -> bool:
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and mark.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "command",
    [
        "sleep {n} & echo x",
        "(setsid sleep {n} >/dev/null 2>&1 &) ; echo x",
        "nohup setsid sh -c 'trap \"\" TERM; sleep {n}' & echo x",
    ],
)
def test_ctl_105_nothing_outlives_its_command(commands: Commands, command: str) -> None:
    mark = str(70_000 + os.getpid() % 10_000)

    ran = commands.run(command.format(n=mark))

    assert "x" in ran.output
    assert not _alive(f"sleep\x00{mark}")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_ctl_105_a_command_that_takes_too_long_is_ended_with_all_it_started(commands: Commands, tmp_path: Path) -> None:
    mark = str(80_000 + os.getpid() % 10_000)
    stopped = threading.Event()

    late = commands.run(f"trap '' TERM; (trap '' TERM; setsid sleep {mark}) & sleep {mark}", timeout_s=0.3)
    begun = tmp_path / "home" / "runs" / "t" / "work" / "begun"

    def stop_it() -> None:
        while not begun.exists():
            stopped.wait(0.01)
        stopped.set()

    thread = threading.Thread(target=stop_it)
    thread.start()
    cancelled = commands.run(f"echo begun; touch begun; sleep {mark}", timeout_s=60, stopped=stopped)
    thread.join()

    assert late.status is None
    assert late.why == "timed out after 0.3 s"
    assert cancelled.why == "cancelled"
    assert cancelled.output == "begun\n"
    assert cancelled.elapsed_ms < 30_000
    assert not _alive(f"sleep\x00{mark}")


class Ending:
    """A program that says its last words and ends just when it is asked whether it has ended; its pipe is held by another."""

    def __init__(self) -> None:
        reading, self.held = os.pipe()
        self.stdout = os.fdopen(reading, "rb")
        self._words = [b"last words"]

    def poll(self) -> int:
        while self._words:
            os.write(self.held, self._words.pop())
        return 0


def test_ctl_105_the_last_words_of_a_command_are_heard_whenever_it_ends() -> None:
    process, kept = Ending(), _Kept(100)

    with process.stdout:
        why = _read(cast(Any, process), kept, time.monotonic() + 60, 60, threading.Event())
        os.close(process.held)

    assert (why, kept.text()) == ("", "last words")


def test_ctl_093_ctl_105_huge_and_binary_output_is_cut_and_made_plain(commands: Commands) -> None:
    huge = commands.run("head -c 1000000 /dev/zero | tr '\\0' a; echo END")
    binary = commands.run("printf '\\033[31mred\\033[0m \\000\\377 \\033]0;title\\007 end\\r\\n'")
    waits = commands.run("cat; echo no input")

    assert not huge.complete
    assert len(huge.output) < 210_000
    assert huge.output.endswith("END\n")
    assert huge.output.startswith("a" * 1000)
    assert "bytes left out" in huge.output
    assert binary.output == "red \ufffd\ufffd  end\n"
    assert waits.output == "no input\n"


def test_ctl_105_a_program_of_the_workspace_takes_no_name_of_the_system(commands: Commands, tmp_path: Path) -> None:
    work = tmp_path / "home" / "runs" / "t" / "work"
    (work / "ls").write_text("#!/bin/sh\necho HIJACKED\n")
    (work / "ls").chmod(0o755)
    inside = Commands(work, temporary=tmp_path, path=f"{work}:/usr/bin:/bin")

    assert "HIJACKED" not in commands.run("ls").output
    assert "HIJACKED" not in inside.run("ls").output


# --- what runs unasked does not remove ----------------------------------------------------------------------------------------

_PIECES = [
    *("rm", "rm x", "ls", "echo ", "cat ", " ", ";", "&&", "||", "|", "&", "\n", "'", '"', "`", "$(", ")", "(", "{ ", " }", "\\"),
    *("#", " #", "$", "${x}", "x=", "x=rm", "$x", ">", "<", "2>&1", "r", "m", "if ", "then ", "fi", "do ", "done", "for x in "),
    *("env ", "xargs ", "eval ", "sh -c ", "command ", "!", "$'", "\\'", '\\"', "<<E", "*", "[", "]", "/"),
]


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A place where the only `rm` leaves a mark instead of removing."""
    root = tmp_path_factory.mktemp("trap")
    programs, mark = root / "bin", root / "mark"
    programs.mkdir()
    (programs / "rm").write_text(f"#!/bin/sh\n: > {mark}\n")
    (programs / "rm").chmod(0o755)
    for name in ("ls", "cat", "echo", "env", "xargs"):
        (programs / name).symlink_to(f"/usr/bin/{name}")
    return programs, mark


@given(pieces=st.lists(st.sampled_from(_PIECES), min_size=2, max_size=10))
@settings(max_examples=250, deadline=None)
def test_ctl_102_no_line_that_runs_unasked_reaches_rm_in_a_real_shell(trap: tuple[Path, Path], pieces: list[str]) -> None:
    programs, mark = trap
    command = "".join(pieces)
    if judged(command, exists=lambda _: False).asks:
        return
    work = programs.parent / "work"
    work.mkdir(exist_ok=True)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["/bin/sh", "-c", command], cwd=work, env={"PATH": str(programs)}, timeout=10, check=False, **quiet)

    assert not mark.exists(), command


def test_ctl_097_a_command_that_is_too_long_for_the_system_is_refused_and_nothing_breaks(tmp_path: Path) -> None:
    commands = box(tmp_path, {"a.txt": "x"}).commands

    long = commands.run("echo " + "\N{GRINNING FACE}" * 19_000)
    too_long = commands.run("echo " + "x" * 200_000)

    assert long.status == 0
    assert too_long.status is None
    assert too_long.why.startswith("not started")
