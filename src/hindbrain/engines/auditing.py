"""Auditing: a state machine over what was said, which tells what is not as it should be. Time is given to it. What took a path
not its own, or does not fit its kind, is named and moves nothing else: nobody ends a task or fills a fan-in by forging."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hindbrain.domain.audit import Anomaly, Decision, Facts
from hindbrain.domain.message import MessageType
from hindbrain.domain.typed import converted
from hindbrain.engines.audit_facts import Seen, named
from hindbrain.engines.audit_window import Finding, Rates, Window, drifted, trend_of
from hindbrain.policy.auditing import (
    DRIFT_CORRECTIONS,
    DRIFT_WINDOWS,
    FANIN_GRACE_MS,
    FINAL_BUDGETS,
    HOSTED,
    KEPT_TASKS,
    ORDER,
    THRASHING,
)
from hindbrain.policy.control import PATHS, Params

__all__ = ["Numbers", "Plan", "Watch", "Watched"]

# Task class and task -> the numbers in force for it. They come from the settings, never from what a message says of them.
Numbers = Callable[[str, str], Params]

_PATHS = {(kind.value, sender.value, to.value) for kind, (sender, to) in PATHS.items()}
_OWN = {MessageType.AUDIT_QUERY.value, MessageType.AUDIT_REPORT.value}  # talk with the auditor is no work to report on


@dataclass(slots=True)
class Plan:
    """One manifest: which outcomes have to come, and which came."""

    seq: int
    at: int
    subtasks: int
    missing: set[str]
    late: bool = False


@dataclass(slots=True)
class Watched:
    """What is known of one task."""

    at: int
    seq: int
    task_class: str = ""
    plans: list[Plan] = field(default_factory=list)
    dispatched: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    breaks: int = 0
    distance: float = 0.0
    late: bool = False


class Watch:
    """What the auditor knows while it watches."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self.window = Window()
        self.history: dict[str, list[float]] = {}  # role -> its rates in the windows before
        self.open: dict[str, Watched] = {}
        self.ended: OrderedDict[str, Watched] = OrderedDict()
        self.sent: set[str] = set()  # reports that were written and are not seen on the bus yet
        self.asked: dict[str, Facts] = {}  # queries without an answer
        self._dispatched: dict[str, str] = {}  # subtask -> its task
        self.due: float = 0  # nothing is late before this time

    # -- messages ----------------------------------------------------------------------------------------------------

    def see(self, seen: Seen, facts: Facts) -> tuple[Finding, ...]:
        """Take a message in; what is wrong with it, the gravest first. Counting that is left to `note`."""
        found = list(self._trespasses(seen, facts))
        if not found:
            found += self._followed(seen, facts)
        if found or seen.type not in _OWN:
            self.window.open(seen.at)
        return tuple(sorted(found, key=lambda one: ORDER.index(one.kind)))

    def note(self, finding: Finding, at: int) -> None:
        """Count a finding."""
        self.window.open(at)
        self.window.note(finding)

    def _trespasses(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        path = f"{named(seen.type)} from {named(seen.sender)} to {named(seen.recipient)}"
        if (seen.type, seen.sender, seen.recipient) not in _PATHS:
            yield _finding(Anomaly.BOUNDARY_VIOLATION, path, seen, facts)
        if facts.wrong is not None:
            yield _finding(Anomaly.SCHEMA_VIOLATION, f"{path} does not fit its schema at {facts.wrong}", seen, facts)

    def _followed(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        match seen.type:
            case MessageType.TASK_SPEC:
                self._begun(seen, facts)
            case MessageType.DISPATCH_MANIFEST:
                self._planned(seen, facts)
            case MessageType.SUB_TASK:
                yield from self._sent_out(seen, facts)
            case MessageType.EXECUTION_RESULT:
                yield from self._executed(seen, facts)
            case MessageType.CORRECTION_SIGNAL:
                self.window.corrections += 1
                self.window.health[f"{facts.failure_class}_retries"] += 1
            case MessageType.SUB_TASK_OUTCOME:
                yield from self._came_in(seen, facts)
            case MessageType.REPLAN_REQUEST:
                self.window.replans += 1
                if facts.corrections >= DRIFT_CORRECTIONS:
                    told = f"{facts.corrections} corrections in one round of task {facts.task}"
                    yield _finding(Anomaly.DRIFT, told, seen, facts)
            case MessageType.PLAN_DIRECTIVE:
                yield from self._directed(seen, facts)
            case MessageType.FINAL_RESULT:
                yield from self._finished(seen, facts)
            case MessageType.AUDIT_QUERY:
                self.asked[str(facts.query)] = facts
            case MessageType.AUDIT_REPORT:
                yield from self._reported(seen, facts)

    def _begun(self, seen: Seen, facts: Facts) -> Watched:
        task = str(facts.task)
        known = self.open.get(task) or self.ended.get(task)
        if known is None:
            known = self.open[task] = Watched(at=seen.at, seq=seen.seq)
        if facts.task_class:
            known.task_class = facts.task_class
        self.due = min(self.due, self._due_of(str(facts.task), known))
        return known

    def _planned(self, seen: Seen, facts: Facts) -> None:
        known = self._begun(seen, facts)
        known.plans.append(Plan(seq=seen.seq, at=seen.at, subtasks=len(facts.subtasks), missing=set(facts.subtasks)))
        known.listed.update(facts.subtasks)
        self.due = min(self.due, self._due_of(str(facts.task), known))
        self.window.plans += 1
        self.window.tasks.add(str(facts.task))

    def _sent_out(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        subtask = str(facts.subtask)
        if subtask in self._dispatched:
            yield _finding(Anomaly.DUPLICATE_ID, f"subtask {subtask} was dispatched twice", seen, facts)
            return
        self._dispatched[subtask] = str(facts.task)
        self._begun(seen, facts).dispatched.add(subtask)

    def _executed(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        self.window.attempts[str(facts.subtask)] += 1
        if facts.status == "failed":
            self.window.health["execution_failures"] += 1
        if facts.contradicts is not None:
            told = f"subtask {facts.subtask} is said to be completed, and its last call of {facts.contradicts} failed"
            yield _finding(Anomaly.CLAIM_CONTRADICTION, told, seen, facts)

    def _came_in(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        known = self.open.get(str(facts.task)) or self.ended.get(str(facts.task))
        subtask = str(facts.subtask)
        if known is None or subtask not in known.listed:
            told = f"orphan_outcome: no plan of task {facts.task} has subtask {subtask}"
            yield _finding(Anomaly.BOUNDARY_VIOLATION, told, seen, facts)
            return
        if subtask in known.done:
            yield _finding(Anomaly.DUPLICATE_ID, f"subtask {subtask} has a second outcome", seen, facts)
            return
        known.done.add(subtask)
        for plan in known.plans:
            plan.missing.discard(subtask)
        known.plans = [plan for plan in known.plans if plan.missing]
        if not facts.skipped:
            self.window.outcomes += 1
            self.window.matched_first += facts.status == "matched" and facts.attempts == 1

    # -- decisions ---------------------------------------------------------------------------------------------------

    def _directed(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        known, params = self._begun(seen, facts), self._params_of(facts)
        self._decided(facts, params, ends=False)
        told = f"task {facts.task}, round {facts.round}: gradient {facts.grad_l:+.3f}"
        if facts.grad_l >= params.epsilon:
            yield _finding(Anomaly.CONVERGENCE_FAILURE, told, seen, facts)
        yield from _cost_only(seen, facts, params, told)
        distance, process, budget = facts.D, facts.P, facts.Omega
        logical = distance > params.delta and process > params.rho and budget < params.theta
        if logical and facts.grad_l <= -params.epsilon:
            yield _finding(Anomaly.SUSPICIOUS_IMPROVEMENT, f"{told} while P is {process:.3f}", seen, facts)
        if facts.directive != "break_symmetry":
            known.breaks = 0
        else:
            nearer = known.breaks > 0 and distance < known.distance
            known.breaks = 1 if nearer else known.breaks + 1
            if known.breaks >= THRASHING:
                told = f"task {facts.task}: {known.breaks} breaks in a row, D is {distance:.3f}"
                yield _finding(Anomaly.GGS_THRASHING, told, seen, facts)
        known.distance = distance

    def _finished(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        params = self._params_of(facts)
        self._decided(facts, params, ends=True)
        yield from _cost_only(seen, facts, params, f"task {facts.task}, at its end: gradient {facts.grad_l:+.3f}")
        self._close(str(facts.task))

    def _decided(self, facts: Facts, params: Params, *, ends: bool) -> None:
        decision = Decision(
            task_id=str(facts.task),
            round=facts.round,
            D=facts.D,
            P=facts.P,
            Omega=facts.Omega,
            L=facts.L,
            grad_l=facts.grad_l,
            directive=str(facts.directive),
        )
        self.window.decide(decision, trend_of(facts.grad_l, params.epsilon), ends=ends)

    def _params_of(self, facts: Facts) -> Params:
        known = self.open.get(str(facts.task)) or self.ended.get(str(facts.task))
        return self._numbers(known.task_class if known is not None else "", str(facts.task))

    def _close(self, task: str) -> None:
        """A task ended: nothing is missing any more. Its ids stay known for a while."""
        if (known := self.open.pop(task, None)) is None:
            return
        known.plans = []
        self.ended[task] = known
        while len(self.ended) > KEPT_TASKS:
            _, gone = self.ended.popitem(last=False)
            for subtask in gone.dispatched:
                self._dispatched.pop(subtask, None)

    def _reported(self, seen: Seen, facts: Facts) -> Iterator[Finding]:
        if facts.report not in self.sent:
            told = f"report {facts.report} is not in the audit log: it is forged, or the log was cut"
            yield _finding(Anomaly.BOUNDARY_VIOLATION, told, seen, facts)
        self.sent.discard(str(facts.report))

    # -- time --------------------------------------------------------------------------------------------------------

    def late(self, now: int) -> tuple[Finding, ...]:
        """What should have come by now and did not, each once. `missed` takes the same from a log."""
        if now < self.due:
            return ()
        found = [one for task, known in self.open.items() for one in self._late(task, known, now)]
        for finding in found:
            self.missed(finding)
        self.due = min((self._due_of(task, known) for task, known in self.open.items()), default=math.inf)
        return tuple(found)

    def _due_of(self, task: str, known: Watched) -> float:
        """When the next thing of a task is late."""
        budget = self._numbers(known.task_class, task).time_budget_ms
        plans = [plan.at + budget + FANIN_GRACE_MS for plan in known.plans if not plan.late]
        open_ended = known.late or task.startswith(HOSTED)
        return min((*plans, *(() if open_ended else (known.at + FINAL_BUDGETS * budget,))), default=math.inf)

    def _late(self, task: str, known: Watched, now: int) -> Iterator[Finding]:
        budget = self._numbers(known.task_class, task).time_budget_ms
        for plan in known.plans:
            if not plan.late and now >= plan.at + budget + FANIN_GRACE_MS:
                told = f"{len(plan.missing)} of {plan.subtasks} outcomes of task {task} are missing"
                yield Finding(kind=Anomaly.FANIN_INCOMPLETE, detail=told, about=plan.seq, task=task)
        if not known.late and not task.startswith(HOSTED) and now >= known.at + FINAL_BUDGETS * budget:
            told = f"task {task} has no final result"
            yield Finding(kind=Anomaly.MISSING_FINAL_RESULT, detail=told, about=known.seq, task=task)

    def missed(self, finding: Finding) -> None:
        """Remember that something was named as late. A task that has nothing left to name is let go."""
        known = self.open.get(finding.task or "")
        if known is None:
            return
        if finding.kind is Anomaly.MISSING_FINAL_RESULT:
            known.late = True
        for plan in known.plans:
            plan.late = plan.late or (finding.kind is Anomaly.FANIN_INCOMPLETE and plan.seq == finding.about)
        if known.late and all(plan.late for plan in known.plans):
            self._close(finding.task or "")

    # -- windows -----------------------------------------------------------------------------------------------------

    def closing(self) -> tuple[Finding, ...]:
        """What only the whole window shows."""
        retried = self.window.retried()
        return (*((retried,) if retried is not None else ()), *drifted(self.history, self.window.rates()))

    def next_window(self, rates: Rates) -> None:
        """The window was reported: its rates are history, its counters begin anew."""
        for role, rate in rates.items():
            self.history[role] = [*self.history.get(role, ()), rate][-DRIFT_WINDOWS:]
        self.window = Window()

    def carried(self) -> dict[str, Any]:
        """What goes on into the next window, as plain data."""
        return {
            "history": self.history,
            "sent": sorted(self.sent),
            "asked": {query: msgspec.to_builtins(facts) for query, facts in self.asked.items()},
            "open": {task: _told(known) for task, known in self.open.items()},
            "ended": {task: _told(known) for task, known in self.ended.items()},
        }

    def carry_on(self, carried: dict[str, Any]) -> None:
        """Go on from there."""
        self.window = Window()
        self.history = {role: list(rates) for role, rates in carried["history"].items()}
        self.sent = set(carried["sent"])
        self.asked = {query: converted(facts, Facts) for query, facts in carried["asked"].items()}
        self.due = 0
        self.open = {task: _known(told) for task, told in carried["open"].items()}
        self.ended = OrderedDict((task, _known(told)) for task, told in carried["ended"].items())
        self._dispatched = {
            subtask: task for task, known in (*self.open.items(), *self.ended.items()) for subtask in known.dispatched
        }


def _finding(kind: Anomaly, detail: str, seen: Seen, facts: Facts) -> Finding:
    return Finding(kind=kind, detail=detail, about=seen.seq, task=facts.task)


def _cost_only(seen: Seen, facts: Facts, params: Params, told: str) -> Iterator[Finding]:
    """Worse only because time went by: neither the distance nor the process got worse."""
    if facts.grad_l >= params.epsilon and facts.part_d <= 0 and facts.part_p <= 0:
        yield _finding(Anomaly.COST_ONLY_GRADIENT, f"{told}, all of it cost", seen, facts)


def _told(known: Watched) -> dict[str, Any]:
    return {
        "at": known.at,
        "seq": known.seq,
        "class": known.task_class,
        "plans": [[one.seq, one.at, one.subtasks, sorted(one.missing), one.late] for one in known.plans],
        "dispatched": sorted(known.dispatched),
        "listed": sorted(known.listed),
        "done": sorted(known.done),
        "breaks": known.breaks,
        "distance": known.distance,
        "late": known.late,
    }


def _known(told: dict[str, Any]) -> Watched:
    return Watched(
        at=told["at"],
        seq=told["seq"],
        task_class=told["class"],
        plans=[
            Plan(seq=seq, at=at, subtasks=count, missing=set(missing), late=late)
            for seq, at, count, missing, late in told["plans"]
        ],
        dispatched=set(told["dispatched"]),
        listed=set(told["listed"]),
        done=set(told["done"]),
        breaks=told["breaks"],
        distance=told["distance"],
        late=told["late"],
    )
