"""Migration backups: what a migration of the medulla found, kept until it is taken back. One private directory each."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import StoreUnavailable
from hindbrain.domain.migration import Step
from hindbrain.stores.atomic import sync_directory, write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.files import digest_of

__all__ = ["MigrationBackup", "erase_from_backups"]

_MANIFEST = "manifest.json"
_PREFIX = "migration-"


class MigrationBackup:
    """`medulla/migration-<ms>/`. Its manifest is written last and says how far the migration came."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, medulla: Path, at: int) -> "MigrationBackup":
        """A new, empty backup. Without a manifest it means nothing yet."""
        while (path := medulla / f"{_PREFIX}{at}").exists():
            at += 1
        make_directory(path / "files")
        path.chmod(0o700)
        return cls(path)

    @classmethod
    def all(cls, medulla: Path) -> "list[MigrationBackup]":
        """Every backup with a manifest, oldest first."""
        return [one for one in cls._found(medulla) if one.has_manifest]

    @classmethod
    def sweep(cls, medulla: Path) -> None:
        """Remove what a dead process left of a backup that was never complete, or was being removed."""
        for one in cls._found(medulla):
            if not one.has_manifest:
                one.remove()

    @classmethod
    def _found(cls, medulla: Path) -> "Iterator[MigrationBackup]":
        names = os.listdir(medulla) if medulla.is_dir() else []
        numbers = [int(n) for name in names if name.startswith(_PREFIX) and (n := name.removeprefix(_PREFIX)).isdigit()]
        yield from (cls(medulla / f"{_PREFIX}{number}") for number in sorted(numbers))

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def has_manifest(self) -> bool:
        return (self.path / _MANIFEST).exists()

    @property
    def manifest(self) -> dict[str, Any]:
        path = self.path / _MANIFEST
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as broken:
            raise StoreUnavailable(f"{path} is damaged: {broken}", fix="put it right from another backup of the home") from broken
        return found

    @property
    def steps(self) -> list[Step]:
        return [Step.read(one) for one in self.manifest["steps"]]

    def save(self, manifest: dict[str, Any]) -> None:
        write_text(self.path / _MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")

    def update(self, **changed: Any) -> None:
        self.save({**self.manifest, **changed})

    def database(self, name: str) -> Path:
        """Where the copy of a brain's database lies, by the name of the brain's directory."""
        return self.path / f"{name}.db"

    def keep(self, name: str, text: str) -> None:
        write_text(self.path / "files" / name, text)

    def kept(self, name: str) -> str:
        return (self.path / "files" / name).read_bytes().decode("utf-8")

    def keep_list(self, number: int, file: Path, text: str, *, after: str) -> dict[str, str]:
        """Keep a list of ingest roots; returns how the manifest names it. `after` is the text that replaces it."""
        self.keep(f"{number}.ingest_roots.json", text)
        return {"file": str(file), "after": digest_of(after)}

    def changed_lists(self) -> list[str]:
        """Lists that are by now neither as they were nor as the migration left them."""
        found = []
        for number, one in enumerate(self.manifest["roots"]):
            text = Path(one["file"]).read_bytes().decode("utf-8", "replace") if os.path.exists(one["file"]) else ""
            if digest_of(text) not in (one["after"], digest_of(self.kept(f"{number}.ingest_roots.json"))):
                found.append(one["file"])
        return found

    def restore_lists(self) -> None:
        for number, one in enumerate(self.manifest["roots"]):
            if one["file"] not in self.changed_lists():
                write_text(Path(one["file"]), self.kept(f"{number}.ingest_roots.json"))

    def drop(self, name: str) -> bool:
        there = (self.path / "files" / name).exists()
        (self.path / "files" / name).unlink(missing_ok=True)
        return there

    def remove(self) -> None:
        """The manifest goes first: a removal that is interrupted leaves nothing that could be taken for a backup."""
        (self.path / _MANIFEST).unlink(missing_ok=True)
        sync_directory(self.path)
        shutil.rmtree(self.path)
        sync_directory(self.path.parent)


def erase_from_backups(medulla: Path, directory: str, root: str | None, slug: str) -> int:
    """Take a forgotten claim out of every backup; returns how many files went. `directory` names the brain's own, `root` is its
    root. A database copy that may hold the claim goes whole: nothing is read from it when a migration is taken back."""
    gone = 0
    for backup in MigrationBackup.all(medulla):
        manifest = backup.manifest
        mine = [one for one in manifest["steps"] if one["slug"] == slug and (root is None or one["destination"] == root)]
        for name in {directory, *(["medulla"] if mine else [])}:
            gone += backup.database(name).exists()
            backup.database(name).unlink(missing_ok=True)
        if mine:
            gone += backup.drop(f"{slug}.light.md")
            backup.update(steps=[one for one in manifest["steps"] if one not in mine])
        if root is None and slug in manifest["ambiguous"]:
            backup.update(ambiguous=[one for one in manifest["ambiguous"] if one != slug])
    return gone
