"""Runs: autonomous tasks of this process, and what can be asked of any task through its messages. A task belongs to the process
that started it; whoever looks, answers or cancels does so on the bus, from whichever process."""

import logging
import os
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, HumanNeeded, InvalidParams, InvalidState, UnknownTask
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import Role
from hindbrain.domain.notes import Cancel, ClarificationAnswer, ConfirmationAnswer
from hindbrain.engines.moments import stamped
from hindbrain.engines.task_view import Plan, Question, Round, TaskView, viewed
from hindbrain.engines.watching_lines import Teller, rendered
from hindbrain.policy.auditing import HOSTED
from hindbrain.policy.control import DEFAULTS, RUN_ENDS_S, RUNS_MOST, RUNS_OF_AGENTS
from hindbrain.policy.retrieval import NORTH_EVIDENCE
from hindbrain.policy.tools import CONFIRM_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.control.bus import decoded
from hindbrain.services.control.crew import Crew, Crews
from hindbrain.services.control.lines import Lines
from hindbrain.services.control.model_plan import ModelPlan
from hindbrain.services.control.params import configured
from hindbrain.services.control.task_files import FilePlan, TaskFiles, applied_text, plan_rows
from hindbrain.services.control.workspaces import Workspaces
from hindbrain.services.gateway import Gateway
from hindbrain.services.rendering import row_text
from hindbrain.services.routing import Router
from hindbrain.stores.locks import try_lock
from hindbrain.stores.port import BrainStore

if TYPE_CHECKING:
    from hindbrain.services.control.models import Models
    from hindbrain.services.house import House

__all__ = ["Runs", "put_together"]

LOG = logging.getLogger("hindbrain.runs")
Progress = Callable[[int, int, str], None]
_TASKS = 10_000  # that are listed, and can be named by the beginning of their id
_CHATTER = ("MemoryQuery", "MemoryResponse")  # told by the MemoryRecall that sums them up; control.watch has each


@dataclass(slots=True)
class _Run:
    """One task of this process."""

    brain: Brain
    budget_ms: int | None = None  # what it was given instead of the settings'
    thread: threading.Thread | None = None
    began: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    crew: Crew | None = None
    failure: Exception | None = None


class Runs:
    """The tasks of this process, and the reading of all."""

    def __init__(
        self, brains: Brains, router: Router, gateway: Gateway, lines: Lines, crews: Crews, workspaces: Workspaces
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._lines = lines
        self._crews = crews
        self._workspaces = workspaces
        self._files = TaskFiles(workspaces)
        self._lock = threading.Lock()
        self._runs: dict[str, _Run] = {}
        self.meanwhile: Callable[[OpenBrain], None] = lambda opened: None  # the auditor looks
        self.finished: Callable[[OpenBrain], None] = lambda opened: None  # what follows a task: the Dreamer

    def budget(self, task_id: str) -> int | None:
        """The time that a task of this process was given, if it is another than that of the settings."""
        run = self._runs.get(task_id)
        return run.budget_ms if run is not None else None

    def mind(self, opened: OpenBrain) -> "Models | None":
        """The model of a brain, for whoever asks it outside of a task; its calls count against the same caps."""
        return self._crews.mind(opened)

    @property
    def active(self) -> int:
        """How many tasks are on their way in this process."""
        return sum(not run.ended.is_set() for run in self._runs.values())

    def by_brain(self) -> Counter[str]:
        """How many tasks of this process are on their way in each brain."""
        return Counter(run.brain.name for run in list(self._runs.values()) if not run.ended.is_set())

    def start(
        self,
        caller: Caller,
        *,
        goal: str,
        workspace: str | None,
        empty: bool,
        budget_s: int,
        memory: bool,
        wait_s: float,
        progress: Progress,
    ) -> dict[str, Any]:
        """Begin a task; what is known of it when it ended or the wait is over."""
        person = caller.channel is Channel.HUMAN
        if workspace is not None and not person:
            raise HumanNeeded(
                "a run in a directory as it stands is a person's to start", fix="leave workspace out: it works on a copy"
            )
        if not goal.strip():
            raise InvalidParams("a task needs a goal", fix="say in a sentence what is to be reached")
        brain = self._router.write_route(caller)
        self._gateway.check_text(goal)
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, [goal], site="run")
        task_id = f"tsk_{secrets.token_hex(13)}"
        run = _Run(brain=brain)
        with self._lock:
            self._runs = {name: one for name, one in self._runs.items() if not one.ended.is_set()}
            most = RUNS_MOST if person else RUNS_OF_AGENTS
            if len(self._runs) >= most:
                raise InvalidParams(
                    f"{most} tasks are on their way in this process", fix="wait for one to end, or cancel one: task list"
                )
            self._runs[task_id] = run
        budget_ms = run.budget_ms = budget_s * 1000 or None

        def work() -> None:
            self._worked(run, task_id, goal, caller=caller, place=workspace, empty=empty, budget_ms=budget_ms, memory=memory)

        run.thread = threading.Thread(target=work, name=f"hindbrain-run-{task_id[-6:]}", daemon=True)
        run.thread.start()
        run.began.wait()
        if run.failure is not None:
            raise run.failure
        progress(0, 0, f"task {task_id}")
        run.ended.wait(wait_s)
        if run.crew is not None and run.crew.answer is not None:
            return _only_talk(goal, run.crew.answer)
        with self._opened(caller) as opened:
            return self._told(opened, task_id, None)

    def show(self, caller: Caller, *, task_id: str, after: int, wait_s: float) -> dict[str, Any]:
        """A task as its messages tell it, with what was said after a cursor."""
        with self._opened(caller) as opened:
            found = self._named(opened, task_id)
            if wait_s:
                self._await_news(opened, found, after, wait_s)
            return self._told(opened, found, after)

    def listed(self, caller: Caller, *, limit: int) -> dict[str, Any]:
        """Tasks, the latest first. Missions speak on the same bus, and are listed as missions."""
        with self._opened(caller) as opened:
            found = [one for one in opened.store.tasks(limit=_TASKS) if not one.startswith(HOSTED)]
            tasks = [self._brief(opened, task_id) for task_id in found[:limit]]
        rows = [f"{one['task_id']}  {one['state']:8} {one['directive'] or '-':8} {one['goal']}" for one in tasks]
        text = "\n".join(rows) if rows else 'no task yet: hindbrain run "count the python files"'
        return {"ok": True, "schema": "hindbrain-task-list-v0", "tasks": tasks, "rendered": text}

    def answer(
        self, caller: Caller, *, task_id: str, request_id: str, allowed: bool, answers: list[str] | None
    ) -> dict[str, Any]:
        """Answer one question of a task, once."""
        with self._opened(caller) as opened:
            found = self._named(opened, task_id)
            view = self._view(opened.store, found)
            question = next((one for one in view.waiting if one.request_id == request_id), None)
            if question is None or self._stale(question):
                raise InvalidParams(
                    f"{found} asks nothing under {request_id[:40]!r}: it was answered, waited too long, or the task has ended",
                    fix=f"see what it waits for: hindbrain task show {found}",
                )
            self._say_answer(opened, found, question, allowed=allowed, answers=answers)
        told = {"ok": True, "schema": "hindbrain-task-answer-v0", "task_id": found, "request_id": request_id}
        meant = ("allowed, this once" if allowed else "refused") if question.kind == "confirm" else "answered"
        return {**told, "allowed": allowed, "rendered": f"{meant}."}

    def cancel(self, caller: Caller, *, task_id: str, why: str) -> dict[str, Any]:
        """Ask the controller to end a task."""
        self._gateway.check_text(why or "-")
        with self._opened(caller) as opened:
            self._gateway.check_hygiene(opened, [why], site="task")
            found = self._named(opened, task_id)
            if self._view(opened.store, found).final is None:
                line = self._lines.of(opened)
                line.bus.voice(Role.USER).say(Role.SOLVER, Cancel(task_id=found, why=why), task_id=found)
                line.journal.drain(RUN_ENDS_S)
                run = self._runs.get(found)
                if run is not None:
                    run.ended.wait(RUN_ENDS_S)
            return {**self._told(opened, found, None), "schema": "hindbrain-task-cancel-v0"}

    def apply(self, caller: Caller, *, task_id: str, undo: bool, yes: bool, plan_id: str | None) -> dict[str, Any]:
        """Show what a run changed against the project, or write it there; or take back what was written."""
        person = caller.channel is Channel.HUMAN
        if yes and not person:
            raise HumanNeeded(
                "what a run made is brought into the project by a person",
                fix=f"ask a person to run it in a terminal: hindbrain task apply {task_id[:80]}",
            )
        with self._opened(caller) as opened:
            found = self._named(opened, task_id)
            view = self._view(opened.store, found)
            if view.final is None:
                raise InvalidState(f"{found} has not ended", fix=f"see how it stands: hindbrain task show {found}")
            plan = self._files.undo_plan(opened, found) if undo else self._files.plan(opened, found)
            kept = self._files.carry_out(opened, plan, plan_id) if yes else None
            if yes and plan.changes:
                self._record_applied(opened, caller, plan)
        rows = plan_rows(plan)
        told: dict[str, Any] = {"ok": True, "schema": "hindbrain-task-apply-v0", "task_id": found, "undo": undo}
        told |= {"project": str(plan.project), "plan_id": plan.identity, "files": rows, "left_out": list(plan.left_out)}
        told |= {"written": yes and bool(rows), "pending": bool(rows) and not yes and not plan.conflicts}
        told |= {"backup": str(kept) if kept is not None else None}
        return {**told, "rendered": applied_text(told, given_up=view.final["directive"] == "abandon", person=person)}

    def _record_applied(self, opened: OpenBrain, caller: Caller, plan: FilePlan) -> None:
        counts = Counter(one.kind for one in plan.changes)
        line = self._lines.of(opened)
        act = Act(
            act="task.undone" if plan.undo else "task.applied",
            subject=f"task:{plan.task_id}",
            actor=caller.agent,
            channel=caller.channel,
            at=line.bus.now(),
            payload={"plan_id": plan.identity, **{kind: counts[kind] for kind in ("new", "changed", "deleted")}},
        )
        line.journal.put(lambda writer: writer.append(act))
        line.journal.drain(RUN_ENDS_S)

    def close(self) -> None:
        """End every task of this process, each with its final result."""
        for task_id, run in list(self._runs.items()):
            if run.crew is not None and not run.ended.is_set():
                run.crew.cancel("the process that ran it ends")
            if run.thread is not None:
                run.thread.join(RUN_ENDS_S)
            self._runs.pop(task_id, None)

    # -- the work ----------------------------------------------------------------------------------------------------

    def _worked(
        self,
        run: _Run,
        task_id: str,
        goal: str,
        *,
        caller: Caller,
        place: str | None,
        empty: bool,
        budget_ms: int | None,
        memory: bool,
    ) -> None:
        """One task from its workspace to its end, on a thread of its own. The brain stays open as long."""
        try:
            with self._brains.use(run.brain) as opened, self._alive(opened, task_id):
                space = self._workspaces.made(opened, task_id, place=place, empty=empty)
                run.crew = self._crews.made(opened, task_id, caller=caller, space=space, budget_ms=budget_ms, memory=memory)
                run.crew.begin(goal)
                self._lines.of(opened).journal.drain(RUN_ENDS_S)  # whoever is told of the task can look at it, from any process
                run.began.set()
                run.crew.finish(lambda: self.meanwhile(opened))
                self._lines.of(opened).journal.drain(RUN_ENDS_S)
                self.meanwhile(opened)
                self.finished(opened)
        except Exception as failure:  # whoever started it is told, whatever it was
            run.failure = failure
            if not isinstance(failure, HindbrainError | OSError):
                LOG.exception("task %s broke", task_id)
        finally:
            run.began.set()
            run.ended.set()

    @contextmanager
    def _alive(self, opened: OpenBrain, task_id: str) -> Iterator[None]:
        """A lock that is there as long as this process is: who looks on sees whether anybody works on the task."""
        handle = try_lock(self._workspaces.lock(opened, task_id))
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)

    # -- reading -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self, caller: Caller) -> Iterator[OpenBrain]:
        with self._brains.use(self._router.write_route(caller)) as opened:
            yield opened

    def _named(self, opened: OpenBrain, task_id: str) -> str:
        """The one task of this brain whose id begins so."""
        known = opened.store.tasks(limit=_TASKS)
        found = [name for name in known if name.startswith(task_id)] if task_id else []
        if task_id in found:
            return task_id
        if len(found) != 1:
            raise UnknownTask(
                f"{'several tasks begin' if found else 'no task begins'} with {task_id[:40]!r}", fix="hindbrain task list"
            )
        return found[0]

    def _await_news(self, opened: OpenBrain, task_id: str, after: int, wait_s: float) -> None:
        listening = self._lines.of(opened).bus.subscribe("show", task_id=task_id, after=after)
        listening.next(wait_s)

    @staticmethod
    def _view(store: BrainStore, task_id: str) -> TaskView:
        return viewed(decoded(one) for one in store.messages(task_id=task_id, limit=100_000))

    def _state(self, view: TaskView, *, alive: bool) -> str:
        """Whether somebody works on it is looked at before its messages are read: a task says its last word before it lets go, so
        one that ends between the two looks is done, and not lost."""
        if view.final is not None:
            return "done"
        if not alive:
            return "lost"
        return "waiting" if any(not self._stale(one) for one in view.waiting) else "running"

    def _stale(self, question: Question) -> bool:
        """Whether nobody waits for the answer any more: an act that is not allowed in time is refused."""
        return question.kind == "confirm" and question.at < stamped(self._lines.now() - round(CONFIRM_S * 1000))

    def _brief(self, opened: OpenBrain, task_id: str) -> dict[str, Any]:
        alive = self._workspaces.alive(opened, task_id)
        view = self._view(opened.store, task_id)
        directive = view.rounds[-1].directive if view.rounds else None
        state = self._state(view, alive=alive)
        return {
            "task_id": task_id,
            "goal": view.goal,
            "state": state,
            "directive": directive,
            "began_at": view.began_at,
            "rounds": len(view.rounds),
            "waiting": sum(not self._stale(one) for one in view.waiting),
        }

    def _told(self, opened: OpenBrain, task_id: str, after: int | None) -> dict[str, Any]:
        alive = self._workspaces.alive(opened, task_id)
        messages = [decoded(one) for one in opened.store.messages(task_id=task_id, limit=100_000)]
        view, teller = viewed(messages), Teller()
        lines = [teller.tell(one) for one in messages]  # all of them: subtasks are numbered as their plan lists them
        state = self._state(view, alive=alive)
        final = view.final or {}
        changed = self._workspaces.changed(opened, task_id) if view.final is not None else ()
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-task-show-v0",
            "task_id": task_id,
            "goal": view.goal,
            "state": state,
            "directive": final.get("directive"),
            "began_at": view.began_at,
            "plan": _plan(view.plan) if view.plan is not None else None,
            "rounds": [_round(one) for one in view.rounds],
            "attempts": view.attempts,
            "waiting": [_question(one) for one in view.waiting if not self._stale(one)],
            "lines": [rendered(line) for line in lines if after is not None and line.seq > after and line.type not in _CHATTER],
            "cursor": view.cursor,
            "roles": list(view.roles),
            "final": view.final,
            "workspace": str(self._workspaces.place(opened, task_id)),
            "changed": list(changed),
            "apply": f"hindbrain task apply {task_id}" if changed and self._workspaces.own(opened, task_id) else None,
        }
        if final.get("directive") == "abandon":
            answer["exit_code"] = 1
        answer["rendered"] = _text(answer)
        return answer

    def _say_answer(
        self, opened: OpenBrain, task_id: str, question: Question, *, allowed: bool, answers: list[str] | None
    ) -> None:
        line = self._lines.of(opened)
        voice, correlation = line.bus.voice(Role.USER), question.correlation
        if question.kind == "confirm":
            record = ConfirmationAnswer(task_id=task_id, request_id=question.request_id, allowed=allowed)
            voice.say(Role.EXECUTOR, record, task_id=task_id, correlation=correlation)
        else:
            for text in answers or ():
                self._gateway.check_text(text or "-")
            self._gateway.check_hygiene(opened, answers or [], site="task")
            told = ClarificationAnswer(task_id=task_id, request_id=question.request_id, answers=tuple(answers or ()))
            voice.say(Role.PERCEIVER, told, task_id=task_id, correlation=correlation)
        line.journal.drain(RUN_ENDS_S)


def _only_talk(goal: str, answer: str) -> dict[str, Any]:
    """To what was no task there is an answer and nothing to look at."""
    told: dict[str, Any] = {"ok": True, "schema": "hindbrain-run-answer-v0", "goal": goal, "task_id": None, "answer": answer}
    return {**told, "state": "answered", "rendered": answer}


def _round(one: Round) -> dict[str, Any]:
    return {
        "directive": one.directive,
        "prev_directive": one.prev_directive,
        "D": one.distance,
        "P": one.process,
        "Omega": one.budget,
        "L": one.loss,
        "grad_l": one.gradient,
        "epsilon": DEFAULTS.epsilon,
        "rationale": one.rationale,
        "at": one.at,
    }


def _plan(one: Plan) -> dict[str, Any]:
    parts = [{"intent": part.intent, "criteria": list(part.criteria), "state": part.state, "why": part.why} for part in one.parts]
    return {"number": one.number, "criteria": list(one.criteria), "parts": parts}


def _question(one: Question) -> dict[str, Any]:
    """A question, with how long it is waited for an answer: an act that nobody allows in time is refused."""
    told = {"kind": one.kind, "request_id": one.request_id, "tool": one.tool, "why": one.why, "texts": list(one.texts)}
    return {**told, "asked_at": one.at, "waits_s": round(CONFIRM_S) if one.kind == "confirm" else None}


def _text(told: dict[str, Any]) -> str:
    """What a person wants to know of a task."""
    lines = [f"{told['task_id']}: {told['goal']}"]
    for number, one in enumerate(told["rounds"], 1):
        numbers = f"D={one['D']:.2f} P={one['P']:.2f} Ω={one['Omega']:.0%} L={one['L']:.3f} ∇L={one['grad_l']:+.3f}"
        lines.append(f"  round {number}: {one['prev_directive']}→{one['directive']}  {numbers}")
    final = told["final"]
    if final is None:
        lines.append(f"  {told['state']}")
        lines += [f"  waits for a person: {one['request_id']} {one['tool']} {' '.join(one['texts'])}" for one in told["waiting"]]
        if told["state"] == "lost":
            lines.append("  the process that ran it is gone; run the goal again")
        return "\n".join(lines)
    lines.append(_ending(final))
    lines += [str(final["summary"])]
    output = final["output"]
    if output in (None, "", []) and final["directive"] != "abandon":
        lines.append("nothing was found")
    elif final["directive"] != "abandon":  # what was given up says in its summary what is left and next
        lines.append(output if isinstance(output, str) else str(output))
    lines += [f"  unmet: {one}" for one in final["x"]["unmet_criteria"]]
    if told["changed"]:
        lines.append(f"changed in {told['workspace']}:")
        lines += [f"  {name}" for name in told["changed"]]
    if told["apply"]:
        lines.append(f"Your project is unchanged. To bring this into it (shows a diff, then asks): {told['apply']}")
    return "\n".join(lines)


def _ending(final: dict[str, Any]) -> str:
    """How a task ended, in a word. What is good enough is not done while a criterion is unmet."""
    if final["directive"] == "abandon":
        return "given up"
    return "partly done" if final["x"]["unmet_criteria"] else "done"


def put_together(house: "House", plan: ModelPlan) -> Runs:
    """The control loop of a house, with what follows a task: the auditor looks, the Dreamer dreams."""
    workspaces = Workspaces()
    crews = Crews(
        house.lines,
        house.experience,
        workspaces,
        plan,
        numbers=lambda: configured(house.settings),
        clock=house.clock,
        salt=house.gateway.salt,
        remember=lambda caller, query: _remembered(house, caller, query),
        home=house.home.path,
        environ=house.environ,
    )
    house.experience.mind = crews.mind
    runs = Runs(house.brains, house.router, house.gateway, house.lines, crews, workspaces)

    def look(opened: OpenBrain) -> None:
        try:
            house.audits.look(opened)
        except (HindbrainError, OSError) as failure:  # the task goes on; the auditor takes up later what it missed
            LOG.warning("the auditor could not look: %s", failure)

    runs.meanwhile = look
    runs.finished = lambda opened: house.experience.dreamer(opened).heard_result()
    return runs


def _remembered(house: "House", caller: Caller, query: str) -> str:
    """What the project remembers of a question, as the rows of a beat."""
    beat = house.recall.beat(house.router.route(caller), query, tier=None, fallback=False, evidence=NORTH_EVIDENCE)
    return "\n\n".join(map(row_text, (*beat.rows, *beat.evidence)))
