"""The comparison of a claim with what it cites."""

from typing import Literal

from hindbrain.domain.task import Record

__all__ = ["Comparison"]


class Comparison(Record, frozen=True, kw_only=True):
    """How a claim was compared with what it cites. Without a reason everything that can be compared was found."""

    reason: Literal["", "contradicted_by_source", "not_shown_by_source", "nothing_checkable"] = ""
    compared: tuple[str, ...] = ()  # passages and runs that were read
    matched: tuple[str, ...] = ()  # words of the claim that they show
    contradicted: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()  # words of the claim that were not looked for
