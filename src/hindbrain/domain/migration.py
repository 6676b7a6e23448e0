"""Migration: where each claim of a mixed medulla belongs, as a table that a person edits, and the texts that a move leaves
behind. Reads no file and decides nothing."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.claim import Block, Claim, body_text, one_line, parse, render, stamped
from hindbrain.domain.errors import InvalidParams

__all__ = ["AMBIGUOUS", "Placement", "Step", "TableRow", "arriving", "moved_to", "pointer", "read_table", "table_text"]

AMBIGUOUS = "ambiguous"  # the mark beside a claim that a person has yet to classify
_MOVED_TO = "moved_to: "
_EVIDENCE = re.compile(r"^(\[𝔻 evidence: )(.*?)(\]\s*)$", re.MULTILINE)
_MARKED = re.compile(r"^\[(?:⍂|⍐|⍌) [a-z_]+: .*\]\s*$", re.MULTILINE)
_HEAD = """\
# One line per claim of the medulla. Change "class" and "destination", keep every line, then: hindbrain migrate apply TABLE
#   project    moves to the project brain whose root is the destination
#   stay       belongs to no project
#   ambiguous  stays as it is, and doctor lists it until it is classified
"""


class Placement(StrEnum):
    """What the table says of one claim."""

    PROJECT = "project"
    STAY = "stay"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One line of the table. Only slug, placement and destination decide; the rest helps whoever reads it."""

    slug: str
    placement: Placement
    destination: str | None = None
    reason: str = ""
    file: str = ""
    has_origin_brain: bool = False

    def told(self) -> dict[str, Any]:
        return {
            "slug": self.slug,
            "class": self.placement.value,
            "destination": self.destination,
            "reason": self.reason,
            "has_origin_brain": self.has_origin_brain,
            "file": self.file,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One claim that a migration changes: what was there, what it leaves, and how its traces are known again."""

    slug: str
    destination: str | None  # None for a claim that stays and is only stamped
    before: str  # digest of the medulla's text
    after: str  # digest of the text that replaces it there
    arrived: str | None  # digest of the text at the destination
    traces: tuple[str, ...]  # digests of the archived forms of these texts
    history: tuple[str, ...]  # names of the label's archives in the medulla before
    history_there: tuple[str, ...] = ()  # and at the destination

    def told(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> "Step":
        lists = {name: tuple(found[name]) for name in ("traces", "history", "history_there")}
        return cls(**{**found, **lists})


def table_text(rows: Iterable[TableRow]) -> str:
    """The table as a file: what the classes mean, then one JSON object per line."""
    return _HEAD + "".join(json.dumps(row.told(), ensure_ascii=False) + "\n" for row in rows)


def read_table(text: str) -> tuple[TableRow, ...]:
    """The rows of a table; empty lines and comments are skipped."""
    rows = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            rows.append(_row(number, line))
    return tuple(rows)


def _row(number: int, line: str) -> TableRow:
    classes = ", ".join(Placement)
    try:
        found = json.loads(line)
        slug, placement, destination = found["slug"], Placement(found["class"]), found.get("destination")
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise InvalidParams(
            f"line {number} of the table is not a row: {wrong}",
            fix=f'a row is {{"slug": "…", "class": "…", "destination": "…"}}; the classes are {classes}',
            line=number,
        ) from wrong
    if not isinstance(slug, str) or not (destination is None or isinstance(destination, str)):
        raise InvalidParams(f"line {number} of the table: slug and destination are texts", fix="take the line from a new plan")
    return TableRow(slug=slug, placement=placement, destination=(destination or "").rstrip("/") or None)


def pointer(original: Claim, slug: str, root: str, *, agent: str, now: int) -> str:
    """The file that stays where a claim was: it says where the claim went, and is not active."""
    said = Block(label=original.label or slug, text=f"{_MOVED_TO}{root}#{slug}")
    return render(
        Claim(
            label=original.label or slug,
            state="outdated",
            created=now,
            source_agent=one_line(agent) or "unknown",
            origin_brain=MEDULLA,
            supersedes=slug,
            blocks=(said,),
        )
    )


def moved_to(claim: Claim) -> str | None:
    """Where a pointer points, as `root#slug`; None for every other claim."""
    text = body_text(claim)
    return text.removeprefix(_MOVED_TO).strip() if not claim.active and text.startswith(_MOVED_TO) else None


def arriving(text: str, root: str, *, told: str) -> str:
    """A claim's file as its project gets it: every byte of it, its origin, evidence as that project names it, and a last block
    that tells where it comes from."""
    newline = "\r\n" if "\r\n" in text else "\n"
    claim = parse(text)
    kept = _EVIDENCE.sub(lambda found: found[1] + _own(found[2], root) + found[3], stamped(text, "Origin-Brain", root)).rstrip()
    # Prose without any marker is one block; without this line it would melt into the block that is added.
    parts = [kept, *([f"[⍂ entity: {claim.title or claim.label or 'claim'}]"] if not _MARKED.search(text) else [])]
    parts += [told, "[⍌ event: moved from the medulla]"]
    return (newline * 2).join(parts) + newline


def _own(evidence: str, root: str) -> str:
    """Evidence that was tied to the project, as the project itself writes it."""
    for prefix in (f"{root}#", root.rstrip("/") + "/"):
        if evidence.startswith(prefix) and len(evidence) > len(prefix):
            return evidence.removeprefix(prefix)
    return evidence
