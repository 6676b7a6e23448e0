"""The chain of a mission: the canonical form of its events and the hash that binds each to the one before. Shows that nothing was
changed; says nothing of who wrote it."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable
from typing import Any

import msgspec

from hindbrain.domain.mission import MissionEvent

__all__ = ["DIGEST", "canonical", "digest_of", "first_break", "genesis", "sealed", "written"]

DIGEST = "sha256:"
_DECIMALS = 9
_LINES = ("events", "flight")  # exports that are files with one record a line
_OUTSIDE = ("hash", "prev_hash")  # what the chain itself adds


def genesis(mission_id: str, product: str = "hindbrain") -> str:
    """Where a mission's chain begins: the digest of one without events. Another product's chain begins with its own name."""
    return hashlib.sha256(f"{product}-mission-v1:{mission_id}".encode()).hexdigest()


def canonical(value: Any) -> bytes:
    """UTF-8 JSON: keys sorted, no spaces, no NaN, texts in NFC, floats to nine decimals in their shortest form."""
    made = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return made.encode("utf-8", "surrogatepass")


def written(form: str, data: Any) -> bytes:
    """An export as a file: a packet in its canonical form, events and flight records one a line."""
    return b"".join(canonical(one) + b"\n" for one in data) if form in _LINES else canonical(data)


def _plain(value: Any) -> Any:
    match value:
        case bool() | None | int():
            return value
        case float():
            rounded = round(value, _DECIMALS)
            return 0.0 if rounded == 0 else rounded
        case str():
            return value if value.isascii() else unicodedata.normalize("NFC", str(value))
        case dict():
            return {_plain(str(key)): _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case _:
            return _plain(msgspec.to_builtins(value))


def digest_of(previous: str, event: dict[str, Any]) -> str:
    """The hash of an event after the one before, both in hexadecimal."""
    told = {key: value for key, value in event.items() if key not in _OUTSIDE}
    return hashlib.sha256(previous.encode() + b"\n" + canonical(told)).hexdigest()


def sealed(event: MissionEvent, previous: str) -> MissionEvent:
    """The same event, bound to the one before. `previous` and the stored hashes are written with their algorithm."""
    bare = previous.removeprefix(DIGEST)
    made = digest_of(bare, msgspec.to_builtins(event))
    return msgspec.structs.replace(event, prev_hash=DIGEST + bare, hash=DIGEST + made)


def first_break(mission_id: str, events: Iterable[dict[str, Any]]) -> tuple[int, str] | None:
    """The number of the first event that does not hold, and why; None when the whole chain does."""
    previous = genesis(mission_id)
    for place, event in enumerate(events, 1):
        seq = event.get("seq")
        if seq != place:
            return place, f"event {place} is missing: {seq} stands in its place"
        if event.get("mission_id") != mission_id:
            return place, "it belongs to another mission"
        if event.get("prev_hash") != DIGEST + previous:
            return place, "it does not follow the event before it"
        found = digest_of(previous, event)
        if event.get("hash") != DIGEST + found:
            return place, "its content is not what was written"
        previous = found
    return None
