"""The hook entry point: the events of an agent host are told to the owner, and its answer to the host; after a tool was used also
to missions. Always exits 0 with JSON the host can read."""

from __future__ import annotations

import _thread
import json
import os
import sys
import time

from hindbrain.policy.hooks import CARRIERS, FIELDS, HOSTS, KINDS, ROLE
from hindbrain.surfaces.arguments import Usage, parse
from hindbrain.surfaces.client import (
    OwnerGone,
    Who,
    call,
    caller_root,
    home_path,
    read_owner,
    read_token,
    start_owner,
)
from hindbrain.surfaces.hook_shapes import event_name, shaped

# As in exchange.py: the typing module is too dear for a hook that runs on every prompt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["main"]

LIMIT_S = 3.2  # a session start may wait four seconds in all (MED-342); starting and ending the interpreter are part of it
_OWNER_S = 2.0
_STDIN_S = 1.0
_STDIN_BYTES = 1 << 20
_FIELD_CHARACTERS = 20_000

_HEARD = "mission.heard"
_EVENT = "hosts.event"
_REPORT = "[m1nd dlg_"  # how the report of a child on its packet begins
# What a mission hears of a tool; the rest of what a host says is nobody's business.
_TOLD = ("tool_name", "tool_input", "tool_response", "tool_output", "tool_result", "cwd", "exit_code", "duration_ms")

_COMMAND: dict[str, Any] = {
    "name": "hook",
    "schema": {"properties": {"host": {"type": "string"}, "event": {"type": "string"}, "hook": {"type": "boolean"}}},
    "positional": ["host", "event"],
}


class _Outlet:
    """Standard output, used once: by whoever is ready first, the work or the clock."""

    def __init__(self) -> None:
        self._turn = _thread.allocate_lock()
        self.host, self.event = "generic", "SessionStart"

    def say(self, text: str = "") -> None:
        """Answer the host and end. Threads of a stuck read must not delay the end, hence no ordinary exit."""
        self._turn.acquire()  # never given back: the first one ends the process
        try:
            left = json.dumps(shaped(self.host, self.event, text)).encode("ascii") + b"\n"
            while left:
                left = left[os.write(1, left) :]
        finally:
            os._exit(0)

    def give_up(self) -> None:
        """Answer without memory when the time is over, whatever the work is doing."""
        time.sleep(LIMIT_S)
        self.say()


def main(words: list[str]) -> int:
    """Answer one event of a host. Whatever fails, the session goes on; the worst case is a session without memory."""
    outlet = _Outlet()
    text = ""
    try:
        _thread.start_new_thread(outlet.give_up, ())
        text = _answer(outlet, words)
    except BaseException as failure:  # noqa: BLE001 - fail-open is sacred: no defect of ours may break somebody's session
        _note(f"{type(failure).__name__}: {failure}")
    outlet.say(text)
    return 0


def _note(message: str) -> None:
    try:  # noqa: SIM105 - contextlib is not worth loading here
        os.write(2, f"hindbrain hook: {message}\n".encode("utf-8", "replace"))
    except OSError:
        pass  # nobody listens, and nothing may fail because of that


def _answer(outlet: _Outlet, words: list[str]) -> str:
    given: dict[str, Any] = {}
    named = _named(words, given)
    outlet.host = named.get("host", "generic") if named.get("host") in HOSTS else "generic"
    payload = _payload()
    outlet.event = event_name(named.get("event") or payload.get("hook_event_name") or "SessionStart")
    home = os.path.abspath(os.path.expanduser(given["home"])) if given.get("home") else home_path(os.environ)
    root, source = _root(payload, given.get("root"))
    who = Who(root, given.get("agent") or os.environ.get("HINDBRAIN_AGENT_ID") or f"{outlet.host}:{ROLE}")
    if not os.path.isdir(home):
        return ""
    kind = KINDS.get(outlet.event)
    if kind == "tool" and isinstance(payload.get("tool_name"), str):
        _tell(home, who, source, {name: payload[name] for name in _TOLD if name in payload})
    if kind is None or (kind in ("prompt", "tool", "restore") and outlet.event not in CARRIERS[outlet.host]):
        return ""  # nothing could be said, and nothing of it is kept
    if kind != "start" and not any(os.path.isdir(os.path.join(home, room)) for room in ("brains", "medulla", "runtime")):
        return ""  # nothing was ever remembered here
    told = {name: _short(payload[name]) for name in FIELDS if isinstance(payload.get(name), str)}
    said = told.get("last_assistant_message") or told.get("summary")
    if kind == "child" and said is not None and _REPORT not in said:
        return ""  # a child of nobody's packet
    return _memory(home, who, source, kind, {"host": outlet.host, "event": outlet.event, "payload": told})


def _named(words: list[str], given: dict[str, Any]) -> dict[str, str]:
    """Host and event as the command line names them. A word too many is no reason to leave a session without memory."""
    try:
        read = parse(_COMMAND, words[1:], given)
    except Usage as wrong:
        _note(wrong.message)
        return {}
    return {key: value for key, value in read.items() if isinstance(value, str)}


def _payload() -> dict[str, Any]:
    """What the host says on standard input: bounded in size and time, and nothing if it is no JSON object."""
    from select import select

    raw, end = b"", time.monotonic() + _STDIN_S
    try:
        while not os.isatty(0) and len(raw) < _STDIN_BYTES and (left := end - time.monotonic()) > 0:
            # A host that leaves its pipe open has said all once the document is complete.
            if raw.rstrip().endswith(b"}") and not select([0], [], [], 0.02)[0] and _object(raw):
                break
            if not select([0], [], [], left)[0]:
                break
            piece = os.read(0, 65536)
            if not piece:
                break
            raw += piece
    except (OSError, ValueError) as unreadable:
        _note(f"standard input cannot be read: {unreadable}")
    return _object(raw)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _root(payload: dict[str, Any], given: str | None) -> tuple[str, str]:
    """The project the session works in: as given, as the host tells it, else as every local surface finds it."""
    roots = payload.get("workspace_roots")
    for told in (given, payload.get("cwd"), roots[0] if isinstance(roots, list) and roots else None):
        if isinstance(told, str) and os.path.isabs(told) and "\0" not in told:
            return os.path.realpath(told), "call"
    return caller_root(None, os.environ)


def _short(text: str) -> str:
    """A field of an event: paths and names as they are, of a long text its beginning, without half characters."""
    return text[:_FIELD_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _memory(home: str, who: Who, source: str, kind: str, given: dict[str, Any]) -> str:
    """What this session is told now, fenced and attributed as it comes."""
    found = _asked(home, who, source, _EVENT, given, alone=kind != "stop")
    rendered = found.get("rendered")
    if not isinstance(rendered, str):
        _note(f"nothing to say: {str(found.get('error') or found.get('refused') or 'no text')[:200]}")
        return ""
    return rendered


def _keeps(home: str) -> bool:
    """Whether the end of a turn is worth the work without an owner: only where somebody wants it kept."""
    from pathlib import Path

    from hindbrain.settings import Settings

    return Settings.read(Path(home, "config.toml")).text("hooks.save") == "stop"


def _tell(home: str, who: Who, source: str, payload: dict[str, Any]) -> None:
    """Tell the mission of this agent, if it has one, what a tool did."""
    found = _asked(home, who, source, _HEARD, {"payload": payload})
    if not found.get("ok"):
        _note(f"not recorded: {str(found.get('error') or 'no answer')[:200]}")


def _asked(home: str, who: Who, source: str, name: str, given: dict[str, Any], *, alone: bool = True) -> dict[str, Any]:
    """The answer of an operation: the owner's, or one made here if it is worth that."""
    try:
        address = read_owner(home)
        if address is None:
            raise OwnerGone("no owner is up", sent=False)
        return call(address, read_token(home, hook=name == _HEARD), name, given, who, _OWNER_S)
    except OwnerGone as gone:
        if gone.sent:
            raise  # it is there but stuck: reading beside it would wait for the same locks
        if not alone and not _keeps(home):
            return {"ok": True, "rendered": ""}
        return _without_owner(home, who, source, name, given)


def _without_owner(home: str, who: Who, source: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Do it in this process, and have an owner ready for the next event."""
    from hindbrain.surfaces import calling, local_call

    if calling.mode_of(home, os.environ) != "embedded":
        start_owner(home)
    op = {"name": name, "progress": False}
    return local_call.run(op, given, home=home, who=who, source=source, human=False, hook=name == _HEARD)


if __name__ == "__main__":
    sys.exit(main(["hook", *sys.argv[1:]]))
