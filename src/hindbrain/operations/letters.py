"""Operations that read letters: one box, all of them, and what waits for a triage. They change nothing."""

import posixpath
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, ConfigInvalid, PathRefused
from hindbrain.engines.fates import SYMBOLS, Fate
from hindbrain.engines.fence import fenced, plain_line
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["inbox_sweep", "show", "triage_session"]

_KEEPER = "it reads across projects for whoever keeps this machine; an agent over MCP has its own project"
_TERMINAL = "it is what a person begins a triage with at a terminal; GET /api/inbox_sweep has the same letters"
_LINES = 50  # of letters in a text; the data has the rest

Limit = Annotated[int, Meta(ge=1, le=20_000, description="letters at most, the latest; counts are of all")]


@operation("inbox_sweep", effect=Effect.READ, progress=True, raises=(ConfigInvalid,), left_out={"mcp": _KEEPER})
def inbox_sweep(call: Call, limit: Limit = 1_000) -> dict[str, Any]:
    """Read the spool and every known box, and show each letter once with its fate and where it lies.

    With all_brains off in the settings, anybody but a person gets the letters of the own project and of the medulla only."""
    found = call.house.letters.sweep.sweep(call.caller)
    letters, left = _latest(found["letters"], limit)
    said = [
        f"{found['total']} letters, {found['open']} open: "
        + ", ".join(f"{count} {name}" for name, count in found["counts"].items()),
        *(f"unreachable: {plain_line(one['box'])} ({one['reason']})" for one in found["unreachable"]),
        *(f"box without a brain: {plain_line(one['box'])}" for one in found["boxes"] if one["faceless"]),
        *([f"{len(found['pending'])} pending distribution"] if found["pending"] else []),
        *(
            [f"{len(found['refused_hygiene'])} kept back, for they look like they hold a secret"]
            if found["refused_hygiene"]
            else []
        ),
        *([f"{found['malformed']} lines are no letters"] if found["malformed"] else []),
        *(one["text"] for one in found.get("honest_gaps", ())),
    ]
    answer = {"ok": True, "schema": "m1nd-inbox-sweep-v0", **found, "letters": letters}
    return answer | left | {"rendered": "\n".join([*said, *_listed(letters)])}


@operation(
    "mailbox.show",
    effect=Effect.READ,
    raises=(BrainlessRoot, CallerRootUnknown, PathRefused),
    left_out={"mcp": "a box is read by people and by pages; an agent is told what it must know by north"},
)
def show(
    call: Call,
    tier: Annotated[Literal["project", "medulla"] | None, Meta(description="medulla for its box, not this project's")] = None,
    limit: Limit = 1_000,
) -> dict[str, Any]:
    """Show the letters of this project's box, or of the medulla's, in the order of the file, each with its fate.

    A letter closed by an answer in another box is closed here too. No call names another project's box."""
    brain = call.house.router.named(call.caller, tier)
    found = call.house.letters.reading.show(brain)
    letters, left = _latest(found["letters"], limit)
    said = f"{brain.display_name}: {len(found['letters'])} letters, {found['open']} open"
    answer = {"ok": True, "schema": "m1nd-mailbox-v0", **found, "letters": letters}
    return answer | left | {"rendered": "\n".join([said, *_listed(letters)])}


@operation(
    "triage_session",
    effect=Effect.READ,
    progress=True,
    raises=(ConfigInvalid,),
    left_out={"mcp": _KEEPER, "http": _TERMINAL},
)
def triage_session(call: Call) -> dict[str, Any]:
    """List the letters that wait for an answer, over all boxes, the oldest first, with ids ready to copy."""
    waiting = call.house.letters.sweep.waiting(call.caller)
    said = [f"{len(waiting)} letters wait." if waiting else "No letter waits."]
    if waiting:
        said += [*_listed(waiting), f'Close with: hindbrain triage {waiting[0]["id"]} --what "what was done" --verdict fixed']
    return {
        "ok": True,
        "schema": "hindbrain-triage-session-v0",
        "letters": waiting,
        "open": len(waiting),
        "rendered": "\n".join(said),
    }


def _whose(letter: dict[str, Any]) -> str:
    if "box" not in letter:
        return ""
    box = letter["box"]
    return f" [{posixpath.basename(box)}]" if box is not None else " [pending]"


def _latest(letters: list[dict[str, Any]], limit: int) -> tuple[list[dict[str, Any]], dict[str, int]]:
    return letters[-limit:], {"left_out": len(letters) - limit} if len(letters) > limit else {}


def _listed(letters: Sequence[dict[str, Any]]) -> list[str]:
    """One line for each letter, quoted: what they say are words of strangers. Where boxes are read together, whose it is."""
    lines = [
        " ".join(
            f"{SYMBOLS[Fate(one['state'])]} {one['id']} {one['ts'] or 'no time'} {one['class'] or 'no class'} "
            f"{one['agent'] or 'unknown'}{_whose(one)}: {one['what'] or ''}".split()
        )[:200]
        for one in letters[:_LINES]
    ]
    more = [f"… and {len(letters) - _LINES} more, with --json"] if len(letters) > _LINES else []
    return [fenced("\n".join(lines)), *more] if lines else []
