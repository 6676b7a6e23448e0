"""A glance: how a brain stands, in a few numbers and one reading."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hindbrain.domain.brain import BrainId
from hindbrain.domain.stored import stored_number
from hindbrain.stores.sql_rows import Session

__all__ = ["LAST_BEAT", "Glance", "glance_of"]

LAST_BEAT = "beat.last"  # meta key: when memory was last served to somebody


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What can be told of a brain at once."""

    seq: int = 0  # its last ledger entry
    claims: int = 0
    evidence: int = 0
    nodes: int = 0  # of claims; code has a file of its own
    edges: int = 0
    changed_at: int | None = None
    beat_at: int | None = None
    cards: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (tier, status) -> how many
    missions: Mapping[str, int] = field(default_factory=dict)  # status -> how many
    counters: Mapping[str, int] = field(default_factory=dict)  # all weeks together


def glance_of(session: Session, brain_id: BrainId, *, published: bool) -> Glance:
    """The numbers of a brain as one session sees them. Without `published`, cards that point to the medulla do not count."""
    me = (brain_id,)
    found = session.rows("select seq, active_claims, evidence, nodes, edges from brain_head where brain_id = ?", me)
    seq, claims, evidence, nodes, edges = found[0] if found else (0, 0, 0, 0, 0)
    last = session.rows("select at from ledger where brain_id = ? and seq = ?", (brain_id, seq))
    beat = session.rows("select value from meta where brain_id = ? and key = ?", (brain_id, LAST_BEAT))
    only = "" if published else "and anchor_kind <> 'global' "
    cards = session.rows(f"select tier, status, count(*) from card where brain_id = ? {only}group by tier, status", me)
    return Glance(
        seq=seq,
        claims=claims,
        evidence=evidence,
        nodes=nodes,
        edges=edges,
        changed_at=last[0][0] if last else None,
        beat_at=stored_number(beat[0][0], "meta") if beat else None,
        cards={(tier, status): int(number) for tier, status, number in cards},
        missions=_counted(session, "select status, count(*) from mission where brain_id = ? group by status", brain_id),
        counters=_counted(session, "select name, sum(value) from counter where brain_id = ? group by name", brain_id),
    )


def _counted(session: Session, statement: str, brain_id: BrainId) -> dict[str, int]:
    return {name: int(number) for name, number in session.rows(statement, (brain_id,))}
