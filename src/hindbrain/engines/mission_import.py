"""States of missions from elsewhere: an earlier loop of four calls, or another home. What is missing gets its empty default; what
was proven there is a candidate here, for nobody here has seen it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.mission import EventType, EvidenceClass
from hindbrain.engines.mission_payload import kept
from hindbrain.engines.mission_report import Report, reported
from hindbrain.policy.missions import EVENTS, GRADES

__all__ = ["Adopted", "AdoptedClaim", "adopted", "evidence_of"]

_SCHEMAS = ("hindbrain-mission-state-v1", "m1nd-mission-control-state-v1", "m1nd-mission-control-state-v0")
_OVER = ("closed", "abandoned")
_MOST = 10_000  # events or claims of one state
_KEPT = ("event_type", "tool", "target", "outcome", "timestamp", "duration_ms", "agent_confidence", "evidence_class", "payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedClaim:
    """A conclusion that somebody came to elsewhere."""

    text: str
    verdict: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A state as it can be taken in."""

    mission_id: str
    agent_id: str
    task: str
    mode: str
    risk: str
    repo: str | None
    budget: str | dict[str, Any]
    criteria: tuple[str, ...]
    non_goals: tuple[str, ...]
    events: tuple[Report, ...]
    claims: tuple[AdoptedClaim, ...]


def adopted(document: Any) -> Adopted:
    """Read a state. One that is over has nothing to go on with."""
    if not isinstance(document, Mapping) or document.get("schema") not in _SCHEMAS:
        raise InvalidParams("this is no state of a mission", fix=f"give a state file; its schema is one of {', '.join(_SCHEMAS)}")
    if str(document.get("status", "active")) in _OVER:
        raise InvalidParams("that mission is over: there is nothing to go on with", fix="begin another one: mission start")
    budget = document.get("budget", "normal")
    criteria = (one.get("criterion") if isinstance(one, Mapping) else one for one in _listed(document, "criteria"))
    return Adopted(
        mission_id=_text(document, "mission_id"),
        agent_id=_text(document, "agent_id"),
        task=_text(document, "task"),
        mode=_text(document, "mode") or "review",
        risk=_text(document, "risk") or "medium",
        repo=_text(document, "repo") or None,
        budget=dict(budget) if isinstance(budget, Mapping) else str(budget),
        criteria=tuple(str(one) for one in criteria if one),
        non_goals=tuple(str(one) for one in _listed(document, "non_goals")),
        events=tuple(_event(one) for one in _listed(document, "events")),
        claims=tuple(_claim(one) for one in _listed(document, "claims")),
    )


def evidence_of(report: Report) -> EvidenceClass:
    """What an event is worth that nobody here saw: a direct one is a label, the others are what they say."""
    told = report.label or EVENTS[report.event_type].evidence
    return EvidenceClass.DIRECT_UNVERIFIED if GRADES[told] == "direct" else told


def _event(told: Any) -> Report:
    """An event under its own name where we know it; under any other it is a note that says so."""
    if not isinstance(told, Mapping):
        raise InvalidParams("an event of the state is no object", fix="give the state file as it was written")
    named = told.get("event_type") or told.get("event") or told.get("type") or told.get("tool")
    whole = {name: told[name] for name in _KEPT if told.get(name) is not None} | {"event_type": str(named)}
    try:
        return reported(whole)
    except InvalidParams:
        return reported({"event_type": EventType.NOTE.value, "target": str(named)[:200], "payload": kept({"told": dict(told)})})


def _claim(told: Any) -> AdoptedClaim:
    if not isinstance(told, Mapping) or not str(told.get("claim") or "").strip():
        raise InvalidParams("a claim of the state has no text", fix="give the state file as it was written")
    sure = told.get("confidence")
    fits = isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1
    return AdoptedClaim(
        text=str(told["claim"]).strip(),
        verdict=str(told.get("verdict") or "candidate")[:40],
        confidence=float(sure) if fits and sure is not None else None,
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    found = document.get(name)
    return found.strip()[:8_000] if isinstance(found, str) else ""


def _listed(document: Mapping[str, Any], name: str) -> list[Any]:
    found = document.get(name) or []
    if not isinstance(found, list) or len(found) > _MOST:
        raise InvalidParams(f"`{name}` of the state is no list of at most {_MOST}", fix="give the state file as it was written")
    return found
