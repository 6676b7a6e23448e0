"""Elsewhere: brains and letters that other processes write ring the bell of this one too, as long as somebody here listens.

Files are only looked at. A brain that changed is asked for its last entry; one that this process did not record is somebody
else's."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.errors import HindbrainError
from hindbrain.services.bell import Bell
from hindbrain.services.brains import Brains
from hindbrain.services.glances import Glances

__all__ = ["LETTERS", "Elsewhere"]

LOG = logging.getLogger("hindbrain.elsewhere")

LETTERS = "letters"  # how far this process wrote the spool, as the bell keeps it
LOOK_S = 0.7  # between two looks; what is seen twice is told, so within one and a half seconds
ACT = "elsewhere"


class Elsewhere:
    """The eye of one process on what others write in its home."""

    def __init__(self, brains: Brains, glances: Glances, bell: Bell, *, look_s: float = LOOK_S) -> None:
        self._brains = brains
        self._glances = glances
        self._bell = bell
        self._look_s = look_s
        self._lock = threading.Lock()
        self._listeners = 0
        self._stop: threading.Event | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """What others write is told from here on to the end of the block."""
        with self._lock:
            self._listeners += 1
            if self._stop is None:
                self._stop = threading.Event()
                looking = _Looking(self._brains, self._glances, self._bell)
                thread = threading.Thread(
                    target=_run, args=(looking.look, self._stop, self._look_s), daemon=True, name="hindbrain-elsewhere"
                )
                thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._listeners -= 1
                if not self._listeners and self._stop is not None:
                    self._stop.set()
                    self._stop = None


def _run(look: Callable[[], None], stop: threading.Event, look_s: float) -> None:
    while not stop.wait(look_s):
        try:
            look()
        except (HindbrainError, OSError, RuntimeError) as error:  # a disk that is away for a moment; the next look tells
            LOG.warning("what other processes write was not looked at: %s", error)


class _Looking:
    """What was seen so far."""

    def __init__(self, brains: Brains, glances: Glances, bell: Bell) -> None:
        self._brains = brains
        self._glances = glances
        self._bell = bell
        self._known: dict[str, int] = {}
        self._suspected: dict[str, int] = {}
        self._spool = _size(brains.home.field_reports_file)
        for brain in self._looked_at():
            self._known[brain.name] = self._seq(brain) or 0

    def _looked_at(self) -> list[Brain]:
        """Every brain in a file. On a server each look costs a question, so there only those that are open."""
        brains = [*self._brains.all(), *([self._brains.home.medulla()] if self._brains.has_medulla() else [])]
        if not self._brains.served:
            return brains
        warm = self._brains.warm()
        return [brain for brain in brains if brain.name in warm]

    def _seq(self, brain: Brain) -> int | None:
        try:
            return self._glances.glance(brain).seq
        except (HindbrainError, OSError):  # it has a card with the reason; here there is nothing to tell of it
            return None

    def look(self) -> None:
        """Ring for what is new. Seen once, it may be a commit of this process that is about to be told: the next look decides."""
        for brain in self._looked_at():
            name, seq = brain.name, self._seq(brain)
            if seq is None:
                continue
            known = max(self._known.get(name, 0), self._bell.reached(name))
            if seq > known and self._suspected.get(name, -1) > known:
                self._bell.ring(name, ACT)
                known = seq
            self._suspected[name] = seq
            self._known[name] = known
        self._letters()

    def _letters(self) -> None:
        size = _size(self._brains.home.field_reports_file)
        if size > max(self._spool, self._bell.reached(LETTERS)):
            self._bell.ring(MEDULLA, ACT, letters=True)
        self._spool = size


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
