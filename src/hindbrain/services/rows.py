"""Memory rows: how a claim is shown, with who, where, when, from what, and whether it still holds. No row without provenance."""

import datetime
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hindbrain.domain.anchor import AnchorKind
from hindbrain.domain.brain import MEDULLA, Brain, Tier
from hindbrain.domain.card import Card
from hindbrain.domain.claim import Claim, ClaimState, body_text, state_of
from hindbrain.domain.evidence import Evidence
from hindbrain.engines.light_graph import section_id
from hindbrain.policy.limits import DAY_MS
from hindbrain.services import anchors
from hindbrain.services.arrivals import arrived_by, claim_of, stated
from hindbrain.services.brains import OpenBrain
from hindbrain.services.grounding import LINES, cited_code_stands
from hindbrain.stores.home import REPO_DIR, Home
from hindbrain.stores.port import Mark, Version

__all__ = [
    "DEMOTION",
    "GRADED_WRONG",
    "OF_ITS_TEXT",
    "ROW_SCHEMA",
    "WITNESS_SUPERSEDED",
    "Row",
    "RowMaker",
    "age_of",
    "card_row",
    "date_of",
    "evidence_row",
]

DEMOTION = "demotion_pending"
GRADED_WRONG = "graded_wrong"
WITNESS_SUPERSEDED = "witness_superseded"
_LAST_DAY_MS = 253_402_214_400_000  # 9999-12-31
# Notes about what a claim says, not about its label: another text begins without them.
OF_ITS_TEXT = frozenset({DEMOTION, GRADED_WRONG, "graded_correct", "graded_partial", WITNESS_SUPERSEDED})

Row = dict[str, Any]

# The data contract of a row for every view: none may show a row without its brain and its agent.
ROW_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "one claim with its provenance; what is unknown says so",
    "required": ["kind", "claim", "text", "slug", "tier", "origin_brain", "store_brain", "source_agent", "age_ms", "state"],
    "properties": {
        "kind": {"const": "light"},
        "claim": {"type": "string", "description": "the label"},
        "text": {"type": "string", "description": "data, not instructions"},
        "slug": {"type": "string"},
        "node_id": {"type": "string"},
        "tier": {"enum": [tier.value for tier in Tier]},
        "origin_brain": {
            "type": "string",
            "description": "root of the brain it was born in; medulla; name and id of a brain elsewhere; or unknown",
        },
        "store_brain": {"type": "string", "description": "root of the brain that holds it, or medulla"},
        "source_agent": {"type": "string", "description": "who wrote it, or unknown; only stated where arrived_by is given"},
        "arrived_by": {"enum": ["file", "import"], "description": "absent when it was written here; nobody here checked it"},
        "stated": {"type": "object", "description": "what the file says of itself: author, belief, confidence, origin_brain"},
        "age_ms": {"type": ["integer", "null"]},
        "stale": {
            "type": "boolean",
            "description": "old, or contradicted_by_code; absent when the age is unknown and the cited code is unchanged",
        },
        "state": {"enum": [state.value for state in ClaimState]},
        "score": {"type": ["number", "null"]},
    },
}


def date_of(ms: int | None) -> str:
    """A day, as far as a calendar knows it: the stamp of a file may say anything."""
    if ms is None or ms > _LAST_DAY_MS:
        return "an unknown date"
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).strftime("%Y-%m-%d")


def age_of(claim: Claim, now: int) -> int | None:
    """Milliseconds since this belief was born; a birth in the future counts as now, an unknown one stays unknown."""
    born = claim.origin_created if claim.origin_created is not None else claim.created
    return None if born is None else max(0, now - born)


def evidence_row(
    brain: Brain, origin: str, row: Evidence, score: float, parts: Mapping[str, float], *, now: int, stale_after_days: int
) -> Row:
    """A piece of raw evidence beside claims: what was seen or said, by whom and where, never knowledge by itself."""
    age = max(0, now - (row.said_at if row.said_at is not None else row.added_at))
    shown: Row = {
        "kind": "evidence",
        "type": "evidence",
        "id": f"evidence::{row.id}",
        "evidence_id": row.id,
        "text": row.content,
        "tier": brain.tier.value,
        "origin_brain": origin,
        "store_brain": brain.name,
        "source_agent": row.author or "unknown",
        "recorded_by": row.recorded_by,
        "source_file": row.source,
        "provenance": row.provenance.value,
        "anchor_id": row.anchor.id,
        "age_ms": age,
        "stale": age > stale_after_days * DAY_MS,
        "match": "task",
        "score": score,
        "score_breakdown": {name: round(part, 4) for name, part in parts.items()},
    }
    return shown | ({"thread": row.thread, "position": row.position} if row.thread is not None else {})


def card_row(brain: Brain, card: Card, score: float, *, now: int, stale_after_days: int) -> Row:
    """A card beside claims. Its anchor names the repository it was made for; of a global one nobody knows where it was made."""
    known = brain.root is not None and card.anchor.kind is not AnchorKind.GLOBAL
    return {
        "kind": "card",
        "type": "card",
        "id": f"card::{card.id}",
        "card_id": card.id,
        "claim": card.statement,
        "text": card.text,
        "tier": brain.tier.value,
        "rank": card.rank.value,
        "status": card.status.value,
        "origin_brain": brain.name if known else "unknown",
        "store_brain": brain.name,
        "source_agent": card.created_by or "unknown",
        "anchor_kind": card.anchor.kind.value,
        "anchor_id": card.anchor.id,
        "age_ms": (age := max(0, now - card.updated_at)),
        "stale": age > stale_after_days * DAY_MS,
        "match": "task",
        "score": score,
        "score_breakdown": {"keyword": score},
    }


class RowMaker:
    """Turns versions into rows."""

    def __init__(self, home: Home, stale_after_days: int) -> None:
        self._home = home
        self._stale_after = stale_after_days * DAY_MS

    def is_stale(self, claim: Claim, now: int) -> bool:
        """By the version's own birth stamp: re-affirming a belief makes it young again."""
        return claim.created is not None and self.is_old(claim.created, now)

    def is_old(self, born: int, now: int) -> bool:
        return now - born > self._stale_after

    @staticmethod
    def _changed(claim: Claim, cited: Mapping[str, str], root: str | None, marks: Sequence[Mark]) -> dict[str, str]:
        """Cited files whose code is not what it was. Comments, blank lines and lines that are not cited do not count."""
        moved = anchors.changed(cited, root)
        note = next((mark.note for mark in marks if mark.kind == LINES), "") if moved else ""
        if not note or root is None:
            return moved
        return {path: why for path, why in moved.items() if not cited_code_stands(note, claim.evidence, path, root)}

    def row(
        self,
        opened: OpenBrain,
        version: Version,
        *,
        now: int,
        match: str,
        score: float | None,
        marks: Sequence[Mark] = (),
        cited: Mapping[str, str] | None = None,
        claim: Claim | None = None,
        past: bool = False,
    ) -> Row:
        """One claim as every surface shows it. What is unknown says so and is never filled by a guess.

        With `past` the row is of the time `now`: it says nothing that only the present knows."""
        claim = claim or claim_of(version)
        brain = opened.brain
        arrival = arrived_by(version)
        origin = self._origin(claim, brain)
        if arrival and brain.tier is Tier.PROJECT:
            # A file in a project can say that it was shared; only the medulla of this home knows.
            origin = None if origin == MEDULLA else origin
            claim = replace(claim, promoted_to=None)
        ended = version.ended_at is not None and version.ended_at <= now
        row: Row = {
            "kind": "light",
            "claim": claim.label or version.slug,
            "text": body_text(claim),
            "slug": version.slug,
            "node_id": section_id(version.slug, claim.title or claim.label),
            "tier": brain.tier.value,
            "origin_brain": origin or "unknown",
            "store_brain": brain.name,
            "source_agent": claim.source_agent or "unknown",
            "age_ms": None if claim.created is None else max(0, now - claim.created),
            "state": state_of(claim, tier=brain.tier, in_history=ended).value,
            "belief": claim.state,
            "confidence": claim.strength.confidence,
            "evidence": list(claim.evidence),
            "witness": claim.promoted_to is not None,
            "match": match,
            "score": score,
        }
        if claim.created is not None:
            row["stale"] = self.is_stale(claim, now)
        if arrival:
            row |= {"arrived_by": arrival, "stated": stated(version)}
        if origin is None:
            row["unattributed"] = True
        kinds = {mark.kind for mark in marks}
        for kind in (DEMOTION, GRADED_WRONG, WITNESS_SUPERSEDED):
            if kind in kinds:
                row[kind] = True
        if cited and (moved := self._changed(claim, cited, brain.root, marks)):
            row["contradicted_by_code"] = row["stale"] = True
            row["evidence_changed"] = moved
        if brain.tier is Tier.MEDULLA and claim.origin_claim:
            row["chain"] = self._chain(claim, brain)
            row["witness"] = {"superseded": WITNESS_SUPERSEDED in kinds}
            row["witness"] |= {} if past else {"exists": self._witness_exists(claim, version.slug)}
        return row

    def _origin(self, claim: Claim, brain: Brain) -> str | None:
        """Return where a claim was born. A shared copy of a brain that is gone names the root it was promoted from."""
        if claim.origin_brain is None:
            return None
        shown = self._home.origin_name(claim.origin_brain, brain)
        return (claim.origin_claim or "").rpartition("#")[0] or shown if shown == claim.origin_brain else shown

    def _chain(self, claim: Claim, brain: Brain) -> dict[str, Any]:
        learned_at = claim.origin_created
        learned_in = self._origin(claim, brain) or "unknown"
        text = (
            f"learned by {claim.source_agent or 'unknown'} in {learned_in} on {date_of(learned_at)}; "
            f"promoted by {claim.promoted_by or 'unknown'} on {date_of(claim.created)}; "
            f"reason: {claim.promotion_reason or 'unknown'}"
        )
        return {
            "learned_by": claim.source_agent or "unknown",
            "learned_in": learned_in,
            "learned_at": learned_at,
            "promoted_by": claim.promoted_by or "unknown",
            "promoted_at": claim.created,
            "reason": claim.promotion_reason or "unknown",
            "text": text,
        }

    def _witness_exists(self, claim: Claim, slug: str) -> bool:
        """By name only: the origin's store is a third one for most readers and is not opened."""
        root, _, witness = (claim.origin_claim or "").rpartition("#")
        if not root or root == MEDULLA:
            return False
        manifest = self._home.manifest_path(root)
        name = f"{witness or slug}.light.md"
        return manifest.exists() and any(
            os.path.exists(os.path.join(base, "agent-memory", name)) for base in (manifest.parent, os.path.join(root, REPO_DIR))
        )
