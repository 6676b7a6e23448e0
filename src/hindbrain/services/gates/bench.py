"""The bench: a directory in which gates work. Real sessions on a home of its own, a real repository with a planted fault, and the
files that show what happened, which stay."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.gym import LaneScore
from hindbrain.engines.gym_metrics import measured
from hindbrain.services.gym.fixtures import Fixtures
from hindbrain.services.gym.lanes import Lanes
from hindbrain.services.gym.ports import LaneSession, Opener
from hindbrain.services.gym.repository import committed
from hindbrain.stores.directories import make_directory

__all__ = ["AGENT", "CLAIM", "Bench", "NotShown", "Shown", "needs"]

AGENT = "gate"
CLAIM = "retry runs once too often"
_FILES = {
    "src/worker.py": "def retry(job, times):\n    for turn in range(times + 1):\n        if job():\n            return turn\n",
    "src/queue.py": "def push(job):\n    return job\n",
    "README.md": "# Shop\n\nA job is tried at most `times` times.\n",
}


class NotShown(Exception):
    """A gate does not open; says why."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a gate showed, and the files that show it."""

    says: str
    evidence: tuple[Path, ...] = ()


def needs(holds: object, why: str) -> None:
    """Go on only while this holds."""
    if not holds:
        raise NotShown(why)


@dataclass(slots=True)
class Bench:
    """One run of gates."""

    path: Path
    opener: Opener
    fixtures: Fixtures
    strategy: tuple[Path, ...]  # where the strategy document may be
    _sessions: list[LaneSession] = field(default_factory=list)
    _kept: dict[str, Any] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.path / "home"

    def repository(self, name: str) -> Path:
        """A repository in which a loop runs once too often."""
        root = self.path / name
        if not root.exists():
            committed(root, [("first", _FILES)])
        return root

    def session(self, root: Path, agent: str = AGENT, *, taken_in: bool = True) -> "Agent":
        """An agent in a repository, which has its brain."""
        make_directory(self.home)
        opened = self.opener(self.home, root, agent)
        self._sessions.append(opened)
        made = Agent(opened)
        if taken_in:
            made.done("ingest", path=str(root), project_root=str(root))
        return made

    def mission(self) -> dict[str, Any]:
        """One whole mission, worked once for all gates that look at it: every answer by the call's name."""
        if "mission" not in self._kept:
            self._kept["mission"] = _worked(self.session(self.repository("shop")))
        told: dict[str, Any] = self._kept["mission"]
        return told

    def lane(self, fixture: str, lane: str, number: int = 1) -> tuple[LaneScore, Path]:
        """One lane of the gym and its score, kept as a file."""
        name = f"{fixture}.{lane}.{number}"
        if name not in self._kept:
            ran = Lanes(fixtures=self.fixtures, opener=self.opener).run(fixture, lane, self.path / "lanes" / name)
            score = measured(self.fixtures.key(fixture), ran)
            told = msgspec.json.format(msgspec.json.encode(score)).decode()
            self._kept[name] = score, self.kept(f"{name}.json", told)
        found: tuple[LaneScore, Path] = self._kept[name]
        return found

    def kept(self, name: str, data: Any) -> Path:
        """Evidence as a file."""
        place = self.path / "evidence" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=2), encoding="utf-8")
        return place

    def close(self) -> None:
        for one in self._sessions:
            one.close()
        self._sessions.clear()


class Agent:
    """A session whose refusals are answers, and fail a gate where they are not expected."""

    def __init__(self, session: LaneSession) -> None:
        self._session = session

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        return self._session.call(operation, **arguments)

    def done(self, operation: str, **arguments: Any) -> dict[str, Any]:
        answer = self.call(operation, **arguments)
        if "error" in answer or "refused" in answer:
            raise NotShown(f"{operation} was refused: {answer.get('error') or answer.get('reason')}")
        return answer


def _worked(agent: Agent) -> dict[str, Any]:
    """A hunt with a circle in it, from start to close."""
    told: dict[str, Any] = {}
    told["start"] = agent.done("mission.start", task="find why retry runs too often", mode="bug_hunt", budget="deep")
    told["next"] = agent.done("mission.next")
    hits = [{"path": "src/worker.py", "line": 2, "text": "    for turn in range(times + 1):"}]
    for _ in range(3):
        search = {"event_type": "literal_search", "target": "range(", "payload": {"query": "range(", "hits": hits}}
        told["event"] = agent.done("mission.event", **search)
    told["claim"] = agent.done("mission.claim", claim=CLAIM, targets=["src/worker.py"])
    claim = told["claim"]["claim_id"]
    told["weak"] = agent.done("mission.verify", claim=claim, evidence_class="graph_orientation")
    told["early"] = agent.call("mission.close")
    refs = ["direct_source:src/worker.py:2"]
    told["verify"] = agent.done("mission.verify", claim=claim, evidence_class="direct_source", evidence_refs=refs)
    read = agent.done("mission.event", event_type="file_read", target="src/queue.py")
    agent.done("mission.event", event_type="coverage_sweep", payload={"linked_events": [read["event_id"]]})
    told["state"] = agent.done("mission.status", events=0)
    told["handoff"] = agent.done("mission.handoff", summary="the fault is found", leave=False)
    told["resume"] = agent.done("mission.resume", mission_id=told["start"]["mission_id"])
    told["flight"] = agent.done("flight", records=0)
    told["close"] = agent.done("mission.close")
    return told
