"""A disk for SQLite that remembers what was synced, and on which a test can make a write fail."""

from collections.abc import Callable
from pathlib import Path

import apsw

__all__ = ["Disk"]


class Disk(apsw.VFS):
    """The real disk, watched. `synced` has each file as a power cut would leave it: as of its last sync."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "")
        self.name = name
        self.synced: dict[str, bytes] = {}
        self.before_write: Callable[[str], None] = lambda file: None

    def xOpen(self, name: "str | apsw.URIFilename | None", flags: list[int]) -> "_File":
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self.synced.pop(Path(filename).name, None)

    def after_power_cut(self, directory: Path) -> Path:
        """A directory with what would be there when the power comes back."""
        directory.mkdir()
        for name, image in self.synced.items():
            (directory / name).write_bytes(image)
        return directory


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: "str | apsw.URIFilename | None", flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._name = Path(path or "temporary").name

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.before_write(self._name)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._disk.synced[self._name] = self.xRead(self.xFileSize(), 0)
