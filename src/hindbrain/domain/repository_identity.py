"""Identity of a repository: whether a directory holds the one that a brain was made for. A path alone proves nothing."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Evidence", "Traits", "evidence_of_adoption", "evidence_of_same"]


class Evidence(StrEnum):
    """What proves that a directory holds the repository of a brain."""

    WITNESS = "witness"  # the secret in `.hindbrain/.witness`, which git does not carry, and the directory or the history
    GIT_DIRECTORY = "git_directory"  # the very same git directory, whatever its history is now
    DIRECTORY = "directory"  # the very same directory, and no other repository was put into it
    LINEAGE = "lineage"  # another copy of the same history from the same remote: restored, or cloned again
    PACKAGE = "package"  # a directory inside a repository, with the files that the same repository has for it
    FIRST_SIGHT = "first_sight"  # nothing was recorded yet, and nothing contradicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What is known of the repository in a directory. `place` and `git` name a directory by inode and time of birth.

    A trait that is not known is None, or empty. A time of birth of 0 says that the file system does not record it: such a
    trait is a hint, and counts together with another one only.

    `within` is the path of a directory inside a repository, from its root, and empty for the root itself. `git`, `first` and
    `remote` are those of that repository: every directory in it has them, so they prove nothing about one of them.
    """

    place: tuple[int, int] | None = None  # the directory itself
    git: tuple[int, int] | None = None  # the git directory that its worktrees share
    first: frozenset[str] = frozenset()  # commits without a parent; unknown in a shallow clone
    remote: str = ""
    brain_id: str | None = None  # what `.hindbrain/brain.json` says; it travels with every clone and proves nothing alone
    witness: str | None = None
    within: str = ""
    files: frozenset[tuple[str, str]] = frozenset()  # inside a repository: names and digests of some files that git tracks


# Edits change some files of a package between two looks. Another directory in its place shares none, or a few common ones.
_SHARED_FILES = 0.5


def evidence_of_same(recorded: Traits, seen: Traits, *, claimed_elsewhere: bool = False) -> Evidence | None:
    """What proves that `seen` is the repository that was recorded; None when nothing does.

    `claimed_elsewhere`: another brain of this home has this very directory, git directory or witness on record.
    """
    same_place = _same(recorded.place, seen.place, recorded, seen)
    same_git = _same(recorded.git, seen.git, recorded, seen)
    witnessed = recorded.witness is not None and seen.witness == recorded.witness
    foreign = seen.witness is not None and recorded.witness is not None and not witnessed
    if recorded.within or seen.within:
        package = not claimed_elsewhere and not foreign and _same_package(recorded, seen)
        if same_place and seen.place is not None and not seen.place[1]:  # the history is the repository's: no hint for this one
            same_place = package or recorded.brain_id == seen.brain_id
        cloned = not seen.within and seen.git is not None and bool(seen.remote)  # put into the emptied directory
        if same_place and (witnessed or not cloned):
            return Evidence.WITNESS if witnessed else Evidence.DIRECTORY
        return Evidence.PACKAGE if package else None
    # `.hindbrain` may have been copied into another directory: something that was not copied with it has to agree.
    if witnessed and (same_place or (not claimed_elsewhere and (same_git or recorded.first & seen.first))):
        return Evidence.WITNESS
    if same_git and (same_place or not claimed_elsewhere):
        return Evidence.GIT_DIRECTORY
    if same_place and (seen.git is None or not seen.remote):
        # `git init` here, or `.git` removed. A clone that was put into the emptied directory has a remote.
        return Evidence.DIRECTORY
    if recorded.first & seen.first and recorded.remote == seen.remote and not claimed_elsewhere and not foreign:
        return Evidence.LINEAGE
    return None


def evidence_of_adoption(known: Traits, seen: Traits, *, claimed_elsewhere: bool = False) -> Evidence | None:
    """The same for a brain that an older release made: only its id and perhaps its witness are known."""
    if known.witness is not None and seen.witness == known.witness and not claimed_elsewhere:
        return Evidence.WITNESS
    if claimed_elsewhere or (seen.brain_id is not None and seen.brain_id != known.brain_id):
        return None
    if known.witness is not None and seen.brain_id is None:
        return None  # `init` left two files here, and this directory has neither
    return Evidence.FIRST_SIGHT


def _same_package(recorded: Traits, seen: Traits) -> bool:
    """Whether git made a directory of a repository again, as a switch of branches or another clone does."""
    if recorded.within != seen.within or not recorded.files:
        return False
    same_repository = _same(recorded.git, seen.git, recorded, seen) or (
        bool(recorded.first & seen.first) and recorded.remote == seen.remote
    )
    return same_repository and len(recorded.files & seen.files) >= _SHARED_FILES * len(recorded.files)


def _same(recorded: tuple[int, int] | None, seen: tuple[int, int] | None, before: Traits, now: Traits) -> bool:
    if recorded is None or recorded != seen:
        return False
    if recorded[1]:
        return True
    # An inode number is used again after a removal: without a time of birth something else has to agree.
    if before.brain_id is not None and before.brain_id == now.brain_id:
        return True
    if before.first and now.first:
        return bool(before.first & now.first)
    return now.brain_id is None or before.brain_id is None
