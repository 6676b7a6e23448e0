"""Advising: the one next move of a mission, and what not to do meanwhile: under the controller's directive, the loops, the guard
and what experience forbids."""

from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.mission import NextMove
from hindbrain.engines.course import Course
from hindbrain.engines.mission_report import said_by
from hindbrain.engines.mission_router import Facts, Routed, explained, route
from hindbrain.policy.non_claims import STANDING
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.control import Lessons, MissionControl
from hindbrain.services.missions.desk import Desk, check_meant
from hindbrain.services.missions.log import Turn
from hindbrain.services.missions.recording import Recording
from hindbrain.services.missions.surroundings import facts_of
from hindbrain.services.missions.telling import rendered_next

__all__ = ["Advising"]


class Advising:
    """Says what is next."""

    def __init__(self, desk: Desk, control: MissionControl, recording: Recording) -> None:
        self._desk = desk
        self._log = desk.log
        self._control = control
        self._recording = recording

    def next(self, caller: Caller, *, mission_id: str | None, last_event: dict[str, Any] | None) -> dict[str, Any]:
        """The one next move, under the controller's directive, the loops, the guard and what experience forbids."""
        report = said_by({}, last_event) if last_event is not None else None
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id)
            with self._log.turn(opened, caller, found) as turn:
                if report is not None:
                    check_meant(found, last_event)
                    self._desk.check_values(opened, report.texts)
                    self._recording.reported(turn, report)
                course = turn.course
                lessons = self._control.lessons(opened, course.spec.task)
                routed = route(self._facts(opened, course, lessons, now=turn.now))
                told = self._move(turn, routed, lessons)
            self._control.moved(opened, course, told)
        answer = {"ok": True, **msgspec.to_builtins(told), "event_count": course.seq}
        return {**answer, "rendered": rendered_next(told)}

    @staticmethod
    def _move(turn: Turn, routed: Routed, lessons: Lessons) -> NextMove:
        course = turn.course
        step = turn.step(routed.policy.do_not, routed.rule)
        return NextMove(
            mission_id=course.spec.mission_id,
            step_id=step,
            phase=routed.phase,
            route=routed.route,
            move=routed.move,
            policy=routed.policy,
            directive=course.control.directive,
            prev_directive=course.control.prev_directive if course.control.round else None,
            loop_warnings=tuple(one.warning for one in course.loops.active()),
            soft_warning=routed.soft_warning,
            doctrine=lessons.doctrine,
            non_claims=STANDING,
        )

    def explain(self, caller: Caller, *, mission_id: str | None) -> dict[str, Any]:
        """Which rule gives the next move, and by which facts. Writes nothing."""
        with self._desk.opened(caller) as opened:
            found = self._log.find(opened, caller, mission_id)
            with self._log.reading(opened, found) as course:
                lessons = self._control.lessons(opened, course.spec.task)
                told = explained(self._facts(opened, course, lessons))
        text = f"{told['rule']} {told['name']}: {told['because']}"
        return {"ok": True, "schema": "hindbrain-route-explain-v1", "mission_id": found, **told, "rendered": text}

    def next_of(self, opened: OpenBrain, course: Course, now: int) -> dict[str, Any]:
        """The next move as a hand-over carries it."""
        routed = route(self._facts(opened, course, self._control.lessons(opened, course.spec.task), now=now))
        return {
            "move": msgspec.to_builtins(routed.move),
            "do_not": msgspec.to_builtins(routed.policy.do_not),
            "soft_warning": routed.soft_warning,
        }

    def routed(self, opened: OpenBrain, course: Course, lessons: Lessons) -> Routed:
        """The move as it would be given out now."""
        return route(self._facts(opened, course, lessons))

    def _facts(self, opened: OpenBrain, course: Course, lessons: Lessons, *, now: int | None = None) -> Facts:
        avoid = tuple((one.item, one.kind, one.reason) for one in lessons.avoid)
        graph = opened.brain.root is not None
        return facts_of(course, self._log.now() if now is None else now, experience=avoid, graph=graph)
