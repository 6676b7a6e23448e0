"""Pairs: a project claim and a medulla claim of one label, shown side by side. Labels and orders rows; changes no claim."""

from collections.abc import Mapping
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.claim import Claim
from hindbrain.engines.conflicts import differ, is_witness_pair, rule_for
from hindbrain.policy.conflicts import Rule
from hindbrain.services.rows import WITNESS_SUPERSEDED, Row

__all__ = ["conflicting_pairs"]

_SHOWN = ("origin_brain", "store_brain", "source_agent", "arrived_by", "age_ms", "text", "state", "contradicted_by_code")


def conflicting_pairs(
    rows: list[Row], mine: Mapping[str, Claim], shared: Mapping[str, Claim], *, brain: Brain, ranked: bool
) -> list[dict[str, Any]]:
    """The pairs among these rows that disagree. With `ranked` the winner stands directly above the loser."""
    by_slug: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_slug.setdefault(row["slug"], {})[row["tier"]] = row
    found = []
    for slug, pair in by_slug.items():
        if len(pair) < 2 or slug not in mine or slug not in shared:  # its file went away since the rows were found
            continue
        witness = is_witness_pair(mine[slug], shared[slug], brain.name)
        if not differ(mine[slug], shared[slug]):
            if witness:
                pair["project"]["pair"] = pair["medulla"]["pair"] = "witness"
            continue
        if witness:
            pair["medulla"][WITNESS_SUPERSEDED] = True
            pair["medulla"]["witness"]["superseded"] = True
        rule, first = _rule(pair, shared[slug], brain)
        if ranked:
            winner, loser = pair[first], pair["medulla" if first == "project" else "project"]
            rows.remove(loser)
            rows.insert(rows.index(winner) + 1, loser)
        found.append(_labelled(slug, pair, rule))
    return found


def _rule(pair: dict[str, Row], shared: Claim, brain: Brain) -> tuple[Rule, str]:
    """The rule of a pair and the tier that is shown first; against the live code it is the one that did not change."""
    moved = [tier for tier in ("project", "medulla") if pair[tier].get("contradicted_by_code")]
    rule = rule_for(shared, brain, evidence_changed=bool(moved))
    return rule, rule.winner if rule.winner in pair else ("medulla" if moved == ["project"] else "project")


def _labelled(slug: str, pair: dict[str, Row], rule: Rule) -> dict[str, Any]:
    label = {"pair_id": f"pair:{slug}", "class": rule.name, "winner": rule.winner, "rule": rule.why}
    for row in pair.values():
        row["conflict"] = label
    found: dict[str, Any] = {**label, "slug": slug}
    for tier in ("project", "medulla"):
        found[tier] = {key: pair[tier][key] for key in _SHOWN if key in pair[tier]}
    if rule.suggests is not None:
        found["suggested"] = rule.suggests
    if WITNESS_SUPERSEDED in pair["medulla"]:
        found[WITNESS_SUPERSEDED] = True
    return found
