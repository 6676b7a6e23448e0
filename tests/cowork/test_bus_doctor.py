"""The doctor of the bus and its runbook: they look and tell, and change nothing (MIND-463 to MIND-466)."""

import json

import pytest

from hindbrain.stores.bus_records import AGENTS
from tests.support.cowork import BusScene
from tests.support.still import still
from tests.support.tmux import Recorder, Terminal
from tests.support.world import World

MINUTE = 60_000


def test_mind_464_the_doctor_counts_what_there_is(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    scene.ok("cowork.channel.set", channel="review", agents=["a"])
    scene.ok("cowork.session.create", session_id="s1", title="Work", agents=["a"])
    scene.send("a", "b", "x")

    found = scene.ok("cowork.doctor")

    told = {name: value for name, value in found.items() if name not in ("ok", "schema", "rendered")}
    assert told == {
        "status": "warning",
        "agent_count": 2,
        "channel_count": 1,
        "session_count": 1,
        "stale_agents": 0,
        "never_seen_agents": 0,
        "pending_deliveries": 1,
        "warnings": ["pending deliveries: 1"],
        "tmux": [],
    }


def test_mind_465_each_trouble_has_its_warning_and_without_one_all_is_well(world: World, recorder: Recorder) -> None:
    scene = BusScene.of(world, human=True)

    def warnings(**asked: object) -> list[str]:
        return list(scene.ok("cowork.doctor", **asked)["warnings"])

    assert warnings() == ["no registered agents"]
    assert not scene.place.exists()
    scene.ok("cowork.register", agent_id="a", tool="codex")
    scene.ok("cowork.register", agent_id="t", tool="codex", transport="tmux", tmux_target="m:0.1")
    well = scene.ok("cowork.doctor")
    assert (well["status"], well["warnings"]) == ("ok", [])
    assert well["tmux"] == [{"agent_id": "t", "tmux_target": "m:0.1", "status": "not_probed", "detail": None}]
    world.clock.forward(11 * MINUTE)
    assert warnings() == ["stale agents: a, t"]
    assert warnings(now="2026-07-05T00:00:00Z") == []
    registry = scene.place / AGENTS
    held = json.loads(registry.read_text())
    for agent in held["agents"]:
        agent["last_seen_at"] = None if agent["agent_id"] == "a" else agent["last_seen_at"]
        agent["tmux_target"] = None
    registry.write_text(json.dumps(held))
    scene.ok("cowork.heartbeat", agent_id="t")
    found = scene.ok("cowork.doctor", probe_tmux=True)
    assert found["warnings"] == ["never-seen agents: a", "tmux agent without target: t"]
    assert (found["never_seen_agents"], found["tmux"][0]["status"]) == (1, "missing_target")
    scene.ok("cowork.register", agent_id="a", tool="codex")
    scene.ok("cowork.register", agent_id="t", tool="codex", transport="tmux", tmux_target="m:0.1")
    assert recorder.calls == []
    recorder.answers("gone", status=1)
    failed = scene.ok("cowork.doctor", probe_tmux=True)
    assert failed["warnings"] == ["failed probe: t: tmux has-session ended with 1: gone"]
    assert (failed["tmux"][0]["status"], failed["status"]) == ("failed", "warning")


def test_mind_466_the_doctor_changes_nothing_and_asks_tmux_one_thing(world: World, recorder: Recorder) -> None:
    scene = BusScene.of(world, "a", "b", human=True)
    scene.ok("cowork.register", agent_id="t", tool="codex", transport="tmux", tmux_target="m:0.1")
    scene.send("a", "b", "x")

    with still(world.home.path):
        found = scene.ok("cowork.doctor", probe_tmux=True)

    assert found["tmux"][0]["status"] == "ok"
    assert recorder.calls == [["has-session", "-t", "m:0.1"]]


def test_mind_465_a_real_tmux_is_probed(world: World, terminal: Terminal) -> None:
    scene = BusScene.of(world, human=True)
    for name, target in (("here", "work:0.0"), ("gone", "nowhere:0.0")):
        scene.ok("cowork.register", agent_id=name, tool="codex", transport="tmux", tmux_target=target)

    found = scene.ok("cowork.doctor", probe_tmux=True)

    assert {one["agent_id"]: one["status"] for one in found["tmux"]} == {"gone": "failed", "here": "ok"}


def test_mind_463_the_runbook_covers_every_topic_and_needs_no_home(world: World) -> None:
    answer = world.at(None).call("cowork.runbook")

    assert isinstance(answer["title"], str)
    topics = "registration send broadcast channels threads drain status ack presence tmux peek doctor sessions handoff capture"
    assert [topic for topic in topics.split() if topic not in answer["content"].lower()] == []
    assert not world.home.path.exists()


@pytest.mark.parametrize("bus", [True, False])
def test_mind_464_the_one_doctor_has_a_line_on_the_bus_where_there_is_one(world: World, bus: bool) -> None:
    scene = BusScene.of(world, *(("a", "b") if bus else ()), brain=True)
    if bus:
        scene.send("a", "b", "x")

    found = scene.ok("doctor")

    if bus:
        assert found["cowork"]["agent_count"] == 2
        assert found["cowork"]["warnings"] == ["pending deliveries: 1"]
    else:
        assert "cowork" not in found
