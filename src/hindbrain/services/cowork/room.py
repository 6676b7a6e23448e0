"""The cowork room, put together: one of each part. Loaded when a process first has to do with a bus."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindbrain.policy.cowork import BUS_WAIT_S, LOG_PART_BYTES
from hindbrain.services.cowork.attending import Attending
from hindbrain.services.cowork.capturing import Capturing
from hindbrain.services.cowork.channels import Channels
from hindbrain.services.cowork.checking import Checking
from hindbrain.services.cowork.draining import Draining
from hindbrain.services.cowork.erasing import BusErasure
from hindbrain.services.cowork.guarding import Guarding
from hindbrain.services.cowork.handing_over import HandingOver
from hindbrain.services.cowork.notices import Notices
from hindbrain.services.cowork.noticing import Noticing
from hindbrain.services.cowork.panes import Panes
from hindbrain.services.cowork.partner import Partner
from hindbrain.services.cowork.peeking import Peeking
from hindbrain.services.cowork.place import Buses
from hindbrain.services.cowork.recording import Recorder
from hindbrain.services.cowork.registry import Registry
from hindbrain.services.cowork.reserving import Reserving
from hindbrain.services.cowork.sending import Sending
from hindbrain.services.cowork.sessions import Sessions
from hindbrain.services.cowork.telling import Telling
from hindbrain.services.cowork.waiting import Waiting

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["Room", "put_together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The bus of agents that work side by side."""

    buses: Buses
    erasure: BusErasure
    recorder: Recorder
    panes: Panes
    registry: Registry
    sending: Sending
    draining: Draining
    telling: Telling
    channels: Channels
    sessions: Sessions
    peeking: Peeking
    handing_over: HandingOver
    capturing: Capturing
    checking: Checking
    reserving: Reserving
    guarding: Guarding
    waiting: Waiting
    noticing: Noticing
    attending: Attending
    partner: Partner


def put_together(house: "House", *, part_bytes: int = LOG_PART_BYTES) -> Room:
    """The bus of a house."""
    buses = Buses(house.home, house.brains, house.router, wait_s=BUS_WAIT_S, part_bytes=part_bytes)
    recorder = Recorder(house.clock, house.events, brain_of=house.brains.name_covering)
    panes = Panes.of(house.settings, house.environ)
    sending = Sending(buses, recorder, panes, house.gateway)
    sessions, handing_over = Sessions(buses, recorder, house.gateway), HandingOver(buses, house.clock)
    reserving = Reserving(buses, recorder, Notices(recorder), house.gateway, house.clock)
    program, named_home = house.recovery.program, house.recovery.named_home
    return Room(
        buses=buses,
        erasure=BusErasure(house.home, house.brains),
        recorder=recorder,
        panes=panes,
        registry=Registry(buses, recorder, panes, house.gateway),
        sending=sending,
        draining=Draining(buses, recorder, house.gateway),
        telling=Telling(buses),
        channels=Channels(buses, recorder, sending, house.gateway),
        sessions=sessions,
        peeking=Peeking(buses, panes),
        handing_over=handing_over,
        capturing=Capturing(handing_over, sessions, house.observations, house.router, house.gateway),
        checking=Checking(buses, panes, house.clock),
        reserving=reserving,
        guarding=Guarding(buses, reserving, environ=house.environ, program=program, home=named_home),
        waiting=Waiting(buses),
        noticing=Noticing(house.home, recorder, buses.named),
        attending=Attending(house.home, house.brains, buses.named, house.clock),
        partner=Partner(house.home, buses, house.gateway, house.clock, user=house.recovery.user, wait_s=BUS_WAIT_S),
    )
