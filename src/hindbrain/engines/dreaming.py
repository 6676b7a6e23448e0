"""Dreaming: what a look at a pair's experience decides. Which rules lost their trust, which group has become a rule, and whether
the pair is to be looked at again though nothing new comes. Pure; the Dreamer carries it out."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hindbrain.domain.experience import Effective, EventKind, Level, MegramId, Pair, Potentials, Writer
from hindbrain.engines.potentials import attention, counts, potentials, rounded
from hindbrain.policy.experience import BANKRUPTCY, CATEGORIES, PROMOTION, RESERVED, Promotion, Rules
from hindbrain.policy.fading import FLOOR

__all__ = ["Group", "Judged", "Stage", "at_stake", "bankrupt", "faded", "judged", "reaches", "staged"]

_REPEATED = 2  # task knowledge that came back makes a rule, where two stages are in force


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Episodes that have become a rule together, newest first."""

    sign: int
    sums: Potentials
    sources: tuple[Effective, ...]
    agreeing: int
    category: str | None
    supersedes: tuple[MegramId, ...]  # older rules that say the same, newest first
    against: tuple[Effective, ...]  # rules that said the opposite


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is to become of one pair."""

    pair: Pair
    demoted: tuple[MegramId, ...] = ()
    group: Group | None = None
    watch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A step of one megram between episode and task knowledge."""

    megram_id: MegramId
    kind: EventKind
    level: Level


def faded(megrams: Iterable[Effective], at: int) -> tuple[MegramId, ...]:
    """Which episodes of one pair are to be deleted: all of them, once too little attention is left on the pair; till then none.
    A rule does not fade, so its own weight is left aside; what a rule carries is kept for it."""
    own = [one for one in megrams if one.level in (Level.M, Level.K) and not one.consolidated and not one.superseded]
    left = rounded(math.fsum(attention(one, at) for one in own))
    return tuple(one.megram.id for one in own) if left < FLOOR else ()


def bankrupt(sigma: float, decision: float) -> bool:
    """Whether a rule has lost its trust: what its pair has seen points the other way. At zero it still stands."""
    d = rounded(decision)
    return d < 0 if sigma > 0 else d > 0 if sigma < 0 else False


def reaches(sums: Potentials, promotion: Promotion) -> int:
    """Which way a group has become a rule: +1, -1, or 0 when it has not."""
    if sums.attention >= promotion.prefer.attention and sums.decision >= promotion.prefer.decision:
        return 1
    if sums.attention >= promotion.avoid.attention and sums.decision <= promotion.avoid.decision:
        return -1
    return 0


def at_stake(sums: Potentials, *, uneven: bool, rules: bool, categorised: bool, chosen: Rules) -> bool:
    """Whether a look at a pair can decide anything, by the sums of its episodes. Without rules it cannot where attention is
    short, nor where the decision is and all that points somewhere fades alike."""
    if rules or chosen.two_stage:
        return True
    in_force = [PROMOTION, *(CATEGORIES[name] for name in chosen.categories if categorised)]
    enough = [one for each in in_force for one in (each.prefer, each.avoid) if sums.attention >= one.attention]
    return any(uneven or (sums.decision >= one.decision if one.decision > 0 else sums.decision <= one.decision) for one in enough)


def judged(pair: Pair, megrams: Sequence[Effective], at: int, rules: Rules) -> Judged:
    """The trust of a pair's rules first, then what its episodes have become. `megrams` are those of the pair, newest first."""
    live = [one for one in megrams if counts(one)]
    decision = potentials(live, at).decision
    demoted = tuple(one.megram.id for one in live if one.level is Level.C and bankrupt(one.megram.sigma, decision))
    after = [replace(one, level=Level.K, k=BANKRUPTCY, origin=at) if one.megram.id in demoted else one for one in live]
    group = _group(after, at, rules)
    watch = group is None and (_may_yet(after, at, rules) or _contested(after, at))
    return Judged(pair=pair, demoted=demoted, group=group, watch=watch)


def _group(live: Sequence[Effective], at: int, rules: Rules) -> Group | None:
    members = _members(live)
    sums = potentials(members, at)
    category = _category(members)
    sign = reaches(sums, CATEGORIES[category] if category in rules.categories else PROMOTION)
    if not sign and rules.two_stage:
        sign = _repeated(members, sums)
    if not sign:
        return None
    held = [one for one in live if one.megram.level is Level.C and one.megram.sigma * sign < 0]
    same = [one for one in live if one.level is Level.C and one.megram.sigma * sign > 0 and one.megram.writer is Writer.DREAMER]
    left = {one.megram.id for one in held}  # an opposite rule is answered, not taken in
    sources = tuple(one for one in members if one.megram.id not in left)
    return Group(
        sign=sign,
        sums=sums,
        sources=sources,
        agreeing=sum(one.megram.sigma * sign > 0 for one in sources),
        category="constraint" if sign < 0 else category,
        supersedes=tuple(one.megram.id for one in same),
        against=tuple(held),
    )


def _members(live: Sequence[Effective]) -> list[Effective]:
    """Episodes and task knowledge; a guess is no experience."""
    return [one for one in live if one.level in (Level.M, Level.K) and one.megram.state not in RESERVED]


def _category(members: Sequence[Effective]) -> str | None:
    named = {one.megram.category for one in members}
    return named.pop() if len(named) == 1 else None


def _repeated(members: Sequence[Effective], sums: Potentials) -> int:
    known = [one for one in members if one.level is Level.K and one.megram.level is Level.M]
    for sign in (1, -1):
        if sum(one.megram.sigma * sign > 0 for one in known) >= _REPEATED and sums.decision * sign > 0:
            return sign
    return 0


def _may_yet(live: Sequence[Effective], at: int, rules: Rules) -> bool:
    """Whether time alone may make a rule: attention only falls, so it must be there; those who agree must be enough alone;
    and some dissent must fade faster than they do. What is forgotten or used makes the pair wait anyway."""
    members = _members(live)
    category = _category(members)
    promotion = CATEGORIES[category] if category in rules.categories else PROMOTION
    sums = potentials(members, at)
    if rules.two_stage and len(members) > 1:
        return True
    for sign, threshold in ((1, promotion.prefer), (-1, promotion.avoid)):
        agreeing = [one for one in members if one.megram.sigma * sign > 0]
        enough = rounded(sum(attention(one, at) * abs(one.megram.sigma) for one in agreeing)) >= abs(threshold.decision)
        if enough and sums.attention >= threshold.attention and _faster(members, agreeing, -sign):
            return True
    return False


def _contested(live: Sequence[Effective], at: int) -> bool:
    """Whether time alone may take a rule's trust: what speaks against it is stronger than the rules themselves, and some of what
    else supports them fades faster."""
    for sign in (1, -1):
        rules = [one for one in live if one.level is Level.C and one.megram.sigma * sign > 0]
        against = [one for one in live if one.megram.sigma * sign < 0]
        stands = sum(attention(one, at) * abs(one.megram.sigma) for one in rules)
        dissent = sum(attention(one, at) * abs(one.megram.sigma) for one in against)
        if rules and rounded(dissent - stands) > 0 and _faster(live, against, sign):
            return True
    return False


def _faster(live: Sequence[Effective], slow: Sequence[Effective], sign: int) -> bool:
    """Whether something of this sign fades faster than the slowest of the others."""
    least = min((one.k for one in slow), default=0.0)
    return any(one.megram.sigma * sign > 0 and one.k > least for one in live)


def staged(megrams: Sequence[Effective], rules: Rules) -> tuple[Stage, ...]:
    """Where two stages are in force: what the newest episode of a pair moves. A success is task knowledge at once, a failure when
    it is the second; a failure sends the successes that it contradicts back."""
    live = _members([one for one in megrams if counts(one)])
    if not rules.two_stage or not live or live[0].level is not Level.M or not live[0].megram.sigma:
        return ()
    newest, earlier = live[0], [one for one in live[1:] if one.megram.level is Level.M]
    to_k = Stage(megram_id=newest.megram.id, kind=EventKind.PROMOTED_K, level=Level.K)
    if newest.megram.sigma > 0:
        return (to_k,)
    back = tuple(
        Stage(megram_id=one.megram.id, kind=EventKind.RESTORED, level=Level.M)
        for one in earlier
        if one.level is Level.K and one.megram.sigma > 0
    )
    return (*back, to_k) if any(one.megram.sigma < 0 for one in earlier) else back
