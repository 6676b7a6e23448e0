"""What every envelope must look like, as one check that all tests of the contract share."""

from typing import Any

from hindbrain.operations import REGISTRY

__all__ = ["KEYS", "MODES", "RETRIEVAL", "SCHEMA", "checked"]

SCHEMA = "m1nd-agent-runtime-contract-v0"
MODES = {
    "full_trust": "ok",
    "needs_ingest": "blocked",
    "wrong_workspace_binding": "blocked",
    "retrieval_needs_recovery": "triaging",
}
RETRIEVAL = tuple(sorted(name for name, op in REGISTRY.items() if op.retrieval))

text, number, flag = (str,), (int,), (bool,)
maybe_text, maybe_number = (str, type(None)), (int, type(None))
KEYS: dict[str, Any] = {
    "schema": text,
    "status": text,
    "proof_state": text,
    "trust_mode": text,
    "observed": {"tool": text, "candidates": maybe_number, "error_text": maybe_text},
    "session_identity": {
        "agent_id": text,
        "tool": text,
        "process_id": number,
        "runtime_root": text,
        "current_exe": maybe_text,
        "binary": {"name": text, "version": text},
    },
    "workspace_binding": {
        "requested_scope": maybe_text,
        "active_workspace_root": maybe_text,
        "active_workspace_root_source": maybe_text,
        "active_ingest_roots": (list,),
        "workspace_match": flag,
        "mismatch": (dict, type(None)),
    },
    "graph_identity": {
        "node_count": maybe_number,
        "edge_count": maybe_number,
        "finalized": flag,
        "graph_generation": maybe_number,
        "plasticity_generation": maybe_number,
        "cache_generation": maybe_number,
        "ingest_root_count": number,
        "graph_path": text,
        "graph_path_exists": flag,
    },
    "next_suggested_tool": maybe_text,
    "next_step_hint": maybe_text,
    "recovery": (dict, type(None)),
    "non_claims": (list,),
    "served_brain": (dict, type(None)),
}


def _keeps(value: Any, rule: Any, where: str) -> None:
    if isinstance(rule, dict):
        assert isinstance(value, dict), where
        assert set(value) == set(rule), f"{where}: {set(value) ^ set(rule)}"
        for key, inner in rule.items():
            _keeps(value[key], inner, f"{where}.{key}")
    else:
        assert isinstance(value, rule), f"{where}: {value!r}"


def checked(answer: dict[str, Any], tool: str) -> dict[str, Any]:
    """The envelope of an answer, after all that holds for every envelope was looked at."""
    found: dict[str, Any] = answer["agent_runtime_contract"]
    _keeps(found, KEYS, "agent_runtime_contract")
    assert found["schema"] == SCHEMA
    assert sum("agent-runtime-contract" in str(value) for value in answer.values()) == 1, "one version at a time"
    assert found["status"] == MODES[found["trust_mode"]]
    assert found["observed"]["tool"] == found["session_identity"]["tool"] == tool
    assert found["proof_state"] in ("blocked", "triaging", "proving", "ready_to_edit")
    if "proof_state" in answer:
        assert found["proof_state"] == answer["proof_state"]
    trusted = found["trust_mode"] == "full_trust"
    assert (found["recovery"] is None) == trusted
    assert found["next_suggested_tool"] == (None if trusted else "recovery_playbook")
    mismatch = found["workspace_binding"]["mismatch"]
    assert found["workspace_binding"]["workspace_match"] == (mismatch is None)
    assert found["graph_identity"]["ingest_root_count"] == len(found["workspace_binding"]["active_ingest_roots"])
    assert len(found["non_claims"]) == 4
    return found
