"""The place of a bus: which checkout a call belongs to. Naming another project never leads to its bus."""

import os

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import CallerRootUnknown, InvalidParams, PathRefused, RepositoryChanged
from hindbrain.services.brains import Brains, repository_change, repository_ways
from hindbrain.services.routing import Router
from hindbrain.stores.bus_records import Bus
from hindbrain.stores.home import Home
from hindbrain.stores.repository import canonical_root, repository_of
from hindbrain.stores.runtime_place import settle_runtime

__all__ = ["Buses"]


class Buses:
    """The buses of a home, one for each checkout."""

    def __init__(self, home: Home, brains: Brains, router: Router, *, wait_s: float, part_bytes: int) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._wait_s = wait_s
        self._part_bytes = part_bytes

    def of(self, caller: Caller, project_root: str | None = None) -> Bus:
        """The bus of the caller's checkout, or of another checkout of the same project."""
        project, root = self._place(self._root(caller))
        if project_root is not None:
            if not os.path.isabs(project_root) or ".." in project_root.split("/") or "\x00" in project_root:
                raise InvalidParams("project_root is an absolute path without `..`", fix="give the root of a checkout")
            named, root = self._brains.place_of(canonical_root(project_root))
            if named != project:
                raise PathRefused(
                    f"{project_root[:200]} is no checkout of this repository; its bus belongs to those who work there",
                    fix="name another worktree of the same repository, or leave project_root out",
                )
        return self._bus(root)

    def repository(self, caller: Caller) -> Bus:
        """The bus of the main checkout of the caller's project, for what all checkouts share."""
        return self._bus(self._place(self._root(caller))[0])

    def at(self, own: Bus, checkout: str) -> Bus:
        """The bus of another checkout of the same project; a name that leads to another one leads to the own bus."""
        project, root = self._brains.place_of(checkout)
        return self._bus(root) if project == self._brains.place_of(own.root)[0] else own

    def _place(self, root: str) -> tuple[str, str]:
        """The project and the checkout of a directory. What agents said of another repository at this path is not theirs."""
        if (other := self._brains.replaced(root)) is not None:
            raise RepositoryChanged(
                f"{repository_change(other.root or root)}; its bus is not opened",
                fix=repository_ways(other.root or root),
                project_root=other.root,
            )
        return self._brains.place_of(root)

    def named(self, root: str) -> Bus:
        """The bus of a checkout that a bus of this home named itself, for who tells of all of them. Never what a call named."""
        return self._bus(root)

    def _bus(self, root: str) -> Bus:
        settle_runtime(self._home, root)
        return Bus(self._home, root, wait_s=self._wait_s, part_bytes=self._part_bytes)

    def _root(self, caller: Caller) -> str:
        """Where the caller stands. What the call itself says is heard only where nothing better is known."""
        state = self._router.session(caller)
        own = caller.root or state.remembered_root
        if own is not None and (repository_of(own).git or self._brains.covering(own) is not None):
            return own
        root = self._router.bound_root(caller) or caller.told_root or own
        if root is None:
            raise CallerRootUnknown(
                "nobody said from which project this comes, and a bus belongs to one",
                fix={"action": "name_your_root", "call": {"arguments": {"caller_root": "<absolute project directory>"}}},
                caller_root=None,
            )
        return root
