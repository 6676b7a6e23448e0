"""Battery: a confusion that happened once, as a case that can be run again. Values and their grammar; runs nothing."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hindbrain.domain.misdelivery import Misdelivery

__all__ = ["CASE_SCHEMA", "OWN", "Case", "Expectation", "Failing", "Probe", "Verdict"]

CASE_SCHEMA = "hindbrain-battery-case-v0"
OWN = "$own"  # in a case: the root of the brain it is run against. Cases travel with git, and roots do not

Text = Annotated[str, Meta(min_length=1)]


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What must hold of one answer. All that is given must."""

    absent: tuple[Text, ...] = ()  # no row of the answer has this text or slug
    present: tuple[Text, ...] = ()  # some row has it
    only_own_stores: bool = False  # every row lies in the caller's own brain or in the medulla
    memory_told: bool = False  # memory that exists is counted and shown, never called absent
    partitioned: bool = False  # the counters of the rows add up to the totals, and no row wears a total
    listed: tuple[Text, ...] = ()  # roots (or $own, or medulla) that the listing shows, and shows as readable
    equals: dict[str, str | int | bool | None] = {}  # dotted path in the answer -> value
    at_least: dict[str, int] = {}  # dotted path in the answer -> smallest count

    @property
    def says_nothing(self) -> bool:
        return self == Expectation()


class Probe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One question and what must hold of its answer."""

    call: str
    arguments: dict[str, Any] = {}
    expect: Expectation
    where: str | None = None  # only against the brain of this name; without it against any


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case of a battery: what happened, and the questions that would show it again."""

    schema: str = CASE_SCHEMA
    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,79}$")]
    kind: Misdelivery
    date: Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    letter: Annotated[str, Meta(pattern=r"^[0-9a-f]{12}$")] | None = None  # the letter that told of it
    synthetic: bool = False  # nothing of the kind has happened yet; the case keeps its detector alive
    what: str = ""
    probes: Annotated[tuple[Probe, ...], Meta(min_length=1)]


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """One expectation that did not hold: which question, which expectation, and what was seen instead."""

    call: str
    expected: str
    seen: str


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one case."""

    id: str
    kind: str
    battery: str  # project or medulla
    passed: bool
    asked: int  # how many questions were put
    failing: tuple[Failing, ...] = ()
