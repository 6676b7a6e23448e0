"""The comparison of a claim with what it cites."""

from typing import Literal

from hindbrain.domain.task import Record

__all__ = ["Comparison", "SecondReading"]


class SecondReading(Record, frozen=True, kw_only=True):
    """What a model said about a claim that the comparison found shown. It can lower a verdict and never raise one; `no_answer`
    lowers nothing."""

    verdict: Literal["supported", "not_shown", "contradicted", "no_answer"]
    reader: str = ""  # provider and model
    why: str = ""


class Comparison(Record, frozen=True, kw_only=True):
    """How a claim was compared with what it cites. Without a reason everything that can be compared was found."""

    reason: Literal["", "contradicted_by_source", "not_shown_by_source", "nothing_checkable", "doubted_by_second_reader"] = ""
    compared: tuple[str, ...] = ()  # statements and runs that were read
    matched: tuple[str, ...] = ()  # words of the claim that they show
    contradicted: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()  # words of the claim that were not looked for
    second_reading: SecondReading | None = None
