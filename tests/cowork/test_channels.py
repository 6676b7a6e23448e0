"""Channels: explicit groups, replaced as a whole, reached by the same core as a broadcast (MIND-454 to MIND-459)."""

import pytest

from tests.support.cowork import BusScene, code_of
from tests.support.still import still
from tests.support.world import World


@pytest.fixture
def scene(world: World) -> BusScene:
    return BusScene.of(world, "a", "b", "c")


def test_mind_455_mind_459_a_channel_is_the_list_that_was_set_last(scene: BusScene) -> None:
    assert scene.ok("cowork.channel.set", channel="review", agents=["a", "b", "a"])["agents"] == ["a", "b"]
    scene.world.clock.forward(1000)
    changed = scene.ok("cowork.channel.set", channel="review", agents=["b"])
    refused = scene.call("cowork.channel.set", channel="review", agents=["b", "zz"])
    empty = scene.call("cowork.channel.set", channel="review", agents=[])
    odd = scene.call("cowork.channel.set", channel="../x", agents=["b"])

    assert (code_of(refused), code_of(empty), code_of(odd)) == ("unknown_agent", "invalid_params", "invalid_params")
    scene.ok("cowork.channel.set", channel="all", agents=["c"])
    with still(scene.world.home.path):
        listed = scene.ok("cowork.channel.list")["channels"]
    assert [(one["channel"], one["agents"]) for one in listed] == [("all", ["c"]), ("review", ["b"])]
    assert listed[1]["updated_at"] == changed["updated_at"]
    assert scene.events()[3:] == [("channel_set", "updated")] * 3
    assert scene.databases() == []


def test_mind_458_channels_are_listed_before_there_is_one_and_nothing_is_made(world: World) -> None:
    scene = BusScene.of(world)

    assert scene.ok("cowork.channel.list")["channels"] == []
    assert not scene.place.exists()


def test_mind_456_mind_457_mind_459_a_message_to_a_channel_reaches_its_members_but_not_its_sender(scene: BusScene) -> None:
    scene.ok("cowork.channel.set", channel="review", agents=["a", "b", "c"])

    scene.ok("cowork.channel.send", **{"from": "a"}, channel="review", message="ready", thread_id="t1")
    missing = scene.call("cowork.channel.send", **{"from": "a"}, channel="missing", message="x")

    assert code_of(missing) == "unknown_channel"
    found = scene.ok("cowork.deliveries")["deliveries"]
    assert [(one["target_agent_id"], one["channel"], one["thread_id"]) for one in found] == [
        ("b", "review", "t1"),
        ("c", "review", "t1"),
    ]
    assert {one["event_type"] for one in found} == {"broadcast"}
    assert [scene.drained(agent) for agent in "abc"] == [[], ["ready"], ["ready"]]
    assert scene.databases() == []


def test_mind_457_a_channel_of_the_sender_alone_reaches_nobody(scene: BusScene) -> None:
    scene.ok("cowork.channel.set", channel="mine", agents=["a"])

    assert code_of(scene.call("cowork.channel.send", **{"from": "a"}, channel="mine", message="x")) == "invalid_params"


def test_mind_454_thread_and_channel_are_carried_everywhere(scene: BusScene) -> None:
    scene.send("a", "b", "look", thread_id="p90-review", channel="review")

    event = scene.ok("cowork.events")["events"][-1]
    delivery = scene.ok("cowork.deliveries")["deliveries"][0]
    drained = scene.ok("cowork.drain", agent_id="b")

    labels = ("p90-review", "review")
    assert (event["details"]["thread_id"], event["details"]["channel"]) == labels
    assert (delivery["thread_id"], delivery["channel"]) == labels
    assert (drained["messages"][0]["thread_id"], drained["messages"][0]["channel"]) == labels
    assert "[thread=p90-review channel=review]" in drained["rendered"]
