"""The command line: finds the command, reads its arguments, calls it, shows the answer. Operations come from the manifest."""

from __future__ import annotations

import os
import sys

from hindbrain.surfaces import arguments, manifest, output
from hindbrain.surfaces.arguments import Usage
from hindbrain.surfaces.client import OwnerGone, home_path

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hindbrain.surfaces.manifest import Command, Manifest

__all__ = ["CALL", "LOCAL", "answered", "carry_out", "confirmed", "home_of", "main"]

PASSPHRASE = ("passphrase.set", "passphrase.remove", "passphrase.status")

# Commands that concern processes or this program itself. Their descriptions are in local.py, loaded when one is used.
LOCAL = (
    "serve",
    "hall",
    "demo",
    "stop",
    "status",
    "mcp",
    "hook",
    "call",
    "completion",
    "help",
    "version",
    "adoption.wrap",
    *PASSPHRASE,
)

CALL: Command = {
    "name": "call",
    "effect": "read",
    "summary": "Call any operation with its arguments as one JSON object.",
    "help": "Call any operation with its arguments as one JSON object.",
    "schema": {
        "properties": {
            "operation": {"type": "string", "description": "name of the operation, as `hindbrain operations` lists it"},
            "arguments": {"type": "object", "description": "JSON text, @FILE, or - for standard input"},
        },
        "required": ["operation"],
    },
    "positional": ["operation", "arguments"],
    "human": False,
    "progress": False,
    "everyday": False,
    "surfaces": ["cli"],
}


def main(words: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(words)
    except KeyboardInterrupt:
        output.tell("\ninterrupted: what was kept stays kept, and running it again goes on.")
        return 130
    except BrokenPipeError:
        _close_output()  # whoever read it has seen enough
        return 141
    except OSError as failure:
        # What a call meets on the disk is told as its answer; this is the answer that cannot be written.
        _close_output()
        output.tell(f"hindbrain: the answer cannot be written: {failure.strerror or failure}")
        return 1


def _close_output() -> None:
    """Let the interpreter not complain once more when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _run(words: list[str]) -> int:
    given: dict[str, Any] = {}
    try:
        rest = arguments.leading(words, given)
        if given.get("version"):
            return _local("version", [], given)
        if not rest:
            return _local("help", [], given)
        if rest[0] == "call":
            return _call(rest[1:], given)
        if rest[0] in LOCAL:
            return _local(rest[0], rest[1:], given)
        if (spoken := ".".join(rest[:2])) in LOCAL:
            return _local(spoken, rest[2:], given)
        return _operation(rest, given)
    except Usage as wrong:
        return _failed({"code": "invalid_params", "message": wrong.message, "fix": wrong.fix}, _formed(words, given))


def _formed(words: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """The flags so far, and whether JSON or text is wanted: also where reading stopped before the flag that says so."""
    asked = [word for word in words[: words.index("--") if "--" in words else None] if word in ("--json", "--no-json")]
    return {"json": asked[-1] == "--json", **given} if asked else given


def _failed(error: dict[str, Any], given: dict[str, Any]) -> int:
    return output.present({"ok": False, "error": error}, given)


def _local(name: str, rest: list[str], given: dict[str, Any]) -> int:
    from hindbrain.surfaces import local

    return local.run(name, rest, given)


def home_of(given: dict[str, Any]) -> str:
    """The home this command line is about."""
    chosen = given.get("home")
    return os.path.abspath(os.path.expanduser(chosen)) if chosen else home_path(os.environ)


def _operation(rest: list[str], given: dict[str, Any]) -> int:
    if rest == ["cowork", "guard", "check"]:  # somebody commits and waits: nothing is loaded that it does not need
        from hindbrain.surfaces import commit_guarding

        return commit_guarding.go({}, given)
    known = manifest.load(home_of(given))
    if rest[0] == "doctor" and "--fix" in rest:  # a flag is what people look for; the repair is an operation of its own
        rest = ["doctor", "fix", *(word for word in rest[1:] if word != "--fix")]
    # A checkout that was updated has commands of which the file of the last owner does not know yet.
    found = known.resolve(rest) or manifest.of_the_code().resolve(rest)
    if found is None:
        return _unknown(rest, known, given)
    op, count = found
    words, out = rest[count:], None
    if op["name"] == "mission.export":  # the file is written by whoever typed it, not by the owner
        from hindbrain.surfaces import mission_exporting

        out, words = mission_exporting.taken(words)
    if op["name"] == "partner.drain":  # the hook of a host calls it, and never fails
        from hindbrain.surfaces import partner_draining

        return partner_draining.go(op, words, given)
    draining = False
    if op["name"] == "cowork.wait":
        from hindbrain.surfaces import cowork_waiting

        draining, words = cowork_waiting.taken(words)
    read = arguments.parse(op, words, given)
    if given.get("help"):
        from hindbrain.surfaces import helping

        output.write(helping.command(op))
        return 0
    if op["name"] == "review" and not given.get("json") and all(map(os.isatty, (0, 1, 2))):
        from hindbrain.surfaces import reviewing

        return reviewing.walk(op, read, given)
    if op["name"] in ("install", "uninstall") and not given.get("json") and all(map(os.isatty, (0, 1, 2))):
        from hindbrain.surfaces import installing

        return installing.walk(op, read, given)
    if op["name"] == "task.apply" and not given.get("json") and all(map(os.isatty, (0, 1, 2))):
        from hindbrain.surfaces import task_apply

        return task_apply.walk(op, read, given)
    if draining:
        return cowork_waiting.go(op, known.operations["cowork.drain"], read, given)
    if op["name"] == "cowork.guard.check":
        from hindbrain.surfaces import commit_guarding

        return commit_guarding.go(read, given)
    if op["name"] == "run":  # it may take minutes: whoever starts it looks on, and may be asked
        from hindbrain.surfaces import running

        return running.go(op, read, given)
    if op["name"] == "mission.run":
        from hindbrain.surfaces import mission_running

        return mission_running.go(op, read, given)
    if out is not None:
        return mission_exporting.go(op, read, given, out)
    return carry_out(op, read, given)


def _call(rest: list[str], given: dict[str, Any]) -> int:
    """`hindbrain call OPERATION JSON`: as quick as a command of its own, hence here."""
    read = arguments.parse(CALL, rest, given)
    if given.get("help"):
        return _local("help", ["call"], given)
    known = manifest.load(home_of(given))
    name, document = str(read["operation"]), read.get("arguments", {})
    op = known.operations.get(name)
    if op is None:
        return _unknown([name], known, given)
    if not isinstance(document, dict):
        raise Usage("the arguments of an operation are one JSON object", f"see hindbrain help {name.replace('.', ' ')}")
    return carry_out(op, document, given)


def carry_out(op: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Call one operation and show its answer."""
    return output.present(answered(op, read, given), given)


def _about(given: dict[str, Any]) -> dict[str, Any]:
    return {"home": home_of(given), "root": given.get("root"), "agent": given.get("agent")}


_GIVEN: list[str] = []  # the passphrase, once it was right: a command that does several acts asks for it once


def _code(answer: dict[str, Any]) -> object:
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else answer.get("refused")


def _asks_for_a_person(answer: dict[str, Any]) -> bool:
    """Whether the house wants a person for this, and one may be sitting here."""
    return (_code(answer) == "human_needed" or _out_of_reach(answer)) and os.isatty(0) and os.isatty(2)


def _out_of_reach(answer: dict[str, Any]) -> bool:
    """Whether an argument names a place that only a person reaches."""
    error = answer.get("error")
    return isinstance(error, dict) and error.get("person_may") is True


def confirmed(ask: Callable[[str | None], dict[str, Any]]) -> dict[str, Any]:
    """The answer to a person's act, with the passphrase that is asked for at the terminal where the home has one."""
    answer = ask(_GIVEN[-1] if _GIVEN else None)
    if _code(answer) != "passphrase_needed" or not (os.isatty(0) and os.isatty(2)):
        return answer
    from hindbrain.surfaces import human

    word = human.ask_passphrase()
    answer = ask(word)
    if _code(answer) not in ("passphrase_wrong", "passphrase_locked"):
        _GIVEN.append(word)
    return answer


def _reason(answer: dict[str, Any]) -> str | None:
    error = answer.get("error")
    reason = error.get("message") if isinstance(error, dict) else answer.get("reason")
    return reason if isinstance(reason, str) else None


def answered(op: Command, read: dict[str, Any], given: dict[str, Any], *, person: bool = False) -> dict[str, Any]:
    """The answer of one operation, or the failure that stands for it. `person`: somebody at this terminal has just chosen it."""
    from hindbrain.surfaces import calling

    why, reach = None, False
    try:
        if not op["human"] and not person:
            found = calling.answer(op, read, **_about(given))
            if not _asks_for_a_person(found):
                return found
            why, reach = _reason(found), _out_of_reach(found)
        # A human act, or an ordinary one with an argument that only a person may give.
        from hindbrain.surfaces import human

        if reach:
            human.agree(why or "")
        elif not person:
            human.confirm(op, read, why=why)
        return confirmed(lambda word: calling.answer(op, read, **_about(given), human=True, passphrase=word))
    except OwnerGone as gone:
        from hindbrain.surfaces.remote import unreachable

        return unreachable(gone).answer()
    except Exception as failure:
        # Loading the error table costs more than a thin call may; so it is looked at only once something failed.
        from hindbrain.domain.errors import HindbrainError, StoreUnavailable

        if isinstance(failure, HindbrainError):
            return failure.answer()
        if isinstance(failure, OSError):
            return StoreUnavailable(
                f"the home cannot be used: {failure}", fix="look at its permissions, then hindbrain doctor"
            ).answer()
        raise


def _named(words: list[str]) -> str:
    """The name of an operation or a family, as the words of a command line spell it."""
    return ".".join(word.replace("-", "_") for word in words)


def _unknown(rest: list[str], known: Manifest, given: dict[str, Any]) -> int:
    from hindbrain.surfaces import helping

    depth = 0  # how many of the words name a family of commands
    while depth < len(rest) and any(name.startswith(f"{_named(rest[: depth + 1])}.") for name in known.offered):
        depth += 1
    if depth and len(rest) > depth and rest[depth] in ("--help", "-h"):
        from hindbrain.surfaces.local import COMMANDS

        begins = f"{_named(rest[:depth])}."
        family = [op for name, op in sorted(known.offered.items()) if name.startswith(begins)]
        family += [op for name, op in COMMANDS.items() if name.startswith(begins)]
        output.write(helping.family(" ".join(rest[:depth]), family))
        return 0
    word = " ".join(rest[: depth + 1])
    close = helping.nearest(word, known)
    fix = f"did you mean {' or '.join(close)}?" if close else "see hindbrain --help"
    return _failed(
        {"code": "unknown_operation", "message": f"there is no command {word[:80]!r}", "fix": fix}, _formed(rest, given)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
