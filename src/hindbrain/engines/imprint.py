"""Imprints: what a decision leaves in experience. Which megrams, under which pair and with which numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hindbrain.engines.directive import Tried, calls_of, union
from hindbrain.engines.ending import trace
from hindbrain.engines.slug import intent_space, path_entity
from hindbrain.engines.solving import Decision
from hindbrain.policy.experience import DECLARED, DISSONANCE, quantized

__all__ = ["Imprint", "Written", "imprints"]

_LOCAL = "env:local"
_BREAK = "break_symmetry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imprint:
    """One megram to be."""

    space: str
    entity: str
    content: str
    state: str
    f: float
    sigma: float
    k: float
    level: Literal["M", "K", "C", "T"] = "M"
    category: Literal["fact", "procedure", "constraint"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The imprints of a decision, and what the task has to remember of them."""

    imprints: tuple[Imprint, ...]
    targets: tuple[str, ...]
    broke_at: float | None


def imprints(decision: Decision, *, output: Any = None, declared: bool = False, workspace: str = "") -> Written:
    """What this decision teaches. A break of symmetry is credited once something came of it, to what worked then."""
    written, broke_at = decision.before.written, decision.before.broke_at
    found: list[Imprint] = []
    if _paid(decision, broke_at):
        matched = [outcome for outcome in decision.after.outcomes if outcome.status == "matched"]
        found += _calls(_BREAK, calls_of(matched, workspace), "Worked after a change of tools")
        broke_at = None
    match decision.directive:
        case "change_path" | "refine":
            blocked = [one for one in _by_target(decision.after.tried) if one.target in decision.blocks.targets]
            fresh = [one for one in blocked if one.target not in written]
            found += _calls(decision.directive, fresh, f"Did not help: {decision.after.gap}")
            written = union(written, (one.target for one in fresh if one.target))
        case "change_approach":
            failed = calls_of(decision.failing, workspace)
            found += _calls(decision.directive, failed, f"Wrong tool for this: {decision.after.gap}")
            written = union(written, (one.target for one in failed if one.target))
        case "break_symmetry" if decision.params.break_credit == "immediate":
            found += _calls(_BREAK, calls_of(decision.failing, workspace), f"Left behind: {decision.after.gap}")
        case "break_symmetry":
            broke_at = decision.loss.D if broke_at is None else min(broke_at, decision.loss.D)
        case _:
            found += _terminal(decision, output, declared, workspace)
    return Written(imprints=tuple(found), targets=written, broke_at=broke_at)


def _paid(decision: Decision, broke_at: float | None) -> bool:
    """Whether something came of a break: the task ended well, or is closer than it was. Giving up pays nothing."""
    if broke_at is None or decision.directive == "abandon":
        return False
    return decision.directive in ("accept", "success") or broke_at > decision.loss.D


def _by_target(tried: Sequence[Tried]) -> Iterator[Tried]:
    """Each target once, with the tool it failed with first."""
    seen: set[str] = set()
    for one in tried:
        if one.target and one.target not in seen:
            seen.add(one.target)
            yield one


def _calls(state: str, calls: Sequence[Tried], content: str) -> Iterator[Imprint]:
    f, sigma, k = quantized(state)
    for one in calls:
        yield Imprint(
            space=f"tool:{one.tool}",
            entity=path_entity(one.target),
            content=content,
            state=state,
            f=f,
            sigma=sigma,
            k=k,
        )


def _terminal(decision: Decision, output: Any, declared: bool, workspace: str) -> Iterator[Imprint]:
    """One megram of how the task ended; and one against each rule that it went well without."""
    well = decision.directive != "abandon"
    calls = (
        calls_of(decision.after.outcomes, workspace)
        if well
        # What worked in a task that was given up is not part of why.
        else union(decision.after.tried, calls_of([one for one in decision.after.outcomes if one.status != "matched"], workspace))
    )
    told = declared and well  # what the person stated, and what held, does not fade
    f, sigma, k = (DECLARED.f, DECLARED.sigma, DECLARED.k) if told else quantized(decision.directive)
    yield Imprint(
        space=intent_space(decision.after.intent or decision.after.task_id),
        entity=_LOCAL,
        content=trace(decision, calls, output),
        state=decision.directive,
        f=f,
        sigma=sigma,
        k=k,
        level="C" if told else "M",
        category="fact" if told else None,
    )
    for rule in decision.after.overridden if well else ():
        yield Imprint(
            space=rule.space,
            entity=rule.entity,
            content=f"Ended well without the rule {rule.id}",
            state="dissonance",
            f=DISSONANCE.f,
            sigma=-DISSONANCE.sigma if rule.sigma > 0 else DISSONANCE.sigma,
            k=DISSONANCE.k,
        )
