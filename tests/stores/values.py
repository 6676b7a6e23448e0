"""Values for store tests: acts, claims and the shortest way to write them."""

import hashlib
from collections.abc import Iterable

from hindbrain.domain.caller import Channel
from hindbrain.domain.ledger import Act, Entry
from hindbrain.stores.port import BrainStore, Version

__all__ = ["act", "all_entries", "erase", "put", "texts", "version"]


def act(name: str = "claim.put", subject: str = "claim:x", at: int = 1, **payload: str | int) -> Act:
    return Act(act=name, subject=subject, actor="codex", channel=Channel.AGENT, at=at, payload=payload)


def version(slug: str, number: int, text: str = "", *, at: int = 1, active: bool = True, created: int | None = None) -> Version:
    return Version(
        slug=slug,
        version=number,
        claim_id=f"id-{slug}",
        digest=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
        active=active,
        created=created,
        born_at=at,
    )


def put(store: BrainStore, slug: str, text: str = "", *, at: int = 1, active: bool = True, created: int | None = None) -> Version:
    """One claim as a service writes it: an act, then a version that replaces whatever is live. Its words are its terms."""
    with store.writing() as writer:
        entry = writer.append(act(subject=f"claim:id-{slug}", at=at))
        live = writer.live(slug)
        made = version(slug, entry.seq, text, at=at, active=active, created=created)
        terms = text.split() if active else []
        writer.put_claim(made, expected=live.version if live else None, ended_act="claim.supersede", terms=terms)
    return made


def erase(store: BrainStore, slug: str) -> None:
    with store.writing() as writer:
        writer.append(act("claim.forget"))
        writer.erase_claim(slug)


def all_entries(store: BrainStore) -> tuple[Entry, ...]:
    return store.entries(limit=1_000_000)


def texts(versions: Iterable[Version]) -> list[str]:
    return [one.text for one in versions]
