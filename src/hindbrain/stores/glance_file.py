"""Glances at files: how the brain in a file stands. Opens no brain: a file is only looked at, and nothing is made or locked."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw

from hindbrain.domain.brain import BrainId
from hindbrain.domain.errors import StoreBehind, StoreDamaged, StoreUnavailable
from hindbrain.stores.checked_file import checked_vfs, is_plain
from hindbrain.stores.filestate import VERSION as FILE_STATE_VERSION
from hindbrain.stores.glance import Glance, glance_of
from hindbrain.stores.migrations import MIGRATIONS, outstanding
from hindbrain.stores.sqlite_files import SqliteSession, translated

__all__ = ["Stamp", "file_glance", "graph_counts", "kept_out_counts", "stamp_of"]

_GLANCE_MS = 1000  # how long a lock is waited for; who looks at fifty brains waits for none of them longer

T = TypeVar("T")
Stamp = tuple[tuple[int, int, int] | None, ...]


def stamp_of(path: Path) -> Stamp:
    """What a database file and its log look like from outside; the same as long as nobody wrote."""
    return tuple(_facts(place) for place in (path, path.with_name(path.name + "-wal")))


def _facts(path: Path) -> tuple[int, int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _looked(path: Path, read: Callable[[apsw.Connection], T], *, vfs: str = "") -> T:
    """What a connection that can write nothing reads. A file that nobody has open and that has no log is complete in itself; read
    as such, it gets no log either. Whoever opens it at that very moment is seen by the log, and it is read again."""
    if _facts(path.with_name(path.name + "-shm")) is None and not (_facts(path.with_name(path.name + "-wal")) or (0, 0))[1]:
        before = stamp_of(path)
        try:
            found = _read(path, f"{vfs}&immutable=1", read)
        except StoreUnavailable:
            if stamp_of(path) == before:
                raise
        else:
            if stamp_of(path) == before:
                return found
    return _read(path, vfs, read)


def _read(path: Path, how: str, read: Callable[[apsw.Connection], T]) -> T:
    with translated(path):
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"file:{quote(str(path))}?mode=ro{how}", flags=flags)
        try:
            connection.set_busy_timeout(_GLANCE_MS)
            # The last one to leave would tidy up the log, which a file that is open for reading does not allow.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            return read(connection)
        finally:
            connection.close()


def file_glance(path: Path, brain_id: BrainId, *, published: bool) -> Glance:
    """How the brain in a file stands. A file that is not there yet holds an empty brain; one of another release is not read."""

    def read(connection: apsw.Connection) -> Glance:
        version = connection.pragma("user_version")
        if not isinstance(version, int) or outstanding(MIGRATIONS, version, str(path)):
            raise StoreBehind(
                f"{path} has schema version {version}", fix="the next ordinary call brings it up to date", found=version
            )
        connection.execute("begin")
        return glance_of(SqliteSession(connection), brain_id, published=published)

    return _looked(path, read) if path.exists() else Glance()


def graph_counts(path: Path) -> tuple[int, int]:
    """Nodes and edges of the code that was taken in, by its file; none when there is none."""

    def read(connection: apsw.Connection) -> tuple[int, int]:
        rows = SqliteSession(connection).rows("select key, value from meta where key in ('nodes', 'edges')")
        found: dict[str, str] = dict(rows)
        return int(found.get("nodes", 0)), int(found.get("edges", 0))

    if not path.exists():
        return (0, 0)
    return _looked(path, read, vfs="" if is_plain(path) else f"&vfs={quote(checked_vfs())}")


def kept_out_counts(path: Path) -> Mapping[str, int]:
    """How many claim files of this checkout are not served, by reason; none when nobody looked, or the file cannot be read."""

    def read(connection: apsw.Connection) -> Mapping[str, int]:
        if connection.pragma("user_version") != FILE_STATE_VERSION:
            return {}
        return dict(SqliteSession(connection).rows("select kind, count(*) from kept_out group by kind"))

    if not path.exists() or is_plain(path):
        return {}
    try:
        return _looked(path, read, vfs=f"&vfs={quote(checked_vfs())}")
    except (StoreDamaged, StoreUnavailable):
        return {}  # derived: the next look at the files fills it again
