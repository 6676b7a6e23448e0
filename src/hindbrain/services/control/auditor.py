"""R6, the Auditor: watches all that is said by a tap, keeps a log of its own, and tells a person. It instructs nobody, and nobody
instructs it: what a role says of numbers, windows or the log changes nothing here."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from hindbrain.domain.audit import Anomaly, AuditEvent, AuditEventMore, Decision, Facts, Of
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import AuditReport
from hindbrain.engines.audit_facts import Seen, facts_of, named
from hindbrain.engines.audit_window import Finding
from hindbrain.engines.auditing import Numbers, Watch
from hindbrain.engines.moments import milliseconds, stamped
from hindbrain.policy.auditing import LOOK_MOST, LOOK_PAGE, WINDOW_MS
from hindbrain.policy.control import CONSUMER_LAG, Params
from hindbrain.services.control.audit_replay import past, replayed
from hindbrain.services.control.ports import Heard, Voice
from hindbrain.services.control.tap import Tap
from hindbrain.stores.audit_log import AuditLog, Line

__all__ = ["Auditor", "Sent"]

LOG = logging.getLogger("hindbrain.audit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A report that went out, the query it answers, and the decisions of its period."""

    report: AuditReport
    query: str | None
    decisions: tuple[Decision, ...]


class Auditor:
    """The auditor of one brain."""

    hears = frozenset({MessageType.AUDIT_QUERY})

    def __init__(
        self,
        voice: Voice,
        tap: Tap,
        log: AuditLog,
        *,
        numbers: Numbers,
        counters: Callable[[], Mapping[str, int]],
    ) -> None:
        if voice is None:
            raise ValueError("a role needs a voice on the bus")
        self._voice = voice
        self._tap = tap
        self._log = log
        self._ask = numbers
        self._asked: dict[tuple[str, str], Params] = {}  # during one look
        self._counters = counters  # kind -> how often it happened in this process where no message tells of it
        self._counted: dict[str, int] = {}
        self._watch = Watch(self._numbers)
        self._ready = self._lagging = self._alarmed = False
        self._lock = threading.Lock()

    def hear(self, heard: Heard) -> None:
        """A person asks. The tap has the question like everything else, and shows who asked."""
        self.look()

    def look(self) -> tuple[Sent, ...]:
        """Take in what is new, write it down, and send the reports that are due. Costs next to nothing when nothing is."""
        now = self._voice.now()
        with self._lock:
            self._asked.clear()
            if not self._has_news(now):
                return ()
            with self._log.hold() as mine:
                if not mine:  # another process is at it, and writes the same
                    return ()
                try:
                    if not self._ready or self._log.changed:
                        self._take_up(now)
                    return self._looked(now)
                except BaseException:
                    self._ready = False  # what is on the disk counts, not what was about to be written
                    raise

    def _numbers(self, task_class: str, task: str) -> Params:
        """The numbers in force, asked for once in a look."""
        if (task_class, task) not in self._asked:
            self._asked[task_class, task] = self._ask(task_class, task)
        return self._asked[task_class, task]

    def _has_news(self, now: int) -> bool:
        if not self._ready:
            return self._log.exists or self._tap.waiting
        return (
            self._tap.waiting
            or now >= self._watch.due
            or self._reports_due(now)
            or self._log.changed
            or dict(self._counters()) != self._counted
        )

    # -- the log -----------------------------------------------------------------------------------------------------

    def _take_up(self, now: int) -> None:
        """Go on where the log ends, whoever wrote it."""
        known = self._log.size if self._ready else 0
        found = replayed(self._log.open(), self._numbers)
        self._watch, self._tap.cursor = found.watch, found.cursor
        self._ready = True
        if self._log.size < known:
            self._alarm(f"the audit log is {known - self._log.size} bytes shorter than it was", now)
        elif found.broken is not None:
            self._alarm(f"line {found.broken} of the audit log is not as it was written", now)

    def _alarm(self, detail: str, now: int) -> None:
        """Somebody was at the log. It goes on from what holds, and a person is told at once."""
        LOG.error("%s", detail)
        self._alarmed = True
        finding = Finding(kind=Anomaly.BOUNDARY_VIOLATION, detail=detail)
        self._log.append([self._found(finding, now)])

    def _looked(self, now: int) -> tuple[Sent, ...]:
        taken = 0
        while taken < LOOK_MOST and (page := self._tap.next(LOOK_PAGE)):
            lines: list[Line] = []
            if taken == 0:
                lines += self._lag(len(page), page[0].seq - 1, now)
            for one in page:
                lines += [self._found(finding, one.at, cursor=one.seq - 1) for finding in self._watch.late(one.at)]
                lines.append(self._seen(one))
            self._log.append(lines)
            taken += len(page)
        late = [self._found(finding, now) for finding in (*self._watch.late(now), *self._lost())]
        self._log.append(late)
        return tuple(self._reports(now))

    def _seen(self, one: Seen) -> Line:
        facts = facts_of(one)
        found = self._watch.see(one, facts)
        for finding in found:
            self._watch.note(finding, one.at)
        first = found[0] if found else None
        return _line(
            AuditEvent(
                event_id=f"aud_{named(one.id)}",
                timestamp=stamped(one.at),
                from_role=named(one.sender),
                to_role=named(one.recipient),
                message_type=named(one.type),
                anomaly=first.kind if first is not None else Anomaly.NONE,
                detail=first.detail if first is not None else None,
                x=AuditEventMore(
                    seq=one.seq,
                    also=tuple((finding.kind, finding.detail) for finding in found[1:]),
                    facts=msgspec.to_builtins(facts),
                ),
            )
        )

    def _found(self, finding: Finding, at: int, *, cursor: int | None = None) -> Line:
        self._watch.note(finding, at)
        return self._own("finding", finding.kind, finding.detail, at, about=finding.about, cursor=cursor, task=finding.task)

    def _own(
        self,
        of: Of,
        kind: Anomaly,
        detail: str | None,
        at: int,
        *,
        about: int | None = None,
        cursor: int | None = None,
        task: str | None = None,
    ) -> Line:
        return _line(
            AuditEvent(
                event_id=f"aud_{of}_{kind.value}_{about or stamped(at)}",
                timestamp=stamped(at),
                from_role=Role.AUDITOR.value,
                to_role=Role.USER.value,
                message_type="",
                anomaly=kind,
                detail=detail,
                x=AuditEventMore(
                    seq=self._tap.cursor if cursor is None else cursor,
                    of=of,
                    about=about,
                    facts=msgspec.to_builtins(Facts(task=task)),
                ),
            )
        )

    def _lag(self, behind: int, cursor: int, now: int) -> Iterable[Line]:
        lagging, before = behind > CONSUMER_LAG, self._lagging
        self._lagging = lagging
        if lagging and not before:
            told = f"consumer_lag: the auditor was more than {CONSUMER_LAG} messages behind"
            LOG.warning("%s", told)
            yield self._own("notice", Anomaly.NONE, told, now, cursor=cursor)

    def _lost(self) -> Iterable[Finding]:
        """What was counted where no message tells of it."""
        counts = dict(self._counters())
        for name, count in counts.items():
            more = count - self._counted.get(name, 0)
            if more > 0:
                yield Finding(kind=Anomaly(name), detail=f"{more} more, {count} in this process")
        self._counted = counts

    # -- reports -----------------------------------------------------------------------------------------------------

    def _reports_due(self, now: int) -> bool:
        start = self._watch.window.start
        return bool(self._watch.asked) or (start is not None and (self._alarmed or now >= start + WINDOW_MS))

    def _reports(self, now: int) -> Iterable[Sent]:
        for query, facts in list(self._watch.asked.items()):
            since = milliseconds(facts.since) if facts.since else None
            if since is None:
                yield self._close("on-demand", now, query=query, correlation=facts.correlation)
            else:
                yield self._over(since, now, query=query, correlation=facts.correlation)
        if self._reports_due(now):
            yield self._close("periodic", now)

    def _close(
        self, trigger: Literal["periodic", "on-demand"], now: int, *, query: str | None = None, correlation: str | None = None
    ) -> Sent:
        """Report the window and begin the next."""
        self._log.append([self._found(finding, now) for finding in self._watch.closing()])
        window = self._watch.window
        since = now if window.start is None else min(window.start, now)
        report = window.report(report_id=self._log.anchor, trigger=trigger, since=since, until=now)
        decisions = window.decided()
        self._alarmed = False
        self._watch.asked.pop(query or "", None)
        self._watch.sent.add(report.report_id)
        self._watch.next_window(window.rates())
        return self._send("window", report, decisions, now, query=query, correlation=correlation)

    def _over(self, since: int, now: int, *, query: str, correlation: str | None) -> Sent:
        """Report a time that lies behind, from the log; the window stays as it is."""
        window = past(self._log.lines(), self._numbers, since=since)
        report = window.report(report_id=self._log.anchor, trigger="on-demand", since=min(since, now), until=now)
        self._watch.asked.pop(query, None)
        self._watch.sent.add(report.report_id)
        return self._send("report", report, window.decided(), now, query=query, correlation=correlation)

    def _send(
        self,
        of: Literal["window", "report"],
        report: AuditReport,
        decisions: tuple[Decision, ...],
        now: int,
        *,
        query: str | None,
        correlation: str | None,
    ) -> Sent:
        """Write it down first: a report that the log does not hold is taken for a forged one."""
        event = AuditEvent(
            event_id=report.report_id,
            timestamp=stamped(now),
            from_role=Role.AUDITOR.value,
            to_role=Role.USER.value,
            message_type=MessageType.AUDIT_REPORT.value,
            anomaly=Anomaly.NONE,
            detail=report.trigger,
            x=AuditEventMore(
                seq=self._tap.cursor,
                of=of,
                facts=msgspec.to_builtins(Facts(query=query, report=report.report_id)),
                report=msgspec.to_builtins(report),
                decisions=decisions,
                carry=self._watch.carried() if of == "window" else None,
            ),
        )
        self._log.append([_line(event)])
        self._voice.say(Role.USER, report, task_id=None, correlation=correlation or query)
        return Sent(report=report, query=query, decisions=decisions)


def _line(event: AuditEvent) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(event)
    return found
