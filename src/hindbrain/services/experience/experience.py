"""Experience of one brain: written without waiting, read as data. Who may do which is in `policy.experience_rights`; nothing here
words a prompt, and nothing stored is edited."""

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from hindbrain.domain.caller import Channel
from hindbrain.domain.errors import BoundaryViolation, HindbrainError
from hindbrain.domain.experience import Effective, EventKind, Level, Megram, MegramEvent, MegramId, Pair, Writer
from hindbrain.domain.ledger import Act
from hindbrain.domain.message import BusMessage, Role
from hindbrain.domain.notes import MegramNote, MemoryQuery, MemoryResponse, PotentialsNote, RuleNote
from hindbrain.engines.hygiene import redacted
from hindbrain.engines.potentials import attention, broken_law, settled
from hindbrain.policy.experience import (
    BANKRUPTCY,
    FEEDBACK,
    GLOBAL_ENTITY,
    GLOBAL_SPACE,
    GLOBAL_TAGS,
    LAW_SPACE,
    LAWS,
    RESERVED,
    STANDING_MOST,
    law_lines,
)
from hindbrain.policy.experience_rights import ASKS, GLOBAL_ONLY, WRITERS
from hindbrain.services.evidence_guard import traces_of
from hindbrain.services.experience.drafts import Draft, made, note_of, of_note, potentials_note, rule_note
from hindbrain.services.experience.ports import Deposits, Durable
from hindbrain.services.gateway import recorded
from hindbrain.stores.port import BrainStore, MegramFilter
from hindbrain.stores.port import Writer as Transaction

__all__ = ["Dreams", "Experience"]

LOG = logging.getLogger("hindbrain.experience")

_CHANNELS = {Writer.SOLVER: Channel.RUNTIME, Writer.DREAMER: Channel.DREAM, Writer.OPERATOR: Channel.HUMAN}
_EPISODES = (Level.M.value, Level.K.value)
_LESSONS = (*_EPISODES, Level.C.value)
_MOST = 100  # megrams of one answer
_RANKED = 400  # tagged megrams that are compared
_WITHHELD = "[…]"


class Dreams(Protocol):
    """What is told when something was written, and what ends with the brain."""

    def wrote(self, pair: Pair, durable: Durable | None = None) -> None: ...

    def close(self) -> None: ...


class Experience:
    """The experience of an open brain. `dreams` hears of each write; `note` of what is to be named to the auditor."""

    def __init__(
        self,
        store: BrainStore,
        deposits: Deposits,
        *,
        clock: Callable[[], int],
        salt: str,
        note: Callable[[str, str], None] = lambda kind, detail: LOG.warning("%s: %s", kind, detail),
    ) -> None:
        self._store = store
        self._deposits = deposits
        self._clock = clock
        self._salt = salt
        self._note = note
        self.dreams: Dreams | None = None
        self._laid = False

    # -- writing -----------------------------------------------------------------------------------------------------

    def write(self, draft: Draft, *, by: Role | Writer) -> Durable:
        """Hand an experience over and return at once; whether it became durable, its ticket tells."""
        megram = self._made(draft, self._writer(by))
        ticket = self._deposits.put(lambda writer: self.deposit(writer, megram), droppable=True)
        if self.dreams is not None:
            self.dreams.wrote(megram.pair, ticket)
        return ticket

    def deposit(self, writer: Transaction, megram: Megram, *, actor: str | None = None) -> bool:
        """Put a megram into a transaction with the act that records it: the one way in. False when its id is there already."""
        self._lay_laws(writer)
        if not writer.put_megram(self._without_buried(megram)):
            return False
        writer.append(
            Act(
                act="megram.written",
                subject=f"megram:{megram.id}",
                actor=actor or megram.writer.value,
                channel=_CHANNELS[megram.writer],
                at=self._clock(),
                payload={
                    "id": megram.id,
                    "pair": recorded(self._salt, f"{megram.space}\x1f{megram.entity}"),
                    "state": megram.state,
                    "level": megram.level.value,
                },
            )
        )
        return True

    def heard(self, writer: Transaction, message: BusMessage, note: MegramNote) -> None:
        """A megram of the controller, in the transaction that appends its message."""
        draft = of_note(note)
        draft = replace(
            draft,
            source_event_id=draft.source_event_id or message.id,
            task_id=draft.task_id or message.task_id,
            mission_id=draft.mission_id or message.mission_id,
        )
        megram = self._made(draft, self._writer(message.sender))
        if self.deposit(writer, megram) and self.dreams is not None:
            self.dreams.wrote(megram.pair)  # it looks in a transaction of its own, so after this one

    def record_negative_feedback(self, rule_id: str, content: str, *, by: Role | Writer) -> Durable | None:
        """Append what works against a rule, which itself stays as it is. None when there is no such rule."""
        writer = self._writer(by)
        held = self._store.megrams([MegramId(rule_id)]).get(MegramId(rule_id))
        if held is None or not held.megram.sigma:
            return None
        return self.write(feedback(held, content), by=writer)

    def close(self) -> bool:
        """Take nothing more, write what waits, dream once more, end. False when the store would not take everything."""
        drained = self._deposits.close()
        if self.dreams is not None:
            self.dreams.close()
        return drained

    @property
    def dropped(self) -> int:
        """How many were lost because neither queue nor overflow had room; never silently."""
        return self._deposits.dropped

    def _made(self, draft: Draft, writer: Writer) -> Megram:
        return made(draft, writer, now=self._clock(), clean=redacted)

    def _writer(self, by: Role | Writer) -> Writer:
        writer = WRITERS.get(by)
        if writer is None:
            self._note("boundary_violation", f"{by.value} wrote experience")
            raise BoundaryViolation(
                f"{by.value} may not write experience", fix="outcomes are judged by R7; a person may remember"
            )
        return writer

    def _without_buried(self, megram: Megram) -> Megram:
        """A rejected or forgotten value does not come back as part of an experience."""
        content = megram.content
        for start, end in self.buried(megram):
            content = content[:start] + _WITHHELD + content[end:]
        return replace(megram, content=content)

    def buried(self, megram: Megram) -> list[tuple[int, int]]:
        """Where a megram says what was rejected or forgotten here, from its end to its beginning."""
        traces = traces_of(megram.content, self._salt)
        hit = self._store.tombstones(list(dict.fromkeys(mark for mark, _, _ in traces)))
        spans: list[tuple[int, int]] = []
        for start, end in sorted({(start, end) for mark, start, end in traces if mark in hit}):
            if spans and start < spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        return spans[::-1]

    def _lay_laws(self, writer: Transaction) -> None:
        """The laws are there before anything else, and one that is worded anew takes the place of the old one."""
        if self._laid:
            return
        laws = {}
        for law, line in zip(LAWS, law_lines(), strict=True):
            id_ = MegramId(str(uuid.uuid5(uuid.NAMESPACE_URL, f"hindbrain:law:{line}")))
            laws[id_] = Draft(
                id=id_,
                space=LAW_SPACE,
                entity=f"law:{law.number}",
                content=line,
                state="law",
                level=Level.T,
                f=1.0,
                sigma=1.0,
                k=0.0,
            )
        new = [writer.put_megram(made(draft, Writer.OPERATOR, now=self._clock())) for draft in laws.values()]
        for one in self._store.effective(MegramFilter(space=LAW_SPACE, levels=(Level.T.value,))):
            if one.megram.id not in laws:
                writer.put_megram_event(MegramEvent(megram_id=one.megram.id, kind=EventKind.SUPERSEDED, at=self._clock()))
        self._laid = not any(new)  # a transaction may fail after this: only what is found there is known to be there

    # -- reading -----------------------------------------------------------------------------------------------------

    def answer(self, query: MemoryQuery, *, by: Role) -> MemoryResponse:
        """What the bus asks for. A store that fails is told as an error; finding nothing is none."""
        sops: tuple[RuleNote, ...] = ()
        sums: PotentialsNote | None = None
        megrams: tuple[MegramNote, ...] = ()
        try:
            if query.kind == "C":
                sops = self.query_c(query.space, query.entity, by=by)
            elif query.kind == "MK":
                sums = self.query_mk(query.space, query.entity, by=by)
            elif query.kind == "recent":
                megrams = self.query_recent(query.space, query.entity, query.n, by=by)
            elif query.kind == "tags":
                megrams = self.query_by_tags(query.tags, query.n, by=by)
            else:
                megrams = self.query_recent_global(query.n, by=by)
        except BoundaryViolation:
            raise
        except (HindbrainError, OSError) as failure:
            return MemoryResponse(query_id=query.query_id, error=str(failure))
        return MemoryResponse(query_id=query.query_id, sops=sops, potentials=sums, megrams=megrams)

    def standing(self) -> tuple[str, ...]:
        """What a person set at level T, the oldest first: it belongs into every system prompt. The laws stand there already, and
        an entry that asks for a breach of one is kept back."""
        held = self._store.effective(MegramFilter(levels=(Level.T.value,)), limit=STANDING_MOST)
        found = [one.megram for one in held if one.megram.space != LAW_SPACE]
        kept = []
        for one in sorted(found, key=lambda megram: (megram.created_at, megram.id)):
            if (law := broken_law(one.content, one.sigma)) is not None:
                self._note("law_conflict", f"{one.id} asks for a breach of law {law.number}")
            else:
                kept.append(" ".join(one.content.split()))
        return tuple(kept)

    def query_c(self, space: str, entity: str, *, by: Role) -> tuple[RuleNote, ...]:
        """The rules of a pair; that they were asked for lets their age begin anew. One that would break a law is kept back."""
        pair = self._asked("C", by, Pair(space=space, entity=entity))
        held = list(self._store.effective(MegramFilter(pair=pair, levels=(Level.C.value,)), limit=_MOST))
        lawful = []
        for one in held:
            if (law := broken_law(one.megram.content, one.megram.sigma)) is not None:
                self._note("law_conflict", f"{one.megram.id} asks for a breach of law {law.number}")
            else:
                lawful.append(one)
        ids, now = [one.megram.id for one in lawful], self._clock()
        if ids:
            self._deposits.put(lambda writer: writer.recall_megrams(ids, at=now), droppable=True)
        return tuple(map(rule_note, lawful))

    def query_mk(self, space: str, entity: str, *, by: Role) -> PotentialsNote:
        """How much a pair deserves attention, which way it points, and what that advises."""
        sums = self._store.potentials(self._asked("MK", by, Pair(space=space, entity=entity)), at=self._clock())
        return potentials_note(settled(sums.attention, sums.decision))

    def query_space(self, space: str, *, by: Role) -> PotentialsNote:
        """The same over all entities of a space: what is thought of a tool."""
        self._asked("MK", by, Pair(space=space, entity=GLOBAL_ENTITY))
        sums = self._store.space_potentials(space, at=self._clock())
        return potentials_note(settled(sums.attention, sums.decision))

    def query_recent(self, space: str, entity: str, n: int, *, by: Role) -> tuple[MegramNote, ...]:
        """The newest episodes of a pair that no rule carries, newest first."""
        pair = self._asked("recent", by, Pair(space=space, entity=entity))
        return self._noted(MegramFilter(pair=pair, levels=_EPISODES), n)

    def query_recent_global(self, n: int, *, by: Role) -> tuple[MegramNote, ...]:
        """The newest lessons whatever they are about."""
        self._asked("recent_global", by)
        return self._noted(MegramFilter(levels=_LESSONS), n)

    def query_by_tags(self, tags: Sequence[str], limit: int, *, by: Role) -> tuple[MegramNote, ...]:
        """What carries any of these tags or a global one: those first that carry most of them with most attention left."""
        self._asked("tags", by)
        wanted, now = dict.fromkeys((*tags, *GLOBAL_TAGS)), self._clock()
        found = [
            one
            for one in self._store.megrams_tagged(list(wanted), limit=_RANKED)
            if one.level is not Level.T and one.megram.state not in RESERVED
        ]

        def rank(one: Effective) -> tuple[float, int, str]:
            shared = len(wanted.keys() & set(one.megram.tags))
            return (-round(shared * attention(one, now), 9), -one.megram.created_at, one.megram.id)

        return tuple(note_of(one) for one in sorted(found, key=rank)[: min(max(limit, 0), _MOST)])

    def _noted(self, where: MegramFilter, n: int) -> tuple[MegramNote, ...]:
        if n <= 0:
            return ()
        return tuple(
            note_of(one) for one in self._store.effective(where, limit=min(n, _MOST)) if one.megram.state not in RESERVED
        )

    def _asked(self, kind: str, by: Role, pair: Pair | None = None) -> Pair:
        whole = Pair(space=GLOBAL_SPACE, entity=GLOBAL_ENTITY)
        if kind not in ASKS.get(by, frozenset()) or (by in GLOBAL_ONLY and pair not in (None, whole)):
            self._note("boundary_violation", f"{by.value} asked for experience ({kind})")
            raise BoundaryViolation(f"{by.value} may not ask for this experience ({kind})", fix="R2 asks while a task is planned")
        return pair or whole


def feedback(rule: Effective, content: str) -> Draft:
    """What works against a rule: as strong as it, with the opposite sign, and fading."""
    held = rule.megram
    return Draft(
        space=held.space,
        entity=held.entity,
        content=content,
        state=FEEDBACK,
        f=held.f,
        sigma=-1.0 if held.sigma > 0 else 1.0,
        k=BANKRUPTCY,
        derived_from=(held.id,),
    )
