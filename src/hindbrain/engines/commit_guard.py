"""The commit guard: the words of the hook that asks before a commit, and how our own hook is told from any other."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from hindbrain.domain.reservation import Reservation
from hindbrain.engines.fence import shown
from hindbrain.engines.reserving import conflicts, row, told

__all__ = ["KEPT", "hook_script", "is_hook_script", "verdict"]

_LISTED = 20  # conflicts that are told in words

KEPT = "pre-commit.before-hindbrain"  # the hook that was there before, under another name

_SCRIPT = """#!/bin/sh
# Hindbrain guard of reserved files, version 1. Take it away with: hindbrain cowork guard uninstall
# Runs the hook that was here before, then asks who reserved what is committed. When Hindbrain fails, the commit goes on.
before="$(dirname "$0")/{kept}"
if [ -x "$before" ]; then "$before" "$@" || exit $?; fi
program={program}
[ -x "$program" ] || program=hindbrain
if ! command -v "$program" >/dev/null 2>&1; then
  echo "hindbrain: reserved files were not checked: the program is gone" >&2
  exit 0
fi
said=$("$program" --json{home} cowork guard check)
case "$said" in
*'"clear":false'*) [ "$HINDBRAIN_GUARD" = warn ] || exit 1 ;;
*'"clear":true'*) ;;
*) echo "hindbrain: reserved files were not checked" >&2 ;;
esac
exit 0
"""
_PROGRAM = re.compile(r"^program=(.+)$", re.M)
_HOME = re.compile(r"^said=.* --json(?: --home (.+))? cowork guard check\)$", re.M)


def hook_script(program: str, home: str | None) -> bytes:
    """The hook, for a program and for a home that is not the default one."""
    named = f" --home {shlex.quote(home)}" if home is not None else ""
    return _SCRIPT.format(kept=KEPT, program=shlex.quote(program), home=named).encode("utf-8", "surrogateescape")


def is_hook_script(data: bytes) -> bool:
    """Whether a hook is ours, byte for byte: for some program and some home."""
    text = data.decode("utf-8", "surrogateescape")
    program, home = _PROGRAM.search(text), _HOME.search(text)
    if program is None or home is None:
        return False
    try:
        words, named = shlex.split(program[1]), shlex.split(home[1] or "")
    except ValueError:
        return False
    return len(words) == 1 and len(named) < 2 and hook_script(words[0], named[0] if named else None) == data


def verdict(held: Sequence[Reservation], paths: Sequence[str], agent_id: str | None, *, project: str) -> dict[str, Any]:
    """Which of the paths somebody else holds. A person, and a name that nobody has on the bus, holds nothing itself."""
    found = [(path, one) for path in paths for one in conflicts(held, agent_id, path, shared=True, literal=True)] if held else []
    lines = [f"{shown(path)}: {told(one)}" for path, one in found[:_LISTED]]
    lines += [f"and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
    lines += ["ask the holder, or wait; git commit --no-verify or HINDBRAIN_GUARD=warn goes ahead"] if found else []
    return {
        "ok": True,
        "schema": "hindbrain-cowork-guard-v0",
        "project": project,
        "agent_id": agent_id,
        "checked": len(paths),
        "clear": not found,
        "conflicts": [{"staged": path, **row(one)} for path, one in found],
        "exit_code": 1 if found else 0,
        "rendered": "\n".join(lines) or f"none of {len(paths)} path(s) is held by somebody else",
    }
