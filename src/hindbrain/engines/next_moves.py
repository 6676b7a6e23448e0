"""Next moves: what a person can do when a task is given up, from what was tried and what was not. Two or three, and concrete."""

from collections.abc import Collection, Sequence
from typing import Any

from hindbrain.domain.plan import Draft
from hindbrain.domain.task import SubTaskOutcome
from hindbrain.engines.goal_words import Refusal
from hindbrain.engines.goals import Goal
from hindbrain.engines.plan_check import acts_of, normal
from hindbrain.engines.ways import Way, ways_to
from hindbrain.policy.control import NEXT_MOVES

__all__ = ["moves_after", "partial_of"]


def partial_of(outcomes: Sequence[SubTaskOutcome]) -> tuple[Any, ...]:
    """What was achieved: the outputs of the parts that matched."""
    return tuple(one.output for one in outcomes if one.status == "matched")


_MODEL = "Set a model, which can plan what no rule can: `hindbrain control models` shows whether one is set, and how to set it."


def moves_after(
    outcomes: Sequence[SubTaskOutcome],
    goals: Sequence[Goal] = (),
    gone: Collection[str] = (),
    refused: Sequence[Refusal] = (),
) -> tuple[str, ...]:
    """What to do next: first the obstacle that was met, then a way that was not tried, then the part that is left.
    `gone` are the ways of all rounds, in their words. A goal that was refused needs other words, or a model."""
    if refused and not outcomes:
        return _instead(goals, refused)
    failed = [one for one in outcomes if one.status == "failed" and not one.x.skipped]
    moves: list[str] = []
    for outcome in failed:
        call = next((call for call in reversed(outcome.tool_calls) if call.error), None)
        if call is not None and call.target:
            moves.append(
                f"See to {call.target!r}: {call.tool} said {(call.error or '').strip()[:120]!r}. Then ask for the same again."
            )
            break
    tried = {(call.tool, normal(call.target)) for one in outcomes for call in one.tool_calls if call.target}
    asked = [goal for goal in goals if not _reached(goal, outcomes)]
    for goal in asked:
        way = next((way for way in ways_to(goal) if way.says not in gone and not set(_acts(way)) & tried), None)
        if way is not None:
            moves.append(f"Ask for it another way, which was not tried: {way.says}.")
            break
    done = [one for one in outcomes if one.status == "matched"]
    if done and failed:
        left = asked[0].sentence if asked else failed[0].intent
        moves.append(f"Keep what is there ({len(done)} of {len(outcomes)} parts) and ask only for: {left}")
    if failed and failed[0].failure_reason:
        moves.append(f"Say in the goal what is meant, for this was in the way: {failed[0].failure_reason[:160]}")
    moves.append("Name the files by their path from the workspace, and what the result has to show.")
    moves.append(_MODEL)
    least, most = NEXT_MOVES
    return tuple(dict.fromkeys(moves))[: max(least, most)]


def _instead(goals: Sequence[Goal], refused: Sequence[Refusal]) -> tuple[str, ...]:
    """What would work in place of a goal with words that no rule accounts for."""
    first = refused[0]
    without = f", without {', '.join(first.words)}" if first.words else ""
    moves = [f"Ask for less, in a form that rules can plan{without}. For example: {first.form}", _MODEL]
    if goals:
        moves.append("Ask only for the part that rules can plan: " + " ".join(f"{one.sentence.rstrip('.')}." for one in goals))
    return tuple(moves[: NEXT_MOVES[1]])


def _acts(way: Way) -> tuple[tuple[str, str], ...]:
    return acts_of(Draft(intent=way.says, steps=way.steps))


def _reached(goal: Goal, outcomes: Sequence[SubTaskOutcome]) -> bool:
    says = {way.says for way in ways_to(goal)}
    return any(one.status == "matched" and one.intent in says for one in outcomes)
