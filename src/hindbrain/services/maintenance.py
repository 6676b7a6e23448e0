"""Maintenance: how much there is to maintain, and which steps make sense now. Reads; carries nothing out."""

from collections.abc import Callable
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.card import Status
from hindbrain.engines.maintenance import planned
from hindbrain.policy.maintenance import Need
from hindbrain.services.brains import Brains
from hindbrain.services.evidence import Observations

__all__ = ["Maintenance"]


class Maintenance:
    """`maintenance.plan`."""

    def __init__(self, brains: Brains, observations: Observations, *, agents: Callable[[Caller], int]) -> None:
        self._brains = brains
        self._observations = observations
        self._agents = agents  # how many agents are registered where the caller works

    def plan(self, caller: Caller) -> dict[str, Any]:
        """The guided run: counts, and every step with the command a person or an agent would type."""
        evidence = cards = candidates = outcomes = 0
        own = self._observations.readable(caller, "project")
        for brain in self._observations.readable(caller, None):
            with self._brains.use(brain) as opened:
                evidence += opened.store.counts().evidence
                standing = opened.store.standing(published=brain.root is None)
                cards += sum(standing.values())
                candidates += sum(number for (_, status), number in standing.items() if status == Status.CANDIDATE.value)
                outcomes += len(opened.store.adoptions())
        there = {
            Need.BRAIN: bool(own),
            Need.EVIDENCE: evidence,
            Need.CANDIDATE: candidates,
            Need.CARD: cards,
            Need.OUTCOME: outcomes,
            Need.AGENTS: self._agents(caller),
        }
        steps = planned([need for need, number in there.items() if not number])
        return {
            "ok": True,
            "schema": "hindbrain-maintenance-plan-v0",
            "writes": False,
            "evidence_count": evidence,
            "runtime_adoption_event_count": outcomes,
            "card_count": cards,
            "steps": steps,
            "rendered": "\n".join(map(_line, steps)),
        }


def _line(step: dict[str, Any]) -> str:
    shown = step["command"] if step["applicable"] else f"not now: {step['reason']}"
    return f"{step['order']:>2}. {step['purpose']}: {shown}"
