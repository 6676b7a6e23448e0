"""Wake-up: who one is and what matters most, for a fresh start. Guidance for a task belongs to the context, facts to a search."""

from collections.abc import Iterable, Sequence
from typing import Any

from hindbrain import __version__
from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import ACTIVE, Card, CardId, Link, Role, Status
from hindbrain.domain.evidence import Evidence
from hindbrain.engines.fence import quoted
from hindbrain.engines.gate import judged
from hindbrain.policy.fields import FIELDS
from hindbrain.policy.texts import RULES
from hindbrain.policy.wake import IDENTITY_FILE, IDENTITY_HINT, IDENTITY_MAX, LINE_MAX
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence import Observations, iso
from hindbrain.stores.home import Home

__all__ = ["Wake"]

Item = dict[str, Any]
_Ranked = tuple[tuple[int, int, str], Item]


class Wake:
    """`wake`."""

    def __init__(self, home: Home, brains: Brains, observations: Observations) -> None:
        self._home = home
        self._brains = brains
        self._observations = observations

    def wake(self, caller: Caller, *, top_k: int) -> dict[str, Any]:
        """Identity, counts, and the foremost items of the caller's brain and the medulla. Changes nothing."""
        ranked: list[_Ranked] = []
        evidence = 0
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                evidence += opened.store.counts().evidence
                withheld = set(opened.store.withheld().values()) if brain.root is None else set()
                found = opened.store.foremost(top_k + len(withheld))
                ranked += [
                    _row(one, brain.name, self._home.origin_name(one.origin, brain)) for one in found if one.id not in withheld
                ]
                ranked += [_card(one, brain.name) for one in _standing(opened, top_k)]
        # What a published card took to the medulla is there twice; it is shown once.
        once = dict(reversed(ranked))
        items = [once[key] for key in sorted(once, reverse=True)[:top_k]]
        identity = self.identity()
        head = [
            identity if identity is not None else IDENTITY_HINT,
            f"{evidence} observations kept, {len(FIELDS)} fields recommended",
        ]
        return {
            "ok": True,
            "schema": "hindbrain-wake-v0",
            "identity": identity,
            "evidence_count": evidence,
            "field_count": len(FIELDS),
            "items": items,
            "estimated_tokens": sum(len(item["text"].split()) for item in items),
            **self.protocol(),
            "rendered": "\n".join([*head, *quoted(map(_line, items)), "", RULES.rstrip()]),
        }

    @staticmethod
    def protocol() -> dict[str, Any]:
        """The memory protocol, as this release has it."""
        return {"protocol": RULES, "protocol_version": __version__}

    def identity(self) -> str | None:
        """What the person wrote about themselves, if they did."""
        try:
            told = (self._home.path / IDENTITY_FILE).read_bytes()[: 4 * IDENTITY_MAX]
        except FileNotFoundError:
            return None
        return told.decode("utf-8", "replace").strip()[:IDENTITY_MAX] or None


def _standing(opened: OpenBrain, top_k: int) -> list[Card]:
    """The foremost cards that may be shown: by an act that was recorded, on evidence that is there, and asked for by nobody."""
    found: list[Card] = []
    after = 0
    while len(found) < top_k and (page := opened.store.foremost_cards(top_k, after=after)):
        after += len(page)
        cited: dict[CardId, list[Link]] = {}
        for link in opened.store.links(cards=[card.id for card in page]):
            cited.setdefault(link.card_id, []).append(link)
        found += [card for card in page if _shown(opened, card, cited.get(card.id, []))]
    return found[:top_k]


def _shown(opened: OpenBrain, card: Card, links: Sequence[Link]) -> bool:
    pointer = opened.brain.root is not None and card.anchor.kind is AnchorKind.GLOBAL  # it lives in the medulla
    if card.opt_in or pointer or not card.backed:
        return False
    if card.status in ACTIVE:
        return judged(card, links, target=card.status, reviewed=True, spared=True).allowed
    return any(link.live for link in links if link.role is Role.SUPPORTING)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - 1]}…"


def _row(row: Evidence, brain: str, origin: str) -> _Ranked:
    item = {
        "memory_kind": "evidence",
        "id": row.id,
        "evidence_id": row.id,
        "text": _cut(row.content),
        "wing": row.wing,
        "room": row.room,
        "source_file": row.source,
        "importance": row.importance,
        "at": iso(row.added_at),
        "brain": brain,
        "origin_brain": origin,
        "source_agent": row.author or "unknown",
    }
    return (row.importance, row.added_at, row.id), item


def _card(card: Card, brain: str) -> _Ranked:
    item = {
        "memory_kind": "knowledge",
        "id": card.id,
        "card_id": card.id,
        "text": _cut(card.text),
        "tier": card.rank.value,
        "status": card.status.value,
        "field": card.field,
        "source_file": card.source,
        "importance": card.importance,
        "at": iso(card.created_at),
        "brain": brain,
    }
    return (card.importance, card.created_at, card.id), item


def _line(item: Item) -> str:
    place = "/".join(filter(None, _place(item)))
    marked = " (candidate)" if item.get("status") == Status.CANDIDATE.value else ""
    return f"- {place or 'evidence'} {item['id']} {item['source_file']}: {item['text']}{marked}"


def _place(item: Item) -> Iterable[str | None]:
    return (item["wing"], item["room"]) if item["memory_kind"] == "evidence" else (item["tier"], item["field"])
