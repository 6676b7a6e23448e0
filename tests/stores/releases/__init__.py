"""Brains as earlier releases left them, each as the statements that make its brain.db."""

from pathlib import Path

import apsw

__all__ = ["RELEASES", "old_brain"]

RELEASES = tuple(sorted(int(path.stem) for path in Path(__file__).parent.glob("*.sql")))


def old_brain(directory: Path, released: int) -> Path:
    """A directory with the brain.db of a release."""
    directory.mkdir(mode=0o700)
    connection = apsw.Connection(str(directory / "brain.db"))
    connection.pragma("journal_mode", "wal")
    connection.execute((Path(__file__).parent / f"{released}.sql").read_text(encoding="utf-8"))
    connection.close()
    return directory
