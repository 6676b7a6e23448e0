"""Relocation: how a brain follows its repository to another directory, is set aside, or is joined on a server."""

import hmac
import json
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain, BrainId
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import (
    AlreadyCovered,
    Busy,
    HumanNeeded,
    InvalidParams,
    PathRefused,
    RepositoryChanged,
    UnknownBrain,
)
from hindbrain.domain.ledger import Act
from hindbrain.services.brains import Brains, OpenBrain, repository_ways
from hindbrain.services.evidence_anchor import note_former
from hindbrain.services.graphs import Graphs
from hindbrain.stores.home import Home
from hindbrain.stores.identity import carried_id, carried_witness, remote_name, traits_of
from hindbrain.stores.port import BrainStore
from hindbrain.stores.repository import canonical_root

__all__ = ["Away", "Relocation"]

_LINEAGE = "repository.lineage"  # meta of a brain on a server: the history that it was made for

Away = tuple[Brain, Path]


class Relocation:
    """Brains that change their directory. Each change is a note in the ledger of the brain."""

    def __init__(self, home: Home, brains: Brains, graphs: Graphs, clock: Callable[[], int]) -> None:
        self._home = home
        self._brains = brains
        self._graphs = graphs
        self._clock = clock

    def note(self, caller: Caller, store: BrainStore, act: str, payload: dict[str, Any]) -> None:
        """Record what happened to a whole brain."""
        with store.writing() as writer:
            writer.append(
                Act(act=act, subject="brain", actor=caller.agent, channel=caller.channel, at=self._clock(), payload=payload)
            )

    # -- moved repositories ------------------------------------------------------------------------------------------

    def follow(self, caller: Caller, root: str) -> str | None:
        """Give a moved repository its brain, and say where it was. The directory carries the witness of a brain whose root is
        gone, or holds another repository by now, or of one that a person detached."""
        witness = carried_witness(root)
        if witness is None or self._home.project(root) is not None:
            return None
        for brain, directory in self._away():
            kept = self._home.witness_in(directory)
            same = kept is not None and hmac.compare_digest(kept.encode(), witness.encode())
            if same and self._brains.bindings.witnessed(brain, directory, root):
                self.move(caller, (brain, directory), root)
                return brain.root
        return None

    def away_from(self, old: str) -> Away:
        """The brain that was registered for a directory, if no directory has it any more."""
        root = old.rstrip("/")
        found = next((one for one in self._away() if one[0].root == root), None)
        if found is not None:
            return found
        if self._home.project(root) is None:
            raise UnknownBrain(f"no brain is registered for {old[:200]}", fix="`instances` lists the registered roots")
        raise InvalidParams(f"{old} is still there: its brain stays with it", fix="remove or rename the old directory first")

    def _away(self) -> Iterator[Away]:
        """Brains that no directory has: their root is gone or holds another repository, or a person detached them."""
        for brain in self._brains.all():
            root = brain.root
            if root is None or not os.path.isabs(root):
                continue
            if not os.path.isdir(root) or self._brains.project(root) is None:
                yield brain, self._home.brain_dir(brain)
        yield from self._home.detached()

    def move(self, caller: Caller, away: Away, target: str) -> None:
        """Give a brain that no directory has to a canonical directory."""
        self.refuse_replaced(target)
        if self._home.project(target) is not None:
            raise AlreadyCovered(f"{target} has a brain of its own", fix="export one and import it into the other")
        brain, source = away
        self._close(brain)
        fresh = replace(brain, root=target)
        os.rename(source, self._home.brain_dir(fresh))
        nodes, edges = self._home.manifest_counts(fresh)
        self._home.save(fresh, nodes=nodes, edges=edges)
        self._brains.bindings.bind(fresh)
        with self._brains.use(fresh) as opened:
            self.note(caller, opened.store, "brain.move", {"from": brain.root, "to": target})
            with opened.store.writing() as writer:
                note_former(opened, writer, brain.root or "")
            self._graphs.follow(opened, brain.root or "")

    def refuse_replaced(self, root: str) -> None:
        """A directory that holds another repository than its brain was made for gets no brain before a person decides."""
        if self._home.project(root) is not None and self._brains.project(root) is None:
            raise RepositoryChanged(
                f"{root} holds another repository than the one its brain was made for",
                fix=repository_ways(root),
                project_root=root,
            )

    def detach(self, caller: Caller, *, path: str) -> dict[str, Any]:
        """A person sets the brain of a directory aside. Nothing is deleted: `rebind` gives it to a directory again."""
        if "\x00" in path or not os.path.isabs(os.path.expanduser(path)):
            raise PathRefused(f"{path[:120]!r} is not an absolute path", fix="give the absolute directory")
        root = canonical_root(path)
        brain = self._home.project(root)
        if brain is None:
            raise UnknownBrain(f"no brain is registered for {root[:200]}", fix="`instances` lists the registered roots")
        self._close(brain)
        store = self._brains.store_of(brain)  # beside the shelf: what holds another repository is not opened
        try:
            self.note(caller, store, "brain.detach", {"root": root})
        finally:
            store.close()
        kept = self._home.detach(brain)
        told = f"The brain of {root} is set aside in {kept}; `hindbrain rebind {root} NEW` gives it to a directory again."
        return {"ok": True, "schema": "hindbrain-brain-v0", "project_root": root, "kept": str(kept), "rendered": told}

    def _close(self, brain: Brain) -> None:
        self._brains.drop(brain)
        if brain.name in self._brains.warm():
            raise Busy(f"the brain of {brain.name} is in use", fix="try again when the calls that use it are done")

    # -- a brain on a server -----------------------------------------------------------------------------------------

    def joined_id(self, caller: Caller, root: str) -> BrainId | None:
        """The id that a repository carries, for a new brain. On a server it opens the brain that others have under this id: what
        is on record there has to be the same history from the same remote, or a person joins it."""
        carried = carried_id(root)
        if carried is None or not self._brains.served or caller.channel is Channel.HUMAN:
            return BrainId(carried) if carried is not None else None
        store = self._brains.store_of(Brain(id=BrainId(carried), root=root, created_ms=0))
        try:
            told = store.meta(_LINEAGE)
        finally:
            store.close()
        if told is not None:
            known, seen = json.loads(told), traits_of(root)
            remote = remote_name(seen.remote)
            elsewhere = known.get("within", seen.within) != seen.within  # another directory of the same repository
            if elsewhere or not seen.first & set(known["first"]) or (known["remote"] and remote and known["remote"] != remote):
                raise HumanNeeded(
                    f"{root} carries the id of a brain on the server that was made for another repository",
                    fix=f"a person joins it in a terminal: hindbrain brain confirm {shlex.quote(root)}",
                )
        return BrainId(carried)

    def tell_lineage(self, opened: OpenBrain) -> None:
        """On a server, say once from which history a brain comes: whoever joins it later has to have the same."""
        known = self._brains.bindings.recorded(opened.brain)
        if self._brains.served and known.first and opened.store.meta(_LINEAGE) is None:
            lineage = {"first": sorted(known.first), "remote": remote_name(known.remote), "within": known.within}
            told = json.dumps(lineage)
            with opened.store.writing() as writer:
                writer.set_meta(_LINEAGE, told)
