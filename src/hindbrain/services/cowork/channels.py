"""Channels: named groups of agents on one bus, and messages to a group."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hindbrain.domain.agent_errors import UnknownAgent, UnknownChannel
from hindbrain.domain.caller import Caller
from hindbrain.domain.cowork import CoworkChannel, checked_name
from hindbrain.domain.errors import InvalidParams
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.cowork.sending import Sending
from hindbrain.services.gateway import Gateway
from hindbrain.stores.bus_records import BusLook

__all__ = ["Channels", "checked_agents"]


def checked_agents(look: BusLook, names: Sequence[str]) -> tuple[str, ...]:
    """Each agent once, in the order given. All are registered, and there is at least one."""
    agents = tuple(dict.fromkeys(checked_name(one, "agent_id") for one in names))
    if not agents:
        raise InvalidParams("at least one agent is needed", fix="name the agents; hindbrain cowork agents lists them")
    registered = look.agents()
    if missing := [one for one in agents if one not in registered]:
        raise UnknownAgent(
            f"not registered on this bus: {', '.join(missing[:5])}", fix="hindbrain cowork agents lists who is registered"
        )
    return agents


class Channels:
    """The channels of a bus. A channel is what somebody set, never what tools are called."""

    def __init__(self, buses: Buses, recorder: Recorder, sending: Sending, gateway: Gateway) -> None:
        self._buses = buses
        self._recorder = recorder
        self._sending = sending
        self._gateway = gateway

    def set(self, caller: Caller, *, channel: str, agents: Sequence[str], project_root: str | None) -> dict[str, Any]:
        """Say who a channel reaches; who it reached before no longer counts."""
        checked_name(channel, "channel")
        self._gateway.check_secrets((channel,), site="cowork.channel.set")
        if not agents:
            raise InvalidParams("a channel has at least one agent", fix="name the agents that it reaches")
        bus = self._buses.of(caller, project_root)
        with bus.turn() as turn:
            members = checked_agents(turn, agents)
            made = CoworkChannel(channel=channel, agents=members, updated_at=self._recorder.now())
            turn.put_channel(made)
            turn.log(
                self._recorder.event(
                    "channel_set", "updated", targets=members, details={"channel": channel, "agents": str(len(members))}
                )
            )
        self._recorder.published(bus, caller, "channel.set", agents=members)
        return {
            "ok": True,
            "schema": "hindbrain-cowork-channel-v0",
            **_row(made),
            "rendered": f"{channel} reaches {', '.join(members)}.",
        }

    def listed(self, caller: Caller, *, project_root: str | None) -> dict[str, Any]:
        """Every channel with its agents."""
        with self._buses.of(caller, project_root).look() as look:
            found = list(look.channels().values())
        told = [f"{one.channel}: {', '.join(one.agents)} (set {one.updated_at})" for one in found]
        return {
            "ok": True,
            "schema": "hindbrain-cowork-channels-v0",
            "channels": [_row(one) for one in found],
            "rendered": "\n".join(told) or "This bus has no channel.",
        }

    def send(
        self,
        caller: Caller,
        *,
        source: str,
        channel: str,
        message: str,
        thread_id: str | None,
        project_root: str | None,
    ) -> dict[str, Any]:
        """Send to everybody a channel reaches now, except to whoever sends."""
        checked_name(channel, "channel")
        with self._buses.of(caller, project_root).look() as look:
            found = look.channels().get(channel)
        if found is None:
            raise UnknownChannel(f"this bus has no channel {channel!r}", fix="hindbrain cowork channel list shows what there is")
        targets = [one for one in found.agents if one != source]
        if not targets:
            raise InvalidParams(
                f"{channel} reaches only {source}",
                fix="add agents with hindbrain cowork channel set --channel CHANNEL --agents AGENT",
            )
        return self._sending.broadcast(
            caller, source, targets, message, thread_id=thread_id, channel=channel, project_root=project_root
        )


def _row(channel: CoworkChannel) -> dict[str, Any]:
    return msgspec.structs.asdict(channel) | {"agents": list(channel.agents)}
