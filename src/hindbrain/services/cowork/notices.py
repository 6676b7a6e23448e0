"""Notices: what Hindbrain itself tells an agent of a bus: a message like any other, in its inbox, from `hindbrain`."""

from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import DELIVERED, FAILED, INBOX, CoworkMessage
from hindbrain.policy.cowork import MESSAGE_BYTES
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.cowork.sending import is_full
from hindbrain.stores.bus_records import Bus

__all__ = ["SENDER", "Notices"]

SENDER = "hindbrain"


class Notices:
    """Puts notices into inboxes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def tell(self, caller: Caller, bus: Bus, agent_id: str, text: str) -> bool:
        """Tell one agent, and whether it was told: one that left, that has a terminal or a full inbox is not; the log says so."""
        text = text.encode("utf-8")[:MESSAGE_BYTES].decode("utf-8", "ignore")
        with bus.turn() as turn:
            agent = turn.agents().get(agent_id)
            if agent is None:
                return False
            reason = None if agent.transport == INBOX else "a notice is never typed into a terminal"
            if reason is None and is_full(turn, agent_id, text):
                reason = "its inbox is full"
            status = FAILED if reason else DELIVERED
            event = self._recorder.event(
                "send", status, actor=SENDER, targets=(agent_id,), transport=INBOX, message=text, details={"reason": reason}
            )
            if reason is None:
                turn.push(
                    agent_id,
                    CoworkMessage(message_id=event.event_id, pushed_at=event.occurred_at, source=SENDER, content=text),
                )
            turn.log(event)
        if reason is None:
            self._recorder.published(bus, caller, "send", agents=[agent_id], messages=[event.event_id])
        return reason is None
