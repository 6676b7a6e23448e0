"""Rows that were once shown by constants, here by the answers of operations."""

import pytest

from tests.support.world import Actor, World


@pytest.fixture
def actor(world: World) -> Actor:
    return world.at(world.brain("x", total_py="def total(a, b):\n    return a + b\n"))


@pytest.mark.req("AOL-061", "AOL-306", "AOL-314")
def test_aol_061_aol_306_aol_314_a_real_mission_has_its_fields_and_its_non_claims(actor: Actor) -> None:
    started = actor.call("mission.start", task="see whether total adds up", mode="review", budget="short")
    state = actor.call("mission.export", mission_id=started["mission_id"], format="state")["data"]

    assert {
        *("schema", "mission_id", "repo", "mode", "route", "budget"),
        *("context_guard", "events", "claims", "handoffs", "non_claims"),
    } <= state.keys()
    assert (state["mission_id"], state["mode"], bool(state["events"])) == (started["mission_id"], "review", True)
    text = " ".join(started["non_claims"])
    assert "operating layer" in text
    assert "unattended updates" in text


@pytest.mark.req("AOL-185")
@pytest.mark.parametrize("host", ["generic", "claude", "codex", "cursor", "gemini"])
def test_aol_185_the_pack_of_each_host_says_when_to_prove_directly(actor: Actor, host: str) -> None:
    shown = actor.call("pack", host=host)
    text = str(shown)

    assert shown["ok"], shown
    assert "direct proof" in text.lower()
    assert "target is known" in text


@pytest.mark.req("AOL-267")
def test_aol_267_a_handoff_saves_the_work_and_starts_nobody(world: World, actor: Actor) -> None:
    actor.call("mission.start", task="see whether total adds up", mode="review", budget="short")
    read = actor.call("mission.event", event_type="file_read", target="total.py")
    handed = actor.call("mission.handoff", summary="total.py was read")
    second = world.at(actor.caller.root, "claude:second")
    before = second.call("instances")

    resumed = second.call("mission.resume", mission_id=handed["mission_id"])

    assert read["ok"], read
    assert handed["ok"], handed
    assert resumed["ok"], resumed
    assert "total.py" in str(handed)
    assert "schedules" in str(handed)
    assert second.call("instances") == before
