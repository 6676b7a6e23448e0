"""Attacks out of the sandbox of `run`, on every sandbox that this machine has. A sandbox that it lacks is skipped by name."""

import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hindbrain.policy.sandbox import CREDENTIALS, MEMORY, PROCESSES
from hindbrain.services.control.tools import Toolbox, ToolGateway
from hindbrain.services.gym.probing import Probe
from hindbrain.stores.command import UNCONTAINED, Commands
from hindbrain.stores.sandbox import Sandbox, places_of, usable
from tests.support.plants import Asked, box, plan

KINDS = [
    pytest.param(one, marks=pytest.mark.skipif(not usable(one), reason=f"this machine has no {one}"))
    for one in (Sandbox.BUBBLEWRAP, Sandbox.LANDLOCK)
]
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


class Scene:
    """A home of a person with credentials, a workspace in it, and commands."""

    def __init__(self, place: Path, sandbox: Sandbox) -> None:
        self.user, self.home = place / "user", place / "user" / ".local" / "share" / "hindbrain"
        self.work, temporary = self.home / "runs" / "t" / "work", self.home / "runs" / "t" / "tmp"
        for made in (self.work, temporary):
            made.mkdir(parents=True)
        self.sandbox = sandbox
        self.path = os.pathsep.join((str(Path(PYTHON).parent), "/usr/local/bin", "/usr/bin", "/bin"))
        self.commands = Commands(
            self.work, temporary=temporary, path=self.path, hidden=[self.home], user=self.user, sandbox=sandbox
        )

    def python(self, text: str, *, connect: bool = False, timeout_s: float = 30) -> str:
        ran = self.commands.run(f"{PYTHON} -I -c {shlex.quote(text)}", connect=connect, timeout_s=timeout_s)
        assert ran.contained
        return ran.output


@pytest.fixture(params=KINDS)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    return Scene(tmp_path, request.param)


@pytest.mark.parametrize("connect", [False, True])
@pytest.mark.parametrize("name", ["file", "abstract", "inside"])
def test_f17_no_unix_socket_outside_is_reached(
    scene: Scene, tmp_path: Path, name: str, connect: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of the same user, such as tmux, listens by a path, without one, or even in the workspace."""
    inside = scene.work / "s"
    address = {"file": str(tmp_path / "s"), "abstract": f"\0hindbrain-test-{os.getpid()}", "inside": str(inside)}[name]
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # a path of a socket is short; both names below are relative to where each side stands
        server.bind("s" if name == "file" else os.path.relpath(address) if name == "inside" else address)
        server.listen()
        server.setblocking(False)
        said = scene.python(
            f"import socket; socket.socket(socket.AF_UNIX).connect({'s' if name == 'inside' else address!r})", connect=connect
        )
        with pytest.raises(BlockingIOError):
            server.accept()

    assert "Error" in said


def test_f17_a_server_of_tmux_runs_nothing_for_a_command(scene: Scene, tmp_path: Path) -> None:
    tmux = next((one for one in ("/usr/bin/tmux", "/usr/local/bin/tmux") if os.path.exists(one)), None)
    if tmux is None:
        pytest.skip("tmux is not installed")
    place = tmp_path / "t"
    place.mkdir()
    environ = {"PATH": os.defpath, "TMUX_TMPDIR": str(place), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    subprocess.run([tmux, "-L", "x", "-f", os.devnull, "new-session", "-d", "sleep 60"], env=environ, check=True)
    sock = next(place.rglob("x"))
    try:
        scene.commands.run(f"tmux -S {sock} new-window 'touch {tmp_path}/escaped'", connect=True)
        listed = subprocess.run([tmux, "-L", "x", "list-windows"], env=environ, capture_output=True, text=True, check=True).stdout
    finally:
        subprocess.run([tmux, "-L", "x", "kill-server"], env=environ, check=True)

    assert len(listed.splitlines()) == 1
    assert not (tmp_path / "escaped").exists()


def test_f17_pairs_of_sockets_still_work(scene: Scene) -> None:
    assert "fine" in scene.python("import socket; a, b = socket.socketpair(); a.send(b'x'); b.recv(1); print('fine')")


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_f18_without_connections_no_datagram_leaves(scene: Scene, family: str) -> None:
    loopback = "127.0.0.1" if family == "AF_INET" else "::1"
    with socket.socket(getattr(socket, family), socket.SOCK_DGRAM) as server:
        try:
            server.bind((loopback, 0))
        except OSError:
            pytest.skip(f"this machine has no {family}")
        server.setblocking(False)
        port = server.getsockname()[1]
        target = f"({loopback!r}, {port})"
        send = f"import socket; print(socket.socket(socket.{family}, socket.SOCK_DGRAM).sendto(b'exfil', {target}))"
        scene.python(send)
        with pytest.raises(BlockingIOError):
            server.recvfrom(9)
        scene.python(send, connect=True)

        assert server.recvfrom(9)[0] == b"exfil"  # control: with connections it does leave


def test_f18_without_connections_nobody_outside_reaches_a_listener(scene: Scene) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ready = scene.work / "ready"
    listen = f"import socket, pathlib\ns = socket.create_server(('0.0.0.0', {port}))\n"
    serve = listen + "pathlib.Path('ready').touch()\ns.settimeout(20)\ns.accept()\nprint('REACHED')"
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(scene.python(serve, timeout_s=5)))
    thread.start()
    ends = time.monotonic() + 30
    while not ready.exists() and thread.is_alive() and time.monotonic() < ends:
        time.sleep(0.02)
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
        pass
    thread.join()

    assert "REACHED" not in said[0]


def test_f18_no_way_around_the_filter(scene: Scene) -> None:
    """io_uring makes sockets without the call for it; another namespace would have rules of its own."""
    unshare = 272 if os.uname().machine == "x86_64" else 97
    text = (
        "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
        "p = (ctypes.c_char * 256)()\n"
        f"for number, args in ((425, (4, p)), ({unshare}, (0x10000000,)), (435, (p, 88))):\n"
        "    print(c.syscall(number, *args), ctypes.get_errno())\n"
    )

    assert [line.split()[0] for line in scene.python(text).splitlines()] == ["-1", "-1", "-1"]


OF_HOSTS = [
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".cargo/credentials.toml",
    ".vault-token",
]
OF_SHELLS = [".m2/settings.xml", ".bash_history", ".env", ".netrc", ".aws/credentials", ".kube/config", ".config/gh/hosts.yml"]
UNNAMED = [".docker/config.json", ".some-new-agent/token.json", "Documents/passwords.txt", ".config/new/secret"]


@pytest.mark.parametrize("as_workspace", [False, True])
def test_f19_no_credential_of_a_host_or_a_shell_is_read(scene: Scene, tmp_path: Path, as_workspace: bool) -> None:
    listed = [*OF_HOSTS, *OF_SHELLS, *(f"{one}/x" if "." not in os.path.basename(one)[1:] else one for one in CREDENTIALS)]
    names = dict.fromkeys([*listed, *([] if as_workspace else UNNAMED)])
    for name in names:
        target = scene.user / name
        if not target.exists() and not any(one.is_file() for one in target.parents):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"SECRET {name}\n")
    commands = scene.commands
    if as_workspace:  # a person may name a home as the workspace: what is known to be a credential stays closed
        commands = Commands(
            scene.user, temporary=tmp_path / "user", path=scene.path, hidden=[scene.home], user=scene.user, sandbox=scene.sandbox
        )
    reads = " ".join(shlex.quote(str(scene.user / name)) for name in names)

    ran = commands.run(f"cat {reads}; ln -s {scene.user} l; cat l/.env; grep -rs SECRET {scene.user} {tmp_path} . ; true")

    assert ran.contained
    assert "SECRET" not in ran.output


def test_f19_a_command_of_root_reads_no_password_hash_and_no_key_of_the_machine(scene: Scene) -> None:
    places = ("/etc/shadow", "/etc/sudoers", "/etc/ssh/ssh_config", "/var/log", "/root", "/home")
    text = (
        f"import os\nfor p in {places}:\n"
        "    try: print(p, os.listdir(p) if os.path.isdir(p) else open(p).read()[:5])\n    except OSError: pass\n"
    )

    said = scene.python(text)

    assert [line for line in said.splitlines() if "[]" not in line] == []


def test_f19_tools_of_a_home_work_and_what_lies_beside_them_is_closed(tmp_path: Path) -> None:
    user = tmp_path / "u"
    for directory in (".cargo/bin", "tool/bin", "tool/lib", "venv/bin", ".local/bin", ".local/share/keyrings"):
        (user / directory).mkdir(parents=True)
    (user / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")

    read = places_of(
        write=[],
        read=[],
        hidden=[],
        user=user,
        path=[str(user / one) for one in (".cargo/bin", "tool/bin", "venv/bin", ".local/bin")],
    ).read

    below = {one.removeprefix(f"{user}/") for one in read if one.startswith(str(user))}
    assert below == {".cargo/bin", "tool/bin", "tool/lib", "venv", ".local/bin"}


def test_f22_no_environment_and_no_command_line_of_another_process_is_read(scene: Scene) -> None:
    with subprocess.Popen(["sleep", "60"], env={"API_KEY": "SECRET-VALUE"}) as other:
        try:
            ran = scene.commands.run(
                f"cat /proc/{other.pid}/environ /proc/{other.pid}/cmdline /proc/{os.getpid()}/environ;"
                " cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' ' '; ls /proc"
            )
        finally:
            other.kill()

    assert "SECRET-VALUE" not in ran.output
    assert "sleep 60" not in ran.output


def test_f22_a_command_has_no_capability(scene: Scene) -> None:
    read = "h = (ctypes.c_uint32 * 2)(0x20080522, 0)\nd = (ctypes.c_uint32 * 6)()\nctypes.CDLL(None).capget(h, d)"
    text = f"import ctypes\n{read}\nprint(list(d))"

    assert scene.python(text).strip() == "[0, 0, 0, 0, 0, 0]"


def test_f23_a_command_that_forks_without_end_is_ended(scene: Scene) -> None:
    text = (
        "import os, time\nmade = 0\n"
        f"while made < {PROCESSES * 3}:\n"
        "    try:\n        child = os.fork()\n    except OSError:\n        break\n"
        "    if child == 0:\n        time.sleep(60)\n        os._exit(0)\n    made += 1\n"
        "print('made', made, flush=True)\ntime.sleep(60)"
    )

    ran = scene.commands.run(f"{PYTHON} -I -c {shlex.quote(text)}", timeout_s=60)

    assert ran.status not in (0, None)
    assert f"more than {PROCESSES} processes" in ran.output or "made" in ran.output
    assert f"made {PROCESSES * 3}" not in ran.output


def test_f23_one_process_gets_no_more_memory_than_allowed(scene: Scene) -> None:
    assert "MemoryError" in scene.python(f"x = bytearray({MEMORY} + 1)")


def test_f23_the_limit_of_memory_counts_all_processes_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.stores.sandbox.MEMORY", 300 << 20)  # a number of a table, made small for this machine
    kind = next((one.values[0] for one in KINDS if usable(one.values[0])), None)  # type: ignore[arg-type]
    if not isinstance(kind, Sandbox):
        pytest.skip("this machine has no sandbox")
    forks = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        break\n"
    text = forks + "x = bytearray(b'x') * (100 << 20)\ntime.sleep(60)"

    ran = Scene(tmp_path, kind).commands.run(f"{PYTHON} -I -c {shlex.quote(text)}", timeout_s=60)

    assert "more than 300 MiB of memory" in ran.output


# --- where nothing contains -------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Toolbox, Path]:
    made = box(tmp_path, {"a.txt": "x"})
    work, temporary = made.workspace.root, tmp_path / "tmp"
    commands = Commands(work, temporary=temporary, path=os.defpath, sandbox=Sandbox.NONE)
    return Toolbox(workspace=made.workspace, commands=commands), work


def test_f17_without_a_sandbox_nothing_runs_unasked_and_the_person_is_told(bare: tuple[Toolbox, Path]) -> None:
    tools, work = bare
    asked = Asked(False, True)
    gateway = ToolGateway(tools, plan(), asked)

    refused = gateway.call("run", {"command": "cat a.txt"})
    agreed = gateway.call("run", {"command": "cat a.txt"})

    assert refused.error is not None
    assert agreed.output == "x"
    assert UNCONTAINED in agreed.note
    assert [why for _, _, why in asked.questions] == [f"nothing keeps it inside the workspace: {UNCONTAINED}"] * 2
    assert tools.commands.run("touch made").why == f"not started: {UNCONTAINED}"
    assert not (work / "made").exists()


def test_f17_without_a_sandbox_no_reproduction_of_an_agent_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.stores.command.available", lambda: Sandbox.NONE)

    tried = Probe(tmp_path).reproduce(f"open({str(tmp_path / 'ran')!r}, 'w')")

    assert tried.outcome == "broken"
    assert UNCONTAINED in tried.output
    assert not (tmp_path / "ran").exists()
