"""Faults of evidence: rows of an older release that hold Hindbrain's own text, or are labelled human though no person said them.

Reading finds them and changes nothing. A repair copies the database first; the rows it replaces can be brought back."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import EventType, Role
from hindbrain.domain.evidence import Evidence, EvidenceId, Provenance, SourceType, evidence_id, is_machine
from hindbrain.domain.ledger import Act
from hindbrain.engines.noise import stripped
from hindbrain.engines.own_text import parts_without_own_text
from hindbrain.policy.evidence import NORMALIZE_VERSION, OVERLAP
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_acts import tell
from hindbrain.services.evidence import DELETED
from hindbrain.services.evidence_batch import Batches
from hindbrain.services.evidence_guard import row_print
from hindbrain.services.gateway import Gateway, recorded
from hindbrain.stores.migrations import copy_name
from hindbrain.stores.port import Mark, Writer

__all__ = ["EvidenceFault", "EvidenceFaults", "fault_texts"]

_NAMED = 3  # rows named one by one; the number says how many there are
_MARK = 16  # digits of a digest in the ledger
_ENTRIES = 10_000_000
_REASON = "doctor --fix"
_FIX = "hindbrain doctor --fix"
_HOST_MARK = re.compile(r"</?system-reminder>")  # what an older reader left of a mark whose other half stood in our text


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceFault:
    """One row, and what it should be instead; None if nothing of it is left."""

    row: Evidence
    instead: Evidence | None

    @property
    def own_text(self) -> bool:
        """Return True if the row holds text that Hindbrain put into a session, False if only its label is wrong."""
        return self.instead is None or self.instead.content != self.row.content


def fault_texts(faults: Sequence[EvidenceFault]) -> list[tuple[str, str, str]]:
    """What doctor reports of them: kind, text and fix."""
    own = [one.row.id for one in faults if one.own_text]
    label = [one.row.id for one in faults if not one.own_text]
    found = []
    if own:
        found.append(("own_text", f"{_rows(own)} text that Hindbrain itself put into a session", _FIX))
    if label:
        found.append(("not_human", f"{_rows(label)} the label human, but an assistant or an agent wrote the text", _FIX))
    return found


def _rows(ids: Sequence[EvidenceId]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"{len(ids)} row(s) of evidence ({', '.join(ids[:_NAMED])}{more}) have"


class EvidenceFaults:
    """Finds such rows in a brain, and replaces them."""

    def __init__(self, gateway: Gateway, batches: Batches, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    def found(self, opened: OpenBrain) -> list[EvidenceFault]:
        """Every faulty row. Rows that this release wrote are not looked at: it keeps no such text."""
        rows = [row for row in opened.store.each_evidence() if row.normalize_version < NORMALIZE_VERSION]
        if not rows:
            return []
        agents = _AgentWords.of(opened, rows)
        faults = []
        for _, several in groupby(sorted(rows, key=_order), key=_whole):
            parts = list(several)
            for row, content in zip(parts, _cleaned(parts), strict=True):
                provenance = Provenance.RUNTIME if agents.wrongly_human(row) else row.provenance
                if content == row.content and provenance is row.provenance:
                    continue
                faults.append(EvidenceFault(row=row, instead=_instead(row, content, provenance) if content else None))
        return faults

    def copy_name(self, opened: OpenBrain) -> Path:
        """Where a repair that begins now keeps the database as it was. Forgetting removes such copies."""
        return opened.directory / copy_name(self._clock())

    def repair(self, caller: Caller, opened: OpenBrain, copy: Path) -> int:
        """Copy the database, then replace every faulty row. Returns how many there were."""
        opened.store.backup(copy)
        salt, now = self._gateway.salt(opened), self._clock()
        with opened.store.writing() as writer:
            faults = self.found(opened)  # again, where no other writer can come between
            writer.append(_act(caller, salt, [one.row.id for one in faults], now))
            writer.delete_evidence([one.row.id for one in faults], at=now)
            for one in faults:
                writer.put_tombstone(row_print(salt, one.row.id), at=now, by=caller.agent, reason=_REASON)
                writer.put_mark(
                    Mark(slug=one.row.id, kind=DELETED, at=now, by=caller.agent, channel=caller.channel.value, note=_REASON)
                )
            fresh = [one.instead for one in faults if one.instead is not None]
            writer.put_evidence([(row, self._batches.words(row)) for row in fresh])
            self._batches.put_anew(opened, writer, [one.row for one in faults], at=now, documents=True)
            for one in faults:
                self._cite(caller, opened, writer, one, salt, now)
        return len(faults)

    @staticmethod
    def _cite(caller: Caller, opened: OpenBrain, writer: Writer, fault: EvidenceFault, salt: str, now: int) -> None:
        """Cards that cite the row cite what replaces it. Only a person's word teaches, so that citation is not moved."""
        if (instead := fault.instead) is None:
            return
        for link in opened.store.links(evidence=[fault.row.id]):
            card = writer.card(link.card_id)
            teaches = link.role is Role.TEACHING and instead.provenance is not Provenance.HUMAN
            if card is not None and not teaches and writer.put_link(replace(link, evidence_id=instead.id, at=now)):
                told = {"evidence_id": instead.id, "role": link.role.value}
                tell(writer, caller, card, EventType.LINKED, salt=salt, at=now, reason=_REASON, metadata=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgentWords:
    """What the ledger shows of who wrote rows: digests of texts by agents, and by people."""

    salt: str
    recorded: frozenset[str] = frozenset()
    ingested: frozenset[str] = frozenset()
    by_people: frozenset[str] = frozenset()

    @classmethod
    def of(cls, opened: OpenBrain, rows: Iterable[Evidence]) -> "_AgentWords":
        salt = opened.store.meta("salt")
        if salt is None or not any(row.provenance is Provenance.HUMAN for row in rows):
            return cls(salt=salt or "")
        found: dict[str, set[str]] = {"evidence.record": set(), "evidence.ingest": set(), "": set()}
        for entry in opened.store.entries(act="evidence.", limit=_ENTRIES):
            if entry.act in found:
                found["" if entry.channel == Channel.HUMAN else entry.act].update(json.loads(entry.payload).get("digests", ()))
        return cls(
            salt=salt,
            recorded=frozenset(found["evidence.record"]),
            ingested=frozenset(found["evidence.ingest"]),
            by_people=frozenset(found[""]),
        )

    def wrongly_human(self, row: Evidence) -> bool:
        """Return True if a row has the label human and no person wrote it."""
        if row.provenance is not Provenance.HUMAN:
            return False
        if is_machine(row.role) and row.speaker is None:
            return True
        digest = recorded(self.salt, row.content)[:_MARK]
        if digest in self.by_people:
            return False
        # The log of a session is read by a hook, in which a person may well have spoken.
        if row.source_type is SourceType.CONVERSATION:
            return digest in self.recorded and digest not in self.ingested
        return digest in self.recorded or digest in self.ingested


def _whole(row: Evidence) -> tuple[str, ...]:
    """What a row is a part of: a message, a document, or nothing but itself."""
    place = (row.anchor.id, row.wing, row.room or "", row.field, row.source, row.thread or "")
    if row.source_type is SourceType.PROJECT and row.thread is not None:
        return place
    return (*place, "message", row.message) if row.message else (*place, "row", row.id)


def _order(row: Evidence) -> tuple[object, ...]:
    return (_whole(row), row.position, row.chunk_index)


def _cleaned(rows: Sequence[Evidence]) -> list[str]:
    """The contents of the rows of one text without Hindbrain's own; of a conversation then without its host's too."""
    contents = [row.content for row in rows]
    shown = [content[_shared(before, content) :] for before, content in zip(["", *contents], contents, strict=False)]
    left = parts_without_own_text(shown)
    return [row.content if kept == part else _rest(row, kept) for row, part, kept in zip(rows, shown, left, strict=True)]


def _rest(row: Evidence, kept: str) -> str:
    """What is kept of a row that held text of ours; marks that stood around it say nothing by themselves."""
    text = _HOST_MARK.sub("", stripped(kept)[0]).strip() if row.source_type is SourceType.CONVERSATION else kept
    return text if any(letter.isalnum() for letter in text) else ""


def _shared(before: str, content: str) -> int:
    """How many characters the windows of a plain text share."""
    return next((size for size in range(min(OVERLAP, len(before), len(content)), 7, -1) if before.endswith(content[:size])), 0)


def _instead(row: Evidence, content: str, provenance: Provenance) -> Evidence:
    made = evidence_id(
        content,
        anchor=row.anchor,
        domain=row.domain,
        field=row.field,
        provenance=provenance,
        wing=row.wing,
        room=row.room,
        thread=row.thread,
        position=row.position,
    )
    source = f"hindbrain://evidence/{made}" if row.source == f"hindbrain://evidence/{row.id}" else row.source
    return replace(row, id=made, content=content, provenance=provenance, source=source, normalize_version=NORMALIZE_VERSION)


def _act(caller: Caller, salt: str, ids: Sequence[EvidenceId], now: int) -> Act:
    return Act(
        act="evidence.repair",
        subject="evidence",
        actor=caller.agent,
        channel=caller.channel,
        at=now,
        payload={"rows": len(ids), "ids": [recorded(salt, id_)[:_MARK] for id_ in ids]},
    )
