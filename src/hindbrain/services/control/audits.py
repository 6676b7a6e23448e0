"""Audits: the auditor of each open brain, and what a person may ask of it. Who looks on at a task is served here, too."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from hindbrain.domain.audit import Anomaly, Decision
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import LedgerBroken, TimedOut, UnknownTask
from hindbrain.domain.message import MessageType, Role
from hindbrain.domain.notes import AuditQuery, AuditReport
from hindbrain.domain.typed import converted
from hindbrain.engines.audit_references import Dangling, References
from hindbrain.engines.auditing import Numbers
from hindbrain.engines.moments import milliseconds, stamped
from hindbrain.engines.watching_lines import Teller, WatchLine, rendered
from hindbrain.policy.auditing import ANSWER_S, ANSWER_TURN_S, UNSEEN_SHOWN
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.control.auditor import Auditor, Sent
from hindbrain.services.control.bus import decoded
from hindbrain.services.control.lines import Lines
from hindbrain.services.control.tap import Tap
from hindbrain.services.routing import Router
from hindbrain.stores.audit_log import AuditLog
from hindbrain.stores.experience_port import StoredMessage
from hindbrain.stores.port import BrainStore

__all__ = ["Audits"]

LOG = logging.getLogger("hindbrain.audit")
_MESSAGE = "control.message"
_PAGE = 1_000
_OF_MISSIONS = ("dissent", "recovery", "loop_warning", "handoff", "close")


class Audits:
    """The auditors of one process."""

    def __init__(self, brains: Brains, router: Router, lines: Lines, numbers: Callable[[OpenBrain], Numbers]) -> None:
        self._brains = brains
        self._router = router
        self._lines = lines
        self._numbers = numbers
        self._auditors: dict[OpenBrain, Auditor] = {}
        self._lock = threading.Lock()

    def look(self, opened: OpenBrain) -> None:
        """Let the auditor of a brain take in what is new. A brain in which nothing was said has none."""
        log = _log(opened)
        if opened not in self._auditors and not log.exists and not opened.store.messages(limit=1):
            return
        try:
            self._of(opened).look()
        except OSError as failure:  # a full disk stops neither the brain nor the next look, which reads the same again
            LOG.error("the audit log of %s cannot be written: %s", opened.brain.name, failure)

    def forget(self, opened: OpenBrain) -> None:
        """A brain is closed: the next auditor goes on from its log."""
        with self._lock:
            self._auditors.pop(opened, None)

    def report(self, caller: Caller, *, since: int | None) -> dict[str, Any]:
        """Ask the auditor and wait for its report."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            sent = self._asked(opened, stamped(since) if since is not None else None)
            acts = _missions(opened.store, milliseconds(sent.report.period.since) or 0)
        return {
            "ok": True,
            "schema": "hindbrain-control-audit-v0",
            "brain": brain.name,
            "report": _plain(sent.report),
            "decisions": _plain(sent.decisions),
            "missions": acts,
            "rendered": "\n".join((_told(sent.report), *(f"missions: {act} {count}" for act, count in acts.items() if count))),
        }

    def verify(self, caller: Caller) -> dict[str, Any]:
        """Walk the audit log, and hold it against the ledger: every message that was recorded has its line."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            log = _log(opened)
            found, unseen, dangling = log.check(), _unseen(opened.store, log), _dangling(opened.store)
        broken = {"line": found.broken, "reason": found.reason} if found.broken is not None else None
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-control-audit-verify-v0",
            "brain": brain.name,
            "lines": found.lines,
            "head": found.head,
            "intact": broken is None and not unseen and not dangling,
            "broken": broken,
            "unseen": unseen[:UNSEEN_SHOWN],
            "dangling": [{"seq": one.seq, "id": one.id} for one in dangling[:UNSEEN_SHOWN]],
            "rendered": f"{found.lines} lines: the chain holds, every message has its line, all they lean on is there.",
        }
        if not answer["intact"]:
            unknown = f"{len(dangling)} ids that messages lean on are unknown"
            first = f"{len(unseen)} of the recorded messages have no line" if unseen else unknown
            first = f"line {found.broken} {found.reason}" if broken is not None else first
            answer |= LedgerBroken(
                f"the audit log of {brain.display_name} does not hold: {first}",
                fix="keep a copy of the home as it is, then compare the log with a backup",
            ).answer()
        return answer

    def watch(self, caller: Caller, *, task_id: str, after: int, limit: int) -> dict[str, Any]:
        """The lines of one task after a cursor."""
        brain = self._router.write_route(caller)
        with self._brains.use(brain) as opened:
            task = _task(opened.store, task_id)
            told = [line for line in _lines(opened.store, task) if line.seq > after][:limit]
        return {
            "ok": True,
            "schema": "hindbrain-control-watch-v0",
            "task_id": task,
            "cursor": told[-1].seq if told else after,
            "lines": [
                {"seq": line.seq, "at": line.at, "from": line.sender, "to": line.recipient, "type": line.type, "text": line.text}
                for line in told
            ],
            "rendered": "\n".join(rendered(line) for line in told) or "nothing new.",
        }

    # -- the auditor -------------------------------------------------------------------------------------------------

    def _of(self, opened: OpenBrain) -> Auditor:
        with self._lock:
            if opened not in self._auditors:

                def counters() -> Mapping[str, int]:
                    return {Anomaly.MEMORY_WRITE_DROPPED.value: self._lines.dropped(opened)}

                self._auditors[opened] = Auditor(
                    self._lines.of(opened).bus.voice(Role.AUDITOR),
                    Tap(opened.store.messages),
                    _log(opened),
                    numbers=self._numbers(opened),
                    counters=counters,
                )
            return self._auditors[opened]

    def _asked(self, opened: OpenBrain, since: str | None) -> Sent:
        """Ask on the bus, like everybody; the answer may come from the auditor of another process that was faster."""
        auditor, bus = self._of(opened), self._lines.of(opened).bus
        query = f"aq_{secrets.token_hex(8)}"
        ends = time.monotonic() + ANSWER_S
        said = bus.publish(Role.USER, Role.AUDITOR, AuditQuery(query_id=query, since=since), task_id=None, correlation=query)
        said.ticket.wait(ANSWER_S)
        while True:
            turn = bus.turn
            own = next((sent for sent in auditor.look() if sent.query == query), None)
            found = own or _answered(opened, query)
            if found is not None:
                return found
            if time.monotonic() > ends:
                raise TimedOut(
                    f"the auditor did not answer within {ANSWER_S:g} s",
                    fix="ask again: hindbrain control audit; if it stays, hindbrain doctor names who holds the brain",
                )
            bus.wait(turn, ANSWER_TURN_S)


def _missions(store: BrainStore, since: int) -> dict[str, int]:
    """What the ledger says of missions since a time: where agents went another way, what was repaired, what was closed."""
    found = dict.fromkeys(_OF_MISSIONS, 0)
    for act in found:
        after = 0
        while page := store.entries(after=after, limit=_PAGE, act=f"mission.{act}"):
            found[act] += sum(one.at >= since for one in page)
            after = page[-1].seq
    return found


def _plain(value: object) -> Any:
    """A record as it stands on the wire."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _log(opened: OpenBrain) -> AuditLog:
    return AuditLog(opened.directory / "audit")


def _answered(opened: OpenBrain, query: str) -> Sent | None:
    """The report that another process made of our question."""
    for line in _log(opened).lines():
        facts = line["x"].get("facts", {})
        if line["x"].get("report") is not None and facts.get("query") == query:
            return Sent(
                report=converted(line["x"]["report"], AuditReport),
                query=query,
                decisions=converted(line["x"]["decisions"], tuple[Decision, ...]),
            )
    return None


def _unseen(store: BrainStore, log: AuditLog) -> list[int]:
    """Messages of the ledger that the log should have by now and has not."""
    seen: set[int] = set()
    last = 0
    for line in log.lines():
        if line["x"].get("of") == "message":
            seen.add(line["x"].get("seq"))
        last = max(last, line["x"].get("seq", 0))
    missing: list[int] = []
    after = 0
    while page := store.entries(after=after, limit=_PAGE, act=_MESSAGE):
        missing += [entry.seq for entry in page if entry.seq <= last and entry.seq not in seen]
        after = page[-1].seq
    return missing


def _dangling(store: BrainStore) -> list[Dangling]:
    """What messages lean on and no message gave."""
    references = References()
    for stored in _messages(store):
        try:
            references.see(decoded(stored))
        except msgspec.MsgspecError:
            LOG.warning("message %d cannot be read", stored.seq)
    return references.dangling()


def _task(store: BrainStore, given: str) -> str:
    """The task that is meant: its id, or enough of it to be the only one."""
    known = store.tasks(limit=_PAGE)
    if given in known or store.messages(task_id=given, limit=1):
        return given
    like = [task for task in known if task.startswith(given)] if given else []
    if len(like) != 1:
        what = "no task is called" if not like else f"{len(like)} tasks begin with"
        raise UnknownTask(f"{what} {given[:40]!r}", fix="see the tasks of this project: hindbrain task list")
    return like[0]


def _messages(store: BrainStore, task: str | None = None) -> Iterator[StoredMessage]:
    after = 0
    while page := store.messages(after=after, limit=_PAGE, task_id=task):
        yield from page
        after = page[-1].seq


def _lines(store: BrainStore, task: str) -> Iterator[WatchLine]:
    """Every line of a task. Numbers of subtasks come from earlier messages, so that all are told, whoever asks for the last."""
    teller = Teller()
    for stored in _messages(store, task):
        if stored.type in (MessageType.AUDIT_QUERY.value, MessageType.AUDIT_REPORT.value):
            continue  # between the auditor and a person
        try:
            yield teller.tell(decoded(stored))
        except msgspec.MsgspecError:
            LOG.warning("message %d cannot be read", stored.seq)


def _told(report: AuditReport) -> str:
    """A report for a person."""
    health, trends = report.tool_health, report.convergence_health.gap_trend_distribution
    lines = [
        f"{report.period.since} to {report.period.until}",
        f"tasks {report.tasks_observed}, corrections {report.total_corrections}, "
        f"{report.convergence_health.avg_correction_count:.2f} for each task",
        f"loss: {trends.improving} improving, {trends.stable} without signal, {trends.worsening} worsening",
        f"tools: {health.execution_failures} attempts failed, corrected {health.logical_retries} logical and "
        f"{health.environmental_retries} environmental",
    ]
    return "\n".join([*lines, *report.anomalies]) if report.anomalies else "\n".join([*lines, "nothing out of the ordinary."])
