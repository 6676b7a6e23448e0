"""Audit replay: what the lines of an audit log say the auditor knew. Counters survive a restart because they come from these."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from hindbrain.domain.audit import Anomaly, AuditEvent, Facts
from hindbrain.domain.typed import converted
from hindbrain.engines.audit_facts import Seen
from hindbrain.engines.audit_window import Finding, Window
from hindbrain.engines.auditing import Numbers, Watch
from hindbrain.engines.moments import milliseconds
from hindbrain.stores.audit_log import Line, Tail

__all__ = ["Replayed", "past", "replayed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What was known when the last line was written, the last message it had seen, and the line that is not the auditor's."""

    watch: Watch
    cursor: int
    broken: int | None


def replayed(tail: Tail, numbers: Numbers) -> Replayed:
    """Go through the lines in order. From the first that is not as it was written on, the messages are read again instead."""
    watch, cursor = Watch(numbers), 0
    for line in tail.lines:
        try:
            event = converted(line, AuditEvent)
            if event.x.of == "window":
                watch.carry_on(event.x.carry or {})
            else:
                _take(watch, event)
        except (msgspec.ValidationError, KeyError, TypeError, ValueError):
            # Its hashes hold, yet no auditor wrote this: somebody made the chain anew.
            return Replayed(watch=watch, cursor=cursor, broken=line["x"]["line"])
        cursor = event.x.seq
    return Replayed(watch=watch, cursor=cursor, broken=tail.broken)


def past(lines: Iterable[Line], numbers: Numbers, *, since: int) -> Window:
    """The counters of everything since a time, whatever windows it fell into."""
    watch = Watch(numbers)
    for line in lines:
        try:
            event = converted(line, AuditEvent)
        except msgspec.ValidationError:
            continue  # what was changed is named by the check of the chain
        if (milliseconds(event.timestamp) or 0) >= since:
            _take(watch, event)
    return watch.window


def _take(watch: Watch, event: AuditEvent) -> None:
    """One line. What was found then is counted as it was found: later settings do not rewrite it."""
    at, facts = milliseconds(event.timestamp) or 0, converted(event.x.facts, Facts)
    if event.x.of == "message":
        watch.see(_seen(event, at), facts)
    for finding in _findings(event, facts):
        watch.note(finding, at)
        if event.x.of == "finding":
            watch.missed(finding)
    if event.x.of in ("window", "report"):
        watch.asked.pop(facts.query or "", None)
        watch.sent.add(facts.report or "")


def _seen(event: AuditEvent, at: int) -> Seen:
    return Seen(
        id=event.event_id,
        seq=event.x.seq,
        at=at,
        sender=event.from_role,
        recipient=event.to_role,
        type=event.message_type,
    )


def _findings(event: AuditEvent, facts: Facts) -> Iterator[Finding]:
    about = event.x.seq if event.x.of == "message" else event.x.about
    for kind, detail in ((event.anomaly, event.detail or ""), *event.x.also):
        if kind is not Anomaly.NONE:
            yield Finding(kind=kind, detail=detail, about=about, task=facts.task)
