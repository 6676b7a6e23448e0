"""Evidence in words: what was said, by whom and when, and where it stands. Goes into a fence; it is data."""

from typing import Any

__all__ = ["hit_text", "known"]


def known(count: int) -> str:
    """How much there is to find, in words."""
    return f"{count} row{'' if count == 1 else 's'} of evidence known"


def hit_text(row: dict[str, Any]) -> str:
    """One row: its id and source, who said it when, then the text itself with what stood around it."""
    marks = [row["provenance"], f"from {row['source_file']}"]
    marks += [str(row[name]) for name in ("speaker", "role", "said_at") if row.get(name)]
    if row.get("recorded_by") and not (row.get("speaker") or row.get("role")):
        marks.append(f"recorded by {row['recorded_by']}")
    near = row.get("neighbors") or {}
    lines = [f"{row['evidence_id']} ({', '.join(marks)})"]
    lines += [f"before: {near['prev']['content']}"] if "prev" in near else []
    lines.append(row["content"])
    lines += [f"after: {near['next']['content']}"] if "next" in near else []
    return "\n".join(lines)
