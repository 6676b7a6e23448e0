"""Host layout: whether a host is on this machine, and which of its files hold which part of ours. Changes nothing."""

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindbrain.engines.host_parts import BlockPart, EntryPart, HooksPart, Part
from hindbrain.policy.hosts import INSTRUCTIONS, Host, HostFile, HostText
from hindbrain.stores.host_files import Place, located

__all__ = ["HostLayout"]


class HostLayout:
    """The files of hosts of one user, or of one project."""

    def __init__(self, *, user: Path, project: Path | None, environ: Mapping[str, str], program: str, home: str | None) -> None:
        self._user = user
        self._project = project
        self._environ = environ
        self._program = program
        self._home = home  # named only where it is not the one that everybody would find

    def found(self, host: Host) -> bool:
        """Whether somebody here uses a host."""
        path = self._environ.get("PATH", "")
        if any(shutil.which(program, path=path) for program in host.programs):
            return True
        moved = [self._environ[file.moved_by] for file in host.files if self._environ.get(file.moved_by)]
        places = [*(self._user / one for one in host.places), *map(Path, moved)]
        marks = [self._project / one for one in host.marks] if self._project is not None else []
        return any(one.is_dir() for one in places) or any(one.exists() for one in marks)

    def looked_for(self, host: Host) -> str:
        """What would have shown that a host is here."""
        programs = " or ".join(host.programs)
        places = [f"~/{one}" for one in host.places] + ([f"{one} in the project" for one in host.marks] if self._project else [])
        return f"{host.title}: {programs} on the search path, {', '.join(places)}"

    def files(self, host: Host, entry: Mapping[str, Any]) -> list[tuple[Place, tuple[Part, ...]]]:
        """The files of a host in this scope, with what is ours in each."""
        found: dict[Path, tuple[Place, list[Part]]] = {}

        def add(file: HostFile | HostText, part: Part) -> None:
            place = located(file, user=self._user, project=self._project, environ=self._environ)
            if place is not None:
                found.setdefault(place.path, (place, []))[1].append(part)

        if (server := self._first(host.files)) is not None:
            add(server, EntryPart(form=server.form, key=server.key, entry=entry))
        if host.hooks is not None and (file := self._first(host.hooks.files)) is not None:
            commands = {event: self.hook(host, event) for event in host.hooks.events}
            add(file, HooksPart(host=host.name, commands=commands, timeout=host.hooks.timeout, flat=host.hooks.flat))
        for text in host.texts:
            if text.of_project is (self._project is not None):
                add(text, BlockPart(text=INSTRUCTIONS, front=text.front))
        return [(place, tuple(parts)) for place, parts in found.values()]

    def hook(self, host: Host, event: str) -> str:
        """The command line of one hook."""
        words = [self._program, "hook", host.name, event, *(["--home", self._home] if self._home else [])]
        return shlex.join(words)

    def _first(self, files: tuple[HostFile, ...]) -> HostFile | None:
        """The file of this scope; where a host keeps it elsewhere on another system, the one whose directory is there."""
        mine = [file for file in files if file.of_project is (self._project is not None)]
        there = [file for file in mine if not file.of_project and (self._user / file.path).parent.is_dir()]
        return next(iter([*there, *mine]), None)
