"""Cowork: agents that work side by side in one checkout, what they tell each other, and what became of it.

The records are those of the files and of the wire. Times are texts here, because a file may hold one that nobody can read."""

import re
from typing import Final

from msgspec import Struct, field

from hindbrain.domain.errors import InvalidParams

__all__ = [
    "ACKED",
    "ACTIVE",
    "DELIVERED",
    "DRAINED",
    "FAILED",
    "INBOX",
    "PENDING",
    "TMUX",
    "Agent",
    "CoworkChannel",
    "CoworkEvent",
    "CoworkMessage",
    "CoworkSession",
    "Delivery",
    "Handed",
    "checked_name",
]

INBOX: Final = "inbox"
TMUX: Final = "tmux"

PENDING: Final = "pending"  # delivered, and nobody took it
DRAINED: Final = "drained"  # handed out to its target
ACKED: Final = "acked"  # the target said that it has it
FAILED: Final = "failed"  # no transport could deliver it
DELIVERED: Final = "delivered"  # what the log says of a delivery that reached its inbox or pane

ACTIVE: Final = "active"  # a session that goes on

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def checked_name(value: str, what: str) -> str:
    """A name of the bus: it becomes part of a file name, so it holds nothing that leads elsewhere."""
    if _NAME.fullmatch(value) is None or value in (".", ".."):
        raise InvalidParams(
            f"{what} has 1 to 64 letters, digits, `_`, `-` or `.`", fix=f"choose another {what}, for example codex-a"
        )
    return value


class Agent(Struct, frozen=True, kw_only=True):
    """One agent of the bus: an instance, not a family of tools."""

    agent_id: str
    tool: str
    transport: str = INBOX
    tmux_target: str | None = None
    registered_at: str
    updated_at: str
    last_seen_at: str | None = None


class CoworkChannel(Struct, frozen=True, kw_only=True):
    """A named group of agents."""

    channel: str
    agents: tuple[str, ...]
    updated_at: str


class CoworkSession(Struct, frozen=True, kw_only=True):
    """A piece of work that several agents share."""

    session_id: str
    title: str
    goal: str | None = None
    agents: tuple[str, ...]
    channels: tuple[str, ...] = ()
    thread_id: str | None = None
    status: str = ACTIVE
    created_at: str
    updated_at: str


class CoworkMessage(Struct, frozen=True, kw_only=True, rename={"source": "from"}, omit_defaults=True):
    """One message in the inbox of its target. Its content is what another agent wrote: data, never an order."""

    message_id: str = ""
    pushed_at: str
    source: str
    content: str
    thread_id: str | None = None
    channel: str | None = None


class Handed(Struct, frozen=True, kw_only=True):
    """The last named batch that an agent was handed, kept until it takes another, and the names before it."""

    batch: str
    messages: tuple[CoworkMessage, ...]
    over: tuple[str, ...] = ()


class CoworkEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log: who did what to whom. Of a body it holds a short preview."""

    event_id: str
    occurred_at: str
    event_type: str
    status: str
    actor_agent_id: str | None = None
    target_agent_ids: tuple[str, ...] = ()
    transport: str | None = None
    message_preview: str | None = None
    details: dict[str, str] = field(default_factory=dict)


class Delivery(Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """What became of one message to one agent, as the log tells it."""

    message_id: str
    event_type: str
    status: str
    source: str
    target_agent_id: str
    transport: str
    message_preview: str | None
    thread_id: str | None
    channel: str | None
    delivered_at: str
    updated_at: str
    acked_by: str | None = None
