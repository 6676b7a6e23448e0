"""Erasing: a value that was forgotten leaves missions too. The events of a mission are chained, so that nothing can be cut out of
one: a mission that holds the value goes whole, and its head says that it was there."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import Busy
from hindbrain.domain.ledger import Act
from hindbrain.domain.mission import MissionStatus
from hindbrain.domain.stored import stored_record
from hindbrain.policy.missions import CLOSED_STATUSES
from hindbrain.services.brains import OpenBrain
from hindbrain.services.experience.erasing import Value
from hindbrain.services.gateway import Gateway
from hindbrain.services.mission_record import ERASE
from hindbrain.services.missions.files import MissionFiles
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.mission_port import MissionHead
from hindbrain.stores.port import BrainStore, Writer

__all__ = ["MissionErasure", "Reached", "note_of", "sentence"]

LOG = logging.getLogger("hindbrain.missions")
_ALL = 1_000_000_000
_PAGE = 2_000


class _Place(msgspec.Struct):
    repo: str


def note_of(repo: str, mission_id: str) -> Path:
    """Where the note of a mission is kept beside its code."""
    return Path(repo, REPO_DIR, "missions", f"{mission_id}.light.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Missions that were erased, and files of theirs that could not be deleted, each with the reason."""

    missions: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """For an answer: nothing where there was nothing."""
        said: dict[str, Any] = {"missions": list(self.missions)} if self.missions else {}
        return said | ({"files_left": list(self.left)} if self.left else {})


def sentence(reached: Collection[dict[str, Any]]) -> str:
    """What an answer says of them, over all brains."""
    missions = sum(len(one.get("missions", ())) for one in reached)
    left = [place for one in reached for place in one.get("files_left", ())]
    told = f" {missions} mission(s) that held it were erased." if missions else ""
    return told + (f" These files are still there, delete them: {'; '.join(left)}." if left else "")


class MissionErasure:
    """What `forget` does to missions."""

    def __init__(self, gateway: Gateway, files: MissionFiles, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._files = files
        self._clock = clock

    def reach(self, caller: Caller, opened: OpenBrain, writer: Writer, texts: Iterable[str], prints: Collection[str]) -> Reached:
        """In the transaction that buries a value: erase every mission that holds it. Nobody else writes meanwhile, so none is
        missed. One that was active is abandoned by that."""
        value = Value(texts, prints, self._gateway.salt(opened))
        if not value.hints:
            return Reached()
        hit = [head for head in opened.store.missions(limit=_ALL) if not head.erased and _holds(opened.store, head, value)]
        left: list[str] = []
        for head in hit:
            status = head.status if head.status in CLOSED_STATUSES else MissionStatus.ABANDONED.value
            writer.append(
                Act(
                    act=ERASE,
                    subject=head.mission_id,
                    actor=caller.agent,
                    channel=caller.channel,
                    at=self._clock(),
                    payload={"events": head.seq, "hash": head.hash, "status": status},
                )
            )
            left += _note_removed(head)
            writer.erase_mission(head.mission_id, status=status, at=self._clock())
        return Reached(missions=tuple(head.mission_id for head in hit), left=tuple(left))

    def cleared(self, opened: OpenBrain, reached: Reached) -> Reached:
        """After that transaction: delete the files of every erased mission, also those that an earlier try could not delete."""
        left = list(reached.left)
        for head in opened.store.missions(limit=_ALL):
            if not head.erased:
                continue
            try:
                self._files.remove(opened, head.mission_id)
            except (OSError, Busy) as failure:
                place = self._files.directory(opened, head.mission_id).path
                LOG.warning("the files of the erased mission %s are still there: %s", head.mission_id, failure)
                left.append(f"{place}: {failure}")
        return replace(reached, left=tuple(left))


def _note_removed(head: MissionHead) -> Iterator[str]:
    """The note beside the code is no mirror: it goes while the mission still says where it is."""
    try:
        note_of(stored_record(head.spec, _Place, "mission").repo, head.mission_id).unlink(missing_ok=True)
    except (OSError, msgspec.MsgspecError) as failure:
        LOG.warning("the note of the erased mission %s may still be there: %s", head.mission_id, failure)
        yield f"{note_of('.', head.mission_id)} in its repository: {failure}"


def _holds(store: BrainStore, head: MissionHead, value: Value) -> bool:
    return any(map(value.held_in, _kept(store, head)))


def _kept(store: BrainStore, head: MissionHead) -> Iterator[str]:
    """Every text that is kept of a mission, as JSON."""
    yield from (head.spec, head.told)
    for kind in ("handoff", "proof"):
        yield from (one.body for one in store.mission_papers(head.mission_id, kind=kind))
    after = 0
    while page := store.mission_events(head.mission_id, after=after, limit=_PAGE):
        after = page[-1].seq
        yield from (one.body for one in page)
