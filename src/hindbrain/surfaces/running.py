"""Running: an autonomous task at a terminal. Starts it, draws the loop while it turns, asks what only a person may allow, shows
how it ended. Ctrl-C ends the task, not the shell. All it knows comes from ordinary operations."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hindbrain.surfaces import calling, cli, manifest, output
from hindbrain.surfaces.client import Who, caller_root
from hindbrain.surfaces.manifest import Command
from hindbrain.surfaces.render import clean

__all__ = ["drawn", "go"]

_LOOK_S = 0.5  # for news at most; a question or the end comes at once
_LINES = 12  # of what was said last
_ROLES = ("R1", "R2", "R3", "R4a", "R4b", "R5", "R7")
_NAMES = {"R1": "perceive", "R2": "plan", "R3": "execute", "R4a": "check", "R4b": "gate", "R5": "memory", "R7": "steer"}

Say = Callable[..., dict[str, Any]]


def go(op: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Run a goal to its end; the exit code is 0 unless it was given up or could not be started."""
    person = os.isatty(0) and os.isatty(2)
    with _speaking(given) as say:
        began = say("run", {**read, "wait_s": 0}, human=person)
        if not began["ok"] or began["task_id"] is None:  # refused, or only talk
            return output.present(began, given)
        draws = person and not output.wants_json(given)
        shown = _followed(say, began["task_id"], person=person, draws=draws)
        return output.present(shown, given)


def _followed(say: Say, task_id: str, *, person: bool, draws: bool) -> dict[str, Any]:
    """Look until it has ended. Whoever presses Ctrl-C is heard by the task; a second time leaves it to itself."""
    cursor, lines, shown = 0, [], {}
    cancelled = False
    asked: set[str] = set()
    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) if draws else _Silent() as live:
        while True:
            try:
                shown = say("task.show", {"task_id": task_id, "after": cursor, "wait_s": _LOOK_S}, human=False)
                if not shown["ok"]:
                    return shown
                cursor = shown["cursor"]
                lines += shown["lines"]
                live.update(drawn(shown, lines[-_LINES:]), refresh=True)
                if shown["state"] in ("done", "lost"):
                    return shown
                for question in shown["waiting"]:
                    if person and question["request_id"] not in asked:
                        asked.add(question["request_id"])
                        live.stop()
                        _answered(say, task_id, question)
                        live.start()
            except KeyboardInterrupt:
                if cancelled:
                    raise
                cancelled = True
                output.tell("\ncancelling the task; once more leaves it to itself.")
                say("task.cancel", {"task_id": task_id, "why": "Ctrl-C"}, human=False)


class _Silent:
    """What stands in for the drawing where nobody looks."""

    def __enter__(self) -> "_Silent":
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing was drawn."""

    def update(self, _: object, *, refresh: bool) -> None:
        """Nothing is drawn."""

    def start(self) -> None:
        """Nothing was stopped."""

    def stop(self) -> None:
        """Nothing is drawn."""


def _answered(say: Say, task_id: str, question: Mapping[str, Any]) -> None:
    """One question, one answer, one act. Anything but yes is a no; an empty answer to a question of meaning goes on as it is."""
    if question["kind"] == "clarify":
        answers = [_line(f"{clean(text)} ") for text in question["texts"]]
        say("task.answer", {"task_id": task_id, "request_id": question["request_id"], "answers": answers}, human=True)
        return
    output.tell(f"The task wants to do something that cannot be taken back ({clean(question['why'])}):")
    for text in question["texts"]:
        output.tell(f"  {clean(question['tool'])}: {clean(text)}")
    allowed = _line("Allow this once? Type yes, anything else refuses: ") == "yes"
    say("task.answer", {"task_id": task_id, "request_id": question["request_id"], "allowed": allowed}, human=True)


def _line(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def drawn(shown: Mapping[str, Any], lines: list[str]) -> Group:
    """The loop as it stands: roles, rounds with their loss, the budget, and what was said last."""
    roles = Text()
    spoke = shown["roles"]
    for role in _ROLES:
        style = "bold green" if spoke and spoke[-1] == role else ("" if role in spoke else "dim")
        roles.append(f" {role} {_NAMES[role]} ", style=style)
    table = Table(box=None, padding=(0, 1), expand=False)
    for name in ("round", "directive", "D", "P", "Ω", "L", "∇L"):
        table.add_column(name, justify="left" if name == "directive" else "right")
    for number, one in enumerate(shown["rounds"], 1):
        arrow = "→" if abs(one["grad_l"]) < one["epsilon"] else ("↑" if one["grad_l"] < 0 else "↓")
        numbers = (f"{one[key]:.3f}" for key in ("D", "P", "Omega", "L"))
        table.add_row(str(number), f"{one['prev_directive']}→{one['directive']}", *numbers, f"{one['grad_l']:+.3f} {arrow}")
    used = shown["rounds"][-1]["Omega"] if shown["rounds"] else 0.0
    bar = "█" * round(used * 20) + "░" * (20 - round(used * 20))
    budget = Text(f" budget {bar} {used:.0%}   attempts {shown['attempts']}   {shown['state']}")
    said = Text("\n".join(clean(line) for line in lines), overflow="ellipsis", no_wrap=True)
    return Group(Panel(Group(roles, table, budget), title=clean(shown["goal"])[:100], title_align="left"), said)


@contextmanager
def _speaking(given: dict[str, Any]) -> Iterator[Say]:
    """A way to call operations that stays the same process from start to end: the owner, or this one while it draws."""
    home = cli.home_of(given)
    known = manifest.load(home)
    root, source = caller_root(given.get("root"), os.environ)
    who = Who(root, given.get("agent") or os.environ.get("HINDBRAIN_AGENT_ID") or calling.person(), source=source)
    if calling.served(home):

        def by_owner(name: str, arguments: dict[str, Any], *, human: bool) -> dict[str, Any]:
            return cli.answered(known.operations[name], arguments, given, person=human)

        yield by_owner
        return
    from hindbrain.app import App
    from hindbrain.domain.caller import UNKNOWN_AGENT, AgentId, Caller, Channel, RootSource, SessionId
    from hindbrain.settings import Settings
    from hindbrain.stores.home import Home

    place = Home(Path(home))
    app = App(place, Settings.read(place.config_file))
    session = SessionId(secrets.token_hex(8))

    def by_this_process(name: str, arguments: dict[str, Any], *, human: bool) -> dict[str, Any]:
        caller = Caller(
            agent=AgentId(who.agent) if who.agent else UNKNOWN_AGENT,
            root=who.root,
            root_source=RootSource(source),
            session=session,
            channel=Channel.HUMAN if human else Channel.AGENT,
        )
        return cli.confirmed(lambda word: app.call(name, arguments, caller=replace(caller, passphrase=word)))

    try:
        yield by_this_process
    finally:
        app.close()
