"""Repositories: what git says a directory belongs to, read from .git files without starting git."""

import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Repository", "canonical_root", "main_path", "repository_of", "workspace_hint"]

_MARKERS = (".git", "package.json", "Cargo.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository as seen from one directory: the root that names it, and the checkout one stands in."""

    root: str  # the main working tree; all linked worktrees share it
    worktree: str  # the checkout that holds the directory
    git: bool


def canonical_root(path: str | os.PathLike[str]) -> str:
    """Absolute, symbolic links resolved, no trailing slash."""
    return os.path.realpath(os.path.expanduser(os.fspath(path)))


def repository_of(path: str) -> Repository:
    """The repository of a canonical directory. A directory without git is its own."""
    for directory in (path, *map(str, Path(path).parents)):
        dot_git = os.path.join(directory, ".git")
        if os.path.isdir(dot_git):
            return Repository(root=directory, worktree=directory, git=True)
        if os.path.isfile(dot_git):
            return Repository(root=_main_of(directory, dot_git), worktree=directory, git=True)
    return Repository(root=path, worktree=path, git=False)


def main_path(path: str) -> str:
    """A canonical path as the main working tree has it: all worktrees of a repository speak of one set of names."""
    repository = repository_of(path)
    return repository.root + path.removeprefix(repository.worktree)


def _main_of(checkout: str, dot_git: str) -> str:
    """The main working tree behind a `.git` file: a linked worktree has a common directory, a submodule has none."""
    try:
        with open(dot_git, encoding="utf-8") as file:
            line = file.read().strip()
        if not line.startswith("gitdir:"):
            return checkout
        git_dir = os.path.realpath(os.path.join(checkout, line.removeprefix("gitdir:").strip()))
        with open(os.path.join(git_dir, "commondir"), encoding="utf-8") as file:
            common = os.path.realpath(os.path.join(git_dir, file.read().strip()))
    except (OSError, UnicodeDecodeError):
        return checkout
    # A bare repository has worktrees but no main checkout: the repository itself names the brain then.
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def workspace_hint(path: str) -> str:
    """The nearest ancestor that looks like a project, else the path itself."""
    for directory in (path, *map(str, Path(path).parents)):
        if any(os.path.exists(os.path.join(directory, marker)) for marker in _MARKERS):
            return directory
    return path
