"""Repositories: what a directory belongs to, read from .git files without starting git, and which files it has."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hindbrain.launcher import TimeoutExpired
from hindbrain.stores.git import answer, asked

__all__ = [
    "Names",
    "Repository",
    "by_products",
    "canonical_root",
    "files_of",
    "git_directory",
    "is_checkout",
    "is_project",
    "main_path",
    "repository_of",
    "upwards",
    "workspace_hint",
    "worktrees_of",
]

# Control characters, line ends of any kind, and marks that turn the direction of what follows.
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_MARKERS = (".git", "package.json", "Cargo.toml", "pyproject.toml")

_NAMES_ASKED = 200  # names in one question to git
# By-products that no git says are ignored: where there is no git, nobody else would say it.
_SKIPPED = {
    ".git",
    ".hindbrain",
    ".m1nd",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    "target",
    "dist",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository as seen from one directory: the root that names it, and the checkout one stands in."""

    root: str  # the main working tree; all linked worktrees share it
    worktree: str  # the checkout that holds the directory
    git: bool

    @property
    def superproject(self) -> str | None:
        """The directory of the repository that has this one as a submodule; None for one that stands alone."""
        return _superproject(self.worktree) if self.git else None


def canonical_root(path: str | os.PathLike[str]) -> str:
    """Absolute, symbolic links resolved, no trailing slash."""
    return os.path.realpath(os.path.expanduser(os.fspath(path)))


def upwards(path: str) -> Iterator[str]:
    """A directory and those above it, the nearest first. Every call asks this several times, so it is plain text work."""
    yield path
    while (above := os.path.dirname(path) or ".") != path:
        yield (path := above)


def repository_of(path: str) -> Repository:
    """The repository of a canonical directory. A directory without git is its own."""
    for directory in upwards(path):
        dot_git = os.path.join(directory, ".git")
        try:
            mode = os.stat(dot_git).st_mode  # once: every call asks this several times
        except (OSError, ValueError):
            continue
        if stat.S_ISDIR(mode):
            return Repository(root=directory, worktree=directory, git=True)
        if stat.S_ISREG(mode):
            return Repository(root=_main_of(directory, dot_git), worktree=directory, git=True)
    return Repository(root=path, worktree=path, git=False)


def is_checkout(root: str) -> bool:
    """Return whether a directory is the root of a repository or of a worktree, not a directory inside one."""
    return os.path.lexists(os.path.join(root, ".git")) or _is_bare(root)


def _is_bare(root: str) -> bool:
    return all(os.path.exists(os.path.join(root, name)) for name in ("HEAD", "objects", "refs"))


def git_directory(root: str) -> str | None:
    """The git directory that all worktrees of a repository share, for the root of one or a directory inside; None without git."""
    dot_git = os.path.join(root, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    if os.path.isfile(dot_git):
        return _pointed(root, dot_git)
    if _is_bare(root):
        return root
    repository = repository_of(root)
    return git_directory(repository.worktree) if repository.git else None


def _pointed(checkout: str, dot_git: str) -> str | None:
    """The git directory behind a `.git` file, if it names the checkout, too: anybody can write a file that names a stranger."""
    try:
        line = _first(dot_git)
        if not line.startswith("gitdir:"):
            return None
        git_dir = os.path.realpath(os.path.join(checkout, line.removeprefix("gitdir:").strip()))
        if os.path.isfile(os.path.join(git_dir, "commondir")):  # a linked worktree
            common = os.path.realpath(os.path.join(git_dir, _first(os.path.join(git_dir, "commondir"))))
            back = os.path.realpath(os.path.join(git_dir, _first(os.path.join(git_dir, "gitdir"))))
            known = os.path.dirname(git_dir) == os.path.join(common, "worktrees") and back == os.path.realpath(dot_git)
            return common if known else None
        named = _WORKTREE.search(_first(os.path.join(git_dir, "config")))  # a submodule
    except (OSError, ValueError):
        return None
    meant = os.path.realpath(os.path.join(git_dir, named[1].strip('"'))) if named else None
    return git_dir if meant == os.path.realpath(checkout) else None


_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


def _superproject(checkout: str) -> str | None:
    """The directory above a submodule: the git directory of a submodule lies among the modules of the repository there."""
    dot_git = os.path.join(checkout, ".git")
    above = os.path.dirname(checkout)
    if not os.path.isfile(dot_git) or (git_dir := _pointed(checkout, dot_git)) is None:
        return None
    outer = git_directory(above)
    inside = os.path.relpath(git_dir, os.path.realpath(outer)).split(os.sep) if outer is not None else []
    return above if "modules" in inside and inside[0] in ("modules", "worktrees") else None


def main_path(path: str) -> str:
    """A canonical path as the main working tree has it: all worktrees of a repository speak of one set of names."""
    repository = repository_of(path)
    return repository.root + path.removeprefix(repository.worktree)


def worktrees_of(root: str) -> list[str]:
    """The linked worktrees of a repository, as it names them itself."""
    base = os.path.join(root, ".git", "worktrees")
    found = []
    for name in sorted(os.listdir(base)) if os.path.isdir(base) else ():
        try:
            checkout = os.path.dirname(_first(os.path.join(base, name, "gitdir")))
        except (OSError, ValueError):
            continue
        if repository_of(checkout).root == root:
            found.append(checkout)
    return found


def _main_of(checkout: str, dot_git: str) -> str:
    """The main working tree behind a `.git` file: a linked worktree has a common directory, a submodule has none."""
    common = _pointed(checkout, dot_git)
    if common is None or not _links_to(checkout, dot_git, common):
        return checkout
    # A bare repository has worktrees but no main checkout: the repository itself names the brain then.
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _links_to(checkout: str, dot_git: str, common: str) -> bool:
    """Whether a `.git` file leads to a linked worktree of a git directory, not to the directory itself as in a submodule."""
    return os.path.realpath(os.path.join(checkout, _first(dot_git).removeprefix("gitdir:").strip())) != common


def _first(path: str) -> str:
    """The path that one of git's pointer files holds."""
    with open(path, encoding="utf-8") as file:
        return file.read(8192).strip()


def workspace_hint(path: str) -> str:
    """The nearest ancestor that looks like a project, else the path itself."""
    for directory in upwards(path):
        if any(os.path.exists(os.path.join(directory, marker)) for marker in _MARKERS):
            return directory
    return path


def is_project(path: str) -> bool:
    """Whether a directory belongs to a repository or looks like a project; notes and papers lie in plain ones."""
    inside = os.path.join(path, "x")  # the hint of a path that has no project at or above it is the path itself
    return workspace_hint(inside) != inside


class Names:
    """Which names of a directory may be used. An index of git can name files behind a link, or beside the directory, and a name
    can hold line ends and marks that steer a terminal: such files are not of this project, or not to be shown."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._real: dict[str, bool] = {}

    def why_not(self, path: str) -> str | None:
        """Why a relative path is left out; None for a good one."""
        if _STEERING.search(path):
            return "a name with control characters"
        directory = os.path.dirname(path)
        if directory not in self._real:
            full = f"{self._root.rstrip('/')}/{directory}".rstrip("/")
            self._real[directory] = not directory.startswith("/") and os.path.realpath(full) == (full or "/")
        return None if self._real[directory] else "behind a link"


def files_of(root: str) -> Iterator[str]:
    """The files of a project as git sees them, else all but the usual by-products."""
    names = Names(root)
    yield from (path for path in _listed(root) if names.why_not(path) is None)


def by_products(root: str, names: Sequence[str]) -> frozenset[str]:
    """Which of these names a project does not keep: those that git ignores, and the usual by-products."""
    found = {name for name in names if not _SKIPPED.isdisjoint(name.split("/")[:-1]) or name.endswith(".pyc")}
    left = [name for name in names if name not in found]
    if not os.path.exists(os.path.join(root, ".git")):
        return frozenset(found)
    for at in range(0, len(left), _NAMES_ASKED):
        some = {f"./{name}": name for name in left[at : at + _NAMES_ASKED]}  # a name that begins with a colon is no magic then
        try:
            done = answer(root, "check-ignore", "--no-index", "--", *some, seconds=60, environ={"GIT_LITERAL_PATHSPECS": "0"})
        except (TimeoutExpired, OSError):
            continue  # then they are shown, and the person decides
        if done is not None and done.returncode == 0:
            told = done.stdout.decode("utf-8", "surrogateescape").split("\n")
            found |= {some[line] for line in told if line in some}  # a name that git prints in quotes is shown
    return frozenset(found)


def _listed(root: str) -> Iterator[str]:
    if os.path.exists(os.path.join(root, ".git")):
        listed = asked(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", seconds=120)
        if listed is not None:
            yield from (name.decode("utf-8", "replace") for name in listed.split(b"\x00") if name)
            return
    for directory, inner, names in os.walk(root):
        inner[:] = sorted(d for d in inner if d not in _SKIPPED)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(directory, name), root).encode("utf-8", "replace").decode()
