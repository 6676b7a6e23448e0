"""Cards on the wire: a card with what it cites, its history, and what the system derives from both. Callers set none of that."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.card import ACTIVE, Card, CardEvent, EventType, Link, Role, Status
from hindbrain.domain.evidence import Evidence, EvidenceId
from hindbrain.domain.stored import stored_json
from hindbrain.services.evidence import iso

__all__ = ["card_text", "cited", "event_row", "move_text", "refs", "stability", "wire_card"]


def refs(links: Iterable[Link], role: Role) -> list[str]:
    """The evidence that a card cites in one role, in the order of linking."""
    return [link.evidence_id for link in links if link.role is role]


def wire_card(brain: Brain, card: Card, links: Sequence[Link], rows: Mapping[EvidenceId, Evidence]) -> dict[str, Any]:
    """A card as every surface shows it."""
    return {
        "id": card.id,
        "card_id": card.id,
        "memory_kind": "knowledge",
        "statement": card.statement,
        "content": card.content,
        "tier": card.rank.value,
        "status": card.status.value,
        "domain": card.domain.value,
        "field": card.field,
        "anchor_kind": card.anchor.kind.value,
        "anchor_id": card.anchor.id,
        "parent_anchor_id": card.anchor.parent,
        "scope_constraints": card.scope_constraints,
        "trigger_hints": card.hints.told(),
        **{f"{role.value}_refs": refs(links, role) for role in Role},
        "missing_refs": sorted({link.evidence_id for link in links if not link.live}),
        "provenances": sorted({rows[link.evidence_id].provenance.value for link in links if link.evidence_id in rows}),
        "source_file": card.source,
        "importance": card.importance,
        "opt_in": card.opt_in,
        "active": card.active,
        "backed": card.backed,
        "derived_from": card.derived_from,
        "supersedes": card.supersedes,
        "created_by": card.created_by,
        "created_at": iso(card.created_at),
        "updated_at": iso(card.updated_at),
        "version": card.version,
        "brain": brain.name,
    }


def stability(card: Card, links: Sequence[Link], events: Sequence[CardEvent]) -> str:
    """How firm a card stands: by its status, by what speaks against it, and by how often it fell."""
    if not card.active:
        return "none" if card.status is not Status.CANDIDATE else "open"
    fell = sum(event.type in (EventType.DEMOTED, EventType.RETIRED) for event in events)
    against = any(link.role is Role.COUNTEREXAMPLE and link.live for link in links)
    if fell or against:
        return "contested"
    return "firm" if card.status is Status.CANONICAL else "standing"


def event_row(event: CardEvent) -> dict[str, Any]:
    """One event of a history."""
    return {
        "id": event.id,
        "card_id": event.card_id,
        "event_type": event.type.value,
        "from_status": event.before.value if event.before else None,
        "to_status": event.after.value if event.after else None,
        "reason": event.reason,
        "actor": event.actor,
        "channel": event.channel,
        "metadata": stored_json(event.metadata, "card_event") or None,
        "seq": event.seq,
        "created_at": iso(event.at),
    }


def cited(links: Iterable[Link], rows: Mapping[EvidenceId, Evidence]) -> list[dict[str, Any]]:
    """The living evidence of a card with its role and its source."""
    return [
        {
            "evidence_id": link.evidence_id,
            "role": link.role.value,
            "source_file": rows[link.evidence_id].source or f"hindbrain://evidence/{link.evidence_id}",
        }
        for link in links
        if link.live and link.evidence_id in rows
    ]


def move_text(move: Mapping[str, Any]) -> str:
    """One change of status as a line: when, from what to what, by whom and why."""
    reason = f": {move['reason']}" if move["reason"] else ""
    return f"{move['created_at']} {move['from_status'] or 'new'} -> {move['to_status']} by {move['actor']}{reason}"


def card_text(row: Mapping[str, Any]) -> str:
    """A card in words: what it says, how it stands, what it rests on. Goes into a fence; it is data."""
    head = f"{row['card_id']} ({row['tier']}, {row['status']}, {row['field']}, {row['anchor_kind']})"
    lines = [head, row["statement"], row["content"]]
    lines += [f"holds for: {row['scope_constraints']}"] if row["scope_constraints"] else []
    lines += [f"{role.value}: {', '.join(row[f'{role.value}_refs'])}" for role in Role if row[f"{role.value}_refs"]]
    lines += [f"deleted since: {', '.join(row['missing_refs'])}"] if row["missing_refs"] else []
    unbacked = row["status"] in ACTIVE and not row["backed"]
    lines += ["the ledger has no entry for this status: it counts for nothing"] if unbacked else []
    lines += [move_text(one) for one in row.get("history", ())]
    return "\n".join(lines)
