"""The registry: which agents work in a checkout, and when each was heard of last. Only the agent itself says that it is there."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from hindbrain.domain.agent_errors import UnknownAgent
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import INBOX, TMUX, Agent, checked_name
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.deliveries import preview
from hindbrain.engines.fence import fenced
from hindbrain.engines.moments import milliseconds, stamped
from hindbrain.engines.presence import presence
from hindbrain.policy.cowork import LISTED_PREVIEWS
from hindbrain.services.cowork.panes import Panes
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.gateway import Gateway

__all__ = ["Registry", "known", "moment"]

_LAST_MS = 253_402_300_799_999  # the end of the year 9999: a zone can lead out of what a time may be


def known(agents: Mapping[str, Agent], agent_id: str) -> Agent:
    """A registered agent, or the error that says how to become one."""
    if (agent := agents.get(agent_id)) is None:
        raise UnknownAgent(
            f"no agent {agent_id} is registered on this bus",
            fix="hindbrain cowork agents lists who is; register with hindbrain cowork register --agent-id AGENT --tool TOOL",
        )
    return agent


def moment(text: str, what: str) -> int:
    """A time that a caller gave."""
    found = milliseconds(text)
    if found is None or not 0 <= found <= _LAST_MS or len(text) < len("2026-05-25T00:00Z"):
        raise InvalidParams(f"{what} is a time such as 2026-05-25T00:00:00Z", fix=f"leave {what} out for the time of now")
    return found


class Registry:
    """Who is on a bus."""

    def __init__(self, buses: Buses, recorder: Recorder, panes: Panes, gateway: Gateway) -> None:
        self._buses = buses
        self._recorder = recorder
        self._panes = panes
        self._gateway = gateway

    def register(
        self,
        caller: Caller,
        agent_id: str,
        tool: str,
        *,
        transport: str = INBOX,
        tmux_target: str | None = None,
        project_root: str | None = None,
    ) -> dict[str, Any]:
        """Put an agent on the bus, or change how it is reached. When it first came is kept."""
        self._gateway.check_secrets((checked_name(agent_id, "agent_id"), checked_name(tool, "tool")), site="cowork.register")
        if transport == TMUX:
            self._panes.check_target(tmux_target or "")
            self._panes.allow(caller)
        elif tmux_target is not None:
            raise InvalidParams("a tmux target needs the transport tmux", fix="leave tmux_target out, or give transport tmux")
        bus = self._buses.of(caller, project_root)
        with bus.turn(make=True) as turn:
            now = self._recorder.now()
            before = turn.agents().get(agent_id)
            agent = Agent(
                agent_id=agent_id,
                tool=tool,
                transport=transport,
                tmux_target=tmux_target,
                registered_at=before.registered_at if before else now,
                updated_at=now,
                last_seen_at=now,
            )
            turn.put_agent(agent)
            turn.log(self._recorder.event("register", "registered", actor=agent_id, transport=transport, details={"tool": tool}))
        self._recorder.published(bus, caller, "register", agents=[agent_id])
        verb = "changed" if before else "registered"
        return {
            "schema": "hindbrain-cowork-agent-v0",
            "project": bus.root,
            **asdict(agent),
            "created": before is None,
            "rendered": f"{verb} {agent_id} ({tool}), reached by {transport}, on the bus of {bus.root}",
        }

    def heartbeat(
        self, caller: Caller, agent_id: str, *, seen_at: str | None = None, project_root: str | None = None
    ) -> dict[str, Any]:
        """An agent says that it is there."""
        checked_name(agent_id, "agent_id")
        seen = stamped(moment(seen_at, "seen_at")) if seen_at is not None else self._recorder.now()
        bus = self._buses.of(caller, project_root)
        with bus.turn() as turn:
            agent = replace(known(turn.agents(), agent_id), last_seen_at=seen)
            turn.put_agent(agent)
            turn.log(self._recorder.event("heartbeat", "seen", actor=agent_id, details={"seen_at": seen}))
        self._recorder.published(bus, caller, "heartbeat", agents=[agent_id])
        told = {"schema": "hindbrain-cowork-agent-v0", "project": bus.root, **asdict(agent)}
        return {**told, "rendered": f"{agent_id} was seen at {seen}"}

    def agents(self, caller: Caller, *, now: str | None = None, project_root: str | None = None) -> dict[str, Any]:
        """Everybody on the bus, with what waits for each. Changes nothing."""
        at = moment(now, "now") if now is not None else self._recorder.clock()
        bus = self._buses.of(caller, project_root)
        rows: list[dict[str, Any]] = []
        lines: list[str] = []
        with bus.look() as look:
            for agent in look.agents().values():
                messages, kept = look.inbox(agent.agent_id)
                shown = [
                    {"message_id": one.message_id, "from": one.source, "preview": preview(one.content)}
                    for one in messages[:LISTED_PREVIEWS]
                ]
                seen = presence(agent.last_seen_at, at)
                rows.append(
                    asdict(agent)
                    | {
                        "presence": seen,
                        "pending_count": len(messages),
                        "pending_bytes": kept.size,
                        "skipped_lines": kept.skipped,
                        "pending_preview": shown,
                    }
                )
                lines.append(f"{agent.agent_id} ({agent.tool}, {agent.transport}): {seen}, {len(messages)} waiting")
                lines += [fenced(f"{one['from']}: {one['preview']}") for one in shown]
        empty = "nobody is registered on this bus; hindbrain cowork register puts an agent on it"
        return {
            "schema": "hindbrain-cowork-agents-v0",
            "project": bus.root,
            "agents": rows,
            "rendered": "\n".join(lines) or empty,
        }
