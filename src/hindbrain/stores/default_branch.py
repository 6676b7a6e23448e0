"""Default branch: what a clone knows of the branch that its repository is built from, and what git did there to claim files.

Everything here reads refs and objects of git. A question that git cannot answer (no git, a shallow history, a late answer) has no
answer, and nobody acts on it."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hindbrain.stores.git import asked
from hindbrain.stores.repository import git_directory

__all__ = ["Change", "DefaultBranch", "blob_id", "branches_of", "default_branch", "find_deletion", "follows", "ref_stamp"]

_ASK_S = 20.0  # milliseconds as a rule; a loaded machine is waited for
_HISTORY_S = 30.0  # of a long history; later than this, nothing is known of it
_USUAL = ("main", "master")
_SHA256 = 64  # digits of an object name in a repository of the newer format
_ENDING = ".light.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one commit did to one claim file. A merge is compared with its first parent. None is an absent file."""

    commit: str
    old: str | None
    new: str | None


def blob_id(text: str, *, like: str) -> str:
    """Return the name that git gives to a file with this text, in a repository whose commits look like this one."""
    raw = text.encode("utf-8", "surrogateescape")
    make = hashlib.sha256 if len(like) == _SHA256 else hashlib.sha1  # git names objects so; nothing is protected by it
    return make(b"blob %d\x00" % len(raw) + raw, usedforsecurity=False).hexdigest()


def ref_stamp(root: str) -> tuple[int, ...]:
    """Return times that change when a branch of the repository moves; no file is read and no program started."""
    git = git_directory(root)
    if git is None:
        return ()
    remotes = os.path.join(git, "refs", "remotes")
    places = [os.path.join(git, *name) for name in (("packed-refs",), ("refs", "heads"), ("reftable",))]
    places += [os.path.join(remotes, name) for name in sorted(os.listdir(remotes))] if os.path.isdir(remotes) else []
    return tuple(map(_mtime, places))


def branches_of(root: str) -> dict[str, tuple[str, str]] | None:
    """Return the branches of a clone, local and remote: name -> commit and, for a symbolic one, the name it stands for.

    None when git does not answer."""
    said = asked(
        root, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", "refs/heads", "refs/remotes", seconds=_ASK_S
    )
    lines = (line.split(" ") for line in said.decode("utf-8", "replace").splitlines()) if said is not None else ()
    return {name: (commit, link) for name, commit, link in lines} if said is not None else None


def default_branch(root: str, refs: Mapping[str, tuple[str, str]], *, published: bool) -> "DefaultBranch | None":
    """Return the default branch as this clone knows it; None when no branch is clearly the default.

    With a remote it is the remote's default branch as it was last fetched or pushed. A clone that shares its brain with others
    (`published`) goes by that alone; otherwise the local branch of that name counts as well."""
    remote = _remote(refs)
    if remote is None:
        chosen = _clear({name.removeprefix("refs/heads/") for name in refs if name.startswith("refs/heads/")})
        names = [f"refs/heads/{chosen}"] if chosen is not None else []
    else:
        prefix = f"refs/remotes/{remote}/"
        link = refs.get(f"{prefix}HEAD", ("", ""))[1]
        ours = {name.removeprefix(prefix) for name, (_, linked) in refs.items() if name.startswith(prefix) and not linked}
        chosen = link.removeprefix(prefix) if link in refs else _clear(ours)
        names = [f"{prefix}{chosen}", *([] if published else [f"refs/heads/{chosen}"])] if chosen is not None else []
    tips = tuple(dict.fromkeys(refs[name][0] for name in names if name in refs))
    return DefaultBranch(root=root, name=chosen, tips=tips) if tips and chosen is not None else None


def _remote(refs: Mapping[str, tuple[str, str]]) -> str | None:
    """The remote that the repository came from: `origin`, else the only one whose branches are known."""
    found = {name.split("/")[2] for name in refs if name.startswith("refs/remotes/")}
    return "origin" if "origin" in found else found.pop() if len(found) == 1 else None


def _clear(branches: set[str]) -> str | None:
    """The one branch that can only be the default: the only one there is, or the only one with a usual name."""
    if len(branches) == 1:
        return next(iter(branches))
    usual = [name for name in _USUAL if name in branches]
    return usual[0] if len(usual) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultBranch:
    """The default branch of a repository in one clone. `tips` has the remote's state first, then the local one if it counts."""

    root: str
    name: str
    tips: tuple[str, ...]

    @property
    def shallow(self) -> bool:
        """Return True when git holds only a part of the history here."""
        git = git_directory(self.root)
        return git is not None and os.path.exists(os.path.join(git, "shallow"))

    def files(self, directory: str, commit: str) -> dict[str, str] | None:
        """Return the claim files of a directory in a commit: slug -> blob."""
        said = asked(self.root, "ls-tree", commit, f"{directory}/", seconds=_ASK_S)
        if said is None:
            return None
        found = {}
        for line in said.decode("utf-8", "replace").splitlines():
            facts, _, path = line.partition("\t")
            if (slug := _slug(path)) is not None:
                found[slug] = facts.split(" ")[2]
        return found

    def changes(
        self, directory: str, *, of: Sequence[str], without: Sequence[str] = (), slugs: Iterable[str] = ()
    ) -> dict[str, list[Change]] | None:
        """Return what commits did to claim files, the oldest first: slug -> changes.

        `of` are the commits whose history is meant, `--all` for every branch of the clone. `without` leaves out all that is
        reachable from these commits."""
        paths = [f"{directory}/{slug}{_ENDING}" for slug in slugs] or [f"{directory}/"]
        said = asked(
            self.root,
            "log",
            "--reverse",
            "--topo-order",
            "--format=%H",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--full-history",
            "--diff-merges=first-parent",
            "--relative",
            *of,
            *(("--not", *without) if without else ()),
            "--",
            *paths,
            seconds=_HISTORY_S,
        )
        return None if said is None else _parsed(said.decode("utf-8", "replace"))

    def contains(self, tip: str, commit: str) -> bool:
        """Return True when a commit is in the history of a tip; False also for one that this clone does not have."""
        return asked(self.root, "rev-list", "--max-count=1", commit, f"^{tip}", seconds=_HISTORY_S) == b""

    def moved_out(self, commit: str, path: str, directory: str) -> bool | None:
        """Return True when a commit moved a file, unchanged, out of the directory; None when git does not answer."""
        said = asked(
            self.root,
            "diff-tree",
            "-r",
            "-M100%",
            "--diff-filter=R",
            "--name-status",
            "--no-commit-id",
            f"{commit}^1",
            commit,
            seconds=_ASK_S,
        )
        top = _top(self.root)
        if said is None or top is None:
            return None
        lines = (line.split("\t") for line in said.decode("utf-8", "replace").splitlines())
        targets = {words[1]: words[2] for words in lines if len(words) == 3}
        target = targets.get(f"{top}{path}")
        return target is not None and os.path.dirname(target) != f"{top}{directory}"


def _top(root: str) -> str | None:
    """The path of a directory inside its repository, with a slash at its end; empty at the top."""
    said = asked(root, "rev-parse", "--show-prefix", seconds=_ASK_S)
    return None if said is None else said.decode("utf-8", "replace").strip()


def _parsed(text: str) -> dict[str, list[Change]]:
    found: dict[str, list[Change]] = {}
    commit = ""
    for line in text.splitlines():
        if not line.startswith(":"):
            commit = line or commit
            continue
        facts, _, path = line.partition("\t")
        _, _, old, new, _ = facts.split(" ")
        if (slug := _slug(path)) is not None:
            found.setdefault(slug, []).append(Change(commit=commit, old=_present(old), new=_present(new)))
    return found


def _present(blob: str) -> str | None:
    return blob if blob.strip("0") else None


def _slug(path: str) -> str | None:
    name = os.path.basename(path)
    return name.removesuffix(_ENDING) if name.endswith(_ENDING) else None


def find_deletion(changes: Sequence[Change], blob: str, *, whole: bool) -> str | None:
    """Return the commit that deleted a file which had this text, or a text that came after it in the same history.

    Without `whole` the changes are a part of the history, and the text counts from the commit that brings it in there."""
    held = {blob} if whole else set()
    deleted = None
    for one in changes:
        if one.new == blob:
            held.add(blob)
        if one.old in held:
            if one.new is None:
                deleted = one.commit
            else:
                held.add(one.new)
    return deleted


def follows(changes: Sequence[Change], blob: str) -> set[str]:
    """Return the texts that replaced this one, directly or later."""
    held = {blob}
    for one in changes:
        if one.old in held and one.new is not None:
            held.add(one.new)
    return held - {blob}


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
