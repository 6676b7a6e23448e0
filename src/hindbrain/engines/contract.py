"""The runtime contract: the envelope on every retrieval answer, from facts. An empty list is never ambiguous. Pure."""

from dataclasses import dataclass
from typing import Any

__all__ = ["MODES", "NON_CLAIMS", "Facts", "envelope", "trust_mode"]

SCHEMA = "m1nd-agent-runtime-contract-v0"

# What an envelope does not claim (RC-017). It goes with every answer, so each sentence is short.
NON_CLAIMS = (
    "Repairs no host bindings.",
    "Ingests nothing and does not change the graph.",
    "Does not prove semantic retrieval right.",
    "Does not replace compiler, tests, logs or files: they hold the runtime truth.",
)

# mode -> (status, what to do next)
MODES: dict[str, tuple[str, str]] = {
    "wrong_workspace_binding": (
        "blocked",
        "The graph is not to blame: rebind with HINDBRAIN_WORKSPACE_ROOT, or ingest that workspace here on purpose, or federate.",
    ),
    "needs_ingest": ("blocked", "Ingest the wanted workspace through this same binding, then retrieve."),
    "retrieval_needs_recovery": (
        "triaging",
        "Hand recovery.arguments to recovery_playbook first; use shell search only after that.",
    ),
    "full_trust": ("ok", "Go on with the graph first; compiler, tests and logs still hold the runtime truth."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What an envelope is made from."""

    tool: str
    agent_id: str
    candidates: int | None
    error: str | None
    proof_state: str | None
    requested_scope: str | None
    mismatch: dict[str, Any] | None
    process_id: int
    runtime_root: str
    executable: str | None
    version: str
    workspace_root: str | None
    workspace_root_source: str | None
    ingest_roots: tuple[str, ...]
    nodes: int | None  # None: the store did not say
    edges: int | None
    generation: int | None
    learned: int | None  # how often the graph was taught
    graph_path: str
    graph_path_exists: bool
    served: dict[str, Any] | None


def trust_mode(*, mismatch: bool, nodes: int | None, candidates: int | None, proof_state: str | None, error: bool) -> str:
    """The first mode of the table that holds."""
    if mismatch:
        return "wrong_workspace_binding"
    if nodes == 0:
        return "needs_ingest"
    if candidates == 0 or proof_state == "blocked" or error:
        return "retrieval_needs_recovery"
    return "full_trust"


def envelope(facts: Facts) -> dict[str, Any]:
    """The object under `agent_runtime_contract`. Changes nothing and runs no retrieval of its own."""
    mode = trust_mode(
        mismatch=facts.mismatch is not None,
        nodes=facts.nodes,
        candidates=facts.candidates,
        proof_state=facts.proof_state,
        error=facts.error is not None,
    )
    status, hint = MODES[mode]
    proof = facts.proof_state or ("blocked" if facts.error is not None else "triaging" if not facts.candidates else "proving")
    trusted = mode == "full_trust"
    return {
        "schema": SCHEMA,
        "status": status,
        "proof_state": proof,
        "trust_mode": mode,
        "observed": {"tool": facts.tool, "candidates": facts.candidates, "error_text": facts.error},
        "session_identity": {
            "agent_id": facts.agent_id,
            "tool": facts.tool,
            "process_id": facts.process_id,
            "runtime_root": facts.runtime_root,
            "current_exe": facts.executable,
            "binary": {"name": "hindbrain", "version": facts.version},
        },
        "workspace_binding": {
            "requested_scope": facts.requested_scope,
            "active_workspace_root": facts.workspace_root,
            "active_workspace_root_source": facts.workspace_root_source,
            "active_ingest_roots": list(facts.ingest_roots),
            "workspace_match": facts.mismatch is None,
            "mismatch": facts.mismatch,
        },
        "graph_identity": {
            "node_count": facts.nodes,
            "edge_count": facts.edges,
            "finalized": True,
            "graph_generation": facts.generation,
            "plasticity_generation": facts.learned,
            "cache_generation": None if facts.generation is None else max(facts.generation, facts.learned or 0),
            "ingest_root_count": len(facts.ingest_roots),
            "graph_path": facts.graph_path,
            "graph_path_exists": facts.graph_path_exists,
        },
        "next_suggested_tool": None if trusted else "recovery_playbook",
        "next_step_hint": None if trusted else hint,
        "recovery": None if trusted else _recovery(facts, mode, proof),
        "non_claims": list(NON_CLAIMS),
        "served_brain": facts.served,
    }


_REASONS = {
    "wrong_workspace_binding": "the requested scope lies outside this binding",
    "needs_ingest": "the active graph has no nodes",
    "retrieval_needs_recovery": "retrieval returned no usable candidate",
}


def _recovery(facts: Facts, mode: str, proof: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {"agent_id": facts.agent_id, "observed_tool": facts.tool, "observed_proof_state": proof}
    if facts.candidates is not None:
        arguments["observed_candidates"] = facts.candidates
    if facts.requested_scope is not None:
        arguments["scope"] = facts.requested_scope
    if facts.error is not None:
        arguments["error_text"] = facts.error
    found: dict[str, Any] = {
        "suggested_tool": "recovery_playbook",
        "reason": _REASONS[mode],
        "arguments": arguments,
        "fallback_tool": "doctor",
    }
    if facts.mismatch is not None:
        arguments["workspace_binding_mismatch"] = facts.mismatch
        found["binding_issue"] = facts.mismatch["code"]
        found["workspace_binding_mismatch"] = facts.mismatch
    return found
