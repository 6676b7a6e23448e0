"""The installation on disk: the package and its record in one directory. Copied away before it is replaced, and put back."""

import base64
import csv
import hashlib
import os
import shutil
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path, PurePosixPath

from hindbrain.domain.errors import InvalidState
from hindbrain.policy.recovery import WHEEL_BYTES_MOST
from hindbrain.stores.atomic import write_bytes
from hindbrain.stores.directories import PRIVATE, SHARED, make_directory
from hindbrain.stores.installation import build_of, installed, package_dir

__all__ = ["InstallTree", "own_tree"]

_NAME = "hindbrain"


def own_tree() -> "InstallTree":
    """The installation that this process runs from."""
    if installed().editable and not list(package_dir().parent.glob(f"{_NAME}-*.dist-info")):
        raise InvalidState(
            f"{package_dir()} is a checkout that was installed as it lies", fix="bring the checkout up to date with git instead"
        )
    return InstallTree(package_dir().parent)


@dataclass(frozen=True, slots=True)
class InstallTree:
    """A directory with our package in it."""

    base: Path

    @property
    def package(self) -> Path:
        return self.base / _NAME

    @property
    def record(self) -> Path:
        """The directory in which installers keep what they installed."""
        found = sorted(self.base.glob(f"{_NAME}-*.dist-info"))
        if not self.package.is_dir() or len(found) != 1:
            raise InvalidState(
                f"{self.base} has {len(found)} records of an installation of Hindbrain, not one",
                fix="update it with the program that installed it",
            )
        return found[0]

    @property
    def version(self) -> str:
        return self.record.name.removeprefix(f"{_NAME}-").removesuffix(".dist-info")

    def copied(self, to: Path) -> None:
        """Keep the whole installation elsewhere."""
        record = self.record
        make_directory(to.parent)
        to.mkdir(mode=PRIVATE)
        shutil.copytree(self.package, to / _NAME, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(record, to / record.name)

    def install(self, wheel: Path) -> None:
        """Put a wheel in place of what is there. Every file is checked against the wheel's own record first."""
        staged = self.base / f".{_NAME}-new-{os.getpid()}"
        shutil.rmtree(staged, ignore_errors=True)
        try:
            _unpacked(wheel, staged)
            fresh = InstallTree(staged)
            if _needs(fresh.record) != _needs(self.record):
                raise InvalidState(
                    f"{wheel.name} needs other libraries than those that are installed",
                    fix=f"install it with its libraries: python -m pip install {wheel}",
                )
            _carry_programs(self.record, fresh.record)
            self._swap(fresh)
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def restore(self, kept: Path) -> None:
        """Put a copy back."""
        staged = self.base / f".{_NAME}-old-{os.getpid()}"
        shutil.rmtree(staged, ignore_errors=True)
        try:
            shutil.copytree(kept, staged)
            self._swap(InstallTree(staged))
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def _swap(self, fresh: "InstallTree") -> None:
        """Each of the two directories goes away before its successor comes; when one cannot come, all are put back."""
        gone, record = self.base / f".{_NAME}-gone-{os.getpid()}", self.record
        gone.mkdir(mode=PRIVATE)
        done: list[tuple[Path, Path, Path]] = []
        try:
            for old, new in ((self.package, fresh.package), (record, fresh.record)):
                away, place = gone / old.name, self.base / new.name
                os.rename(old, away)
                done.append((old, away, place))
                os.rename(new, place)
        except OSError:
            for old, away, place in reversed(done):
                shutil.rmtree(place, ignore_errors=True)
                os.rename(away, old)
            raise
        finally:
            shutil.rmtree(gone, ignore_errors=True)

    @property
    def build(self) -> str:
        return build_of(self.package)


def _unpacked(wheel: Path, to: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        if sum(one.file_size for one in archive.infolist()) > WHEEL_BYTES_MOST:
            raise InvalidState(f"{wheel.name} is larger than a release of Hindbrain", fix="look where it comes from")
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
        listed = next((name for name in names if name.endswith(".dist-info/RECORD")), None)
        if listed is None:
            raise InvalidState(f"{wheel.name} is no wheel: it has no record", fix="build it again, or take another release")
        sums = {row[0]: row[1] for row in csv.reader(archive.read(listed).decode("utf-8").splitlines()) if len(row) >= 2}
        for name in names:
            data = archive.read(name)
            if not _ours(name) or (name != listed and sums.get(name) != _sum(data)):
                raise InvalidState(f"{wheel.name} is not what its record says: {name}", fix="take the release again")
            target = to / name
            make_directory(target.parent, mode=SHARED)
            write_bytes(target, data, mode=0o644)  # others may run it, nobody else may change it


def _ours(name: str) -> bool:
    """A path inside of our package or its record, and nowhere else."""
    place = PurePosixPath(name)
    first = place.parts[0] if place.parts else ""
    return not place.is_absolute() and ".." not in place.parts and (first == _NAME or first.startswith(f"{_NAME}-"))


def _sum(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")


def _needs(record: Path) -> frozenset[str]:
    """The libraries that an installation asks for, without its extras."""
    told = Parser().parsestr((record / "METADATA").read_text(encoding="utf-8"))
    return frozenset(one for one in told.get_all("Requires-Dist") or () if "extra ==" not in one)


def _carry_programs(old: Path, new: Path) -> None:
    """Programs beside the package stay as they are: the new record lists them, so that whoever removes it finds them."""
    lines = (old / "RECORD").read_text(encoding="utf-8").splitlines() if (old / "RECORD").is_file() else []
    programs = [line for line in lines if line.startswith("../")]
    with (new / "RECORD").open("a", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in programs)
    (new / "INSTALLER").write_text(f"{_NAME}\n", encoding="utf-8")
