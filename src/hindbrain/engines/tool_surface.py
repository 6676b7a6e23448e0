"""The tool surface of a session: which required tools its host shows, as far as the caller reported it. Pure."""

from collections.abc import Sequence
from typing import Any

__all__ = ["REQUIRED_TOOLS", "lacking_tools", "tool_name", "tool_surface"]

# What an agent needs to judge a session and to recover it.
REQUIRED_TOOLS = ("health", "trust_selftest", "session_handshake", "recovery_playbook", "doctor", "ingest", "seek", "help")


def tool_name(shown: str) -> str:
    """Return the name of a tool without the prefix that a host puts before it."""
    return shown.rsplit("__", 1)[-1]


def lacking_tools(available: Sequence[str] | None, missing: Sequence[str]) -> list[str]:
    """Return the required tools that the host does not show, in alphabetical order."""
    lacking = {tool_name(name) for name in missing}
    if available is not None:
        lacking |= set(REQUIRED_TOOLS) - {tool_name(name) for name in available}
    return sorted(lacking & set(REQUIRED_TOOLS))


def tool_surface(available: Sequence[str] | None, missing: Sequence[str]) -> dict[str, Any]:
    """Return the tool surface for an answer. `complete` is None unless the caller listed its tools or named a missing one."""
    lacking = lacking_tools(available, missing)
    complete = False if lacking else None if available is None else True
    return {"required": list(REQUIRED_TOOLS), "missing": lacking, "complete": complete}
