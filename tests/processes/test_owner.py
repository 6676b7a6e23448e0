"""The life of an owner: one per home, healed after a crash, ended cleanly, never an orphan."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support.owner import LIMIT_S, Starter, errors_of, spawn


def owner_file(home: Path) -> Path:
    return home / "owner.json"


def refused_start(home: Path, **options: object) -> tuple[int, dict[str, object]]:
    """Exit code and error of an owner that does not come up."""
    process = spawn(home, **options)
    with process:
        code = process.wait(LIMIT_S)
    error: dict[str, object] = json.loads(errors_of(home).splitlines()[-1])["error"]
    return code, error


@pytest.mark.req("MED-001")
def test_med_001_an_owner_says_where_it_listens_once_it_accepts(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")

    health = running.get("/api/health")

    assert health.status == 200
    assert {"pid", "host", "port", "bridge_port", "version", "started_ms", "instance"} <= running.facts.keys()
    assert running.facts["pid"] == running.process.pid
    assert running.facts["host"] == "127.0.0.1"
    assert health.json["instance"] == running.facts["instance"]


def test_med_001_what_the_owner_writes_is_private(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in running.home.iterdir() if path.is_file()}

    assert stat.S_IMODE(running.home.stat().st_mode) == 0o700
    assert {"owner.json", "owner.lock", "owner.log", "token", "human-token"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_med_001_a_second_owner_of_a_home_cannot_start(starter: Starter, tmp_path: Path) -> None:
    first = starter(tmp_path / "home")
    announced = owner_file(first.home).read_bytes()

    code, error = refused_start(first.home)

    assert code == 1
    assert error["code"] == "owner_running"
    assert error["pid"] == first.process.pid
    assert owner_file(first.home).read_bytes() == announced
    assert first.get("/api/health").status == 200


def test_med_001_of_many_owners_started_at_once_one_lives(tmp_path: Path) -> None:
    home = tmp_path / "home"
    processes = [spawn(home) for _ in range(4)]
    lines = [process.stdout.readline() for process in processes if process.stdout]
    for process, line in zip(processes, lines, strict=True):
        if line:
            process.terminate()
    with processes[0], processes[1], processes[2], processes[3]:
        codes = sorted(process.wait(LIMIT_S) for process in processes)

    assert sum(bool(line) for line in lines) == 1
    assert codes == [0, 1, 1, 1]


def test_med_001_a_killed_owner_leaves_a_file_that_the_next_one_heals(starter: Starter, tmp_path: Path) -> None:
    first = starter(tmp_path / "home")
    first.kill()
    assert json.loads(owner_file(first.home).read_text())["instance"] == first.facts["instance"]

    second = starter(tmp_path / "home")

    assert json.loads(owner_file(second.home).read_text())["pid"] == second.process.pid
    assert second.facts["instance"] != first.facts["instance"]
    assert second.token == first.token
    assert second.get("/api/health").status == 200


@pytest.mark.parametrize("left", ["", "not json", "[]", '{"pid": 1, "port": 1}'])
def test_med_001_whatever_lies_in_the_owner_file_is_replaced(starter: Starter, tmp_path: Path, left: str) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    owner_file(home).write_text(left)

    running = starter(home)

    assert running.facts["pid"] == running.process.pid


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_med_001_a_signal_ends_an_owner_cleanly(starter: Starter, tmp_path: Path, number: signal.Signals) -> None:
    running = starter(tmp_path / "home")

    running.process.send_signal(number)

    assert running.wait() == 0
    assert not owner_file(running.home).exists()
    assert "stopped" in (running.home / "owner.log").read_text()


def test_med_001_stop_over_http_needs_the_token_and_ends_the_owner(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")

    assert running.request("POST", "/api/stop", body=b"", token=None).status == 401
    assert running.get("/api/stop").status == 405
    assert running.get("/api/health").status == 200
    stopped = running.request("POST", "/api/stop", body=b"")

    assert stopped.json["stopping"] is True
    assert running.wait() == 0
    assert not owner_file(running.home).exists()


def test_med_001_a_stopping_owner_finishes_the_calls_that_run(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")
    answers: list[dict[str, object]] = []
    stream = running.stream(
        "/api/op/test.wait", method="POST", body=b'{"steps": 10, "step_s": 0.1}', content_type="application/json"
    )
    with stream:
        assert stream.next() == {"event": "progress", "data": {"done": 0, "total": 10, "text": "step 0"}}
        running.process.terminate()
        while event := stream.next():
            answers.append(event)

    assert answers[-1] == {"event": "answer", "data": {"ok": True, "steps": 10}}
    assert running.wait() == 0


def test_med_001_a_call_that_hangs_does_not_keep_a_stopping_owner_alive(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home", drain_s=1)
    with running.stream("/api/op/test.wait", method="POST", body=b'{"step_s": 600}', content_type="application/json") as stream:
        assert stream.next()
        running.process.terminate()

        assert running.wait() == 0
    assert not owner_file(running.home).exists()
    assert "did not end" in (running.home / "owner.log").read_text()


def test_med_001_an_open_event_stream_does_not_hold_up_the_end(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")
    with running.stream("/api/events") as stream:
        assert stream.next()
        running.process.terminate()
        assert stream.next() is None

    assert running.wait() == 0


def test_med_001_an_owner_takes_a_successors_file_for_no_ones_but_its_own(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")
    owner_file(running.home).write_text('{"instance": "somebody else"}')

    running.process.terminate()

    assert running.wait() == 0
    assert owner_file(running.home).read_text() == '{"instance": "somebody else"}'


def test_med_001_an_owner_on_demand_ends_itself_when_idle(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home", on_demand=True, environ={"HINDBRAIN_IDLE_EXIT_S": "1"})

    assert running.wait() == 0
    assert not owner_file(running.home).exists()
    assert "idle" in (running.home / "owner.log").read_text()


def test_med_001_an_open_stream_or_bridge_keeps_an_owner_on_demand_alive(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home", on_demand=True, environ={"HINDBRAIN_IDLE_EXIT_S": "3"})
    hello = json.dumps({"token": running.token, "caller_root": str(tmp_path), "agent": "test", "profile": "default"})
    with socket.create_connection(("127.0.0.1", running.facts["bridge_port"]), timeout=LIMIT_S) as bridge:
        bridge.sendall(hello.encode() + b"\n")
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(4)
        stream = running.stream("/api/events")
        assert stream.next()
    with stream, pytest.raises(subprocess.TimeoutExpired):
        running.process.wait(4)

    assert running.wait() == 0


def test_med_001_an_owner_that_was_asked_for_stays(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home", environ={"HINDBRAIN_IDLE_EXIT_S": "1"})

    with pytest.raises(subprocess.TimeoutExpired):
        running.process.wait(2)

    assert running.get("/api/health").status == 200


def test_med_001_an_owner_without_its_home_ends_and_does_not_bring_it_back(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")
    shutil.rmtree(running.home)

    assert running.wait() == 0
    assert not running.home.exists()


def test_med_001_an_owner_whose_home_was_replaced_leaves_it_to_the_new_one(starter: Starter, tmp_path: Path) -> None:
    first = starter(tmp_path / "home")
    first.home.rename(tmp_path / "moved")

    second = starter(tmp_path / "home")

    assert first.wait() == 0
    assert second.get("/api/health").json["pid"] == second.process.pid


def test_med_001_a_taken_port_is_replaced_by_a_free_one(starter: Starter, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        taken = stranger.getsockname()[1]
        running = starter(tmp_path / "home", port=None, environ={"HINDBRAIN_PORT": str(taken)})

        assert running.port != taken
        assert running.get("/api/health").json["port"] == running.port


def test_med_001_the_configured_port_is_used_when_free(starter: Starter, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", 0))  # and not listening: who asks for this port gets it, who asks for any does not
        port = free.getsockname()[1]

        running = starter(tmp_path / "home", port=None, environ={"HINDBRAIN_PORT": str(port)})

    assert running.port == port


def test_med_001_the_manifest_on_disk_offers_every_operation(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")

    listed = running.get("/api/operations").json["operations"]

    written = json.loads((running.home / "manifest.json").read_text())
    assert written["operations"] == listed
    assert written["version"] == running.facts["version"]


def test_med_001_the_log_holds_no_token_and_no_text_of_a_call(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")
    running.post("test.defect", {"text": "the sentinel of a memory"})
    running.post("test.defect", {"text": "x"}, token="the-sentinel-of-a-token")
    running.get("/api/op/the-sentinel-of-a-path")

    log = (running.home / "owner.log").read_text()

    assert "ZeroDivisionError" in log
    assert "sentinel" not in log
    assert running.token not in log
    assert running.human_token not in log


def test_gr_177_another_address_is_refused_without_a_certificate(tmp_path: Path) -> None:
    code, error = refused_start(tmp_path / "home", bind="0.0.0.0")

    assert code != 0
    assert error["code"] == "bind_refused"
    assert "0.0.0.0" in str(error["message"])
    assert not (tmp_path / "home" / "owner.json").exists()


def test_gr_177_only_loopback_is_listened_on(starter: Starter, tmp_path: Path) -> None:
    running = starter(tmp_path / "home")

    listening = listening_addresses(running.process.pid)

    assert {host for host, _ in listening} == {"127.0.0.1"}
    assert {("127.0.0.1", running.port), ("127.0.0.1", running.facts["bridge_port"])} < listening
    assert len(listening) == 3, "the third is the door of the Hall, on a port that nobody knows before"


def listening_addresses(pid: int) -> set[tuple[str, int]]:
    """The TCP addresses a process listens on, as the kernel says."""
    inodes = {
        os.readlink(f"/proc/{pid}/fd/{handle}").removeprefix("socket:[").removesuffix("]")
        for handle in os.listdir(f"/proc/{pid}/fd")
        if os.readlink(f"/proc/{pid}/fd/{handle}").startswith("socket:")
    }
    found = set()
    for line in [*Path("/proc/net/tcp").read_text().splitlines()[1:], *Path("/proc/net/tcp6").read_text().splitlines()[1:]]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            address, port = fields[1].split(":")
            found.add(
                (socket.inet_ntop(socket.AF_INET, bytes.fromhex(address)[::-1]) if len(address) == 8 else address, int(port, 16))
            )
    return found
