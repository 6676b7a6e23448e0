"""The overview: a card for every brain of a home. Looks only: it wakes no brain, counts as no query and makes no file."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.card import ACTIVE
from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.mission import MissionStatus
from hindbrain.services.brains import Brains
from hindbrain.services.counters import BEATS, QUERIES, Counters
from hindbrain.services.cowork.attending import Present
from hindbrain.services.glances import Glances, Seen
from hindbrain.services.reconcile import CONFLICT, SECRET
from hindbrain.services.routing import Router
from hindbrain.services.rows import date_of

__all__ = ["Overview"]

_ENDED = (MissionStatus.CLOSED, MissionStatus.ABANDONED)
_NUMBERS = ("claims", "evidence", "nodes", "edges", "cards_active", "letters_open", "missions_open", "tasks_running", "beats")
_ADDED = (*_NUMBERS, "queries", "agents_online")
_UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("claims", "evidence", "nodes", "edges", "cards_active", "missions_open", "beats", "queries")),
    **dict.fromkeys(("last_beat_ms", "last_change_ms", "review_waiting")),
    "cards": {},
}


@dataclass(slots=True)
class _Health:
    """What is wrong with a brain, the worst first."""

    status: str = "ok"
    why: list[dict[str, str | None]] = field(default_factory=list)

    def add(self, status: str, text: str, fix: str | None) -> None:
        self.why.append({"text": text, "fix": fix})
        self.status = status if self.status != "error" else "error"


class Overview:
    """All brains of a home, side by side."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        glances: Glances,
        counters: Counters,
        *,
        letters: Callable[[Sequence[Brain]], Mapping[str, int | None]],
        present: Callable[[], Mapping[str, Present]],
        running: Callable[[], Counter[str]],
    ) -> None:
        self._brains = brains
        self._router = router
        self._glances = glances
        self._counters = counters
        self._letters = letters
        self._present = present
        self._running = running

    def told(self, caller: Caller) -> dict[str, Any]:
        """A card for each brain, the medulla first, then by what changed last; and what they come to together."""
        warm, present, running = self._brains.warm(), self._present(), self._running()
        route = self._router.route(caller).brain
        # Who works on another project is not for every agent to know; how many do is no secret.
        named = None if caller.channel is Channel.HUMAN else (route.name if route is not None else "")
        brains = [*([self._brains.home.medulla()] if self._brains.has_medulla() else []), *self._brains.all()]
        letters = self._letters(brains)
        cards = []
        for brain in brains:
            card = self._card(brain, warm, present.get(brain.name, Present()), names=named in (None, brain.name))
            cards.append(card | {"letters_open": letters[brain.name], "tasks_running": running[brain.name]})
        cards += [_broken(directory, why) for directory, why in self._unreadable()]
        cards.sort(key=lambda one: (one["kind"] != MEDULLA, -(one["last_change_ms"] or 0), one["name"]))
        totals: dict[str, Any] = {"scope": "across all brains", "brains": len(cards)}
        totals |= {"warm": sum(one["state"] == "warm" for one in cards)}
        totals |= {name: sum(one[name] or 0 for one in cards) for name in _ADDED}
        totals["cards"] = sum(number for one in cards for held in one["cards"].values() for number in held.values())
        return {"brains": cards, "totals": totals, "rendered": _text(cards, totals)}

    def _unreadable(self) -> list[tuple[str, str]]:
        """Store directories whose manifest says nothing that can be believed."""
        found = (problem for _, problem in self._brains.home.manifests() if problem is not None)
        return [(problem.partition(":")[0], problem) for problem in found]

    def _card(self, brain: Brain, warm: set[str], here: Present, *, names: bool) -> dict[str, Any]:
        health = _Health()
        gone = brain.root is not None and not os.path.isdir(brain.root)
        state = "missing" if gone else "warm" if brain.name in warm else "dormant"
        if gone:
            health.add("warning", f"{brain.root} is not there", "hindbrain rebind OLD NEW tells where the repository is now")
        numbers = _UNKNOWN
        try:
            numbers = self._numbers(brain, self._glances.of(brain), health)
        except HindbrainError as failure:
            state = state if gone else "unreachable"
            health.add("error", failure.message, failure.fix if isinstance(failure.fix, str) else "hindbrain doctor")
        except OSError as failure:
            state = state if gone else "unreachable"
            health.add("error", failure.strerror or str(failure), "hindbrain doctor")
        return {
            "id": brain.fingerprint,
            "name": brain.name,
            "display_name": brain.display_name,
            "root": brain.root,
            "kind": brain.tier.value,
            "state": state,
            "health": {"status": health.status, "why": health.why},
            **numbers,
            "agents_present": list(here.online) if names else [],
            "agents_online": len(here.online),
            "agents_known": len(here.known),
        }

    def _numbers(self, brain: Brain, seen: Seen, health: _Health) -> dict[str, Any]:
        glance, waiting = seen.glance, self._counters.pending(brain.name)
        cards: dict[str, dict[str, int]] = {}
        for (tier, status), number in sorted(glance.cards.items()):
            cards.setdefault(tier, {})[status] = number
        if conflicts := seen.kept_out.get(CONFLICT, 0):
            health.add("warning", f"{conflicts} claim files have merge-conflict markers", "resolve the markers in these files")
        if secrets := seen.kept_out.get(SECRET, 0):
            health.add("warning", f"{secrets} claim files hold a secret and are not served", "hindbrain doctor")
        if self._counters.degraded == str(self._brains.home.brain_dir(brain)):
            health.add("error", "its counters cannot be written", "hindbrain doctor")
        beats = [at for at in (glance.beat_at, self._counters.last_beat(brain.name)) if at is not None]
        return {
            "claims": glance.claims,
            "evidence": glance.evidence,
            "nodes": glance.nodes + seen.code_nodes,
            "edges": glance.edges + seen.code_edges,
            "cards": cards,
            "cards_active": sum(number for (_, status), number in glance.cards.items() if status in ACTIVE),
            "last_beat_ms": max(beats, default=None),
            "last_change_ms": glance.changed_at,
            "beats": glance.counters.get(BEATS, 0) + waiting.get(BEATS, 0),
            "queries": glance.counters.get(QUERIES, 0) + waiting.get(QUERIES, 0),
            "missions_open": sum(number for status, number in glance.missions.items() if status not in _ENDED),
            "review_waiting": sum(number for (_, status), number in glance.cards.items() if status == "candidate"),
        }


def _broken(directory: str, why: str) -> dict[str, Any]:
    """A store directory that nobody can say whose it is."""
    return {
        "id": directory,
        "name": directory,
        "display_name": directory,
        "root": None,
        "kind": "project",
        "state": "unreachable",
        "health": {"status": "error", "why": [{"text": why, "fix": "hindbrain doctor"}]},
        **_UNKNOWN,
        "letters_open": None,
        "agents_present": [],
        "agents_online": 0,
        "agents_known": 0,
        "tasks_running": 0,
    }


def _text(cards: list[dict[str, Any]], totals: dict[str, Any]) -> str:
    """The cards as lines for a terminal."""
    lines = [
        f"{totals['brains']} brain(s), {totals['scope']}: {totals['claims']} claims, {totals['evidence']} rows of evidence, "
        f"{totals['cards']} cards, {totals['letters_open']} open letters, {totals['missions_open']} open missions"
    ]
    for one in cards:
        held = "cannot be read" if one["claims"] is None else f"{one['claims']} claims, {one['evidence']} evidence"
        changed = f", changed {date_of(one['last_change_ms'])}" if one["last_change_ms"] is not None else ""
        online = f", {one['agents_online']} agent(s) present" if one["agents_online"] else ""
        letters = f", {one['letters_open']} open letter(s)" if one["letters_open"] else ""
        lines.append(f"{one['display_name']} ({one['state']}, {one['health']['status']}): {held}{letters}{online}{changed}")
        lines += [f"  {why['text']}" for why in one["health"]["why"]]
    return "\n".join(lines)
