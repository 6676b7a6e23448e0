"""Case files of a battery: one directory, one file for each case. A repository may have planted anything under these names."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import PathRefused
from hindbrain.policy.battery import CASE_BYTES, CASES_MOST
from hindbrain.stores.held_file import content_of, facts_of, placed, shown, told

__all__ = ["case_files", "drop_cases", "place_case"]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ENDING = ".json"


def case_files(directory: Path) -> tuple[list[tuple[str, bytes | str]], int]:
    """The cases of a directory by name, each with its bytes or with why it cannot be read; and how many were left out."""
    try:
        with _held(directory) as held:
            names = sorted(name for name in os.listdir(held) if name.endswith(_ENDING) and not name.startswith("."))
            found: list[tuple[str, bytes | str]] = [(_plain(name), _read(name, held)) for name in names[:CASES_MOST]]
    except FileNotFoundError:
        return [], 0
    except OSError as wrong:
        raise told(wrong, str(directory)) from wrong
    return found, max(0, len(names) - CASES_MOST)


def place_case(directory: Path, name: str, text: str) -> bool:
    """Write a case under its name. False when the very same is there; another one of that name is left alone and refused."""
    try:
        with _held(directory, make=True) as held:
            file = name + _ENDING
            if facts_of(file, held) is not None:
                if content_of(file, held, CASE_BYTES) == text.encode():
                    return False
                raise PathRefused(f"{shown(str(directory / file))} is another case", fix="give this one another name with --name")
            placed(file, held, text.encode(), None)
            os.fsync(held)
    except OSError as wrong:
        raise told(wrong, str(directory)) from wrong
    return True


def drop_cases(directory: Path, which: Callable[[bytes], bool]) -> int:
    """Delete the cases whose bytes are meant; how many there were."""
    try:
        with _held(directory) as held:
            names = [name for name in os.listdir(held) if name.endswith(_ENDING) and not name.startswith(".")]
            meant = [name for name in names if isinstance(raw := _read(name, held), bytes) and which(raw)]
            for name in meant:
                os.unlink(name, dir_fd=held)
            os.fsync(held)
    except FileNotFoundError:
        return 0
    except OSError as wrong:
        raise told(wrong, str(directory)) from wrong
    return len(meant)


@contextmanager
def _held(directory: Path, *, make: bool = False) -> Iterator[int]:
    """The directory, open. Its last two names are the repository's own words, so neither may be a link."""
    outer = os.open(directory.parent.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in directory.parts[-2:]:
            if make and facts_of(name, outer) is None:
                _made(name, outer)
            inner = os.open(name, _DIRECTORY, dir_fd=outer)
            os.close(outer)
            outer = inner
        yield outer
    finally:
        os.close(outer)


def _made(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except OSError as wrong:
        if wrong.errno != errno.EEXIST:  # another process made it meanwhile
            raise


def _read(name: str, held: int) -> bytes | str:
    try:
        return content_of(name, held, CASE_BYTES)
    except PathRefused as refused:
        return refused.message
    except OSError as wrong:
        return told(wrong, name).message


def _plain(name: str) -> str:
    return shown(name.removesuffix(_ENDING))
