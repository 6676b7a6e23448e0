"""Waiting for mail: an agent sleeps until the kernel or the bell tells of some. In a process, across two, by the owner."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hindbrain.services.events import Event
from hindbrain.surfaces import cli
from hindbrain.surfaces.long_poll import polled
from tests.support.cowork import BusScene, code_of
from tests.support.owner import LIMIT_S, RunningOwner, Starter
from tests.support.still import still
from tests.support.world import World, git

SECONDS = 20  # a wait that is not woken fails by taking longer


@contextlib.contextmanager
def in_background(work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Work on a thread; its answer is there when the block has ended."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    yield found
    thread.join(LIMIT_S)
    assert not thread.is_alive()


def program(home: Path, root: str, *words: str, **environ: str) -> "subprocess.Popen[bytes]":
    """The command line in a process of its own, without an owner."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "CLAUDE_"))}
    told = {**kept, "HINDBRAIN_HOME": str(home), "HINDBRAIN_MODE": "embedded", **environ}
    command = [sys.executable, "-m", "hindbrain", *words]
    return subprocess.Popen(command, cwd=root, env=told, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_wait_answers_at_once_when_there_is_mail_with_ids_and_without_words(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    first, second = scene.send("a", "b", "the secret plan"), scene.send("a", "b", "more of it")

    with still(world.home.path):
        found = scene.ok("cowork.wait", agent_id="b", timeout_s=600)
        later = scene.ok("cowork.wait", agent_id="b", timeout_s=600, since=first)
        none = scene.ok("cowork.wait", agent_id="b", timeout_s=0, since=second)

    assert (found["arrived"], found["count"], found["message_ids"]) == (True, 2, [first, second])
    assert "plan" not in json.dumps(found)
    assert later["message_ids"] == [second]
    assert (none["arrived"], none["message_ids"]) == (False, [])
    scene.drained("b")
    third = scene.send("a", "b", "new")
    assert scene.ok("cowork.wait", agent_id="b", since=second)["message_ids"] == [third]  # what it knew is drained
    assert scene.ok("cowork.wait", agent_id="a", timeout_s=0)["arrived"] is False


def test_a_wait_ends_with_its_time_and_refuses_what_makes_no_sense(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    other = BusScene.of(world, "z", name="other")
    other.ok("cowork.register", agent_id="y", tool="codex")
    other.send("y", "z", "not yours")

    began = time.monotonic()
    late = scene.ok("cowork.wait", agent_id="b", timeout_s=1)

    assert time.monotonic() - began >= 1
    assert (late["arrived"], late["waited_ms"] >= 1000) == (False, True)
    assert code_of(scene.call("cowork.wait", agent_id="nobody")) == "unknown_agent"
    for wrong in ({"timeout_s": 601}, {"timeout_s": -1}, {"timeout_s": "1"}, {"agent_id": "a/b"}, {"timeout_s": 1.5}):
        assert code_of(scene.call("cowork.wait", **{"agent_id": "b", **wrong})) == "invalid_params", wrong
    assert code_of(scene.call("cowork.wait", agent_id="z", project_root=other.root)) == "path_refused"
    assert code_of(scene.call("cowork.wait", agent_id="z", caller_root=other.root)) == "unknown_agent"


def test_a_wait_is_woken_by_the_first_message_and_by_nothing_else(world: World) -> None:
    scene = BusScene.of(world, "a", "b", "c")
    told: list[str] = []
    waits = threading.Event()

    def wait() -> dict[str, Any]:
        def progress(done: int, total: int, text: str) -> None:
            told.append(text)
            waits.set()

        given = {"agent_id": "b", "timeout_s": SECONDS}
        return world.app.call("cowork.wait", given, caller=scene.actor.caller, progress=progress)

    with in_background(wait) as found:
        assert waits.wait(LIMIT_S)
        scene.send("a", "c", "for somebody else")
        scene.ok("cowork.heartbeat", agent_id="b")
        sent = scene.send("a", "b", "now")

    assert (found[0]["arrived"], found[0]["message_ids"]) == (True, [sent])
    assert found[0]["waited_ms"] < SECONDS * 1000
    assert told[0] == "no mail yet"


def test_a_message_of_another_process_rings_the_bell_here_once(world: World) -> None:
    world.clock.catch_up()
    scene = BusScene.of(world, "a", "b")
    old = scene.send("a", "b", "from before")
    heard: list[Event] = []
    rung = threading.Event()

    def listen(event: Event) -> None:
        heard.append(event)
        if event.data["act"] == "cowork.send":
            rung.set()

    stop = world.app.events.subscribe(listen)
    sent = ["cowork", "send", "--from", "a", "--to", "b", "--message", "from elsewhere", "--json"]
    with world.app.listening(), world.app.listening():
        there = program(world.home.path, scene.root, *sent)
        answer = json.loads(there.communicate(timeout=LIMIT_S)[0])
        assert rung.wait(LIMIT_S)
        own = scene.send("a", "b", "from here")
        scene.drained("b")
        last = scene.send("a", "b", "the last")
    stop()

    by_message = [(event.data["act"], event.data["messages"]) for event in heard]
    assert by_message == [
        ("cowork.send", [answer["message_id"]]),
        ("cowork.send", [own]),
        ("cowork.drain", [old, answer["message_id"], own]),
        ("cowork.send", [last]),
    ]
    assert {(event.data["kind"], event.data["project"], event.data["repository"]) for event in heard} == {
        ("cowork.message", scene.root, scene.root)
    }
    assert "hindbrain-ear" not in {thread.name for thread in threading.enumerate() if _ended(thread)}


def _ended(thread: threading.Thread) -> bool:
    """Whether a thread is still there after it had time to end."""
    if thread.name != "hindbrain-ear":
        return False
    thread.join(LIMIT_S)
    return thread.is_alive()


def test_the_command_waits_and_drains_and_an_interrupt_ends_it(world: World, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    world.clock.catch_up()
    scene = BusScene.of(world, "a", "b")
    waiting = program(world.home.path, scene.root, "cowork", "wait", "--agent-id", "b", "--drain", "--json")
    stopped = program(world.home.path, scene.root, "cowork", "wait", "--agent-id", "a", "--timeout-s", "600")
    until(lambda: watches(waiting.pid) and watches(stopped.pid))
    stopped.send_signal(signal.SIGINT)

    scene.send("a", "b", "wake up")

    drained = json.loads(waiting.communicate(timeout=LIMIT_S)[0])
    assert [one["content"] for one in drained["messages"]] == ["wake up"]
    stopped.communicate(timeout=LIMIT_S)
    assert stopped.returncode == 130
    assert scene.ok("cowork.wait", agent_id="b", timeout_s=0)["arrived"] is False
    monkeypatch.chdir(scene.root)
    monkeypatch.setenv("HINDBRAIN_HOME", str(world.home.path))
    monkeypatch.setenv("HINDBRAIN_MODE", "embedded")
    assert cli.main(["cowork", "wait", "--agent-id", "b", "--timeout-s", "0", "--drain", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["arrived"] is False


def watches(pid: int) -> bool:
    """Whether a process watches anything."""
    with contextlib.suppress(OSError):
        return any("inotify" in os.readlink(f"/proc/{pid}/fd/{one}") for one in os.listdir(f"/proc/{pid}/fd"))
    return False


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_who_leaves_while_the_watch_begins_leaves_none_behind(world: World) -> None:
    BusScene.of(world, "a", "b")
    slow = world.home.runtime / "slow" / "agents.json"  # the first look of a watch reads it, and has to wait for it
    slow.parent.mkdir()
    os.mkfifo(slow)
    opened: list[int] = []

    def read() -> bool:
        with contextlib.suppress(OSError):  # not yet
            opened.append(os.open(slow, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    async def never(asked: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError

    async def leave() -> None:
        waiting = asyncio.create_task(polled(world.app, {"agent_id": "b", "timeout_s": 600}, never))
        await asyncio.to_thread(until, read)
        assert watches(os.getpid())
        waiting.cancel()
        for _ in range(10):
            await asyncio.sleep(0)  # a turn of the loop, in which it hears of it
        slow.unlink()
        os.close(opened[0])
        with pytest.raises(asyncio.CancelledError) as left:  # held, and with it all that only a collector would take away
            await waiting
        await asyncio.to_thread(until, lambda: not watches(os.getpid()))
        del left

    asyncio.run(leave())


# -- by the owner ----------------------------------------------------------------------------------------------------


def on_bus(owner: RunningOwner, place: Path) -> tuple[RunningOwner, str]:
    """A repository with two agents on its bus."""
    root = place / "app"
    root.mkdir()
    git(str(root), "init", "-q")
    for agent in "ab":
        assert owner.call("cowork.register", root=root, agent_id=agent, tool="codex")["ok"]
    return owner, str(root)


@pytest.fixture
def served(owner: RunningOwner, tmp_path: Path) -> tuple[RunningOwner, str]:
    """An owner of the module, and a repository of the test."""
    return on_bus(owner, tmp_path)


def send(owner: RunningOwner, root: str, **more: Any) -> str:
    told = owner.call("cowork.send", root=root, **{"from": "a", "to": "b", "message": "hi", **more})
    return str(told["message_id"])


def test_many_may_wait_by_the_owner_while_others_work_and_all_are_woken(served: tuple[RunningOwner, str]) -> None:
    owner, root = served
    count = 40  # more than the owner has worker threads
    answers: list[dict[str, Any]] = []
    waits = [
        threading.Thread(target=lambda: answers.append(owner.call("cowork.wait", root=root, agent_id="b", timeout_s=120)))
        for _ in range(count)
    ]
    for one in waits:
        one.start()

    assert all(owner.call("cowork.agents", root=root)["ok"] for _ in range(5))
    sent = send(owner, root)

    for one in waits:
        one.join(LIMIT_S)
    assert [one["message_ids"] for one in answers] == [[sent]] * count


def test_over_events_each_message_is_told_whoever_wrote_it(served: tuple[RunningOwner, str]) -> None:
    owner, root = served
    with owner.stream("/api/events", hindbrain_caller_root=root) as stream:
        assert (stream.next() or {})["event"] == "hello"
        there = program(owner.home, root, "cowork", "send", "--from", "a", "--to", "b", "--message", "x", "--json")
        sent = json.loads(there.communicate(timeout=LIMIT_S)[0])["message_id"]

        told = stream.next()
        assert told is not None

        assert (told["event"], told["data"]["messages"], told["data"]["agents"]) == ("cowork.message", [sent], ["b"])
        assert told["data"]["project"] == root
        assert "hi" not in json.dumps(told)
        own = send(owner, root)
        assert (stream.next() or {})["data"]["messages"] == [own]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_who_leaves_waits_no_longer(served: tuple[RunningOwner, str], accept: str) -> None:
    owner, root = served
    body = json.dumps({"agent_id": "b", "timeout_s": 600})
    told = {"Authorization": f"Bearer {owner.token}", "Accept": accept, "Hindbrain-Caller-Root": root}
    connection = http.client.HTTPConnection("127.0.0.1", owner.port, timeout=LIMIT_S)
    connection.request("POST", "/api/op/cowork.wait", body=body, headers={"Content-Type": "application/json", **told})
    until(lambda: watches(owner.process.pid))

    connection.close()

    until(lambda: not watches(owner.process.pid))


def test_an_owner_that_stops_waits_for_nobody_who_waits(starter: Starter, tmp_path: Path) -> None:
    owner, root = on_bus(starter(tmp_path / "home"), tmp_path)
    with in_background(lambda: owner.call("cowork.wait", root=root, agent_id="b", timeout_s=600)) as found:
        until(lambda: watches(owner.process.pid))
        began = time.monotonic()
        owner.process.send_signal(signal.SIGTERM)
        assert owner.wait() == 0
    assert time.monotonic() - began < 9  # the owner drains for ten seconds
    assert code_of(found[0]) == "not_ready"
