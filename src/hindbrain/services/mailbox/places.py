"""Places: which repositories this machine has, as the rule that files letters asks for them."""

import json
import os
from pathlib import Path

from hindbrain.domain.errors import ConfigInvalid
from hindbrain.engines.letter_places import Places, by_name
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.brains import Brains
from hindbrain.settings import Settings
from hindbrain.stores.atomic import write_text
from hindbrain.stores.documents import set_aside_unreadable
from hindbrain.stores.home import REPO_DIR, Home
from hindbrain.stores.locks import locked
from hindbrain.stores.repository import canonical_root, repository_of

__all__ = ["PostRoom"]

_SCHEMA = "hindbrain-boxes-v0"


class PostRoom:
    """What is known of repositories: those with a brain, those that were given a box, and what the settings say of names."""

    def __init__(self, home: Home, brains: Brains, settings: Settings) -> None:
        self._home = home
        self._brains = brains
        self._settings = settings

    def known(self) -> tuple[str, ...]:
        """Roots of repositories, sorted; some may be gone from this machine."""
        roots = {brain.root for brain in self._home.projects() if brain.root is not None}
        return tuple(sorted(roots | set(self._seen())))

    def saw(self, *roots: str) -> None:
        """Remember repositories, so that letters find them by name and a sweep looks into their boxes."""
        if not set(roots) - set(self._seen()):
            return
        self._home.ensure()
        with locked(self._home.boxes_lock, wait_s=LOCK_WAIT_S):
            told = {"schema": _SCHEMA, "roots": sorted({*self._seen(), *roots})}
            set_aside_unreadable(self._home.boxes_file)
            write_text(self._home.boxes_file, json.dumps(told, indent=2) + "\n")

    def saw_box(self, root: str) -> None:
        """Remember a repository that already has a directory of ours, as a clone brings it along."""
        if os.path.isdir(os.path.join(root, REPO_DIR)) and not self.owns(root):
            self.saw(root)

    def owns(self, root: str) -> bool:
        """Whether the box of a directory would lie in the home itself, as with a repository of dot files."""
        home = canonical_root(self._home.path)
        return os.path.realpath(os.path.join(root, REPO_DIR)) == home

    def project_at(self, directory: str) -> str | None:
        """The project that a canonical directory belongs to: the root of its brain, else of its repository. None where the
        directory holds another repository than its brain was made for: letters to the one are not for the other."""
        return self._brains.place_of(directory)[0] if self._brains.replaced(directory) is None else None

    def places(self, caller_root: str | None) -> Places:
        """The places of this machine, for one run: a directory is looked up once."""
        known = self.known()
        user_home = os.path.expanduser("~")
        at: dict[str, str | None] = {}

        def repository_at(path: str) -> str | None:
            if path not in at:
                at[path] = self.project_at(canonical_root(path)) if os.path.isdir(path) else None
            return at[path]

        runtime = (str(self._home.path), canonical_root(self._home.path), os.path.join(user_home, ".m1nd", "runtimes"))
        return Places(
            user_home=user_home,
            repository_at=repository_at,
            known=by_name(known),
            aliases=self._aliases(),
            bases=frozenset(self._bases(caller_root)),
            search_roots=self._search_roots(known),
            runtime=tuple(dict.fromkeys(runtime)),
            shared=_shared(user_home),
        )

    def _seen(self) -> tuple[str, ...]:
        try:
            found = json.loads(self._home.boxes_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ()
        roots = found.get("roots") if isinstance(found, dict) else None
        return tuple(root for root in roots if isinstance(root, str)) if isinstance(roots, list) else ()

    def _bases(self, caller_root: str | None) -> tuple[str, ...]:
        if told := _listed(self._settings.text("worktree_bases")):
            return told
        root = self._brains.bound_root or caller_root
        return (os.path.basename(repository_of(canonical_root(root)).root),) if root is not None else ()

    def _aliases(self) -> dict[str, str]:
        found = {}
        for one in _listed(self._settings.text("repo_aliases")):
            name, sign, repository = (part.strip() for part in one.partition("="))
            if not (name and sign and repository):
                raise ConfigInvalid(f"repo_aliases has {one!r}", fix="write it as name=repository, separated by commas")
            found[name] = repository
        return found

    def _search_roots(self, known: tuple[str, ...]) -> tuple[str, ...]:
        told = _listed(self._settings.text("repo_search_roots"))
        return told or tuple(dict.fromkeys(os.path.dirname(root) for root in known))


def _listed(told: str) -> tuple[str, ...]:
    parts = (part.strip() for part in told.split(","))
    return tuple(os.path.expanduser(part) if part.startswith("~") else part for part in parts if part)


def _shared(user_home: str) -> frozenset[str]:
    """The directory of the user and those above it: they hold projects, and are one only where git says so."""
    ways = (Path(user_home), Path(canonical_root(user_home)))
    above = {str(place) for way in ways for place in (way, *way.parents)}
    return frozenset(place for place in above if not os.path.exists(os.path.join(place, ".git")))
