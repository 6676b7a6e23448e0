"""Audit records: what the auditor notes of each message, and the kinds of what can be wrong. No line holds a text that somebody
wrote: names, numbers and ids only, so that nothing has to be forgotten from a log that is only added to."""

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct, field

from hindbrain.domain.task import Count, Record

__all__ = ["Anomaly", "AuditEvent", "AuditEventMore", "Decision", "Facts", "Of"]


class Anomaly(StrEnum):
    """What can be wrong with a message, or with what should have followed it."""

    NONE = "none"
    BOUNDARY_VIOLATION = "boundary_violation"
    CONVERGENCE_FAILURE = "convergence_failure"
    DRIFT = "drift"
    GGS_THRASHING = "ggs_thrashing"
    DUPLICATE_ID = "duplicate_id"
    FANIN_INCOMPLETE = "fanin_incomplete"
    EXCESSIVE_RETRIES = "excessive_retries"
    SCHEMA_VIOLATION = "schema_violation"
    MEMORY_WRITE_DROPPED = "memory_write_dropped"
    CLAIM_CONTRADICTION = "claim_contradiction"
    MISSING_FINAL_RESULT = "missing_final_result"
    COST_ONLY_GRADIENT = "cost_only_gradient"
    SUSPICIOUS_IMPROVEMENT = "suspicious_improvement"


# What a line of the log tells of: a message, something that was found without one, the end of a window, a report over the past
# that leaves the window as it is, or a note on the log and its reader.
Of = Literal["message", "finding", "window", "report", "notice"]


class Facts(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the auditor takes from a message. Its counters can be made from these again."""

    task: str | None = None
    task_class: str | None = None
    subtask: str | None = None
    subtasks: tuple[str, ...] = ()
    status: str | None = None
    failure_class: str | None = None
    attempts: Count = 0
    skipped: bool = False
    contradicts: str | None = None  # the tool whose last call failed while all was said to be done
    corrections: Count = 0
    round: Count = 0
    directive: str | None = None
    D: float = 0.0
    P: float = 0.0
    Omega: float = 0.0
    L: float = 0.0
    grad_l: float = 0.0
    part_d: float = 0.0
    part_p: float = 0.0
    report: str | None = None
    query: str | None = None
    correlation: str | None = None
    since: str | None = None
    wrong: str | None = None  # where it does not fit its schema


class Decision(Record, frozen=True, kw_only=True):
    """One decision of the controller, with all that tuning asks for. `outcome` is how its task ended, if it did."""

    task_id: str
    round: Count
    D: float
    P: float
    Omega: float
    L: float
    grad_l: float
    directive: str
    outcome: str | None = None


class AuditEventMore(Record, frozen=True, kw_only=True):
    """`seq` is the last message that was read when the line was written: the log's own cursor."""

    seq: int
    of: Of = "message"
    about: int | None = None  # the message that a finding is about
    also: tuple[tuple[Anomaly, str], ...] = ()  # what else is wrong with the same message
    facts: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] | None = None
    decisions: tuple[Decision, ...] = ()
    carry: dict[str, Any] | None = None  # what goes on into the next window
    line: int = 0
    prev_hash: str = ""
    hash: str = ""


class AuditEvent(Record, frozen=True, kw_only=True):
    """One line of the audit log."""

    event_id: str
    timestamp: str
    from_role: str
    to_role: str
    message_type: str
    anomaly: Anomaly
    detail: str | None
    x: AuditEventMore
