"""The brief: what every session of a project is told first. Byte for byte the same until somebody changes the boot entries or the
identity, so that what a host has cached of a prompt stays valid."""

from hindbrain.domain.caller import Caller
from hindbrain.engines.fence import fenced, shown
from hindbrain.policy.hooks import BRIEF, BRIEF_CHARACTERS
from hindbrain.services.boot import Boot, entry_text
from hindbrain.services.routing import Router
from hindbrain.services.wake import Wake

__all__ = ["Brief"]

_NAME_CHARACTERS = 80


class Brief:
    """The stable beginning of a session."""

    def __init__(self, router: Router, boot: Boot, wake: Wake) -> None:
        self._router = router
        self._boot = boot
        self._wake = wake

    def text(self, caller: Caller) -> str:
        """Brain, etiquette, identity and boot entries; no counts, no ages, nothing that changes by itself."""
        brain = self._router.route(caller).brain
        named = " ".join(shown(brain.display_name).split())[:_NAME_CHARACTERS] if brain is not None else "this machine"
        parts = [BRIEF.format(name=named)]
        identity = self._wake.identity()
        if identity is not None:
            parts.append(f"Who you work for, in their words:\n{fenced(identity)}")
        entries = self._boot.read(caller, key=None, tier=None, may_go_wide=False)["entries"]
        left = BRIEF_CHARACTERS - sum(map(len, parts))
        left_out = 0
        for entry in sorted(entries, key=lambda one: (one["tier"] == "medulla", one["key"])):
            text = fenced(entry_text(entry))
            if len(text) <= left:
                parts.append(text)
                left -= len(text) + 1
            else:
                left_out += 1
        if left_out:
            parts.append(f"{left_out} longer boot entries are left out; `boot_memory` lists them.")
        return "\n".join(parts)
