"""The model on disk: where an installed one lies, whether it is whole, and how it is read into a session of the runtime.

A model is one directory named by its stamp. It appears by one rename, so it is there as a whole or not at all; every file in it
is known by its hash.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.domain.errors import ModelRefused, ModelUnavailable
from hindbrain.stores.atomic import sync_directory, write_text
from hindbrain.stores.directories import make_directory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Run = Callable[[npt.NDArray[np.int64]], tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]

__all__ = [
    "BUILDING",
    "CONFIG",
    "GRAPH",
    "PROJECTION",
    "VOCABULARY",
    "Installed",
    "Loaded",
    "ModelDirectory",
    "digest_of",
    "first_damage",
    "installed",
    "load",
    "session",
]

CONFIG = "model.json"
GRAPH = "model.int8.onnx"
VOCABULARY = "vocab.txt"
PROJECTION = "late.npy"

BUILDING = ".building-"  # what a killed installation leaves; the next one takes it away
_CURRENT = "current"
_FORMAT = 1
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"


def digest_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An installed model, as its config says. Whether its files are whole is known only after they were read."""

    path: Path
    stamp: str
    dims: int
    late_dims: int
    files: Mapping[str, str]  # name -> sha256
    facts: Mapping[str, Any]

    @property
    def bytes(self) -> int:
        return sum(found.stat().st_size for name in self.files if (found := self.path / name).is_file())


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model in memory: the function, the vocabulary and the projection of token states."""

    run: "Run"
    vocabulary: tuple[str, ...]
    projection: "npt.NDArray[np.float32]"


class ModelDirectory:
    """A directory of models, one of which is current."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = path / ".install.lock"
        self.download = path / ".download"

    def make(self) -> None:
        make_directory(self.path)

    def current(self) -> Path | None:
        """The directory of the model in force, whether or not it is whole."""
        try:
            stamp = (self.path / _CURRENT).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        # The name of a directory beside this file, never a way out of it.
        return self.path / stamp if stamp and stamp == Path(stamp).name and not stamp.startswith(".") else None

    def put(self, stamp: str, files: Mapping[str, bytes], facts: Mapping[str, Any]) -> Path:
        """Write a model as a whole and make it current."""
        self.make()
        made = self.path / f"{BUILDING}{secrets.token_hex(6)}"
        made.mkdir(mode=0o700)
        try:
            config = {"format": _FORMAT, "stamp": stamp, **facts, "files": {name: digest_of(raw) for name, raw in files.items()}}
            for name, raw in {**files, CONFIG: json.dumps(config, indent=2).encode()}.items():
                _write(made / name, raw)
            sync_directory(made)
            target = self.path / stamp
            if target.exists():  # damaged, or asked to be made anew
                os.replace(target, self.path / f"{BUILDING}{secrets.token_hex(6)}")
            os.replace(made, target)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        sync_directory(self.path)
        self.choose(stamp)
        return target

    def choose(self, stamp: str) -> None:
        """Make a model that is here the current one."""
        write_text(self.path / _CURRENT, stamp + "\n")

    def stamps(self) -> list[str]:
        """The models that are here, in force or not."""
        if not self.path.is_dir():
            return []
        found = sorted(self.path.iterdir())
        return [one.name for one in found if one.is_dir() and (one / CONFIG).is_file() and not one.name.startswith(".")]

    def forget_download(self) -> None:
        shutil.rmtree(self.download, ignore_errors=True)

    def sweep(self) -> None:
        """Take away what installations that were killed left behind. Only under the lock."""
        for left in self.path.glob(f"{BUILDING}*"):
            shutil.rmtree(left, ignore_errors=True)
        for unnamed in self.path.glob(f".{_CURRENT}.*.tmp"):
            unnamed.unlink(missing_ok=True)

    def remove(self) -> list[str]:
        """Take every model away; the stamps of those that were there."""
        if not self.path.is_dir():
            return []
        (self.path / _CURRENT).unlink(missing_ok=True)
        stamps = self.stamps()
        for name in stamps:
            shutil.rmtree(self.path / name)
        self.sweep()
        self.forget_download()
        return stamps


def _write(path: Path, raw: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())


def installed(directory: Path) -> Installed:
    """What a model directory says of itself; ModelUnavailable when it is none, ModelRefused when it is damaged."""
    try:
        raw = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise ModelUnavailable(f"{directory.name} holds no model", fix="run hindbrain model install") from missing
    except (OSError, ValueError) as broken:
        raise damaged(directory, f"{CONFIG}: {broken}") from broken
    try:
        files = {str(name): str(digest) for name, digest in raw["files"].items()}
        if raw["format"] != _FORMAT or not {GRAPH, VOCABULARY, PROJECTION} <= set(files):
            raise damaged(directory, f"{CONFIG} is of format {raw['format']}")
        return Installed(
            path=directory,
            stamp=str(raw["stamp"]),
            dims=int(raw["dims"]),
            late_dims=int(raw["late_dims"]),
            files=files,
            facts=raw,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as broken:
        raise damaged(directory, f"{CONFIG} lacks {broken}") from broken


def damaged(directory: Path, reason: str) -> ModelRefused:
    return ModelRefused(f"the model {directory.name} is damaged: {reason}", fix="run hindbrain model install")


def first_damage(model: Installed) -> str | None:
    """What is wrong with the files of a model, by their digests; None when all are as they were written."""
    try:
        for _ in _files(model):
            pass
    except ModelRefused as damage:
        return damage.message
    return None


def _files(model: Installed) -> Iterator[tuple[str, bytes]]:
    """Each file of a model, once its digest was checked."""
    for name, digest in model.files.items():
        try:
            raw = (model.path / name).read_bytes()
        except OSError as missing:
            raise damaged(model.path, f"{name}: {missing.strerror or missing}") from missing
        if digest_of(raw) != digest:
            raise damaged(model.path, f"{name} is not what was written")
        yield name, raw


def load(model: Installed) -> Loaded:
    """Read a model and check every byte of it; ModelRefused when one is not as it was written."""
    import io

    import numpy as np

    found = dict(_files(model))
    vocabulary = tuple(found[VOCABULARY].decode("utf-8").split("\n"))
    projection = np.load(io.BytesIO(found[PROJECTION]), allow_pickle=False)
    return Loaded(run=session(found[GRAPH]), vocabulary=vocabulary, projection=projection)


def session(graph: bytes) -> "Run":
    """The model as a function. Each call computes on the thread it is made from, so several threads may share it."""
    os.putenv(_NO_TELEMETRY, "1")  # read when the library is loaded: it would look up a host of its maker and keep a device id
    try:
        import onnxruntime  # type: ignore[import-untyped]  # ships no type marker
    except ImportError as missing:
        raise ModelUnavailable(
            f"the runtime of the model cannot be loaded: {missing}", fix="install onnxruntime for this interpreter"
        ) from missing
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The graph is written as it shall be computed; further rewriting makes it slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        made = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as refused:  # the runtime raises classes of its own, which have only this one in common
        raise ModelUnavailable(
            f"the runtime refuses the model: {str(refused)[:200]}", fix="run hindbrain model install"
        ) from refused

    def run(ids: "npt.NDArray[np.int64]") -> "tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]":
        states, vector = made.run(("states", "vector"), {"ids": ids})
        return states, vector

    return run
