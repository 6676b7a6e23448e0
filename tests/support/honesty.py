"""What every answer of every test must keep: no memory row without provenance, no gap with more than one way out."""

from collections.abc import Iterator
from typing import Any

from hindbrain.operations import REGISTRY

__all__ = ["gaps_of", "held", "rows_of", "wrong_with_gap", "wrong_with_row"]

_ROWS = ("memory", "evidence", "results", "rows", "entries", "also")
_TIERS = ("project", "medulla")


def rows_of(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every memory row of an answer, wherever it stands: beats, results, groups, boot entries."""
    for key in _ROWS:
        if isinstance(found := answer.get(key), list):
            yield from (row for row in found if isinstance(row, dict) and ("tier" in row or "claim" in row))
    if isinstance(entry := answer.get("entry"), dict):
        yield entry
    for group in answer.get("groups") or ():
        yield from rows_of(group)


def wrong_with_row(row: dict[str, Any]) -> str | None:
    """What a row lacks of who, where and when; an honest `unknown` lacks nothing (MED-335)."""
    if row.get("tier") not in _TIERS:
        return f"tier {row.get('tier')!r}"
    for field in ("origin_brain", "source_agent"):
        if not isinstance(row.get(field), str) or not row[field]:
            return f"{field} {row.get(field)!r}"
    if "age_ms" not in row or not (row["age_ms"] is None or (isinstance(row["age_ms"], int) and row["age_ms"] >= 0)):
        return f"age_ms {row.get('age_ms')!r}"
    if (row["age_ms"] is None) != ("stale" not in row):
        return "stale is told if and only if the age is known"
    return None


def gaps_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found = answer.get("honest_gaps")
    return found if isinstance(found, list) else []


def wrong_with_gap(gap: dict[str, Any]) -> str | None:
    """A gap has a kind, a text and at most one fix, which is a sentence or one call that exists (MED-345)."""
    if not {"kind", "text"} <= set(gap) <= {"kind", "text", "fix"}:
        return f"keys {sorted(gap)}"
    fix = gap.get("fix")
    if fix is None or isinstance(fix, str):
        return None
    if not isinstance(fix, dict) or set(fix) != {"tool", "arguments"} or fix["tool"] not in REGISTRY:
        return f"fix {fix!r}"
    return None


def held(answer: dict[str, Any]) -> dict[str, Any]:
    """The same answer, once every row and gap in it was looked at."""
    for row in rows_of(answer):
        assert (wrong := wrong_with_row(row)) is None, f"{wrong} in {row}"
    for gap in gaps_of(answer):
        assert (wrong := wrong_with_gap(gap)) is None, f"{wrong} in {gap}"
    return answer
