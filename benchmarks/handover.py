"""What a hand-over saves: the same agent goes on with half-done work, once with the hand-over and once without.

    .venv/bin/python benchmarks/handover.py                # three repositories, one seed
    .venv/bin/python benchmarks/handover.py --seeds 1 2 3 --check

A first agent works through half of a search for planted faults, with real files, real searches and real test runs, told to the
mission by the real operations, and hands over. A second agent then does the whole task. Both arms run the same code with the same
seed; the only difference is what Hindbrain tells it: `mission.resume` of the hand-over, or `mission.start` of a new mission. The
agent leaves out what it is told was covered or is a dead end, and takes up what it is told is still open.

Goals: at least 80 % fewer repeated searches, reads and dead ends; the share of repeated work at least halved; no dead path
entered; and of the faults that were still to be found no fewer found.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[1]))

from tests.support.world import Actor, World, git

from _handover_fixtures import FIXTURES, Fixture, Planted, module, plant
from hindbrain.domain.mission import EventType, Family, MissionEvent
from hindbrain.engines.claim_content import quoted
from hindbrain.engines.handover import covers
from hindbrain.engines.mission_query import normal_query
from hindbrain.engines.repeats import Repeats, reduction, repeated_work
from hindbrain.policy.handover import REDUCTION

FEWER = 0.8  # the goal of the project; the catalog's own is in the policy
BUDGET = {"tool_calls_max": 1_000, "files_read_max": 1_000, "soft_deadline_ms": 86_400_000}
_PATH = re.compile(r"[\w/]+\.py")


class Agent:
    """A scripted agent: searches, reads what it finds, claims what is wrong, rules out the rest and runs the tests. It knows only
    the task, the files and what the mission's answers tell it."""

    def __init__(self, actor: Actor, planted: Planted, *, seed: int) -> None:
        self._actor = actor
        self._fixture = planted.fixture
        self._root = planted.root
        self._rng = random.Random(seed)
        self._queries = list(planted.fixture.queries)
        self._rng.shuffle(self._queries)
        self._candidates: list[str] = []
        self._read: set[str] = set()
        self._tested: set[str] = set()
        self._untested: list[str] = []
        self._told: dict[str, Any] = {}
        self.mission_id = ""
        self.found: set[str] = set()

    # -- beginning ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._begun(self._call("mission.start", task=self._fixture.task, mode="bug_hunt", budget=BUDGET))

    def resume(self, handoff_id: str) -> None:
        self._begun(self._call("mission.resume", mission_id=handoff_id))

    @property
    def rechecks(self) -> tuple[str, ...]:
        return tuple(self._told.get("rechecks", ()))

    def _begun(self, answer: dict[str, Any]) -> None:
        self.mission_id = answer["mission_id"]
        self._told = answer.get("inherited") or {}
        for text in self._told.get("open_hypotheses", ()):
            self._candidates += _PATH.findall(text)

    def _known(self, family: Family, item: str) -> bool:
        """Whether the mission said that this was looked at already, and nothing asks for another look."""
        if item in self.rechecks:
            return False
        return any(one["family"] == family and one["item"] == item for one in self._told.get("covered", ()))

    # -- working -----------------------------------------------------------------------------------------------------

    def work(self, most: int) -> None:
        """Go on until there is nothing left to look at, or so many actions were taken."""
        for _ in range(most):
            if not self._act():
                return

    def _act(self) -> bool:
        if self._untested and self._test(self._untested.pop()):
            return True
        told = self._call("mission.next")
        closed = {one["item"] for one in told["policy"]["do_not"] if one["kind"] == "target"}
        move = told["move"]
        if move["type"] == "read_file" and self._worth(move["target"], closed):
            self._look(move["target"])
            return True
        while self._candidates:
            path = self._candidates.pop(0)
            if self._worth(path, closed):
                self._look(path)
                return True
        while self._queries:
            query = self._queries.pop(0)
            if not self._known(Family.LITERAL_SEARCH, normal_query(query)):
                self._search(query)
                return True
        return False

    def _worth(self, path: str, closed: set[str]) -> bool:
        dead = {one["target"] for one in self._told.get("dead_paths", ())} | closed
        asked = path in self.rechecks
        plain = path not in dead and not self._known(Family.DIRECT_READ, path)
        return path not in self._read and (asked or plain) and (self._root / path).is_file()

    def _search(self, query: str) -> None:
        hits = []
        for path in sorted(self._root.glob("*/*.py")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if query in line:
                    hits.append({"path": path.relative_to(self._root).as_posix(), "line": number, "text": line})
                    break
        files = [str(one["path"]) for one in hits]
        self._rng.shuffle(files)
        self._candidates += [one for one in files if one not in self._candidates]
        self._event(
            "literal_search",
            query,
            tool="grep",
            payload={"query": query, "hits": hits[:20]},
            outcome="found" if hits else "empty",
        )

    def _look(self, path: str) -> None:
        text = (self._root / path).read_text(encoding="utf-8")
        self._read.add(path)
        self._untested = [path.partition("/")[0]]
        self._event("file_read", path, tool="read")
        line = self._fixture.faulty(text)
        if line is None:
            self._event("dead_path", path, payload={"why": "read whole: the fault is not in it"})
            return
        answer = self._call(
            "mission.verify",
            claim=f"{path} line {line} holds {quoted(text.splitlines()[line - 1].strip())}",
            evidence_class="direct_source",
            evidence_refs=[f"direct_source:{path}:{line}"],
            targets=[path],
        )
        if answer["verdict"] == "verified_for_mission":
            self.found.add(path)

    def _test(self, package: str) -> bool:
        """Run the tests of a package, once, unless the mission said how they end."""
        command = f"python -m unittest test_{package}"
        if package in self._tested or self._known(Family.TEST, command):
            return False
        self._tested.add(package)
        done = subprocess.run([sys.executable, *command.split()[1:]], cwd=self._root, capture_output=True, check=False)
        self._event(
            "test_run",
            command,
            tool="shell",
            payload={"command": command, "exit_status": done.returncode},
            outcome="failed" if done.returncode else "passed",
        )
        return True

    def hand_over(self) -> dict[str, Any]:
        """Say what is still to be looked at, and hand over."""
        for path in self._candidates:
            if path not in self._read:
                self._event("hypothesis", path, payload={"text": f"{path} was found by a search and not read yet"})
        return self._call("mission.handoff", summary="half of it is looked at")

    # -- talking -----------------------------------------------------------------------------------------------------

    def _event(self, kind: str, target: str, **more: Any) -> None:
        self._call("mission.event", event_type=kind, target=target, **more)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        mission = {"mission_id": self.mission_id} if self.mission_id and operation != "mission.resume" else {}
        answer = self._actor.call(operation, **arguments, **mission)
        if not answer["ok"]:
            raise RuntimeError(f"{operation}: {answer['error']}")
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One continuation: what it did again, by kind, and what it found of what was left. Dead ends are reads too."""

    repeats: Repeats
    searches: int
    reads: int
    tests: int
    recall: float

    @property
    def again(self) -> int:
        return self.searches + self.reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A repository with both arms."""

    fixture: str
    with_it: Arm
    without: Arm

    @property
    def fewer(self) -> float:
        """How many of the repeats a hand-over saved, of all."""
        return round(1 - self.with_it.again / self.without.again, 9) if self.without.again else 0.0

    @property
    def missed(self) -> tuple[str, ...]:
        """Which goals were not reached."""
        share = reduction(self.with_it.repeats, self.without.repeats) or 0.0
        found = {
            f"only {self.fewer:.0%} fewer repeats": self.fewer < FEWER,
            f"the share of repeated work fell by {share:.0%} only": share < REDUCTION,
            f"{self.with_it.repeats.dead} dead paths were entered": self.with_it.repeats.dead > 0,
            f"recall of the rest fell from {self.without.recall:.2f} to {self.with_it.recall:.2f}": (
                self.with_it.recall < self.without.recall
            ),
        }
        return tuple(text for text, holds in found.items() if holds)


def measure(fixture: Fixture, place: Path, *, seed: int) -> Measured:
    """The first half, then the continuation in both arms, each in a brain of its own and with the same files."""
    arms = []
    for told in (True, False):
        world = World(place / f"{fixture.name}-{seed}-{told}")
        try:
            arms.append(_arm(world, fixture, seed=seed, told=told))
        finally:
            world.close()
    return Measured(fixture=fixture.name, with_it=arms[0], without=arms[1])


def _arm(world: World, fixture: Fixture, *, seed: int, told: bool) -> Arm:
    root = world.repository(fixture.name)
    planted = plant(fixture, Path(root), seed=seed)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "as it was")
    answer = world.at(root).call("ingest", path=root, project_root=root)
    if not answer["ok"]:
        raise RuntimeError(str(answer["error"]))
    whole = len(planted.faults) + len(planted.fine) + len(fixture.queries) + len(fixture.packages)

    first = Agent(world.at(root, "bench:first"), planted, seed=seed)
    first.start()
    first.work(whole // 2)
    handoff = first.hand_over()
    faults = set(planted.faults)
    if fixture.regression:
        broken = next(one["target"] for one in handoff["dead_paths"] if one["target"] in planted.fine)
        package, name = broken.removesuffix(".py").split("/")
        Path(root, broken).write_text(module(package, name, fixture.wrong), encoding="utf-8")
        faults.add(broken)

    second = Agent(world.at(root, "bench:second"), planted, seed=seed + 1)
    if told:
        second.resume(handoff["handoff_id"])
    else:
        second.start()
    second.work(10 * whole)
    left = faults - first.found
    parent, child = (_events(world, root, one.mission_id) for one in (first, second))
    dead = [one["target"] for one in handoff["dead_paths"] if one["target"] not in faults]
    recall = len(second.found & left) / len(left) if left else 1.0
    # Searches and tests of a tree that is another now are not repeats; a read is known by the digest of its file.
    same = (lambda one: one.family is Family.DIRECT_READ) if fixture.regression else (lambda one: True)
    given = {"repo": root, "rechecks": second.rechecks, "unchanged": same}
    return _compared(parent, child, given, dead=dead, recall=recall)


def _events(world: World, root: str, mission_id: str) -> tuple[MissionEvent, ...]:
    answer = world.at(root).call("mission.export", mission_id=mission_id, format="events")
    return tuple(msgspec.convert(one, MissionEvent) for one in answer["data"])


def _compared(
    parent: tuple[MissionEvent, ...], child: tuple[MissionEvent, ...], given: dict[str, Any], *, dead: list[str], recall: float
) -> Arm:
    """Both arms are measured by the events of the two missions, and not by what the agent says of itself."""
    covered = [one for event in parent if event.source == "agent" and (one := covers(event, given["repo"])) is not None]

    def again(kind: EventType) -> int:
        return repeated_work(covered, [one for one in child if one.event_type is kind], **given).covered

    return Arm(
        repeats=repeated_work(covered, child, dead=dead, **given),
        searches=again(EventType.LITERAL_SEARCH),
        reads=again(EventType.FILE_READ),
        tests=again(EventType.TEST_RUN),
        recall=recall,
    )


def table(made: Measured) -> str:
    """The rows of the table."""
    lines = []
    for name, arm in (("without", made.without), ("with", made.with_it)):
        lines.append(
            f"| {made.fixture} | {name} | {arm.repeats.counted} | {arm.searches} | {arm.reads} | {arm.repeats.dead} "
            f"| {arm.tests} | {arm.repeats.share:.2f} | {arm.recall:.2f} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[7])
    parser.add_argument("--check", action="store_true", help="end with 1 when a goal is missed")
    options = parser.parse_args()
    print(
        "| repository | hand-over | actions | searches again | reads | of them dead ends | tests | share | recall of the rest |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    missed = []
    with tempfile.TemporaryDirectory() as place:
        for seed in options.seeds:
            for fixture in FIXTURES:
                made = measure(fixture, Path(place), seed=seed)
                print(table(made), flush=True)
                missed += [f"{made.fixture}, seed {seed}: {one}" for one in made.missed]
    for one in missed:
        print(f"missed: {one}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
