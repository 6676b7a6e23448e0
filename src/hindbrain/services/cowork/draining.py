"""Draining: handing an agent what was sent to it, and hearing that it has it. A message is data, never an order."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hindbrain.domain.agent_errors import UnknownMessage
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import ACKED, DRAINED, FAILED, CoworkMessage, Handed, checked_name
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.deliveries import ID_MARK, replayed
from hindbrain.engines.fence import fenced, shown
from hindbrain.policy.cowork import BATCHES_KNOWN
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.cowork.registry import known
from hindbrain.services.gateway import Gateway

__all__ = ["Draining", "told"]


def told(messages: Sequence[CoworkMessage]) -> str:
    """Messages as text: who says it stands outside of the fence, what is said inside."""
    parts = []
    for one in messages:
        labels = " ".join(f"{name}={value}" for name, value in (("thread", one.thread_id), ("channel", one.channel)) if value)
        head = f"{one.message_id} from {one.source} at {one.pushed_at}{f' [{labels}]' if labels else ''}"
        parts.append(f"{' '.join(shown(head).split())}\n{fenced(one.content)}")
    return "\n".join(parts)


class Draining:
    """Takes messages out of inboxes."""

    def __init__(self, buses: Buses, recorder: Recorder, gateway: Gateway) -> None:
        self._buses = buses
        self._recorder = recorder
        self._gateway = gateway

    def drain(
        self, caller: Caller, agent_id: str, *, batch: str | None = None, project_root: str | None = None
    ) -> dict[str, Any]:
        """Hand out all that waits for an agent, oldest first. A batch that it names is handed out again until another is."""
        checked_name(agent_id, "agent_id")
        if batch is not None:
            self._gateway.check_secrets((checked_name(batch, "batch"),), site="cowork.drain")
        bus = self._buses.of(caller, project_root)
        again, skipped = False, 0
        with bus.turn() as turn:
            known(turn.agents(), agent_id)
            handed = turn.handed(agent_id) if batch is not None else None
            if handed is not None and batch in handed.over:
                # The request of a reader that died may arrive after the next one has gone on: it must not take what is new.
                raise InvalidParams(f"the batch {batch} is over: another was taken after it", fix="give a new name")
            if handed is not None and handed.batch == batch:
                again, messages = True, list(handed.messages)
            else:
                messages, lines = turn.inbox(agent_id)
                skipped = lines.skipped
                if lines.size:
                    turn.take(agent_id)
                    if batch is not None:
                        names = (*handed.over, handed.batch)[-BATCHES_KNOWN:] if handed is not None else ()
                        turn.hand(agent_id, Handed(batch=batch, messages=tuple(messages), over=names))
                    details = {
                        "drained_count": str(len(messages)),
                        "drained_bytes": str(lines.size),
                        "message_ids": ID_MARK.join(one.message_id for one in messages),
                        "batch": batch,
                    }
                    turn.log(self._recorder.event("drain", DRAINED, actor=agent_id, details=details))
        ids = [one.message_id for one in messages]
        if messages and not again:
            self._recorder.published(bus, caller, "drain", agents=[agent_id], messages=ids)
        return {
            "schema": "hindbrain-cowork-drain-v0",
            "project": bus.root,
            "agent_id": agent_id,
            "messages": [msgspec.to_builtins(one) for one in messages],
            "count": len(messages),
            "batch": batch,
            "again": again,
            "skipped_lines": skipped,
            "rendered": told(messages),
        }

    def acknowledge(self, caller: Caller, agent_id: str, message_id: str, *, project_root: str | None = None) -> dict[str, Any]:
        """An agent says that it has a message. Saying it twice changes nothing."""
        checked_name(agent_id, "agent_id")
        checked_name(message_id, "message_id")
        bus = self._buses.of(caller, project_root)
        with bus.turn() as turn:
            known(turn.agents(), agent_id)
            events, _ = turn.events(holding=(message_id,))
            found = next((one for one in replayed(events) if one.message_id == message_id), None)
            if found is None or found.target_agent_id != agent_id or found.status == FAILED:
                raise UnknownMessage(
                    f"no message {message_id} was delivered to {agent_id}",
                    fix=f"hindbrain cowork deliveries --agent-id {agent_id} lists what was",
                )
            before = found.status == ACKED
            if not before:
                details = {"message_id": message_id, "thread_id": found.thread_id, "channel": found.channel}
                turn.log(self._recorder.event("ack", ACKED, actor=agent_id, targets=(found.source,), details=details))
        if not before:
            self._recorder.published(bus, caller, "ack", agents=[found.source], messages=[message_id])
        return {
            "schema": "hindbrain-cowork-ack-v0",
            "project": bus.root,
            "agent_id": agent_id,
            "message_id": message_id,
            "status": ACKED,
            "changed": not before,
            "rendered": f"{message_id} is {'already ' if before else ''}acknowledged by {agent_id}",
        }
