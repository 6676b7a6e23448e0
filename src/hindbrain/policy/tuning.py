"""Tuning: which numbers of the controller are tried in a replay, and how far it looks."""

from collections.abc import Mapping

__all__ = ["ACT_APPLIED", "ACT_UNDONE", "APPLIED_KEY", "CLASS_CHARS", "GRID", "PASSES", "TASKS_MOST"]

# Small on purpose: recorded tasks can tell a coarse step from another, not a third decimal. w2 follows from w1.
GRID: Mapping[str, tuple[float | str, ...]] = {
    "ggs.alpha": (0.4, 0.5, 0.6, 0.7, 0.8),
    "ggs.beta": (0.1, 0.2, 0.3, 0.4, 0.5),
    "ggs.lambda": (0.2, 0.3, 0.4, 0.5, 0.6),
    "ggs.w1": (0.4, 0.5, 0.6, 0.7, 0.8),
    "ggs.epsilon": (0.05, 0.075, 0.1, 0.15, 0.2),
    "ggs.delta": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    "ggs.rho": (0.3, 0.4, 0.5, 0.6, 0.7),
    "ggs.theta": (0.6, 0.7, 0.8, 0.9, 1.0),
    "ggs.gradient_basis": ("total", "quality"),
}
PASSES = 3  # numbers that one proposal may change; each is chosen with the ones before it in place
TASKS_MOST = 1000  # the latest of them that a tuning looks at
CLASS_CHARS = 80  # of the name of a class of tasks

APPLIED_KEY = "control.tuning"  # where a brain keeps what was applied, each with the ledger entry that gave it
ACT_APPLIED = "control.tuning_applied"
ACT_UNDONE = "control.tuning_undone"
