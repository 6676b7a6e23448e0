"""Sessions of a bus: made, changed, closed, captured on request (MIND-467 to MIND-469, MIND-477)."""

import pytest

from tests.support.cowork import BusScene, code_of
from tests.support.still import bytes_of
from tests.support.world import World


@pytest.fixture
def scene(world: World) -> BusScene:
    return BusScene.of(world, "claude-main", "codex-a")


def test_mind_467_a_session_names_agents_that_exist_and_keeps_when_it_was_made(world: World) -> None:
    scene = BusScene.of(world, "claude-main")
    made = {"session_id": "s1", "title": "First"}

    missing = scene.call("cowork.session.create", **made, agents=["codex-missing"])
    nobody = scene.call("cowork.session.create", **made, agents=[])
    blank = scene.call("cowork.session.create", session_id="s1", title=" \x07", agents=["claude-main"])
    broken = scene.call("cowork.session.create", **made, goal="one\u2028two", agents=["claude-main"])
    assert code_of(broken) == "invalid_params"
    assert (code_of(missing), code_of(nobody), code_of(blank)) == ("unknown_agent", "invalid_params", "invalid_params")
    assert not scene.sessions_file.exists()
    first = scene.ok("cowork.session.create", **made, agents=["claude-main"], goal="ship it", thread_id="t")["session"]
    scene.ok("cowork.session.status", session_id="s1", status="paused")
    world.clock.forward(5000)
    again = scene.ok("cowork.session.create", session_id="s1", title="Second", agents=["claude-main"])["session"]

    assert (first["status"], first["goal"], first["thread_id"]) == ("active", "ship it", "t")
    assert (again["title"], again["status"], again["created_at"]) == ("Second", "active", first["created_at"])
    assert again["updated_at"] > first["updated_at"]
    assert set(again) == {
        *("session_id", "title", "goal", "agents", "channels", "thread_id"),
        *("status", "created_at", "updated_at"),
    }
    listed = scene.ok("cowork.session.list")
    assert [one["title"] for one in listed["sessions"]] == ["Second"]
    assert listed["rendered"] == "```memory\ns1 [active] Second: claude-main\n```"  # a title is what an agent wrote


def test_mind_467_a_secret_is_no_title(scene: BusScene) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3

    answer = scene.call("cowork.session.create", session_id="s1", title=f"use {token}", agents=["codex-a"])

    assert answer["ok"] is False
    assert token not in str(answer)
    assert not scene.sessions_file.exists()


def test_mind_468_a_status_changes_the_session_and_no_delivery(scene: BusScene) -> None:
    scene.ok("cowork.session.create", session_id="s1", title="Work", agents=["codex-a"])
    scene.send("claude-main", "codex-a", "before")

    scene.ok("cowork.session.status", session_id="s1", status="paused")
    scene.ok("cowork.session.status", session_id="s1", status="paused")
    scene.send("claude-main", "codex-a", "after")

    assert [one["status"] for one in scene.ok("cowork.session.list")["sessions"]] == ["paused"]
    assert scene.events().count(("session_status", "paused")) == 1
    assert code_of(scene.call("cowork.session.status", session_id="s1", status="done")) == "invalid_params"
    assert code_of(scene.call("cowork.session.status", session_id="s2", status="paused")) == "unknown_cowork_session"
    assert {one["status"] for one in scene.ok("cowork.deliveries")["deliveries"]} == {"pending"}
    assert scene.drained("codex-a") == ["before", "after"]
    assert scene.databases() == []


def test_mind_469_a_session_has_several_channels_and_none_that_is_unknown(scene: BusScene) -> None:
    scene.ok("cowork.channel.set", channel="c1", agents=["codex-a"])
    scene.ok("cowork.channel.set", channel="c2", agents=["codex-a"])
    made = {"session_id": "s1", "title": "Work", "agents": ["codex-a"]}

    refused = scene.call("cowork.session.create", **made, channels=["c1", "c3"])
    found = scene.ok("cowork.session.create", **made, channels=["c1", "c2"])["session"]

    assert code_of(refused) == "unknown_channel"
    assert found["channels"] == ["c1", "c2"]


def test_mind_477_closing_writes_memory_only_with_both_flags(world: World) -> None:
    scene = BusScene.of(world, "claude-main", "codex-a", brain=True)
    for name in ("s1", "s2", "s3"):
        scene.ok("cowork.session.create", session_id=name, title="Work", agents=["claude-main", "codex-a"])
    scene.send("claude-main", "codex-a", "please look")
    memory = bytes_of(world.home.brains_dir)

    plain = scene.ok("cowork.session.close", session_id="s1")
    shown = scene.ok("cowork.session.close", session_id="s2", capture=True)
    without = scene.ok("cowork.session.close", session_id="s2", execute=True)
    assert bytes_of(world.home.brains_dir) == memory
    assert scene.ok("memory.list")["total"] == 0
    kept = scene.ok("cowork.session.close", session_id="s3", capture=True, execute=True)
    again = scene.ok("cowork.session.close", session_id="s3", capture=True, execute=True)

    assert (plain["session"]["status"], plain["capture"], without["capture"]) == ("closed", None, None)
    assert (shown["capture"]["writes"], shown["capture"]["evidence_id"]) == (False, None)
    assert (kept["capture"]["writes"], kept["capture"]["wing"]) == (True, "cowork-capture")
    assert again["capture"]["created"] is False
    rows = scene.ok("memory.list", wing="cowork-capture")["rows"]
    assert [one["id"] for one in rows] == [kept["capture"]["evidence_id"]]
    assert scene.events().count(("session_status", "closed")) == 3
    assert scene.call("cowork.session.close", session_id="s9")["error"]["code"] == "unknown_cowork_session"


def test_mind_477_without_a_brain_the_session_stays_open_and_nothing_is_made(scene: BusScene) -> None:
    scene.ok("cowork.session.create", session_id="s1", title="Work", agents=["codex-a"])

    refused = scene.call("cowork.session.close", session_id="s1", capture=True, execute=True)
    assert refused["ok"] is False
    assert "brainless_root" in str(refused)
    assert scene.ok("cowork.session.list")["sessions"][0]["status"] == "active"
    shown = scene.ok("cowork.session.close", session_id="s1", capture=True)

    assert shown["capture"]["writes"] is False
    assert "- s1 [closed] codex-a\n  > Work\n" in shown["capture"]["content"]
    assert scene.databases() == []
