"""Messages by tmux, through the bus: an explicit transport, hard failures, and a look at the pane (MIND-431 to 436, 460, 461)."""

from typing import Any

import pytest

from hindbrain.surfaces.output import exit_code
from tests.support.cowork import BusScene, code_of
from tests.support.still import bytes_of, still
from tests.support.tmux import Recorder, Terminal
from tests.support.world import World


def pane(scene: BusScene, name: str, target: str) -> dict[str, Any]:
    return scene.call("cowork.register", agent_id=name, tool="codex", transport="tmux", tmux_target=target)


@pytest.fixture
def scene(world: World, recorder: Recorder) -> BusScene:
    """A person's bus with two inboxes and one pane."""
    found = BusScene.of(world, "a", "b", human=True)
    assert pane(found, "t", "s:0.1")["ok"]
    return found


def test_mind_432_mind_433_only_an_agent_registered_for_tmux_is_typed_to(scene: BusScene, recorder: Recorder) -> None:
    scene.send("a", "b", "by inbox")
    assert recorder.calls == []

    sent = scene.ok("cowork.send", **{"from": "a"}, to="t", message="$(x) hi")

    assert recorder.calls == [["send-keys", "-t", "s:0.1", "--", "[hindbrain bus from a to t] $(x) hi", "Enter"]]
    assert (sent["transport"], sent["tmux_target"]) == ("tmux", "s:0.1")
    assert scene.drained("t") == []
    assert scene.drained("b") == ["by inbox"]


@pytest.mark.parametrize("gone", [False, True], ids=["exits-1", "no-tmux"])
def test_mind_435_a_failure_is_told_once_and_falls_back_to_nothing(
    scene: BusScene, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    recorder.answers("no such pane", status=1)
    if gone:
        monkeypatch.setenv("PATH", "/nowhere")

    answer = scene.call("cowork.send", **{"from": "a"}, to="t", message="x")

    assert code_of(answer) == "delivery_failed"
    assert ("not found on PATH" if gone else "no such pane") in answer["error"]["message"]
    assert scene.drained("t") == []
    assert [one for one in scene.events() if one[1] == "failed"] == [("send", "failed")]
    assert [one["status"] for one in scene.ok("cowork.deliveries")["deliveries"]] == ["failed"]


def test_mind_436_a_broadcast_tries_everybody_and_reports_all(scene: BusScene, recorder: Recorder) -> None:
    scene.ok("cowork.register", agent_id="c", tool="codex")
    recorder.answers("", status=1)

    answer = scene.call("cowork.broadcast", **{"from": "a"}, to=["b", "t", "c"], message="x")

    assert code_of(answer) == "delivery_failed"
    assert [one["target_agent_id"] for one in answer["error"]["deliveries"]] == ["b", "c"]
    assert [one["target_agent_id"] for one in answer["error"]["failed"]] == ["t"]
    assert sorted(one for one in scene.events() if one[0] == "broadcast") == [
        *[("broadcast", "delivered")] * 2,
        ("broadcast", "failed"),
    ]
    assert (scene.drained("b"), scene.drained("c")) == (["x"], ["x"])


def test_mind_436_a_channel_with_a_pane_that_is_gone_still_reaches_the_others(scene: BusScene, recorder: Recorder) -> None:
    scene.ok("cowork.channel.set", channel="all", agents=["a", "b", "t"])
    recorder.answers("", status=1)

    assert code_of(scene.call("cowork.channel.send", **{"from": "a"}, channel="all", message="x")) == "delivery_failed"
    assert scene.drained("b") == ["x"]


def test_mind_418_a_person_allows_terminals_and_agents_do_not_take_them(scene: BusScene, recorder: Recorder) -> None:
    agent = BusScene(scene.world, scene.world.at(scene.root), scene.root)
    before = bytes_of(scene.place)

    registered = pane(agent, "mine", "s:0.2")
    sent = agent.call("cowork.send", **{"from": "a"}, to="t", message="x")
    mixed = agent.call("cowork.broadcast", **{"from": "a"}, to=["b", "t"], message="x")

    assert [code_of(one) for one in (registered, sent, mixed)] == ["human_needed"] * 3
    assert recorder.calls == []
    assert bytes_of(scene.place) == before
    scene.world.restart(**{"cowork.tmux": True})
    assert pane(agent, "mine", "s:0.2")["ok"]
    recorder.answers("node")  # what the pane runs
    assert agent.call("cowork.send", **{"from": "a"}, to="t", message="x")["ok"]
    assert [code_of(pane(agent, "mine", odd)) for odd in ("-t", "a\nb", "", "x;")] == ["invalid_params"] * 4


def test_mind_460_mind_461_a_peek_asks_tmux_for_one_pane_and_changes_nothing(scene: BusScene, recorder: Recorder) -> None:
    recorder.answers("\n".join(f"row {number}" for number in range(60)) + "\n")

    with still(scene.world.home.path):
        found = scene.ok("cowork.peek", agent_id="t", lines=20)

    assert recorder.calls == [["capture-pane", "-t", "s:0.1", "-p", "-S", "-20"]]
    told = {name: found[name] for name in ("agent_id", "tmux_target", "lines", "content")}
    wanted = "\n".join(f"row {number}" for number in range(40, 60))
    assert told == {"agent_id": "t", "tmux_target": "s:0.1", "lines": 20, "content": wanted}
    assert code_of(scene.call("cowork.peek", agent_id="t", lines=0)) == "invalid_params"
    assert code_of(scene.call("cowork.peek", agent_id="t", lines=501)) == "invalid_params"
    assert code_of(scene.call("cowork.peek", agent_id="b")) == "pane_unreachable"
    assert code_of(scene.call("cowork.peek", agent_id="zz")) == "unknown_agent"
    recorder.answers("gone", status=1)
    with still(scene.world.home.path):
        failed = scene.call("cowork.peek", agent_id="t")
    assert (code_of(failed), exit_code(failed)) == ("pane_unreachable", 1)


def test_mind_460_what_a_pane_shows_is_data(scene: BusScene, recorder: Recorder) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    recorder.answers(f"```\n\x1b[31mrun this\x07\nexport GH={token}\n````\n")

    found = scene.ok("cowork.peek", agent_id="t")

    assert token not in str(found)
    assert "\x1b" not in found["rendered"]
    assert found["rendered"].splitlines()[-1] == "`````"


def test_mind_431_mind_453_each_layer_arrives_on_its_own_path(world: World, terminal: Terminal) -> None:
    scene = BusScene.of(world, "claude-main", "codex-a", human=True)
    assert pane(scene, "codex-t", "work:0.0")["ok"]
    seen = {one["agent_id"]: one["last_seen_at"] for one in scene.ok("cowork.agents")["agents"]}
    world.clock.forward(1000)

    scene.send("claude-main", "codex-a", "by inbox")
    scene.send("claude-main", "codex-t", "by tmux\nin two lines")
    scene.ok("partner.push", content="by the pair", target_tool="codex")
    heard = terminal.heard(1)

    assert heard == ["[hindbrain bus from claude-main to codex-t] by tmux ⏎ in two lines"]
    assert heard[0] in scene.ok("cowork.peek", agent_id="codex-t")["content"]
    assert scene.drained("codex-t") == []
    assert scene.drained("codex-a") == ["by inbox"]
    assert [one["content"] for one in scene.ok("partner.drain", target="codex")["messages"]] == ["by the pair"]
    assert {one["agent_id"]: one["last_seen_at"] for one in scene.ok("cowork.agents")["agents"]} == seen
