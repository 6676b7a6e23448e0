"""Hand-over of a bus: what goes on in it, picked by thread, channel and session, and told in plain lines. Changes nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from hindbrain.domain.cowork import ACTIVE, PENDING, Agent, CoworkChannel, CoworkEvent, CoworkSession, Delivery
from hindbrain.engines.deliveries import preview
from hindbrain.engines.fence import shown
from hindbrain.engines.hygiene import redacted

__all__ = ["Filters", "Handoff", "Seen", "SeenAgent", "kept_lines", "picked", "session_row", "shortened", "told_lines"]

One = TypeVar("One")
_NAMES = 10  # of the agents of one session or event


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a hand-over is about. Without any it is about the whole bus."""

    thread_id: str | None = None
    channel: str | None = None
    session_id: str | None = None
    all_sessions: bool = False
    limit: int

    def wire(self) -> dict[str, Any]:
        return {"thread_id": self.thread_id, "channel": self.channel, "session_id": self.session_id, "limit": self.limit}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAgent:
    """An agent as it stands: how present it is, and how much waits for it."""

    agent: Agent
    presence: str
    pending: int

    def wire(self) -> dict[str, Any]:
        return {
            "agent_id": self.agent.agent_id,
            "tool": self.agent.tool,
            "presence": self.presence,
            "pending_count": self.pending,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A bus at one moment."""

    agents: Sequence[SeenAgent]
    channels: Mapping[str, CoworkChannel]
    sessions: Mapping[str, CoworkSession]
    deliveries: Sequence[Delivery]
    events: Sequence[CoworkEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """What was picked, and how much more there is of each part."""

    filters: Filters
    sessions: tuple[CoworkSession, ...]
    agents: tuple[SeenAgent, ...]
    pending: tuple[Delivery, ...]
    events: tuple[CoworkEvent, ...]
    left_out: dict[str, int]

    def wire(self) -> dict[str, Any]:
        return {
            "filters": self.filters.wire(),
            "sessions": [session_row(one) for one in self.sessions],
            "agents": [one.wire() for one in self.agents],
            "pending_deliveries": [msgspec.to_builtins(one) for one in self.pending],
            "recent_events": [
                msgspec.structs.asdict(one) | {"target_agent_ids": list(one.target_agent_ids)} for one in self.events
            ],
            "left_out": self.left_out,
        }


def session_row(session: CoworkSession) -> dict[str, Any]:
    """A session as answers have it."""
    return msgspec.structs.asdict(session) | {"agents": list(session.agents), "channels": list(session.channels)}


class _Scope:
    """Which threads, channels and sessions the filters mean. Several filters narrow each other."""

    def __init__(self, filters: Filters, session: CoworkSession | None) -> None:
        self._filters = filters
        self._session = session
        # A session that names no thread and no channel is about what its agents say to each other.
        self._by_agents = session is not None and session.thread_id is None and not session.channels
        self.open = filters.thread_id is None and filters.channel is None and session is None

    def _in_session(self, thread: str | None, channel: str | None, agents: Collection[str]) -> bool:
        if self._session is None:
            return True
        if self._by_agents:
            return bool(agents) and set(agents) <= set(self._session.agents)
        return (thread is not None and thread == self._session.thread_id) or channel in self._session.channels

    def message(self, thread: str | None, channel: str | None, agents: Collection[str]) -> bool:
        """Whether something that was said belongs here."""
        asked = self._filters
        if asked.thread_id is not None and thread != asked.thread_id:
            return False
        if asked.channel is not None and channel != asked.channel:
            return False
        return self._in_session(thread, channel, agents)

    def event(self, event: CoworkEvent) -> bool:
        told = event.details
        if self._session is not None and told.get("session_id") == self._session.session_id:
            return self._filters.thread_id in (None, self._session.thread_id) and (
                self._filters.channel is None or self._filters.channel in self._session.channels
            )
        return self.open or self.message(told.get("thread_id"), told.get("channel"), _named(event))

    def session(self, session: CoworkSession) -> bool:
        if self._session is not None and session.session_id != self._session.session_id:
            return False
        if self._filters.thread_id is not None and session.thread_id != self._filters.thread_id:
            return False
        return self._filters.channel is None or self._filters.channel in session.channels


def picked(seen: Seen, filters: Filters) -> Handoff:
    """The parts of a bus that the filters mean, each cut to its newest after filtering. A named session must be there."""
    named = seen.sessions[filters.session_id] if filters.session_id is not None else None
    scope = _Scope(filters, named)
    wanted = filters.all_sessions or named is not None
    sessions = [one for one in seen.sessions.values() if scope.session(one) and (wanted or one.status == ACTIVE)]
    sessions.sort(key=lambda one: one.updated_at)
    events = [one for one in seen.events if scope.event(one)]
    said = [one for one in seen.deliveries if scope.message(one.thread_id, one.channel, (one.source, one.target_agent_id))]
    pending = [one for one in said if one.status == PENDING]
    agents = list(seen.agents)
    if not scope.open:
        channel = seen.channels.get(filters.channel or "")
        members = channel.agents if channel is not None else ()
        about = {*members, *(name for one in sessions for name in one.agents), *(name for one in events for name in _named(one))}
        about |= {name for one in said for name in (one.source, one.target_agent_id)}
        agents = [one for one in agents if one.agent.agent_id in about]
    limit = filters.limit
    parts = {"sessions": len(sessions), "agents": len(agents), "pending_deliveries": len(pending), "recent_events": len(events)}
    return Handoff(
        filters=filters,
        sessions=_last(sessions, limit),
        agents=tuple(agents[:limit]),
        pending=_last(pending, limit),
        events=_last(events, limit),
        left_out={name: count - limit for name, count in parts.items() if count > limit},
    )


def shortened(handoff: Handoff) -> Handoff:
    """The same with half as many rows of each part, and the others counted."""
    half = handoff.filters.limit // 2
    parts = {"sessions": handoff.sessions, "agents": handoff.agents, "pending_deliveries": handoff.pending}
    more = {name: max(len(rows) - half, 0) for name, rows in [*parts.items(), ("recent_events", handoff.events)]}
    return replace(
        handoff,
        filters=replace(handoff.filters, limit=half),
        sessions=_last(handoff.sessions, half),
        agents=handoff.agents[:half],
        pending=_last(handoff.pending, half),
        events=_last(handoff.events, half),
        left_out={name: count for name in more if (count := handoff.left_out.get(name, 0) + more[name])},
    )


def told_lines(handoff: Handoff) -> list[str]:
    """The hand-over as plain lines. What agents wrote stands in them as data."""
    present = [f"- {one.agent.agent_id} ({one.agent.tool}): {one.presence}, {one.pending} waiting" for one in handoff.agents]
    pending = [line for one in handoff.pending for line in _said(one, f"{one.message_id} ")]
    return _parts(handoff, present, pending)


def kept_lines(handoff: Handoff) -> list[str]:
    """The hand-over as it is kept: without what changes by the clock alone, without ids that chance made, without secrets."""
    present = [
        f"- {one.agent.agent_id} ({one.agent.tool}): last seen {one.agent.last_seen_at or 'never'}, {one.pending} waiting"
        for one in handoff.agents
    ]
    lines = _parts(handoff, present, [line for one in handoff.pending for line in _said(one)])
    return [redacted(line) for line in lines]


def _parts(handoff: Handoff, agents: list[str], pending: list[str]) -> list[str]:
    asked = handoff.filters
    named = [("thread", asked.thread_id), ("channel", asked.channel), ("session", asked.session_id)]
    about = ", ".join(f"{kind} {value}" for kind, value in named if value)
    sessions = [line for one in handoff.sessions for line in _session(one)]
    events = [line for one in handoff.events for line in _event(one)]
    lines = [f"about {about or 'the whole bus'}"]
    titles = ("sessions", "agents", "pending_deliveries", "recent_events")
    for title, rows in zip(titles, (sessions, agents, pending, events), strict=True):
        more = handoff.left_out.get(title, 0)
        held = sum(row.startswith("-") for row in rows)
        lines += [f"{title.replace('_', ' ')}: {held}" + (f" (and {more} more)" if more else ""), *rows]
    return lines


def _session(one: CoworkSession) -> list[str]:
    goal = _quoted(preview(one.goal)) if one.goal else []
    return [f"- {one.session_id} [{one.status}] {_names(one.agents)}", *_quoted(one.title), *goal]


def _said(one: Delivery, before: str = "") -> list[str]:
    where = _where(one.thread_id, one.channel)
    return [f"- {before}{one.source} to {one.target_agent_id} at {one.delivered_at}{where}", *_quoted(one.message_preview)]


def _event(one: CoworkEvent) -> list[str]:
    told = one.details
    who = " ".join([one.actor_agent_id or "", *(("to", _names(one.target_agent_ids)) if one.target_agent_ids else ())]).strip()
    named = f" session={told['session_id']}" if "session_id" in told else ""
    where = _where(told.get("thread_id"), told.get("channel"))
    return [f"- {one.occurred_at} {one.event_type}/{one.status} {who}{where}{named}", *_quoted(one.message_preview)]


def _quoted(text: str | None) -> list[str]:
    """What somebody wrote, each line of it on a line of its own: there a value that was rejected is found again."""
    return [f"  > {line}" for one in (text or "").splitlines() if (line := _line(one))]


def _names(agents: Sequence[str]) -> str:
    return ", ".join([*agents[:_NAMES], *([f"and {len(agents) - _NAMES} more"] if len(agents) > _NAMES else [])])


def _where(thread: str | None, channel: str | None) -> str:
    named = [f"{name}={value}" for name, value in (("thread", thread), ("channel", channel)) if value]
    return f" [{' '.join(named)}]" if named else ""


def _line(text: str) -> str:
    """Text of others on one line."""
    return " ".join(shown(text).split())


def _named(event: CoworkEvent) -> set[str]:
    return {name for name in (event.actor_agent_id, *event.target_agent_ids) if name}


def _last(found: Iterable[One], limit: int) -> tuple[One, ...]:
    return tuple(found)[-limit:]
