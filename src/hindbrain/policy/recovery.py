"""Recovery: how much is kept of handshakes and changes, which calls are its steps, and what a look can show to be over."""

from collections.abc import Mapping

__all__ = [
    "CATALOG_NAMES",
    "CHANGES_KEPT",
    "GUARD_SHOWS",
    "HANDSHAKES_KEPT",
    "LOOKED_FOR",
    "PROOF_BY_LOOK",
    "RECOVERY_STEPS",
    "SOURCE_BYTES_MOST",
    "SOURCE_WAIT_S",
    "STALE_BUILDS",
    "WHEEL_BYTES_MOST",
]

# A host shakes hands once per session: this is months of one person's work, and a file that is read in a millisecond.
HANDSHAKES_KEPT = 500
CHANGES_KEPT = 200

SOURCE_WAIT_S = 5.0  # a source of releases that is slower is as good as none for somebody who waits at a terminal
SOURCE_BYTES_MOST = 1_000_000  # of a release file
WHEEL_BYTES_MOST = 200_000_000

# Names by which the requirements call a read-only operation of recovery, and ours. Over MCP a dot is an underscore.
CATALOG_NAMES: Mapping[str, str] = {
    "doctor": "doctor",
    "recovery_playbook": "recovery_playbook",
    "update_check": "update.check",
    "hosts_status": "hosts.status",
    "route_explain": "route_explain",
    "trust_check": "trust_selftest",
    "session_handshake": "session_handshake",
}

# Calls that are steps of a recovery when they are made inside a mission; True: one that may change something.
RECOVERY_STEPS: Mapping[str, bool] = {
    "doctor": False,
    "recovery_playbook": False,
    "trust_selftest": False,
    "session_handshake": False,
    "update.check": False,
    "update.status": False,
    "update.plan": False,
    "hosts.status": False,
    "hosts.plan": False,
    "doctor.fix": True,
    "update.apply": True,
    "update.rollback": True,
    "hosts.apply": True,
    "restart": True,
}

# Diagnosis -> the argument without which `doctor` cannot have seen it; "" needs none.
LOOKED_FOR: Mapping[str, str] = {
    "dead_mcp_transport": "",
    "missing_recovery_tools": "available_tools",
    "stale_host_tool_surface": "available_tools",
    "wrong_workspace": "scope",
    "mixed_path_config": "",
    "stale_package": "",
    "stale_runtime": "",
    "build_mismatch": "",
    "graph_populated_retrieval_blocked": "observed_query",
}

# What the program sees of itself is proof; the others are about a host, and only a handshake that came later shows them.
PROOF_BY_LOOK = frozenset({"stale_package", "stale_runtime", "build_mismatch", "graph_populated_retrieval_blocked"})

# What a look of the guard itself shows to be there or to be over.
GUARD_SHOWS = frozenset({"stale_runtime", "wrong_workspace"})

# Diagnoses of a program that is not the one that is meant.
STALE_BUILDS = frozenset({"stale_package", "stale_runtime", "build_mismatch"})
