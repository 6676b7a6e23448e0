"""Hinting: one call of a tool made from the words of a subtask, where a plan named the tool and no steps. Pure."""

from typing import Any

from hindbrain.engines.wording import paths_in, quoted_in

__all__ = ["call_for"]


def call_for(tool: str, intent: str, context: str = "") -> dict[str, Any] | None:
    """The input of a call, from what is quoted or looks like a path; None where the words hold none."""
    paths = (*paths_in(intent), *paths_in(context))
    quotes = tuple(one for one in (*quoted_in(intent), *quoted_in(context)) if one.strip())
    plain = [path for path in paths if "*" not in path and "?" not in path]
    if tool == "glob":
        patterns = [path for path in paths if path not in plain]
        return {"query": next(iter((*patterns, *plain)), "*")}
    if tool == "search":
        return {"query": quotes[0]} | ({"path": plain[0]} if plain and plain[0] != quotes[0] else {}) if quotes else None
    if tool in ("read", "delete"):
        return {"path": plain[0]} if plain else None
    if tool == "run":
        return {"command": quotes[0]} if quotes else None
    if tool == "ask_memory":
        return {"query": intent}
    if tool == "write":
        return {"path": plain[0], "content": quotes[-1]} if plain and quotes and quotes[-1] != plain[0] else None
    if tool == "move":
        return {"path": plain[0], "to": plain[1]} if len(plain) > 1 else None
    return None
