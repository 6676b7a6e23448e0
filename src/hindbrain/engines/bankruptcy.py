"""Bankruptcy: how far a rule is from losing its trust, and what would take it. Pure; `dreaming` decides when it is lost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.domain.experience import Effective, Level, Potentials
from hindbrain.engines.dreaming import bankrupt
from hindbrain.engines.potentials import contradicted, counts, potentials, rounded
from hindbrain.policy.experience import DISSONANCE, FEEDBACK, QUANTA

__all__ = ["Blow", "Standing", "standing"]

_DISSONANCE = "dissonance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blow:
    """One kind of fresh experience that speaks against a rule, and how many of it, coming at once, would take its trust."""

    state: str
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a rule stands: the sums of its pair, what is left between it and bankruptcy, and what would use that up."""

    sums: Potentials
    margin: float  # of decision; at zero it still stands
    for_it: int
    against: tuple[Effective, ...]  # what speaks against it now, newest first
    overruled: bool  # the newest episodes leave it out of the next task already
    lost: bool  # its trust is gone, and the next look of the Dreamer takes it
    blows: tuple[Blow, ...]  # fewest first


def standing(rule: Effective, pair: Sequence[Effective], at: int) -> Standing | None:
    """How a rule stands among all of its pair, newest first. None for what is no rule, or points nowhere."""
    sigma = rule.megram.sigma
    if rule.level is not Level.C or not sigma or not counts(rule):
        return None
    live = [one for one in pair if counts(one)]
    sums = potentials(live, at)
    margin = rounded(sums.decision if sigma > 0 else -sums.decision)
    others = [one for one in live if one.megram.id != rule.megram.id]
    weights = {FEEDBACK: abs(rule.megram.f * sigma), **_against(sigma)}
    blows = [Blow(state=state, needed=_needed(margin, weight)) for state, weight in weights.items() if weight > 0]
    return Standing(
        sums=sums,
        margin=margin,
        for_it=sum(one.megram.sigma * sigma > 0 for one in others),
        against=tuple(one for one in others if one.megram.sigma * sigma < 0),
        overruled=contradicted(sigma, others),
        lost=bankrupt(sigma, sums.decision),
        blows=tuple(sorted(blows, key=lambda one: (one.needed, one.state))),
    )


def _against(sigma: float) -> dict[str, float]:
    """How strongly the ends of a task speak the other way while they are fresh: the strongest two of each kind."""
    weights = {state: quantum.f * abs(quantum.sigma) for state, quantum in QUANTA.items() if quantum.sigma * sigma < 0}
    strongest = dict(sorted(weights.items(), key=lambda item: -item[1])[:2])
    return strongest if sigma > 0 else {**strongest, _DISSONANCE: DISSONANCE.f * abs(DISSONANCE.sigma)}


def _needed(margin: float, weight: float) -> int:
    """How many of a weight pass a margin; exactly as much is not enough, as at zero a rule still stands."""
    return max(math.floor(rounded(margin / weight)) + 1, 0)
