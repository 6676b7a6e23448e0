"""Audit policy: from which numbers on something is out of the ordinary, each with its reason. Only a person may read them."""

from hindbrain.domain.audit import Anomaly

__all__ = [
    "ANSWER_S",
    "ANSWER_TURN_S",
    "DECISIONS_MOST",
    "DRIFT_CORRECTIONS",
    "DRIFT_DEVIATIONS",
    "DRIFT_FLOOR",
    "DRIFT_WINDOWS",
    "FANIN_GRACE_MS",
    "FINAL_BUDGETS",
    "HOSTED",
    "KEPT_TASKS",
    "LOOK_MOST",
    "LOOK_PAGE",
    "ORDER",
    "REPORT_MOST",
    "RETRY_AVERAGE",
    "RETRY_SUBTASKS",
    "THRASHING",
    "UNSEEN_SHOWN",
    "WINDOW_MS",
]

WINDOW_MS = 300_000  # a person is told every five minutes at most, and never of nothing
DRIFT_CORRECTIONS = 5  # corrections in one round: more than two subtasks can use up, so the plan itself misses its mark
THRASHING = 2  # breaks in a row without getting nearer: the second shows that the first did not help
FANIN_GRACE_MS = 60_000  # beyond the budget, for tools that are still being stopped
HOSTED = "msn_"  # a mission ends when its agent closes it, which no budget of ours can hurry
FINAL_BUDGETS = 2  # budgets without an end: whoever should have ended it is gone
RETRY_AVERAGE = 2.0  # attempts per subtask above which retrying has become the way of working
RETRY_SUBTASKS = 5  # fewer say nothing about the average
DRIFT_WINDOWS = 20  # windows that make the usual rate of a role
DRIFT_DEVIATIONS = 3.0  # farther from the usual than chance explains
# A role that never failed has no spread at all, and its first failure among hundreds would be an alarm.
DRIFT_FLOOR = 0.01

ANSWER_S = 3.0  # a person who asks waits no longer
ANSWER_TURN_S = 0.05  # until the log is looked at again while another process holds it
UNSEEN_SHOWN = 100  # numbers of messages without a line that an answer lists
REPORT_MOST = 200  # findings spelled out in one report; the others are counted, so that no flood makes it unreadable
DECISIONS_MOST = 1_000  # decisions kept with one window
KEPT_TASKS = 32  # tasks whose ids are still known after their end, for what comes late
LOOK_PAGE = 500  # messages read and written at once
LOOK_MOST = 50_000  # messages of one look, so that a flood never keeps the one who looks

# Which of several findings names the message: what crosses a line before what goes badly, the cause before the sign.
ORDER: tuple[Anomaly, ...] = (
    Anomaly.BOUNDARY_VIOLATION,
    Anomaly.SCHEMA_VIOLATION,
    Anomaly.CLAIM_CONTRADICTION,
    Anomaly.DUPLICATE_ID,
    Anomaly.MISSING_FINAL_RESULT,
    Anomaly.FANIN_INCOMPLETE,
    Anomaly.MEMORY_WRITE_DROPPED,
    Anomaly.GGS_THRASHING,
    Anomaly.CONVERGENCE_FAILURE,
    Anomaly.SUSPICIOUS_IMPROVEMENT,
    Anomaly.COST_ONLY_GRADIENT,
    Anomaly.DRIFT,
    Anomaly.EXCESSIVE_RETRIES,
)
