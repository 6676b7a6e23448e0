"""Help: what the program and each command can do, told from the manifest."""

import shutil
from collections.abc import Iterable, Mapping
from shlex import quote
from textwrap import wrap
from typing import Any

from hindbrain import __version__
from hindbrain.surfaces.arguments import kind_of
from hindbrain.surfaces.manifest import Command, Manifest
from hindbrain.surfaces.output import json_line

__all__ = ["command", "family", "nearest", "program"]

_EVERY = {
    "--home DIR": "home directory, instead of HINDBRAIN_HOME",
    "--root DIR": "project directory the call comes from, instead of the working directory",
    "--agent ID": "who calls, as host:role, instead of HINDBRAIN_AGENT_ID",
    "--json": "answer in JSON; that is also what a pipe gets (--no-json gives it text)",
    "--help": "explain the command",
}
_EXAMPLES = (
    "hindbrain init",
    'hindbrain memorize "Retry policy" "The worker retries three times" --evidence src/worker.py',
    "hindbrain north",
    'hindbrain seek "retry"',
    """hindbrain call seek '{"query": "retry", "tier": "all-brains"}'""",
)
# What an example says for an argument: by its name, so that it can be read aloud, else by its kind.
_BY_NAME = {
    "node_label": "Retry policy",
    "text": "The worker retries three times.",
    "claim": "Retry policy",
    "reason": "seen in two projects",
    "query": "retry",
    "task": "change how the worker retries",
    "goal": "Count the python files",
    "task_id": "tsk_5e6b7740",
    "mission_id": "msn_01K5",
    "mission.start.task": "review the retry path",
    "mission.event.event_type": "file_read",
    "mission.event.target": "src/worker.py",
    "mission.claim.claim": "the worker retries once too often",
    "mission.verify.claim": "the worker retries once too often",
    "mission.verify.evidence_class": "direct_source",
    "mission.verify.evidence_refs": ["direct_source:src/worker.py:12"],
    "mission.run.command": ["pytest", "-q"],
    "delegate.task": "fix the retry path",
    "debrief.delegation_id": "dlg_1783300000000_k3x9qa",
    "debrief.subagent_id": "codex:maker-2",
    "debrief.outcome": "success",
    "skill.add.rule": "5e6b7740",
    "skill.add.name": "clear the cache first",
    "skill.add.precondition": "a test of the cache fails",
    "skill.add.check": "pytest tests/test_cache.py",
    "skill.add.evidence": ["evt_01K5"],
    "skill.used.skill_id": "76de73da",
    "skill.used.event_id": "evt_01K5",
    "skill.list.intent": "a test of the cache fails",
    "skill.critique.text": "the graph was asked four times before a file was read",
    "skill.critique.event_id": "evt_01K5",
    "light.new.path": "docs/layer.light.md",
    "light.new.title": "The worker",
    "light.check.paths": ["docs/layer.light.md"],
    "light.confirm.path": "docs/layer.light.md",
    "pack.host": "claude",
    "gym.run.fixture": ["clix"],
    "gym.report.round": "rnd_01K5",
    "gym.judge.round": "rnd_01K5",
    "gym.compare.a": "rnd_01K5",
    "gym.compare.b": "rnd_01K6",
    "gym.candidates.baseline": "rnd_01K5",
    "gym.candidates.rounds": ["rnd_01K6"],
    "mission.verify_packet.file": "proof.json",
    "mission.import.file": "state.json",
    "gate.wave": 1,
    "report.class": "friction",
    "report.what": "north took eight seconds",
    "triage.answers": ["3f2a9c01d4be"],
    "battery.add.letter_id": "3f2a9c01d4be",
    "battery.run.case_id": "leak-3f2a9c01d4be",
    "triage.what": "fixed, with a case in the battery",
    "accept.version": "v1",
    "agent_id": "codex-a",
    "cowork.register.tool": "codex",
    "cowork.send.from": "claude-main",
    "cowork.send.to": "codex-a",
    "cowork.send.message": "review src/worker.py, please",
    "cowork.broadcast.from": "claude-main",
    "cowork.broadcast.to": ["codex-a"],
    "cowork.broadcast.message": "the build is green again",
    "cowork.ack.message_id": "evt-0123456789abcdef",
    "cowork.channel.set.channel": "review",
    "cowork.channel.set.agents": ["codex-a"],
    "cowork.channel.send.from": "claude-main",
    "cowork.channel.send.channel": "review",
    "cowork.channel.send.message": "ready for a second look",
    "cowork.session.create.session_id": "release-2",
    "cowork.session.create.title": "Release 2",
    "cowork.session.create.agents": ["codex-a"],
    "cowork.session.status.session_id": "release-2",
    "cowork.session.status.status": "paused",
    "cowork.session.close.session_id": "release-2",
    "cowork.reserve.paths": ["src/worker.py"],
    "partner.push.content": "the tests of the worker are yours",
    "partner.drain.target": "codex",
    "hosts.event.host": "claude-code",
    "hosts.event.event": "UserPromptSubmit",
    "hosts.event.payload": {"session_id": "s1", "prompt": "how often does the worker retry?"},
    "mission.heard.payload": {"tool_name": "Read", "tool_input": {"file_path": "src/worker.py"}},
    "request_id": "76de73da-1",
    "feedback": "wrong",
    "node_ids": ["Retry policy"],
    "as_of": "2026-07-06T12:00",
    "target": "memory.tar.gz",
    "source": "memory.tar.gz",
    "old": "/old/place",
    "new": "/new/place",
    "table": "table.jsonl",
    "action": "set",
    "key": "deploy.target",
    "value": "staging",
    "evidence_id": "ev_0123456789abcdef01234567",
    "card_id": "card_0123456789abcdef01234567",
    "supporting_refs": ["ev_0123456789abcdef01234567"],
    "verification_refs": ["ev_0123456789abcdef01234567"],
    "evidence_refs": ["ev_0123456789abcdef01234567"],
    "statement": "Bound every retry.",
    "content": "Without a bound one fault fills the queue.",
    "knowledge.annotate.reason": "looked at its bounds",
    "knowledge.promote.reason": "measured twice",
    "knowledge.promote.status": "promoted",
    "knowledge.demote.reason": "a job was lost",
    "knowledge.demote.reason_type": "contradicted",
    "knowledge.publish.to": "repo",
    "role": "supporting",
    "tier": "shu",
    "node_id": "src/worker.py",
    "changed_node": "src/worker.py",
    "node": "src/worker.py",
    "task_description": "change how the worker retries",
    "why.source": "src/worker.py",
    "why.target": "src/queue.py",
    "trace.text": 'File "src/worker.py", line 12, in run',
    "graph.export.target": "graph.svg",
    "memory.ingest.path": "docs/meeting.md",
    "memory.import.path": "palace.db",
    "pattern": "**/*.py",
    "ask.topic": "workspace",
    "hosts.apply.host": "claude-code",
    "install.host": "claude-code",
    "uninstall.host": "claude-code",
    "restart.host": "claude-code",
    "guard.repo": "/src/app",
    "feature": "include_cards",
    "surface": "card-context",
    "candidate": "card-context-default",
    "megram": "0195c1a0",
    "rule": "0195c1a0",
    "space": "tool:search",
    "entity": "path:src",
    "experience.feedback.content": "it missed the generated files",
    "experience.remember.text": "Run the fast tests first.",
    "experience.export.target": "experience.jsonl",
    "experience.import.source": "experience.jsonl",
    "control.watch.task_id": "tsk_0123",
    "control.apply_tuning.proposal": "tun_0123456789abcdef",
    "evaluator_id": "evaluator:reader",
    "subject_kind": "qi",
    "subject_id": "card_0123456789abcdef01234567",
    "proposed_action": "promote",
    "federate.repos": [{"name": "app", "path": "/src/app"}],
    "brain.confirm.path": "~/shop",
    "brain.detach.path": "~/shop",
    "places.add.path": "~/work",
    "places.remove.path": "~/work",
}
_BY_KIND = {"integer": 1, "number": 0.5, "boolean": True, "list": ["some text"], "documents": [{}], "object": {}}
_TELLING = ("text", "task", "action", "key", "value")  # may be left out, but an example without these words says little
_TELLING_FLAGS = ("as_of",)
_FIRST = ("init", "status", "north", "memorize", "seek", "doctor")  # what a newcomer needs, in the order of need
# Told by the flags for every command.
_UNLISTED = ("agent_id", "caller_root")


def _paragraphs(told: str) -> list[str]:
    """A text of several paragraphs, wrapped to the terminal."""
    return "\n\n".join("\n".join(wrap(one, _width(), break_on_hyphens=False)) for one in told.split("\n\n")).split("\n")


def _width() -> int:
    return min(shutil.get_terminal_size((100, 24)).columns, 110)


def _spoken(name: str) -> str:
    return name.replace(".", " ").replace("_", "-")


def program(known: Manifest, local: Mapping[str, Command]) -> str:
    """The help of the whole program: everyday commands first, then families, then processes."""
    every = {**known.offered, **{name: op for name, op in local.items() if name in _FIRST}}
    first = [every[name] for name in _FIRST if name in every]
    everyday = first + [op for name, op in every.items() if op["everyday"] and name not in _FIRST]
    others = [op for name, op in every.items() if not op["everyday"] and name not in _FIRST]
    lines = [f"Hindbrain {__version__}: shared memory and mission control for coding agents.", ""]
    lines += ["Usage: hindbrain COMMAND [ARGUMENTS] [--FLAG VALUE]...", ""]
    groups: dict[str, list[Command]] = {"Everyday": everyday, "More": [op for op in others if "." not in op["name"]]}
    for op in others:
        if "." in op["name"]:
            groups.setdefault(op["name"].split(".")[0].capitalize(), []).append(op)
    for name, op in local.items():
        if name not in _FIRST:
            groups.setdefault(name.split(".")[0].capitalize() if "." in name else "Processes and this program", []).append(op)
    for title, group in groups.items():
        if group:
            lines += [f"{title}:", *_listed({_spoken(op["name"]): op["summary"] for op in group}), ""]
    lines += ["Flags of every command:", *_listed(_EVERY), "", "Examples:", *(f"  {line}" for line in _EXAMPLES)]
    return "\n".join(lines)


def family(name: str, commands: Iterable[Command]) -> str:
    """The help of a group of commands."""
    depth = len(name.split())
    told = {" ".join(op["name"].replace("_", "-").split(".")[depth:]): op["summary"] for op in commands}
    lines = [f"Usage: hindbrain {name} COMMAND [--FLAG VALUE]...", "", "Commands:", *_listed(told), ""]
    return "\n".join([*lines, f"hindbrain {name} COMMAND --help explains one."])


def _listed(entries: Mapping[str, str]) -> list[str]:
    pad = max(min(len(name), _width() - 32) for name in entries)
    lines: list[str] = []
    for name, told in entries.items():
        first, *rest = wrap(str(told), max(20, _width() - pad - 4), break_on_hyphens=False) or [""]
        if len(name) > pad:  # a long name has a line of its own, so that what is told of it keeps its room
            lines += [f"  {part}" for part in wrap(name, _width() - 2, break_on_hyphens=False)]
            name = ""
        lines += [f"  {name:<{pad}}  {first}".rstrip(), *(f"  {'':<{pad}}  {line}" for line in rest)]
    return lines


def command(op: Command) -> str:
    """The help of one command."""
    properties: Mapping[str, Any] = op["schema"].get("properties", {})
    required = op["schema"].get("required", ())
    words = [_word(name, required) for name in op["positional"]]
    flags = {name: schema for name, schema in properties.items() if name not in _UNLISTED or name in required}
    lines = [
        f"Usage: hindbrain {' '.join([_spoken(op['name']), *words])}{' [--FLAG VALUE]...' if flags else ''}",
        "",
        *_paragraphs(str(op["help"])),
    ]
    if flags:
        lines += ["", "Arguments:", *_listed({_flag(name, schema): _told(name, schema, op) for name, schema in flags.items()})]
    lines += [
        "",
        "Flags of every command:",
        *_listed({key: told for key, told in _EVERY.items() if key.split()[0][2:] not in flags}),
    ]
    if "cli" in op["surfaces"] and "raises" in op:
        sample = _sample(op, properties, required)
        spoken = " ".join(["hindbrain", _spoken(op["name"]), *_typed(op, sample)])
        lines += ["", "Examples:", f"  {spoken}", f"  hindbrain call {op['name']} {quote(json_line(sample))}"]
        if op["human"]:
            lines += ["", "A human act: it asks for confirmation in a terminal."]
        if op["raises"]:
            lines += ["", *wrap(f"Errors: {', '.join(op['raises'])}", _width(), subsequent_indent="  ", break_on_hyphens=False)]
    return "\n".join(lines)


def _word(name: str, required: Iterable[str]) -> str:
    return name.upper() if name in required else f"[{name.upper()}]"


def _flag(name: str, schema: Mapping[str, Any]) -> str:
    kind = kind_of(schema)[0]
    flag = name.replace("_", "-")
    if kind == "boolean":
        return f"--{flag}, --no-{flag}" if schema.get("default", False) is not False else f"--{flag}"
    value = {"string": "TEXT", "integer": "N", "number": "N", "enum": "WORD", "list": "VALUE", "any": "VALUE"}.get(kind, "JSON")
    return f"--{flag} {value}"


def _told(name: str, schema: Mapping[str, Any], op: Command) -> str:
    kind, inner = kind_of(schema)
    parts = [str(schema.get("description") or inner.get("description") or "")]
    if kind == "enum":
        parts.append(f"one of {', '.join(str(one) for one in inner['enum'] if one is not None)}")
    if kind in ("list", "documents"):
        parts.append("may be repeated")
    if name in op["schema"].get("required", ()):
        parts.append("needed")
    elif schema.get("default") not in (None, "", [], False):
        parts.append(f"default {json_line(schema['default'])}")
    return "; ".join(part for part in parts if part)


def _sample(op: Command, properties: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    spoken = (name for name in op["positional"] if name in _TELLING or f"{op['name']}.{name}" in _BY_NAME)
    telling = {*required, *_TELLING_FLAGS, *spoken}
    found: dict[str, Any] = {}
    for name, described in properties.items():
        if name not in telling:
            continue
        kind, schema = kind_of(described)
        by_kind = schema["enum"][0] if kind == "enum" else _BY_KIND.get(kind, "some text")
        by_name = _BY_NAME.get(f"{op['name']}.{name}", _BY_NAME.get(name, by_kind))
        found[name] = by_kind if kind == "enum" and by_name not in schema["enum"] else by_name
    return found


def _typed(op: Command, sample: Mapping[str, Any]) -> list[str]:
    """The same sample as a person would type it."""
    words: list[str] = []
    for name, value in sample.items():
        if isinstance(value, list) and name in op["positional"] and len(value) > 1:
            words += ["--", *map(quote, value)]  # the words of another command
            continue
        told = value[0] if isinstance(value, list) else value
        text = quote(told if isinstance(told, str) else json_line(told))
        words += [text] if name in op["positional"] else [f"--{name.replace('_', '-')}", text]
    return words


def nearest(word: str, known: Manifest) -> list[str]:
    """Commands that a mistyped one may have meant."""
    from difflib import get_close_matches

    from hindbrain.surfaces.cli import LOCAL

    names = [_spoken(name) for name in (*known.offered, *LOCAL)]
    spoken = _spoken(word)
    inside = [name for name in names if spoken in name.split() or name.startswith(f"{spoken} ")]
    return (get_close_matches(spoken, names, n=3) or inside)[:3]
