"""Belonging: whether a thing that another program kept belonged to the project that asks. By its directory where that is written
down, else by its name; what belonged to another one stays out."""

import os

from hindbrain.domain.brain import Brain
from hindbrain.domain.moving import Item
from hindbrain.services.brains import Brains
from hindbrain.stores.repository import canonical_root

__all__ = ["Belonging"]


class Belonging:
    """Decides for one import. `mapped` names projects of the source that a person gives to this brain."""

    def __init__(self, brains: Brains, brain: Brain, mapped: tuple[str, ...]) -> None:
        self._brains = brains
        self._brain = brain
        self._mapped = {name.casefold() for name in mapped}
        self._own = os.path.basename(brain.root or "").casefold()
        self._roots: dict[str, bool] = {}

    def other(self, item: Item) -> str | None:
        """The name of the other project that an item belonged to; None when it belongs here, or to nobody in particular."""
        if item.shared or (item.project is None and item.root is None):
            return None
        named = item.project if item.project is not None else os.path.basename(item.root or "")
        if {named.casefold(), (item.root or named).casefold()} & self._mapped:
            return None
        ours = self._covers(item.root) if item.root is not None else named.casefold() == self._own
        return None if ours else named or "(no name)"

    def _covers(self, root: str) -> bool:
        if root not in self._roots:
            found = self._brains.covering(canonical_root(root)) if os.path.isabs(root) and "\x00" not in root else None
            self._roots[root] = found is not None and found.name == self._brain.name
        return self._roots[root]
