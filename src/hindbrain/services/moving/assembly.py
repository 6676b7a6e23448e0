"""Puts the ways in together. Made anew for every import, which are rare."""

from typing import TYPE_CHECKING

from hindbrain.services.evidence_batch import Batches
from hindbrain.services.foreign_evidence import ForeignEvidence
from hindbrain.services.moving.kinds import KINDS
from hindbrain.services.moving.letters import LetterTaking
from hindbrain.services.moving.moving import Moving, Ways
from hindbrain.services.moving.observations import FileTaking, RowTaking
from hindbrain.services.moving.taking import BootTaking, ClaimTaking

if TYPE_CHECKING:
    from hindbrain.services.house import House

__all__ = ["put_together"]


def put_together(house: "House") -> Moving:
    """One front for all programs, over the parts of a house."""
    foreign = ForeignEvidence(house.gateway, Batches(house.clock), house.clock)
    ways = Ways(
        claims=ClaimTaking(house.brains, house.gateway),
        rows=RowTaking(foreign),
        files=FileTaking(house.evidence_ingest),
        letters=LetterTaking(house.mailbox.spool),
        boot=BootTaking(house.gateway, house.clock),
    )
    return Moving(house.brains, house.router, house.memory_import, ways, KINDS, house.clock)
