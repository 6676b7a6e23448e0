"""Endings: what the person gets when a task is over, in words and as data. Invents nothing: every line comes from an outcome."""

import json
from collections.abc import Sequence
from typing import Any

from hindbrain.domain.task import SubTaskOutcome
from hindbrain.engines.directive import Tried, union
from hindbrain.engines.gradient import failure_class
from hindbrain.engines.solving import Decision
from hindbrain.policy.control import NEXT_MOVES, TARGET_CHARS

__all__ = [
    "abandon_summary",
    "evidence_ids",
    "law_lines",
    "merged",
    "next_moves",
    "partial_output",
    "success_summary",
    "trace",
    "unmet",
]

_LAW1 = "[LAW1]"
_WHY = {
    "budget": "its budget allows no further round",
    "law2": "it got worse twice in a row",
    "recommendation": "the gate advised against another round",
    "plan_failure": "no plan that may be carried out could be made",
    "cancelled": "it was called off",
}


def _done(outcomes: Sequence[SubTaskOutcome]) -> list[SubTaskOutcome]:
    return [outcome for outcome in outcomes if outcome.status == "matched"]


def merged(outcomes: Sequence[SubTaskOutcome]) -> Any:
    """What matched subtasks gave: nothing, the one value, or a list."""
    outputs = [outcome.output for outcome in _done(outcomes)]
    return outputs[0] if len(outputs) == 1 else outputs or None


def unmet(decision: Decision) -> tuple[str, ...]:
    """The criteria that failed in the last round, without those that a part met in an earlier one."""
    met = {one.criterion for outcome in _done(decision.after.best) for one in outcome.success_criteria}
    missing = union((), (failure.criterion for failure in decision.measured.failures))
    return tuple(one for one in missing if one not in met) if decision.directive == "abandon" else missing


def evidence_ids(outcomes: Sequence[SubTaskOutcome]) -> tuple[str, ...]:
    """The tool calls that the verdicts of matched subtasks rest on."""
    return union((), (event for outcome in _done(outcomes) for one in outcome.criteria_verdicts for event in one.x.event_ids))


def law_lines(outcomes: Sequence[SubTaskOutcome]) -> tuple[str, ...]:
    """What was not done because it needs the person's word: they are always told."""
    texts = (
        text
        for outcome in outcomes
        for text in (outcome.failure_reason or "", *(call.output_snippet for call in outcome.tool_calls))
    )
    return union((), (line.strip() for text in texts for line in text.splitlines() if line.strip().startswith(_LAW1)))


def success_summary(decision: Decision) -> str:
    """Good enough, with everything that is missing."""
    lines = [f"Good enough (D {decision.loss.D:g}): {decision.after.intent}", *law_lines(decision.after.outcomes)]
    missing = unmet(decision)
    if missing:
        lines.append("Not met: " + "; ".join(missing))
    return "\n".join(lines)


def abandon_summary(decision: Decision, moves: Sequence[str]) -> str:
    """Why it was given up, what is done, what is not, where the gap is, and what could be tried next."""
    outcomes = decision.after.best
    done = [outcome.intent for outcome in _done(outcomes)]
    failed = [outcome.intent for outcome in outcomes if outcome.status == "failed"]
    return "\n".join(
        [
            f"Given up: {_WHY[decision.abandon_reason or 'budget']}.",
            "Done: " + ("; ".join(done) or "nothing"),
            "Not done: " + ("; ".join(failed) or decision.after.intent or "the task"),
            *law_lines(outcomes),
            f"Gap: {decision.after.gap or 'not known'}",
            *(f"Next: {move}" for move in moves),
        ]
    )


def partial_output(decision: Decision, moves: Sequence[str]) -> dict[str, Any]:
    return {
        "partial": [outcome.output for outcome in _done(decision.after.best)],
        "next_moves": list(moves),
        "unmet_criteria": list(unmet(decision)),
    }


def next_moves(decision: Decision) -> tuple[str, ...]:
    """Two or three steps for the person, by rule, where nobody who knows the task better has said any."""
    least, most = NEXT_MOVES
    if decision.abandon_reason == "cancelled":
        return ("Start it again when it is wanted.", f"See how far it came: hindbrain task show {decision.after.task_id}")
    missing = unmet(decision)
    first = f"“{missing[0]}”" if missing else "the goal"
    tools = ", ".join(decision.after.tools)
    by_class = {
        "environmental": f"Make sure that what {first} needs is there and can be reached, then start the task again.",
        "logical": f"Say in the goal how {first} can be reached" + (f" without {tools}." if tools else "."),
        "mixed": f"Say in smaller steps how {first} can be shown.",
    }
    moves = [by_class[failure_class(decision.loss.P)]]
    if done := _done(decision.after.best):
        moves.append("Keep what is done and ask only for the rest: " + "; ".join(outcome.intent for outcome in done))
    if decision.abandon_reason == "budget":
        moves.append(
            f"Allow more: ggs.max_replans is {decision.params.max_replans}, ggs.time_budget_ms {decision.params.time_budget_ms}."
        )
    if len(moves) < least:
        moves.append("Look at the rounds of this task to see what was tried, then ask for one part of it.")
    return tuple(moves[:most])


def trace(decision: Decision, calls: Sequence[Tried], output: Any) -> str:
    """A task in one line, for experience: tools with their targets, and the result or the gap."""
    named = union((), ((f"{one.tool} {one.target}" if one.target else one.tool)[:TARGET_CHARS] for one in calls))
    tools = ", ".join(named) or "none"
    if decision.directive == "abandon":
        return f"Failed. Tools tried: {tools}. Gap: {decision.after.gap or 'not known'}"
    result = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, sort_keys=True, default=str)
    return f"Succeeded. Tools: {tools}. Result: {result}"
