"""Hygiene scan: one function for every site that writes. Never repeats more than four characters of what it found."""

import math
import re
from collections import Counter
from dataclasses import dataclass

from hindbrain.policy.hygiene import HIGH_ENTROPY, HINTS, PATTERNS, PLACEHOLDER, WORDY, Pattern

__all__ = ["Finding", "has_conflict_markers", "redacted", "scan"]

_HEX = re.compile(r"[0-9a-fA-F]{7,64}\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_BREAK = re.compile(r"\s*\n\s*")
_LONG_RUN = re.compile(r"\S{32}")  # so many characters without white space may be a key
_CONFLICT = next(pattern for pattern in PATTERNS if pattern.name == "conflict_marker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that must not be remembered: its class and place, and at most four characters of it."""

    pattern_class: str
    line: int
    column: int
    preview: str
    text: str  # the whole line, for the allow list only; never shown


def scan(text: str) -> tuple[Finding, ...]:
    """Everything in a text that the floor refuses, in the order of the table."""
    hinted = _is_hinted(text)
    if not hinted and not _LONG_RUN.search(text):
        return ()
    lines = text.split("\n")
    found: list[Finding] = []
    for pattern in PATTERNS if hinted else ():
        found += [hit for number, line in enumerate(lines, 1) for hit in _line_hits(pattern, line, number)]
        if pattern.joined and not any(hit.pattern_class == pattern.name for hit in found):
            found += _joined_hits(pattern, lines)
    found += [hit for number, line in enumerate(lines, 1) for hit in _entropy_hits(line, number)]
    return tuple(found)


def redacted(text: str) -> str:
    """A text without the lines that hold a secret. A merge-conflict marker is none."""
    found = [hit for hit in scan(text) if hit.pattern_class != _CONFLICT.name]
    if not found:
        return text
    lines = text.split("\n")
    for hit in found:
        lines[hit.line - 1] = f"[redacted: {hit.pattern_class}]"
    left = "\n".join(lines)
    # A secret that is broken over line ends is found again in what is left; then all of it goes.
    if any(hit.pattern_class != _CONFLICT.name for hit in scan(left)):
        return f"[redacted: {found[0].pattern_class}]"
    return left


def _is_hinted(text: str) -> bool:
    """False when no pattern can find anything in a text: most texts, and far quicker to see than by all patterns."""
    lower = text.casefold()
    # A secret may be broken over line ends, and white space may stand around the break.
    told = [lower, _BREAK.sub("", lower)] if "\n" in lower else [lower]
    for one in told:
        for hint in HINTS:
            if hint in one:
                return True
    return False


def has_conflict_markers(text: str) -> bool:
    """True when a merge was left unfinished in this text."""
    return any(_CONFLICT.expression.match(line.rstrip("\r")) for line in text.split("\n"))


def _is_placeholder(pattern: Pattern, match: re.Match[str]) -> bool:
    if pattern.value_group is None:
        return False
    value = match[pattern.value_group]
    return value is not None and PLACEHOLDER.match(value) is not None


def _line_hits(pattern: Pattern, line: str, number: int) -> list[Finding]:
    return [
        Finding(
            pattern_class=pattern.name, line=number, column=match.start() + 1, preview=match[0].strip()[:4], text=line.strip()
        )
        for match in pattern.expression.finditer(line.rstrip("\r"))
        if not _is_placeholder(pattern, match)
    ]


def _joined_hits(pattern: Pattern, lines: list[str]) -> list[Finding]:
    """A secret broken over a line end: pairs of neighbouring lines, joined with and without a space."""
    for number in range(len(lines) - 1):
        for glue in ("", " "):
            joined = lines[number].rstrip() + glue + lines[number + 1].lstrip()
            for match in pattern.expression.finditer(joined):
                if not _is_placeholder(pattern, match):
                    return [
                        Finding(
                            pattern_class=pattern.name,
                            line=number + 1,
                            column=match.start() + 1,
                            preview=match[0][:4],
                            text=joined,
                        )
                    ]
    return []


def _entropy(run: str) -> float:
    size = len(run)
    return -sum(n / size * math.log2(n / size) for n in Counter(run).values())


def _looks_random(run: str) -> bool:
    if _HEX.match(run) or _UUID.match(run):
        return False
    if all(WORDY.match(piece) for piece in re.split(r"[-_/=+]", run)):
        return False
    mixed = any(c.isupper() for c in run) and any(c.islower() for c in run) and any(c.isdigit() for c in run)
    return mixed and _entropy(run) >= float(str(HIGH_ENTROPY["bits"]))


def _entropy_hits(line: str, number: int) -> list[Finding]:
    expression = HIGH_ENTROPY["run"]
    assert isinstance(expression, re.Pattern)  # noqa: S101 - the table holds one pattern and one number
    hits = []
    for match in expression.finditer(line):
        # A path is a chain of names: only a segment that is itself long and random counts.
        runs = [piece for piece in match[0].split("/") if len(piece) >= 32] if match[0].count("/") > 1 else [match[0]]
        hits += [
            Finding(
                pattern_class=str(HIGH_ENTROPY["name"]), line=number, column=match.start() + 1, preview=run[:4], text=line.strip()
            )
            for run in runs
            if _looks_random(run)
        ]
    return hits
