"""Acts in words: what an entry of a ledger says, from its act and its numbers."""

import re
from collections.abc import Mapping
from typing import Any

from hindbrain.domain.errors import GateClosed
from hindbrain.policy.story import ROLE_NAMES, SENTENCES

__all__ = ["REFUSED", "act_words"]

REFUSED = "call.refused"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class _Told(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "?"


def act_words(act: str, payload: Mapping[str, Any]) -> str:
    """An act in words; one without a sentence is told by its name."""
    if act == REFUSED:
        return _refused(payload)
    told = _Told({**payload, "switched": "on" if payload.get("include_cards") else "off", **_spoken(payload)})
    said = SENTENCES.get(act, act.replace(".", " ").replace("_", " ")).format_map(told)
    basis = [f"{name} {payload[name]}" for name in ("accepted", "rejected", "rollback", "criteria") if payload.get(name)]
    return said + (f", resting on {', '.join(basis)}" if act.startswith("default.") and basis else "")


def _spoken(payload: Mapping[str, Any]) -> dict[str, str]:
    """Who says what to whom, by the names that people read: `R4a` is the validator, a `SubTaskOutcome` a sub task outcome."""
    sender, receiver = (ROLE_NAMES.get(str(payload.get(name)), str(payload.get(name))) for name in ("from", "to"))
    return {"sender": sender, "receiver": receiver, "message": _CAPITAL.sub(" ", str(payload.get("type"))).lower()}


def _refused(payload: Mapping[str, Any]) -> str:
    operation, code = str(payload.get("operation")), str(payload.get("code"))
    if code == GateClosed.code:
        return f"was refused by the gate: {operation}"
    return f"was refused: {operation} ({code})"
