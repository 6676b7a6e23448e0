"""Claude Code: the transcripts and memory files of `~/.claude/projects`, one directory for each directory that it worked in, and
its instruction files."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.moving import Item, Unread
from hindbrain.services.moving.host_files import instructions_of, memories, shared_text, transcripts
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_tree import files_under
from hindbrain.stores.host_transcripts import began_in

__all__ = ["KIND", "ClaudeCodeHome"]

_PROJECTS, _MEMORY, _INSTRUCTIONS = "projects", "memory", "CLAUDE.md"
_OF_PROJECT = (_INSTRUCTIONS, f".claude/{_INSTRUCTIONS}")


def _looks_like(path: Path) -> bool:
    if not path.is_dir():
        return False
    if path.name == _PROJECTS:
        return any(one.name.startswith("-") for one in path.iterdir())
    return (path.name == ".claude" and (path / _PROJECTS).is_dir()) or (
        path.parent.name == _PROJECTS and path.name.startswith("-")
    )


def _spelled(root: str) -> str:
    """How Claude Code names the directory of a project: every character that is neither letter nor digit is a dash."""
    return re.sub(r"[^A-Za-z0-9]", "-", root)


class ClaudeCodeHome:
    """`~/.claude`, its `projects`, or one directory of these."""

    kind = id = "claude-code"
    version: str | int | None = None

    def __init__(self, path: Path, root: str | None) -> None:
        self._path = path
        self._root = root
        projects = path / _PROJECTS if (path / _PROJECTS).is_dir() else path
        one = path.parent.name == _PROJECTS
        held = [path] if one else sorted(at for at in projects.iterdir() if at.is_dir() and not at.is_symlink())
        self._projects = tuple(held)

    def total(self) -> int:
        return sum(1 for project in self._projects for _ in files_under(project, ".jsonl", ".md"))

    def items(self) -> Iterator[Item | Unread]:
        for project in self._projects:
            prefix, own = f"{project.name}/", self._own(project)
            named = None if own is not None else project.name
            yield from transcripts(project, prefix, root=own, project=project.name)
            yield from memories(project / _MEMORY, f"{prefix}{_MEMORY}/", self.kind, root=own, project=named)
        yield from instructions_of(self._root, _OF_PROJECT, self.kind)
        if self._path.name not in (_PROJECTS, *(one.name for one in self._projects)):
            yield from shared_text(self._path / _INSTRUCTIONS, _INSTRUCTIONS, "instructions")

    def left_out(self) -> Mapping[str, int]:
        return {}

    def _own(self, project: Path) -> str | None:
        """The directory that a project directory stands for. Its sessions say; two directories may have the same spelling."""
        for found in files_under(project, ".jsonl"):
            said = began_in(found.path) if not found.link and "/" not in found.name else None
            if said is not None and _spelled(said) == project.name:
                return said
        return self._root if self._root is not None and _spelled(self._root) == project.name else None


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    if not place.path.is_dir():
        raise InvalidParams(f"{place.path.name[:120]!r} is not a directory", fix="give ~/.claude; one transcript: memory ingest")
    yield ClaudeCodeHome(place.path, place.root)


KIND = Kind(name="claude-code", looks_like=_looks_like, opened=_opened)
