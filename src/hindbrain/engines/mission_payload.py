"""Payloads: what of an event's details is kept. Secrets are masked first, then texts are cut, so no half of a secret stays."""

from typing import Any

from hindbrain.engines.hygiene import redacted, scan
from hindbrain.policy.hygiene import HIGH_ENTROPY
from hindbrain.policy.proof import OUTPUT_KEPT

__all__ = ["kept", "tail", "told"]

_DEEPEST = 6
_ITEMS = 200
_PLACES = 2_000  # values of a payload, at whatever depth
_NAME = 1_000  # characters of a name that are looked at
_WHOLE = 1 << 53  # beyond it readers of JSON disagree
_ALL = 16_000  # characters of all texts together
_LOOKS = frozenset({str(HIGH_ENTROPY["name"]), "conflict_marker"})  # found by its look: a name before it changes that
_SEARCHED = 64_000  # characters of a text, in which secrets are looked for: far more than is kept of it
_ALL_SEARCHED = 256_000  # and of all texts of a payload together
_LOOKED_AT = 4 * OUTPUT_KEPT  # of the end of an output, in which secrets are looked for


def told(text: str, most: int = OUTPUT_KEPT) -> str:
    """A text as it is kept: masked, and its beginning. What lies far behind the cut is not looked through."""
    clean = redacted(_unicode(text[: _SEARCHED + 1]))
    return clean if len(clean) <= most and len(text) <= _SEARCHED else clean[: most - 1] + "…"


def tail(text: str) -> str:
    """The end of an output as it is kept: masked, and at most as long as allowed. A cut line is left out while it is masked."""
    text = _unicode(text)
    if len(text) > _LOOKED_AT:
        text = text[-_LOOKED_AT:]
        text = text.partition("\n")[2] if "\n" in text[:OUTPUT_KEPT] else text
    clean = redacted(text)
    return clean if len(clean) <= OUTPUT_KEPT else "…" + clean[1 - OUTPUT_KEPT :]


def kept(value: dict[str, Any]) -> dict[str, Any]:
    """A payload as it is kept. What does not fit is left out, and counted."""
    room = _Room()
    made = room.mapping(value, 0)
    return {**made, "left_out": room.lost} if room.lost else made


class _Room:
    def __init__(self) -> None:
        self.left = _ALL
        self.searched = 0
        self.places = _PLACES
        self.lost = 0

    def mapping(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, inner in list(value.items())[: self.items(len(value))]:
            made[told(str(name)[:_NAME], 120)] = self.of(inner, depth + 1, str(name))
        return made

    def items(self, count: int) -> int:
        """How many of so many there is room for; the others are counted as lost."""
        taken = min(count, _ITEMS, self.places)
        self.places -= taken
        self.lost += count - taken
        return taken

    def of(self, value: Any, depth: int, name: str = "") -> Any:
        match value:
            case None | bool():
                return value
            case int():
                return value if abs(value) < _WHOLE else str(value)[:40]
            case float():
                return value if value == value and abs(value) != float("inf") else None
            case str():
                return self.text(value, name)
            case dict() if depth < _DEEPEST:
                return self.mapping(value, depth)
            case list() | tuple() if depth < _DEEPEST:
                return [self.of(inner, depth + 1, name) for inner in list(value)[: self.items(len(value))]]
        self.lost += 1
        return None

    def text(self, value: str, name: str) -> str:
        self.searched += min(len(value), _SEARCHED)
        if self.searched > _ALL_SEARCHED:
            self.lost += 1
            return ""
        clean = told(value)
        if clean == value and name and _is_secret(name, value):
            clean = f"[redacted: {name[:40]}]"
        if len(clean) > self.left:
            self.lost += 1
            return ""
        self.left -= len(clean)
        return clean


def _is_secret(name: str, value: str) -> bool:
    """A value is read beside its name: under `password` a word is a secret that it is not elsewhere."""
    return any(hit.pattern_class not in _LOOKS for hit in scan(f"{name}={value}"))


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "�")
