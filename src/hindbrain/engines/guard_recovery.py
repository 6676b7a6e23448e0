"""Guard recovery: the ways back to a right binding, each ready to be called as it stands. Describes them; none has happened."""

from typing import Any

from hindbrain.domain.mission import RecoveryPayload, RecoveryStep

__all__ = ["GUARD_NON_CLAIMS", "SETTING", "federation", "host_rebind", "same_binding_ingest"]

SETTING = "HINDBRAIN_WORKSPACE_ROOT"
GUARD_NON_CLAIMS = (
    "the guard does not rebind the host",
    "the guard does not ingest or change the graph",
    "the guard does not prove that the requested repository is the right target of the task",
)
_NOT_YET = ("this payload only describes the way; nothing of it has happened", *GUARD_NON_CLAIMS)


def host_rebind(repo: str, *, bound: str | None, why: str) -> RecoveryPayload:
    """The host started the server for another workspace: only the host can change that, and only a handshake shows it."""
    restart = "start a new session of the host, so that it starts the server anew"
    return RecoveryPayload(
        kind="host_rebind",
        why=why,
        steps=(
            RecoveryStep(order=1, surface="cli", call="hosts.plan", arguments={"project": repo}),
            RecoveryStep(order=2, surface="human", call=f"set {SETTING} to {repo} for this host", mutating=True),
            RecoveryStep(order=3, surface="human", call=restart, mutating=True),
            RecoveryStep(order=4, surface="mcp", call="session_handshake", arguments={"scope": repo}),
        ),
        arguments={"setting": SETTING, "value": repo, "was": bound, "restart": restart},
        expected_after={"workspace_root": repo, "classification": "single_repo"},
        proof_required=("host_handshake",),
        non_claims=_NOT_YET,
    )


def same_binding_ingest(path: str, project_root: str, *, why: str) -> RecoveryPayload:
    """The binding is right and the graph is cold, or of another place: one call takes the files in."""
    arguments = {"path": path, "project_root": project_root}
    return RecoveryPayload(
        kind="same_binding_ingest",
        why=why,
        steps=(RecoveryStep(order=1, surface="mcp", call="ingest", arguments=arguments, mutating=True),),
        arguments=arguments,
        expected_after={"classification": "single_repo"},
        proof_required=("graph_generation",),
        non_claims=_NOT_YET,
    )


def federation(home: str, other: str, *, repo: str, present: bool, why: str) -> RecoveryPayload:
    """A task that truly spans two repositories says so. `present`: the second one is in the graph already."""
    look: dict[str, Any] = {"repo": repo, "federation_intent": True}
    steps = [RecoveryStep(order=1, surface="mcp", call="guard", arguments=look)]
    if not present:
        # Over MCP a person takes in what lies outside of the project; at a terminal the call is the same.
        taken: dict[str, Any] = {"path": other, "federation_intent": True}
        steps = [
            RecoveryStep(order=1, surface="cli", call="ingest", arguments=taken, mutating=True),
            RecoveryStep(order=2, surface="mcp", call="guard", arguments=look),
        ]
    return RecoveryPayload(
        kind="federation",
        why=why,
        steps=tuple(steps),
        arguments={"roots": [home, other], "federation_intent": True},
        expected_after={"classification": "federated"},
        proof_required=("context_guard",),
        non_claims=_NOT_YET,
    )
