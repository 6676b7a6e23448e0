"""Dispatching: which subtasks of a plan run next, which never will, and what each is told of those before it. Pure."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec

from hindbrain.domain.task import DispatchManifest, OutcomeMore, SubTask, SubTaskOutcome, Verdict
from hindbrain.engines.tool_record import cut_middle
from hindbrain.policy.tools import CONTEXT_CUT

__all__ = ["PRIOR", "Moves", "complete", "moves", "with_prior"]

PRIOR = "Outputs of earlier subtasks, to be used directly:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """What to do now."""

    start: tuple[SubTask, ...] = ()
    skipped: tuple[SubTaskOutcome, ...] = ()


def complete(manifest: DispatchManifest, subtasks: Mapping[str, SubTask]) -> bool:
    """Whether all that a manifest names has arrived."""
    return all(name in subtasks for name in manifest.subtask_ids)


def moves(
    manifest: DispatchManifest,
    subtasks: Mapping[str, SubTask],
    outcomes: Mapping[str, SubTaskOutcome],
    started: Collection[str],
) -> Moves:
    """The subtasks of the lowest group that has not ended; after a failed group, an end for all later ones."""
    if not complete(manifest, subtasks):
        return Moves()
    ordered = sorted((subtasks[name] for name in manifest.subtask_ids), key=lambda one: one.sequence)
    done: list[SubTaskOutcome] = []
    fell: str | None = None
    skipped: list[SubTaskOutcome] = []
    for _, members in groupby(ordered, key=lambda one: one.sequence):
        group = list(members)
        if fell is not None:
            skipped += [_skipped(one, fell) for one in group if one.subtask_id not in outcomes and one.subtask_id not in started]
            continue
        if any(one.subtask_id not in outcomes for one in group):
            return Moves(start=tuple(with_prior(one, done) for one in group if one.subtask_id not in started))
        ended = [outcomes[one.subtask_id] for one in group]
        fell = next((one.subtask_id for one in ended if one.status == "failed"), None)
        done += ended
    return Moves(skipped=tuple(skipped))


def with_prior(subtask: SubTask, outcomes: Collection[SubTaskOutcome]) -> SubTask:
    """A subtask that knows what those before it gave."""
    if not outcomes:
        return subtask
    told = "\n".join(f"- {one.intent}\n{_text(one.output)}" for one in outcomes)
    prior = f"{PRIOR}\n{cut_middle(told, CONTEXT_CUT)}"
    return msgspec.structs.replace(subtask, context=f"{subtask.context}\n\n{prior}".strip())


def _text(output: Any) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, sort_keys=True, default=str)


def _skipped(subtask: SubTask, fell: str) -> SubTaskOutcome:
    """The end of a subtask that never began. It has no class: nothing was tried."""
    reason = f"skipped: dependency {fell} failed"
    return SubTaskOutcome(
        subtask_id=subtask.subtask_id,
        parent_task_id=subtask.parent_task_id,
        intent=subtask.intent,
        success_criteria=subtask.success_criteria,
        status="failed",
        failure_reason=reason,
        criteria_verdicts=tuple(
            Verdict(criterion=one.criterion, verdict="fail", mode=one.mode, evidence=reason) for one in subtask.success_criteria
        ),
        x=OutcomeMore(skipped=True),
    )
