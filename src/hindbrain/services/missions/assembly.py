"""The mission room, put together: one of each part. Loaded when a process first has to do with missions."""

from typing import TYPE_CHECKING

from hindbrain.engines.flight import span_of
from hindbrain.services.control.params import configured
from hindbrain.services.experience.instincts import Instincts
from hindbrain.services.light_documents import LightDocuments
from hindbrain.services.missions.advising import Advising
from hindbrain.services.missions.closing import Closing
from hindbrain.services.missions.control import MissionControl
from hindbrain.services.missions.flight import Flights
from hindbrain.services.missions.handing import Handing
from hindbrain.services.missions.kernel import Missions
from hindbrain.services.missions.proving import Proving
from hindbrain.services.missions.recording import Recording
from hindbrain.services.missions.second_reader import SecondReader
from hindbrain.services.missions.skills import Skills
from hindbrain.services.missions.telling import Telling
from hindbrain.services.missions.witness import Witness
from hindbrain.stores.source_file import file_digest

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["put_together"]


def put_together(house: "House") -> Missions:
    """The missions of a house."""
    desk = house.mission_desk
    log = desk.log
    instincts = Instincts(house.brains, house.clock)
    control = MissionControl(house.lines, configured(house.settings), house.experience, instincts)
    documents = LightDocuments(house.brains, house.router, house.gateway, house.clock)
    witness = Witness(log, document=documents.evidence_class, handshake=house.handshakes.seen_at)
    recording = Recording(desk, witness)
    advising = Advising(desk, control, recording)
    handing = Handing(log, file_digest, advising.next_of, span_of)
    return Missions(
        desk,
        guard=house.guard,
        handing=handing,
        control=control,
        skills=Skills(house.experience, log, house.gateway, house.clock),
        proving=Proving(log, witness, control),
        closing=Closing(log, control, handing, files=house.mission_files),
        telling=Telling(desk, Flights(log), handing),
        recording=recording,
        advising=advising,
        documents=documents.warnings,
        second=SecondReader(lambda opened: house.runs.mind(opened)),
    )
