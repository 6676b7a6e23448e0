"""Erasing letters: a forgotten value leaves the spool and the boxes. Letters are kept as bytes, so a letter goes whole."""

import os

from hindbrain.domain.caller import Caller
from hindbrain.domain.letter import letter_id
from hindbrain.services.brains import OpenBrain
from hindbrain.services.experience.erasing import Value
from hindbrain.services.mailbox.distribution import Distribution
from hindbrain.stores.home import Home
from hindbrain.stores.letter_files import blank_lines, drop_lines

__all__ = ["LetterErasure"]


class LetterErasure:
    """What `forget` does to letters."""

    name = "letters"

    def __init__(self, home: Home, distribution: Distribution) -> None:
        self._home = home
        self._distribution = distribution

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Letters of this brain's box and of the spool that hold it; a letter of another project is that project's."""
        root = opened.brain.root
        targets = self._distribution.plan(caller).targets
        others = {one for one, target in targets.items() if target.reason is None and target.root != root}
        gone: set[str] = set()

        def holds(raw: bytes) -> bool:
            if not value.held_in(raw.decode("utf-8", "replace")):
                return False
            gone.add(letter_id(raw))
            return True

        blank_lines(self._home.field_reports_file, lambda raw: letter_id(raw) not in others and holds(raw))
        if root is None:
            drop_lines(self._home.medulla_dir, holds, root=None)
        elif os.path.isdir(root):
            drop_lines(self._home.medulla_dir, holds, root=root)
        return len(gone)
