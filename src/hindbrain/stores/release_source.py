"""The source of releases that an operator named: a wheel, a directory of wheels, a release file, or the address of one."""

import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from hindbrain.policy.recovery import SOURCE_BYTES_MOST, SOURCE_WAIT_S

__all__ = ["Offer", "offered", "parts"]

_WHEEL = re.compile(r"^hindbrain-([0-9][0-9A-Za-z.]*)-py3-none-any\.whl$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a source has, or why that is not known."""

    source: str | None  # without a password
    version: str | None = None
    build: str | None = None
    wheel: str | None = None  # the file to install, where the source has it
    problem: str | None = None


def parts(version: str) -> tuple[int, ...]:
    """A version for comparing."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def offered(source: str) -> Offer:
    """The newest release of a source. An empty source is none, and that is no error."""
    source = source.strip()
    if not source:
        return Offer(source=None, problem="no source is configured: set update_source to a wheel, a directory, a file or a URL")
    if source.startswith(("http://", "https://")):
        return _at_address(source)
    path = Path(source).expanduser()
    if path.is_dir():
        return _newest(path)
    if not path.is_file():
        return Offer(source=str(path), problem="there is no such file or directory")
    if found := _WHEEL.match(path.name):
        return Offer(source=str(path), version=found[1], wheel=str(path.resolve()))
    return _told(str(path), path.read_bytes()[:SOURCE_BYTES_MOST], path.parent)


def _newest(directory: Path) -> Offer:
    wheels = [(found[1], path) for path in directory.iterdir() if path.is_file() and (found := _WHEEL.match(path.name))]
    if not wheels:
        return Offer(source=str(directory), problem="the directory has no wheel of Hindbrain")
    version, path = max(wheels, key=lambda one: parts(one[0]))
    return Offer(source=str(directory), version=version, wheel=str(path.resolve()))


def _at_address(address: str) -> Offer:
    shown = urlsplit(address)
    name = urlunsplit((shown.scheme, shown.hostname or "", shown.path, "", ""))
    try:
        with urllib.request.urlopen(address, timeout=SOURCE_WAIT_S) as answer:  # noqa: S310 - http and https only, checked above
            raw = answer.read(SOURCE_BYTES_MOST)
    except (OSError, urllib.error.URLError, ValueError) as failure:
        return Offer(source=name, problem=f"the source did not answer: {type(failure).__name__}")
    return _told(name, raw, None)


def _told(source: str, raw: bytes, beside: Path | None) -> Offer:
    """A release file: version, build, and the wheel that lies beside it. An index tells its version under `info`."""
    try:
        found = json.loads(raw)
    except ValueError:
        return Offer(source=source, problem="the release file is not JSON")
    told: dict[str, Any] = found if isinstance(found, dict) else {}
    info = told.get("info")
    version = told.get("version") or (info.get("version") if isinstance(info, dict) else None)
    if not isinstance(version, str) or not parts(version):
        return Offer(source=source, problem="the release file names no version")
    build, wheel = told.get("build"), told.get("wheel")
    place = beside / wheel if beside is not None and isinstance(wheel, str) else None
    inside = place is not None and beside is not None and place.resolve().is_relative_to(beside.resolve()) and place.is_file()
    return Offer(
        source=source,
        version=version,
        build=build if isinstance(build, str) else None,
        wheel=str(place.resolve()) if inside and place is not None else None,
    )
