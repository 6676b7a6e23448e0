"""Where a letter belongs: a pure rule over its words and the places that this machine has."""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hindbrain.domain.brain import MEDULLA, contains
from hindbrain.domain.letter import Letter

__all__ = ["AMBIGUOUS", "NOT_HERE", "Places", "Target", "box_of", "by_name", "normalised", "subject"]

NOT_HERE = "not_here"
AMBIGUOUS = "ambiguous_name"
_PREFIX = "project:"
_RESEARCH = "research task"
_ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What one machine has. `repository_at` gives the repository of an existing directory, a worktree its main one, else None."""

    user_home: str
    repository_at: Callable[[str], str | None]
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # name -> roots of repositories; some may be gone
    aliases: Mapping[str, str] = field(default_factory=dict)  # a name in letters -> the name or path of a repository
    bases: frozenset[str] = frozenset()  # names whose `<base>-<suffix>` are worktrees
    search_roots: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()  # these directories and all below them are no project
    shared: frozenset[str] = frozenset()  # directories that hold everybody's projects and are none


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where one letter goes: a repository's box, the medulla's (`root` None and no reason), or nowhere yet, and why."""

    name: str  # what was looked for
    root: str | None = None
    reason: str | None = None

    @property
    def medulla(self) -> bool:
        return self.root is None and self.reason is None

    @property
    def shown(self) -> str:
        return self.root or MEDULLA


def normalised(text: str | None, user_home: str) -> str:
    """A subject without prefix, annotation, `~` and trailing slash."""
    name = (text or "").strip().removeprefix(_PREFIX)
    name = name.partition("(")[0].strip()
    if name == "~" or name.startswith("~/"):
        name = user_home.rstrip("/") + name[1:]
    return name.rstrip("/")


def by_name(roots: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Repositories by the name that letters call them."""
    found: dict[str, tuple[str, ...]] = {}
    for root in dict.fromkeys(roots):
        name = posixpath.basename(root)
        found[name] = (*found.get(name, ()), root)
    return found


def subject(letter: Letter, places: Places) -> str:
    """What a letter is about: its brain, unless that names no project; then its repository. Empty when neither names one."""
    brain = normalised(letter.brain, places.user_home)
    if brain != MEDULLA and not _projectless(brain, places):
        return brain
    repo = normalised(letter.repo, places.user_home)
    return "" if _projectless(repo, places) else repo


def box_of(letter: Letter, places: Places) -> Target:
    """The one box of a letter. One that names a project never goes to the medulla, whatever became of that project."""
    name = subject(letter, places)
    if not name:
        return Target(name="")
    if not name.startswith("/"):
        # Two repositories may have one name. Where the letter also says a path, that path tells which is meant.
        at = _directory(normalised(letter.repo, places.user_home), places)
        if at is not None and posixpath.basename(at) == name and not _no_project(at, places):
            return Target(name=name, root=at)
        return _named(name, places)
    root = _directory(name, places)
    if root is None:
        return _gone(name, places)
    return Target(name="") if _no_project(root, places) else Target(name=name, root=root)


def _projectless(name: str, places: Places) -> bool:
    folded = name.casefold()
    return not name or folded == _ALL or folded.startswith(_RESEARCH) or _no_project(name, places)


def _no_project(path: str, places: Places) -> bool:
    return path in places.shared or any(contains(root, path) for root in places.runtime)


def _directory(path: str, places: Places) -> str | None:
    return places.repository_at(path) if path.startswith("/") and path.isprintable() else None


def _named(name: str, places: Places) -> Target:
    meant = normalised(places.aliases.get(name, name), places.user_home)
    if meant.startswith("/"):
        root = _directory(meant, places)
        return _found(name, () if root is None else (root,))
    if roots := _known(meant, places):
        return _found(name, roots)
    meant = _base(meant, places) or meant
    return _found(name, _known(meant, places) or _searched(meant, places))


def _gone(path: str, places: Places) -> Target:
    """A path that is not here. A worktree that was taken away still says which repository it was of: the one beside it."""
    if alias := places.aliases.get(path):
        return _named(alias, places)
    base = _base(posixpath.basename(path), places)
    roots = _known(base, places) if base is not None else ()
    return _found(path, tuple(root for root in roots if posixpath.dirname(root) == posixpath.dirname(path)))


def _base(name: str, places: Places) -> str | None:
    """`<base>` of `<base>-<suffix>`, for the names that have worktrees. The longest, where two fit."""
    fitting = [base for base in places.bases if name.startswith(f"{base}-") and len(name) > len(base) + 1]
    return max(fitting, key=len, default=None)


def _known(name: str, places: Places) -> tuple[str, ...]:
    found = (places.repository_at(root) for root in places.known.get(name, ()))
    return tuple(dict.fromkeys(root for root in found if root is not None and not _no_project(root, places)))


def _searched(name: str, places: Places) -> tuple[str, ...]:
    """Directories of this name directly under a search root. A name is one step of a path, and never a way out of it."""
    if "/" in name or name in ("", ".", ".."):
        return ()
    found = (_directory(posixpath.join(root, name), places) for root in places.search_roots)
    return tuple(dict.fromkeys(root for root in found if root is not None and not _no_project(root, places)))


def _found(name: str, roots: tuple[str, ...]) -> Target:
    if len(roots) == 1:
        return Target(name=name, root=roots[0])
    return Target(name=name, reason=AMBIGUOUS if roots else NOT_HERE)
