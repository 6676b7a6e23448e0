"""The embedder: text into vectors with the installed model. Loaded late and once; a model that is missing or damaged is a state
with a fix, not an error of whoever wanted to recall something."""

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.domain.errors import HindbrainError, ModelRefused, ModelUnavailable
from hindbrain.policy.embedding import BULK_THREADS, SHORT_WORDS
from hindbrain.settings import Settings
from hindbrain.stores.home import Home
from hindbrain.stores.locks import try_lock
from hindbrain.stores.model import Installed, ModelDirectory, installed, load

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
        self._encoder: Encoder | None = None
        self._loaded: Installed | None = None
        self._failed: tuple[Path, HindbrainError] | None = None

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
        if (loaded := self._loaded) is not None:
            return Standing(state=ModelState.READY, stamp=loaded.stamp, path=loaded.path)
        path = self._path()
        if path is None:
            return self._absent()
        failed = self._failed
        if failed is not None and failed[0] == path:
            return _broken(path, failed[1])
        try:
            found = installed(path)
        except HindbrainError as broken:
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

    def query(self, text: str) -> "Question | None":
        """Vectors to ask with; None when there is no usable model."""
        encoder = self._get()
        return encoder.question(text) if encoder is not None else None

    def embed(self, text: str) -> "Unit | None":
        """Vectors to keep; None when there is no usable model."""
        encoder = self._get()
        return _kept(encoder, text) if encoder is not None else None

    def embed_all(self, texts: Sequence[str], *, threads: int = BULK_THREADS) -> "Iterator[Unit]":
        """Vectors of many texts, in their order, on several threads; ModelUnavailable when there is no usable model."""
        encoder = self._get()
        if encoder is None:
            standing = self.standing()
            raise ModelUnavailable(standing.reason or "there is no usable model", fix=standing.fix)
        if threads < 2 or len(texts) < 2:
            yield from (_kept(encoder, text) for text in texts)
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
            yield from pool.map(lambda text: _kept(encoder, text), texts)

    def forget(self) -> None:
        """Let go of the loaded model: another one was installed, or it was taken away."""
        with self._lock:
            self._encoder = self._loaded = self._failed = None

    def _get(self) -> "Encoder | None":
        if self._encoder is not None:
            return self._encoder
        with self._lock:
            path = None if self._off else self._path()
            if self._encoder is not None or path is None or (self._failed is not None and self._failed[0] == path):
                return self._encoder
            try:
                found = installed(path)
                self._encoder = _encoder(found)
                self._loaded = found
            except (ModelRefused, ModelUnavailable) as broken:
                self._failed = (path, broken)
            return self._encoder


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
