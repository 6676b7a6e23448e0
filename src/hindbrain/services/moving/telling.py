"""What an import tells: numbers, refusals with their reasons, what stays out and how to take it."""

from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.policy.evidence import REFUSED_MOST
from hindbrain.services.card_arrival import shown
from hindbrain.services.moving.source import Source
from hindbrain.services.moving.tally import NAMES, Tally

__all__ = ["told"]


def told(tally: Tally, source: Source, brain: Brain, path: Path, *, execute: bool, human: bool) -> dict[str, Any]:
    """The answer. The names of other projects are for a person: an agent of this one has no need of them."""
    counts = dict(sorted(tally.counts.items())) | {"refused": tally.refusals, "flagged": tally.odd}
    others = {shown(name): number for name, number in tally.others.most_common(REFUSED_MOST)} if human else {}
    needs = [{"for": "person", "why": why, "items": number} for why, number in sorted(tally.persons.items())]
    left = {name: number for name, number in source.left_out().items() if number}
    return {
        "ok": True,
        "schema": "hindbrain-memory-import-v0",
        "brain": brain.name,
        "kind": source.kind,
        "source_version": source.version,
        "path": str(path),
        "execute": execute,
        "writes": execute and tally.taken > 0,
        "counts": counts,
        "other_projects": others,
        "needs_human": needs,
        "refused": tally.refused,
        "refused_by_code": dict(sorted(tally.codes.items())),
        "flagged": tally.flagged,
        "left_out": left,
        "rendered": _rendered(tally, source, brain, others, needs, left, execute=execute),
    }


def _rendered(
    tally: Tally,
    source: Source,
    brain: Brain,
    others: dict[str, int],
    needs: list[dict[str, Any]],
    left: dict[str, int],
    *,
    execute: bool,
) -> str:
    came = ", ".join(f"{tally.counts[name]} {words}" for name, words in NAMES.values() if tally.counts[name]) or "nothing new"
    lines = [f"{'Took' if execute else 'Would take'} {came} from {source.kind} into {brain.display_name}."]
    lines += [f"{tally.unchanged} are here already."] if tally.unchanged else []
    lines += [f"Refused {one['name']}: {one['reason']}" for one in tally.refused[:5]]
    lines += [f"and {tally.refusals - 5} more."] if tally.refusals > 5 else []
    lines += [f"Odd: {one['name']}: {one['flag']}" for one in tally.flagged[:5]]
    if tally.counts["other_projects"]:
        named = ", ".join(f"{name} ({number})" for name, number in list(others.items())[:5])
        lines += [f"{tally.counts['other_projects']} belong to other projects{': ' + named if named else ''}; they stay out."]
        lines += ["A person takes those of one with --project NAME."]
    lines += [f"Stays out: {number} {name}." for name, number in left.items()]
    if not execute:
        lines += [f"A person has to run it: {one['why']} ({one['items']})." for one in needs]
        lines += ["Nothing was written; --execute does it."]
    return "\n".join(lines)
