"""A bus for tests: a repository, a few registered agents, and short words for what they do."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.stores.bus_records import EVENTS, SESSIONS
from tests.support.world import Actor, World

__all__ = ["BusScene", "code_of"]


def code_of(answer: dict[str, Any]) -> str:
    """The code of an answer that has to be an error."""
    assert not answer["ok"], answer
    return str(answer["error"]["code"])


@dataclass
class BusScene:
    """One bus and somebody who stands in its checkout."""

    world: World
    actor: Actor
    root: str

    @classmethod
    def of(cls, world: World, *agents: str, name: str = "app", brain: bool = False, human: bool = False) -> "BusScene":
        root = world.brain(name) if brain else world.repository(name)
        scene = cls(world, world.human(root) if human else world.at(root), root)
        for agent in agents:
            scene.ok("cowork.register", agent_id=agent, tool=agent.split("-")[0])
        return scene

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self.actor.call(operation, **arguments)

    def ok(self, operation: str, **arguments: Any) -> dict[str, Any]:
        answer = self.call(operation, **arguments)
        assert answer["ok"], answer
        return answer

    def send(self, sender: str, to: str, message: str, **more: Any) -> str:
        return str(self.ok("cowork.send", **{"from": sender}, to=to, message=message, **more)["message_id"])

    def drained(self, agent: str) -> list[str]:
        return [one["content"] for one in self.ok("cowork.drain", agent_id=agent)["messages"]]

    @property
    def place(self) -> Path:
        """Where the files of the bus lie."""
        return self.world.home.runtime_dir(self.root)

    @property
    def sessions_file(self) -> Path:
        return self.place / SESSIONS

    def log(self) -> list[str]:
        """The lines of the log."""
        return (self.place / EVENTS).read_text(encoding="utf-8").splitlines()

    def events(self) -> list[tuple[str, str]]:
        """Type and status of every event."""
        return [(one["event_type"], one["status"]) for one in self.ok("cowork.events", limit=1000)["events"]]

    def databases(self) -> list[Path]:
        """Every database of the home."""
        return sorted(self.world.home.path.rglob("*.db"))
