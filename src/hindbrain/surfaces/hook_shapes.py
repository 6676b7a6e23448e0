"""Hook shapes: what each agent host reads on standard output. The table is in `policy/hooks.py`; this fills it in."""

from __future__ import annotations

from hindbrain.engines.hook_text import bounded
from hindbrain.policy.hooks import CARRIERS, HOSTS, KINDS, SILENCE

# As in exchange.py: the typing module is too dear for a hook that runs on every prompt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["HOSTS", "event_name", "shaped"]

# Hosts write one event in several ways: SessionStart, sessionStart, session-start.
_EVENTS = {name.lower(): name for name in (*KINDS, "SessionEnd", "PreToolUse", "BeforeTool", "Notification")}


def event_name(told: object) -> str:
    """The one spelling of an event; an unknown name stays as it is, shortened."""
    text = str(told)[:64]
    return _EVENTS.get(text.replace("-", "").replace("_", "").lower(), text)


def shaped(host: str, event: str, text: str) -> dict[str, Any]:
    """The answer a host expects. Events that only listen, and those whose text would not reach the context, say nothing."""
    carrier = CARRIERS[host].get(event)
    if carrier is None or not text.strip():
        return dict(SILENCE.get((host, event), {}))
    told = bounded(text, carrier.limit, carrier.unit)
    if carrier.envelope == "flat":
        return {"additional_context": told}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": told}}
