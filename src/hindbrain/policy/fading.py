"""Fading: how the weight of an experience falls with its age, and when it is gone. Stores and engines count by the same rule."""

import math
from functools import lru_cache

from hindbrain.domain.experience import Effective, Level

__all__ = ["DAY_MS", "DECIMALS", "FLOOR", "NEGLIGIBLE", "OLDEST", "age_days", "decayed", "fades_at", "gone_at", "weights"]

DAY_MS = 86_400_000
DECIMALS = 9  # to which every number is rounded before it is compared
FLOOR = 0.1  # when the M and K entries of a pair have less attention together, they are forgotten; exactly this is kept
NEGLIGIBLE = 1e-12  # a weight below this is none: no sum shows it in nine decimals, and a database may refuse its products
OLDEST = 100.0  # k times days beyond which nothing changes any more: e^-100 is nothing, but still a number everywhere

_NEVER_MS = 10_000 * 366 * DAY_MS  # what fades later than this does not fade


def age_days(origin: int, at: int) -> float:
    """Days between two times; a time in the future is age 0."""
    return max(0, at - origin) / DAY_MS


def decayed(weight: float, k: float, days: float) -> float:
    """What is left of a weight."""
    return weight * math.exp(-min(k * days, OLDEST))


def weights(f: float, sigma: float) -> tuple[float, float]:
    """What an experience adds to attention and to decision while it is new."""
    both = (abs(f), sigma * f)
    return tuple(one if abs(one) >= NEGLIGIBLE else 0.0 for one in both)  # type: ignore[return-value]  # two of them


def fades_at(f: float, k: float, origin: int) -> int | None:
    """The first millisecond at which a weight, rounded, is below the floor; 0 when it always was, None when it never will be."""
    delay = _delay(f, k)
    return 0 if delay == 0 else None if delay is None else origin + delay


def gone_at(held: Effective) -> int | None:
    """From when on an experience alone does not keep its pair: then it is forgotten, unless others do. Rules and values never."""
    return fades_at(held.megram.f, held.k, held.origin) if held.level in (Level.M, Level.K) else None


@lru_cache(maxsize=4096)
def _delay(f: float, k: float) -> int | None:
    def gone(ms: int) -> bool:
        return round(decayed(f, k, ms / DAY_MS), DECIMALS) < FLOOR

    if gone(0):
        return 0
    if not gone(_NEVER_MS):
        return None
    low, high = 0, _NEVER_MS  # kept at low, gone at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if gone(middle) else (middle, high)
    return high
