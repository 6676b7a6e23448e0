"""The crew of one task: its roles, built on the bus of its brain, each with what it is given and nothing more."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import Role
from hindbrain.engines.perceiving import Exchange
from hindbrain.policy.control import BEAT_S, LATE_FACTOR, RUN_ENDS_S, Params
from hindbrain.policy.tools import TOOLS
from hindbrain.services.brains import OpenBrain
from hindbrain.services.control.costs import Costs, task_cost
from hindbrain.services.control.dispatcher import Dispatcher
from hindbrain.services.control.effector import Effectors
from hindbrain.services.control.lines import Line, Lines
from hindbrain.services.control.loop import Loop
from hindbrain.services.control.memory_role import Memory
from hindbrain.services.control.meta_validator import MetaValidator
from hindbrain.services.control.model_plan import ModelPlan
from hindbrain.services.control.models import Models
from hindbrain.services.control.params import Parameters
from hindbrain.services.control.perceiver import Perceiver
from hindbrain.services.control.planner import Planner
from hindbrain.services.control.ports import Part
from hindbrain.services.control.solver import Solver
from hindbrain.services.control.tools import Toolbox
from hindbrain.services.control.workspaces import Workspaces
from hindbrain.services.experience.room import ExperienceRoom
from hindbrain.stores.command import Commands
from hindbrain.stores.port import Writer
from hindbrain.stores.workspace import Workspace

__all__ = ["Crew", "Crews"]

Remember = Callable[[Caller, str], str]


class Crew:
    """One task under way."""

    def __init__(
        self,
        line: Line,
        task_id: str,
        *,
        caller: Caller,
        loop: Loop,
        dispatcher: Dispatcher,
        effectors: Effectors,
        perceiver: Perceiver,
        space: Workspace,
        history: tuple[Exchange, ...],
        budget_ms: int,
    ) -> None:
        self._caller = caller
        self._budget_ms = budget_ms
        self._line = line
        self._task_id = task_id
        self._loop = loop
        self._dispatcher = dispatcher
        self._effectors = effectors
        self._perceiver = perceiver
        self._space = space
        self._history = history
        self.answer: str | None = None  # to what was no task at all

    def begin(self, goal: str) -> None:
        """Take the goal in. Everybody listens before anything is said."""
        self._loop.start()
        perceived = self._perceiver.perceive(goal, task_id=self._task_id, history=self._history)
        self.answer = perceived.answer
        if self.answer is not None:
            self._line.journal.put(self._talked)

    def _talked(self, writer: Writer) -> None:
        """What was only talk is recorded without its words."""
        payload = {"answered": "without a task"}
        writer.append(
            Act(
                act="control.conversation",
                subject=f"task:{self._task_id}",
                actor=self._caller.agent,
                channel=self._caller.channel,
                at=self._line.bus.now(),
                payload=payload,
            )
        )

    def finish(self, meanwhile: Callable[[], None]) -> None:
        """Wait for the end, with a look at it now and then. A task far beyond its budget is cancelled, once; mere talk has
        no end to wait for."""
        ends = time.monotonic() + LATE_FACTOR * self._budget_ms / 1000
        late = False
        try:
            while self.answer is None and not self._loop.wait(BEAT_S):
                meanwhile()
                if late and time.monotonic() > ends:
                    break  # nobody listens any more; the auditor names a task without an end
                if not late and time.monotonic() > ends:
                    late, ends = True, time.monotonic() + RUN_ENDS_S
                    self._loop.cancel("it is far beyond its budget")
        finally:
            self._dispatcher.stop(self._task_id)
            self._loop.stop(RUN_ENDS_S)
            self._effectors.join(RUN_ENDS_S)
            self._space.close()

    def cancel(self, why: str) -> None:
        self._loop.cancel(why)


class Crews:
    """Builds crews. One for a process."""

    def __init__(
        self,
        lines: Lines,
        experience: ExperienceRoom,
        workspaces: Workspaces,
        plan: ModelPlan,
        *,
        numbers: Callable[[], Params],
        clock: Callable[[], int],
        salt: Callable[[OpenBrain], str],
        remember: Remember,
        home: Path,
        environ: Mapping[str, str],
    ) -> None:
        self._lines = lines
        self._experience = experience
        self._workspaces = workspaces
        self._plan = plan
        self._numbers = numbers
        self._clock = clock
        self._salt = salt
        self._remember = remember
        self._home = home
        self._environ = environ

    def mind(self, opened: OpenBrain) -> Models | None:
        """The model of a brain's roles; None when none is set."""
        if not self._plan.chain:
            return None
        costs = Costs(
            opened.store,
            self._lines.of(opened).journal,
            caps=self._plan.caps,
            clock=self._clock,
            salt=self._salt(opened),
            keep_prompts=self._plan.keep_prompts,
        )
        return Models(self._plan, costs, environ=self._environ, standing=self._experience.of(opened).standing())

    def made(
        self,
        opened: OpenBrain,
        task_id: str,
        *,
        caller: Caller,
        space: Workspace,
        budget_ms: int | None,
        memory: bool = True,
        history: tuple[Exchange, ...] = (),
    ) -> Crew:
        """A crew for one task, with its workspace."""
        line, mind = self._lines.of(opened), self.mind(opened)
        bus = line.bus
        numbers = Parameters(self._numbers(), opened.store, time_budget_ms=budget_ms)
        reading = self._experience.of(opened, line.journal)
        perceiver = Perceiver(bus.voice(Role.PERCEIVER), mind=mind, lessons=reading)
        solver = Solver(
            bus.voice(Role.SOLVER),
            numbers,
            workspace=lambda _: str(space.root),
            cost=lambda task: task_cost(opened.store, task),
            apart=lambda work: _apart(work, lambda failure: loop.broken(Role.SOLVER.value, failure)),
        )
        parts: dict[Role, Part] = {
            Role.PERCEIVER: perceiver,
            Role.PLANNER: Planner(bus.voice(Role.PLANNER), tools=TOOLS, mind=mind, memory=memory),
            Role.META_VALIDATOR: MetaValidator(bus.voice(Role.META_VALIDATOR), mind, numbers.of),
            Role.MEMORY: Memory(bus.voice(Role.MEMORY), reader=reading),
            Role.SOLVER: solver,
        }
        effectors = Effectors(
            listen=lambda name: bus.subscribe(name, task_id=task_id),
            voice=bus.voice,
            box=self._box(opened, task_id, caller, space),
            mind=mind,
            numbers=numbers.of,
            broken=lambda name, failure: loop.broken(name, failure),
        )
        dispatcher = Dispatcher(bus.voice(Role.AGENT_VALIDATOR), effectors.start)
        loop = Loop(bus, task_id, parts=parts, dispatcher=dispatcher)
        return Crew(
            line,
            task_id,
            caller=caller,
            loop=loop,
            dispatcher=dispatcher,
            effectors=effectors,
            perceiver=perceiver,
            space=space,
            history=history,
            budget_ms=numbers.of("").time_budget_ms,
        )

    def _box(self, opened: OpenBrain, task_id: str, caller: Caller, space: Workspace) -> Toolbox:
        """What the executor may touch: the workspace, commands in it, and what the project remembers."""
        user = self._environ.get("HOME")
        commands = Commands(
            space.root,
            temporary=self._workspaces.temporary(opened, task_id),
            path=self._environ.get("PATH", os.defpath),
            hidden=[self._home],
            user=Path(user) if user else None,
        )
        return Toolbox(
            workspace=space,
            commands=commands,
            memory=lambda query: self._remember(caller, query),
            by_person=caller.channel is Channel.HUMAN,
        )


def _apart(work: Callable[[], None], broken: Callable[[Exception], None]) -> None:
    """The end of a task that is given up, on a thread of its own: it waits for last words, and nothing else need."""

    def guarded() -> None:
        try:
            work()
        except Exception as failure:  # noqa: BLE001 - a controller that breaks at the end must not leave its task hanging
            broken(failure)

    threading.Thread(target=guarded, name="hindbrain-last-words", daemon=True).start()
