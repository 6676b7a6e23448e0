"""Drafts: what somebody wants remembered, made into a megram. Fills what is missing, refuses what is no experience, and turns
megrams into what the bus carries and back."""

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from hindbrain.domain.control import Loss
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.experience import Effective, Level, Megram, MegramId, Potentials, Writer
from hindbrain.domain.notes import MegramMore, MegramNote, PotentialsNote, RuleNote
from hindbrain.domain.typed import decoded
from hindbrain.engines.insight import insight_of
from hindbrain.engines.moments import milliseconds, stamped
from hindbrain.policy.experience import DECAYS, QUANTA, RESERVED, quantized

__all__ = [
    "CONTENT_MOST",
    "Draft",
    "check_words",
    "made",
    "normalised",
    "note_of",
    "of_note",
    "potentials_note",
    "rule_note",
    "timed",
]

_STATE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAME_MOST = 512  # characters of a space or an entity
CONTENT_MOST = 8_000
_TAGS_MOST, _TAG_MOST = 16, 64
_ALIAS, _ENTITY = "target:", "path:"  # the other name under which some programs keep what a tool was pointed at


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is known of an experience before it is one. What is None is filled in."""

    space: str
    entity: str
    content: str
    state: str
    f: float | None = None
    sigma: float | None = None
    k: float | None = None
    id: str | None = None
    created_at: int | None = None
    level: Level | None = None
    task_id: str | None = None
    mission_id: str | None = None
    round: int | None = None
    source_event_id: str | None = None
    loss: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    derived_from: tuple[MegramId, ...] = ()
    supersedes: MegramId | None = None


def made(draft: Draft, writer: Writer, *, now: int, clean: Callable[[str], str] = lambda text: text) -> Megram:
    """The megram of a draft. Raises InvalidParams for what cannot be one."""
    level = draft.level or Level.M
    check_words(draft)
    _check_level(draft.state, level, writer)
    f, sigma, k = _numbers(draft, level)
    found = insight_of(draft.content) if "{" in draft.content else None
    return Megram(
        id=MegramId(draft.id or str(uuid.uuid4())),
        space=draft.space,
        entity=normalised(draft.entity),
        content=clean(draft.content.replace("\x00", ""))[:CONTENT_MOST],
        state=draft.state,
        f=f,
        sigma=sigma,
        k=k,
        created_at=now if draft.created_at is None else draft.created_at,
        writer=writer,
        level=level,
        task_id=draft.task_id,
        mission_id=draft.mission_id,
        round=draft.round,
        source_event_id=draft.source_event_id,
        loss=draft.loss,
        category=draft.category or (found.category if found else None),
        tags=tuple(dict.fromkeys((*draft.tags, *(found.tags if found else ())))),
        derived_from=draft.derived_from,
        supersedes=draft.supersedes,
    )


def normalised(entity: str) -> str:
    """One prefix for what a tool was pointed at."""
    return _ENTITY + entity.removeprefix(_ALIAS) if entity.startswith(_ALIAS) else entity


def check_words(draft: Draft | Megram) -> None:
    """The form of every text but the content: some of them stand in the ledger, where nothing can be taken back."""
    for name, value in (("space", draft.space), ("entity", draft.entity)):
        if not value.strip() or len(value) > _NAME_MOST or any(ord(char) < 32 for char in value):
            raise InvalidParams(f"{name} is one line of 1 to {_NAME_MOST} characters", fix=f"give another {name}")
    if not _STATE.fullmatch(draft.state):
        raise InvalidParams(f"{draft.state[:80]!r} is no state", fix="use lower-case letters, digits and underscores")
    if not draft.content.strip():
        raise InvalidParams("the content is blank", fix="say what happened")
    if len(draft.tags) > _TAGS_MOST or any(not tag.strip() or len(tag) > _TAG_MOST for tag in draft.tags):
        raise InvalidParams(f"tags are at most {_TAGS_MOST} words of {_TAG_MOST} characters", fix="leave some out")


def _check_level(state: str, level: Level, writer: Writer) -> None:
    if level is Level.T and writer is not Writer.OPERATOR:
        raise InvalidParams("what all thinking rests on does not change by experience", fix="a person sets it")
    if level is Level.K and writer is Writer.SOLVER:
        raise InvalidParams("an outcome begins as an episode", fix="write level M; it becomes more by what follows")
    if state in RESERVED and level is not Level.M:
        raise InvalidParams(f"a {state} is no rule", fix="write it at level M")


def _numbers(draft: Draft, level: Level) -> tuple[float, float, float]:
    """The table's numbers for a known state at levels that fade; explicit ones for every other."""
    given = (draft.f, draft.sigma, draft.k)
    if draft.state in RESERVED:
        fixed = RESERVED[draft.state]
        return _same(draft.state, given, (fixed.f, fixed.sigma, fixed.k))
    if draft.state in QUANTA and level in (Level.M, Level.K):
        return _same(draft.state, given, quantized(draft.state))
    if draft.f is None or draft.sigma is None or draft.k is None:
        f, sigma, k = quantized(draft.state)
        given = (f, sigma, 0.0 if level in (Level.C, Level.T) else k)
    f, sigma, k = cast(tuple[float, float, float], given)
    if draft.state in QUANTA and k not in DECAYS:
        raise InvalidParams(f"k {k} is none of {DECAYS}", fix="leave the numbers out")
    return f, sigma, k


def _same(state: str, given: tuple[float | None, ...], table: tuple[float, float, float]) -> tuple[float, float, float]:
    if any(one is not None and one != fixed for one, fixed in zip(given, table, strict=True)):
        raise InvalidParams(f"the state {state!r} has its numbers: f, sigma and k are {table}", fix="leave them out")
    return table


# -- the bus -----------------------------------------------------------------------------------------------------------


def timed(text: str) -> int:
    """Milliseconds of a time of the wire."""
    if (told := milliseconds(text)) is None:
        raise InvalidParams(f"{text[:40]!r} is no time", fix="give it as 2026-01-31T12:00:00.000Z")
    return told


def of_note(note: MegramNote) -> Draft:
    """A draft of what the bus carries."""
    x = note.x
    return Draft(
        id=note.id,
        level=Level(note.level),
        created_at=timed(note.created_at),
        space=note.space,
        entity=note.entity,
        content=note.content,
        state=note.state,
        f=note.f,
        sigma=note.sigma,
        k=note.k,
        task_id=x.task_id,
        mission_id=x.mission_id,
        round=x.round,
        source_event_id=x.source_event_id,
        loss=msgspec.json.encode(x.loss).decode() if x.loss is not None else None,
        category=x.category,
        tags=x.tags,
        derived_from=tuple(MegramId(one) for one in x.derived_from),
        supersedes=MegramId(x.supersedes) if x.supersedes else None,
    )


def note_of(one: Effective) -> MegramNote:
    """A megram as it counts now, as the bus carries it."""
    megram = one.megram
    return MegramNote(
        id=megram.id,
        level=one.level.value,
        created_at=stamped(megram.created_at),
        last_recalled_at=stamped(one.last_recalled_at) if one.last_recalled_at is not None else None,
        space=megram.space,
        entity=megram.entity,
        content=megram.content,
        state=megram.state,
        f=megram.f,
        sigma=megram.sigma,
        k=one.k,
        x=MegramMore(
            writer=megram.writer.value,
            task_id=megram.task_id,
            mission_id=megram.mission_id,
            round=megram.round,
            source_event_id=megram.source_event_id,
            loss=decoded(megram.loss, Loss) if megram.loss else None,
            category=cast(Any, megram.category),
            tags=megram.tags,
            derived_from=megram.derived_from,
            supersedes=megram.supersedes,
        ),
    )


def rule_note(one: Effective) -> RuleNote:
    megram = one.megram
    return RuleNote(id=megram.id, space=megram.space, entity=megram.entity, content=megram.content, sigma=megram.sigma)


def potentials_note(sums: Potentials) -> PotentialsNote:
    return PotentialsNote(attention=sums.attention, decision=sums.decision, action=sums.action.value)
