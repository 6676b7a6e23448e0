"""Checked files: derived databases whose pages end with a checksum, so that a changed bit is found when its page is read.

SQLite checks the structure of a page and not its content. A changed bit in a number or a text would otherwise be an answer.
The checksum lies in bytes that SQLite reserves at the end of each page. Every connection must use the file system of this
module: a page that is written without it has no valid checksum.
"""

import os
import threading
import zlib
from pathlib import Path
from urllib.parse import quote

import apsw

__all__ = [
    "PAGE_BYTES",
    "PageDamaged",
    "add_checksums",
    "attach_name",
    "checked_vfs",
    "has_checksums",
    "is_plain",
    "lay_out",
    "plain_name",
]

PAGE_BYTES = 4096
SUM_BYTES = 8  # reserved at the end of a page: a mark and the checksum, four bytes each
MARK = b"hbp1"
SUBPAGE_READ = 0x8000  # SQLITE_IOCAP_SUBPAGE_READ: SQLite may read parts of a page; no part of a page can be checked

_BODY = PAGE_BYTES - SUM_BYTES
_HEADER, _RESERVED = 100, 20  # of SQLite's file format: bytes of the header, and where it counts the reserved bytes of a page
_systems: dict[str, "_CheckedSystem"] = {}
_lock = threading.Lock()


def _ending(page: bytes, offset: int) -> bytes:
    """The last bytes of a page. The place of the page counts too: a page in the place of another one is damage."""
    return MARK + zlib.adler32(memoryview(page)[:_BODY], offset // PAGE_BYTES + 1).to_bytes(4, "little")


class PageDamaged(apsw.CorruptError):
    """A page whose checksum does not match. A connection may have several files open, so the error names the file."""

    def __init__(self, path: Path, page: int) -> None:
        super().__init__(f"the checksum of page {page} does not match")
        self.path = path


class _CheckedPages(apsw.VFSFile):
    """A database file; its log has checksums of its own and is left alone."""

    def __init__(self, base: str, name: "str | apsw.URIFilename", flags: list[int]) -> None:
        super().__init__(base, name, flags)
        self._path = Path(name if isinstance(name, str) else name.filename())

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - the name is SQLite's
        page = super().xRead(amount, offset)
        if len(page) == PAGE_BYTES and page[_BODY:] != _ending(page, offset):
            raise PageDamaged(self._path, offset // PAGE_BYTES + 1)
        return page

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - the name is SQLite's
        if len(data) == PAGE_BYTES:
            data = bytes(data[:_BODY]) + _ending(data, offset)
        super().xWrite(data, offset)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - the name is SQLite's
        return super().xDeviceCharacteristics() & ~SUBPAGE_READ


class _CheckedSystem(apsw.VFS):
    """The file system of the machine, or the one a test gives, with checked database files."""

    def __init__(self, name: str, base: str) -> None:
        self._base = base
        super().__init__(name, base)

    def xOpen(self, name: "str | apsw.URIFilename | None", flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - the name is SQLite's
        if name is not None and flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _CheckedPages(self._base, name, flags)
        return apsw.VFSFile(self._base, name, flags)


def checked_vfs(base: str | None = None) -> str:
    """The name of the file system for checked files, on top of another one; registered on first use."""
    name = f"hindbrain-checked-{base}" if base else "hindbrain-checked"
    with _lock:
        if name not in _systems:
            _systems[name] = _CheckedSystem(name, base or "")
    return name


def attach_name(path: object, base: str | None = None) -> str:
    """What `attach` takes to open a file as a checked one beside a plain one. The connection must know URIs."""
    return f"file:{quote(str(path))}?vfs={quote(checked_vfs(base))}"


def plain_name(path: object) -> str:
    """What `attach` takes to open a file without checksums beside a checked one."""
    return f"file:{quote(str(path))}?vfs={quote(apsw.vfs_names()[0])}"


def lay_out(connection: apsw.Connection, schema: str = "main") -> None:
    """Give an empty database pages of the one size, with room for a checksum at the end of each."""
    connection.execute(f"pragma {schema}.page_size = {PAGE_BYTES}").fetchall()
    connection.reserve_bytes(schema, SUM_BYTES)


def has_checksums(connection: apsw.Connection, schema: str = "main") -> bool:
    """Whether a database that is not empty has room for checksums in its pages."""
    ((size,),) = connection.execute(f"pragma {schema}.page_size").fetchall()
    return size == PAGE_BYTES and connection.reserve_bytes(schema) == SUM_BYTES


def is_plain(path: Path) -> bool:
    """Whether a file is a database of a release before checksums, by its header."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError:
        return False
    return len(header) == _HEADER and header.startswith(b"SQLite format 3\x00") and header[_RESERVED] == 0


def add_checksums(path: Path, *, base: str | None = None) -> None:
    """Rewrite a database of a release before checksums as a checked file, in its place. Its version stays as it is.

    The caller has the only right to write. Other connections go on with the file that they have open and find the new one by
    its inode.
    """
    fresh = path.with_name(f".{path.name}.checked.tmp")
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(str(path), flags=flags, vfs=base)
        try:
            if connection.execute("pragma integrity_check(1)").fetchall() != [("ok",)]:
                raise apsw.CorruptError("the pages do not agree with each other")
            connection.reserve_bytes("main", SUM_BYTES)
            connection.execute("vacuum into ?", (attach_name(fresh, base),)).fetchall()
        finally:
            connection.close()
        connection = apsw.Connection(str(fresh), vfs=checked_vfs(base))
        try:
            connection.pragma("journal_mode", "wal")
        finally:
            connection.close()
        for name in (f"{path.name}-shm", f"{path.name}-wal"):
            path.with_name(name).unlink(missing_ok=True)
        os.replace(fresh, path)
    finally:
        for name in (fresh.name, f"{fresh.name}-shm", f"{fresh.name}-wal"):
            fresh.with_name(name).unlink(missing_ok=True)
