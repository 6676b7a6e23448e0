"""Host entries: what agent hosts are configured to start. Reads their files; writes none."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.host_parts import listed, parsed
from hindbrain.policy.hosts import Host, HostFile
from hindbrain.stores.host_files import Place, hold, located

__all__ = ["NOT_LISTED", "Configured", "configured", "digest_of"]

NOT_LISTED = "lists no Hindbrain server"


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
    places = [(file, located(file, user=user, project=project, environ=environ)) for file in host.files]
    return tuple(
        _read(host, file, place, project, environ) for file, place in places if place is not None and place.path.is_file()
    )


def _read(host: Host, file: HostFile, place: Place, project: Path | None, environ: Mapping[str, str]) -> Configured:
    try:
        whole = parsed(file.form, hold(place).text or "")
    except HindbrainError as failure:
        return Configured(host=host.name, file=str(place.path), found=False, problem=f"cannot be read: {failure.message}")
    except (ValueError, RecursionError) as failure:
        return Configured(host=host.name, file=str(place.path), found=False, problem=f"cannot be read: {failure}")
    for servers in _tables(whole, file.key, project):
        if (entry := listed(servers)) is not None:
            return _entry(host, place.path, entry, servers[entry], environ)
    return Configured(host=host.name, file=str(place.path), found=False, problem=NOT_LISTED)


def _tables(whole: dict[str, Any], key: str, project: Path | None) -> list[dict[str, Any]]:
    """The tables of servers in a file; Claude Code keeps one for each project beside its own."""
    of_project = whole.get("projects", {}).get(str(project), {}) if isinstance(whole.get("projects"), dict) else {}
    found = [place.get(key) for place in (of_project, whole) if isinstance(place, dict)]
    return [table for table in found if isinstance(table, dict)]


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
