"""Ledgers: show and verify the record of a brain."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import LedgerBroken
from hindbrain.domain.ledger import Break, Entry, breaks
from hindbrain.domain.stored import stored_json
from hindbrain.engines.act_words import act_words
from hindbrain.services.brains import Brains
from hindbrain.services.card_record import CardRecord
from hindbrain.services.gateway import recorded
from hindbrain.services.message_record import MessageRecord
from hindbrain.services.mission_record import MissionRecord
from hindbrain.services.routing import Router
from hindbrain.stores.port import BrainStore

__all__ = ["Asked", "Ledgers", "broken_in"]

_BEFORE_ALL = -(2**62)  # the chain begins at 1; what was put in below it must be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which entries are wanted."""

    after: int = 0
    before: int | None = None
    limit: int = 50
    act: str | None = None
    subject: str | None = None
    newest: bool = False


class Ledgers:
    """The readers of the chain."""

    def __init__(self, brains: Brains, router: Router) -> None:
        self._brains = brains
        self._router = router

    def verify(self, caller: Caller, *, tier: str | None) -> dict[str, Any]:
        """Walk the whole chain and name every place where it does not hold."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            head, broken = broken_in(opened.store)
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

    def show(self, caller: Caller, asked: Asked, *, tier: str | None) -> dict[str, Any]:
        """Entries in order, with the claim's present label where it still has one, and the number of the last one there is."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            entries = opened.store.entries(
                after=asked.after,
                before=asked.before,
                limit=asked.limit,
                subject=_subject(opened.store, asked.subject),
                act=asked.act,
                newest=asked.newest,
            )
            last = opened.store.head()[0]
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
                "told": act_words(e.act, payload),
                "payload": payload,
                "hash": e.hash,
            }
            for e in entries
            for payload in [stored_json(e.payload, "ledger")]
        ]
        return {"ok": True, "schema": "hindbrain-ledger-show-v0", "brain": brain.name, "last": last, "entries": rows}


def _subject(store: BrainStore, named: str | None) -> str | None:
    """A subject as entries have it; a claim may be named by its slug."""
    versions = store.versions(named) if named else ()
    return f"claim:{versions[0].claim_id}" if versions else named


def broken_in(store: BrainStore) -> tuple[tuple[int, str], list[Break]]:
    """The end of a chain, and every place where the chain or what hangs on it does not hold."""
    # The texts first: whatever was written until now has its entry before the head that is read next.
    texts, cards = _texts(store), CardRecord(store)
    head = store.head()
    messages, missions = MessageRecord(store, head[0]), MissionRecord(store, head[0])
    changed: list[Break] = []
    broken = breaks(_compared(_walk(store, head[0]), texts, (cards, messages, missions), changed), head=head)
    broken += [*changed, *_beyond(store, head[0]), *cards.breaks(), *messages.breaks(), *missions.breaks()]
    broken += [Break(seq=seq, reason=f"the entry that wrote {slug} is missing") for seq, (slug, _) in texts.items()]
    return head, broken


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
