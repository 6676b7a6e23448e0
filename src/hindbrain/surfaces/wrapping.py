"""Wrapping: one child command with its end captured as an outcome. Runs in the process of whoever typed it and installs nothing;
no other surface has it, for memory never runs commands."""

from __future__ import annotations

import os
import signal
import sys
import threading

from hindbrain.launcher import Child, start_typed
from hindbrain.surfaces import arguments, cli, helping, manifest, output
from hindbrain.surfaces.arguments import Usage

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["CAPTURED_MAX", "run"]

CAPTURED_MAX = 64 * 1024  # bytes of each stream that the report repeats; all of it was passed through
_PIECE = 64 * 1024
_CAPTURE = "adoption.capture"
_AUTO = "auto"


def run(command: Command, words: list[str], given: dict[str, Any]) -> int:
    """Run one wrapped command and return its exit code."""
    place = words.index("--") if "--" in words else len(words)
    read = arguments.parse(command, words[:place], given)
    if given.get("help"):
        output.write(helping.command(command))
        return 0
    if not words[place + 1 :]:
        raise Usage(
            "hindbrain adoption wrap has no command to run", "put it after --, as in hindbrain adoption wrap … -- make test"
        )
    report, told = read.pop("report", None), read.pop("outcome", _AUTO)
    operation = manifest.load(cli.home_of(given)).operations[_CAPTURE]

    def captured(outcome: str, **more: Any) -> dict[str, Any]:
        # The call goes from here on as any other of the command line, to the owner if there is one.
        return cli.answered(operation, {**read, "outcome": outcome, **more}, given)

    # What cannot be recorded or reported is refused before the command runs, not after.
    if report is not None:
        _writable(report)
    plan = captured("accepted" if told == _AUTO else told, execute=False)
    refusal = plan.get("refusal") if plan["ok"] and read.get("execute") else plan.get("error")
    if refusal:
        return output.present({"ok": False, "error": refusal}, given)
    try:
        code, streams, cut = _ran(words[place + 1 :])
    except OSError as failure:
        output.tell(f"hindbrain: {words[place + 1]} cannot be run: {failure.strerror or failure}")
        return 127 if isinstance(failure, FileNotFoundError) else 126
    outcome = told if told != _AUTO else "accepted" if code == 0 else "rejected"
    metadata = {**(read.get("metadata") or {}), "child_exit_code": code}
    found = captured(outcome, metadata=metadata)
    answer: dict[str, Any] = {
        "ok": found["ok"],
        "schema": "hindbrain-adoption-wrap-v0",
        "writes": bool(found.get("writes")),
        "execute": bool(read.get("execute")),
        "surface": found.get("surface", read["surface"]),
        "outcome": outcome,
        "child_exit_code": code,
        "child_stdout": streams[0],
        "child_stderr": streams[1],
        "truncated": cut,
        "capture": {key: value for key, value in found.items() if key != "rendered"},
    }
    shown = f"exit code {code}: {outcome}\n{found.get('rendered') or _failure(found)}"
    _reported(answer, shown, report, given)
    return code or (0 if found["ok"] else 1)


def _failure(answer: dict[str, Any]) -> str:
    from hindbrain.surfaces import render

    return render.failure(answer, colour=False)


def _writable(report: str) -> None:
    file = os.path.abspath(os.path.expanduser(report))
    if os.path.isdir(file) or not os.access(file if os.path.exists(file) else os.path.dirname(file), os.W_OK):
        raise Usage(f"{report} cannot be written", "name a file that can be, after --report")


def _reported(answer: dict[str, Any], shown: str, report: str | None, given: dict[str, Any]) -> None:
    """The report into its file, or beside what the command said: its standard output stays its own."""
    asked = given.get("json")
    if report is not None:
        with open(os.path.expanduser(report), "w", encoding="utf-8") as file:
            file.write(output.json_line(answer, indent=2) + "\n")
    elif asked if asked is not None else not os.isatty(2):
        output.tell(output.json_line(answer))
    else:
        from hindbrain.surfaces.render import clean

        output.tell(clean(shown))


def _ran(words: list[str]) -> tuple[int, list[str], bool]:
    """Run it to its end: exit code, what it wrote on both streams, and whether that was cut."""
    child: Child[bytes] | None = None

    def passed_on(number: int, _: object) -> None:
        # A terminal tells the child of an interrupt itself; what was sent to this process alone is handed on.
        if child is not None and number != signal.SIGINT:
            child.send_signal(number)

    # Handlers, not ignored signals: the child starts with what the system does by itself.
    kept = {number: signal.signal(number, passed_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        child = start_typed(words, cwd=os.getcwd())
        streams = [_Stream(child.stdout, sys.stdout.fileno()), _Stream(child.stderr, sys.stderr.fileno())]
        for stream in streams:
            stream.thread.start()
        for stream in streams:
            stream.thread.join()
        code = child.wait()
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    return (code if code >= 0 else 128 - code), [stream.text() for stream in streams], any(stream.cut for stream in streams)


class _Stream:
    """One stream of the child: passed through as it comes, and its beginning kept."""

    def __init__(self, source: IO[bytes] | None, target: int) -> None:
        self._source = source
        self._target = target
        self._kept = bytearray()
        self.cut = False
        self.thread = threading.Thread(target=self._pump, daemon=True)

    def _pump(self) -> None:
        assert self._source is not None  # noqa: S101 - it was asked for as a pipe
        with self._source as source:
            while piece := os.read(source.fileno(), _PIECE):
                room = CAPTURED_MAX - len(self._kept)
                self._kept += piece[:room]
                self.cut = self.cut or len(piece) > room
                try:
                    while piece:
                        piece = piece[os.write(self._target, piece) :]
                except BrokenPipeError:
                    return  # whoever read it has seen enough; the child is told so by its closed pipe

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")
