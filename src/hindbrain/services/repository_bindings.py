"""Repository bindings: which repository each brain was made for, and whether its directory still holds that one."""

import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.repository_identity import Evidence, Traits, evidence_of_adoption, evidence_of_same
from hindbrain.stores.atomic import write_text
from hindbrain.stores.home import Home
from hindbrain.stores.identity import Signature, has_commit, indexed_ns, signature_of, traits_of

__all__ = ["RepositoryBindings"]

LOG = logging.getLogger("hindbrain.bindings")

_SCHEMA = "hindbrain-repository-v0"
_RECORD = "repository.json"
_REMEMBERED = 1_000
_FIRST_MOST = 64
_SAMPLE_AGE_NS = 24 * 3600 * 10**9  # a day of commits changes few files of a package

Stamp = tuple[int, int]


class RepositoryBindings:
    """The records of one home. A record lies beside the brain's database, where no repository can write."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], tuple[Signature, Stamp, Evidence | None]] = {}

    def holds(self, brain: Brain, place: str | None = None, *, record: bool = True) -> bool:
        """Whether a directory of a brain (its root when left out) holds the repository that the brain was made for.

        True also for a directory that is not there: nobody can stand in it. Without `record` nothing is written.
        """
        where = place or brain.root
        if where is None or brain.root is None or not os.path.isabs(brain.root):
            return True  # the medulla and analyses belong to no directory
        signature = signature_of(where)
        if signature is None:
            return True
        key, stamp = (brain.root, where), _stamp(self._path(brain))
        known = self._known.get(key)
        if known is not None and known[:2] == (signature, stamp):
            return known[2] is not None
        found = self._look(brain, where, signature, record=record)
        with self._lock:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = (signature, _stamp(self._path(brain)), found)
        return found is not None

    def bind(self, brain: Brain, place: str | None = None) -> None:
        """Record what a directory of a brain holds now: at its birth, when its files were read, or when a person says so."""
        where = place or brain.root
        if where is None or brain.root is None or not os.path.isabs(brain.root):
            return
        signature = signature_of(where)
        if signature is not None:
            self._save(brain, where, signature, traits_of(where))

    def recorded(self, brain: Brain) -> Traits:
        """What is on record about the root of a brain."""
        directory = self._home.brain_dir(brain)
        return self._recorded(brain, directory, _entries(directory).get(brain.root or "", {}))

    def witnessed(self, brain: Brain, directory: Path, place: str) -> bool:
        """Whether another place than its own holds the repository of a brain, by its witness. `directory` is the brain's."""
        seen, entry = traits_of(place), _entries(directory).get(brain.root or "")
        known = self._recorded(brain, directory, entry or {})
        rule = evidence_of_same if entry is not None else evidence_of_adoption
        return rule(known, seen, claimed_elsewhere=self._claimed(brain, seen)) is Evidence.WITNESS

    def witness(self, brain: Brain) -> str | None:
        """The secret that this home keeps for a brain; None when `init` never left one."""
        return self._home.witness_in(self._home.brain_dir(brain))

    # -- the look ----------------------------------------------------------------------------------------------------

    def _look(self, brain: Brain, where: str, signature: Signature, *, record: bool) -> Evidence | None:
        directory = self._home.brain_dir(brain)
        entry = _entries(directory).get(where)
        if entry is None:
            seen = traits_of(where)
            known = Traits(brain_id=brain.id, witness=self.witness(brain) if where == brain.root else None)
            found = evidence_of_adoption(known, seen, claimed_elsewhere=self._claimed(brain, seen))
        elif tuple(entry.get("signature") or ()) == signature:
            if (entry.get("first") or not has_commit(where)) and not (record and self._outdated(brain, where, entry)):
                return Evidence.GIT_DIRECTORY
            seen, found = traits_of(where), Evidence.GIT_DIRECTORY  # its first commit came after the record, or many edits
        else:
            recorded, seen = self._recorded(brain, directory, entry), traits_of(where, history=False)
            strong = recorded.git is not None and recorded.git[1] != 0 and recorded.git == seen.git
            if strong and recorded.place == seen.place and not recorded.within and not seen.within:
                found = Evidence.GIT_DIRECTORY
            else:
                seen = traits_of(where, files=[name for name, _ in recorded.files] if recorded.within else None)
                found = evidence_of_same(recorded, seen, claimed_elsewhere=self._claimed(brain, seen))
            if found is not None and seen.within:
                seen = traits_of(where)  # with a new sample of its files
        if found is not None and record:
            self._save(brain, where, signature, seen)
        return found

    def _outdated(self, brain: Brain, where: str, entry: dict[str, Any]) -> bool:
        """Whether the sample of files of a directory inside a repository is so old that commits may have changed most of it."""
        return bool(entry.get("within")) and indexed_ns(where) - _stamp(self._path(brain))[1] > _SAMPLE_AGE_NS

    def _claimed(self, brain: Brain, seen: Traits) -> bool:
        """Whether another brain of this home has this very directory, or the witness in it, on record."""
        for other in self._home.projects():
            if other.root == brain.root or other.root is None:
                continue
            recorded = self.recorded(other)
            if recorded.place is not None and recorded.place[1] and recorded.place == seen.place:
                return True
            if seen.witness is not None and recorded.witness == seen.witness:
                return True
        return False

    # -- records -----------------------------------------------------------------------------------------------------

    def _path(self, brain: Brain) -> Path:
        return self._home.brain_dir(brain) / _RECORD

    def _recorded(self, brain: Brain, directory: Path, entry: dict[str, Any]) -> Traits:
        first = entry.get("first")
        return Traits(
            place=_birth(entry.get("place")),
            git=_birth(entry.get("git")),
            first=frozenset(one for one in first if isinstance(one, str)) if isinstance(first, list) else frozenset(),
            remote=str(entry.get("remote") or ""),
            brain_id=brain.id,
            witness=self._home.witness_in(directory),
            within=str(entry.get("within") or ""),
            files=frozenset(_files(entry.get("files"))),
        )

    def _save(self, brain: Brain, where: str, signature: Signature, seen: Traits) -> None:
        """A home that cannot be written keeps the older record, and reading goes on: the next process looks again."""
        with self._lock:
            entries = _entries(self._home.brain_dir(brain))
            before = entries.get(where, {})
            known = [one for one in before.get("first") or () if isinstance(one, str) and one not in seen.first]
            entries[where] = {
                "signature": list(signature),
                "place": seen.place,
                "git": seen.git,
                "first": [*sorted(seen.first), *known][:_FIRST_MOST],
                "remote": seen.remote or str(before.get("remote") or ""),
                **({"within": seen.within, "files": dict(sorted(seen.files))} if seen.within else {}),
            }
            told = {"schema": _SCHEMA, "places": entries}
            try:
                write_text(self._path(brain), json.dumps(told, indent=2, ensure_ascii=False) + "\n")
            except OSError as refused:
                LOG.warning("the record of %s was not written: %s", where, refused)


def _record_in(directory: Path) -> dict[str, Any]:
    """What a brain's file records. A file that cannot be read records nothing."""
    try:
        found = json.loads((directory / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and found.get("schema") == _SCHEMA else {}


def _entries(directory: Path) -> dict[str, dict[str, Any]]:
    """The records of a brain by place."""
    places = _record_in(directory).get("places")
    return {path: entry for path, entry in places.items() if isinstance(entry, dict)} if isinstance(places, dict) else {}


def _birth(told: object) -> tuple[int, int] | None:
    match told:
        case [int(inode), int(born)]:
            return inode, born
    return None


def _files(told: object) -> Iterator[tuple[str, str]]:
    for name, digest in told.items() if isinstance(told, dict) else ():
        if isinstance(digest, str):
            yield name, digest


def _stamp(path: Path) -> Stamp:
    try:
        state = os.stat(path)
    except OSError:
        return 0, 0
    return state.st_ino, state.st_mtime_ns
