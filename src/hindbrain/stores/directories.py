"""Directories: made with their own mode, and so is every one above that is missing. `Path.mkdir` leaves those to the umask."""

from pathlib import Path

__all__ = ["PRIVATE", "SHARED", "make_directory"]

PRIVATE = 0o700  # of the home: only its user may look
SHARED = 0o755  # of a repository: others may read it, only its user may write


def make_directory(path: Path, *, mode: int = PRIVATE) -> None:
    """Have a directory. What is missing gets this mode at most; a directory that is there stays as it is."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for place in reversed(missing):
        try:
            place.mkdir(mode=mode)
        except FileExistsError:
            if not place.is_dir():
                raise
