"""Installing: Hindbrain put into the agent hosts of this machine, and taken out again. Shows what it would change unless
it is told to."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.agent_errors import HostAbsent
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, InvalidParams, InvalidState, PathRefused
from hindbrain.domain.handshake import Change
from hindbrain.engines.host_diff import diff
from hindbrain.engines.host_parts import BlockPart, EntryPart, HooksPart, Part, filled, listed, parsed
from hindbrain.policy.hosts import HOSTS, Host
from hindbrain.services.handshakes import Handshakes
from hindbrain.services.host_entries import digest_of
from hindbrain.services.host_layout import HostLayout
from hindbrain.services.host_writing import FileChange, HostWriting
from hindbrain.services.recovery import Recovery
from hindbrain.stores.host_files import Place
from hindbrain.stores.repository import canonical_root, repository_of

__all__ = ["Installing"]

_SAID = {
    "make": "new file",
    "change": "changed",
    "keep": "says it already",
    "restore": "as it was before",
    "remove": "taken away: it was not there before",
    "edit": "changed since we wrote it: only what is ours is taken out",
    "gone": "nothing of ours is in it",
}
_PLANNED = {  # the same before anything is written
    "make": "would be a new file",
    "change": "would be changed",
    "restore": "would be as it was before",
    "remove": "would be taken away: it was not there before",
    "edit": "changed since we wrote it: only what is ours would be taken out",
}
_COVERED = "Values of yours are shown as …; they stay as they are."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What would become of one host, or why nothing."""

    host: Host
    changes: tuple[FileChange, ...] = ()
    refused: HindbrainError | None = None


class Installing:
    """Installs into the hosts of one user, from one home."""

    def __init__(self, writing: HostWriting, recovery: Recovery, handshakes: Handshakes, clock: Callable[[], int]) -> None:
        self._writing = writing
        self._recovery = recovery
        self._handshakes = handshakes
        self._clock = clock

    def install(
        self, caller: Caller, *, host: str | None, project: bool, yes: bool, plan_id: str | None = None
    ) -> dict[str, Any]:
        """Entry, hooks and instructions for one host, or for each that is here. `plan_id`: only what that plan showed."""
        root = _root(caller, project=project)
        layout = self._layout(root)
        chosen = [one for one in _hosts(host) if layout.found(one) and self._files(layout, one, root)]
        if not chosen:
            looked = "; ".join(layout.looked_for(one) for one in _hosts(host))
            scope = " with files for a project" if project else ""
            raise HostAbsent(
                f"no such agent host{scope} was found here. Looked for {looked}",
                fix="start the host once, or use install --print and put the entry where your host reads it",
            )
        plans = [self._planned(layout, one, root) for one in chosen]
        return self._done("install", plans, project=project, yes=yes, plan_id=plan_id, root=root)

    def uninstall(
        self, caller: Caller, *, host: str | None, project: bool, yes: bool, plan_id: str | None = None
    ) -> dict[str, Any]:
        """Every file as it was before; where somebody changed one since, only without what is ours."""
        root = _root(caller, project=project)
        layout = self._layout(root)
        plans = [self._unplanned(layout, one, root) for one in _hosts(host)]
        kept = [one for one in plans if one.refused or any(change.writes or change.recorded for change in one.changes)]
        return self._done("uninstall", kept, project=project, yes=yes, plan_id=plan_id, root=root)

    def shown(self, caller: Caller, *, host: str | None, project: bool) -> dict[str, Any]:
        """What would be written into an empty file of each host. Looks at nothing and writes nothing."""
        root = _root(caller, project=project)
        layout = self._layout(root)
        rows = []
        for one in _hosts(host):
            files = [
                {"path": str(place.path), "text": filled(parts, "", where=str(place.path))}
                for place, parts in self._files(layout, one, root)
            ]
            rows.append({"host": one.name, "title": one.title, "files": files, "warnings": [], "then": _then(one)})
        texts = [f"# {row['title']}: {file['path']}\n{file['text']}" for row in rows for file in _listed(row)]
        return {
            "ok": True,
            "schema": "hindbrain-install-v0",
            "project": project,
            "writes": False,
            "pending": False,
            "plan_id": None,
            "hosts": rows,
            "refused": [],
            "rendered": "\n".join(texts),
        }

    # -- plans -------------------------------------------------------------------------------------------------------

    def _layout(self, root: str | None) -> HostLayout:
        return HostLayout(
            user=self._recovery.user,
            project=Path(root) if root else None,
            environ=self._recovery.environ,
            program=self._recovery.program,
            home=self._recovery.named_home,
        )

    def _files(self, layout: HostLayout, host: Host, root: str | None) -> list[tuple[Place, tuple[Part, ...]]]:
        return layout.files(host, self._recovery.entry_for(host, root, of_project=root is not None))

    def _planned(self, layout: HostLayout, host: Host, root: str | None) -> _Plan:
        """Every file of a host, before any of them is written: one that cannot be changed keeps the whole host as it is."""
        try:
            changes = [self._writing.planned(host.name, *file) for file in self._files(layout, host, root)]
        except (InvalidState, PathRefused) as refused:
            return _Plan(host=host, refused=refused)
        return _Plan(host=host, changes=tuple(changes))

    def _unplanned(self, layout: HostLayout, host: Host, root: str | None) -> _Plan:
        """The files of a host, each by itself: one that cannot be read does not keep ours in the others."""
        changes, refused = list[FileChange](), None
        for place, parts in self._files(layout, host, root):
            try:
                changes.append(self._writing.undone(host.name, place, parts))
            except (InvalidState, PathRefused) as wrong:
                refused = wrong
        return _Plan(host=host, changes=tuple(reversed(changes)), refused=refused)

    # -- carrying out --------------------------------------------------------------------------------------------------

    def _done(
        self, verb: str, plans: Sequence[_Plan], *, project: bool, yes: bool, plan_id: str | None, root: str | None
    ) -> dict[str, Any]:
        alone = next((one.refused for one in plans if one.refused), None)
        if alone is not None and not any(one.changes for one in plans):
            raise alone
        pending = [change for plan in plans for change in plan.changes if change.writes]
        identity = _identity(verb, pending)
        if yes and plan_id is not None and plan_id != identity:
            raise InvalidState("files were changed since the plan was shown", fix="look at the plan once more, then try again")
        copies: dict[str, str | None] = {}
        if yes:
            for plan in plans:
                copies |= self._carried_out(verb, plan, root)
        rows = [self._row(plan, copies) for plan in plans if plan.changes]
        refused = [{"host": one.host.name, **_told(one.refused)} for one in plans if one.refused]
        elsewhere = sum(1 for one in self._writing.records.all() if one.of_project and not _below(one.path, root))
        return {
            "ok": True,
            "schema": f"hindbrain-{verb}-v0",
            "project": project,
            "writes": yes and bool(pending),
            "pending": bool(pending) and not yes,
            "plan_id": identity,
            "hosts": rows,
            "refused": refused,
            "files_in_other_projects": elsewhere,
            "rendered": _rendered(verb, plans, rows, refused, yes=yes, pending=bool(pending), elsewhere=elsewhere),
        }

    def _carried_out(self, verb: str, plan: _Plan, root: str | None) -> dict[str, str | None]:
        copies: dict[str, str | None] = {}
        for change in plan.changes:
            if verb == "install":
                copies[change.path] = self._writing.carry_out(change)
            else:
                self._writing.take_back(change)
            if change.writes and any(isinstance(part, EntryPart) for part in change.parts):
                self._handshakes.changed(
                    Change(
                        change_id=f"chg_{hashlib.sha256(f'{self._clock()}{change.path}'.encode()).hexdigest()[:12]}",
                        kind="hosts.apply" if verb == "install" else "uninstall",
                        at=self._clock(),
                        host=plan.host.name,
                        file=change.path,
                        written=_entry_digest(change) if verb == "install" else None,
                        backup=copies.get(change.path),
                    )
                )
        return copies

    def _row(self, plan: _Plan, copies: dict[str, str | None]) -> dict[str, Any]:
        files = [
            {
                "path": change.path,
                "action": change.how,
                "diff": _diff(change) if change.writes else "",
                "backup": copies.get(change.path),
            }
            for change in plan.changes
        ]
        return {
            "host": plan.host.name,
            "title": plan.host.title,
            "files": files,
            "warnings": _warnings(plan),
            "then": _then(plan.host),
        }


def _warnings(plan: _Plan) -> list[str]:
    """Settings of the host by which it would run none of our hooks. They are the person's to change."""
    found = []
    for change in plan.changes:
        form = next(
            (one.form if isinstance(one, EntryPart) else "json" for one in change.parts if not isinstance(one, BlockPart)), None
        )
        whole: Any = parsed(form, change.after or "") if form else {}
        for path, value in plan.host.hooks.off if plan.host.hooks else ():
            place = whole
            for step in path:
                place = place.get(step) if isinstance(place, dict) else None
            if place is value:
                found.append(f"{'.'.join(path)} in {change.path} keeps every hook from running")
    return found


def _root(caller: Caller, *, project: bool) -> str | None:
    """The checkout whose files are meant, or None for those of the user."""
    if not project:
        return None
    if caller.root is None:
        raise InvalidParams("nothing says which project is meant", fix="run it in the project's directory")
    return repository_of(canonical_root(caller.root)).worktree


def _hosts(name: str | None) -> list[Host]:
    found = [one for one in HOSTS if name in (None, "all", one.name)]
    if not found:
        names = ", ".join(one.name for one in HOSTS)
        raise InvalidParams(f"no host {str(name)[:80]!r} is known", fix=f"use one of {names}")
    return found


def _listed(row: dict[str, Any]) -> list[dict[str, str]]:
    return list(row["files"])


def _then(host: Host) -> list[str]:
    return [host.refresh, *([host.first_use] if host.first_use else [])]


def _told(error: HindbrainError) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "fix": str(error.fix or "")}


def _below(path: str, root: str | None) -> bool:
    return root is not None and path.startswith(os.path.realpath(root).rstrip("/") + "/")


def _identity(verb: str, changes: Sequence[FileChange]) -> str:
    """What a person said yes to: these files, from this to that."""
    told = hashlib.sha256(verb.encode())
    for change in changes:
        for text in (change.path, change.held.text, change.after):
            told.update(b"\0" if text is None else hashlib.sha256(text.encode("utf-8")).digest())
    return told.hexdigest()[:16]


def _entry_digest(change: FileChange) -> str | None:
    part = next(one for one in change.parts if isinstance(one, EntryPart))
    servers = parsed(part.form, change.after or "").get(part.key)
    name = listed(servers)
    return digest_of(servers[name]) if isinstance(servers, dict) and name else None


def _diff(change: FileChange) -> str:
    ours: list[str] = []
    for part in change.parts:
        if isinstance(part, EntryPart):
            ours += [str(part.entry["command"]), *map(str, part.entry["args"]), *map(str, part.entry["env"].values())]
        elif isinstance(part, HooksPart):
            ours += part.commands.values()
    covered = not any(isinstance(part, BlockPart) for part in change.parts)
    return diff(change.path, change.held.text, change.after, ours=ours, covered=covered)


def _said(action: str, *, yes: bool) -> str:
    return _SAID[action] if yes else _PLANNED.get(action, _SAID[action])


def _rendered(
    verb: str,
    plans: Sequence[_Plan],
    rows: Sequence[dict[str, Any]],
    refused: Sequence[dict[str, str]],
    *,
    yes: bool,
    pending: bool,
    elsewhere: int,
) -> str:
    lines = []
    for row in rows:
        lines.append(f"{row['title']}:")
        for file in row["files"]:
            lines.append(f"  {file['path']}: {_said(file['action'], yes=yes)}")
            lines += [f"    {one}" for one in file["diff"].splitlines()] if not yes else []
        lines += [f"  Warning: {one}" for one in row["warnings"] if verb == "install"]
    lines += [f"{one['host']} is left as it is: {one['message']}. Next: {one['fix']}" for one in refused]
    if not pending:
        lines.append("Nothing to change." if rows or refused else "Nothing of ours is in the files of any host.")
    elif not yes:
        lines += [_COVERED] if any("…" in file["diff"] for row in rows for file in row["files"]) else []
        lines.append(f"Nothing was written. Carry it out with: hindbrain {verb} --yes")
    else:
        lines.append("Written." if verb == "install" else "Taken back.")
        lines += [f"{plan.host.title}: {'; '.join(_then(plan.host))}." for plan in plans if plan.changes and verb == "install"]
    if verb == "uninstall" and elsewhere:
        lines.append(f"{elsewhere} files of other projects have parts of ours: run it there with --project.")
    return "\n".join(lines)
