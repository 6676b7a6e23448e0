"""Readiness: whether outcomes are enough for a candidate, for proposing a default, for setting it and for taking it back. Each
answer is a report with its reasons; who may act on it is decided elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.adoption import AdoptionEvent, Signal
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.outcomes import PLURALS, Picked, Tally, reviewed
from hindbrain.policy.adoption import CANDIDATES, CARD_CONTEXT, GATES, READINESS

__all__ = ["Standing", "control", "default_of", "gate", "gate_of", "proposal", "readiness", "rollback"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a default stands: on or off, and by which entry of the ledger it was switched on."""

    on: bool
    since_seq: int = 0


def gate_of(name: str) -> str:
    """A gate by its name, in either spelling."""
    found = name.replace("_", "-")
    if (known := CANDIDATES.get(found, found)) not in GATES:
        raise InvalidParams(f"there is no candidate {name[:80]!r}", fix=f"give one of: {', '.join(GATES)}")
    return known


def default_of(name: str) -> str:
    """A default by either of its names."""
    if (found := CANDIDATES.get(name.replace("_", "-"))) is None:
        raise InvalidParams(f"there is no default {name[:80]!r}", fix=f"give one of: {', '.join(CANDIDATES)}")
    return found


def _short(tally: Tally, signal: Signal, least: int) -> str | None:
    return f"{PLURALS[signal]}: have {tally[signal]}, need {least}" if tally[signal] < least else None


def gate(candidate: str, found: Picked) -> dict[str, Any]:
    """Whether the outcomes of a track speak for starting on a candidate."""
    rule, tally = GATES[candidate], Tally.of(found.events)
    short = _short(tally, rule.signal, rule.least)
    reasons = [short or f"{PLURALS[rule.signal]}: have {tally[rule.signal]}, need {rule.least}: met"]
    blocked = [f"{PLURALS[signal]}: {tally[signal]}, none allowed" for signal in rule.none_of if tally[signal]]
    if rule.balanced and tally[Signal.REJECTED] > tally[Signal.ACCEPTED]:
        blocked.append(f"rejected more often than accepted: {tally[Signal.REJECTED]} to {tally[Signal.ACCEPTED]}")
    # Not this gate's to judge, but whoever reads it should know.
    beside = [
        f"{PLURALS[signal]}: {tally[signal]}; this gate does not count them"
        for signal in (Signal.ROLLBACK, Signal.CONTRADICTION)
        if signal not in rule.none_of and tally[signal]
    ]
    return {
        "candidate": candidate,
        "ready": short is None and not blocked,
        "required_track": rule.track.value,
        "stats": tally.told(),
        "reasons": [*reasons, *blocked, *beside],
        "why": rule.why,
        "writes": False,
        "truncated": found.truncated,
    }


def readiness(candidate: str, found: Picked, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a default may be proposed. Ready means eligible; it switches nothing on."""
    rule, tally = READINESS[candidate], Tally.of(found.events)
    lacks = [short] if (short := _short(tally, Signal.ACCEPTED, rule.accepted)) else []
    lacks += [f"{PLURALS[signal]}: {tally[signal]}, none allowed" for signal in rule.none_of if tally[signal]]
    against = tally[Signal.REJECTED] + tally[Signal.MISS]
    if tally[Signal.ACCEPTED] < against:
        lacks.append(f"rejected or missed more often than accepted: {against} to {tally[Signal.ACCEPTED]}")
    return {
        "writes": False,
        "candidate": candidate,
        "ready": not lacks,
        "decision": "keep_opt_in" if lacks else "eligible_for_future_default_spec",
        "required_track": rule.track.value,
        "required_feature": rule.feature,
        "review": reviewed(found, filters),
        "reasons": lacks or [f"accepted: have {tally[Signal.ACCEPTED]}, need {rule.accepted}: met"],
    }


def proposal(ready: Mapping[str, Any], criteria: Sequence[str]) -> dict[str, Any]:
    """A default with what speaks for it and how to notice that it fails."""
    given = [one.strip() for one in criteria if one.strip()]
    reasons = [] if ready["ready"] else list(ready["reasons"])
    if not given:
        reasons.append("no rollback criterion: say how it will be noticed that the default does harm")
    return {
        "writes": False,
        "candidate": CARD_CONTEXT,
        "proposal_ready": not reasons,
        "decision": "keep_opt_in" if reasons else "eligible_for_default_on_spec",
        "readiness": dict(ready),
        "rollback_criteria": given,
        "reasons": reasons or list(ready["reasons"]),
    }


def control(standing: Standing, *, enable: bool, proposed: Mapping[str, Any] | None) -> dict[str, Any]:
    """What setting the default does. Switching it on needs a ready proposal, switching it off needs nothing."""
    if standing.on is enable:
        applied, reasons = False, [f"it is {'on' if enable else 'off'} already"]
    elif enable and (proposed is None or not proposed["proposal_ready"]):
        applied, reasons = False, list(proposed["reasons"]) if proposed is not None else ["there is no proposal"]
    else:
        applied, reasons = True, list(proposed["reasons"]) if proposed is not None else ["switching it off is always allowed"]
    told = {"proposal": dict(proposed)} if proposed is not None else {}
    return {
        "writes": applied,
        "candidate": CARD_CONTEXT,
        "requested": "enable" if enable else "disable",
        "applied": applied,
        "include_cards_default": enable if applied else standing.on,
        **told,
        "reasons": reasons,
    }


def rollback(standing: Standing, events: Sequence[AdoptionEvent], *, execute: bool, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the default has to be taken back. Outcomes from before it was last switched on do not count against it."""
    found = tuple(event for event in events if event.signal is Signal.ROLLBACK and event.seq > standing.since_seq)
    required, applied = bool(found), bool(found) and standing.on and execute
    if not required:
        reasons = ["no rollback was recorded" + (" since it was switched on" if standing.on else "")]
    else:
        reasons = [f"rollbacks recorded: {len(found)}"]
        if not standing.on:
            reasons.append("it is off already")
        elif not execute:
            reasons.append("nothing was changed: execute takes it back")
    return {
        "writes": applied,
        "candidate": CARD_CONTEXT,
        "execute": execute,
        "rollback_required": required,
        "applied": applied,
        "include_cards_default_before": standing.on,
        "include_cards_default_after": standing.on and not applied,
        "review": reviewed(Picked(events=found, truncated=False), filters),
        "reasons": reasons,
    }
