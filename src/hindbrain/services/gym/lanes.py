"""Lanes: one agent, one way of working, one copy of a fixture and one home of its own. The copy is checked before and after."""

import fnmatch
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.gym_fixture import LANES, Arm, Finding, FixtureInfo, GymFamily, LaneRun, LaneSpec
from hindbrain.domain.mission import EventType, MissionEvent
from hindbrain.policy.missions import BUDGETS
from hindbrain.services.gym.agent_command import AGENT_ID, commanded
from hindbrain.services.gym.errands import Errand, diagnosed, oriented, refactored, verdicts_on_claims
from hindbrain.services.gym.fixtures import Fixtures, Made
from hindbrain.services.gym.handing_over import relayed
from hindbrain.services.gym.hunting import followed, hunted
from hindbrain.services.gym.ports import LaneSession, Opener
from hindbrain.services.gym.probing import Probe
from hindbrain.services.gym.repository import changed, digest, files
from hindbrain.services.gym.stream import MissionStream

__all__ = ["Lanes"]

_MISSIONS = frozenset({"short", "mission"})
_STEPS = {
    EventType.VERIFY: "verify",
    EventType.HANDOFF: "handoff",
    EventType.CLOSE: "close",
}
_ERRANDS = frozenset(
    {GymFamily.HOST_RECOVERY, GymFamily.BOUNDED_REFACTOR, GymFamily.MULTI_REPO_ORIENTATION, GymFamily.CLAIM_SUPPORT}
)
_WORK: dict[GymFamily, tuple[Callable[[Path, Errand], None], str]] = {
    GymFamily.HOST_RECOVERY: (diagnosed, "every state has its diagnosis"),
    GymFamily.BOUNDED_REFACTOR: (refactored, "the name is changed"),
    GymFamily.CLAIM_SUPPORT: (verdicts_on_claims, "every claim has its verdict"),
}
Progress = Callable[[int, int, str], None]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class Lanes:
    """Runs lanes. `opener` gives a session of Hindbrain on a home; the direct lane never asks for one."""

    def __init__(self, *, fixtures: Fixtures, opener: Opener, clock: Callable[[], int] = _now_ms) -> None:
        self._fixtures, self._opener, self._clock = fixtures, opener, clock

    def run(
        self,
        fixture: str,
        lane: str,
        directory: Path,
        *,
        budget: str | None = None,
        agent_command: str | None = None,
        arm: Arm | None = None,
        time_limit_s: float = 600.0,
        progress: Progress | None = None,
    ) -> LaneRun:
        """One lane from its fresh copy to its last event. The directory must not exist. `arm` is for the lane `agent` alone: the
        instructions it is given, and under which it is reported."""
        info = self._fixtures.info(fixture)
        spec = _spec(lane, arm)
        preset = "short" if lane == "short" else budget or info.budget
        if preset not in BUDGETS:
            raise InvalidParams(f"there is no budget {preset!r}", fix=f"use one of: {', '.join(BUDGETS)}")
        say = progress or _silent
        say(0, 3, f"{fixture} {lane}: a copy of its own")
        directory.mkdir(parents=True)
        (directory / "prompt.md").write_text(self._fixtures.prompt(fixture, lane, spec.arm), encoding="utf-8")
        (directory / "home").mkdir(mode=0o700)
        made = self._fixtures.make(fixture, directory / "workspace")
        before = self._fixtures.texts(fixture)
        say(1, 3, f"{fixture} {lane}: {spec.says}")
        started = self._clock()
        told = self._work(info, spec, made, directory, preset, agent_command, time_limit_s)
        ended = self._clock()
        if info.family is GymFamily.BOUNDED_REFACTOR:
            told |= _seen(made.repositories[info.repositories[0]], info, told)
        say(2, 3, f"{fixture} {lane}: checking the copy")
        touched = changed(before, made.root)
        reason = _reason(info, touched)
        say(3, 3, f"{fixture} {lane}: done")
        return LaneRun(
            fixture=fixture,
            lane=lane,
            arm=spec.arm,
            agent=spec.agent,
            digest_locked=info.digest,
            digest_before=made.digest,
            digest_after=digest(made.root),
            valid=made.digest == info.digest and not reason,
            invalid_reason=reason,
            started_ms=started,
            ended_ms=ended,
            changed_paths=touched,
            **told,
        )

    def _work(
        self,
        info: FixtureInfo,
        spec: LaneSpec,
        made: Made,
        directory: Path,
        preset: str,
        agent_command: str | None,
        time_limit_s: float,
    ) -> dict[str, Any]:
        """What the lane's agent did, as fields of a run."""
        lane, agent, first = spec.name, spec.agent, info.repositories[0]
        root = made.repositories[first]
        if lane == "agent":
            if not agent_command:
                raise InvalidParams("the lane `agent` needs a command", fix="give --agent-command 'PROGRAM … {prompt}'")
            done = commanded(agent_command, directory, time_limit_s=time_limit_s, clock=self._clock)
            told = _told(done.findings, done.events, completed=done.completed, answer=done.answer, note=done.note, closed=False)
            return told | self._mission(directory, root)
        if info.family in _ERRANDS:
            return self._errand(info, lane, agent, made, directory)
        if info.family is GymFamily.HANDOFF_RESUME:
            return relayed(
                root,
                info,
                BUDGETS[preset],
                lane=lane,
                clock=self._clock,
                open_session=lambda name: self._session(directory, root, name),
            )
        if lane == "direct":
            hunt = hunted(root, info, BUDGETS[preset], lane=lane, agent=agent, clock=self._clock, session=None)
        else:
            session = self._session(directory, root, agent)
            try:
                words: dict[str, Any] = {"clock": self._clock, "session": session}
                if lane in _MISSIONS:
                    hunt = followed(root, info, BUDGETS[preset], preset=preset, **words)
                else:
                    hunt = hunted(root, info, BUDGETS[preset], lane=lane, agent=agent, **words)
            finally:
                session.close()
        return _told(
            hunt.findings,
            hunt.events,
            completed=hunt.closed,
            closed=hunt.closed,
            mission_id=hunt.mission_id,
            steps=tuple(sorted(hunt.steps)),
            tests_passed=hunt.box.tests_passed,
            note=hunt.note,
        )

    def _errand(self, info: FixtureInfo, lane: str, agent: str, made: Made, directory: Path) -> dict[str, Any]:
        """Work that asks for an answer instead of findings."""
        root = made.repositories[info.repositories[0]]
        if info.family is GymFamily.MULTI_REPO_ORIENTATION:  # which repository a session is for is the question itself
            errand = Errand(info, lane, agent, self._clock, None)
            oriented(made.repositories, errand, None if lane == "direct" else lambda at: self._session(directory, at, agent))
            return errand.told()
        session = self._session(directory, root, agent) if lane in _MISSIONS else None
        try:
            errand = Errand(info, lane, agent, self._clock, session)
            errand.begin()
            work, summary = _WORK[info.family]
            work(root, errand)
            errand.end(summary)
            return errand.told()
        finally:
            if session is not None:
                session.close()

    def _mission(self, directory: Path, root: Path) -> dict[str, Any]:
        """The last mission that an agent command kept in the lane's home, as fields of a run; nothing when it kept none."""
        if not any((directory / "home").iterdir()):
            return {}
        session = self._opener(directory / "home", root, AGENT_ID)
        try:
            found = session.call("mission.list", limit=1).get("missions") or ()
            if not found:
                return {}
            mission_id = str(found[0]["mission_id"])
            events = MissionStream(session, mission_id).events()
        finally:
            session.close()
        steps = {"start", *(_STEPS[one.event_type] for one in events if one.event_type in _STEPS)}
        steps |= {"event"} if any(one.source == "agent" for one in events) else set()
        return {"events": events, "mission_id": mission_id, "steps": tuple(sorted(steps)), "closed": "close" in steps}

    def _session(self, directory: Path, root: Path, agent: str) -> LaneSession:
        """A session on the lane's own home, with a brain of the repository."""
        session = self._opener(directory / "home", root, agent)
        answer = session.call("ingest", path=str(root), project_root=str(root))
        if not answer.get("ok"):
            session.close()
            raise InvalidParams(f"the lane's brain could not be made: {answer.get('error')}", fix="see hindbrain doctor")
        return session


def _told(findings: tuple[Finding, ...], events: tuple[MissionEvent, ...], **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"findings": findings, "events": events, "completed": True, "closed": True}
    return fields | more


def _seen(root: Path, info: FixtureInfo, told: dict[str, Any]) -> dict[str, Any]:
    """What the change came to, as the gym sees it itself: the tests, and where the old name is left."""
    old = str(info.request["rename"])
    left = [path for path, text in files(root).items() if old in text]
    return {"tests_passed": Probe(root).tests().ran.status == 0, "answer": {**told.get("answer", {}), "left": left}}


def _spec(lane: str, arm: Arm | None) -> LaneSpec:
    if lane not in LANES:
        raise InvalidParams(f"there is no lane {lane[:40]!r}", fix=f"use one of: {', '.join(LANES)}")
    if arm is not None and lane != "agent":
        raise InvalidParams(f"the lane {lane} has its own arm", fix="leave `arm` out, or use the lane `agent`")
    return LANES[lane] if arm is None else msgspec.structs.replace(LANES[lane], arm=arm)


def _reason(info: FixtureInfo, touched: tuple[str, ...]) -> str:
    """Why a lane does not count: its copy was changed where the task allows no change."""
    bound = [f"{info.repositories[0]}/{one}" for one in info.request.get("bound", ())]
    outside = [path for path in touched if not any(fnmatch.fnmatch(path, one) for one in bound)]
    return f"the copy was changed: {', '.join(outside[:5])}" if outside else ""


def _silent(done: int, total: int, text: str) -> None:
    """Nobody is watching."""
