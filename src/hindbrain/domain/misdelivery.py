"""Misdelivery: memory that went wrong on its way, told by a letter. Five kinds and no sixth; who reports one names which."""

from enum import StrEnum

__all__ = ["MISDELIVERY", "REJECTED", "Misdelivery"]

MISDELIVERY = "memory_misdelivery"  # the class of such a letter
REJECTED = "rejected"  # the verdict of a closing letter by which the event was none


class Misdelivery(StrEnum):
    """What happened to the memory."""

    LEAK = "leak"  # a claim of one project appeared in another's beat without promotion
    FALSE_ABSENCE = "false_absence"  # the beat claimed no memory although the store has live claims
    WRONG_STORE_WRITE = "wrong_store_write"  # a write landed in a store that the caller's root does not own
    MISATTRIBUTION = "misattribution"  # provenance or counters were shown for the wrong brain or agent
    VANISHED = "vanished"  # a store on disk was in no listing and no recall
