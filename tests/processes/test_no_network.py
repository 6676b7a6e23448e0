"""Local means local: no process of Hindbrain looks a host up or connects to anything outside of this machine."""

import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.hosts import INITIALIZE
from tests.support.guarded import Guarded, guarded
from tests.support.hooking import claude_log, codex_log, cursor_log, gemini_log
from tests.support.host_homes import USER_FILES, put_down
from tests.support.model import tiny_weights
from tests.support.owner import LIMIT_S

# Each way out that a program has, by the standard library, by the C library and by a bare system call.
WAYS_OUT = """
import ctypes, socket, struct, subprocess, sys
def tried(way):
    try:
        way()
    except OSError as refused:
        print(refused.errno)
tried(lambda: socket.create_connection(("192.0.2.1", 443), 5))
tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.2", 9)))
tried(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("2001:db8::3", 9)))
tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.99", 53)))
tried(lambda: socket.getaddrinfo("hindbrain.invalid", 443))
raw = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", 4, socket.inet_aton("192.0.2.4"))
number = {"x86_64": 42, "aarch64": 203}[sys.argv[1]]
ctypes.CDLL(None).syscall(number, raw.fileno(), address, len(address))
subprocess.run([sys.executable, "-c", "import socket; socket.socket().connect_ex(('192.0.2.5', 5))"])
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).sendall(b"x")
"""

# A host of MCP: it hands its requests on, and stays until the last one is answered.
HOST = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
server.stdin.write(sys.stdin.read())
server.stdin.flush()
print(next(line for line in server.stdout if '"id":3' in line))
server.stdin.close()
server.wait()
"""


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[Guarded]:
    environ = {
        "HOME": str(tmp_path / "user"),
        "HINDBRAIN_HOME": str(tmp_path / "home"),
        "HINDBRAIN_PORT": "0",
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
    }
    (tmp_path / "user").mkdir()
    with guarded(tmp_path, environ) as made:
        yield made


def test_the_guard_sees_every_way_out_and_lets_loopback_pass(guard: Guarded, tmp_path: Path) -> None:
    machine = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()

    ended = guard.run(sys.executable, "-c", WAYS_OUT, machine, directory=tmp_path)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.split()[:4] == ["101"] * 4
    seen = {line.rsplit(" | ", 1)[1] for line in guard.attempts()}
    named = {"connect 192.0.2.1:443", "sendto 192.0.2.2:9", "sendmsg [2001:db8::3]:9", "connect 127.0.0.99:53"}
    named |= {"connect 192.0.2.4:4", "connect 192.0.2.5:5"}
    assert named <= seen
    # What is left is the look-up of the name: at a server, or at a program of this machine that asks one.
    assert [one for one in seen - named if one.endswith(":53") or "resolve" in one]


def test_nothing_that_hindbrain_does_leaves_the_machine(guard: Guarded, tmp_path: Path) -> None:
    root, user = tmp_path / "shop", tmp_path / "user"
    program = tmp_path / "bin" / "hindbrain"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m hindbrain "$@"\n')
    program.chmod(0o755)
    for files in USER_FILES.values():
        put_down(user, files)
    logs = _logs(root, user)
    before = set(user.rglob("*"))
    (root / "src").mkdir(parents=True)
    (root / "src" / "worker.py").write_text("import queue\n\nRETRIES = 3\n\ndef work(job):\n    return job.run(RETRIES)\n")
    (root / "README.md").write_text("# Shop\n\nSee https://example.invalid/shop and http://192.0.2.8/logo.png\n")
    for words in (["init", "-q"], ["remote", "add", "origin", "https://example.invalid/shop.git"], ["add", "."]):
        subprocess.run(["git", "-C", str(root), *words], check=True)

    def hindbrain(*words: str, stdin: str = "", **environ: str) -> str:
        return guard.hindbrain(*words, directory=root, stdin=stdin, **environ).out

    # Without an owner, each command by itself.
    for words in (["--help"], ["install", "--yes"], ["hosts", "status"]):
        hindbrain(*words)
    hindbrain("init", HINDBRAIN_MODE="embedded")
    # With an owner, which the page starts.
    address = re.search(r"http://127\.0\.0\.1:[^\s\"]+", hindbrain("hall", "--no-open"))
    assert address is not None
    with urllib.request.urlopen(address[0], timeout=LIMIT_S) as page:
        assert b"<script" in page.read()
    person = (tmp_path / "home" / "human-token").read_text().strip()
    install = urllib.request.Request(
        f"{urllib.parse.urljoin(address[0], '/')}api/op/model.install",
        data=json.dumps({"path": str(tiny_weights(tmp_path / "weights"))}).encode(),
        headers={"Authorization": f"Bearer {person}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(install, timeout=LIMIT_S) as answer:
        assert json.load(answer)["ok"]
    hindbrain("ingest")
    hindbrain("memorize", "Worker retries", "The worker retries a job three times", "--evidence", "src/worker.py:3")
    hindbrain("model", "embed")
    assert json.loads(hindbrain("model", "status"))["stamp"]
    assert "three times" in hindbrain("north", "how often does the worker retry a job")
    for words in (["seek", "retries of the worker"], ["recall", "worker"], ["impact", "src/worker.py"], ["search", "RETRIES"]):
        hindbrain(*words)
    hindbrain("memory", "ingest", str(root / "README.md"))
    hindbrain("run", "Count the python files")
    for words in (["update", "status"], ["update", "plan"], ["update", "check"], ["status"]):
        hindbrain(*words)
    doctor = guard.run(str(program), "doctor", directory=root)
    assert json.loads(doctor.out)["schema"] == "m1nd-doctor-v0"
    hindbrain("doctor", "--fix", "--yes")
    _hooks(guard, root, logs)
    asked = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "north", "arguments": {"task": "retries of the worker"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)
    for mode in ("", "embedded"):
        ended = guard.run(sys.executable, "-c", HOST, str(program), "mcp", directory=root, stdin=lines, HINDBRAIN_MODE=mode)
        assert "three times" in ended.out, ended
    hindbrain("uninstall", "--yes")
    hindbrain("stop")

    assert guard.attempts() == []
    assert set(user.rglob("*")) - before == set()  # no device id, no cache of anybody


def _logs(root: Path, user: Path) -> dict[str, str]:
    """A conversation as each host keeps it."""
    said = [("user", "Please make the worker retry more often."), ("assistant", "I set RETRIES to 5 in src/worker.py.")]
    return {
        "claude-code": claude_log(user / ".claude/projects/shop/s.jsonl", str(root), "s", *said),
        "codex": codex_log(user / ".codex/sessions/2026/07/05/rollout-s.jsonl", str(root), "s", *said),
        "cursor": cursor_log(user / ".cursor/projects/shop/agent-transcripts/s.jsonl", *said),
        "gemini": gemini_log(user / ".gemini/tmp/shop/chats/session-s.json", "s", *said),
    }


def _hooks(guard: Guarded, root: Path, logs: dict[str, str]) -> None:
    """Every kind of event, and of every host its start and the event before a cut, which keeps its log."""
    every = ("UserPromptSubmit", "PostToolUse", "Stop")
    for host, log in logs.items():
        for event in ("SessionStart", "PreCompact", *(every if host == "claude-code" else ())):
            payload = {"session_id": "s", "cwd": str(root), "transcript_path": log, "prompt": "retries of the worker"}
            payload |= {"trigger": "manual", "tool_name": "Bash", "tool_input": {"command": "make"}, "hook_event_name": event}
            ended = guard.hindbrain("hook", host, event, directory=root, stdin=json.dumps(payload))
            assert isinstance(json.loads(ended.out), dict)
