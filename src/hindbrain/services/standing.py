"""Standing: health, handshake, selftest, playbook, instances. What this binding is worth, and how to mend it; changes nothing."""

import os
import shlex
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hindbrain import __version__
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.card import ACTIVE
from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.read_errors import CheckFailed
from hindbrain.engines.contract import MODES, NON_CLAIMS
from hindbrain.engines.tool_surface import REQUIRED_TOOLS, lacking_tools, tool_surface
from hindbrain.policy.evidence import NORMALIZE_VERSION
from hindbrain.policy.texts import INSTRUCTIONS
from hindbrain.services.brains import Brains
from hindbrain.services.contract import Contract
from hindbrain.services.counters import BEATS, QUERIES, Counters
from hindbrain.services.evidence import DELETED
from hindbrain.services.routing import Route, Router
from hindbrain.stores.schema_look import SUPPORTED

__all__ = ["Standing"]

_STATUS = {
    "full_trust": "ok",
    "needs_ingest": "blocked",
    "wrong_workspace_binding": "blocked",
    "degraded_host_tool_surface": "warn",
    "stale_binding_suspected": "warn",
    "retrieval_needs_recovery": "warn",
}


class Standing:
    """The session tools."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        contract: Contract,
        counters: Counters,
        clock: Callable[[], int],
        *,
        letters: Callable[[Brain], int | None],
    ) -> None:
        self._letters = letters  # how many letters of a brain's box are open; None where there is no box
        self._brains = brains
        self._router = router
        self._contract = contract
        self._counters = counters
        self._clock = clock
        self._started = time.monotonic()

    # -- who and how much --------------------------------------------------------------------------------------------

    def health(self, caller: Caller, *, scope: str | None) -> dict[str, Any]:
        """How the served brain is; with scope `owner`, how the whole process is."""
        if scope == "owner":
            return {"ok": True, "schema": "m1nd-health-v0", "status": "ok", **self.totals()}
        route = self._router.route(caller)
        numbers = self._numbers(route.brain) if route.brain is not None else dict(self._counters.unrouted)
        finger = self._contract.fingerprint(route)
        return {
            "ok": True,
            "schema": "m1nd-health-v0",
            "status": "degraded" if self._counters.degraded else "ok",
            "node_count": finger["node_count"],
            "edge_count": finger["edge_count"],
            **numbers,
            "active_sessions": numbers.get("active_sessions", 0),
            "uptime_seconds": int(time.monotonic() - self._started),
            "plasticity_state": None,
            "last_persist_time": None,
            "git": None,
            "binding_fingerprint": finger,
            "tool_surface_contract": {"required_tools": list(REQUIRED_TOOLS)},
            "reception": self._router.reception(caller, route),
            "persistence_degraded": self._counters.degraded is not None,
            "version": __version__,
            **self.held(caller),
            "protocol": INSTRUCTIONS,
            "protocol_version": __version__,
        }

    def _numbers(self, brain: Brain) -> dict[str, int]:
        with self._brains.use(brain) as opened:
            totals = self._counters.totals(opened)
        bound = sum(state.bound_project_root == brain.root for state in self._router.active())
        numbers = {"active_sessions": bound, QUERIES: totals[QUERIES], BEATS: totals[BEATS]}
        waiting = self._letters(brain)
        return numbers if waiting is None else numbers | {"mailbox_open_count": waiting}

    def totals(self) -> dict[str, Any]:
        """The owner's own numbers; they wear their caption."""
        found = {QUERIES: 0, BEATS: 0}
        brains = [*self._brains.all(), *([self._brains.home.medulla()] if self._brains.has_medulla() else [])]
        warm = self._brains.warm()
        for brain in brains:
            numbers = self._numbers_quietly(brain, warm)
            for name in found:
                found[name] += numbers.get(name, 0)
        return {
            "scope": "across all brains",
            **self.process(),
            **found,
            "unrouted": dict(self._counters.unrouted),
            "brains": len(brains),
        }

    def process(self) -> dict[str, Any]:
        """Who answers: the process itself, whatever it serves."""
        return {
            "process_id": os.getpid(),
            "version": __version__,
            "uptime_seconds": int(time.monotonic() - self._started),
            "active_sessions": sum(state.bound_project_root is not None for state in self._router.active()),
        }

    def held(self, caller: Caller) -> dict[str, Any]:
        """How much the caller's brain and the medulla have learned: what was seen, and what became of it, by tier and status."""
        evidence = deleted = 0
        knowledge: Counter[str] = Counter()
        brains = [brain for brain in (self._router.route(caller).brain,) if brain is not None]
        brains += [self._brains.home.medulla()] if self._brains.has_medulla() else []
        for brain in brains:
            # A brain that cannot be read is named among the instances; here its part is not known.
            with suppress(HindbrainError, OSError), self._brains.use(brain) as opened:
                evidence += opened.store.counts().evidence
                deleted += len(opened.store.marks(kind=DELETED))
                # What a project published is a pointer there, and counts in the medulla.
                for (tier, status), number in opened.store.standing(published=brain.root is None).items():
                    knowledge[f"{tier}.{status}"] += number
        active = sum(number for name, number in knowledge.items() if name.rpartition(".")[2] in ACTIVE)
        many = f"active knowledge outnumbers evidence: {active} cards, {evidence} observations; check what they rest on"
        return {
            "schema_version": SUPPORTED,
            "evidence_count": evidence,
            "deleted_count": deleted,
            "normalize_version": NORMALIZE_VERSION,
            "knowledge_by_tier_status": dict(sorted(knowledge.items())),
            "knowledge_ratio": round(active / evidence, 3) if evidence else None,
            "warnings": [many] if active > evidence else [],
        }

    def instances(self) -> dict[str, Any]:
        """One row per store on disk, warm or dormant, and the medulla; totals stand apart with their caption."""
        warm = self._brains.warm()
        rows = []
        for brain in self._brains.all():
            nodes, edges = self._brains.home.manifest_counts(brain)
            rows.append(
                {
                    "project_root": brain.root,
                    "display_name": brain.display_name,
                    "fingerprint": brain.fingerprint,
                    "kind": "project",
                    "state": "warm" if brain.name in warm else "dormant",
                    "node_count": nodes,
                    "edge_count": edges,
                    "last_ingest_ms": brain.last_ingest_ms,
                    **self._numbers_quietly(brain, warm),
                }
            )
        if self._brains.has_medulla():
            medulla = self._brains.home.medulla()
            rows.append(
                {
                    "project_root": None,
                    "display_name": medulla.display_name,
                    "fingerprint": medulla.fingerprint,
                    "kind": "medulla",
                    "state": "warm" if medulla.name in warm else "dormant",
                    "node_count": 0,
                    "edge_count": 0,
                    "last_ingest_ms": None,
                    **self._numbers_quietly(medulla, warm),
                }
            )
        return {"ok": True, "schema": "hindbrain-instances-v0", "instances": rows, "bound_root": self._brains.bound_root}

    def _numbers_quietly(self, brain: Brain, warm: set[str]) -> dict[str, Any]:
        """Counters of a brain without waking it for longer than the look: a dormant one stays dormant."""
        try:
            numbers: dict[str, Any] = self._numbers(brain)
            with self._brains.use(brain) as opened:
                counts = opened.counted()
            # The manifest was written by the last ingest; claims have come and gone since.
            numbers |= {"active_claims": counts.active_claims, "node_count": counts.nodes, "edge_count": counts.edges}
        except (HindbrainError, OSError) as failure:
            return {"unreachable": str(failure)}
        if brain.name not in warm:
            self._brains.drop(brain)
        return numbers

    # -- trust -------------------------------------------------------------------------------------------------------

    def mode(
        self,
        route: Route,
        *,
        scope: str | None,
        available: Sequence[str] | None,
        missing: Sequence[str],
        observed_blocked: bool = False,
    ) -> str:
        """The first condition of the table that holds."""
        if lacking_tools(available, missing):
            return "degraded_host_tool_surface"
        mode = self._contract.mode(route, scope)
        return "stale_binding_suspected" if mode == "full_trust" and observed_blocked else mode

    def handshake(
        self, caller: Caller, *, scope: str | None, available: Sequence[str] | None, missing: Sequence[str]
    ) -> dict[str, Any]:
        """Cheap: who serves this session, from what, and where a write would go. Probes nothing."""
        route = self._router.route(caller)
        mode = self.mode(route, scope=scope, available=available, missing=missing)
        finger = self._contract.fingerprint(route)
        path = None
        if route.brain is not None:
            # A store that cannot be opened has no place to write to; the fingerprint says that nothing is known of it.
            with suppress(HindbrainError, OSError), self._brains.use(route.brain) as opened:
                path = str(opened.place.path)
        reception = self._router.reception(caller, route)
        return {
            "ok": True,
            "schema": "m1nd-session-handshake-v0",
            "trust_mode": mode,
            "binding_fingerprint": finger,
            "can_ingest": mode != "degraded_host_tool_surface",
            "can_retrieve": bool(finger["node_count"]),
            "can_recover": True,
            "next_action": _next_action(mode),
            "tool_surface": tool_surface(available, missing),
            "health": {"status": "degraded" if self._counters.degraded else "ok"},
            "graph_state": {"node_count": finger["node_count"], "edge_count": finger["edge_count"]},
            "context_guard": {"mismatch": self._contract.mismatch(route, scope)},
            "doctor_recovery": None if mode == "full_trust" else {"tool": "recovery_playbook"},
            "reception": reception,
            "write_target": self._router.write_target(route, path),
            "caller_root_source": route.root_source if route.root_source != "session" else self._source(caller),
            "honest_gaps": list(route.gaps),
            "persistence_degraded": self._counters.degraded is not None,
            "used_probe": False,
        }

    def _source(self, caller: Caller) -> str:
        return self._router.session(caller).caller_root_source

    def selftest(
        self,
        caller: Caller,
        *,
        scope: str | None,
        available: Sequence[str] | None,
        missing: Sequence[str],
        observed: dict[str, Any],
    ) -> dict[str, Any]:
        """The verdict on this binding, with the playbook in it when it is not good."""
        route = self._router.route(caller)
        blocked = observed.get("observed_proof_state") == "blocked"
        mode = self.mode(route, scope=scope, available=available, missing=missing, observed_blocked=blocked)
        answer: dict[str, Any] = {
            "ok": True,
            "schema": "m1nd-trust-selftest-v0",
            "status": _STATUS[mode],
            "verdict": mode,
            "next_action": _next_action(mode),
            "binding_fingerprint": self._contract.fingerprint(route),
            "graph_state": {"node_count": self._contract.fingerprint(route)["node_count"]},
            "session_handshake": self.handshake(caller, scope=scope, available=available, missing=missing),
            "checks": [{"check": "binding", "mode": mode}],
            "non_claims": list(NON_CLAIMS),
        }
        if mode != "full_trust":
            answer["recovery_playbook"] = self.playbook(
                caller, scope=scope, available=available, missing=missing, observed=observed
            )
            return CheckFailed(f"this binding is not fully trusted: {mode}", fix=answer["next_action"]).report(answer)
        return answer

    def playbook(
        self,
        caller: Caller,
        *,
        scope: str | None,
        available: Sequence[str] | None,
        missing: Sequence[str],
        observed: dict[str, Any],
    ) -> dict[str, Any]:
        """The way back to trusted retrieval, step by step. Performs nothing itself."""
        route = self._router.route(caller)
        blocked = observed.get("observed_proof_state") == "blocked"
        mode = self.mode(route, scope=scope, available=available, missing=missing, observed_blocked=blocked)
        if mode == "full_trust" and observed.get("observed_candidates") == 0:
            mode = "retrieval_needs_recovery"
        finger = self._contract.fingerprint(route)
        steps = self._steps(mode, caller, route, scope, observed)
        return {
            "ok": True,
            "schema": "m1nd-recovery-playbook-v0",
            "status": _STATUS[mode],
            "trust_mode": mode,
            "input_trust_mode": self._contract.mode(route, scope),
            "binding_fingerprint": finger,
            "graph_state": {"node_count": finger["node_count"], "edge_count": finger["edge_count"]},
            "tool_surface": tool_surface(available, missing),
            "context_guard": {"mismatch": self._contract.mismatch(route, scope)},
            "recovery_goal": "retrieval that can be trusted, or a proven absence",
            "steps": steps,
            "next_action": steps[0]["action"],
            "non_claims": list(NON_CLAIMS),
        }

    def _steps(
        self, mode: str, caller: Caller, route: Route, scope: str | None, observed: dict[str, Any]
    ) -> list[dict[str, Any]]:
        who = {"agent_id": caller.agent}
        root = (route.brain.root if route.brain else None) or route.root or ""
        ingest = {"path": root, "project_root": root, **who}
        wanted = (self._contract.mismatch(route, scope) or {}).get("requested_workspace_hint", root)
        doctor = _step("doctor", "call doctor", "it names what is wrong on this side", "doctor", who)
        again = _step("handshake_again", "shake hands again", "a new binding shows in its fingerprint", "session_handshake", who)
        files = _step("files", "fall back to the files themselves", "they are the truth in any case")
        tables = {
            "full_trust": [_step("proceed", "proceed", "nothing is wrong with this binding")],
            "needs_ingest": [_step("ingest", "ingest the workspace", "the graph has no nodes", "ingest", ingest), again],
            "wrong_workspace_binding": [
                _step("inspect_guard", "read context_guard.mismatch", "the scope lies outside this binding"),
                _step("rebind", f"start with HINDBRAIN_WORKSPACE_ROOT={wanted}", "the graph is not to blame"),
                _step(
                    "ingest",
                    f"ask a person to run: hindbrain ingest {shlex.quote(wanted)}",
                    "only if it belongs to this task",
                ),
                _step("federate", "federate the repositories", "only for a task that truly spans them"),
                files,
            ],
            "degraded_host_tool_surface": [
                _step("refresh_host", "refresh the host's tool list", "a required tool is not visible to you"),
                _step("list_tools", "list the tools again", "the full profile lists all of them"),
                doctor,
                again,
                files,
            ],
        }
        tool = "seek" if observed.get("observed_tool") not in ("north", "boot_memory") else str(observed["observed_tool"])
        retry = {"query": "memory", **who} if tool == "seek" else who if tool == "north" else {"action": "list", **who}
        searching = [
            doctor,
            _step(
                "compare_fingerprints", "compare binding_fingerprint with the one you started with", "another process may answer"
            ),
            _step("retry_unscoped", "retry without scope, then with both scope forms", "a scope filters by prefix", tool, retry),
            _step("literal_search", "search literally", "words that are nowhere cannot be found by meaning"),
            files,
            _step(
                "conclude_absence",
                "conclude absence",
                f"an unscoped look over {self._contract.fingerprint(route)['node_count']} nodes found nothing",
            ),
        ]
        return tables.get(mode, searching)


def _step(
    step_id: str, action: str, reason: str, tool: str | None = None, arguments: dict[str, Any] | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {"id": step_id, "action": action, "reason": reason}
    return found | ({"tool": tool, "arguments": arguments or {}} if tool else {})


def _next_action(mode: str) -> str:
    return {
        "degraded_host_tool_surface": "refresh the host's tool list",
        "stale_binding_suspected": "call doctor and compare fingerprints",
    }.get(mode) or MODES[mode][1]
