"""Forgetting: one walk over every store that can hold a text. Each capability implements `Forgets` and is registered once.

Claims and missions go in the transaction that buries the value; the walk reaches everything beside them."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError
from hindbrain.services.brains import OpenBrain
from hindbrain.services.experience.erasing import Value
from hindbrain.services.gateway import Gateway

__all__ = ["FORGOTTEN", "OUT_OF_REACH", "Forgets", "Forgetting", "redacted", "walk_sentence"]

FORGOTTEN = "[forgotten]"  # stands where a text was cut out of a record that stays
OUT_OF_REACH = (
    "What left this machine before cannot be called back: commits in git history, exports and backups kept elsewhere, and the "
    "transcripts that agent hosts keep themselves."
)  # of every forgetting


class Forgets(Protocol):
    """A store that can hold text of a brain."""

    name: str  # in the answer of `forget`

    def forget_value(self, caller: Caller, opened: OpenBrain, value: Value) -> int:
        """Remove every piece that holds the value, so that no byte of it is left. How many pieces there were."""
        ...


class Forgetting:
    """Walks the stores. They are given as makers: most processes never load them."""

    def __init__(self, gateway: Gateway, stores: Sequence[Callable[[], Forgets]]) -> None:
        self._gateway = gateway
        self._stores = stores

    def walk(self, caller: Caller, opened: OpenBrain, texts: Iterable[str], prints: Collection[str]) -> dict[str, Any]:
        """Forget a value in every store of a brain. Call it after the tombstones are written: what comes later is refused.

        A store that fails is named, and the others are still reached."""
        value = Value(texts, prints, self._gateway.salt(opened))
        if not value.hints:
            return {}
        reached: dict[str, int] = {}
        failed: list[dict[str, str]] = []
        for make in self._stores:
            store = make()
            try:
                count = store.forget_value(caller, opened, value)
            except (HindbrainError, OSError) as failure:
                failed.append({"store": store.name, "reason": str(failure)})
                continue
            if count:
                reached[store.name] = count
        return ({"also": reached} if reached else {}) | ({"not_reached": failed} if failed else {})


def walk_sentence(reached: Collection[dict[str, Any]]) -> str:
    """What an answer says of the walks in all brains."""
    counts: dict[str, int] = {}
    for one in reached:
        for name, count in one.get("also", {}).items():
            counts[name] = counts.get(name, 0) + count
    failed = [f"{one['store']} ({one['reason']})" for place in reached for one in place.get("not_reached", ())]
    told = f" Also removed: {', '.join(f'{count} in {name}' for name, count in counts.items())}." if counts else ""
    return told + (f" Not reached, forget it again: {'; '.join(failed)}." if failed else "")


def redacted(raw: bytes, value: Value) -> tuple[bytes, int]:
    """A JSON document with every text that holds the value replaced, and how many there were. What is no JSON is looked at as a
    text of its own."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return (json.dumps(FORGOTTEN).encode(), 1) if value.held_by(raw.decode("utf-8", "replace")) else (raw, 0)
    cut = [0]
    made = _without(found, value, cut)
    if not cut[0]:
        return raw, 0
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"), cut[0]


def _without(found: Any, value: Value, cut: list[int]) -> Any:
    if isinstance(found, str):
        if not value.held_by(found):
            return found
        cut[0] += 1
        return FORGOTTEN
    if isinstance(found, dict):
        return {_without(key, value, cut): _without(inner, value, cut) for key, inner in found.items()}
    if isinstance(found, list):
        return [_without(inner, value, cut) for inner in found]
    return found
