"""Code rows: how rows of code stand beside rows of memory in one answer, and what both together prove."""

from collections.abc import Callable, Mapping, Sequence
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
    SHARED_PART,
)
from hindbrain.services.rendering import gap_text, left_out, row_text, within

__all__ = ["CodeFound", "judged", "with_anchors", "with_code"]

Row = dict[str, Any]


@dataclass(slots=True)
class CodeFound:
    """Rows of code for a question, best first, and how many there were."""

    rows: list[Row] = field(default_factory=list)
    found: int = 0
    weights: dict[str, float] = field(default_factory=dict)  # of the parts of each row's breakdown
    gaps: list[Row] = field(default_factory=list)  # what kept code from being searched


def with_code(
    answer: Mapping[str, Any],
    code: CodeFound,
    *,
    top_k: int,
    budget: int,
    node_types: Sequence[str] = (),
    shared: Sequence[Row] = (),
    text_of: Callable[[Row], str] = row_text,
) -> Row:
    """The answer with its code and with what is shared: own memory, own code, then rows of the medulla (MED-120).

    Own memory gets at least half of the room where there is code as well; shared rows get what is left, or a quarter."""
    own = [_shaped(row) for row in answer["results"] if not node_types or row.get("type") in node_types]
    own = own[: max(top_k - len(code.rows), (top_k + 1) // 2)]
    places = code.rows[: top_k - len(own)]
    after = [_shaped(row) for row in shared if not node_types or row.get("type") in node_types]
    after = after[: max(top_k - len(own) - len(places), top_k // SHARED_PART)]
    room = top_k - len(after)
    own, places = own[:room], places[: max(0, room - len(own))]
    rows = [*own, *places, *after]
    merged: Row = {**answer, "results": rows, "code_found": code.found}
    merged["honest_gaps"] = [*answer.get("honest_gaps", ()), *code.gaps]
    if places:
        merged["score_weights"] = code.weights
    texts, left = within([text_of(row) for row in (*own, *after)], budget)
    nothing = str(answer.get("rendered", ""))
    if not texts:
        texts = [nothing.replace("nothing relevant", "no memory about this", 1) if places else nothing]
    first = len(own) if own or after else 1
    merged["rendered"] = _composed(texts[:first], places, [*texts[first:], *left_out(left)], budget)
    merged |= {"left_out": left} if left else {}
    return merged | (judged(rows) if places or node_types else {})


def _composed(before: Sequence[str], places: Sequence[Row], after: Sequence[str], budget: int) -> str:
    """The text of own memory, as many places as the budget has room for, and what is shared."""
    head, tail = "\n".join(before), "\n".join(after)
    for shown in range(min(len(places), RENDERED_ROWS), 0, -1):
        text = "\n\n".join(part for part in (head, _places(places, shown), tail) if part)
        if tokens(text) <= budget:
            return text
    return "\n".join(part for part in (head, tail) if part)


def with_anchors(answer: Mapping[str, Any], code: CodeFound, *, budget: int) -> Row:
    """The answer of north with the places in the code to begin its task at."""
    kept = ("node_id", "label", "type", "file_path", "line_start", "line_end", "score", "excerpt")
    merged: Row = {**answer, "anchors": [{key: row[key] for key in kept} for row in code.rows]}
    merged["honest_gaps"] = [*answer.get("honest_gaps", ()), *code.gaps]
    merged["rendered"] = _told(str(answer.get("rendered", "")), code.rows, budget)
    for one in code.gaps:
        text = f"{merged['rendered']}\n\n{gap_text(one)}"
        if tokens(text) <= budget:
            merged["rendered"] = text
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
