"""Control policy: who may say what to whom, and the numbers by which the controller decides, each with its reason."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.domain.message import MessageType, Role

__all__ = [
    "BEAT_S",
    "CHOICES",
    "CONSUMER_LAG",
    "DECIMALS",
    "DEFAULTS",
    "ENVIRONMENTAL_WORDS",
    "GRACEFUL_TIMEOUT_S",
    "JOURNAL_BATCH",
    "JOURNAL_OVERFLOW",
    "JOURNAL_QUEUE",
    "JOURNAL_RETRY_S",
    "KEYS",
    "LATE_FACTOR",
    "LISTEN_S",
    "LOGICAL_WORDS",
    "MEANINGS",
    "NEXT_MOVES",
    "PATHS",
    "RUNS_MOST",
    "RUNS_OF_AGENTS",
    "RUN_ENDS_S",
    "TARGET_CHARS",
    "TUNED",
    "Params",
    "altered",
    "in_force",
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

LISTEN_S = 0.5  # until a listener looks by itself: what another process said rings no bell in this one
RUNS_MOST = 8  # tasks at once in one process: each has half a dozen threads and may ask a model
RUNS_OF_AGENTS = 6  # an agent leaves room for the person
RUN_ENDS_S = 15.0  # a cancelled task stops its commands, says its last words and is written
BEAT_S = 0.5  # between two looks of the auditor while a task is on its way
LATE_FACTOR = 2  # times its budget, after which a task that nothing ended is cancelled
CONSUMER_LAG = 256  # messages behind, from which a reader is named as slow; it still gets all of them
DECIMALS = 9  # every number is rounded to these before it is compared: in binary 0.6*4/3 is below 0.8
TARGET_CHARS = 120  # of one tool or target in what is remembered of a task
GRACEFUL_TIMEOUT_S = 10.0  # so long a task that is given up waits for the planner's last words
NEXT_MOVES = (2, 3)  # so many steps are suggested to the person when a task is given up

# Words by which a reason that nobody classed is on one side. "permission denied" is of the surroundings, here as everywhere.
LOGICAL_WORDS = ("logic", "wrong approach", "incorrect", "invalid", "cannot", "not possible")
ENVIRONMENTAL_WORDS = (
    "network",
    "timeout",
    "deadline",
    "connection",
    "unavailable",
    "not found",
    "no such file",
    "permission denied",
    "temporary",
    "rate limit",
)


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

    def __post_init__(self) -> None:
        """Numbers with which the controller could not decide are refused when they are read, not when they are used."""
        for name in _WEIGHTS:
            value = getattr(self, name)
            _must(0 <= value < float("inf"), name, value, "a weight is a number from 0 on")
        _must(
            round(self.w1 + self.w2, DECIMALS) == 1, "w1", self.w1, f"w1 and w2 are shares of one budget, and w2 is {self.w2:g}"
        )
        for name in _THRESHOLDS:
            value = getattr(self, name)
            _must(0 <= value <= 1, name, value, "a threshold lies between 0 and 1")
        for name, least in _LEAST.items():
            value = getattr(self, name)
            _must(value >= least, name, value, f"it is at least {least}")
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            _must(value in choices, name, value, f"it is one of {', '.join(choices)}")


def _must(holds: bool, name: str, value: object, why: str) -> None:
    if not holds:
        key = next((key for key, field in KEYS.items() if field == name), name)
        raise ConfigInvalid(f"{key} is {value}: {why}", fix=f"leave {key} out, or give a value for which that holds")


_WEIGHTS = ("alpha", "beta", "lam", "w1", "w2")
_THRESHOLDS = ("epsilon", "delta", "rho", "theta")
_LEAST = {"max_replans": 1, "time_budget_ms": 1000, "law2_rounds": 1, "max_retries": 0, "max_tool_calls": 1}
_CHOICES = {"gradient_basis": ("total", "quality"), "break_credit": ("deferred", "immediate")}

# The name of each number where people set it, the field that holds it, and what it is.
_NAMED = (
    ("ggs.alpha", "alpha", "weight of the distance to the goal in the loss of a round"),
    ("ggs.beta", "beta", "weight of how it went in the loss of a round, before it shrinks with the budget"),
    ("ggs.lambda", "lam", "weight of the used budget in the loss of a round"),
    ("ggs.w1", "w1", "share of replans in the used budget; w1 and w2 are 1 together"),
    ("ggs.w2", "w2", "share of time in the used budget"),
    ("ggs.epsilon", "epsilon", "change of the loss from which a round counts as better or worse"),
    ("ggs.delta", "delta", "distance at or below which a result is good enough"),
    ("ggs.rho", "rho", "share of failures above which the approach is at fault, not the surroundings"),
    ("ggs.theta", "theta", "used budget at or above which a task is given up"),
    ("ggs.time_budget_ms", "time_budget_ms", "milliseconds one task may take"),
    ("ggs.max_replans", "max_replans", "times one task may be planned anew"),
    ("ggs.law2_rounds", "law2_rounds", "worsening rounds in a row that end a task"),
    (
        "ggs.gradient_basis",
        "gradient_basis",
        "whether the used budget counts in the change of the loss: total, or quality without it",
    ),
    ("ggs.break_credit", "break_credit", "when a change of tools is remembered as good: deferred until it helped, or immediate"),
    ("r4a.max_retries", "max_retries", "corrections of one subtask before it counts as failed"),
    ("r3.max_tool_calls", "max_tool_calls", "tool calls in one attempt at a subtask"),
)
KEYS: Mapping[str, str] = {key: name for key, name, _ in _NAMED}
MEANINGS: Mapping[str, str] = {key: meaning for key, _, meaning in _NAMED}
CHOICES: Mapping[str, tuple[str, ...]] = {key: _CHOICES[name] for key, name, _ in _NAMED if name in _CHOICES}
# What a tuning may propose to change, for all tasks or for those of one class.
TUNED = tuple(
    f"ggs.{name}" for name in ("alpha", "beta", "lambda", "w1", "w2", "epsilon", "delta", "rho", "theta", "gradient_basis")
)


def altered(params: Params, values: Mapping[str, object]) -> Params:
    """The same numbers with some set anew, by the names that people use. Refuses a name that is not in the table, and a value of
    another type than the number it replaces."""
    changes: dict[str, object] = {}
    for key, value in values.items():
        field = KEYS.get(key)
        if field is None:
            raise ConfigInvalid(f"there is no number {key!r}", fix=f"use one of {', '.join(KEYS)}")
        kind = type(getattr(DEFAULTS, field))
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            raise ConfigInvalid(f"{key} is {value!r}; it takes a {kind.__name__}", fix=f"give {key} a {kind.__name__}")
        changes[field] = value
    return replace(params, **changes)  # type: ignore[arg-type]


def in_force(params: Params) -> dict[str, object]:
    """The numbers by the names that people use, as a decision records them."""
    values = asdict(params)
    return {key: values[field] for key, field in KEYS.items()}


DEFAULTS = Params()
