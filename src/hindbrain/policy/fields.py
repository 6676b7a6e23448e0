"""Fields: recommended names for what a memory is about. Guidance only: any other name is as good, if it is always the same."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hindbrain.domain.evidence import Domain

__all__ = ["FIELDS", "RECOMMENDED", "Field", "hint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One recommended name, for whom it is meant, and what belongs under it."""

    field: str
    domains: tuple[Domain, ...]
    description: str
    examples: tuple[str, str]


FIELDS: tuple[Field, ...] = (
    Field(
        field="general",
        domains=tuple(Domain),
        description="What no other name fits, or what fits all of them.",
        examples=("a decision about how a team works", "a note without a subject"),
    ),
    Field(
        field="epistemics",
        domains=(Domain.GLOBAL,),
        description="How to know: what counts as proof, and what does not.",
        examples=("a test that was never seen failing proves nothing", "two sources that copy each other are one"),
    ),
    Field(
        field="software-engineering",
        domains=(Domain.PROJECT, Domain.SKILL),
        description="How software is designed, built and changed.",
        examples=("retries belong at the edge", "a migration is added, never edited"),
    ),
    Field(
        field="debugging",
        domains=(Domain.PROJECT, Domain.SKILL),
        description="How a fault is found, and what a symptom meant.",
        examples=("a timeout that was a full disk", "bisect before reading the whole log"),
    ),
    Field(
        field="tooling",
        domains=(Domain.PROJECT, Domain.AGENT, Domain.SKILL),
        description="Commands, build systems and programs, and how they behave here.",
        examples=("the tests need two workers at most", "this linter reads its settings from another file"),
    ),
    Field(
        field="research",
        domains=(Domain.PROJECT, Domain.AGENT, Domain.GLOBAL),
        description="What was found outside: papers, documentation, measurements of others.",
        examples=("findings of a report with their sources", "a benchmark that contradicts ours"),
    ),
    Field(
        field="writing",
        domains=(Domain.PROJECT, Domain.SKILL),
        description="How texts are written: documentation, messages, names.",
        examples=("error messages name the next step", "headings are sentences"),
    ),
    Field(
        field="diary",
        domains=(Domain.AGENT,),
        description="What an agent did and saw on a day.",
        examples=("the summary of a session", "what was tried and left"),
    ),
)

RECOMMENDED = tuple(one.field for one in FIELDS)


def _folded(field: str) -> str:
    """A name without its case, its spaces, and the s of a plural."""
    return re.sub(r"[\s_-]+", "", field).casefold().removesuffix("s")


def hint(field: str, used: Iterable[str] = ()) -> str | None:
    """Say so when a name is another spelling of one that is recommended or in use; None when it is not."""
    known = (*RECOMMENDED, *used)
    if field in known:
        return None
    near = next((one for one in known if _folded(one) == _folded(field)), None)
    return f"the field {field!r} is kept as it is; {near!r} is in use and may mean the same" if near else None
