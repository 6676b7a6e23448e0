"""Authority: which places a caller's arguments may name. `dispatch` asks here once for every path, root and brain of a call.

An agent reaches its own repository and the places that a person registered. A person reaches every place."""

import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.brain import Brain, contains
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.places import PlaceArgument
from hindbrain.engines.guard_recovery import federation
from hindbrain.services.brains import Brains
from hindbrain.services.routing import Router, is_no_project
from hindbrain.stores.home import Home
from hindbrain.stores.repository import canonical_root, main_path, repository_of

__all__ = ["ANALYSIS", "Authority", "Ground"]

ANALYSIS = "analysis:"  # how the name of a federated graph begins
_ROUND_ID = re.compile(r"rnd_[\w-]+(?::|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The places of one caller: its brain, its own directories, and those that its brain was given on purpose."""

    brain: Brain | None  # of the session
    brains: frozenset[str]  # names of the brains that these directories belong to
    roots: tuple[str, ...]
    added: tuple[str, ...]  # ingest roots of the brain


class Authority:
    """Resolves the places that arguments name, and refuses those beyond the caller's reach."""

    def __init__(self, home: Home, brains: Brains, router: Router, registered: Callable[[str], bool]) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._registered = registered  # whether a person registered a place that holds this canonical path

    def resolve(self, caller: Caller, place: PlaceArgument, value: Any) -> Any:
        """The value of an argument with every name in it resolved and checked."""
        if value is None:
            return None
        if isinstance(value, list):
            return [self.resolve(caller, place, one) for one in value]
        if place.within is not None:
            if not isinstance(value, msgspec.Struct):  # a text in the place of a record names nothing
                return value
            inner = self.resolve(caller, replace(place, within=None), getattr(value, place.within))
            return msgspec.structs.replace(value, **{place.within: inner})
        match place.kind:
            case "SourcePath":
                return self.source(caller, value)
            case "IngestPath":
                return self.ingested(caller, value)
            case "ProjectRoot":
                return self.project(caller, value)
            case "CheckoutRoot":
                if not os.path.isabs(value) or ".." in value.split("/") or "\x00" in value:
                    raise InvalidParams("project_root is an absolute path without `..`", fix="give the root of a checkout")
                return self.project(caller, value)
            case "RepositoryName":
                return self.repository(caller, value)
            case "OutputFile":
                return self.output_file(caller, value, place.endings)
            case "OutputDirectory":
                return self.output_directory(caller, value)
            case "BrainName":
                return self.brain(caller, value)
            case "RoundName":
                return self.round(caller, value)
            case "ProjectFile" | "ReportSubject":  # read below the root of the project only; recorded and never opened
                return value
            case unknown:
                raise TypeError(f"no rule for places of the kind {unknown}")

    # -- one method for each kind of place -----------------------------------------------------------------------------

    def source(self, caller: Caller, given: str) -> str:
        """The canonical path of a file or directory to read."""
        path = canonical_root(self._absolute(caller, given))
        if not self.reaches(caller, path):
            raise self._refusal(caller, given)
        return path

    def ingested(self, caller: Caller, given: str) -> str:
        """A directory to ingest. The refusal of one elsewhere carries the way to federate it on purpose."""
        try:
            return self.source(caller, given)
        except PathRefused as refused:
            own = self.ground(caller).brain
            if own is not None and own.root is not None:
                path = os.path.normpath(self._absolute(caller, given))
                way = federation(own.root, path, repo=path, present=False, why=refused.message)
                refused.details["federation"] = msgspec.to_builtins(way)
            raise

    def project(self, caller: Caller, given: str) -> str:
        """The canonical path of a directory whose brain, bus or settings are meant."""
        path = self.source(caller, given)
        if caller.channel is not Channel.HUMAN and contains(canonical_root(self._home.path), path):
            raise self._refusal(caller, given)
        return path

    def repository(self, caller: Caller, given: str) -> str:
        """A repository that is only named. Links are followed inside the caller's own places only."""
        return self.settled(caller, self._absolute(caller, given))

    def settled(self, caller: Caller, path: str) -> str:
        """An absolute path with its links followed, as far as the caller may look; else as it is spelt."""
        real, spelt = canonical_root(path), os.path.normpath(path)
        return real if self.reaches(caller, real) or self.reaches(caller, spelt) else spelt

    def output_file(self, caller: Caller, given: str, endings: tuple[str, ...]) -> str:
        """The path of a file that does not exist yet, in a directory that does."""
        named = os.path.normpath(self._absolute(caller, given)) if given.endswith(("/", "/.", "/..")) else given
        named = self._absolute(caller, named)
        directory = canonical_root(os.path.dirname(named))
        path = self._writable(caller, given, os.path.join(directory, os.path.basename(named)))
        if os.path.lexists(path):
            raise InvalidParams(f"{path} exists already", fix="choose another name; nothing is overwritten")
        if not os.path.isdir(os.path.dirname(path)):
            raise InvalidParams(f"{os.path.dirname(path)} is not a directory", fix="choose a directory that exists")
        if caller.channel is not Channel.HUMAN and not path.lower().endswith(endings):
            raise InvalidParams(
                f"{os.path.basename(path)[:120]!r} does not end in {' or '.join(endings)}",
                fix=f"choose a name that ends in {endings[0]}",
            )
        return path

    def output_directory(self, caller: Caller, given: str) -> str:
        """The canonical path of a directory to write into; it may not exist yet."""
        return self._writable(caller, given, canonical_root(self._absolute(caller, given)))

    def brain(self, caller: Caller, given: str) -> str:
        """The name of a brain: the caller's own, an analysis, or for a person any."""
        if caller.channel is Channel.HUMAN or given.startswith(ANALYSIS):
            return given
        own = self._router.route(caller).brain
        if own is not None and given in (own.name, own.display_name):
            return own.name
        if own is not None and os.path.isabs(given) and "\x00" not in given and canonical_root(given) == own.root:
            return own.name
        raise PathRefused(
            f"{given[:120]!r} is not the brain of this project",
            fix="leave it out for your own; to read other brains use tier=all-brains, and to change one ask a person",
            person_may=True,
        )

    def round(self, caller: Caller, given: str) -> str:
        """A round of the gym by its id, or the canonical path of its directory; a lane may follow."""
        if _ROUND_ID.match(given):
            return given
        path, colon, lane = given.partition(":")
        return self.source(caller, path) + colon + lane

    # -- what a caller reaches -------------------------------------------------------------------------------------------

    def reaches(self, caller: Caller, path: str) -> bool:
        """Whether a canonical path lies where this caller may read."""
        if caller.channel is Channel.HUMAN:
            return True
        ground = self.ground(caller)
        if contains(canonical_root(self._home.path), path):
            return any(contains(place, path) for place in self._stores(ground.brain))
        if any(contains(root, path) for root in ground.added):
            return True
        own = any(contains(root, one) for root in ground.roots for one in {path, main_path(path)})
        if not own and not self._registered(path):
            return False
        # A repository inside this one, or inside a registered place, may have a brain of its own: that brain is not the
        # caller's. A caller without a brain stands above both.
        other = self._brains.covering(path)
        return other is None or not ground.brains or other.name in ground.brains

    def ground(self, caller: Caller) -> Ground:
        """The places of a caller: the project of its session, and the directories that its surface or host named."""
        route = self._router.route(caller)
        known = [one for one in (caller.root, *caller.offered_roots) if one is not None and not is_no_project(one)]
        brains = [brain for brain in (route.brain, *map(self._brains.covering, known)) if brain is not None]
        roots = [brain.root for brain in brains if brain.root is not None and os.path.isabs(brain.root)]
        for directory in known:
            repository = repository_of(directory)
            roots += [one for one in (repository.root, repository.worktree) if not is_no_project(one)] or [directory]
        own = route.brain if route.brain is not None and route.brain.root is not None else None
        return Ground(
            brain=own,
            brains=frozenset(brain.name for brain in brains),
            roots=tuple(dict.fromkeys(roots)),
            added=own.ingest_roots if own is not None else (),
        )

    def exports(self, brain: Brain | None) -> Path | None:
        """Where a brain's agents may write beside the repository."""
        return self._home.exports_dir(brain) if brain is not None else None

    def _stores(self, brain: Brain | None) -> list[str]:
        """What a caller may read in the home: claims and missions of its own brain, the shared claims."""
        directories = [self._home.medulla_dir / "agent-memory"]
        if brain is not None:
            own = self._home.brain_dir(brain)
            directories += [own / "agent-memory", own / "missions", self._home.exports_dir(brain)]
        return [canonical_root(one) for one in directories]

    # -- names -----------------------------------------------------------------------------------------------------------

    def _absolute(self, caller: Caller, given: str) -> str:
        """The path as the caller means it: a relative one starts in their directory."""
        if "\x00" in given or not given.strip():
            raise PathRefused(f"{given[:120]!r} is not a path", fix="give the path of a file or directory")
        path = os.path.expanduser(given)
        if os.path.isabs(path):
            return path
        base = caller.root or self._router.route(caller).root
        if base is None:
            raise PathRefused(f"{given[:120]!r} is relative, and the call has no directory", fix="give an absolute path")
        return os.path.join(base, path)

    def _writable(self, caller: Caller, given: str, path: str) -> str:
        """The path itself, if this caller may write there."""
        ground = self.ground(caller)
        exports = self.exports(ground.brain)
        if exports is not None and contains(canonical_root(exports), path):
            self._home.make(exports)
            return path
        self._home.refuse_target(Path(path))
        if caller.channel is Channel.HUMAN:
            return path
        root = next((one for one in (*ground.roots, *self._worktree(path, ground)) if contains(one, path)), None)
        if root is None or not (path == root or self.reaches(caller, canonical_root(os.path.dirname(path)))):
            if self._registered(path):
                root = os.path.dirname(path)
            else:
                raise self._refusal(caller, given, exports=exports)
        if hidden := next((part for part in os.path.relpath(path, root).split(os.sep) if _is_hidden(part)), None):
            raise PathRefused(
                f"{hidden[:120]!r} is a hidden name, and hidden files can change what programs do",
                fix="choose a name that does not begin with a dot",
                person_may=True,
            )
        return path

    @staticmethod
    def _worktree(path: str, ground: Ground) -> tuple[str, ...]:
        """The linked worktree that holds a path, if it is one of the caller's repository."""
        repository = repository_of(os.path.dirname(path))
        return (repository.worktree,) if any(contains(root, repository.root) for root in ground.roots) else ()

    def _refusal(self, caller: Caller, given: str, *, exports: Path | None = None) -> PathRefused:
        ground = self.ground(caller)
        here = ground.roots[0] if ground.roots else None
        inside = f"use a path inside {here}" if here else "start the agent in the directory of a repository"
        also = f" or {exports}" if exports is not None else ""
        return PathRefused(
            f"{given[:200]!r} is outside this caller's repository",
            fix=f"{inside}{also}; a person can name other places in a terminal",
            person_may=True,
        )


def _is_hidden(part: str) -> bool:
    """Whether a name is hidden, or could be taken for a hidden one: some file systems ignore format characters."""
    shown = "".join(one for one in part if unicodedata.category(one) not in ("Cf", "Cc", "Cn", "Mn"))
    return part not in ("", ".") and (shown.startswith(".") or shown != part or part.endswith((".", " ")) or "~" in part)
