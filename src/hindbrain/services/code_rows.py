"""Code rows: how rows of code stand beside rows of memory in one answer, and what both together prove."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.engines.fence import fenced, tokens
from hindbrain.policy.code_search import (
    ENOUGH,
    MARGIN_PROVING,
    MARGIN_READY,
    PROVING,
    READY,
    RENDERED_ROWS,
    SATURATED_ROWS,
)

__all__ = ["CodeFound", "judged", "with_anchors", "with_code"]

Row = dict[str, Any]


@dataclass(slots=True)
class CodeFound:
    """Rows of code for a question, best first, and how many there were."""

    rows: list[Row] = field(default_factory=list)
    found: int = 0
    weights: dict[str, float] = field(default_factory=dict)  # of the parts of each row's breakdown
    gaps: list[Row] = field(default_factory=list)  # what kept code from being searched


def with_code(answer: Mapping[str, Any], code: CodeFound, *, top_k: int, budget: int, node_types: Sequence[str] = ()) -> Row:
    """The answer with its code: memory first, at least half of the room for each where both have rows to show."""
    memory = [_shaped(row) for row in answer["results"] if not node_types or row.get("type") in node_types]
    memory = memory[: max(top_k - len(code.rows), (top_k + 1) // 2)]
    places = code.rows[: top_k - len(memory)]
    rows = [*memory, *places]
    merged: Row = {**answer, "results": rows, "code_found": code.found}
    merged["honest_gaps"] = [*answer.get("honest_gaps", ()), *code.gaps]
    if not places:
        return merged | (judged(rows) if node_types else {})
    told = str(answer.get("rendered", ""))
    if not memory:
        told = told.replace("nothing relevant", "no memory about this", 1)
    merged["score_weights"] = code.weights
    merged["rendered"] = _told(told, places, budget)
    return merged | judged(rows)


def with_anchors(answer: Mapping[str, Any], code: CodeFound, *, budget: int) -> Row:
    """The answer of north with the places in the code to begin its task at."""
    kept = ("node_id", "label", "type", "file_path", "line_start", "line_end", "score", "excerpt")
    merged: Row = {**answer, "anchors": [{key: row[key] for key in kept} for row in code.rows]}
    merged["honest_gaps"] = [*answer.get("honest_gaps", ()), *code.gaps]
    if code.rows:
        merged["rendered"] = _told(str(answer.get("rendered", "")), code.rows, budget)
    return merged


def _told(before: str, rows: Sequence[Row], budget: int) -> str:
    """The text of an answer with as many places as its budget of tokens has room for; memory comes first."""
    for shown in range(min(len(rows), RENDERED_ROWS), 0, -1):
        text = f"{before}\n\n{_places(rows, shown)}".strip()
        if tokens(text) <= budget:
            return text
    return before


def _places(rows: Sequence[Row], most: int) -> str:
    """Places as quoted data, one a line: names are written by whoever wrote the code."""
    shown = [f"{row['file_path']}:{row['line_start'] or 1} {row['type']} {row['label']}" for row in rows[:most]]
    more = len(rows) - len(shown)
    return "Code:\n" + fenced("\n".join([*shown, *([f"and {more} more"] if more > 0 else [])]))


def judged(rows: Sequence[Row]) -> Row:
    """How far an answer carries: what it proves, and whether it is enough."""
    scored = sorted((row for row in rows if row.get("score") is not None), key=lambda row: -float(row["score"]))
    top = float(scored[0]["score"]) if scored else 0.0
    # A symbol stands beside its own file: only what lies elsewhere is a rival.
    rival = next((float(row["score"]) for row in scored[1:] if _place(row) != _place(scored[0])), None)
    margin = top if rival is None else top - rival
    if not rows:
        proof = "blocked"
    elif top >= READY and margin >= MARGIN_READY and scored[0].get("type") == "file":
        proof = "ready_to_edit"
    else:
        proof = "proving" if top >= PROVING and (rival is None or margin >= MARGIN_PROVING) else "triaging"
    strong = sum(float(row["score"]) >= ENOUGH for row in scored)
    if top < ENOUGH:
        state, why = "gathering", "no row covers the question well"
    elif strong >= SATURATED_ROWS:
        state, why = "saturated", "many rows cover the question; narrow it rather than ask for more"
    else:
        state, why = "sufficient", "a row covers most of the question"
    return {"proof_state": proof, "sufficiency": {"state": state, "top_score": top, "captured": len(rows), "why": why}}


def _place(row: Row) -> Any:
    return row.get("file_path") or row.get("slug") or row.get("id")


def _shaped(row: Row) -> Row:
    """A row of memory with the fields that every result has."""
    text = str(row.get("text", ""))
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    common: Row = {
        "node_id": row.get("node_id") or row.get("id"),
        "intent_summary": first[:220],
        "file_path": None,
        "line_start": None,
        "line_end": None,
        "excerpt": first[:220],
        "connections": [],
        "source": "memory",
    }
    return common | row
