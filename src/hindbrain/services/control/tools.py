"""The tool gateway: the one way to a tool. It refuses what is blocked, asks a person before what cannot be taken back, does the
rest inside of the workspace, and keeps a record of each call. It judges no result."""

import logging
import stat
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hindbrain.domain.errors import HindbrainError, PathRefused
from hindbrain.domain.task import SubTask, ToolCall
from hindbrain.engines.checking import PathFact
from hindbrain.engines.command_safety import Danger, Judgement, judged
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.targets import normalised_target
from hindbrain.engines.tool_record import cut_middle, recorded_call
from hindbrain.policy.tools import COMMAND_MAX_S, COMMAND_S, KEPT_CUT, TOOLS, Tool, target_of
from hindbrain.stores.command import UNCONTAINED, Commands
from hindbrain.stores.held_file import shown
from hindbrain.stores.workspace import Workspace

__all__ = ["BLOCKED", "CAUTION", "LAW1", "Confirming", "ToolGateway", "ToolResult", "Toolbox", "path_facts", "text_facts"]

LOG = logging.getLogger("hindbrain.tools")
LAW1, BLOCKED, CAUTION = "[LAW1]", "[BLOCKED]", "[CAUTION]"


class Confirming(Protocol):
    """Asks a person about one action. True and False are answers, None is none."""

    def __call__(self, *, tool: str, action: str, why: str) -> bool | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """What the tools of one run work on. `by_person` when a person started it; else every command waits for one."""

    workspace: Workspace
    commands: Commands
    memory: Callable[[str], str] | None = None
    by_person: bool = True
    output_directory: str = ""  # where files go that are written under a bare name


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of a call. `output` is what the tool gave, `error` why it gave nothing or not all."""

    call: ToolCall
    output: str
    error: str | None = None
    complete: bool = True
    note: str = ""

    @property
    def text(self) -> str:
        """As a model is shown it."""
        parts = [self.output, f"ERROR: {self.error}" if self.error is not None else "", f"({self.note})" if self.note else ""]
        return "\n".join(part for part in parts if part) or "(nothing)"

    @property
    def stops(self) -> bool:
        """Whether a plan cannot go on: there is no result. A program that ended with a status gave one."""
        return self.error is not None and not self.error.startswith("exit status")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gave:
    output: str = ""
    error: str | None = None
    complete: bool = True
    note: str = ""


class _Refused(Exception):
    """The call is not made; its text says why."""


def path_facts(workspace: Workspace) -> Callable[[str], PathFact]:
    """What lies at a path of a workspace, for whoever checks a result."""

    def fact(path: str) -> PathFact:
        try:
            facts = workspace.facts(path)
        except PathRefused:
            return PathFact(exists=False)
        if facts is None:
            return PathFact(exists=False)
        size = workspace.entries(path) if stat.S_ISDIR(facts.st_mode) else facts.st_size
        return PathFact(exists=True, size=size)

    return fact


def text_facts(workspace: Workspace) -> Callable[[str], str | None]:
    """The text of a file of a workspace, for whoever compares it; None where it cannot be read."""

    def text(path: str) -> str | None:
        try:
            return workspace.read(path).text
        except PathRefused:
            return None

    return text


class ToolGateway:
    """The tools of one subtask. Each call is numbered within its attempt; a confirmation holds for one call."""

    def __init__(
        self,
        box: Toolbox,
        subtask: SubTask,
        confirm: Confirming,
        *,
        stopped: threading.Event | None = None,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._box = box
        self._space = box.workspace
        self._subtask = subtask
        self._confirm = confirm
        self._stopped = stopped or threading.Event()
        self._ticks = ticks
        self._attempt = 1
        self.calls: list[ToolCall] = []
        self.outputs: dict[str, str] = {}
        self.blocked = 0
        self._doing: Mapping[str, Callable[[Mapping[str, Any]], _Gave]] = {
            "glob": self._glob,
            "search": self._search,
            "read": self._read,
            "write": self._write,
            "move": self._move,
            "delete": self._delete,
            "ask_memory": self._ask_memory,
            "run": self._run,
        }

    def begin(self, attempt: int) -> None:
        """The next attempt: its calls are its own."""
        self._attempt = attempt
        self.calls, self.outputs = [], {}

    def call(
        self,
        name: str,
        given: Mapping[str, Any],
        *,
        then: Callable[[str], str] = lambda text: text,
        extra: Mapping[str, Any] = {},
    ) -> ToolResult:
        """Call a tool. `then` is what a plan makes of its output, by code; `extra` names that in the record."""
        begun = self._ticks()
        tool = TOOLS.get(name)
        try:
            gave = self._made(tool, name, given)
            if gave.error is None and "then" in extra and not gave.complete:
                gave = _Gave(error=f"{name} gave only a part ({gave.note}), and nothing can be made of a part")
            elif gave.error is None:
                gave = _Gave(output=then(gave.output), complete=gave.complete, note=gave.note)
        except _Refused as refused:
            gave = _Gave(error=str(refused), output=str(refused))
        except HindbrainError as failure:
            gave = _Gave(error=failure.message)
        except ValueError as wrong:
            gave = _Gave(error=str(wrong))
        call = recorded_call(
            call_id=f"{self._subtask.subtask_id}-{self._attempt}-{len(self.calls) + 1}",
            tool=name,
            given={**given, **extra},
            output=gave.output,
            error=gave.error,
            elapsed_ms=max(int((self._ticks() - begun) * 1000), 0),
            evidence_class=tool.evidence if tool is not None else "unclassified",
        )
        self.calls.append(call)
        self.outputs[call.call_id] = cut_middle(gave.output, KEPT_CUT)
        return ToolResult(call=call, output=gave.output, error=gave.error, complete=gave.complete, note=gave.note)

    def _made(self, tool: Tool | None, name: str, given: Mapping[str, Any]) -> _Gave:
        if self._stopped.is_set():
            raise _Refused("cancelled")
        if name in self._subtask.x.must_not.tools:
            self._block(f"the tool {name} is blocked for this subtask")
        if tool is None:
            raise _Refused(f"there is no tool {name[:40]!r}; there are: {', '.join(TOOLS)}")
        _check(tool, given)
        self._refuse_targets(given)
        return self._doing[name](given)

    # --- what is refused or asked about ------------------------------------------------------------------------------------

    def _block(self, why: str) -> None:
        self.blocked += 1
        raise _Refused(f"{BLOCKED} {why}")

    def _refuse_targets(self, given: Mapping[str, Any]) -> None:
        root = str(self._space.root)
        closed = {normalised_target(one, root) for one in self._subtask.x.must_not.targets}
        named = [target_of(given), given.get("path"), given.get("to")]
        for one in named:
            if isinstance(one, str) and normalised_target(one, root) in closed:
                self._block(f"{shown(one)[:120]} is blocked for this subtask")

    def _agreed(self, tool: str, action: str, why: str, *, mark: str = LAW1) -> None:
        """Ask; without a yes the call is not made. A yes holds for this call only, and only for what was really shown."""
        if hidden := _hidden(action):
            raise _Refused(f"{mark} {tool} not done, nobody can be asked about it: {hidden}")
        answer = self._confirm(tool=tool, action=action, why=why)
        if self._stopped.is_set():
            raise _Refused("cancelled")
        if answer is not True:
            said = "a person refused it" if answer is False else "nobody agreed in time"
            raise _Refused(f"{mark} {tool} not done, {said}: {shown(action)[:200]} ({why})")

    def _cautious(self, tool: str, action: str) -> None:
        """What earlier outcomes, or the plan, say to be careful with."""
        guards = self._subtask.x.guards
        if guards.caution or tool in guards.confirm:
            self._agreed(tool, action, "this is to be done with care", mark=CAUTION)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _glob(self, given: Mapping[str, Any]) -> _Gave:
        found = self._space.glob(given["query"], under=given.get("path") or ".")
        note = f"{len(found.paths)} of {found.looked_at} files" if found.complete else "there are more"
        return _Gave(output="\n".join(found.paths), complete=found.complete, note=note)

    def _search(self, given: Mapping[str, Any]) -> _Gave:
        found = self._space.search(
            given["query"],
            under=self._placed(given.get("path") or "."),
            files=given.get("files"),
            is_regex=bool(given.get("regex")),
            ignore_case=bool(given.get("ignore_case")),
        )
        if found.why.startswith("timed out"):
            return _Gave(output="\n".join(found.lines), error=f"the search {found.why}", complete=False)
        note = f"{len(found.lines)} lines in {found.looked_at} files"
        return _Gave(output="\n".join(found.lines), complete=found.complete, note=found.why or note)

    def _read(self, given: Mapping[str, Any]) -> _Gave:
        text = self._space.read(self._placed(given["path"]))
        note = "" if text.whole else "some bytes are no UTF-8 and were replaced"
        start, count = given.get("start"), given.get("lines")
        if start is None and count is None:
            return _Gave(output=text.text, note=note)
        lines = text.text.splitlines(keepends=True)
        first = max(int(start or 1), 1) - 1
        part = lines[first : first + max(int(count), 0) if count is not None else None]
        return _Gave(output="".join(part), note=f"lines {first + 1} to {first + len(part)} of {len(lines)}")

    def _write(self, given: Mapping[str, Any]) -> _Gave:
        path = self._generated(given["path"])
        over = self._space.precious(path)
        action = f"write {len(given['content'])} characters to {shown(path)}"
        if over:
            self._agreed("write", action, f"{shown(path)[:120]} was there before")
        else:
            self._cautious("write", action)
        kept = self._space.write(path, given["content"], over=over)
        held = f"; the earlier one is kept as {shown(kept)}" if kept else ""
        return _Gave(output=f"wrote {len(given['content'])} characters to {shown(path)}{held}")

    def _move(self, given: Mapping[str, Any]) -> _Gave:
        self._cautious("move", f"rename {shown(given['path'])} to {shown(given['to'])}")
        self._space.move(given["path"], given["to"])
        return _Gave(output=f"{shown(given['path'])} is now {shown(given['to'])}")

    def _delete(self, given: Mapping[str, Any]) -> _Gave:
        path = given["path"]
        if self._space.facts(path) is None:
            raise PathRefused(f"{shown(path)[:120]}: no such file", fix="look for its name first")
        self._agreed("delete", f"take {shown(path)} away", "it is gone from its place; the trash keeps it")
        return _Gave(output=f"{shown(path)} is now {shown(self._space.delete(path))}")

    def _generated(self, path: str) -> str:
        """A file under a bare name goes to the directory for what runs make; a path is used as it is."""
        plain = self._space.relative(path)
        place = self._box.output_directory
        return f"{place}/{plain}" if place and "/" not in plain else plain

    def _placed(self, path: str) -> str:
        """A bare name that is not at the top may lie where runs write."""
        made = self._generated(path)
        return made if self._space.facts(path) is None and self._space.facts(made) is not None else path

    # --- beyond files ----------------------------------------------------------------------------------------------------------

    def _ask_memory(self, given: Mapping[str, Any]) -> _Gave:
        if self._box.memory is None:
            raise _Refused("this run has no memory to ask")
        return _Gave(output=self._box.memory(given["query"]))

    def _run(self, given: Mapping[str, Any]) -> _Gave:
        command = given["command"]
        found = judged(command, exists=self._costs)
        confirmed = self._asked_about(command, found)
        if not confirmed and found.danger >= Danger.WRITES:
            self._cautious("run", command)
        # What only reads or writes files needs no network. Code that this run wrote, and that nobody looked at, gets none.
        connect = confirmed or (found.danger is Danger.PROJECT and not self._space.touched)
        limit = min(max(float(given.get("timeout_s") or COMMAND_S), 1.0), COMMAND_MAX_S)
        guarded = not confirmed and not self._space.own and found.danger > Danger.READS
        before = self._space.repositories() if guarded else {}
        ran = self._box.commands.run(
            command,
            timeout_s=limit,
            connect=connect,
            write=confirmed or found.danger > Danger.READS,  # a wrong judgement then changes nothing
            settings=confirmed,
            uncontained=confirmed,
            stopped=self._stopped,
        )
        note = "" if ran.contained else f"it was not contained: {UNCONTAINED}"
        if guarded and (moved := self._space.set_aside_new_repositories(before)):
            names = ", ".join(shown(one)[:80] for one in moved[:5])
            note = f"it made {names}, which could start programs later; the trash of the workspace has it"
        if ran.why:
            return _Gave(output=ran.output, error=ran.why, complete=False, note=note)
        if ran.status:
            return _Gave(output=ran.output, error=f"exit status {ran.status}: {_last_line(ran.output)}", note=note)
        return _Gave(output=ran.output, complete=ran.complete, note=note)

    def _asked_about(self, command: str, found: Judgement) -> bool:
        """Whether a person agreed to this command; False where nobody had to."""
        contained = self._box.commands.contains
        if found.asks:
            self._agreed("run", command, found.why)
        elif not self._box.by_person:
            self._agreed("run", command, "an agent started this run: its commands wait for a person")
        elif not contained:
            self._agreed("run", command, f"nothing keeps it inside the workspace: {UNCONTAINED}")
        elif found.danger is Danger.PROJECT and not self._space.own and self._space.touched:
            self._agreed("run", command, "it runs code of the workspace, which this run changed")
        elif found.danger is Danger.PROJECT and not self._space.own and not self._box.commands.closes_settings:
            self._agreed("run", command, "nothing keeps it from hooks and settings of git: install bubblewrap")
        else:
            return False
        return True

    def _costs(self, path: str) -> bool:
        """Whether writing there takes something away that was there before this run, or lays down what starts by itself later."""
        try:
            return self._space.closed(path) or self._space.precious(path)
        except PathRefused:
            return True


def _hidden(action: str) -> str:
    """Why a person would not see all of what they agree to; empty when they would."""
    if len(action) > KEPT_CUT:
        return f"it is {len(action)} characters long, of which {KEPT_CUT} are shown"
    if not all(char.isprintable() or char in "\n\t" for char in action):
        return "it holds characters that cannot be seen"
    return "it holds what looks like a secret, which is not shown" if redacted(action) != action else ""


def _check(tool: Tool, given: Mapping[str, Any]) -> None:
    """The input of a tool, field by field."""
    lacks = [name for name, field in tool.fields.items() if field.needed and given.get(name) is None]
    strange = [name for name in given if name not in tool.fields]
    if lacks or strange:
        wrong = f"lacks {', '.join(lacks)}" if lacks else f"does not take {', '.join(map(str, strange))[:80]}"
        raise _Refused(f"{tool.name} {wrong}; it takes: {', '.join(tool.fields)}")
    for name, value in given.items():
        kind = tool.fields[name].kind
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise _Refused(f"{name} of {tool.name} is to be {kind.__name__}")


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
