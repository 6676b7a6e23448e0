"""The review queue in words: each item as fenced data with why it is here, what it rests on and what would settle it."""

from collections.abc import Mapping
from typing import Any

from hindbrain.engines.fence import fenced
from hindbrain.policy.review import KINDS

__all__ = ["item_text", "queue_text"]

_NAMES = {
    "returned": "rejected values that came back",
    "contradiction": "proposed contradictions",
    "stale": "active cards whose evidence changed",
    "open_gate": "candidates with an open gate",
}


def item_text(item: Mapping[str, Any]) -> str:
    """One item. All of it is data: statements, sources and names were written by others."""
    lines = [item["kind"]]
    for one in item["statements"]:
        lines.append(f"{one['card_id']} ({one['tier']}, {one['status']}, {one['field']})")
        lines.append(f"  {' '.join(one['statement'].split())}")
    lines.append(f"why: {item['why']}")
    for one in item["citations"]:
        said = f": {one['excerpt']}" if one["excerpt"] else "" if one["living"] else " (gone)"
        source = one["source_file"]
        origin = f" from {source}" if source and not source.endswith(one["evidence_id"]) else ""
        lines.append(f"{one['role']}: {one['evidence_id']}{origin}{said}")
    lines.append(f"to settle it: {item['settle']}")
    return "\n".join(lines)


def queue_text(answer: Mapping[str, Any]) -> str:
    """The whole queue: how much of each kind, then the items."""
    counts = answer["counts"]
    heads = [f"{_NAMES[kind]}: {counts[kind]}" for kind in KINDS if counts.get(kind)]
    parts = ["; ".join(heads) or "nothing to review"]
    parts += [fenced(item_text(item)) for item in answer["items"]]
    parts += [f"{answer['left_out']} more; ask with a larger limit."] if answer["left_out"] else []
    parts += ["Too many contradictions to name all of them; settle these first."] if answer["capped"] else []
    parts += [f"{answer['unread_files']} cited file(s) could not be read."] if answer["unread_files"] else []
    return "\n".join(parts)
