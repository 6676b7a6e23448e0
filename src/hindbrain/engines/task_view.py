"""How a task stands, told from its messages: what was asked, the plan, each round with its loss, who is waited for, the end."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hindbrain.domain.message import BusMessage, MessageType

__all__ = ["Part", "Plan", "Question", "Round", "TaskView", "viewed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One decision of the controller."""

    directive: str
    prev_directive: str
    distance: float
    process: float
    budget: float
    loss: float
    gradient: float
    rationale: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that waits for a person: `confirm` an act, or `clarify` a goal."""

    kind: str
    request_id: str
    at: str  # when it was asked
    correlation: str | None
    texts: tuple[str, ...]
    tool: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One subtask of a plan. `state` is open, tried, matched or failed."""

    intent: str
    criteria: tuple[str, ...]
    state: str = "open"
    why: str = ""  # it failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan that is worked on, or was worked on last."""

    number: int  # the first is 1
    criteria: tuple[str, ...]  # of the whole
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task as its messages tell it."""

    goal: str
    began_at: str
    plan: Plan | None
    rounds: tuple[Round, ...]
    attempts: int
    waiting: tuple[Question, ...]
    final: dict[str, Any] | None
    cursor: int
    roles: tuple[str, ...]  # who spoke, the last one last


def viewed(messages: Iterable[BusMessage]) -> TaskView:
    """Read a task's messages, in order."""
    goal = began = ""
    planning = _Planning()
    rounds: list[Round] = []
    waiting: dict[str, Question] = {}
    final: dict[str, Any] | None = None
    attempts = cursor = 0
    roles: list[str] = []
    for message in messages:
        cursor, payload = message.seq, message.payload
        began = began or message.timestamp
        if message.sender.value in roles:
            roles.remove(message.sender.value)
        roles.append(message.sender.value)
        if "refused" in payload:
            continue
        planning.heard(message)
        match message.type:
            case MessageType.TASK_SPEC:
                goal = goal or str(payload["raw_input"])
            case MessageType.EXECUTION_RESULT:
                attempts += 1
            case MessageType.PLAN_DIRECTIVE | MessageType.FINAL_RESULT:
                rounds.append(_round(message))
                final = payload if message.type is MessageType.FINAL_RESULT else final
            case MessageType.CONFIRMATION_REQUEST | MessageType.CLARIFICATION_REQUEST:
                waiting[payload["request_id"]] = _question(message)
            case MessageType.CONFIRMATION_ANSWER | MessageType.CLARIFICATION_ANSWER:
                waiting.pop(payload["request_id"], None)
            case _:
                continue
    return TaskView(
        goal=goal,
        began_at=began,
        plan=planning.plan,
        rounds=tuple(rounds),
        attempts=attempts,
        waiting=tuple(waiting.values()) if final is None else (),
        final=final,
        cursor=cursor,
        roles=tuple(roles),
    )


class _Planning:
    """The latest plan, as the messages about it come."""

    def __init__(self) -> None:
        self._number = 0
        self._criteria: tuple[str, ...] = ()
        self._parts: dict[str, Part] = {}

    @property
    def plan(self) -> Plan | None:
        if not self._number:
            return None
        return Plan(number=self._number, criteria=self._criteria, parts=tuple(self._parts.values()))

    def heard(self, message: BusMessage) -> None:
        told = message.payload
        match message.type:
            case MessageType.DISPATCH_MANIFEST:
                self._number += 1
                self._criteria = _criteria(told["task_criteria"])
                self._parts = {name: Part(intent="", criteria=()) for name in told["subtask_ids"]}
            case MessageType.SUB_TASK:
                made = Part(intent=told["intent"], criteria=_criteria(told["success_criteria"]))
                self._parts[told["subtask_id"]] = made
            case MessageType.EXECUTION_RESULT:
                self._moved(told["subtask_id"], state="tried")
            case MessageType.SUB_TASK_OUTCOME:
                self._moved(told["subtask_id"], state=told["status"], why=told.get("failure_reason") or "")
            case _:
                return

    def _moved(self, name: str, **changes: str) -> None:
        if name in self._parts:  # one of an earlier plan has no part in this one
            self._parts[name] = replace(self._parts[name], **changes)  # type: ignore[arg-type]  # all of them are texts


def _criteria(told: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(str(one["criterion"]) for one in told)


def _round(message: BusMessage) -> Round:
    told = message.payload
    return Round(
        directive=told["directive"],
        prev_directive=told["prev_directive"],
        distance=told["loss"]["D"],
        process=told["loss"]["P"],
        budget=told["loss"]["Omega"],
        loss=told["loss"]["L"],
        gradient=told["grad_l"],
        rationale=told.get("rationale") or told.get("summary", ""),
        at=message.timestamp,
    )


def _question(message: BusMessage) -> Question:
    told = message.payload
    confirm = message.type is MessageType.CONFIRMATION_REQUEST
    return Question(
        kind="confirm" if confirm else "clarify",
        request_id=told["request_id"],
        at=message.timestamp,
        correlation=message.correlation_id,
        texts=(told["action"],) if confirm else tuple(told["questions"]),
        tool=told.get("tool", ""),
        why=told.get("why", ""),
    )
