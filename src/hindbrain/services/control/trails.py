"""Trails: the recorded tasks of a brain, as a tuning replays them. Reads messages and what was said against a success."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hindbrain.domain.control import FinalResult, PlanDirective
from hindbrain.domain.experience import Writer
from hindbrain.domain.message import PAYLOADS, MessageType
from hindbrain.domain.task import OutcomeSummary, Record, ReplanRequest
from hindbrain.domain.typed import converted
from hindbrain.engines.slug import intent_slug
from hindbrain.engines.solving import Reading, read_round, reading_of
from hindbrain.engines.tuning import Trail
from hindbrain.policy.experience import FEEDBACK
from hindbrain.policy.tuning import TASKS_MOST
from hindbrain.services.control.bus import decoded, delivered
from hindbrain.stores.experience_port import MegramFilter
from hindbrain.stores.port import BrainStore

__all__ = ["trails"]

_PAGE = 500
_TOLD = frozenset({MessageType.REPLAN_REQUEST, MessageType.OUTCOME_SUMMARY, MessageType.PLAN_DIRECTIVE, MessageType.FINAL_RESULT})


@dataclass(slots=True)
class _Course:
    """One task while its messages are read."""

    task_class: str = ""
    slug: str = ""
    readings: list[Reading] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    ended: str = ""
    called_off: bool = False

    def take(self, record: Record) -> None:
        match record:
            case ReplanRequest():
                self._known(record.x.task_class, record.intent)
                self.readings.append(reading_of(read_round(record), record))
            case OutcomeSummary():
                self._known(record.x.task_class, record.intent)
            case PlanDirective():
                self.decisions.append(record.directive)
            case FinalResult():
                self.ended = record.directive
                self.called_off = record.x.abandon_reason == "cancelled"
                if record.directive != "accept" and len(self.decisions) < len(self.readings):
                    self.decisions.append(record.directive)

    def _known(self, task_class: str, intent: str) -> None:
        self.task_class = task_class or self.task_class
        self.slug = intent_slug(intent)


def trails(store: BrainStore, *, since: int | None, task_class: str | None) -> list[Trail]:
    """The tasks that ended, the latest of them, in order. One that a person called off says nothing about numbers."""
    courses: dict[str, _Course] = {}
    for task_id, record in _records(store, since):
        courses.setdefault(task_id, _Course()).take(record)
    doubted = _doubted(store)
    found: list[Trail] = []
    failed_since: set[str] = set()  # intents of which a later task was given up
    for task_id, course in reversed(courses.items()):
        if not course.ended or course.called_off or not course.slug:
            continue
        if task_class is None or course.task_class == task_class:
            found.append(
                Trail(
                    task_id=task_id,
                    readings=tuple(course.readings),
                    decisions=tuple(course.decisions),
                    ended=course.ended,
                    contradicted=course.ended == "success" and (task_id in doubted or course.slug in failed_since),
                )
            )
        if course.ended == "abandon":
            failed_since.add(course.slug)
        elif course.ended == "accept":
            failed_since.discard(course.slug)
    return found[:TASKS_MOST][::-1]


def _records(store: BrainStore, since: int | None) -> Iterator[tuple[str, Record]]:
    after = 0
    while page := store.messages(after=after, limit=_PAGE):
        after = page[-1].seq
        for stored in page:
            if stored.task_id is None or stored.type not in _TOLD or (since is not None and stored.at < since):
                continue
            message = decoded(stored)
            if delivered(message):
                yield stored.task_id, converted(message.payload, PAYLOADS[message.type])


def _doubted(store: BrainStore) -> set[str]:
    """Tasks whose result a person spoke against."""
    against = [
        source
        for one in store.effective(MegramFilter(writer="operator"))
        if one.megram.state == FEEDBACK
        for source in one.megram.derived_from
    ]
    held = store.megrams(against) if against else {}
    return {one.megram.task_id for one in held.values() if one.megram.task_id and one.megram.writer is Writer.SOLVER}
