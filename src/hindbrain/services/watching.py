"""Watching: keeps the graphs of warm brains fresh while files change. Many changes at once are one ingest."""

import logging
import os
import threading
from collections.abc import Callable, Iterable

from hindbrain.domain.errors import HindbrainError
from hindbrain.policy.ingest import DEBOUNCE_MS, SKIPPED_DIRECTORIES, STEP_MS, WATCH_RETRY_SECONDS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.events import Events
from hindbrain.services.graphs import Graphs, Ingested, Wish

__all__ = ["Watching"]

LOG = logging.getLogger("hindbrain.watching")


def _quiet(done: int, total: int, text: str) -> None:
    """Nobody waits for this ingest."""


class Watching:
    """One thread per watched brain. The owner asks it now and then to look which brains are warm."""

    def __init__(self, brains: Brains, graphs: Graphs, events: Events, *, enabled: bool) -> None:
        self._brains = brains
        self._graphs = graphs
        self._events = events
        self._enabled = enabled
        self._watches: dict[str, _Watch] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._rebuilds: dict[str, threading.Thread] = {}  # one for each brain whose graph is or was being made again
        self.rebuild: Callable[[OpenBrain], None] = lambda opened: None

    def watched(self) -> set[str]:
        """The roots of the brains that are watched now."""
        with self._lock:
            return {name for name, one in self._watches.items() if one.alive}

    def look(self) -> None:
        """Watch every warm brain that has a graph, and no other."""
        if not self._enabled:
            return
        self._rebuild_lost()
        warm = {one.brain.name: one for one in self._brains.each_warm() if _has_graph(one)}
        with self._lock:
            if self._closed:
                return
            ended = [self._watches.pop(name) for name in list(self._watches) if name not in warm or not self._watches[name].alive]
            for name, opened in warm.items():
                if name not in self._watches:
                    roots = [place.root for place in self._graphs.places(opened) if os.path.isdir(place.root)]
                    if roots:
                        self._watches[name] = _Watch(roots, lambda paths, one=opened: self.refresh(one, paths))  # type: ignore[misc]
        for one in ended:
            one.stop()

    def _rebuild_lost(self) -> None:
        """Make the graphs again that were lost with a damaged file, beside the calls. One that cannot be made is tried again when
        its brain is next opened."""
        for opened in self._brains.each_warm():
            name, root = opened.brain.name, opened.brain.root
            if name in self._rebuilds or root is None or not os.path.isdir(root) or not opened.graph_lost:
                continue
            thread = threading.Thread(target=self._rebuild, args=(opened,), daemon=True, name="hindbrain-rebuild")
            self._rebuilds[name] = thread
            thread.start()

    def _rebuild(self, opened: OpenBrain) -> None:
        name = opened.brain.name
        try:
            with self._brains.use(opened.brain) as held:
                self.rebuild(held)
        except (HindbrainError, OSError) as failure:
            LOG.warning("the graph of %s was not made again: %s", name, failure)
            return
        self._rebuilds.pop(name, None)
        self._events.publish({"brain": name, "act": "graph.rebuild"})

    def forget(self, opened: OpenBrain) -> None:
        """The brain closes: nobody may write its graph any more."""
        with self._lock:
            watch = self._watches.pop(opened.brain.name, None)
        self._rebuilds.pop(opened.brain.name, None)
        if watch is not None:
            watch.end()

    def refresh(self, opened: OpenBrain, paths: Iterable[str]) -> list[Ingested]:
        """Take in what changed below the roots that these paths lie in."""
        touched = list(paths)
        done = []
        with self._brains.use(opened.brain) as held:
            for place in self._graphs.places(held):
                if any(path.startswith(place.root.rstrip("/") + "/") for path in touched):
                    wish = Wish(root=place.root, anew=False, only_changed=True, patterns=place.patterns)
                    found = self._graphs.refresh(held, wish, _quiet)
                    if found is not None:
                        done.append(found)
            if any(one.changed for one in done):
                files = sum(len(one.changed) for one in done)
                self._events.publish({"brain": held.brain.name, "act": "graph.refresh", "files": files})
        return done

    def close(self) -> None:
        with self._lock:
            self._closed = True
            watches, self._watches = list(self._watches.values()), {}
        for thread in list(self._rebuilds.values()):
            thread.join(timeout=10)
        for one in watches:
            one.stop()


def _has_graph(opened: OpenBrain) -> bool:
    return opened.brain.root is not None and opened.graph_path.exists()


class _Watch:
    """The watch of one brain's roots, on a thread of its own."""

    def __init__(self, roots: list[str], changed: Callable[[set[str]], object]) -> None:
        self._roots = roots
        self._changed = changed
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="hindbrain-watch")
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        from watchfiles import watch  # loaded by the owner only

        caught_up = False
        try:
            for changes in watch(
                *self._roots,
                watch_filter=self._relevant,
                debounce=DEBOUNCE_MS * 4,
                step=STEP_MS,
                stop_event=self._stop,
                rust_timeout=500,
                yield_on_timeout=True,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                if changes or not caught_up:
                    # The first look is at everything: files may have changed before anybody watched them.
                    self._tell({path for _, path in changes} if caught_up else {f"{root.rstrip('/')}/" for root in self._roots})
                    caught_up = True
        except (OSError, RuntimeError) as error:  # the directory is gone, or the system has no more watches to give
            LOG.warning("%s is not watched any more: %s", self._roots[0], error)

    def _tell(self, paths: set[str]) -> None:
        while not self._stop.is_set():
            try:
                self._changed(paths)
            except HindbrainError as error:
                LOG.warning("the graph of %s was not refreshed: %s", self._roots[0], error)
                if error.code != "busy":
                    return
                self._stop.wait(WATCH_RETRY_SECONDS)  # another ingest is at work; the change must not be lost
                continue
            return

    def _relevant(self, _change: object, path: str) -> bool:
        """What can be source, or says that git moved: a new commit or another branch."""
        for root in self._roots:
            if path.startswith(root.rstrip("/") + "/"):
                parts = os.path.relpath(path, root).split("/")
                return parts == [".git", "HEAD"] or SKIPPED_DIRECTORIES.isdisjoint(parts)
        return False

    def end(self) -> None:
        """Without waiting: who closes a brain holds the lock that a refresh may wait for."""
        self._stop.set()

    def stop(self) -> None:
        self.end()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=10)
