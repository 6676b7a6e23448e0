"""Delegation decided: what a child may touch, how a packet is cut to its budget, and how what was touched is graded. Pure."""

import posixpath
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hindbrain.domain.delegation import Dependents, Packet
from hindbrain.engines.fence import tokens
from hindbrain.policy.delegation import TOKENS_PER_ROW

__all__ = ["Grade", "fitted", "graded", "inside", "named_path", "narrowed", "paths_in_diff"]

_FILE = re.compile(r'^(?:\+\+\+|---) (?P<path>"(?:[^"\\]|\\.)*"|[^\t\r\n]+)')
_RENAME = re.compile(r"^(?:rename|copy) (?:from|to) (?P<path>[^\r\n]+)")
_HEADER = "diff --git "
_SIDES = ("a/", "b/")
_MNEMONIC = re.compile(r'"?([iwco]/)[^\n]* "?([iwco]/)')  # index, work tree, commit, object: with diff.mnemonicPrefix
_HUNK = re.compile(r"^@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}


def named_path(text: str) -> str | None:
    """A path below the root as it is compared; None for one that names nothing below it. `.` is the root itself."""
    told = text.strip().replace("\\", "/")
    if not told or "\x00" in told or told.startswith("/"):
        return None
    path = posixpath.normpath(told)
    return None if path == ".." or path.startswith("../") else path


def inside(path: str, scopes: Iterable[str]) -> bool:
    """Whether a path is one of these, or lies below one. `.` is the root with all below it, and nothing that leads out of it."""
    below = not path.startswith(("/", "../")) and path != ".."
    return any((scope == "." and below) or scope == path or path.startswith(scope + "/") for scope in scopes)


def narrowed(wanted: Sequence[str], outer: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What of some paths an outer scope allows, and which of them lost something. A scope only ever shrinks."""
    kept: dict[str, None] = {}
    lost: list[str] = []
    for path in wanted:
        if inside(path, outer):
            kept[path] = None
            continue
        lost.append(path)
        kept |= dict.fromkeys(scope for scope in outer if inside(scope, [path]))
    return tuple(kept), tuple(lost)


def paths_in_diff(diff: str) -> tuple[str, ...]:
    """The files that a unified diff changes, makes, removes or renames, in its order. What stands inside of a hunk names none."""
    found: dict[str, None] = {}
    old_left = new_left = 0
    sides: tuple[str, ...] = _SIDES
    for line in diff.split("\n"):
        if old_left > 0 or new_left > 0:
            old_left -= line[:1] in (" ", "-", "")
            new_left -= line[:1] in (" ", "+", "")
            continue
        if hunk := _HUNK.match(line):
            old_left, new_left = (int(count) if count is not None else 1 for count in hunk.groups())
        elif line.startswith(_HEADER):
            named, sides = _header(line[len(_HEADER) :].rstrip("\r"))
            found |= dict.fromkeys(named)
        elif told := _FILE.match(line):
            path = _unquoted(told["path"])
            found[path[2:] if path.startswith(sides) else path] = None
        elif told := _RENAME.match(line):
            found[_unquoted(told["path"])] = None
    return tuple(path for path in found if path != "/dev/null")


def _header(rest: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The file that a header of git names twice, and what stands before names in this part. Two files have lines of their own
    further down, and a space in a name leaves no other way to tell where it ends."""
    half = len(rest) // 2
    old, new = _unquoted(rest[:half]), _unquoted(rest[half + 1 :])
    if rest[half : half + 1] == " " and old == new:  # git was told to put nothing before names
        return (old,), ()
    if rest[half : half + 1] == " " and old[2:] == new[2:] and old[1:2] == new[1:2] == "/":
        return (old[2:],), (old[:2], new[:2])
    mnemonic = _MNEMONIC.match(rest)
    return (), (mnemonic[1], mnemonic[2]) if mnemonic else _SIDES


def _unquoted(text: str) -> str:
    """A name as git writes it: in quotes, with escapes, where it has unusual characters."""
    text = text.rstrip("\r")
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text

    def letter(found: re.Match[bytes]) -> bytes:
        told = found[1]
        return bytes([int(told, 8) & 255]) if len(told) == 3 else _LETTERS.get(told, told)

    return _ESCAPE.sub(letter, text[1:-1].encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Two verdicts that must not be mixed: the child against its scope, and the map against what happened."""

    within: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()  # of those outside, what is no file of the repository
    predicted: tuple[str, ...] = ()
    unpredicted: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    told: bool = field(default=True)

    def conformance(self) -> dict[str, Any]:
        """How the child kept to its scope."""
        verdict = "ungraded" if not self.told else "deviated" if self.outside else "conformant"
        return {"verdict": verdict, "within": list(self.within), "outside": list(self.outside)}

    def map_grade(self) -> dict[str, Any]:
        """How well the map foresaw the work."""
        touched = len(self.predicted) + len(self.unpredicted)
        verdict = "ungraded" if not touched else "missed" if not self.predicted else "partial" if self.unpredicted else "good"
        return {
            "verdict": verdict,
            "predicted": list(self.predicted),
            "unpredicted": list(self.unpredicted),
            "expected_untouched": list(self.untouched),
            "recall": round(len(self.predicted) / touched, 4) if touched else None,
        }


def graded(
    touched: Sequence[str],
    *,
    told: bool,
    scope: Sequence[str],
    expected: Sequence[str],
    near: Sequence[str],
    beyond: Container[str] = (),
) -> Grade:
    """Grade touched paths. One outside of the scope may still have been foreseen, and one inside of it may not. `beyond` are
    those that lead out of the repository, as a link in it may; no scope holds them."""
    foreseen = {*expected, *near}
    within = [path for path in touched if path not in beyond and inside(path, scope)]
    return Grade(
        within=tuple(within),
        outside=tuple(path for path in touched if path not in within),
        beyond=tuple(path for path in touched if path in beyond),
        predicted=tuple(path for path in touched if path in foreseen),
        unpredicted=tuple(path for path in touched if path not in foreseen),
        untouched=tuple(path for path in expected if path not in touched),
        told=told,
    )


def fitted(packet: Packet, budget: int, text: Callable[[Packet], str]) -> Packet:
    """The packet within its budget. The tails of memory and of the dependents go first, then places to look; never what could
    not be determined."""
    rows, most = packet.context.memory, max(1, budget // TOKENS_PER_ROW)
    pinned = [row for row in rows if row.match == "pinned"]
    rest = [row for row in rows if row.match != "pinned"]
    ordered = [*pinned, *rest]
    best = msgspec.structs.replace(packet, context=msgspec.structs.replace(packet.context, memory=tuple(ordered[:most])))
    while tokens(text(_told(best, packet))) > budget:
        smaller = _shorter(best)
        if smaller is None:
            return _told(best, packet, over=True)
        best = smaller
    return _told(best, packet)


def _shorter(packet: Packet) -> Packet | None:
    """One step less, or None when only what must stay is left."""
    context, near = packet.context, packet.known_static_dependents
    if near.dependents and len(near.dependents) >= len(context.memory):
        return msgspec.structs.replace(
            packet, known_static_dependents=msgspec.structs.replace(near, dependents=near.dependents[:-1], truncated=True)
        )
    texts = [at for at, row in enumerate(context.memory) if row.text]
    if len(texts) > 1 or (texts and len(context.memory) == 1):  # a label says more than nothing
        rows = [msgspec.structs.replace(row, text="") if at == texts[-1] else row for at, row in enumerate(context.memory)]
        return msgspec.structs.replace(packet, context=msgspec.structs.replace(context, memory=tuple(rows)))
    if context.memory:
        return msgspec.structs.replace(packet, context=msgspec.structs.replace(context, memory=context.memory[:-1]))
    if context.anchors:
        return msgspec.structs.replace(packet, context=msgspec.structs.replace(context, anchors=context.anchors[:-1]))
    return None


def _told(packet: Packet, whole: Packet, *, over: bool = False) -> Packet:
    """What was cut is a named gap."""
    gaps = list(packet.honest_gaps)
    lost = len(whole.context.memory) - len(packet.context.memory)
    if lost:
        gaps.append({"kind": "budget_cut", "text": f"{lost} rows of memory did not fit the budget"})
    fewer = len(_near(whole)) - len(_near(packet))
    if fewer:
        gaps.append({"kind": "budget_cut", "text": f"{fewer} dependents did not fit the budget"})
    if over:
        gaps.append({"kind": "over_budget", "text": "the task and its scope alone are larger than the budget"})
    medulla = sum(row.tier == "medulla" for row in packet.context.memory)
    return msgspec.structs.replace(
        packet, honest_gaps=tuple(gaps), sources=msgspec.structs.replace(packet.sources, medulla=medulla)
    )


def _near(packet: Packet) -> tuple[str, ...]:
    found: Dependents = packet.known_static_dependents
    return found.dependents
