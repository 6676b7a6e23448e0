"""Potentials: how experience fades, what a pair's megrams add up to, and what that advises. Pure; times are milliseconds."""

import math
import re
from collections.abc import Iterable, Sequence

from hindbrain.domain.experience import Action, Effective, Level, Potentials
from hindbrain.policy.experience import ACTIONS, LAWS, Law
from hindbrain.policy.fading import DECIMALS, age_days, decayed

__all__ = [
    "action",
    "attention",
    "broken_law",
    "contradicted",
    "counts",
    "half_life_days",
    "potentials",
    "rounded",
    "settled",
]

_NEWEST = 2  # episodes that overrule a rule for one task


def _forms(texts: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.I) for one in texts)


_FORMS = tuple((law, _forms(law.breaches), _forms(law.duties)) for law in LAWS)


def rounded(value: float) -> float:
    """To nine decimals, before anything is compared; minus zero is zero."""
    return round(value, DECIMALS) + 0.0


def half_life_days(k: float) -> float:
    """After how many days half is left; endless without decay."""
    return math.log(2) / k if k > 0 else math.inf


def attention(one: Effective, at: int) -> float:
    """How much of a megram's own strength is left."""
    return decayed(abs(one.megram.f), one.k, age_days(one.origin, at))


def counts(one: Effective) -> bool:
    """Whether a megram is in the sums of its pair: thinking never is, nor what a rule carries already."""
    return one.level is not Level.T and not one.consolidated and not one.superseded


def potentials(megrams: Iterable[Effective], at: int) -> Potentials:
    """Both channels of a pair: what is good and what is bad add up in attention and cancel only in decision."""
    heard = [(attention(one, at), one.megram.sigma) for one in megrams if counts(one)]
    return settled(math.fsum(a for a, _ in heard), math.fsum(a * sigma for a, sigma in heard))


def settled(attention: float, decision: float) -> Potentials:
    """Sums as they are told, with what they advise."""
    a, d = rounded(attention), rounded(decision)
    return Potentials(attention=a, decision=d, action=action(a, d))


def action(attention: float, decision: float) -> Action:
    """What two sums advise. Enough attention is reached at its threshold; a decision only beyond it."""
    a, d = rounded(attention), rounded(decision)
    if a < ACTIONS.attention:
        return Action.IGNORE
    if d > ACTIONS.decision:
        return Action.EXPLOIT
    return Action.AVOID if d < -ACTIONS.decision else Action.CAUTION


def contradicted(sigma: float, newest: Sequence[Effective]) -> bool:
    """Whether the newest episodes of a rule's pair speak against it, so that it is left out for this task. Newest first."""
    told = [one.megram.sigma for one in newest if one.level is Level.M and counts(one)][:_NEWEST]
    return len(told) == _NEWEST and all(one * sigma < 0 for one in told)


def broken_law(text: str, sigma: float) -> Law | None:
    """The first law that following a rule would break: one that asks for a breach, or that warns of a duty. It is kept, and never
    handed on as advice."""
    for law, breaches, duties in _FORMS:
        breach = any(way.search(text) for way in breaches)
        if breach if sigma >= 0 else not breach and any(way.search(text) for way in duties):
            return law
    return None
