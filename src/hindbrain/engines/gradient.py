"""The gradient: how far off a round is, for which reason, at what cost, whether that got better, and which move follows.
Pure: knows outcomes and numbers, neither clock nor memory. Every number is rounded before it is compared."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from hindbrain.domain.control import GradientParts, Loss
from hindbrain.domain.task import FailureClass, SubTaskOutcome, Verdict
from hindbrain.policy.control import DECIMALS, ENVIRONMENTAL_WORDS, LOGICAL_WORDS, Params

__all__ = [
    "Failure",
    "Macro",
    "Measured",
    "Urgency",
    "budget_used",
    "failure_class",
    "failures_of",
    "gradient",
    "judged",
    "leaning",
    "loss_of",
    "macro_state",
    "measured",
    "rounded",
    "urgency",
    "worsening",
]


class Macro(StrEnum):
    """What a round may come to. `accept` comes only from the gate."""

    ABANDON = "abandon"
    SUCCESS = "success"
    BREAK_SYMMETRY = "break_symmetry"
    CHANGE_APPROACH = "change_approach"
    CHANGE_PATH = "change_path"
    REFINE = "refine"


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One criterion that was not met. `weight` is what it adds to the distance, `subtask` the place of its outcome."""

    criterion: str
    weight: float
    failure_class: str | None = None
    subtask: int | None = None  # None for a criterion of the task itself
    skipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A round in two numbers, and the failures behind them."""

    D: float
    P: float
    failures: tuple[Failure, ...] = ()


def rounded(value: float) -> float:
    """As it is compared and kept. Without this 0.6*4/3 would stay below 0.8. Adding zero turns -0.0 into 0.0."""
    return round(value, DECIMALS) + 0.0


def failures_of(place: int, outcome: SubTaskOutcome) -> tuple[int, tuple[Failure, ...]]:
    """How many criteria an outcome has, and which were not met, those of its last attempt in its order."""
    if outcome.x.skipped:
        named = [verdict.criterion for verdict in outcome.criteria_verdicts] or [
            one.criterion for one in outcome.success_criteria
        ]
        named = named or [outcome.intent]
        return len(named), tuple(Failure(criterion=name, weight=1.0, subtask=place, skipped=True) for name in named)
    failed = [verdict for verdict in outcome.criteria_verdicts if verdict.verdict == "fail"]
    if not failed and outcome.status == "failed":
        # Nothing was judged, or verdicts that all pass do not explain the failure: the outcome itself is the criterion.
        name = outcome.success_criteria[0].criterion if outcome.success_criteria else outcome.intent
        return 1, (Failure(criterion=name, weight=1.0, subtask=place),)
    last = [one.criterion for one in outcome.gap_trajectory[-1].failed_criteria] if outcome.gap_trajectory else []
    failed.sort(key=lambda verdict: last.index(verdict.criterion) if verdict.criterion in last else len(last))
    return max(1, len(outcome.criteria_verdicts)), tuple(
        Failure(
            criterion=verdict.criterion,
            weight=_weight(verdict, outcome),
            failure_class=verdict.failure_class,
            subtask=place,
        )
        for verdict in failed
    )


def _weight(verdict: Verdict, outcome: SubTaskOutcome) -> float:
    """1 for what can be checked; for what can only be plausible, the share of attempts in which it failed."""
    if verdict.mode == "verifiable":
        return 1.0
    attempts = len(outcome.gap_trajectory)
    hits = sum(verdict.criterion in {one.criterion for one in point.failed_criteria} for point in outcome.gap_trajectory)
    return hits / attempts if hits else 1.0  # it failed, so a trajectory that does not know it cannot make it lighter


def measured(outcomes: Sequence[SubTaskOutcome]) -> Measured:
    """Distance and process of a round that failed at its gate, over the criteria of all subtasks."""
    if not outcomes:
        return Measured(D=1.0, P=0.5)
    count = 0
    failures: list[Failure] = []
    for place, outcome in enumerate(outcomes):
        criteria, failed = failures_of(place, outcome)
        count += criteria
        failures += failed
    distance = rounded(sum(failure.weight for failure in failures) / count)
    reasons = [_words(outcome) for outcome in outcomes if outcome.status == "failed" and not outcome.x.skipped]
    return Measured(D=distance, P=_process(failures, reasons), failures=tuple(failures))


def judged(verdicts: Sequence[Verdict], gap: str, process: Sequence[str] = ()) -> Measured:
    """The same for a round whose subtasks all matched and whose result was not taken: over the criteria of the task. `process`
    are classes of what else went wrong on the way."""
    failures = [
        Failure(criterion=verdict.criterion, weight=1.0, failure_class=verdict.failure_class)
        for verdict in verdicts
        if verdict.verdict == "fail"
    ]
    if not failures:  # not taken, and no criterion says why
        return Measured(D=1.0, P=_process([Failure(criterion=gap, weight=1.0)], [gap], process))
    texts = [f"{verdict.criterion} {verdict.evidence}" for verdict in verdicts if verdict.verdict == "fail"]
    return Measured(
        D=rounded(len(failures) / len(verdicts)), P=_process(failures, texts or [gap], process), failures=tuple(failures)
    )


def _process(failures: Sequence[Failure], reasons: Sequence[str], more: Sequence[str] = ()) -> float:
    """The share of failures that the approach is to blame for."""
    real = [failure for failure in failures if not failure.skipped]
    classes = [*(failure.failure_class for failure in real if failure.failure_class), *more]
    if not failures:
        return 0.0
    if not classes:
        classes = [side for reason in reasons if (side := leaning(reason))]
    return rounded(classes.count("logical") / len(classes)) if classes else 0.5


def leaning(text: str) -> str | None:
    """Which side a reason in words is on; None when it speaks for both or for neither."""
    logical, environmental = bool(_LOGICAL.search(text)), bool(_ENVIRONMENTAL.search(text))
    if logical == environmental:
        return None
    return "logical" if logical else "environmental"


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(re.escape(word) for word in words) + ")", re.IGNORECASE)


_LOGICAL, _ENVIRONMENTAL = _pattern(LOGICAL_WORDS), _pattern(ENVIRONMENTAL_WORDS)


def _words(outcome: SubTaskOutcome) -> str:
    unmet = outcome.gap_trajectory[-1].unmet_criteria if outcome.gap_trajectory else ()
    return " ".join((outcome.failure_reason or "", *unmet))


def failure_class(process: float) -> FailureClass:
    """The class of a round as a word. Its middle is fixed; the threshold rho decides about moves, not about words."""
    if process == 0.5:
        return "mixed"
    return "logical" if process > 0.5 else "environmental"


def budget_used(replans: int, elapsed_ms: int, params: Params) -> float:
    """Omega: replans and time as shares of what is allowed."""
    used = params.w1 * (replans / params.max_replans) + params.w2 * (elapsed_ms / params.time_budget_ms)
    return rounded(min(1.0, used))


def loss_of(distance: float, process: float, omega: float, params: Params) -> Loss:
    """The weighted sum. How a task went counts less the more of its budget is used."""
    total = params.alpha * distance + params.beta * (1 - omega) * process + params.lam * omega
    return Loss(D=distance, P=process, Omega=omega, L=rounded(total))


def gradient(now: Loss, before: Loss | None, params: Params) -> tuple[float, GradientParts]:
    """How the loss changed since the round before, and which part of it did. Zero in the first round."""
    if before is None:
        return 0.0, GradientParts()
    omega = before.Omega if params.gradient_basis == "quality" else now.Omega
    distance = params.alpha * (now.D - before.D)
    process = params.beta * ((1 - omega) * now.P - (1 - before.Omega) * before.P)
    cost = params.lam * (omega - before.Omega)
    parts = GradientParts(D=rounded(distance), P=rounded(process), Omega=rounded(cost))
    held = loss_of(now.D, now.P, omega, params)
    return rounded(held.L - before.L), parts


def macro_state(loss: Loss, grad_l: float, params: Params) -> Macro:
    """The cascade: may we go on, is it close enough, and if not, does anything move and who is to blame."""
    if loss.Omega >= params.theta:
        return Macro.ABANDON
    if loss.D <= params.delta:  # noqa: SIM300 - the name is a letter of the formula, not a constant
        return Macro.SUCCESS
    signal, logical = abs(grad_l) >= params.epsilon, loss.P > params.rho  # noqa: SIM300 - as above
    if logical:
        return Macro.CHANGE_APPROACH if signal else Macro.BREAK_SYMMETRY
    return Macro.REFINE if signal else Macro.CHANGE_PATH


def worsening(grad_l: float, params: Params) -> bool:
    return grad_l >= params.epsilon


def urgency(grad_l: float, params: Params) -> Urgency:
    """What the sign of the gradient is for: how hard to turn, never where to."""
    if worsening(grad_l, params):
        return Urgency.HIGH
    return Urgency.LOW if grad_l <= -params.epsilon else Urgency.NORMAL
