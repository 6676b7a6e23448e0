"""R2, the planner: turns a task into criteria and subtasks, and a directive into another plan. It follows the directive, computes
no loss, decides on no replan, and writes no memory."""

import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from hindbrain.domain.control import GracefulFailureNote, GracefulFailureRequest, PlanDirective, PlanFailure
from hindbrain.domain.errors import BoundaryViolation, ModelFailed
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import MemoryRecall, RecallMore
from hindbrain.domain.plan import Draft, Plan, criteria_of
from hindbrain.domain.task import (
    DispatchManifest,
    Guards,
    ManifestMore,
    MustNot,
    OverriddenRule,
    SubTask,
    SubTaskMore,
    TaskSpec,
)
from hindbrain.engines.calibration import Calibration, calibrated, forbidden_by, told
from hindbrain.engines.moments import stamped
from hindbrain.engines.next_moves import moves_after, partial_of
from hindbrain.engines.plan_check import EarlierPlan, PlanRules, acts_of, checked, fingerprint, remembered, tools_of
from hindbrain.engines.planning import Act, Reputation, Request, acts_to_ask, propose, request_of
from hindbrain.engines.slug import ENTITY
from hindbrain.engines.ways import Way
from hindbrain.policy.control import NEXT_MOVES
from hindbrain.policy.planning import GENERATIONS, GUIDANCE, TASKS_KEPT
from hindbrain.policy.prompts import graceful_prompt, planning_prompt
from hindbrain.policy.tools import Tool
from hindbrain.services.control.ports import Heard, Mind, Voice
from hindbrain.services.control.recalling import Recollection, recollect, reputation_of, spaces_of

__all__ = ["Moves", "Planner"]

_MEMORY_OFF = "memory is off"
_NO_PLAN = "no plan passed its check"


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked for when a task is given up."""

    next_moves: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Task:
    """What the planner knows of one task. A directive is applied to its own."""

    spec: TaskSpec
    request: Request
    round: int = 0
    earlier: list[EarlierPlan] = field(default_factory=list)
    ways: tuple[Way, ...] = ()
    gone: set[str] = field(default_factory=set)  # the ways of all rounds, in their words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """What holds for one plan of a task."""

    task: _Task
    directive: PlanDirective | None
    rules: PlanRules
    calibration: Calibration
    constraints: str
    heard: Heard


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A plan that passed its check."""

    plan: Plan
    ways: tuple[Way, ...] = ()
    overridden: tuple[OverriddenRule, ...] = ()


class Planner:
    """The actuator of the medium loop."""

    hears = frozenset({MessageType.TASK_SPEC, MessageType.PLAN_DIRECTIVE, MessageType.GRACEFUL_FAILURE_REQUEST})

    def __init__(
        self,
        voice: Voice,
        *,
        tools: Mapping[str, Tool],
        mind: Mind | None = None,
        memory: bool = True,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        if voice is None:
            raise BoundaryViolation("a planner without a voice", fix="Build the bus first, then the roles.")
        self._voice = voice
        self._tools = tools
        self._mind = mind
        self._memory = memory
        self._new_id = new_id
        self._tasks: OrderedDict[str, _Task] = OrderedDict()

    def hear(self, heard: Heard) -> None:
        """Plan a new task, plan an old one anew, or say what is left to do."""
        record = heard.record
        if isinstance(record, TaskSpec):
            self._tasks[record.task_id] = _Task(spec=record, request=request_of(record))
            while len(self._tasks) > TASKS_KEPT:
                self._tasks.popitem(last=False)
            self._plan(self._tasks[record.task_id], None, heard)
        elif isinstance(record, PlanDirective):
            task = self._tasks.get(record.task_id)
            if task is None:
                self._fail(record.task_id, record.x.round, "no such task is being planned", (), heard)
                return
            task.round += 1
            self._plan(task, record, heard)
        elif isinstance(record, GracefulFailureRequest):
            self._give_up(record, heard)

    # -- one plan ------------------------------------------------------------------------------------------------------

    def _plan(self, task: _Task, directive: PlanDirective | None, heard: Heard) -> None:
        recollection = recollect(self._voice, task.spec, heard) if self._memory else Recollection(pairs=(), error=_MEMORY_OFF)
        calibration = calibrated(recollection.pairs, tools=self._tools)
        tools, targets = (directive.blocked_tools, directive.blocked_targets) if directive is not None else ((), ())
        rules = PlanRules(
            intent=task.spec.intent,
            tools={name: tool.class_ for name, tool in self._tools.items()},
            blocked_tools=tools,
            blocked_targets=targets,
            earlier=tuple(task.earlier),
            directive=directive.directive if directive is not None else "",
        )
        now = _Round(
            task=task,
            directive=directive,
            rules=rules,
            calibration=calibration,
            constraints=told(calibration, tools, targets),
            heard=heard,
        )
        recall_id = self._tell_recall(now, recollection)
        try:
            made, findings = self._by_model(now)
            if made is None and not findings:
                made, findings = self._by_rules(now)
        except ModelFailed as failure:
            made, findings = None, (failure.message,)
        if made is None:
            self._fail(task.spec.task_id, task.round, _NO_PLAN, findings, heard)
            return
        task.earlier.append(remembered(made.plan))
        task.ways = made.ways
        task.gone.update(way.says for way in made.ways)
        self._dispatch(now, made, recall_id)

    def _by_model(self, now: _Round) -> tuple[_Made | None, tuple[str, ...]]:
        """A plan of the model. Neither plan nor findings: there is no model, and the rules plan."""
        findings: tuple[str, ...] = ()
        for _ in range(GENERATIONS):
            system, user = self._prompt(now, findings)
            thought = (
                None
                if self._mind is None
                else self._mind.think(
                    Role.PLANNER, task_id=now.task.spec.task_id, system=system, user=user, schema=Plan, max_tokens=4000
                )
            )
            if thought is None:
                return None, ()
            plan: Plan = thought.data
            acts = tuple(dict.fromkeys(act for draft in plan.subtasks for act in acts_of(draft)))
            forbidden = (*forbidden_by(now.calibration, acts), *self._reputation(now, acts).forbidden())
            findings = checked(plan, replace(now.rules, forbidden=forbidden))
            if not findings:
                return _Made(plan=plan, overridden=now.calibration.overridden), ()
        return None, findings

    def _by_rules(self, now: _Round) -> tuple[_Made | None, tuple[str, ...]]:
        acts = acts_to_ask(now.task.request)
        reputation = self._reputation(now, acts)
        proposal = propose(
            now.task.request,
            spec=now.task.spec,
            rules=replace(now.rules, forbidden=(*forbidden_by(now.calibration, acts), *reputation.forbidden())),
            calibration=now.calibration,
            reputation=reputation,
            before=now.task.ways,
        )
        if proposal.plan is None:
            return None, proposal.findings
        overridden = {one.id: one for one in (*now.calibration.overridden, *proposal.yielded)}
        return _Made(plan=proposal.plan, ways=proposal.ways, overridden=tuple(overridden.values())), ()

    def _reputation(self, now: _Round, acts: Sequence[Act]) -> Reputation:
        if not self._memory:
            return Reputation()
        used = tuple(dict.fromkeys(tool for tool, _ in acts))
        return reputation_of(self._voice, now.task.spec.task_id, acts, used, now.heard)

    def _prompt(self, now: _Round, findings: Sequence[str]) -> tuple[str, str]:
        spec, directive = now.task.spec, now.directive
        told_why = (
            {}
            if directive is None
            else {
                "directive": directive.directive,
                "failure_class": directive.failure_class,
                "failed_criterion": directive.failed_criterion,
                "rationale": directive.rationale,
            }
        )
        return planning_prompt(
            today=self._today(),
            intent=spec.intent,
            raw_input=spec.raw_input,
            scope=spec.constraints.scope,
            deadline=spec.constraints.deadline,
            clarifications=[(one.q, one.a) for one in spec.x.clarifications],
            tools={name: tool.about for name, tool in self._tools.items()},
            constraints=now.constraints,
            focus=directive.x.focus_targets if directive is not None else (),
            findings=findings,
            **told_why,
        )

    # -- what is said ----------------------------------------------------------------------------------------------------

    def _tell_recall(self, now: _Round, recollection: Recollection) -> str:
        first = recollection.pairs[0].potentials if recollection.pairs else None
        found = now.calibration
        return self._voice.say(
            Role.MEMORY,
            MemoryRecall(
                task_id=now.task.spec.task_id,
                space=spaces_of(now.task.spec)[0],
                entity=ENTITY,
                sops=len(found.sop_ids),
                recent=len(found.megram_ids),
                attention=first.attention if first is not None else 0.0,
                decision=first.decision if first is not None else 0.0,
                action=first.action if first is not None else "Ignore",
                constraints=now.constraints,
                x=RecallMore(
                    sop_ids=found.sop_ids,
                    megram_ids=found.megram_ids,
                    law_conflicts=found.law_conflicts,
                    error=recollection.error,
                ),
            ),
            task_id=now.task.spec.task_id,
            because=now.heard,
        )

    def _dispatch(self, now: _Round, made: _Made, recall_id: str) -> None:
        """The manifest first, so that who collects outcomes knows how many there will be."""
        spec = now.task.spec
        subtasks = tuple(self._subtask(now, draft) for draft in made.plan.subtasks)
        self._voice.say(
            Role.META_VALIDATOR,
            DispatchManifest(
                task_id=spec.task_id,
                subtask_ids=tuple(one.subtask_id for one in subtasks),
                dispatched_at=stamped(self._voice.now()),
                task_criteria=criteria_of(made.plan.task_criteria),
                task_spec=spec,
                x=ManifestMore(
                    round=now.task.round,
                    plan_fingerprint=fingerprint(made.plan),
                    memory_recall_id=recall_id,
                    sops_used=now.calibration.sop_ids,
                    overridden=made.overridden,
                ),
            ),
            task_id=spec.task_id,
            because=now.heard,
        )
        for one in subtasks:
            self._voice.say(Role.EXECUTOR, one, task_id=spec.task_id, because=now.heard)

    def _subtask(self, now: _Round, draft: Draft) -> SubTask:
        guidance = "" if now.directive is None else GUIDANCE[now.directive.failure_class]
        return SubTask(
            subtask_id=self._new_id(),
            parent_task_id=now.task.spec.task_id,
            intent=draft.intent,
            success_criteria=criteria_of(draft.success_criteria),
            context="\n\n".join(part for part in (draft.context, guidance, now.constraints) if part),
            deadline=draft.deadline or now.task.spec.constraints.deadline,
            sequence=draft.sequence,
            x=SubTaskMore(
                tool_hints=tools_of(draft),
                steps=draft.steps,
                must_not=MustNot(tools=now.rules.blocked_tools, targets=now.rules.blocked_targets),
                guards=Guards(caution=now.calibration.caution),
            ),
        )

    def _fail(self, task_id: str, round_: int, reason: str, findings: tuple[str, ...], heard: Heard) -> None:
        self._voice.say(
            Role.SOLVER,
            PlanFailure(task_id=task_id, round=round_, reason=reason, validator_findings=findings),
            task_id=task_id,
            because=heard,
        )

    def _give_up(self, request: GracefulFailureRequest, heard: Heard) -> None:
        """What was achieved and what is left to do. The task ends after this, so it is no longer kept."""
        task = self._tasks.pop(request.task_id, None)
        self._voice.say(
            Role.SOLVER,
            GracefulFailureNote(
                task_id=request.task_id, partial=partial_of(request.outcomes), next_moves=self._moves(request, task)
            ),
            task_id=request.task_id,
            because=heard,
            correlation=heard.message.correlation_id,
        )

    def _moves(self, request: GracefulFailureRequest, task: _Task | None) -> tuple[str, ...]:
        """Of the model where one answers in time and with enough of them, else by rules."""
        by_rules = (
            moves_after(request.outcomes, task.request.goals, task.gone, task.request.refused)
            if task is not None
            else moves_after(request.outcomes)
        )
        if self._mind is None:
            return by_rules
        outcomes = [f"{one.status}: {one.intent}. {one.failure_reason or ''}" for one in request.outcomes]
        system, user = graceful_prompt(
            today=self._today(), intent=task.spec.intent if task is not None else request.task_id, outcomes=outcomes
        )
        try:
            thought = self._mind.think(
                Role.PLANNER,
                task_id=request.task_id,
                system=system,
                user=user,
                schema=Moves,
                max_tokens=600,
                timeout_s=request.deadline_ms / 1000,
            )
        except ModelFailed:
            return by_rules
        moves = tuple(one.strip() for one in thought.data.next_moves if one.strip()) if thought is not None else ()
        least, most = NEXT_MOVES
        return moves[:most] if len(moves) >= least else by_rules

    def _today(self) -> str:
        return stamped(self._voice.now())[:10]
