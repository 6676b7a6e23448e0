"""Looking for defects in a lane: a scripted agent with its tools alone, or one that follows what its mission says next."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindbrain.domain.gym_fixture import Finding, FixtureInfo
from hindbrain.domain.mission import Budget, EventType, MissionEvent, MissionMode, Outcome
from hindbrain.engines.gym_agents import AGENTS, Action, disciplined, sweeping
from hindbrain.services.gym.ports import LaneSession
from hindbrain.services.gym.stream import MissionStream, PaperStream
from hindbrain.services.gym.toolbox import Toolbox

__all__ = ["Hunt", "followed", "hunted"]

_MOVES = 80  # moves after which an agent that gets nowhere gives up
_RECOVERING = frozenset({"recover", "rebind"})
_OVER = frozenset({"ask_human", "handoff"})


class Hunt:
    """What came of it."""

    def __init__(self, box: Toolbox) -> None:
        self.box = box
        self.events: tuple[MissionEvent, ...] = ()
        self.steps: set[str] = set()
        self.closed = False
        self.mission_id: str | None = None
        self.note = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self.box.findings)


def hunted(
    root: Path,
    info: FixtureInfo,
    budget: Budget,
    *,
    lane: str,
    agent: str,
    clock: Callable[[], int],
    session: LaneSession | None,
    repository: str = "",
) -> Hunt:
    """An agent with its tools, and no mission."""
    stream = PaperStream(lane, agent, clock)
    box = Toolbox(root, info, budget, clock=clock, tell=stream.told, session=session, repository=repository)
    policy, hunt, announced = AGENTS[agent], Hunt(box), 0
    while (action := policy(box.view())).kind != "stop":
        box.do(action)
        for finding in box.findings[announced:]:
            stream.found(finding)
        announced = len(box.findings)
    stream.add(EventType.CLOSE, lane, Outcome.NOTED, {"findings": announced})
    hunt.events, hunt.closed = tuple(stream.events), True
    return hunt


def followed(
    root: Path,
    info: FixtureInfo,
    budget: Budget,
    *,
    preset: str,
    clock: Callable[[], int],
    session: LaneSession,
    repository: str = "",
    mission_id: str | None = None,
    known: tuple[Finding, ...] = (),
) -> Hunt:
    """An agent that does what its mission says next, and proves what it claims."""
    follower = _Follower(root, info, budget, preset, clock, session, repository, known)
    return follower.work(mission_id)


class _Follower:
    def __init__(
        self,
        root: Path,
        info: FixtureInfo,
        budget: Budget,
        preset: str,
        clock: Callable[[], int],
        session: LaneSession,
        repository: str,
        known: tuple[Finding, ...],
    ) -> None:
        self._info, self._preset, self._session = info, preset, session
        self._stream = MissionStream(session, "")
        self._box = Toolbox(root, info, budget, clock=clock, tell=self._stream.told, session=session, repository=repository)
        self._hunt = Hunt(self._box)
        self._judged = 0
        self._known = known

    def work(self, mission_id: str | None) -> Hunt:
        """Start, then move by move until it is closed."""
        hunt = self._hunt
        if mission_id is None:
            begun = self._session.call("mission.start", task=self._info.task, mode=self._info.mode.value, budget=self._preset)
            if not begun.get("ok"):
                hunt.note = f"the mission did not start: {begun.get('error')}"
                return hunt
            mission_id = str(begun["mission_id"])
        self._stream.mission_id = hunt.mission_id = mission_id
        hunt.steps.add("start")
        for _ in range(_MOVES):
            answer = self._session.call("mission.next", mission_id=mission_id)
            if not answer.get("ok"):
                hunt.note = f"there is no next move: {answer.get('error')}"
                break
            hunt.steps.add("next")
            if not self._moved(answer["move"]):
                break
        if not hunt.closed:
            self._close(force=True)
        hunt.events = self._stream.events()
        if self._stream.refused:
            hunt.note = "; ".join(filter(None, (hunt.note, f"refused: {self._stream.refused[0]}")))
        return hunt

    def _moved(self, move: dict[str, Any]) -> bool:
        """Do the move; False when the mission is over."""
        kind = move["type"]
        if kind == "close":
            return self._more() or not self._close()
        if kind in _OVER:
            return False
        if kind in _RECOVERING:
            return self._otherwise("the graph does not answer here, the files do", "read_file")
        if kind == "direct_sweep":
            self._sweep()
            return True
        if kind == "claim":
            return self._prove() or self._otherwise("there is nothing to claim so far", "read_file")
        if kind == "ingest":
            return bool(self._session.call("ingest", path=move["target"] or ".").get("ok"))
        action = self._action(kind, move)
        if action is None:
            return self._prove() or self._otherwise("that was looked at already", "read_file")
        self._do(action)
        return True

    def _action(self, kind: str, move: dict[str, Any]) -> Action | None:
        """The move as a use of a tool; None when it was done before or cannot be."""
        view, target = self._box.view(), str(move["target"] or "")
        if view.calls_left <= 0:
            return None
        if kind == "read_file" and view.files_left > 0:
            target = target.split(":")[0]
            if target in view.read or not target or (view.files is not None and target not in view.files):
                chosen = disciplined(view)
                return chosen if chosen.kind in ("read", "list", "probe") else None
            return Action(kind="read", target=target)
        if kind == "run_test":
            return None if view.tested else Action(kind="test", target="tests")
        if kind == "literal_search":
            return Action(kind="search", target=target)
        if kind == "graph_query":
            query = view.queries[len(view.asked) % len(view.queries)] if view.queries else self._info.task
            return Action(kind="ask", target=query)
        return None

    def _more(self) -> bool:
        """Whether something that the task asks for was not looked at yet, and is looked at now."""
        if self._hunt.closed or self._box.view().calls_left <= 0:
            return False
        return disciplined(self._box.view()).kind != "stop" and self._otherwise("not all of it was looked at", "read_file")

    def _otherwise(self, why: str, tool: str) -> bool:
        """Something else than what was said, openly: the next thing a disciplined agent would look at."""
        action = disciplined(self._box.view())
        if action.kind == "stop":
            if self._info.mode is MissionMode.BUG_HUNT:
                self._sweep()
            return not self._close(force=True)
        payload = {"why": why, "chosen_tool": tool, "evidence_required": "direct_source"}
        self._stream.taken(
            self._session.call(
                "mission.event", mission_id=self._stream.mission_id, event_type="dissent", target=action.target, payload=payload
            )
        )
        self._do(action)
        return True

    def _do(self, action: Action) -> str:
        self._hunt.steps.add("event")
        return self._box.do(action)

    def _prove(self) -> bool:
        """Verify every finding that was not judged yet, by the line it stands on."""
        waiting = self._box.findings[self._judged :]
        for finding in waiting:
            self._judged += 1
            place = f"direct_source:{finding.path}:{finding.line}" if finding.line else f"direct_source:{finding.path}"
            answer = self._session.call(
                "mission.verify",
                mission_id=self._stream.mission_id,
                claim=finding.claim or finding.statement,
                evidence_class="direct_source",
                evidence_refs=[place],
                targets=[finding.path],
                confidence=0.9,
            )
            self._stream.taken(answer)
            self._hunt.steps.add("verify")
        return bool(waiting)

    def _sweep(self) -> None:
        """Contracts, boundaries and what is exported, as far as the budget goes; findings are proven before it is told."""
        linked = ""
        while (view := self._box.view()).calls_left > 0:
            proven = self._prove()
            action = sweeping(view)
            if action.kind == "stop" or (view.calls_left == 1 and (proven or not linked)):
                break
            event = self._do(action)
            if action.kind != "list" and event:
                linked = event
            if self._waiting:
                linked = ""  # what is found now is proven later than this look
        if self._prove() or not linked:
            linked = self._again()
        self._stream.taken(
            self._session.call(
                "mission.event",
                mission_id=self._stream.mission_id,
                event_type="public_contract_sweep",
                target=".",
                payload={"events": [linked] if linked else [], "focus": "contracts, boundaries, errors, exports"},
            )
        )

    def _again(self) -> str:
        """A direct look after the last proof: a contract once more, now that the findings are known."""
        looked = next((one for one in self._box.view().documents if one in self._box.texts), next(iter(self._box.texts), ""))
        return self._do(Action(kind="read", target=looked)) if looked and self._box.view().calls_left > 0 else ""

    @property
    def _waiting(self) -> bool:
        return self._judged < len(self._box.findings)

    def _close(self, *, force: bool = False) -> bool:
        """Close; by force, with the reason, when something is open and nothing is left to spend."""
        self._prove()
        found = len(self._box.findings)
        words: dict[str, Any] = {"mission_id": self._stream.mission_id, "summary": f"{found} findings"}
        answer = self._session.call("mission.close", **words)
        if not answer.get("ok") and force:
            self._hunt.note = f"closed by force: {answer.get('error', {}).get('message', '')}"[:300]
            answer = self._session.call("mission.close", **words, force=True, reason="the budget is used up")
        if answer.get("ok"):
            self._hunt.closed = True
            self._hunt.steps.add("close")
        return self._hunt.closed
