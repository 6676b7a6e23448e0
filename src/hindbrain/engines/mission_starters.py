"""Starters: what a mission proposes before its first event, and the phases it is expected to pass."""

from dataclasses import dataclass
from typing import Any

from hindbrain.domain.mission import MissionMode, MissionSpec, Phase, Route, TrustEnvelope
from hindbrain.policy.missions import MODES

__all__ = ["Starter", "expected_phases", "starters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """One proposed call, with arguments it can be made with as it stands."""

    tool: str
    arguments: dict[str, Any]
    why: str
    focus: tuple[str, ...] = ()


def expected_phases(mode: MissionMode) -> tuple[Phase, ...]:
    return MODES[mode].phases


def starters(spec: MissionSpec, trust: TrustEnvelope | None, *, focus: tuple[str, ...] = ()) -> tuple[Starter, ...]:
    """The first calls of a mission. `focus` are places where a mission before this one found something."""
    if spec.known_targets:
        path = spec.known_targets[0]
        return (
            Starter(tool="read", arguments={"path": path}, why="the target is known: it is read, not searched for", focus=focus),
        )
    if trust is not None and trust.graph_freshness == "empty":
        return (Starter(tool="ingest", arguments={"path": spec.repo}, why="the graph is empty", focus=focus),)
    scope = {"scope": spec.scope} if spec.scope else {}
    if spec.route in (Route.SHORT_AUDIT, Route.TRAINED_AUDIT):
        seek = Starter(tool="seek", arguments={"query": spec.task, **scope}, why="one search on the task", focus=focus)
        return (seek, Starter(tool="mission.next", arguments={"mission_id": spec.mission_id}, why="then ask for the move"))
    if spec.route is Route.RISK_FIRST:
        why = "the plan is checked before the first edit: what carries risk, and what an edit reaches"
        return (Starter(tool="panoramic", arguments=scope, why=why, focus=focus),)
    return (Starter(tool="panoramic", arguments=scope, why="one audit of the repository", focus=focus),)
