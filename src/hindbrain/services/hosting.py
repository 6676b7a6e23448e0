"""Hosting: our entry in a host's file, and the end of a host's server process so that the host starts it anew. Each touches one
host, and neither proves that the host is bound anew."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, InvalidState
from hindbrain.domain.handshake import Change, Handshake
from hindbrain.engines.host_parts import EntryPart, parsed
from hindbrain.engines.recovery_plane import planned, step
from hindbrain.policy.hosts import HOSTS, SERVER, Host, HostFile
from hindbrain.services.handshakes import Handshakes
from hindbrain.services.host_entries import digest_of
from hindbrain.services.host_writing import FileChange, HostWriting
from hindbrain.services.installing import Installing
from hindbrain.services.recovery import Recovery
from hindbrain.stores.home import Home
from hindbrain.stores.host_files import Place, located
from hindbrain.stores.processes import Process, end, process
from hindbrain.stores.repository import canonical_root

__all__ = ["Hosting"]

_PROOF = ("host_handshake",)


class Hosting:
    """Changes to hosts of one user."""

    def __init__(self, home: Home, recovery: Recovery, handshakes: Handshakes, clock: Callable[[], int]) -> None:
        self._writing = HostWriting(home, clock)
        self.installing = Installing(self._writing, recovery, handshakes, clock)
        self._recovery = recovery
        self._handshakes = handshakes
        self._clock = clock

    def apply(self, caller: Caller, *, host: str, project: str | None, yes: bool) -> dict[str, Any]:
        """Put our entry into a file of a host; what was there is copied first."""
        chosen, root = _host(host), canonical_root(project) if project else caller.root
        file, place, name, old = self._file(chosen, root)
        path = place.path
        given = self._recovery.entry_for(chosen, root, of_project=file.of_project)
        change = self._writing.planned(host, place, [EntryPart(form=file.form, key=file.key, entry=given)])
        entry = _entry(file, change.after or "", name, root, path)
        same = old == digest_of(entry)
        made = None
        if yes and not same:
            made = self._written(chosen, change, digest_of(entry))
        return planned(
            "hindbrain-hosts-apply-v0",
            diagnosis="mixed_path_config" if old is not None and not same else None,
            evidence={
                "file": str(path),
                "entry": {"command": entry["command"], "args": entry["args"], "variables": sorted(entry["env"])},
                "unchanged": same,
            },
            plan=[]
            if same
            else [
                step(f"copy {path} into the home") if path.is_file() else step(f"make {path}", mutating=True),
                step(f"write the entry {name} into {path}", f"hindbrain hosts apply {host} --yes", mutating=True),
                step(chosen.refresh, mutating=True),
                step("look whether a new handshake shows it", f"hindbrain hosts status {host}"),
            ],
            mutating=True,
            proof_required=_PROOF,
            writes=made is not None,
            host=host,
            project=root,
            change_id=made.change_id if made else None,
            backup=made.backup if made else None,
            rendered=_said(made, same, chosen, path),
        )

    def _file(self, host: Host, root: str | None) -> tuple[HostFile, Place, str, str | None]:
        """The file to write: the one that lists us, else the first, which is the project's own where the host has such files."""
        project = Path(root) if root else None
        user, environ = self._recovery.user, self._recovery.environ
        found = [(file, located(file, user=user, project=project, environ=environ)) for file in host.files]
        places = [(file, place) for file, place in found if place is not None]
        listed = {entry.file: entry for entry in self._recovery.entries(host, root) if entry.found}
        for file, place in places:
            if (entry := listed.get(str(place.path))) is not None:
                return file, place, entry.entry or SERVER, entry.digest
        file, place = places[0]
        return file, place, SERVER, None

    def _written(self, host: Host, change: FileChange, digest: str) -> Change:
        made = Change(
            change_id=f"chg_{secrets.token_hex(6)}",
            kind="hosts.apply",
            at=self._clock(),
            host=host.name,
            file=change.path,
            written=digest,
            backup=self._writing.carry_out(change),
        )
        self._handshakes.changed(made)
        return made

    def restart(self, caller: Caller, *, host: str, yes: bool) -> dict[str, Any]:
        """End the server processes that a host started for this workspace, and no others: only what is proven to be ours."""
        chosen = _host(host)
        records = [one for one in self._handshakes.all() if one.host == host and one.pid is not None]
        here = [one for one in records if one.workspace_root == caller.root]
        newest = {one.pid: one for one in here}.values()
        judged = [(one, *_ours(one)) for one in newest]
        living = [(one, found) for one, found, _ in judged if found is not None]
        ended = [one.pid for one, found in living if yes and end(found)]
        if ended:
            self._handshakes.changed(Change(change_id=f"chg_{secrets.token_hex(6)}", kind="restart", at=self._clock(), host=host))
        elsewhere = len({one.pid for one in records} - {one.pid for one in here})
        rows = [
            {"pid": one.pid, "proven": found is not None, "why_not": why or None, "ended": one.pid in ended}
            for one, found, why in judged
        ]
        return planned(
            "hindbrain-restart-v0",
            diagnosis=None,
            evidence={"processes": rows, "workspace": caller.root, "in_other_workspaces": elsewhere},
            plan=[
                *(step(f"end process {one.pid}", f"hindbrain restart --host {host} --yes", mutating=True) for one, _ in living),
                step(chosen.refresh, mutating=True),
                step("look whether a new handshake shows it", f"hindbrain hosts status {host}"),
            ],
            mutating=True,
            proof_required=_PROOF,
            writes=bool(ended),
            host=host,
            ended=ended,
            rendered=_told(host, chosen, [one.pid for one, _ in living], ended, yes=yes),
        )


def _entry(file: HostFile, text: str, name: str, project: str | None, path: Path) -> dict[str, Any]:
    """Our entry as the file will have it. One that the host keeps for this project alone is not ours to change."""
    after = parsed(file.form, text)
    own = after.get("projects")
    own = own.get(project) if isinstance(own, dict) else None
    if isinstance(own, dict) and isinstance(own.get(file.key), dict) and name in own[file.key]:
        raise InvalidState(f"{path} lists {name} for this project alone", fix="change it with the host's own command")
    return dict(after[file.key][name])


def _host(name: str) -> Host:
    found = next((one for one in HOSTS if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in HOSTS)
        raise InvalidParams(f"no host {name[:80]!r} is known", fix=f"use one of {names}")
    return found


def _ours(shaken: Handshake) -> tuple[Process | None, str]:
    """The process of a handshake if it still is that one, or why it is not touched."""
    found = process(shaken.pid) if shaken.pid is not None else None
    if found is None:
        return None, "it is gone"
    if found.started != shaken.process_started:
        return None, "another process has its number now"
    if os.path.realpath(found.executable) != shaken.executable:
        return None, f"it runs {found.executable}, which is not what shook hands"
    if "mcp" not in found.command or not any(SERVER in os.path.basename(word) for word in found.command):
        return None, "it is no server of ours"
    return found, ""


def _said(made: Change | None, same: bool, host: Host, path: Path) -> str:
    if same:
        return f"{path} says it already. Nothing to change."
    if made is None:
        return f"Would write our entry into {path}. Carry it out with: hindbrain hosts apply {host.name} --yes"
    return f"Wrote {path}. Not bound anew yet: {host.refresh}, then hindbrain hosts status {host.name}."


def _told(name: str, host: Host, living: list[int | None], ended: list[int | None], *, yes: bool) -> str:
    if not living:
        return f"No process of {host.title} for this workspace is known and alive. Nothing to end; {host.refresh}."
    if not yes:
        return f"Would end {', '.join(map(str, living))}. Carry it out with: hindbrain restart --host {name} --yes"
    return (
        f"Ended {', '.join(map(str, ended)) or 'none'}. Not bound anew yet: {host.refresh}, then hindbrain hosts status {name}."
    )
