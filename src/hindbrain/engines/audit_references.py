"""Audit references: which ids the messages give, and which they lean on. What leans on an id that nothing gave proves nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from hindbrain.domain.control import FinalResult, GracefulFailureRequest
from hindbrain.domain.message import PAYLOADS, BusMessage
from hindbrain.domain.notes import MegramNote
from hindbrain.domain.task import ExecutionResult, OutcomeSummary, ReplanRequest, SubTaskOutcome, Verdict
from hindbrain.domain.typed import converted

__all__ = ["Dangling", "References"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dangling:
    """A message that leans on an id which no message gave."""

    seq: int
    id: str


@dataclass(slots=True)
class References:
    """The ids of one record, taken in message by message."""

    given: set[str] = field(default_factory=set)
    leant: list[Dangling] = field(default_factory=list)

    def see(self, message: BusMessage) -> None:
        """Take a message in. A tool call is an event of the message in which its executor told of it."""
        self.given.add(message.id)
        if message.causation_id is not None:
            self.leant.append(Dangling(seq=message.seq, id=message.causation_id))
        try:
            record = converted(message.payload, PAYLOADS[message.type])
        except msgspec.ValidationError:
            return  # refused when it was said; nothing leans on it
        if isinstance(record, ExecutionResult):
            self.given.update(call.event_id for call in record.tool_calls)
        self.leant += [Dangling(seq=message.seq, id=one) for one in _leans(record)]

    def dangling(self) -> list[Dangling]:
        """What was leant on and never given, in the order of the messages."""
        return [one for one in self.leant if one.id not in self.given]


def _leans(record: object) -> Iterator[str]:
    match record:
        case SubTaskOutcome():
            yield from _of_outcomes([record])
        case ReplanRequest() | OutcomeSummary():
            yield from _of_outcomes(record.outcomes)
            yield from _of_verdicts(record.x.task_criteria_verdicts)
        case GracefulFailureRequest():
            yield from _of_outcomes(record.outcomes)
        case FinalResult():
            yield from record.x.evidence_event_ids
        case MegramNote() if record.x.source_event_id is not None:
            yield record.x.source_event_id


def _of_outcomes(outcomes: Iterable[SubTaskOutcome]) -> Iterator[str]:
    for outcome in outcomes:
        yield from (call.event_id for call in outcome.tool_calls)
        yield from _of_verdicts(outcome.criteria_verdicts)


def _of_verdicts(verdicts: Iterable[Verdict]) -> Iterator[str]:
    for verdict in verdicts:
        yield from verdict.x.event_ids
