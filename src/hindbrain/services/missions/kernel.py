"""The kernel: how a mission begins, changes hands and ends, and how its claims are judged. Each is one turn on the log; engines
decide. What was done is in `recording`, what is next in `advising`, how it stands in `telling`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import Busy, InvalidParams
from hindbrain.domain.mission import MissionEvent, MissionStatus, VerifyResult
from hindbrain.domain.mission_comparison import SecondReading
from hindbrain.engines.course import Course
from hindbrain.engines.fence import quoted
from hindbrain.engines.guarding import drift
from hindbrain.engines.inheriting import starter_focus, told_of
from hindbrain.engines.mission_starters import expected_phases, starters
from hindbrain.policy.non_claims import STANDING
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.advising import Advising
from hindbrain.services.missions.closing import Closing
from hindbrain.services.missions.control import Lessons, MissionControl
from hindbrain.services.missions.desk import Desk
from hindbrain.services.missions.faults import guarded
from hindbrain.services.missions.guard import Guard, Looked
from hindbrain.services.missions.handing import Handing
from hindbrain.services.missions.importing import Importing
from hindbrain.services.missions.log import Turn
from hindbrain.services.missions.observing import circled
from hindbrain.services.missions.proving import Proving
from hindbrain.services.missions.recording import Recording
from hindbrain.services.missions.second_reader import ReaderNeeded, SecondReader
from hindbrain.services.missions.skills import Skills
from hindbrain.services.missions.starting import Asked, Begun, Starting
from hindbrain.services.missions.telling import Telling, rendered_start

__all__ = ["Missions"]


class Missions:
    """What operations call. One of each part, put together by the house."""

    def __init__(
        self,
        desk: Desk,
        *,
        guard: Guard,
        handing: Handing,
        control: MissionControl,
        skills: Skills,
        proving: Proving,
        closing: Closing,
        telling: Telling,
        recording: Recording,
        advising: Advising,
        documents: Callable[[OpenBrain, str], tuple[str, ...]],
        second: SecondReader,
    ) -> None:
        self._desk = desk
        self._log = desk.log
        self._guard = guard
        self._handing = handing
        self._control = control
        self._skills = skills
        self._proving = proving
        self._closing = closing
        self.telling = telling
        self.recording = recording
        self.advising = advising
        self._second = second
        self._documents = documents  # what is stale of a repository's strategy
        self._starting = Starting(desk, guard)
        self.importing = Importing(desk, self._starting, control, proving, telling)

    # -- start -------------------------------------------------------------------------------------------------------

    def start(
        self,
        caller: Caller,
        *,
        task: str,
        mode: str,
        repo: str | None,
        budget: str | dict[str, Any],
        risk: str,
        criteria: list[str] | None,
        known_targets: Sequence[str] | None,
        scope: str | None,
        non_goals: list[str] | None,
        federation_intent: bool,
        parent_mission_id: str | None,
    ) -> dict[str, Any]:
        """Begin a mission, on its own or from the last hand-over of another."""
        asked = Asked(
            task=task,
            mode=mode,
            repo=repo,
            budget=budget,
            risk=risk,
            criteria=tuple(criteria or ()),
            known_targets=tuple(known_targets or ()),
            scope=scope,
            non_goals=tuple(non_goals or ()),
            federation_intent=federation_intent,
        )
        with self._desk.opened(caller) as opened:
            looked = self._starting.look(caller, asked)
            warnings: tuple[str, ...] = ()
            if parent_mission_id is not None:
                child = self._handing.child(
                    opened, caller, guard=looked.guard, parent_mission_id=self._log.find(opened, caller, parent_mission_id)
                )
                asked, warnings = replace(asked, changes=child.changes), child.warnings
            return self._begun(opened, caller, asked, looked, warnings)

    def _begun(
        self, opened: OpenBrain, caller: Caller, asked: Asked, looked: Looked, warnings: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        if inherited := asked.changes.get("inherited"):
            kept, left_out = self._desk.kept_of(opened, inherited)
            asked = replace(asked, changes={**asked.changes, "inherited": kept})
            warnings += (f"{left_out} of what was handed over is rejected by now and left out",) if left_out else ()
        if opened.brain.root is not None:  # of this project, whatever directory around it was named
            warnings += self._documents(opened, opened.brain.root)
        begun = self._starting.begin(opened, caller, asked, looked, warnings)
        course = begun.course
        self._control.begun(opened, course)
        lessons = self._control.lessons(opened, course.spec.task)
        return self._started(opened, begun, lessons)

    def _started(self, opened: OpenBrain, begun: Begun, lessons: Lessons) -> dict[str, Any]:
        course = begun.course
        spec = course.spec
        routed = self.advising.routed(opened, course, lessons)
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-mission-start-v1",
            "mission_id": spec.mission_id,
            "mode": spec.mode.value,
            "route": spec.route.value,
            "phase": course.phase.value,
            "expected_phases": [one.value for one in expected_phases(spec.mode)],
            "risk": spec.risk,
            "budget": msgspec.to_builtins(spec.budget),
            "criteria": msgspec.to_builtins(spec.criteria),
            "context_guard": msgspec.to_builtins(begun.looked.guard),
            "trust": msgspec.to_builtins(begun.looked.trust),
            "non_goals": list(spec.non_goals),
            "starter_moves": [
                msgspec.to_builtins(one) for one in starters(spec, begun.looked.trust, focus=starter_focus(course.inherited))
            ],
            "do_not": msgspec.to_builtins(routed.policy.do_not),
            "experience": {
                "potentials": lessons.potentials,
                "rules": [*lessons.rules],
                "newest": [*lessons.newest],
                "instincts": lessons.beat or {},
            },
            "skills": [msgspec.to_builtins(one) for one in self._skills.offered(opened, spec.task)],
            "parent_mission_id": spec.parent_mission_id,
            "handoff_id": spec.handoff_id,
            "inherited": told_of(course.inherited),
            "warnings": list(course.warnings),
            "policy_version": spec.policy_version,
            "non_claims": list(STANDING),
        }
        return {**answer, "rendered": rendered_start(answer)}

    # -- claims ------------------------------------------------------------------------------------------------------

    def claim(
        self,
        caller: Caller,
        *,
        mission_id: str | None,
        text: str,
        targets: Sequence[str] | None,
        criteria: list[str] | None,
        evidence_refs: Sequence[str] | None,
        confidence: float | None,
    ) -> dict[str, Any]:
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (text, *(targets or ()), *(criteria or ()), *(evidence_refs or ())))
            found = self._log.find(opened, caller, mission_id)
            with self._log.turn(opened, caller, found) as turn:
                claim = self._proving.claim(
                    turn, text, targets=targets, criteria=criteria, refs=evidence_refs, confidence=confidence
                )
                circled(turn)
        told = f"{claim.claim_id} registered, not proven: verify it with direct evidence"
        answer = {"ok": True, "schema": "hindbrain-mission-claim-v1", "mission_id": found, "claim_id": claim.claim_id}
        return {**answer, "claim": msgspec.to_builtins(claim), "verdict": claim.verdict, "rendered": told}

    def verify(
        self,
        caller: Caller,
        *,
        mission_id: str | None,
        claim: str,
        evidence_class: str,
        evidence_refs: Sequence[str] | None,
        targets: Sequence[str] | None,
        criteria: list[str] | None,
        confidence: float | None,
    ) -> dict[str, Any]:
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (claim, *(targets or ()), *(criteria or ()), *(evidence_refs or ())))
            found = self._log.find(opened, caller, mission_id)
            with self._log.reading(opened, found) as course:
                first = not course.rounds and not course.verified
            looked = self._look(opened, caller, found) if first else None
            second = self._second.is_set(opened)
            read: tuple[str, SecondReading] | None = None
            for last in (False, True):
                try:
                    with self._log.turn(opened, caller, found) as turn:
                        if looked is not None:
                            self._guarded(turn, looked)
                        judged = self._proving.verify(
                            turn,
                            claim,
                            label=evidence_class,
                            refs=evidence_refs,
                            targets=targets,
                            criteria=criteria,
                            confidence=confidence,
                            read=read,
                            second=second,
                        )
                        circled(turn)
                    break
                except ReaderNeeded as needed:
                    # Nothing was written: the reader is asked first, and then the claim is judged again with its answer.
                    if last:
                        raise Busy(
                            "the cited lines changed while they were read a second time", fix="run mission verify again"
                        ) from None
                    read = (needed.question, self._second.read(opened, needed.question))
            if judged.round is not None:
                self._control.said(opened, judged.round, because=judged.event.event_id, now=turn.now)
        return _verified(judged.result, judged.event, turn.course)

    # -- hand-over ---------------------------------------------------------------------------------------------------

    def handoff(
        self, caller: Caller, *, mission_id: str | None, summary: str | None, recipient: str | None, leave: bool
    ) -> dict[str, Any]:
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (summary, recipient))
            found = self._log.find(opened, caller, mission_id)
            looked = self._look(opened, caller, found)
            with self._log.turn(opened, caller, found) as turn:
                self._guarded(turn, looked)
                made = self._handing.handoff(turn, recipient=recipient, summary=summary or "", leave=leave)
        said = "\n".join(quoted(made.mission_summary.splitlines()))
        told = f"{made.handoff_id}\n{said}\ngo on with it: hindbrain mission resume {made.handoff_id}"
        return {"ok": True, **msgspec.to_builtins(made), "status": turn.course.status.value, "rendered": told}

    def resume(self, caller: Caller, *, mission_id: str) -> dict[str, Any]:
        """The same agent takes its own up again; another begins a child from the hand-over."""
        with self._desk.opened(caller) as opened:
            if mission_id.startswith("hnd_"):
                handoff = self._handing.given(opened, mission_id)
                if handoff.agent_id == caller.agent:
                    return self._own(opened, caller, handoff.mission_id)
                return self._child(opened, caller, handoff.mission_id, mission_id)
            found = self._log.find(opened, caller, mission_id)
            with self._log.reading(opened, found) as course:
                own = course.spec.agent_id == caller.agent
            return self._own(opened, caller, found) if own else self._child(opened, caller, found, None)

    def _own(self, opened: OpenBrain, caller: Caller, mission_id: str) -> dict[str, Any]:
        looked = self._look(opened, caller, mission_id)
        with self._log.turn(opened, caller, mission_id, over=True) as turn:
            resumed = self._handing.reopen(turn, looked.guard)
            self._guarded(turn, looked)
        shown = self.telling.state(opened, turn.course, events=10)
        answer = {**shown, "schema": "hindbrain-mission-resume-v1", "resumed": True}
        return {**answer, "changes": [msgspec.to_builtins(one) for one in resumed.changes]}

    def _child(self, opened: OpenBrain, caller: Caller, parent: str, handoff_id: str | None) -> dict[str, Any]:
        with self._log.reading(opened, parent) as course:
            spec = course.spec
        asked = Asked(
            task=spec.task,
            mode=spec.mode.value,
            repo=None,
            budget=msgspec.to_builtins(spec.budget),
            risk=spec.risk,
            criteria=tuple(one.criterion for one in spec.criteria),
            scope=spec.scope,
            federation_intent=spec.federation_intent,
        )
        looked = self._starting.look(caller, asked)
        where = {"handoff_id": handoff_id} if handoff_id is not None else {"parent_mission_id": parent}
        child = self._handing.child(opened, caller, guard=looked.guard, **where)
        answer = self._begun(opened, caller, replace(asked, changes=child.changes), looked, child.warnings)
        changes = [msgspec.to_builtins(one) for one in child.taken.changes]
        return {**answer, "schema": "hindbrain-mission-resume-v1", "resumed": False, "changes": changes}

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(
        self,
        caller: Caller,
        *,
        mission_id: str | None,
        summary: str | None,
        gaps: list[str] | None,
        force: bool,
        reason: str | None,
        write_light: bool,
    ) -> dict[str, Any]:
        if force and not (reason or "").strip():
            raise InvalidParams("closing by force needs a reason", fix="say why: reason")
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (summary, reason, *(gaps or ())))
            found = self._log.find(opened, caller, mission_id)
            looked = self._look(opened, caller, found)
            with self._log.turn(opened, caller, found, over=True) as turn:
                self._closing.check_open(turn)
                self._guarded(turn, looked)
                closed = self._closing.close(
                    turn, summary=summary or "", gaps=tuple(gaps or ()), forced=(reason or "") if force else None
                )
            return self._closing.told(opened, closed, write_light=write_light)

    def abandon(self, caller: Caller, *, mission_id: str | None, reason: str) -> dict[str, Any]:
        with self._desk.opened(caller) as opened:
            self._desk.check(opened, (reason,))
            found = self._log.find(opened, caller, mission_id)
            looked = self._look(opened, caller, found)
            with self._log.turn(opened, caller, found) as turn:
                self._guarded(turn, looked)
                closed = self._closing.abandon(turn, reason=reason)
            return self._closing.told(opened, closed, write_light=False)

    # -- the guard ---------------------------------------------------------------------------------------------------

    def recheck(self, caller: Caller) -> None:
        """The client says that its roots changed: look again for every active mission of this agent."""
        with self._desk.opened(caller) as opened:
            for head in opened.store.missions(agent=caller.agent, status=MissionStatus.ACTIVE.value, limit=100):
                looked = self._look(opened, caller, head.mission_id)
                with self._log.turn(opened, caller, head.mission_id) as turn:
                    self._guarded(turn, looked)

    def _look(self, opened: OpenBrain, caller: Caller, mission_id: str) -> Looked:
        """Look where the mission is. Git is asked for it, so nothing is held meanwhile."""
        with self._log.reading(opened, mission_id) as course:
            spec = course.spec
        return self._guard.look(caller, repo=spec.repo, federation_intent=spec.federation_intent)

    @staticmethod
    def _guarded(turn: Turn, looked: Looked) -> None:
        guarded(turn, looked, drift(turn.course.guard, looked.guard))


def _verified(result: VerifyResult, event: MissionEvent, course: Course) -> dict[str, Any]:
    text = f"{result.verdict} ({result.evidence_grade})"
    if result.missing:
        text += "\n" + "\n".join(quoted(f"missing: {one}" for one in result.missing))
    answer = {"ok": True, **msgspec.to_builtins(result), "event_id": event.event_id, "rendered": text}
    if course.control.round:
        answer["control"] = msgspec.to_builtins(course.control)
    return answer
