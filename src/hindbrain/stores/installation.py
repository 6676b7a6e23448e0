"""The installation: which program is installed, which one runs, and which one hosts would start. Reads; changes nothing."""

import hashlib
import http.client
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from hindbrain import __version__
from hindbrain.policy.hosts import SERVER
from hindbrain.stores.home import Home
from hindbrain.stores.owner_file import read_last_owner, read_living_owner
from hindbrain.stores.token_file import CHALLENGE, PROVE_PATH, TokenUnreadable, owner_proof, read_token

__all__ = [
    "Executable",
    "Installed",
    "Release",
    "Running",
    "build_of",
    "executables",
    "installed",
    "package_dir",
    "program",
    "release",
    "running",
    "started_as",
]

PING_S = 5.0  # a server that takes longer than this to say that it is there is of no use to an agent
_PROOF_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The program on disk, as it would start now."""

    version: str  # of the source that is imported
    recorded: str | None  # of the installation's own record; an editable one may lag behind its checkout
    build: str
    editable: bool
    changed_ms: int  # newest file of the package


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The owner of a home, by its file and by its own word."""

    pid: int
    version: str
    build: str | None
    started_ms: int
    alive: bool
    answers: bool
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What the operator expects to be installed: `release.json` in the home, if there is one."""

    version: str | None
    build: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """One `hindbrain` on the search path. A shadowed one stands behind another."""

    path: str
    real: str
    shadowed: bool


def build_of(package: Path) -> str:
    """The build id: a digest over every source file of a package."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode("utf-8", "surrogateescape") + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@cache
def started_as() -> str:
    """The build id of this process: what was on disk when it was first asked, which the owner does when it starts."""
    return build_of(package_dir())


def program() -> str:
    """Return the file that this process was started from: the installed program, else the interpreter that runs the package."""
    given = sys.argv[0]
    if os.path.basename(given) == SERVER:
        found = given if os.sep in given else shutil.which(given)
        if found is not None and os.path.isfile(found):
            return os.path.realpath(found)
    return sys.executable


def package_dir() -> Path:
    return Path(__file__).resolve().parents[1]


def installed() -> Installed:
    """The program that would start now."""
    package = package_dir()
    try:
        record = metadata.distribution("hindbrain")
        recorded: str | None = record.version
        direct = json.loads(record.read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        recorded, direct = None, {}
    editable = bool(direct.get("dir_info", {}).get("editable")) if isinstance(direct, dict) else False
    newest = max(path.stat().st_mtime_ns for path in package.rglob("*.py")) // 1_000_000
    return Installed(
        version=_version_on_disk(package), recorded=recorded, build=build_of(package), editable=editable, changed_ms=newest
    )


def _version_on_disk(package: Path) -> str:
    """The version the source says now; this process may have been started from an older one."""
    for line in (package / "__init__.py").read_text(encoding="utf-8").splitlines():
        if line.startswith("__version__"):
            return line.partition("=")[2].strip().strip("\"'")
    return __version__


def release(home: Home) -> Release:
    """What should be installed, if the operator said so."""
    try:
        found = json.loads((home.path / "release.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    told = found if isinstance(found, dict) else {}
    return Release(version=_text(told.get("version")), build=_text(told.get("build")))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def running(home: Home, *, wait_s: float = PING_S) -> Running | None:
    """The owner of a home, or None when none is announced."""
    told = read_last_owner(str(home.path))
    if told is None or not isinstance(pid := told.get("pid"), int) or not isinstance(port := told.get("port"), int):
        return None
    alive = read_living_owner(str(home.path)) is not None
    problem = None if alive else f"process {pid} is gone"
    if alive and pid != os.getpid():
        problem = _ping(str(told.get("host", "127.0.0.1")), port, home, wait_s)
    return Running(
        pid=pid,
        version=str(told.get("version", "")),
        build=_text(told.get("build")),
        started_ms=int(told.get("started_ms") or 0),
        alive=alive,
        answers=problem is None,
        problem=problem,
    )


def _ping(host: str, port: int, home: Home, wait_s: float) -> str | None:
    """Why the owner did not answer, or None. It is only asked for its proof: no token is sent."""
    began, challenge = time.monotonic(), secrets.token_hex(16)
    connection = http.client.HTTPConnection(host, port, timeout=wait_s)
    try:
        expected = owner_proof(read_token(home.token_file), challenge, host, port)
        connection.request("GET", PROVE_PATH, headers={CHALLENGE: challenge})
        answer = connection.getresponse()
        said = answer.read(_PROOF_BYTES)
    except TokenUnreadable as damaged:
        return f"{home.token_file} is damaged: {damaged}"
    except (OSError, http.client.HTTPException) as failure:
        return f"no answer on port {port} after {time.monotonic() - began:.1f} s: {failure or type(failure).__name__}"
    finally:
        connection.close()
    if answer.status != http.client.OK:
        return f"port {port} answered {answer.status}"
    return None if expected.encode("ascii") in said else f"what answers on port {port} is not the owner of this home"


def executables(environ: Mapping[str, str]) -> tuple[Executable, ...]:
    """Every `hindbrain` on the search path, the one that would start first."""
    found: list[Executable] = []
    for directory in environ.get("PATH", "").split(os.pathsep):
        if directory and (path := shutil.which("hindbrain", path=directory)):
            real = os.path.realpath(path)
            if real not in {one.real for one in found}:
                found.append(Executable(path=path, real=real, shadowed=bool(found)))
    return tuple(found)
