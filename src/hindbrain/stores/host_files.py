"""Host files: what agent hosts are configured to start. Reads their files; writes none."""

import hashlib
import json
import os
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.policy.hosts import SERVER, Host, HostFile

__all__ = ["Configured", "configured", "digest_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """Our entry in one file of a host, or why there is none."""

    host: str
    file: str
    found: bool
    entry: str | None = None  # the name under which the host lists us
    command: str | None = None
    real: str | None = None  # the program that command starts
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    digest: str | None = None  # of the entry as it stands
    problem: str | None = None


def digest_of(entry: Mapping[str, Any]) -> str:
    """One entry, whatever its spelling in the file."""
    return hashlib.sha256(json.dumps(entry, sort_keys=True, default=str).encode("utf-8")).hexdigest()


def configured(host: Host, *, user: Path, project: Path | None, environ: Mapping[str, str]) -> tuple[Configured, ...]:
    """Every file of a host that exists, with our entry in it."""
    seen = []
    for file in host.files:
        base = project if file.of_project else user
        path = base / file.path if base is not None else None
        if path is not None and path.is_file():
            seen.append(_read(host, file, path, project, environ))
    return tuple(seen)


def _read(host: Host, file: HostFile, path: Path, project: Path | None, environ: Mapping[str, str]) -> Configured:
    try:
        text = path.read_text(encoding="utf-8")
        whole = json.loads(text) if file.form == "json" else tomllib.loads(text)
    except (OSError, ValueError) as failure:
        return Configured(host=host.name, file=str(path), found=False, problem=f"cannot be read: {failure}")
    for servers in _tables(whole, file.key, project):
        if (entry := _ours(servers)) is not None:
            return _entry(host, path, entry, servers[entry], environ)
    return Configured(host=host.name, file=str(path), found=False, problem="lists no Hindbrain server")


def _tables(whole: Any, key: str, project: Path | None) -> list[dict[str, Any]]:
    """The tables of servers in a file; Claude Code keeps one for each project beside its own."""
    if not isinstance(whole, dict):
        return []
    of_project = whole.get("projects", {}).get(str(project), {}) if isinstance(whole.get("projects"), dict) else {}
    found = [place.get(key) for place in (of_project, whole) if isinstance(place, dict)]
    return [table for table in found if isinstance(table, dict)]


def _ours(servers: dict[str, Any]) -> str | None:
    if isinstance(servers.get(SERVER), dict):
        return SERVER
    for name, entry in servers.items():
        if isinstance(entry, dict) and os.path.basename(str(entry.get("command", ""))) == SERVER:
            return name
    return None


def _entry(host: Host, path: Path, name: str, entry: dict[str, Any], environ: Mapping[str, str]) -> Configured:
    command = str(entry.get("command", ""))
    started = command if os.path.isabs(command) else shutil.which(command, path=environ.get("PATH", "")) if command else None
    arguments = entry.get("args")
    variables = entry.get("env")
    return Configured(
        host=host.name,
        file=str(path),
        found=True,
        entry=name,
        command=command or None,
        real=os.path.realpath(started) if started else None,
        arguments=tuple(map(str, arguments)) if isinstance(arguments, list) else (),
        digest=digest_of(entry),
        environment=tuple((str(k), str(v)) for k, v in variables.items()) if isinstance(variables, dict) else (),
        problem=None if started and os.path.exists(started) else f"the command {command!r} starts nothing",
    )
