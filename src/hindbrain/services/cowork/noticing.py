"""Noticing: messages that other processes write are told in this one too, as long as somebody here listens.

One watch serves everybody who listens in a process. What this process writes itself rings the bell at once, without the watch."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from hindbrain.domain.errors import HindbrainError
from hindbrain.services.cowork.recording import Recorder
from hindbrain.stores.bus_records import Bus
from hindbrain.stores.bus_watch import BusWatch, known_buses
from hindbrain.stores.home import Home

__all__ = ["Noticing"]

LOG = logging.getLogger("hindbrain.cowork")

_LOOK_MS = 60_000  # how long one question to the kernel is open; it is asked again

Ids = Mapping[str, frozenset[str]]  # what lies in the inbox of each agent


class Noticing:
    """The ear of one process for all buses of its home."""

    def __init__(self, home: Home, recorder: Recorder, bus_of: Callable[[str], Bus]) -> None:
        self._home = home
        self._recorder = recorder
        self._bus_of = bus_of
        self._lock = threading.Lock()
        self._listeners = 0
        self._ear: _Ear | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """What others write rings the bell from here on to the end of the block. Without a watch only this process does."""
        with self._lock:
            self._listeners += 1
            if self._ear is None or not self._ear.alive:
                self._ear = self._begun()
        try:
            yield
        finally:
            with self._lock:
                self._listeners -= 1
                ear, self._ear = (None, self._ear) if self._listeners else (self._ear, None)
            if ear is not None:
                ear.stop()

    def _begun(self) -> "_Ear | None":
        try:
            self._home.make(self._home.runtime)
            return _Ear(BusWatch(self._home.runtime, below=True), self._looked, self._told)
        except (OSError, RuntimeError) as error:  # the system has no more watches to give, or the disk refuses
            LOG.warning("buses are not watched: %s", error)
            return None

    def _looked(self, only: frozenset[str] | None) -> dict[str, Ids]:
        """What lies in the inboxes of each bus, or of these."""
        found: dict[str, Ids] = {}
        for name, project in known_buses(self._home):
            if only is None or name in only:
                try:
                    with self._bus_of(project).look() as look:
                        found[project] = {
                            agent: frozenset(one.message_id for one in look.inbox(agent)[0]) for agent in look.agents()
                        }
                except (HindbrainError, OSError) as error:  # the next change is looked at again
                    LOG.warning("the bus of %s was not looked at: %s", project, error)
        return found

    def _told(self, project: str, agent: str, fresh: frozenset[str]) -> None:
        if others := sorted(one for one in fresh if one and not self._recorder.made(one)):
            self._recorder.ring(project, "send", agents=[agent], messages=others)


class _Ear:
    """A watch on a thread of its own, with what lay in the inboxes at the last look."""

    def __init__(
        self,
        watch: BusWatch,
        look: Callable[[frozenset[str] | None], dict[str, Ids]],
        tell: Callable[[str, str, frozenset[str]], None],
    ) -> None:
        self._watch = watch
        self._look = look
        self._tell = tell
        self._stop = threading.Event()
        self._before = look(None)  # after the watch is on: what comes between is told by it
        self._thread = threading.Thread(target=self._run, daemon=True, name="hindbrain-ear")
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Without waiting: the thread ends by itself within a moment."""
        self._stop.set()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                changed = self._watch.changed(within_ms=_LOOK_MS, stop=self._stop)
                if changed:
                    self._heard(frozenset(parts[0] for parts in changed if parts))
        except (OSError, RuntimeError) as error:  # the home is gone
            LOG.warning("buses are not watched any more: %s", error)
        finally:
            self._watch.close()

    def _heard(self, names: frozenset[str]) -> None:
        for project, inboxes in self._look(names).items():
            before = self._before.get(project, {})
            for agent, ids in inboxes.items():
                if fresh := ids - before.get(agent, frozenset()):
                    self._tell(project, agent, fresh)
            self._before[project] = inboxes
