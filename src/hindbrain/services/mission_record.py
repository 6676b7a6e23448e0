"""The record of missions: every event and every proof packet against the entry of the ledger that was written with it."""

import json
from collections.abc import Mapping
from typing import Any

from hindbrain.domain.ledger import Break, Entry
from hindbrain.engines.mission_chain import DIGEST, digest_of
from hindbrain.stores.mission_port import MissionHead
from hindbrain.stores.port import BrainStore

__all__ = ["ERASE", "MissionRecord", "erased_as"]

_ALL = 1_000_000_000
_MANY = 100_000
_PROOF = "mission.proof"
ERASE = "mission.erase"  # the act by which a person's forgetting took a mission with it


class MissionRecord:
    """Events and packets as they are kept, until the entry `last`. Show it every entry in turn, then ask what does not hold."""

    def __init__(self, store: BrainStore, last: int) -> None:
        self._events: dict[int, tuple[str, str]] = {}  # entry -> event, and the hash that its content has
        self._packets: dict[str, str] = {}  # mission -> the digest that its packet has
        self._found: list[tuple[str, Break]] = []  # each with its mission
        self._erased: set[str] = set()  # by what the ledger says
        self._empty = {head.mission_id: head for head in store.missions(limit=_ALL) if head.erased}
        for head in store.missions(limit=_ALL):
            for one in store.mission_events(head.mission_id, limit=_ALL):
                if one.ledger_seq <= last:
                    self._events[one.ledger_seq] = (f"event {one.seq} of {head.mission_id}", _hash(one.body))
            for paper in store.mission_papers(head.mission_id, kind="proof"):
                self._packets[head.mission_id] = str(_object(paper.body).get("packet_digest"))
        # What was erased since that entry is gone from the rows, and the walk does not come to the entry that says so.
        self._erased.update(one.subject for one in store.entries(after=last, limit=_MANY, act=ERASE))

    def see(self, entry: Entry) -> None:
        """Hold an entry against what was written with it."""
        if not entry.act.startswith("mission."):
            return
        told = _object(entry.payload)
        if entry.act == ERASE:
            head = self._empty.get(entry.subject)
            if head is None:
                self._note(entry, f"mission {entry.subject} was erased and is there again")
            elif not erased_as(head, told):
                self._note(entry, f"the head of the erased mission {entry.subject} is not what was left")
            else:
                self._erased.add(entry.subject)
        elif entry.act == _PROOF:
            if self._packets.get(entry.subject) != told.get("packet"):
                self._note(entry, f"the packet of {entry.subject} is not the one that was sealed")
        elif "event" in told:
            name, made = self._events.pop(entry.seq, ("", ""))
            if not name:
                self._note(entry, f"event {told.get('seq')} of {entry.subject} is missing")
            elif made != told.get("hash"):
                self._note(entry, f"{name} is not what was written")

    def _note(self, entry: Entry, reason: str) -> None:
        self._found.append((entry.subject, Break(seq=entry.seq, reason=reason)))

    def breaks(self) -> list[Break]:
        """What does not hold; what no entry speaks of was put in by hand. What a person had erased is not missing."""
        lone = [Break(seq=seq, reason=f"the entry that wrote {name} is missing") for seq, (name, _) in self._events.items()]
        return [*(one for mission, one in self._found if mission not in self._erased), *lone]


def erased_as(head: MissionHead, told: Mapping[str, Any]) -> bool:
    """Whether an empty head is the one that the entry of its erasure left."""
    return (head.seq, head.hash, head.status) == (told.get("events"), told.get("hash"), told.get("status"))


def _hash(body: str) -> str:
    """The hash that an event has by its own content and by the one it says it follows."""
    event = _object(body)
    try:
        return DIGEST + digest_of(str(event.get("prev_hash")).removeprefix(DIGEST), dict(event))
    except ValueError:
        return ""


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
