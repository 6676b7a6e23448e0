"""The recovery plane: the one shape of what update, host and restart work answers, and what none of it claims. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.engines.diagnosis import NON_CLAIMS

__all__ = ["planned", "step"]


def step(action: str, command: str | None = None, *, mutating: bool = False) -> dict[str, Any]:
    """One step of a plan; a mutating one is for a person at a terminal."""
    return {"action": action, "command": command, "mutating": mutating}


def planned(
    schema: str,
    *,
    diagnosis: str | None,
    evidence: Mapping[str, Any],
    plan: Sequence[Mapping[str, Any]],
    mutating: bool = False,
    proof_required: Sequence[str] = (),
    writes: bool = False,
    **more: Any,
) -> dict[str, Any]:
    """An answer. `mutating`: the command can change something; `writes`: it did."""
    return {
        "ok": True,
        "schema": schema,
        **more,
        "diagnosis": diagnosis,
        "evidence": dict(evidence),
        "plan": [dict(one) for one in plan],
        "mutating": mutating,
        "proof_required": list(proof_required),
        "writes": writes,
        "host_rebind_proven": bool(more.get("host_rebind_proven", False)),
        "graph_repaired": False,
        "retrieval_fixed": False,
        "non_claims": list(NON_CLAIMS),
    }
