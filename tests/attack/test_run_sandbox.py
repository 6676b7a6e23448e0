"""Attacks out of the sandbox of `run`, on every sandbox that this machine has. A sandbox that it lacks is skipped by name."""

import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import cast

import pytest

from hindbrain.policy.commands import READS
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


@pytest.mark.parametrize("connect", [False, True])
def test_f17_a_pair_of_sockets_sends_no_datagram_to_a_socket_by_name(
    scene: Scene, tmp_path: Path, connect: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a pair for datagrams can send to any address, with open files attached."""
    monkeypatch.chdir(tmp_path)
    abstract = f"\0hindbrain-datagram-{os.getpid()}"
    servers = []
    for address in ("d", os.path.relpath(scene.work / "d"), abstract):
        server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        server.bind(address)
        server.setblocking(False)
        servers.append(server)
    text = (
        "import socket\n"
        f"for address in ('../../../../../../../d', {str(tmp_path / 'd')!r}, 'd', {abstract!r}):\n"
        "    for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_STREAM, 3):\n"
        "        for flags in (0, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK):\n"
        "            try:\n"
        "                one, other = socket.socketpair(socket.AF_UNIX, kind | flags)\n"
        "                one.sendto(b'exfil', address)\n"
        "            except OSError as wrong: print(type(wrong).__name__)\n"
    )

    said = scene.python(text, connect=connect)

    for server in servers:
        with server, pytest.raises(BlockingIOError):
            server.recv(9)
    assert "Error" in said


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


# --- what Landlock has no rule for ------------------------------------------------------------------------------------------


def test_f17_no_mode_owner_time_or_attribute_of_a_file_outside_changes(scene: Scene) -> None:
    target = scene.user / "notes"
    target.write_text("x")
    target.chmod(0o600)
    before = target.stat()
    text = (
        f"import os\np = {str(target)!r}\n"
        "for act in (lambda: os.chmod(p, 0o777), lambda: os.utime(p, (1, 1)), lambda: os.chown(p, 0, 0),\n"
        "            lambda: os.setxattr(p, b'user.x', b'y'), lambda: os.fchmod(os.open(p, os.O_PATH), 0o777)):\n"
        "    try: act(); print('CHANGED')\n"
        "    except OSError as wrong: print(wrong.strerror)\n"
    )

    said = scene.python(text)

    after = target.stat()
    assert "CHANGED" not in said
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (before.st_mode, before.st_mtime_ns, before.st_ctime_ns)
    assert scene.commands.run("touch here").output == ""  # control: times of an own file


def test_f17_no_limit_and_no_priority_of_a_process_outside_changes(scene: Scene) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            before = Path(f"/proc/{other.pid}/limits").read_text()
            said = scene.python(
                "import os, resource\n"
                f"for act in (lambda: resource.prlimit({other.pid}, resource.RLIMIT_NOFILE, (5, 5)),\n"
                f"            lambda: resource.prlimit({other.pid}, resource.RLIMIT_CPU, (0, 0)),\n"
                f"            lambda: os.setpriority(os.PRIO_PROCESS, {other.pid}, 19),\n"
                f"            lambda: os.sched_setaffinity({other.pid}, [0])):\n"
                "    try: act(); print('CHANGED')\n"
                "    except OSError as wrong: print(wrong.strerror)\n"
                "resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50)); print('own limit')\n"
            )
            after = Path(f"/proc/{other.pid}/limits").read_text()
        finally:
            other.kill()

    assert "CHANGED" not in said
    assert "own limit" in said
    assert after == before


def test_f17_no_shared_memory_of_others_is_reached_and_none_is_left(scene: Scene) -> None:
    """System V memory, semaphores and queues belong to the user, and live on when a command ends."""
    get = {"x86_64": (29, 64, 68), "aarch64": (194, 190, 186)}[os.uname().machine]
    key = 0x48420000 + os.getpid() % 0xFFFF
    kinds = (("shm", get[0], (key, 4096, 0o1600)), ("sem", get[1], (key, 1, 0o1600)), ("msg", get[2], (key, 0o1600)))

    for _, number, words in kinds:
        scene.python(f"import ctypes; print(ctypes.CDLL(None).syscall({number}, *{words}))")

    for name, _, _ in kinds:
        left = [line.split()[0] for line in Path(f"/proc/sysvipc/{name}").read_text().splitlines()[1:]]
        assert str(key) not in left


def test_f17_every_process_that_a_command_sees_has_its_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command without Landlock may take over each process in its namespace; none of them may have more rights."""
    if not usable(Sandbox.BUBBLEWRAP):
        pytest.skip("this machine has no bubblewrap")
    monkeypatch.setattr("hindbrain.stores.confined.landlock_version", lambda: 0)  # a fact of the kernel: an older one
    scene = Scene(tmp_path, Sandbox.BUBBLEWRAP)

    ran = scene.commands.run("sleep 5 & grep -H Seccomp: /proc/[0-9]*/status; kill $!")

    filters = [line.split()[-1] for line in ran.output.splitlines() if "Seccomp:" in line]
    assert len(filters) >= 3
    assert set(filters) == {"2"}


def test_f17_the_status_of_a_command_comes_through(scene: Scene) -> None:
    assert [scene.commands.run(one).status for one in ("true", "exit 7", "kill -9 $$")] == [0, 7, 137]


# --- what starts later by itself --------------------------------------------------------------------------------------------


def repository(work: Path) -> None:
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    for name in (".hindbrain", "sub"):
        (work / name).mkdir()
    (work / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")


@pytest.mark.skipif(not usable(Sandbox.BUBBLEWRAP), reason="this machine has no bubblewrap")
def test_f17_code_of_a_project_changes_no_setting_and_no_hook_of_git(tmp_path: Path) -> None:
    """The person's next `git status` would run what the settings name, outside of the sandbox."""
    scene = Scene(tmp_path, Sandbox.BUBBLEWRAP)
    repository(scene.work)
    before = (scene.work / ".git" / "config").read_bytes()
    text = (
        "echo evil >> .git/config; echo evil > .git/hooks/pre-commit; mv .git away; rm -rf .git; echo x > .hindbrain/x;"
        " echo 'gitdir: evil' > sub/.git; rm sub/.git; git config core.fsmonitor ./evil; echo fine > new"
    )

    scene.commands.run(text)

    assert (scene.work / ".git" / "config").read_bytes() == before
    assert not (scene.work / ".git" / "hooks" / "pre-commit").exists()
    assert (scene.work / "sub" / ".git").read_text() == "gitdir: ../.git/modules/sub\n"
    assert list((scene.work / ".hindbrain").iterdir()) == []
    assert (scene.work / "new").read_text() == "fine\n"
    scene.commands.run("git config x.y z", settings=True)  # control: a command that a person agreed to
    assert b"[x]" in (scene.work / ".git" / "config").read_bytes()


EVIL = (
    "import pathlib, os\n"
    "def test_evil():\n"
    "    os.rename('sub', 'sub2')\n"
    "    for name in ('sub/.git', 'new/.git'):\n"
    "        pathlib.Path(name).mkdir(parents=True)\n"
    "        pathlib.Path(name, 'config').write_text('[core]\\n\\tfsmonitor = ./evil\\n')\n"
)


@pytest.mark.skipif(not usable(Sandbox.BUBBLEWRAP), reason="this machine has no bubblewrap")
def test_f17_a_repository_that_code_of_a_project_makes_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    repository(tmp_path / "work")
    tools = box(tmp_path, {"test_evil.py": EVIL}, own=False)

    ran = ToolGateway(tools, plan(), Asked()).call("run", {"command": "python -m pytest -q"})

    work = tools.workspace.root
    assert "1 passed" in ran.output
    assert "new/.git" in ran.note
    assert not (work / "new" / ".git").exists()
    assert not (work / "sub" / ".git").exists()
    assert (work / "sub2" / ".git").read_text() == "gitdir: ../.git/modules/sub\n"
    assert (work / ".git" / "config").exists()


def test_f17_without_namespaces_code_of_a_project_waits_for_a_person(tmp_path: Path) -> None:
    if not usable(Sandbox.LANDLOCK):
        pytest.skip("this machine has no Landlock")
    made = box(tmp_path, {"test_a.py": EVIL}, own=False)
    commands = Commands(made.workspace.root, temporary=tmp_path / "tmp", path=os.defpath, sandbox=Sandbox.LANDLOCK)
    asked = Asked(False)

    ToolGateway(Toolbox(workspace=made.workspace, commands=commands), plan(), asked).call("run", {"command": "pytest"})

    assert [why for _, _, why in asked.questions] == ["nothing keeps it from hooks and settings of git: install bubblewrap"]


@pytest.mark.parametrize("kind", KINDS)
def test_f20_a_command_that_only_reads_cannot_write_even_if_it_was_misjudged(
    tmp_path: Path, kind: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Misjudged on purpose: the list of options of sort is made to let an output file pass."""
    monkeypatch.setitem(cast(dict[str, str], READS), "sort", r"-o")
    made = box(tmp_path, {"a.txt": "x", "old.txt": "old"})
    commands = Commands(made.workspace.root, temporary=tmp_path / "tmp", path=os.defpath, sandbox=kind)

    ran = ToolGateway(Toolbox(workspace=made.workspace, commands=commands), plan(), Asked()).call(
        "run", {"command": "sort a.txt -o old.txt"}
    )

    assert ran.error is not None
    assert ran.error.startswith("exit status")
    assert (made.workspace.root / "old.txt").read_text() == "old"


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
