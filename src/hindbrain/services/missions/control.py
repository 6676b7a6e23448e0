"""Mission control: a mission on the control loop. What an agent does goes over the same bus as a task of ours, the same steps
decide, and what a mission learned becomes the same experience."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hindbrain.domain.experience import Action
from hindbrain.domain.message import Role
from hindbrain.domain.mission import ControlState, MissionEvent, NextMove
from hindbrain.domain.task import Constraints, DispatchManifest, ManifestMore, SubTask, TaskSpec, TaskSpecMore
from hindbrain.engines.course import Course
from hindbrain.engines.directive import rationale
from hindbrain.engines.gradient import Macro
from hindbrain.engines.imprint import imprints
from hindbrain.engines.mission_rounds import Round, control_of, dead_imprints, ended_by, round_of
from hindbrain.engines.moments import stamped
from hindbrain.engines.slug import ENTITY, intent_space, path_entity
from hindbrain.engines.solving import Decision
from hindbrain.policy.control import Params
from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.lines import Lines
from hindbrain.services.control.params import Parameters
from hindbrain.services.control.saying import directive_of, final_of, notes_of
from hindbrain.services.experience.instincts import Instincts
from hindbrain.services.experience.room import ExperienceRoom

__all__ = ["Lesson", "Lessons", "MissionControl"]

_WRITTEN_S = 10.0  # what is said at the end of a mission is on disk before its close is answered
_ID = 12
_DOCTRINE = 5
_NEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One thing experience says against doing something here."""

    item: str
    kind: str  # tool, tool_family or target
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """What experience says to a mission before it begins: what to avoid, what to prefer, rules, and the newest episodes."""

    avoid: tuple[Lesson, ...] = ()
    beat: dict[str, list[dict[str, Any]]] | None = None
    rules: tuple[dict[str, Any], ...] = ()
    newest: tuple[str, ...] = ()
    potentials: dict[str, Any] | None = None

    @property
    def doctrine(self) -> tuple[str, ...]:
        """Rules as lines, each with the megram it is."""
        return tuple(f"{one['content']} [{one['id'][:_ID]}]" for one in self.rules)


class MissionControl:
    """Speaks for a mission's roles, and asks experience for it."""

    def __init__(self, lines: Lines, base: Params, experience: ExperienceRoom, instincts: Instincts) -> None:
        self._lines = lines
        self._base = base
        self._experience = experience
        self._instincts = instincts

    def params(self, opened: OpenBrain, course: Course) -> Params:
        return Parameters(self._base, opened.store).of(course.spec.mode.value)

    # -- before ------------------------------------------------------------------------------------------------------

    def lessons(self, opened: OpenBrain, task: str) -> Lessons:
        """What is known of this intent, here."""
        beat = self._instincts.beat(opened.brain, task)
        space = intent_space(task)
        room = self._experience.of(opened, self._lines.of(opened).journal)
        rules = room.query_c(space, ENTITY, by=Role.PLANNER)
        sums = room.query_mk(space, ENTITY, by=Role.PLANNER)
        newest = room.query_recent(space, ENTITY, _NEWEST, by=Role.PLANNER)
        avoid = [_lesson(one) for one in beat.get("avoid", []) if one["space"] != space]
        if sums.action == Action.AVOID.value:
            why = newest[0].content if newest else "it was given up before"
            avoid.append(Lesson(item=task, kind="target", reason=f"this went wrong before: {why}"))
        return Lessons(
            avoid=tuple(avoid),
            beat=beat,
            rules=tuple({"id": one.id, "content": one.content, "sigma": one.sigma} for one in rules[:_DOCTRINE]),
            newest=tuple(one.content for one in newest),
            potentials=msgspec.to_builtins(sums),
        )

    def begun(self, opened: OpenBrain, course: Course) -> None:
        """Tell the bus what a mission is to reach."""
        spec = course.spec
        task = TaskSpec(
            task_id=spec.mission_id,
            intent=spec.task,
            raw_input=spec.task,
            constraints=Constraints(scope=spec.scope),
            x=TaskSpecMore(task_class=spec.mode.value, mission_id=spec.mission_id),
        )
        bus = self._lines.of(opened).bus
        bus.voice(Role.PERCEIVER).say(Role.PLANNER, task, task_id=spec.mission_id)

    def moved(self, opened: OpenBrain, course: Course, told: NextMove) -> None:
        """Tell the bus the move that was given out: the subtask of whoever carries the mission out."""
        subtask = SubTask(
            subtask_id=f"{course.spec.mission_id}.{told.step_id}",
            parent_task_id=course.spec.mission_id,
            intent=f"{told.move.type} {told.move.target}".strip(),
            success_criteria=course.spec.criteria,
            context=told.move.why,
            sequence=max(1, told.step_id),
        )
        self._lines.of(opened).bus.voice(Role.PLANNER).say(Role.EXECUTOR, subtask, task_id=course.spec.mission_id)

    # -- rounds ------------------------------------------------------------------------------------------------------

    def round(self, opened: OpenBrain, course: Course, claim_id: str, events: Sequence[MissionEvent], now: int) -> Round:
        """Decide after a verification that failed. Pure; `said` tells it once it is durable."""
        return round_of(course, claim_id, events, now=now, params=self.params(opened, course))

    @staticmethod
    def state(made: Round) -> ControlState:
        decision = made.decision
        told = "" if decision.terminal else _why(decision)
        return control_of(decision, told)

    def said(self, opened: OpenBrain, made: Round, *, because: str, now: int) -> None:
        """Tell the bus of a round, and memory what it taught."""
        bus, task_id = self._lines.of(opened).bus, made.request.task_id
        for outcome in made.request.outcomes:  # what was to be shown in this round, told with its end
            manifest = DispatchManifest(
                task_id=task_id,
                subtask_ids=(outcome.subtask_id,),
                dispatched_at=stamped(now),
                task_criteria=outcome.success_criteria,
                x=ManifestMore(round=made.request.x.round),
            )
            subtask = SubTask(
                subtask_id=outcome.subtask_id,
                parent_task_id=task_id,
                intent=outcome.intent,
                success_criteria=outcome.success_criteria,
            )
            bus.voice(Role.PLANNER).say(Role.META_VALIDATOR, manifest, task_id=task_id)
            bus.voice(Role.PLANNER).say(Role.EXECUTOR, subtask, task_id=task_id)
        bus.voice(Role.EXECUTOR).say(Role.AGENT_VALIDATOR, made.execution, task_id=task_id)
        for outcome in made.request.outcomes:
            bus.voice(Role.AGENT_VALIDATOR).say(Role.META_VALIDATOR, outcome, task_id=task_id)
        bus.voice(Role.META_VALIDATOR).say(Role.SOLVER, made.request, task_id=task_id)
        if made.decision.terminal:
            return  # a mission ends when its owner closes it: until then this is advice
        bus.voice(Role.SOLVER).say(Role.PLANNER, directive_of(made.decision), task_id=task_id)
        for note in notes_of(imprints(made.decision).imprints, made.decision, because=because, at=stamped(now)):
            bus.voice(Role.SOLVER).say(Role.MEMORY, note, task_id=task_id)

    # -- the end -----------------------------------------------------------------------------------------------------

    def ending(
        self, opened: OpenBrain, course: Course, events: Sequence[MissionEvent], now: int, *, given_up: str | None
    ) -> Decision:
        return ended_by(course, events, now=now, params=self.params(opened, course), given_up=given_up)

    def ended(self, opened: OpenBrain, course: Course, decision: Decision, *, summary: str, because: str, now: int) -> None:
        """The final result, the experience of how it ended and of its dead ends, and what speaks against rules that misled it."""
        line, task_id = self._lines.of(opened), course.spec.mission_id
        learned = (*imprints(decision, output=summary).imprints, *dead_imprints(course))
        for note in notes_of(learned, decision, because=because, at=stamped(now)):
            line.bus.voice(Role.SOLVER).say(Role.MEMORY, note, task_id=task_id)
        room = self._experience.of(opened, line.journal)
        if decision.directive == Macro.ABANDON:
            for rule, kept in course.followed.items():
                if kept:
                    room.record_negative_feedback(rule, f"followed in {course.spec.task}, which was given up", by=Role.SOLVER)
        final = final_of(decision, summary=summary, output=None)
        line.bus.voice(Role.SOLVER).say(Role.USER, final, task_id=task_id)
        line.journal.drain(_WRITTEN_S)


def _why(decision: Decision) -> str:
    after = decision.after
    return rationale(Macro(decision.directive), decision.loss, decision.grad_l, decision.measured, after.gap, decision.params)


def _lesson(told: dict[str, Any]) -> Lesson:
    """An instinct as something not to do: a tool with a target, a tool, or what the task is about."""
    space, entity = str(told["space"]), str(told["entity"])
    item, kind = (space.removeprefix("tool:"), "tool_family") if space.startswith("tool:") else (space, "target")
    if entity.startswith("path:") and entity != path_entity(None):
        item, kind = entity.removeprefix("path:"), "target"
    return Lesson(item=item, kind=kind, reason=str(told.get("text") or told.get("lesson") or "experience advises against it"))
