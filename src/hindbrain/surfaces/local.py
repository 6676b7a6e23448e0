"""Local commands: those about processes and about the program itself. Described like operations, so that one parser reads all."""

import os
from pathlib import Path
from typing import Any

from hindbrain import __version__
from hindbrain.domain.errors import HindbrainError, StoreUnavailable, UnknownOperation
from hindbrain.surfaces import arguments, calling, cli, completion, helping, manifest, output
from hindbrain.surfaces.client import OwnerAddress, OwnerGone, answer_of, find_owner, read_token, request
from hindbrain.surfaces.manifest import Command
from hindbrain.surfaces.remote import unreachable

__all__ = ["COMMANDS", "run"]

_ASK_S = 5.0

_TEXT = {"type": "string"}
_YES_NO = {"type": "boolean"}


def _command(name: str, help_text: str, positional: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> Command:
    required = [key for key, schema in properties.items() if schema.get("required")]
    return {
        "name": name,
        "effect": "read",
        "summary": help_text.split("\n", 1)[0],
        "help": help_text,
        "schema": {"type": "object", "properties": properties, "required": required},
        "positional": list(positional),
        "human": False,
        "progress": False,
        "everyday": False,
        "surfaces": ["cli"],
    }


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {**_TEXT, "description": description, **more}


COMMANDS: dict[str, Command] = {
    command["name"]: command
    for command in (
        _command(
            "serve",
            "Own this home until stopped: REST, events and MCP on one loopback port.",
            port={"type": "integer", "description": "port to ask for first; another free one is taken if it is in use"},
            root=_text("project directory that callers without one are bound to"),
            bind=_text("address other than loopback; needs a certificate and its key"),
            tls_cert=_text("certificate file, PEM"),
            tls_key=_text("key file of the certificate, PEM"),
            on_demand={**_YES_NO, "description": "end when nobody needs it any more"},
        ),
        _command(
            "hall",
            "Open the Hall, the page where people look: every brain, what agents do now, and what waits for you.\n\n"
            "Starts the owner if none is up, and opens the page in your browser, signed in for this visit. The address works "
            "once, for five minutes; without a screen it is printed, to be opened elsewhere, such as through an SSH tunnel.",
            ("place",),
            place=_text("where to go in the page, such as mail or doctor"),
            no_open={**_YES_NO, "description": "only print the address"},
        ),
        _command(
            "demo",
            "Take the tour: a small world in a directory of its own, made by the real operations, and the Hall opened on it.\n\n"
            "Two repositories and a home with three weeks of work by several agents are made in a temporary directory. Your own "
            "home and projects are not touched. At a terminal it stays until Ctrl-C and then removes the world; in a pipe it "
            "leaves the world and its owner, and says how to end them.",
            home=_text("directory for the world instead of a temporary one; empty or not there yet"),
            no_open={**_YES_NO, "description": "only print the address"},
            keep={**_YES_NO, "description": "leave the world in its directory at the end"},
        ),
        _command("stop", "End the owner of this home; running calls finish first."),
        _command(
            "passphrase.set",
            "Set the passphrase that human acts of this home need.\n\n"
            "It is asked for at a terminal and in the Hall before a person's act. Only a salted hash of it is stored. "
            "Off by default.",
        ),
        _command("passphrase.remove", "Remove the passphrase: human acts need none from then on."),
        _command("passphrase.status", "Show whether human acts of this home need a passphrase."),
        _command("status", "Tell whether an owner is up and which brains this home has."),
        _command(
            "mcp",
            "Speak MCP on standard input and output, for agent hosts.",
            profile=_text("which tools to list: default or full"),
        ),
        _command(
            "hook",
            "Answer an event of an agent host; reads its JSON from standard input and never fails it.",
            ("host", "event"),
            host=_text("claude-code, codex, cursor, gemini or generic", required=True),
            event=_text("name of the event; the JSON on standard input may name it instead"),
        ),
        cli.CALL,
        _command(
            "completion",
            "Print a completion script for a shell.",
            ("for_shell",),
            for_shell={"enum": list(completion.SHELLS), "description": "which shell", "required": True},
        ),
        _command(
            "adoption.wrap",
            "Run one command and capture how it ended as an outcome: exit code 0 is accepted, any other rejected.\n\n"
            "The command follows after --, is started without a shell, and its output passes through as it comes. The exit code "
            "is the command's own. Nothing is recorded without --execute, and then by the checked way, as adoption capture does.",
            surface=_text("where the outcome is seen, such as card-context", required=True),
            outcome=_text("what came of it; auto goes by how the command ends", default="auto"),
            query=_text("what had been asked"),
            context_hash=_text("context_hash of the pack that was used"),
            card_id=_text("the card it is about, card_…"),
            evaluator_id=_text("whose advice it is about"),
            research_report_id=_text("the research report it is about"),
            note=_text("what happened, in a sentence or two"),
            metadata={"type": "object", "description": "more, as one JSON object"},
            execute={**_YES_NO, "description": "record it; without this only the plan is shown"},
            allow_warnings={**_YES_NO, "description": "record what lacks something; never what is invalid"},
            report=_text("file for the report, instead of standard error"),
        ),
        _command("help", "Explain the program or one command.", ("command",), command={"type": "array", "items": _TEXT}),
        _command("version", "Print the version."),
    )
}


def run(name: str, rest: list[str], given: dict[str, Any]) -> int:
    """Run one local command and return its exit code."""
    command = COMMANDS[name]
    if name == "adoption.wrap":
        from hindbrain.surfaces import wrapping

        return wrapping.run(command, rest, given)
    if name in ("mcp", "hook") and not {"--help", "-h"} & set(rest):
        return _handed_over(name, rest, given)
    read = arguments.parse(command, rest, given)
    if given.get("help") and name != "help":
        output.write(helping.command(command))
        return 0
    try:
        return _RUN[name](read, given)
    except BrokenPipeError:
        raise
    except (HindbrainError, OwnerGone, OSError) as failure:
        return output.present(_told(failure).answer(), given)


def _told(failure: Exception) -> HindbrainError:
    if isinstance(failure, HindbrainError):
        return failure
    if isinstance(failure, OwnerGone):
        return unreachable(failure)
    return StoreUnavailable(f"the home cannot be used: {failure}", fix="look at its permissions, then run hindbrain doctor")


def _handed_over(name: str, rest: list[str], given: dict[str, Any]) -> int:
    """Bridge and hook read their own words; flags before the command reach them by the environment."""
    for flag, variable in (("home", "HINDBRAIN_HOME"), ("root", "HINDBRAIN_WORKSPACE_ROOT"), ("agent", "HINDBRAIN_AGENT_ID")):
        if given.get(flag):
            os.environ[variable] = given[flag]
    if name == "mcp":
        from hindbrain.surfaces.bridge import main as bridge

        return bridge(rest)
    from hindbrain.surfaces.hook import main as hook

    return hook([name, *rest])


def _serve(read: dict[str, Any], given: dict[str, Any]) -> int:
    from hindbrain.surfaces.owner import serve

    told: dict[str, Any] = {key: read[key] for key in ("port", "bind") if key in read}
    told |= {key: Path(read[key]) for key in ("tls_cert", "tls_key") if key in read}
    on_demand = bool(read.get("on_demand"))
    root = read.get("root") or given.get("root")
    return serve(Path(cli.home_of(given)), **told, root=root, on_demand=on_demand, foreground=not on_demand)


def _hall(read: dict[str, Any], given: dict[str, Any]) -> int:
    from hindbrain.surfaces.hall_opening import open_hall

    browser = not read.get("no_open")
    return output.present(open_hall(cli.home_of(given), browser=browser, at=str(read.get("place") or "")), given)


def _demo(read: dict[str, Any], given: dict[str, Any]) -> int:
    from hindbrain.surfaces.demo.command import take_the_tour

    return take_the_tour(read, given)


def _stop(read: dict[str, Any], given: dict[str, Any]) -> int:
    from hindbrain.surfaces.stopping import stop_owner

    ended = stop_owner(cli.home_of(given))
    if ended is None:
        return output.present({"ok": True, "stopped": False, "reason": "no owner is running"}, given)
    return output.present({"ok": True, "stopped": True, "pid": ended.pid}, given)


def _status(read: dict[str, Any], given: dict[str, Any]) -> int:
    home = cli.home_of(given)
    answer: dict[str, Any] = {"ok": True, "version": __version__, "home": home, "mode": calling.mode_of(home, os.environ)}
    address = find_owner(home)
    answer["owner"] = _health(home, address) if address else None
    known = manifest.load(home)
    if listing := known.operations.get("instances"):
        found = calling.answer(listing, {}, home=home, root=given.get("root"), agent=given.get("agent"), start=False)
        answer |= {key: value for key, value in found.items() if key not in ("schema", "self")}
    return output.present(answer, given)


def _health(home: str, address: OwnerAddress) -> dict[str, Any]:
    """What the owner says of itself, or why it does not."""
    known = {"url": address.url, "pid": address.pid, "version": address.version}
    try:
        found = answer_of(request(address, read_token(home), "GET", "/api/health", {}, b"", _ASK_S).body)
    except OwnerGone as gone:
        return {**known, "status": "silent", "reason": str(gone)}
    if not found["ok"]:
        return {**known, "status": "refused", "reason": found["error"]["message"]}
    return {**known, **{key: value for key, value in found.items() if key not in ("ok", "host", "port")}}


def _passphrase(act: str, given: dict[str, Any]) -> int:
    from hindbrain.surfaces import passphrase

    return output.present(getattr(passphrase, act)(cli.home_of(given)), given)


def _completion(read: dict[str, Any], given: dict[str, Any]) -> int:
    known = manifest.load(cli.home_of(given))
    output.write(completion.script(str(read["for_shell"]), [*known.offered.values(), *COMMANDS.values()]))
    return 0


def _help(read: dict[str, Any], given: dict[str, Any]) -> int:
    words = list(read.get("command", ()))
    known = manifest.load(cli.home_of(given))
    if not words:
        output.write(helping.program(known, COMMANDS))
        return 0
    found = known.resolve(words)
    command = found[0] if found else COMMANDS.get(".".join(words[:2])) or COMMANDS.get(words[0])
    if command is None:
        raise UnknownOperation(f"there is no command {' '.join(words)[:80]!r}", fix="hindbrain help lists them all")
    output.write(helping.command(command))
    return 0


def _version(read: dict[str, Any], given: dict[str, Any]) -> int:
    if given.get("json"):
        return output.present({"ok": True, "version": __version__}, given)
    output.write(f"hindbrain {__version__}")
    return 0


_RUN = {
    "serve": _serve,
    "hall": _hall,
    "demo": _demo,
    "stop": _stop,
    "status": _status,
    "passphrase.set": lambda _, given: _passphrase("set_passphrase", given),
    "passphrase.remove": lambda _, given: _passphrase("remove", given),
    "passphrase.status": lambda _, given: _passphrase("status", given),
    "completion": _completion,
    "help": _help,
    "version": _version,
}
