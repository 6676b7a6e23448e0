"""Messages: who may speak on the bus, what can be said, and the shape of one message. The records themselves are in `task`,
`control` and `notes`; whoever decodes one has validated it."""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from hindbrain.domain.control import FinalResult, GracefulFailureNote, GracefulFailureRequest, PlanDirective, PlanFailure
from hindbrain.domain.notes import (
    AuditQuery,
    AuditReport,
    Cancel,
    ClarificationAnswer,
    ClarificationRequest,
    ConfirmationAnswer,
    ConfirmationRequest,
    MegramNote,
    MemoryQuery,
    MemoryRecall,
    MemoryResponse,
)
from hindbrain.domain.task import (
    CorrectionSignal,
    DispatchManifest,
    ExecutionResult,
    OutcomeSummary,
    Record,
    ReplanRequest,
    SubTask,
    SubTaskOutcome,
    TaskSpec,
)

__all__ = ["PAYLOADS", "TYPES", "BusMessage", "MessageType", "Role"]


class Role(StrEnum):
    """Who speaks on the bus."""

    USER = "User"
    PERCEIVER = "R1"
    PLANNER = "R2"
    EXECUTOR = "R3"
    AGENT_VALIDATOR = "R4a"
    META_VALIDATOR = "R4b"
    MEMORY = "R5"
    AUDITOR = "R6"
    SOLVER = "R7"


class MessageType(StrEnum):
    """What can be said."""

    TASK_SPEC = "TaskSpec"
    SUB_TASK = "SubTask"
    DISPATCH_MANIFEST = "DispatchManifest"
    EXECUTION_RESULT = "ExecutionResult"
    CORRECTION_SIGNAL = "CorrectionSignal"
    SUB_TASK_OUTCOME = "SubTaskOutcome"
    REPLAN_REQUEST = "ReplanRequest"
    OUTCOME_SUMMARY = "OutcomeSummary"
    PLAN_DIRECTIVE = "PlanDirective"
    FINAL_RESULT = "FinalResult"
    MEGRAM = "Megram"
    MEMORY_RECALL = "MemoryRecall"
    AUDIT_QUERY = "AuditQuery"
    AUDIT_REPORT = "AuditReport"
    MEMORY_QUERY = "MemoryQuery"
    MEMORY_RESPONSE = "MemoryResponse"
    PLAN_FAILURE = "PlanFailure"
    GRACEFUL_FAILURE_REQUEST = "GracefulFailureRequest"
    GRACEFUL_FAILURE_NOTE = "GracefulFailureNote"
    CLARIFICATION_REQUEST = "ClarificationRequest"
    CLARIFICATION_ANSWER = "ClarificationAnswer"
    CONFIRMATION_REQUEST = "ConfirmationRequest"
    CONFIRMATION_ANSWER = "ConfirmationAnswer"
    CANCEL = "Cancel"


PAYLOADS: dict[MessageType, type[Record]] = {
    MessageType.TASK_SPEC: TaskSpec,
    MessageType.SUB_TASK: SubTask,
    MessageType.DISPATCH_MANIFEST: DispatchManifest,
    MessageType.EXECUTION_RESULT: ExecutionResult,
    MessageType.CORRECTION_SIGNAL: CorrectionSignal,
    MessageType.SUB_TASK_OUTCOME: SubTaskOutcome,
    MessageType.REPLAN_REQUEST: ReplanRequest,
    MessageType.OUTCOME_SUMMARY: OutcomeSummary,
    MessageType.PLAN_DIRECTIVE: PlanDirective,
    MessageType.FINAL_RESULT: FinalResult,
    MessageType.MEGRAM: MegramNote,
    MessageType.MEMORY_RECALL: MemoryRecall,
    MessageType.AUDIT_QUERY: AuditQuery,
    MessageType.AUDIT_REPORT: AuditReport,
    MessageType.MEMORY_QUERY: MemoryQuery,
    MessageType.MEMORY_RESPONSE: MemoryResponse,
    MessageType.PLAN_FAILURE: PlanFailure,
    MessageType.GRACEFUL_FAILURE_REQUEST: GracefulFailureRequest,
    MessageType.GRACEFUL_FAILURE_NOTE: GracefulFailureNote,
    MessageType.CLARIFICATION_REQUEST: ClarificationRequest,
    MessageType.CLARIFICATION_ANSWER: ClarificationAnswer,
    MessageType.CONFIRMATION_REQUEST: ConfirmationRequest,
    MessageType.CONFIRMATION_ANSWER: ConfirmationAnswer,
    MessageType.CANCEL: Cancel,
}


TYPES: dict[type[Record], MessageType] = {record: kind for kind, record in PAYLOADS.items()}


class BusMessage(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"sender": "from", "recipient": "to", "schema_": "schema"},
):
    """One message as it is kept and delivered. `payload` was validated against its type; `seq` is its entry in the ledger."""

    id: str
    seq: int
    timestamp: str
    sender: Role
    recipient: Role
    type: MessageType
    payload: dict[str, Any]
    task_id: str | None = None
    mission_id: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    schema_: str = "hindbrain-bus-message-v1"
