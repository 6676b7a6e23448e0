"""Cowork of the tour: agents on the bus, a channel, a session, messages that arrived and that wait, and files in their hands."""

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["SCENES"]

_PACE_S = 5.0
_AGENTS = (("claude-main", "claude"), ("codex-a", "codex"), ("codex-b", "codex"), ("cursor-1", "cursor"))


def _met(stage: Stage) -> None:
    """Days ago: the first session, which is over."""
    actor = stage.agent(HARBOR)
    for name, tool in _AGENTS:
        actor.call("cowork.register", agent_id=name, tool=tool)
    actor.call(
        "cowork.session.create",
        session_id="cents",
        title="Count in cents",
        agents=["claude-main", "codex-a"],
        goal="no float is left in a price",
        thread_id="cents",
    )
    actor.call("cowork.send", **{"from": "claude-main", "to": "codex-a", "message": "money.py is yours", "thread_id": "cents"})
    actor.call("cowork.drain", agent_id="codex-a")
    actor.call(
        "cowork.send",
        **{"from": "codex-a", "to": "claude-main", "message": "done, with tests; two remarks", "thread_id": "cents"},
    )
    actor.call("cowork.drain", agent_id="claude-main")
    actor.call("cowork.session.close", session_id="cents", capture=True, execute=True)


def _today(stage: Stage) -> None:
    """Today: a release, with messages on their way and files in somebody's hands."""
    actor = stage.agent(HARBOR)
    with stage.pace(_PACE_S):
        actor.call("cowork.channel.set", channel="release", agents=["claude-main", "codex-a", "codex-b"])
        actor.call(
            "cowork.session.create",
            session_id="release-05",
            title="Release 0.5",
            agents=["claude-main", "codex-a", "codex-b"],
            goal="parked jobs are visible, and the image is signed",
            channels=["release"],
            thread_id="release-05",
        )
        stage.ids["session"], stage.ids["channel"] = "release-05", "release"
        first = actor.call(
            "cowork.send",
            **{
                "from": "claude-main",
                "to": "codex-a",
                "message": "please review src/harbor/worker.py",
                "thread_id": "release-05",
            },
        )
        stage.ids["message-acknowledged"] = first["message_id"]
        actor.call("cowork.drain", agent_id="codex-a")
        actor.call("cowork.ack", agent_id="codex-a", message_id=first["message_id"])
        actor.call(
            "cowork.send",
            **{"from": "codex-a", "to": "claude-main", "message": "the parked ones need a route", "thread_id": "release-05"},
        )
        actor.call("cowork.channel.send", **{"from": "claude-main", "channel": "release", "message": "main is frozen at noon"})
        actor.call("cowork.broadcast", **{"from": "codex-b", "to": ["claude-main", "codex-a"], "message": "the image is signed"})
        actor.call(
            "cowork.reserve", agent_id="codex-a", paths=["src/harbor/worker.py"], minutes=240, reason="a route for parked jobs"
        )
        actor.call("cowork.reserve", agent_id="codex-b", paths=["docs/"], minutes=240, shared=True, reason="the deploy page")
        stage.agent(TIDE).call("cowork.register", agent_id="tide-claude", tool="claude")
        stage.agent(TIDE).call("partner.push", content="the cart tests are yours", target_tool="codex")


def _awake(stage: Stage) -> None:
    """Now: three of the four are at work."""
    with stage.pace(_PACE_S):
        for name in ("claude-main", "codex-a", "codex-b"):
            stage.agent(HARBOR).call("cowork.heartbeat", agent_id=name)
        stage.agent(TIDE).call("cowork.heartbeat", agent_id="tide-claude")


SCENES: tuple[Scene, ...] = (
    Scene(day=18.2, name="two agents share the work", play=_met),
    Scene(day=21.4, name="a release, side by side", play=_today),
    Scene(day=22, name="the agents are at work", play=_awake),
)
