"""Claims and the default branch: which of a claim's texts the repository's default branch deleted, replaced or brought back.

A commit on that branch is an act of the team; a file that one checkout does or does not have is not. Git is asked only when a
branch moved, or when a file has a text that the brain cannot explain."""

import os
import time
from collections.abc import Collection, Iterable

from hindbrain.domain.stored import stored_json
from hindbrain.services.brains import OpenBrain
from hindbrain.stores.default_branch import (
    Change,
    DefaultBranch,
    blob_id,
    branches_of,
    default_branch,
    find_deletion,
    follows,
    ref_stamp,
)
from hindbrain.stores.files import ClaimDirectory
from hindbrain.stores.port import Version

__all__ = ["DELETED", "BranchView", "ClaimBranches", "deletion_of"]

DELETED = "claim.deleted"  # the act of a claim that a commit on the default branch ended
_RETRY_S = 60.0
_YOUNG_NS = 50_000_000  # a second change within the clock's grain would leave the same time


def deletion_of(opened: OpenBrain, claim_id: str) -> tuple[str, ...]:
    """Return the commits that ended a claim before, the newest first."""
    entries = opened.store.entries(subject=f"claim:{claim_id}", act=DELETED, limit=100, newest=True)
    said = (stored_json(one.payload, "ledger").get("commit") for one in entries)
    return tuple(one for one in said if isinstance(one, str))


class BranchView:
    """The default branch as one look at it found it. History is read when it is first asked for.

    A tip is judged by itself: the local branch may be behind the remote's, or ahead of it."""

    def __init__(self, branch: DefaultBranch, directory: str) -> None:
        self.branch = branch
        self.directory = directory
        self.unanswered = False  # whether git failed or was late: what it was asked for is not known
        self._files: dict[str, dict[str, str] | None] = {}
        self._history: dict[str, dict[str, list[Change]] | None] = {}

    @property
    def tips(self) -> tuple[str, ...]:
        return self.branch.tips

    def _files_of(self, tip: str) -> dict[str, str] | None:
        if tip not in self._files:
            self._files[tip] = self.branch.files(self.directory, tip)
            self.unanswered |= self._files[tip] is None
        return self._files[tip]

    def _changes(self, tip: str, slug: str) -> list[Change]:
        if tip not in self._history:
            self._history[tip] = self.branch.changes(self.directory, of=(tip,))
            self.unanswered |= self._history[tip] is None
        return (self._history[tip] or {}).get(slug, [])

    def has_everywhere(self, slug: str) -> bool:
        """Return True when no tip lacks the file of a label; True also where git does not answer."""
        return all((files := self._files_of(tip)) is None or slug in files for tip in self.tips)

    def deleted_since(self, tips: Collection[str]) -> set[str] | None:
        """Return the labels whose file a commit deleted that was not there at these tips; None when that is not known."""
        found = self.branch.changes(self.directory, of=self.tips, without=sorted(tips))
        return None if found is None else {slug for slug, changes in found.items() if any(one.new is None for one in changes)}

    def deletion(self, slug: str, text: str, earlier: Collection[str] = ()) -> str | None:
        """Return the commit by which the branch deleted the file with this text, if the branch has no such file now.

        `earlier` are commits that ended the claim before: it came back after them, so only what happened later counts."""
        for tip in self.tips:
            files = self._files_of(tip)
            if files is None or slug in files:
                continue
            if earlier:
                found = self.branch.changes(self.directory, of=(tip,), without=sorted(earlier), slugs=(slug,))
                changes = (found or {}).get(slug, [])
            else:
                changes = self._changes(tip, slug)
            commit = find_deletion(changes, self._blob(text), whole=not earlier)
            path = f"{self.directory}/{slug}.light.md"
            moved = self.branch.moved_out(commit, path, self.directory) if commit is not None else None
            self.unanswered |= commit is not None and moved is None
            if moved is False:
                return commit
        return None

    def replaced(self, slug: str, live: str, text: str) -> bool:
        """Return True when the branch had the live text, and a later commit put this one in its place."""
        blob = self._blob(text)
        return any(
            (self._files_of(tip) or {}).get(slug) == blob and blob in follows(self._changes(tip, slug), self._blob(live))
            for tip in self.tips
        )

    def brought_back(self, slug: str, text: str, commits: Collection[str]) -> bool:
        """Return True when the branch has a file with this text, and the commits that ended its claim are in its history."""
        return any(
            (self._files_of(tip) or {}).get(slug) == self._blob(text) and all(self.branch.contains(tip, one) for one in commits)
            for tip in self.tips
        )

    def recorded(self, slug: str, text: str) -> bool:
        """Return True when a commit of this clone has the file with this text."""
        found = self.branch.changes(self.directory, of=("--all",), slugs=(slug,)) or {}
        return any(one.new == self._blob(text) for one in found.get(slug, []))

    def outrun(self, slug: str, text: str, known: Iterable[str]) -> bool:
        """Return True when the checked-out commit has this text, and a commit outside its history replaced it by a known one."""
        blob = self._blob(text)
        if (self.branch.files(self.directory, "HEAD") or {}).get(slug) != blob:
            return False
        later = self.branch.changes(self.directory, of=("--all",), without=("HEAD",), slugs=(slug,)) or {}
        return bool(follows(later.get(slug, []), blob) & {self._blob(one) for one in known})

    def _blob(self, text: str) -> str:
        return blob_id(text, like=self.tips[0])


class ClaimBranches:
    """The default branches of the repositories whose claims travel with git."""

    def __init__(self, *, shared: bool) -> None:
        self._shared = shared
        self._stamps: dict[str, tuple[int, ...]] = {}  # place -> the refs as the kept view has them
        self._followed: dict[str, tuple[int, ...]] = {}  # place -> the refs up to which deletions were looked for
        self._views: dict[str, BranchView | None] = {}
        self._retries: dict[str, float] = {}  # place -> when git is asked again after it did not answer

    def moved(self, opened: OpenBrain, place: ClaimDirectory) -> bool:
        """Return True when a branch may have moved since deletions were looked for last."""
        root, key = opened.checkout_of(place), str(place.path)
        if root is None or time.monotonic() < self._retries.get(key, 0.0):
            return False
        return self._followed.get(key) != ref_stamp(root)

    def followed(self, place: ClaimDirectory) -> None:
        """Deletions were looked for up to the kept view."""
        if (stamp := self._stamps.get(str(place.path))) is not None:
            self._followed[str(place.path)] = stamp

    def ask_again(self, place: ClaimDirectory) -> None:
        """Git did not answer: forget what it said and ask again later."""
        key = str(place.path)
        self._views.pop(key, None)
        self._stamps.pop(key, None)
        self._followed.pop(key, None)
        self._retries[key] = time.monotonic() + _RETRY_S

    def view(self, opened: OpenBrain, place: ClaimDirectory) -> BranchView | None:
        """Return the default branch as it is now; None where no branch of git holds the directory."""
        root, key = opened.checkout_of(place), str(place.path)
        if root is None:
            return None
        stamp = ref_stamp(root)
        if key in self._views and self._stamps.get(key) == stamp:
            return self._views[key]
        refs = branches_of(root)
        if refs is None:
            self.ask_again(place)
            return None
        branch = default_branch(root, refs, published=self._shared)
        held = self._views.get(key)
        if branch is None:
            self._views[key] = None
        elif held is None or held.tips != branch.tips:
            self._views[key] = BranchView(branch, os.path.relpath(place.path, root))
        young = time.time_ns() - max(stamp, default=0) < _YOUNG_NS
        if young:
            self._stamps.pop(key, None)
        else:
            self._stamps[key] = stamp
        return self._views[key]

    def brings_back(self, opened: OpenBrain, place: ClaimDirectory, last: Version, text: str) -> bool:
        """Return True when a commit ended a claim, and a later one on the default branch has the file again."""
        view = self.view(opened, place) if last.ended_act == DELETED else None
        return view is not None and view.brought_back(last.slug, text, deletion_of(opened, last.claim_id)[:1])
