"""Starting: what a mission is given before anything is done: route, budget, guard, criteria, and what a hand-over brings."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.mission import Budget, MissionMode, MissionSpec
from hindbrain.domain.reading import read_criterion
from hindbrain.domain.task import Criterion
from hindbrain.domain.typed import converted
from hindbrain.engines.course import Course
from hindbrain.engines.moments import stamped
from hindbrain.policy.missions import BUDGETS, MODES, POLICY_VERSION, route_of
from hindbrain.policy.non_claims import STANDING
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.desk import Desk, chosen
from hindbrain.services.missions.faults import guarded
from hindbrain.services.missions.guard import Guard, Looked
from hindbrain.services.missions.log import Turn, new_id

__all__ = ["Asked", "Begun", "Starting"]

_RISKS = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A mission as somebody asks for it."""

    task: str
    mode: str
    repo: str | None = None
    budget: str | dict[str, Any] = "normal"
    risk: str = "medium"
    criteria: tuple[str, ...] = ()
    known_targets: tuple[str, ...] = ()
    scope: str | None = None
    non_goals: tuple[str, ...] = ()
    federation_intent: bool = False
    changes: dict[str, Any] = field(default_factory=dict)  # what a hand-over brings into the spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A mission that began."""

    course: Course
    looked: Looked


class Starting:
    """Begins missions."""

    def __init__(self, desk: Desk, guard: Guard) -> None:
        self._desk = desk
        self._guard = guard

    def begin(
        self,
        opened: OpenBrain,
        caller: Caller,
        asked: Asked,
        looked: Looked,
        warnings: tuple[str, ...] = (),
        then: Callable[[Turn], None] | None = None,
    ) -> Begun:
        """The guard is the first event; nothing of the graph was touched before it. `then` belongs to the same transaction."""
        spec = self._spec(opened, caller, asked, looked)
        with self._desk.log.begin(opened, caller, spec) as turn:
            guarded(turn, looked, warnings)
            if then is not None:
                then(turn)
        return Begun(course=turn.course, looked=looked)

    def look(self, caller: Caller, asked: Asked) -> Looked:
        return self._guard.look(caller, repo=asked.repo, federation_intent=asked.federation_intent)

    def _spec(self, opened: OpenBrain, caller: Caller, asked: Asked, looked: Looked) -> MissionSpec:
        mode = MissionMode(chosen([one.value for one in MissionMode], asked.mode, "mode"))
        chosen(_RISKS, asked.risk, "risk")
        if not asked.task.strip():
            raise InvalidParams("a mission needs a task", fix="say in a sentence what is to be found out or done")
        if asked.repo is not None and not asked.repo.strip():
            raise InvalidParams("the repository is empty", fix="leave it out for the caller's own")
        budget, preset = _budget(asked.budget)
        texts = (asked.task, asked.scope, *asked.criteria, *asked.known_targets, *asked.non_goals)
        self._desk.check(opened, texts)
        now = self._desk.log.now()
        made = {
            "mission_id": new_id("msn", now),
            "agent_id": caller.agent,
            "repo": looked.guard.repo,
            "task": asked.task.strip(),
            "mode": mode,
            "route": route_of(mode, preset, asked.risk),
            "risk": asked.risk,
            "budget": budget,
            "criteria": _criteria(mode, asked.criteria),
            "created_at": stamped(now),
            "policy_version": POLICY_VERSION,
            "known_targets": asked.known_targets,
            "federation_intent": asked.federation_intent,
            "scope": asked.scope,
            "non_goals": (*MODES[mode].non_goals, *asked.non_goals),
            "non_claims": STANDING,
            "trace_id": secrets.token_hex(16),
        }
        brought = {name: value for name, value in asked.changes.items() if value}
        if asked.known_targets:
            brought["known_targets"] = (*asked.known_targets, *brought.get("known_targets", ()))
        return converted({**made, **brought}, MissionSpec, from_attributes=True)


def _budget(told: str | dict[str, Any]) -> tuple[Budget, str]:
    """The budget, and the preset whose route it takes: the largest whose calls it reaches."""
    if isinstance(told, str):
        name = chosen(BUDGETS, told, "budget")
        return BUDGETS[name], name
    try:
        budget = converted({**msgspec.structs.asdict(BUDGETS["normal"]), **told}, Budget)
    except msgspec.ValidationError as wrong:
        raise InvalidParams(
            f"the budget is not understood: {wrong}",
            fix=f"use one of {', '.join(BUDGETS)}, or tool_calls_max, files_read_max and soft_deadline_ms from 1 on",
        ) from wrong
    reached = [name for name, one in BUDGETS.items() if one.tool_calls_max <= budget.tool_calls_max]
    return budget, reached[-1] if reached else next(iter(BUDGETS))


def _criteria(mode: MissionMode, told: tuple[str, ...]) -> tuple[Criterion, ...]:
    if not told and not MODES[mode].criteria:
        raise InvalidParams(
            f"a mission of mode {mode.value} is measured by its criteria, and none are given",
            fix="say what has to hold at the end: criteria",
        )
    return tuple(read_criterion(one) for one in told or MODES[mode].criteria)
