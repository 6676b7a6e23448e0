"""Glances: how every brain of a home stands, without waking one. A file is read again only when it changed."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.brain import Brain
from hindbrain.services.brains import Brains
from hindbrain.stores.glance import Glance
from hindbrain.stores.glance_file import Stamp, file_glance, graph_counts, kept_out_counts, stamp_of
from hindbrain.stores.port import BrainStore

__all__ = ["Glances", "Seen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen of a brain: its own numbers, and how much code was taken in."""

    glance: Glance
    code_nodes: int
    code_edges: int
    kept_out: Mapping[str, int]  # why -> how many claim files of this checkout are not served


class Glances:
    """Looks at brains from outside."""

    def __init__(self, brains: Brains) -> None:
        self._brains = brains
        self._lock = threading.Lock()
        self._seen: dict[Path, tuple[Stamp, Glance]] = {}
        self._code: dict[Path, tuple[Stamp, tuple[int, int]]] = {}
        self._files: dict[Path, tuple[Stamp, Mapping[str, int]]] = {}
        self._stores: dict[str, BrainStore] = {}  # of brains on a server: each is little more than a name

    def of(self, brain: Brain) -> Seen:
        """How a brain stands. Raises what keeps it from being read."""
        code = self._taken_in(brain)
        return Seen(glance=self.glance(brain), code_nodes=code[0], code_edges=code[1], kept_out=self._kept_out(brain))

    def glance(self, brain: Brain) -> Glance:
        """The numbers of its database."""
        published = brain.root is None  # what a project published is a pointer there, and counts in the medulla
        if self._brains.served:
            return self._store(brain).glance(published=published)
        path = self._brains.home.brain_dir(brain) / "brain.db"
        stamp = stamp_of(path)  # before it is read: what comes between is seen the next time
        with self._lock:
            if (held := self._seen.get(path)) is not None and held[0] == stamp:
                return held[1]
        found = file_glance(path, brain.id, published=published)
        with self._lock:
            self._seen[path] = (stamp, found)
        return found

    def _taken_in(self, brain: Brain) -> tuple[int, int]:
        if brain.root is None:
            return 0, 0
        path = self._brains.home.brain_dir(brain) / "graph.db"
        stamp = stamp_of(path)
        with self._lock:
            if (held := self._code.get(path)) is not None and held[0] == stamp:
                return held[1]
        found = graph_counts(path)
        with self._lock:
            self._code[path] = (stamp, found)
        return found

    def _kept_out(self, brain: Brain) -> Mapping[str, int]:
        path = self._brains.home.brain_dir(brain) / "files.db"
        stamp = stamp_of(path)
        with self._lock:
            if (held := self._files.get(path)) is not None and held[0] == stamp:
                return held[1]
        found = kept_out_counts(path)
        with self._lock:
            self._files[path] = (stamp, found)
        return found

    def _store(self, brain: Brain) -> BrainStore:
        with self._lock:
            if brain.name not in self._stores:
                self._stores[brain.name] = self._brains.store_of(brain)
            return self._stores[brain.name]

    def close(self) -> None:
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()
