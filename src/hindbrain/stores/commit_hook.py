"""The pre-commit hook of a repository, as a file: found where git looks for it, put in place and taken away whole.

What a repository says of itself never leads outside of it: a hooks directory elsewhere is refused."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from hindbrain.domain.brain import contains
from hindbrain.domain.errors import PathRefused
from hindbrain.stores.atomic import sync_directory, write_bytes
from hindbrain.stores.directories import SHARED, make_directory
from hindbrain.stores.git import asked
from hindbrain.stores.repository import canonical_root, git_directory, repository_of

__all__ = ["CommitHook", "staged"]

_GIT_S = 10.0
_MOST = 1024 * 1024  # bytes of a hook that are read to tell whose it is
_NAME = "pre-commit"
_KEPT_ENVIRONMENT = ("HOME", "XDG_CONFIG_HOME")  # where a person's own git settings lie, which may name another directory


def staged(checkout: str, *, index: str | None = None, seconds: float = _GIT_S) -> list[str] | None:
    """Return what the next commit of a checkout would change; None where git cannot tell. `index`: another index than its own."""
    more = {"GIT_INDEX_FILE": index} if index else None
    said = asked(checkout, "diff", "--cached", "--name-only", "--no-renames", "-z", seconds=seconds, environ=more)
    return None if said is None else [name.decode("utf-8", "replace") for name in said.split(b"\x00") if name]


class CommitHook:
    """The hook of the repository that a checkout belongs to."""

    def __init__(self, checkout: str, *, environ: Mapping[str, str], kept: str, ours: Callable[[bytes], bool]) -> None:
        self._ours = ours
        self.directory = _hooks_directory(checkout, environ)
        self.path = self.directory / _NAME
        self._kept = self.directory / kept

    @property
    def installed(self) -> bool:
        return self._ours(self._read())

    def install(self, script: bytes) -> str:
        """Put the hook in place. A hook that is there already is kept under another name and still runs."""
        if self.installed:
            if self._read() == script:
                return "unchanged"
            write_bytes(self.path, script, mode=0o755)
            return "updated"
        if os.path.lexists(self.path):
            if os.path.lexists(self._kept):
                raise PathRefused(
                    f"{self.path} is not Hindbrain's, and {self._kept.name} is there as well",
                    fix="look which of the two is yours, and move the other one away",
                )
            os.rename(self.path, self._kept)
        make_directory(self.directory, mode=SHARED)
        try:
            write_bytes(self.path, script, mode=0o755)
        except OSError:
            self._put_back()
            raise
        return "installed"

    def uninstall(self) -> str:
        """Take the hook away; the one before it is again what it was."""
        if not self.installed:
            return "foreign" if os.path.lexists(self.path) else "absent"
        self.path.unlink()
        self._put_back()
        sync_directory(self.directory)
        return "removed"

    @property
    def chained(self) -> bool:
        """Whether a hook of somebody else runs before ours."""
        return os.path.lexists(self._kept)

    def _put_back(self) -> None:
        if os.path.lexists(self._kept) and not os.path.lexists(self.path):
            os.rename(self._kept, self.path)

    def _read(self) -> bytes:
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return b""  # none, or a link, which ours never is
        with os.fdopen(handle, "rb") as file:
            return file.read(_MOST)


def _hooks_directory(checkout: str, environ: Mapping[str, str]) -> Path:
    more = {name: environ[name] for name in _KEPT_ENVIRONMENT if environ.get(name)}
    said = asked(checkout, "rev-parse", "--git-path", "hooks", seconds=_GIT_S, environ=more, hooks=True)
    # Git is not asked where the repository is: its settings could name another directory (`core.worktree`).
    worktree, common = repository_of(canonical_root(checkout)).worktree, git_directory(canonical_root(checkout))
    if said is None or common is None:
        raise PathRefused(
            f"{checkout} is no repository of git", fix="run it in a checkout; without git there is no commit to guard"
        )
    found = os.path.realpath(os.path.join(checkout, os.fsdecode(said).removesuffix("\n")))
    if not contains(common, found) and not contains(worktree, found):
        raise PathRefused(
            f"git looks for hooks in {found}, outside of this repository",
            fix="a hook there runs for every repository: call `hindbrain cowork guard check` from it yourself",
        )
    return Path(found)
