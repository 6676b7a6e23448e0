"""Mirrors of missions: files that follow from the store and can be made again. A mirror that cannot be written takes nothing from
what was kept; the next turn makes it whole."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable

import msgspec

from hindbrain.domain.errors import Busy
from hindbrain.domain.mission import EventType, MissionEvent
from hindbrain.domain.typed import decoded
from hindbrain.engines.course import Course, stated
from hindbrain.engines.flight import Recorder, recorded
from hindbrain.engines.moments import stamped
from hindbrain.services.brains import OpenBrain
from hindbrain.services.missions.log import MissionLog, checked_id
from hindbrain.stores.mission_files import MissionDirectory
from hindbrain.stores.mission_port import StoredPaper

__all__ = ["MissionFiles"]

LOG = logging.getLogger("hindbrain.missions")

_EVENTS, _FLIGHT, _STATE, _PROOF = "events.jsonl", "flight.jsonl", "state.json", "proof.json"
_TURNING = frozenset((EventType.HANDOFF, EventType.RESUME, EventType.CLOSE))  # events after which the state is written
_RECORDERS = 64


class _EventLine(msgspec.Struct):
    seq: int


class _FlightLine(msgspec.Struct):
    step_id: int


class _StateFile(msgspec.Struct):
    mission_id: str


def _event_seq(line: bytes) -> int | None:
    try:
        return decoded(line, _EventLine).seq
    except msgspec.MsgspecError:
        return None


def _flight_seq(line: bytes) -> int | None:
    try:
        return decoded(line, _FlightLine).step_id
    except msgspec.MsgspecError:
        return None


class MissionFiles:
    """Writes `missions/<id>/` below a brain's directory: `events.jsonl`, `flight.jsonl`, `state.json`, `handoff-N.json`,
    `proof.json`. Put `mirror` among the mirrors of the log."""

    def __init__(self, log: MissionLog) -> None:
        self._log = log
        self._guard = threading.Lock()
        self._recorders: OrderedDict[tuple[str, str], Recorder] = OrderedDict()
        self.troubles: dict[str, str] = {}  # mission -> why its files are behind

    def directory(self, opened: OpenBrain, mission_id: str) -> MissionDirectory:
        """Where the files of a mission are."""
        return MissionDirectory(opened.directory / "missions" / checked_id(mission_id))

    def mirror(
        self, opened: OpenBrain, course: Course, events: tuple[MissionEvent, ...], papers: tuple[StoredPaper, ...]
    ) -> None:
        """Follow one turn."""
        if not events and not papers:
            return
        name = course.spec.mission_id
        try:
            if name not in self.troubles:
                self._follow(opened, course, events, papers)
            elif not self._erased(opened, name):
                self.rebuild(opened, name)
                del self.troubles[name]
            if self._erased(opened, name):  # by somebody else, since this turn was kept
                self.remove(opened, name)
        except (OSError, Busy) as failed:
            self.troubles[name] = str(failed)
            LOG.warning("the files of mission %s are behind its events: %s", name, failed)

    def state(self, opened: OpenBrain, course: Course) -> str:
        """Write the state as it is now; what the file says."""
        place = self.directory(opened, course.spec.mission_id)
        place.make()
        with place.lock():
            return self._write_state(place, course)

    def rebuild(self, opened: OpenBrain, mission_id: str) -> tuple[str, ...]:
        """Make every file again from the store; their names."""
        place = self.directory(opened, mission_id)
        with self._log.reading(opened, mission_id) as course:
            contents = self._contents(opened, course)
            place.make()
            with place.lock():
                for name, text in contents.items():
                    place.write(name, text)
                self._write_state(place, course)
        return (*contents, _STATE)

    def _contents(self, opened: OpenBrain, course: Course) -> dict[str, str]:
        """What the files of a mission say, by name; its state says when it was written and is not among them."""
        name = course.spec.mission_id
        events = self._log.events(opened, name, limit=course.seq)
        streams = {_EVENTS: events, _FLIGHT: recorded(course.spec, events)}
        papers = [*opened.store.mission_papers(name, kind="handoff"), *opened.store.mission_papers(name, kind="proof")]
        lines = {file: "".join(msgspec.json.encode(one).decode() + "\n" for one in rows) for file, rows in streams.items()}
        return {**lines, **{_paper_name(paper): paper.body for paper in papers}}

    def damaged(self, opened: OpenBrain, *, most: int) -> dict[str, tuple[str, ...]]:
        """The missions, latest first, whose files do not say what the store says, with the names of those files."""
        found = {}
        for head in opened.store.missions(limit=most):
            place = self.directory(opened, head.mission_id)
            if head.erased or not place.path.exists():
                continue
            with self._log.reading(opened, head.mission_id) as course:
                contents = self._contents(opened, course)
            wrong = [name for name, text in contents.items() if place.text(name) != text]
            wrong += [_STATE] if not _is_state(place.text(_STATE), head.mission_id) else []
            if wrong:
                found[head.mission_id] = tuple(wrong)
        return found

    def remove(self, opened: OpenBrain, mission_id: str) -> None:
        """Delete the files of a mission, and what is remembered of them."""
        with self._guard:
            self._recorders.pop((opened.brain.id, mission_id), None)
        self.troubles.pop(mission_id, None)
        self.directory(opened, mission_id).remove()

    # -- within ------------------------------------------------------------------------------------------------------

    def _follow(
        self, opened: OpenBrain, course: Course, events: tuple[MissionEvent, ...], papers: tuple[StoredPaper, ...]
    ) -> None:
        place = self.directory(opened, course.spec.mission_id)
        place.make()
        with place.lock():
            self._lines(opened, place, course, events)
            for paper in papers:
                place.write(_paper_name(paper), paper.body)
            if any(one.seq == 1 or one.event_type in _TURNING for one in events):
                self._write_state(place, course)

    @staticmethod
    def _erased(opened: OpenBrain, mission_id: str) -> bool:
        head = opened.store.mission(mission_id)
        return head is not None and head.erased

    def _lines(self, opened: OpenBrain, place: MissionDirectory, course: Course, events: tuple[MissionEvent, ...]) -> None:
        """Bring both streams to the last event. Usually what is missing is what this turn made."""
        if not events:
            return
        first = events[0].seq

        def since(seq: int) -> tuple[MissionEvent, ...]:
            held = events if seq >= first - 1 else self._log.events(opened, course.spec.mission_id, after=seq)
            return tuple(one for one in held if seq < one.seq <= course.seq)

        records = self._recorder(opened, course, first, events)
        place.bring_up(_EVENTS, _event_seq, course.seq, lambda seq: map(msgspec.json.encode, since(seq)))

        def flown(seq: int) -> Iterable[bytes]:
            if seq >= first - 1:
                return (line for step, line in records if step > seq)
            whole = recorded(course.spec, self._log.events(opened, course.spec.mission_id, limit=course.seq))
            return (msgspec.json.encode(one) for one in whole if one.step_id > seq)

        place.bring_up(_FLIGHT, _flight_seq, course.seq, flown)

    def _recorder(
        self, opened: OpenBrain, course: Course, first: int, events: tuple[MissionEvent, ...]
    ) -> list[tuple[int, bytes]]:
        """The lines of these events, with the totals of all before them."""
        name = course.spec.mission_id
        key = (opened.brain.id, name)
        with self._guard:
            recorder = self._recorders.pop(key, None)
        if recorder is None or recorder.seq > first - 1:
            recorder = Recorder.of(course.spec)
        if recorder.seq < first - 1:
            for one in self._log.events(opened, name, after=recorder.seq, limit=first - 1 - recorder.seq):
                recorder.add(one)
        lines = [(one.seq, msgspec.json.encode(recorder.add(one))) for one in events]
        with self._guard:
            self._recorders[key] = recorder
            while len(self._recorders) > _RECORDERS:
                self._recorders.popitem(last=False)
        return lines

    @staticmethod
    def _write_state(place: MissionDirectory, course: Course) -> str:
        """The state without its events, which stand beside it: a file that is written again must not grow with the mission."""
        made = stated(course, now=course.updated_at, stamp=stamped(course.updated_at))
        text = msgspec.json.format(msgspec.json.encode(made), indent=2).decode() + "\n"
        place.write(_STATE, text)
        return text


def _is_state(text: str | None, mission_id: str) -> bool:
    try:
        return decoded(text or "", _StateFile).mission_id == mission_id
    except msgspec.MsgspecError:
        return False


def _paper_name(paper: StoredPaper) -> str:
    return _PROOF if paper.kind == "proof" else f"handoff-{paper.number}.json"
