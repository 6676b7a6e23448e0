"""Hook shapes: what each agent host reads on standard output. A table; the entry point fills it in."""

from __future__ import annotations

# As in exchange.py: the typing module is too dear for a hook that runs on every prompt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["HOSTS", "bounded", "event_name", "shaped"]

HOSTS = ("claude-code", "codex", "cursor", "gemini", "generic")

CONTEXT_CHARACTERS = 10_000  # the smallest of the hosts' limits: Claude Code drops what is longer
_CUT = "\n[cut: `hindbrain north` shows the rest]"

# Hosts write one event in several ways: SessionStart, sessionStart, session-start.
_EVENTS = {
    name.lower(): name
    for name in (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "PostCompact",
        "Stop",
        "SubagentStop",
        "BeforeSubmitPrompt",
        "BeforeAgent",
        "AfterAgent",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "Notification",
    )
}


def event_name(told: object) -> str:
    """The one spelling of an event; an unknown name stays as it is, shortened."""
    text = str(told)[:64]
    return _EVENTS.get(text.replace("-", "").replace("_", "").lower(), text)


def shaped(host: str, event: str, text: str) -> dict[str, Any]:
    """The answer a host expects. Only the start of a session carries text; the other events only listen."""
    told = bounded(text) if text.strip() else ""
    if host == "cursor":
        if event == "BeforeSubmitPrompt":
            return {"continue": True}
        return {"additional_context": told} if event == "SessionStart" and told else {}
    if event != "SessionStart" or (not told and host != "codex"):
        return {}
    # Codex wants its envelope around an empty answer too; the others take an empty object.
    inner = {"hookEventName": event, **({"additionalContext": told} if told else {})}
    return {"hookSpecificOutput": inner}


def bounded(text: str, limit: int = CONTEXT_CHARACTERS) -> str:
    """The text within a host's limit. A cut never leaves a fence open: what follows must not be taken for memory."""
    if len(text) <= limit:
        return text
    head = text[: limit - 200]
    kept = head.splitlines()[:-1] or [head]
    fence = ""
    for line in kept:
        if fence and line.strip() == fence:
            fence = ""
        elif not fence and line.startswith("```"):
            fence = line[: len(line) - len(line.lstrip("`"))]
    return "\n".join([*kept, *([fence] if fence else [])]) + _CUT
