"""Sending: one message to agents of the same bus. Everything is checked before the first delivery; each target has its event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.agent_errors import DeliveryFailed, InboxFull
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import DELIVERED, FAILED, INBOX, TMUX, Agent, CoworkMessage, checked_name
from hindbrain.domain.errors import InvalidParams
from hindbrain.policy.cowork import INBOX_BYTES, INBOX_MESSAGES, MESSAGE_BYTES
from hindbrain.services.cowork.panes import Panes
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.cowork.registry import known
from hindbrain.services.gateway import Gateway
from hindbrain.stores.bus_records import Bus, BusLook, BusTurn, inbox_file

__all__ = ["Sending", "is_full"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message that wants to be sent, its words checked."""

    event_type: str
    source: str
    targets: tuple[str, ...]
    message: str
    thread_id: str | None
    channel: str | None


def is_full(look: BusLook, agent_id: str, message: str) -> bool:
    """Whether an inbox has no room for one more message."""
    messages, _ = look.inbox(agent_id)
    size = sum(len(one.content.encode("utf-8")) for one in messages) + len(message.encode("utf-8"))
    return len(messages) >= INBOX_MESSAGES or size > INBOX_BYTES


class Sending:
    """Delivers messages: into an inbox, or into a pane of tmux, and never into the one because the other failed."""

    def __init__(self, buses: Buses, recorder: Recorder, panes: Panes, gateway: Gateway) -> None:
        self._buses = buses
        self._recorder = recorder
        self._panes = panes
        self._gateway = gateway

    def send(
        self,
        caller: Caller,
        source: str,
        target: str,
        message: str,
        *,
        thread_id: str | None = None,
        channel: str | None = None,
        project_root: str | None = None,
    ) -> dict[str, Any]:
        """One message to one agent."""
        draft = self._draft("send", source, (target,), message, thread_id, channel)
        bus = self._buses.of(caller, project_root)
        row = self._sent(bus, caller, draft)[0]
        told = f"message_id={row['message_id']} for {target} by {row['transport']}"
        return {"schema": "hindbrain-cowork-send-v0", "project": bus.root, **row, "rendered": told}

    def broadcast(
        self,
        caller: Caller,
        source: str,
        targets: Sequence[str],
        message: str,
        *,
        thread_id: str | None = None,
        channel: str | None = None,
        project_root: str | None = None,
    ) -> dict[str, Any]:
        """A copy for each of several agents. A target that fails does not hold up the others."""
        draft = self._draft("broadcast", source, tuple(dict.fromkeys(targets)), message, thread_id, channel)
        bus = self._buses.of(caller, project_root)
        rows = self._sent(bus, caller, draft)
        told = "\n".join(f"message_id={row['message_id']} for {row['target_agent_id']} by {row['transport']}" for row in rows)
        return {"schema": "hindbrain-cowork-broadcast-v0", "project": bus.root, "deliveries": rows, "rendered": told}

    def _draft(
        self, kind: str, source: str, targets: tuple[str, ...], message: str, thread_id: str | None, channel: str | None
    ) -> Draft:
        names = [checked_name(source, "from"), *(checked_name(one, "to") for one in targets)]
        names += [checked_name(one, what) for one, what in ((thread_id, "thread_id"), (channel, "channel")) if one is not None]
        if not targets:
            raise InvalidParams("a message needs somebody to go to", fix="name at least one registered agent in to")
        if source in targets:
            raise InvalidParams(f"{source} cannot send to itself", fix="leave the sender out of to")
        if not message.strip():
            raise InvalidParams("the message is empty", fix="say something, or use hindbrain cowork heartbeat to be seen")
        self._gateway.check_text(message)
        if (size := len(message.encode("utf-8"))) > MESSAGE_BYTES:
            raise InvalidParams(
                f"the message has {size} bytes; {MESSAGE_BYTES} is the most", fix="put it into a file and send its path"
            )
        self._gateway.check_secrets((message, *names), site=f"cowork.{kind}")
        return Draft(event_type=kind, source=source, targets=targets, message=message, thread_id=thread_id, channel=channel)

    def _sent(self, bus: Bus, caller: Caller, draft: Draft) -> list[Row]:
        with bus.turn() as turn:
            agents = self._checked(turn, draft)
            panes = [agent for agent in agents if agent.transport == TMUX]
            rows = [] if panes else self._written(turn, agents, draft, {})
        if panes:
            # A terminal may take seconds: nobody waits for it with the lock of the bus.
            self._panes.allow(caller)
            typed = {agent.agent_id: self._typed(caller, agent, draft) for agent in panes}
            with bus.turn() as turn:
                rows = self._written(turn, agents, draft, typed)
        reached = [row for row in rows if row["status"] == DELIVERED]
        ids = [row["message_id"] for row in reached]
        self._recorder.published(bus, caller, draft.event_type, agents=[row["target_agent_id"] for row in reached], messages=ids)
        if lost := [row for row in rows if row["status"] == FAILED]:
            raise DeliveryFailed(
                f"{len(lost)} of {len(rows)} deliveries failed: "
                + "; ".join(f"{row['target_agent_id']}: {row['reason']}" for row in lost),
                fix="what was delivered stays delivered; send again to those that failed only",
                deliveries=reached,
                failed=lost,
            )
        return rows

    def _checked(self, look: BusLook, draft: Draft) -> list[Agent]:
        agents = look.agents()
        known(agents, draft.source)
        targets = [known(agents, name) for name in draft.targets]
        full = [agent.agent_id for agent in targets if agent.transport == INBOX and is_full(look, agent.agent_id, draft.message)]
        if len(full) == len(targets):
            raise InboxFull(
                f"the inbox of {', '.join(full)} holds as much as it may: {INBOX_MESSAGES} messages, {INBOX_BYTES} bytes",
                fix="wait until it is drained, then send again",
            )
        return targets

    def _typed(self, caller: Caller, agent: Agent, draft: Draft) -> str | None:
        target = agent.tmux_target or ""
        return self._panes.deliver(caller, source=draft.source, target=agent.agent_id, pane=target, text=draft.message)

    def _written(self, turn: BusTurn, agents: Sequence[Agent], draft: Draft, typed: Mapping[str, str | None]) -> list[Row]:
        """One event for each target, and the message itself where an inbox takes it."""
        rows: list[Row] = []
        for agent in agents:
            by_inbox = agent.agent_id not in typed
            reason = typed.get(agent.agent_id)
            if by_inbox and is_full(turn, agent.agent_id, draft.message):
                reason = "its inbox is full"
            where = {"inbox_path": inbox_file(agent.agent_id)} if by_inbox else {"tmux_target": agent.tmux_target}
            labels = {"thread_id": draft.thread_id, "channel": draft.channel}
            event = self._recorder.event(
                draft.event_type,
                FAILED if reason else DELIVERED,
                actor=draft.source,
                targets=(agent.agent_id,),
                transport=INBOX if by_inbox else TMUX,
                message=draft.message,
                details={**where, **labels, "reason": reason},
            )
            row: Row = {
                "message_id": event.event_id,
                "target_agent_id": agent.agent_id,
                "transport": event.transport,
                "status": event.status,
                **event.details,
            }
            if by_inbox and not reason:
                message = CoworkMessage(
                    message_id=event.event_id,
                    pushed_at=event.occurred_at,
                    source=draft.source,
                    content=draft.message,
                    **labels,
                )
                row["inbox_size_after"] = turn.push(agent.agent_id, message)
            turn.log(event)
            rows.append(row)
        return rows
