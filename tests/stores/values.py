"""Values for store tests: acts, claims and the shortest way to write them."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from hindbrain.domain.anchor import LEGACY, Anchor
from hindbrain.domain.caller import Channel
from hindbrain.domain.evidence import Domain, Evidence, EvidenceId, Provenance, SourceType
from hindbrain.domain.ledger import Act, Entry
from hindbrain.stores.port import BrainStore, Found, Version, Words
from hindbrain.stores.vector_port import Shelf

__all__ = ["act", "all_entries", "erase", "evidence", "found", "names", "observe", "put", "texts", "version"]


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


def evidence(name: str, content: str = "", *, anchor: Anchor = LEGACY, **more: Any) -> Evidence:
    values: dict[str, Any] = {
        "source": "notes.md",
        "source_type": SourceType.MANUAL,
        "provenance": Provenance.HUMAN,
        "added_at": 1,
        "domain": Domain.PROJECT,
    }
    return Evidence(id=EvidenceId(name), content=content or f"content of {name}", anchor=anchor, **(values | more))


def observe(store: BrainStore, *rows: Evidence, near: str = "") -> tuple[EvidenceId, ...]:
    """Observations as a service writes them: an act, then the rows. Their words are their terms."""
    with store.writing() as writer:
        writer.append(act("evidence.ingest", subject="evidence:x"))
        return writer.put_evidence([(row, Words(text=row.content.split(), near=near.split())) for row in rows])


def found(store: BrainStore, words: str, **more: Any) -> Sequence[str]:
    return names(store, store.find(words.split(), limit=more.pop("limit", 99), shelf=Shelf.EVIDENCE, **more), Shelf.EVIDENCE)


def names(store: BrainStore, answer: Found, shelf: Shelf = Shelf.CLAIM) -> tuple[str, ...]:
    """The slugs of claims, or ids of evidence, that were found, best first."""
    keys = store.keys(shelf, answer.turns)
    return tuple(keys[turn] for turn in answer.turns if turn in keys)
