"""Ledgers: show and verify the record of a brain."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import LedgerBroken
from hindbrain.domain.ledger import Break, Entry, breaks
from hindbrain.services.brains import Brains
from hindbrain.services.card_record import CardRecord
from hindbrain.services.gateway import recorded
from hindbrain.services.message_record import MessageRecord
from hindbrain.services.mission_record import MissionRecord
from hindbrain.services.routing import Router
from hindbrain.stores.port import BrainStore

__all__ = ["Ledgers"]

_BEFORE_ALL = -(2**62)  # the chain begins at 1; what was put in below it must be seen


class Ledgers:
    """The readers of the chain."""

    def __init__(self, brains: Brains, router: Router) -> None:
        self._brains = brains
        self._router = router

    def verify(self, caller: Caller, *, tier: str | None) -> dict[str, Any]:
        """Walk the whole chain and name every place where it does not hold."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            # The texts first: whatever was written until now has its entry before the head that is read next.
            texts, cards = _texts(opened.store), CardRecord(opened.store)
            head = opened.store.head()
            messages, missions = MessageRecord(opened.store, head[0]), MissionRecord(opened.store, head[0])
            changed: list[Break] = []
            broken = breaks(_compared(_walk(opened.store, head[0]), texts, (cards, messages, missions), changed), head=head)
            broken += [*changed, *_beyond(opened.store, head[0]), *cards.breaks(), *messages.breaks(), *missions.breaks()]
            broken += [Break(seq=seq, reason=f"the entry that wrote {slug} is missing") for seq, (slug, _) in texts.items()]
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "hindbrain-ledger-verify-v0",
            "brain": brain.name,
            "entries": head[0],
            "head": head[1],
            "intact": not broken,
            "breaks": [{"seq": one.seq, "reason": one.reason} for one in broken],
            "rendered": f"{head[0]} entries, " + ("the chain holds." if not broken else f"broken at {len(broken)} place(s)."),
        }
        if broken:
            first = f"entry {broken[0].seq}: {broken[0].reason}"
            answer |= LedgerBroken(
                f"the record of {brain.display_name} does not hold at {len(broken)} place(s); the first is {first}",
                fix="keep a copy of the home as it is, then compare the record with an export or a backup",
            ).answer()
        return answer

    def show(self, caller: Caller, *, after: int, limit: int, act: str | None, tier: str | None) -> dict[str, Any]:
        """Entries in order, with the claim's present label where it still has one."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            entries = opened.store.entries(after=after, limit=limit, act=act)
            names = opened.store.names({e.subject.removeprefix("claim:") for e in entries if e.subject.startswith("claim:")})
        rows = [
            {
                "seq": e.seq,
                "at": e.at,
                "actor": e.actor,
                "channel": e.channel,
                "act": e.act,
                "subject": e.subject,
                "slug": names.get(e.subject.removeprefix("claim:")),
                "payload": json.loads(e.payload),
                "hash": e.hash,
            }
            for e in entries
        ]
        return {"ok": True, "schema": "hindbrain-ledger-show-v0", "brain": brain.name, "entries": rows}


def _texts(store: BrainStore) -> dict[int, tuple[str, str]]:
    """For every version that is kept: the entry that wrote it, its label, and what that entry must say of its text."""
    salt = store.meta("salt") or ""
    versions = (*store.each_live(), *store.ended(limit=10_000_000))
    return {one.version: (one.slug, recorded(salt, one.text)) for one in versions}


def _compared(
    entries: Iterable[Entry],
    texts: dict[int, tuple[str, str]],
    records: tuple[CardRecord, MessageRecord, MissionRecord],
    changed: list[Break],
) -> Iterator[Entry]:
    """The same entries; on the way each is held against what it wrote. What stays in `texts` has no entry."""
    for entry in entries:
        for record in records:
            record.see(entry)
        slug, digest = texts.pop(entry.seq, ("", ""))
        if digest and f'"digest":"{digest}"' not in entry.payload:
            changed.append(Break(seq=entry.seq, reason=f"the text of {slug} is not the one it wrote"))
        yield entry


def _beyond(store: BrainStore, last: int) -> list[Break]:
    """Entries after the head. One that was just appended moved the head with it; one that was put in by hand did not."""
    later = store.entries(after=last, limit=1)
    return [Break(seq=one.seq, reason="stands after the recorded head") for one in later if one.seq > store.head()[0]]


def _walk(store: BrainStore, last: int) -> Iterator[Entry]:
    after = _BEFORE_ALL
    while after < last:
        batch = store.entries(after=after, limit=5_000)
        if not batch:
            return
        yield from (entry for entry in batch if entry.seq <= last)
        after = batch[-1].seq
