"""Host files: reading and writing files that belong to an agent host. A link is followed only to where such a file may lie; a
file is replaced whole or not at all, and keeps its mode."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hindbrain.domain.errors import InvalidState, PathRefused
from hindbrain.policy.hosts import HostFile, HostText
from hindbrain.stores.atomic import sync_directory, write_text

__all__ = ["Held", "Place", "hold", "located", "remove", "write"]

_MOST = 32 << 20  # Claude Code keeps the history of projects in its file; beyond this it is no configuration
_FILE_MODES = {True: 0o644, False: 0o600}
_DIRECTORY_MODES = {True: 0o755, False: 0o700}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a file of a host is, and the directory that a link may not lead out of."""

    path: Path
    within: Path
    of_project: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A file as it was when it was looked at. No text: it is not there."""

    place: Place
    real: Path
    text: str | None = None
    mode: int | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Directories that have to be made for it, the outermost first."""
        return tuple(str(one) for one in reversed(self.real.parents) if not one.exists())


def located(file: HostFile | HostText, *, user: Path, project: Path | None, environ: Mapping[str, str]) -> Place | None:
    """Where a file lies: in the project, in the directory that a variable names, else below the user's home."""
    if file.of_project:
        return None if project is None else Place(path=project / file.path, within=project, of_project=True)
    if file.moved_by and os.path.isabs(moved := environ.get(file.moved_by, "")):
        return Place(path=Path(moved, file.moved_to), within=Path(moved), of_project=False)
    return Place(path=user / file.path, within=user, of_project=False)


def hold(place: Place) -> Held:
    """Look at a file."""
    real = Path(os.path.realpath(place.path))
    if not real.is_relative_to(os.path.realpath(place.within)):
        raise PathRefused(f"{place.path} leads elsewhere", fix="edit the file that it leads to by hand; hosts plan has the entry")
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Held(place=place, real=real)
    except OSError as wrong:
        raise _refused(place, wrong) from wrong
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST:
            raise PathRefused(f"{place.path} is no file of configuration", fix="look at what lies there, and move it away")
        with os.fdopen(os.dup(handle), "rb") as file:
            raw = file.read(_MOST + 1)
    except OSError as wrong:
        raise _refused(place, wrong) from wrong
    finally:
        os.close(handle)
    try:
        return Held(place=place, real=real, text=raw.decode("utf-8"), mode=stat.S_IMODE(facts.st_mode))
    except UnicodeDecodeError as wrong:
        raise InvalidState(f"{place.path} is not written in UTF-8", fix="put the file right by hand first") from wrong


def write(held: Held, text: str, *, mode: int | None = None) -> None:
    """Put a text in the place of what was looked at. A file that its owner made read-only is left alone."""
    if held.mode is not None and not held.mode & stat.S_IWUSR:
        raise PathRefused(f"{held.place.path} is read-only", fix="make it writable if it is yours to change, then try again")
    kept = held.mode or mode or _FILE_MODES[held.place.of_project]
    try:
        for directory in held.missing:
            Path(directory).mkdir(mode=_DIRECTORY_MODES[held.place.of_project], exist_ok=True)
        write_text(held.real, text, mode=kept)
        if stat.S_IMODE(held.real.stat().st_mode) != kept:
            held.real.chmod(kept)  # the mask of this process is not that of the file's owner
    except OSError as wrong:
        raise _refused(held.place, wrong) from wrong


def remove(held: Held, made: Sequence[str]) -> None:
    """Take a file away, and the directories that were made for it where they are empty."""
    try:
        if held.text is not None:
            held.real.unlink(missing_ok=True)
            sync_directory(held.real.parent)
        for directory in reversed(made):
            if os.path.isdir(directory) and not os.listdir(directory):
                os.rmdir(directory)
    except OSError as wrong:
        raise _refused(held.place, wrong) from wrong


def _refused(place: Place, wrong: OSError) -> PathRefused:
    return PathRefused(f"{place.path} cannot be used: {wrong.strerror or wrong}", fix="look at its permissions, then try again")
