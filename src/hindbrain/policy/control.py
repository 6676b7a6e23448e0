"""Control policy: who may say what to whom, and the numbers by which the controller decides, each with its reason."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.message import MessageType, Role

__all__ = [
    "CONSUMER_LAG",
    "DEFAULTS",
    "JOURNAL_BATCH",
    "JOURNAL_OVERFLOW",
    "JOURNAL_QUEUE",
    "JOURNAL_RETRY_S",
    "PATHS",
    "Params",
]

_U, _R1, _R2, _R3, _R4A = Role.USER, Role.PERCEIVER, Role.PLANNER, Role.EXECUTOR, Role.AGENT_VALIDATOR
_R4B, _R5, _R6, _R7 = Role.META_VALIDATOR, Role.MEMORY, Role.AUDITOR, Role.SOLVER

# The one path of each kind of message. What takes another is kept, delivered to nobody and named to the auditor.
PATHS: Mapping[MessageType, tuple[Role, Role]] = {
    MessageType.TASK_SPEC: (_R1, _R2),
    MessageType.CLARIFICATION_REQUEST: (_R1, _U),
    MessageType.CLARIFICATION_ANSWER: (_U, _R1),
    MessageType.MEMORY_QUERY: (_R2, _R5),
    MessageType.MEMORY_RESPONSE: (_R5, _R2),
    MessageType.MEMORY_RECALL: (_R2, _R5),
    MessageType.DISPATCH_MANIFEST: (_R2, _R4B),
    MessageType.SUB_TASK: (_R2, _R3),
    MessageType.EXECUTION_RESULT: (_R3, _R4A),
    MessageType.CORRECTION_SIGNAL: (_R4A, _R3),
    MessageType.CONFIRMATION_REQUEST: (_R3, _U),
    MessageType.CONFIRMATION_ANSWER: (_U, _R3),
    MessageType.SUB_TASK_OUTCOME: (_R4A, _R4B),
    MessageType.REPLAN_REQUEST: (_R4B, _R7),
    MessageType.OUTCOME_SUMMARY: (_R4B, _R7),
    MessageType.PLAN_DIRECTIVE: (_R7, _R2),
    MessageType.GRACEFUL_FAILURE_REQUEST: (_R7, _R2),
    MessageType.PLAN_FAILURE: (_R2, _R7),
    MessageType.GRACEFUL_FAILURE_NOTE: (_R2, _R7),
    MessageType.MEGRAM: (_R7, _R5),
    MessageType.FINAL_RESULT: (_R7, _U),
    MessageType.CANCEL: (_U, _R7),
    MessageType.AUDIT_QUERY: (_U, _R6),
    MessageType.AUDIT_REPORT: (_R6, _U),
}

# What waits to be written: experience may be dropped beyond queue and overflow, which is counted; messages never are.
JOURNAL_QUEUE = 1_024
JOURNAL_OVERFLOW = 100_000
JOURNAL_BATCH = 500  # writes in one transaction: one sync for all of them
JOURNAL_RETRY_S = 0.25  # until a store that takes nothing is tried again

CONSUMER_LAG = 256  # messages behind, from which a reader is named as slow; it still gets all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The numbers in force for one task. Settings name them `ggs.…`, `r4a.…` and `r3.…`."""

    alpha: float = 0.6  # weight of distance
    beta: float = 0.3  # weight of the process, before it shrinks with the budget
    lam: float = 0.4  # weight of the budget that is used (`ggs.lambda`)
    w1: float = 0.6  # share of replans in the budget
    w2: float = 0.4  # share of time in the budget
    epsilon: float = 0.1  # a smaller change of loss is no signal
    delta: float = 0.3  # distance at or below it is good enough
    rho: float = 0.5  # above it the approach is at fault, not the surroundings
    theta: float = 0.8  # budget at or above it is spent
    time_budget_ms: int = 300_000
    max_replans: int = 3
    law2_rounds: int = 2  # worsening rounds in a row that end a task
    max_retries: int = 2  # corrections of one subtask (`r4a.max_retries`)
    max_tool_calls: int = 10  # of one attempt (`r3.max_tool_calls`)
    gradient_basis: str = "total"  # or `quality`: the budget held at its previous value
    break_credit: str = "deferred"  # or `immediate`


DEFAULTS = Params()
