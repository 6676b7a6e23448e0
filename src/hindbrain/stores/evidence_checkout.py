"""Checkouts: what git itself says a directory belongs to. Only its own word that there is no repository counts as none."""

import os
from dataclasses import dataclass

from hindbrain.domain.errors import InvalidParams, StoreUnavailable
from hindbrain.launcher import TimeoutExpired
from hindbrain.stores.git import answer, installed
from hindbrain.stores.repository import repository_of

__all__ = ["Checkout", "checkout_by_files", "checkout_of"]

_OUTSIDE = "not a git repository"
_WAIT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """One checkout and the repository it belongs to, as real paths. Outside git the directory itself, and no repository."""

    root: str
    common: str | None


def checkout_of(path: str) -> Checkout:
    """The checkout of a directory, symbolic links resolved."""
    directory = os.path.realpath(path)
    if not os.path.isdir(directory):
        raise InvalidParams(f"{path[:200]!r} is not a directory", fix="give a directory that exists")
    if installed(directory) is None:
        return checkout_by_files(directory)
    lines = _asked(directory, "--is-inside-work-tree", "--git-common-dir", "--show-toplevel")
    if lines is None:
        return Checkout(root=directory, common=None)
    if len(lines) > 3:  # a line break in a name: one question, one answer
        answers = ["\n".join(_asked(directory, word) or ()) for word in ("--git-common-dir", "--show-toplevel")]
        lines = [lines[0], *answers]
    common = os.path.realpath(os.path.join(directory, lines[1]))
    # In a bare repository, or inside .git, there is a repository but no checkout: the directory stands for it.
    return Checkout(root=os.path.realpath(lines[2]) if len(lines) == 3 else directory, common=common)


def _asked(directory: str, *words: str) -> list[str] | None:
    """The lines of git's answer; None when it says that there is no repository."""
    try:
        # HOME: the person's own trust settings (safe.directory) decide whether git reads a directory of another user.
        done = answer(directory, "rev-parse", *words, seconds=_WAIT_S, environ={"HOME": os.path.expanduser("~")})
    except TimeoutExpired as late:
        raise StoreUnavailable(f"git did not answer within {_WAIT_S} s", fix="try again; look at the disk") from late
    if done is None:
        raise StoreUnavailable("git was removed meanwhile", fix="install git, then try again")
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    if done.returncode == 0 or (lines[0] == "false" and len(lines) == 2):
        return lines
    said = os.fsdecode(done.stderr).strip()
    if _OUTSIDE in said:
        return None
    raise StoreUnavailable(f"git cannot say what {directory} belongs to: {said[:400]}", fix="let git status work there first")


def checkout_by_files(directory: str) -> Checkout:
    """The same read from the files: where no git is installed, and where starting it would take too long."""
    found = repository_of(directory)
    if not found.git:
        return Checkout(root=directory, common=None)
    inside = os.path.join(found.root, ".git")
    return Checkout(root=found.worktree, common=os.path.realpath(inside if os.path.exists(inside) else found.root))
