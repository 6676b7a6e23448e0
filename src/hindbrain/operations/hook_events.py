"""Operations for the hooks of agent hosts."""

from typing import Annotated, Any

from msgspec import Meta

from hindbrain.domain.errors import InvalidParams
from hindbrain.operations.registry import Effect, operation
from hindbrain.services.call import Call

__all__ = ["event"]


@operation(
    "hosts.event",
    effect=Effect.WRITE,
    positional=("host", "event"),
    raises=(InvalidParams,),
    left_out={"mcp": "what a host's own hook reports; an agent asks with north"},
)
def event(
    call: Call,
    host: Annotated[
        str, Meta(max_length=40, description="claude-code, codex, cursor, gemini; anything else is a host of no known kind")
    ],
    event: Annotated[str, Meta(max_length=64, description="SessionStart, UserPromptSubmit, PreCompact, Stop, SubagentStop, …")],
    payload: Annotated[dict[str, Any] | None, Meta(description="what the host gave its hook")] = None,
) -> dict[str, Any]:
    """Answer an event of an agent host: what its session is told, within the host's limit, and what is kept of it.

    The start of a session gets the brief and what is known; a prompt what is new about it; before a context is cut its
    conversation is kept as evidence (setting hooks.save), and afterwards its last words are told again. `hindbrain hook` calls
    it for hosts."""
    return call.house.hooks.event(call.caller, host=host, event=event, payload=payload or {})
