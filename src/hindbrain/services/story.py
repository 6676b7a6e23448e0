"""Story: the ledger of a brain as a person reads it. Who did what, when and by which channel, and whether the record holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent
from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Card, CardEvent, CardId
from hindbrain.domain.errors import UnknownCard
from hindbrain.domain.ledger import Entry
from hindbrain.domain.stored import stored_json
from hindbrain.engines.act_words import REFUSED, act_words
from hindbrain.engines.fence import fenced
from hindbrain.policy.story import REASON_MAX, STATEMENT_SHOWN, TOLD_OF_TASKS
from hindbrain.services.brains import Brains
from hindbrain.services.evidence import Observations, iso
from hindbrain.services.ledgers import Ledgers
from hindbrain.services.routing import Router
from hindbrain.stores.port import BrainStore

__all__ = ["Asked", "Story", "story_text"]

_PAGE = 1_000
_OUTCOME, _CARD, _MESSAGE = "adoption.recorded", "card.", "control.message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a story is to be about."""

    card_id: str | None
    since: int | None
    limit: int
    newest: bool
    tier: str | None


class Story:
    """`story`."""

    def __init__(self, brains: Brains, router: Router, observations: Observations, ledgers: Ledgers) -> None:
        self._brains = brains
        self._router = router
        self._observations = observations
        self._ledgers = ledgers

    def told(self, caller: Caller, asked: Asked) -> dict[str, Any]:
        """The last acts of a brain, or all acts on one card in every brain it lived in, in the order in which they happened."""
        rows: list[dict[str, Any]] = []
        more = False
        brains = self._concerned(caller, asked)
        for brain in brains:
            with self._brains.use(brain) as opened:
                entries, further = _entries(opened.store, asked)
                rows += _rows(opened.store, brain, entries)
                more = more or further
        rows.sort(key=lambda row: (row["at_ms"], row["brain"], row["seq"]))
        more = more or len(rows) > asked.limit
        rows = rows[-asked.limit :]
        records = [self._record(caller, brain) for brain in brains]
        return {
            "ok": True,
            "schema": "hindbrain-story-v0",
            "card_id": asked.card_id,
            "rows": rows[::-1] if asked.newest else rows,
            "earlier": more,
            "intact": all(one["intact"] for one in records),
            "ledgers": records,
        }

    def _concerned(self, caller: Caller, asked: Asked) -> list[Brain]:
        """The brain that is asked for; of a card each one that has something on record about it."""
        if asked.card_id is None:
            return [self._router.named(caller, asked.tier)]
        found = []
        for brain in self._observations.readable(caller, asked.tier):
            with self._brains.use(brain) as opened:
                if _about(opened.store, asked.card_id):
                    found.append(brain)
        if not found:
            raise UnknownCard(
                f"nothing is on record about {asked.card_id[:80]!r} here", fix="hindbrain knowledge list shows what there is"
            )
        return found

    def _record(self, caller: Caller, brain: Brain) -> dict[str, Any]:
        held = self._ledgers.verify(caller, tier=MEDULLA if brain.root is None else None)
        return {"brain": held["brain"], "entries": held["entries"], "intact": held["intact"], "breaks": held["breaks"]}


# -- entries -----------------------------------------------------------------------------------------------------------


def _entries(store: BrainStore, asked: Asked) -> tuple[list[Entry], bool]:
    """The last entries that are asked for, in order, and whether there are earlier ones."""
    kept: list[Entry] = []
    for entry in _back(store) if asked.card_id is None else reversed(_about(store, asked.card_id)):
        if asked.since is not None and entry.at < asked.since:
            break
        if _is_chatter(entry):
            continue
        if len(kept) == asked.limit:
            return kept[::-1], True
        kept.append(entry)
    return kept[::-1], False


def _is_chatter(entry: Entry) -> bool:
    """What roles say to each other between the beginning and the end of a task."""
    return entry.act == _MESSAGE and stored_json(entry.payload, "ledger").get("type") not in TOLD_OF_TASKS


def _back(store: BrainStore) -> Iterator[Entry]:
    """All entries, the last one first."""
    last = store.head()[0]
    while last > 0:
        first = max(0, last - _PAGE)
        yield from reversed(store.entries(after=first, limit=last - first))
        last = first


def _about(store: BrainStore, card_id: str) -> list[Entry]:
    """Every entry about one card: what was done to it, what its gate refused, and what came of it."""
    found = [*_all(store, subject=card_id)]
    found += [entry for entry in _all(store, act=REFUSED) if stored_json(entry.payload, "ledger").get("card_id") == card_id]
    outcomes = {event.seq for event in store.adoptions() if event.card_id == card_id}
    found += [entry for entry in _all(store, act=_OUTCOME) if entry.seq in outcomes] if outcomes else []
    return sorted(found, key=lambda entry: entry.seq)


def _all(store: BrainStore, *, subject: str | None = None, act: str | None = None) -> Iterator[Entry]:
    after = 0
    while batch := store.entries(after=after, limit=_PAGE, subject=subject, act=act):
        yield from batch
        after = batch[-1].seq


# -- in words ----------------------------------------------------------------------------------------------------------


def _rows(store: BrainStore, brain: Brain, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries with what the brain still knows about them. What was forgotten is told without its words."""
    payloads = [stored_json(entry.payload, "ledger") for entry in entries]
    outcomes: dict[int, AdoptionEvent] = {}
    if any(entry.act == _OUTCOME for entry in entries):
        outcomes = {event.seq: event for event in store.adoptions()}
    about = [_card_of(entry, payload, outcomes) for entry, payload in zip(entries, payloads, strict=True)]
    named = list(dict.fromkeys(CardId(one) for one in about if one is not None))
    cards = store.cards(named)
    touched = dict.fromkeys(CardId(entry.subject) for entry in entries if entry.act.startswith(_CARD))
    events = {event.seq: event for card_id in touched for event in store.card_events(card_id)}
    return [
        _row(brain, entry, payload, card_id, cards, events.get(entry.seq), outcomes.get(entry.seq))
        for entry, payload, card_id in zip(entries, payloads, about, strict=True)
    ]


def _card_of(entry: Entry, payload: Mapping[str, Any], outcomes: Mapping[int, AdoptionEvent]) -> str | None:
    if entry.act.startswith(_CARD):
        return entry.subject
    if entry.seq in outcomes:
        return outcomes[entry.seq].card_id
    found = payload.get("card_id")
    return found if isinstance(found, str) else None


def _row(
    brain: Brain,
    entry: Entry,
    payload: Mapping[str, Any],
    card_id: str | None,
    cards: Mapping[CardId, Card],
    event: CardEvent | None,
    outcome: AdoptionEvent | None,
) -> dict[str, Any]:
    card = cards.get(CardId(card_id)) if card_id is not None else None
    reason = event.reason if event is not None else outcome.note if outcome is not None else None
    return {
        "seq": entry.seq,
        "brain": brain.name,
        "at": iso(entry.at),
        "at_ms": entry.at,
        "actor": entry.actor,
        "channel": entry.channel,
        "act": entry.act,
        "what": _what(entry.act, payload, event),
        "card_id": card_id,
        "statement": _short(card.text, STATEMENT_SHOWN) if card is not None else None,
        "reason": _short(reason, REASON_MAX) if reason else None,
    }


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _what(act: str, payload: Mapping[str, Any], event: CardEvent | None) -> str:
    """An act in words, with what its event adds."""
    return act_words(act, payload) + (_more(stored_json(event.metadata, "card_event")) if event is not None else "")


def _more(metadata: Mapping[str, Any]) -> str:
    """What an event names beside its card: evidence, the person, the kind of reason, the place."""
    told = []
    if "evidence_id" in metadata and "role" in metadata:
        told.append(f"{metadata['evidence_id']} as {metadata['role']}")
    told += [f"on {', '.join(map(str, metadata[name]))}" for name in ("verification_refs", "evidence_refs") if metadata.get(name)]
    told += [f"reviewed by {metadata['reviewer']}"] if metadata.get("reviewer") else []
    told += [str(metadata["reason_type"])] if metadata.get("reason_type") else []
    told += ["counterexamples let pass"] if metadata.get("counterexamples_allowed") else []
    return f" ({'; '.join(told)})" if told else ""


def story_text(answer: Mapping[str, Any]) -> str:
    """The story as lines. All of it is quoted: actors, reasons and statements were written by others."""
    lines = [_line(row) for row in answer["rows"]]
    parts = ["earlier acts are left out; a larger limit or an earlier since shows them."] if answer["earlier"] else []
    parts.append(fenced("\n".join(lines)) if lines else "nothing happened yet")
    for one in answer["ledgers"]:
        held = "the chain holds." if one["intact"] else f"the chain is broken at {len(one['breaks'])} place(s)."
        parts.append(f"{one['entries']} entries, {held}")
    return "\n".join(parts)


def _line(row: Mapping[str, Any]) -> str:
    said = f"{row['at']} {row['actor']} ({row['channel']}) {row['what']}"
    said += f": {row['card_id']}" if row["card_id"] else ""
    said += f" “{row['statement']}”" if row["statement"] else ""
    return said + (f", because: {row['reason']}" if row["reason"] else "")
