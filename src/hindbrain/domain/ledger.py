"""The ledger: an append-only chain of acts. Owns the canonical form and the hash; knows nothing of databases."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hindbrain.domain.caller import Channel

__all__ = ["GENESIS", "Act", "Break", "Entry", "Payload", "breaks", "canonical", "is_whole", "sealed"]

GENESIS = "0" * 64

# No floats: their text form differs between languages, and a chain must verify everywhere.
Scalar = str | int | bool | None
Payload = Mapping[str, "Scalar | list[Scalar] | Mapping[str, Scalar]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that is about to be recorded."""

    act: str
    subject: str
    actor: str
    channel: Channel
    at: int
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One recorded act. `payload` is the stored canonical text, so that the hash is over stored bytes."""

    seq: int
    at: int
    actor: str
    channel: str
    act: str
    subject: str
    payload: str
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A place where the chain does not hold."""

    seq: int
    reason: str


def canonical(value: object) -> str:
    """Sorted keys, no white space, UTF-8, integers and strings only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _digest(seq: int, at: int, actor: str, channel: str, act: str, subject: str, payload: str, prev: str) -> str:
    return hashlib.sha256(canonical([seq, at, actor, channel, act, subject, payload, prev]).encode()).hexdigest()


def sealed(act: Act, *, seq: int, prev: str) -> Entry:
    """The entry that follows `prev`."""
    payload = canonical(dict(act.payload))
    return Entry(
        seq=seq,
        at=act.at,
        actor=act.actor,
        channel=act.channel.value,
        act=act.act,
        subject=act.subject,
        payload=payload,
        prev=prev,
        hash=_digest(seq, act.at, act.actor, act.channel.value, act.act, act.subject, payload, prev),
    )


def is_whole(entry: Entry) -> bool:
    """Whether an entry is as it was written; whether it stands in its place, only the whole chain can tell."""
    made = _digest(entry.seq, entry.at, entry.actor, entry.channel, entry.act, entry.subject, entry.payload, entry.prev)
    return made == entry.hash


def breaks(entries: Iterable[Entry], *, head: tuple[int, str] | None) -> list[Break]:
    """Every place where an entry was changed, removed or put in; `head` is what the store says the last one is."""
    found: list[Break] = []
    expected, prev = 1, GENESIS
    for entry in entries:
        if entry.seq != expected:
            found.append(Break(seq=expected, reason=f"entry {expected} is missing"))
            expected = entry.seq
        elif entry.prev != prev:
            found.append(Break(seq=entry.seq, reason="does not follow the entry before it"))
        if not is_whole(entry):
            found.append(Break(seq=entry.seq, reason="was changed after it was written"))
        expected, prev = expected + 1, entry.hash
    if head is not None and head != (expected - 1, prev):
        found.append(Break(seq=head[0], reason="the recorded head does not match the last entry"))
    return found
