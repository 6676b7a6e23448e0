"""The embedder: text into vectors with the installed model. Loaded late and once; a model that is missing or damaged is a state
with a fix, not an error of whoever wanted to recall something."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.domain.errors import HindbrainError, ModelRefused, ModelUnavailable
from hindbrain.policy.embedding import BACKLOG, BULK_THREADS, POLITENESS, SHORT_WORDS
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.stores.model import CONFIG, Installed, ModelDirectory, installed, load

if TYPE_CHECKING:
    from hindbrain.engines.minilm import Encoder, Question, Unit

__all__ = ["Embedder", "ModelState", "Standing"]


class ModelState(StrEnum):
    """What there is of a model."""

    ABSENT = "absent"
    INSTALLING = "installing"
    DAMAGED = "damaged"
    READY = "ready"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What there is of a model, why, and what to do about it."""

    state: ModelState
    stamp: str | None = None
    path: Path | None = None
    reason: str | None = None
    fix: str | None = None


class Embedder:
    """The model of one process. Safe for threads: each call computes on the thread it comes from."""

    def __init__(self, home: Home, settings: Settings) -> None:
        chosen, shared = settings.text("embedder"), settings.text("model_dir")
        self._chosen = Path(chosen).expanduser() if chosen not in ("auto", "off") else None
        self._off = chosen == "off"
        self.own = ModelDirectory(home.path / "models")
        self.shared = ModelDirectory(Path(shared).expanduser().absolute()) if shared else None
        self._lock = threading.Lock()
        self._loaded: dict[Path, tuple[Installed, Encoder]] = {}
        self._failed: dict[tuple[Path, int], HindbrainError] = {}  # by path and time of its config: a new one is tried again

    @property
    def target(self) -> ModelDirectory:
        """Where a model is installed."""
        return self.shared or self.own

    # -- what there is -----------------------------------------------------------------------------------------------

    def standing(self) -> Standing:
        """What there is, without loading it. Known to be damaged only after an attempt to load."""
        if self._off:
            return Standing(
                state=ModelState.OFF, reason="the setting embedder is off", fix="set embedder to auto to search by meaning"
            )
        path = self._path()
        if path is None:
            return self._absent()
        if (loaded := self._loaded.get(path)) is not None:
            return Standing(state=ModelState.READY, stamp=loaded[0].stamp, path=path)
        if (failed := self._failed.get((path, _changed(path)))) is not None:
            return _broken(path, failed)
        try:
            found = installed(path)
        except (ModelRefused, ModelUnavailable) as broken:
            return _broken(path, broken)
        return Standing(state=ModelState.READY, stamp=found.stamp, path=path)

    def installed(self) -> Installed | None:
        """The model in force as it describes itself."""
        path = None if self._off else self._path()
        try:
            return installed(path) if path is not None else None
        except (ModelRefused, ModelUnavailable):
            return None

    @property
    def stamp(self) -> str | None:
        """Under which name vectors of this model are kept; None when there is no usable one."""
        standing = self.standing()
        return standing.stamp if standing.state is ModelState.READY else None

    def has(self, stamp: str) -> bool:
        """Whether the model of a stamp is here, in force or not: vectors that an older one made can only be asked with it."""
        return self._directory(stamp) is not None

    def _directory(self, stamp: str) -> Path | None:
        path = None if self._off else self._path()
        if path is not None and (found := self._loaded.get(path)) is not None and found[0].stamp == stamp:
            return path
        places = [path, *(shelf.path / stamp for shelf in (self.own, self.shared) if shelf is not None)]
        for place in places if not self._off else []:
            if place is not None and _stamp_of(place) == stamp:
                return place
        return None

    def _path(self) -> Path | None:
        """A model that was named wins, then one in the home, then one in the shared directory."""
        if self._chosen is not None:
            return self._chosen
        return self.own.current() or (self.shared.current() if self.shared else None)

    def _absent(self) -> Standing:
        if self.target.lock.exists():
            if (held := try_lock(self.target.lock)) is None:
                return Standing(
                    state=ModelState.INSTALLING, reason="the model is being installed", fix="wait; hindbrain model status tells"
                )
            os.close(held)
        return Standing(
            state=ModelState.ABSENT,
            reason="no model is installed: memory is found by words only",
            fix="run hindbrain model install",
        )

    # -- vectors -----------------------------------------------------------------------------------------------------

    def ready(self) -> bool:
        """Load the model if it is not; False, with the reason in `standing`, when that is not possible."""
        return self._get() is not None

    def query(self, text: str, *, stamp: str | None = None) -> "Question | None":
        """Vectors to ask with, of the model in force or of the one with that stamp; None when there is no usable one."""
        encoder = self._get(stamp)
        return encoder.question(text) if encoder is not None else None

    def embed(self, text: str) -> "Unit | None":
        """Vectors to keep; None when there is no usable model."""
        encoder = self._get()
        return _kept(encoder, text) if encoder is not None else None

    def embed_all(self, texts: Sequence[str], *, threads: int = BULK_THREADS, stamp: str | None = None) -> "Iterator[Unit]":
        """Vectors of many texts, in their order, on several threads; ModelUnavailable when there is no usable model."""
        encoder = self._get(stamp)
        if encoder is None:
            standing = self.standing()
            raise ModelUnavailable(standing.reason or "there is no usable model", fix=standing.fix)
        if threads < 2 or len(texts) < 2:
            yield from (_kept(encoder, text) for text in texts)
            return
        # A few texts are what somebody just wrote and shall be found by soon; many are a backlog, which lets calls go first.
        polite = _step_back if len(texts) > BACKLOG else None
        pool = ThreadPoolExecutor(threads, thread_name_prefix="embed", initializer=polite)
        try:
            yield from pool.map(lambda text: _kept(encoder, text), texts)
        finally:
            pool.shutdown(cancel_futures=True)  # whoever wants no more waits for the texts in work only

    def forget(self) -> None:
        """Let go of the loaded model: another one was installed, or it was taken away."""
        with self._lock:
            self._loaded.clear()
            self._failed.clear()

    def _get(self, stamp: str | None = None) -> "Encoder | None":
        for found, encoder in list(self._loaded.values()) if stamp is not None else ():
            if found.stamp == stamp:
                return encoder
        path = None if self._off else self._path() if stamp is None else self._directory(stamp)
        if path is None:
            return None
        if (known := self._loaded.get(path)) is not None:
            return known[1]
        with self._lock:
            attempt = (path, _changed(path))
            if path not in self._loaded and attempt not in self._failed:
                try:
                    found = installed(path)
                    self._loaded[path] = (found, _encoder(found))
                except (ModelRefused, ModelUnavailable) as broken:
                    self._failed[attempt] = broken
            known = self._loaded.get(path)
            return known[1] if known is not None else None


def _changed(path: Path) -> int:
    """When a model was written; 0 when there is none."""
    try:
        return (path / CONFIG).stat().st_mtime_ns
    except OSError:
        return 0


def _stamp_of(path: Path) -> str | None:
    try:
        return installed(path).stamp
    except (ModelRefused, ModelUnavailable):
        return None


def _step_back() -> None:
    """Lower the priority of this thread alone, where that is possible."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), POLITENESS)


def _broken(path: Path, reason: HindbrainError) -> Standing:
    state = ModelState.DAMAGED if isinstance(reason, ModelRefused) else ModelState.ABSENT
    return Standing(state=state, path=path, reason=reason.message, fix=str(reason.fix))


def _encoder(found: Installed) -> "Encoder":
    from hindbrain.engines.minilm import Encoder
    from hindbrain.engines.wordpiece import WordPiece

    loaded = load(found)
    return Encoder(loaded.run, WordPiece(loaded.vocabulary), loaded.projection)


def _kept(encoder: "Encoder", text: str) -> "Unit":
    return encoder.unit(text, late=len(text.split(None, SHORT_WORDS)) < SHORT_WORDS)
