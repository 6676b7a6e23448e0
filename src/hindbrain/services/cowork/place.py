"""The place of a bus: which checkout a call belongs to. Naming another project never leads to its bus."""

import os

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import CallerRootUnknown, InvalidParams, PathRefused
from hindbrain.services.brains import Brains
from hindbrain.services.routing import Router
from hindbrain.stores.bus_records import Bus
from hindbrain.stores.home import Home
from hindbrain.stores.repository import canonical_root, repository_of

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
        """The bus of the caller's checkout, or of another checkout of the same repository."""
        own = repository_of(self._root(caller))
        root = own.worktree
        if project_root is not None:
            if not os.path.isabs(project_root) or ".." in project_root.split("/") or "\x00" in project_root:
                raise InvalidParams("project_root is an absolute path without `..`", fix="give the root of a checkout")
            named = repository_of(canonical_root(project_root))
            if named.root != own.root:
                raise PathRefused(
                    f"{project_root[:200]} is no checkout of this repository; its bus belongs to those who work there",
                    fix="name another worktree of the same repository, or leave project_root out",
                )
            root = named.worktree
        return self._bus(root)

    def repository(self, caller: Caller) -> Bus:
        """The bus of the main checkout of the caller's repository, for what all checkouts share."""
        return self._bus(repository_of(self._root(caller)).root)

    def at(self, own: Bus, checkout: str) -> Bus:
        """The bus of another checkout of the same repository; a name that leads to another repository leads to the own bus."""
        same = repository_of(checkout).root == repository_of(own.root).root
        return self._bus(repository_of(checkout).worktree) if same else own

    def named(self, root: str) -> Bus:
        """The bus of a checkout that a bus of this home named itself, for who tells of all of them. Never what a call named."""
        return self._bus(root)

    def _bus(self, root: str) -> Bus:
        return Bus(self._home, root, wait_s=self._wait_s, part_bytes=self._part_bytes)

    def _root(self, caller: Caller) -> str:
        """Where the caller stands. What the call itself says is heard only where nothing better is known."""
        state = self._router.session(caller)
        own = caller.root or state.remembered_root
        if own is not None and (repository_of(own).git or self._brains.covering(own) is not None):
            return own
        root = state.bound_project_root or caller.told_root or own
        if root is None:
            raise CallerRootUnknown(
                "nobody said from which project this comes, and a bus belongs to one",
                fix={"action": "name_your_root", "call": {"arguments": {"caller_root": "<absolute project directory>"}}},
                caller_root=None,
            )
        return root
