"""Delegation: the packet that a mother hands to a child, the record that is kept of it, and what came of it. Values only.

The record and the outcomes hold no words of a task, a claim or a finding: nothing in them has to be found again when a value is
forgotten."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

__all__ = [
    "Anchor",
    "Binding",
    "Context",
    "DelegationRecord",
    "Dependents",
    "MemoryRow",
    "Mission",
    "Outcome",
    "OutcomeRow",
    "Packet",
    "Proof",
    "Report",
    "Scope",
    "Seeds",
    "Sources",
    "Staleness",
]

Outcome = Literal["success", "failure", "partial"]


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """The brain that the mother was grounded on. The child does not choose; it checks that it reached this one."""

    workspace_root: str
    fingerprint: str
    trust_mode: str
    ok: bool
    graph_populated: bool
    env: dict[str, str]


class Mission(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for, by whom, and where."""

    task: str
    agent_id: str
    binding: Binding
    tier: str = "project"
    under: str | None = None  # the packet that this one was cut to
    subagent_hint: str | None = None


class Seeds(msgspec.Struct, frozen=True, kw_only=True):
    """Names that the mother gave, and what they led to."""

    resolved: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Paths below the root that the child may touch: files, and directories with all they hold."""

    may_touch: tuple[str, ...]
    derived_from: str
    seeds: Seeds = Seeds()


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the code where the task begins."""

    node_id: str
    path: str
    line: int | None
    score: float


class MemoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A claim as the child sees it. What is unknown says so."""

    claim: str
    text: str
    slug: str
    tier: str
    origin_brain: str
    source_agent: str
    age_days: int | None
    match: str
    stale: bool | UnsetType = UNSET
    arrived_by: str | UnsetType = UNSET  # a file or an archive brought it; its author is only stated


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look, and the only ambient memory of the child."""

    anchors: tuple[Anchor, ...] = ()
    sufficiency: dict[str, Any] = {}
    memory: tuple[MemoryRow, ...] = ()


class Dependents(msgspec.Struct, frozen=True, kw_only=True):
    """What the map expects to change, and what hangs on it."""

    expected_change: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    truncated: bool = False


class Staleness(msgspec.Struct, frozen=True, kw_only=True):
    """How old the map is."""

    graph_generation: int
    workspace_head: str
    files_changed_since_ingest: int


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Ways to check the work."""

    suggested_calls: tuple[dict[str, Any], ...] = ()
    suggested_shell: tuple[str, ...] = ()


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Where the packet's memory comes from."""

    project: str
    fingerprint: str
    medulla: int
    composed_ts: int


class Packet(msgspec.Struct, frozen=True, kw_only=True):
    """All that a child is given."""

    delegation_id: str
    created_ms: int
    expires_ms: int
    mission: Mission
    scope: Scope
    context: Context
    known_static_dependents: Dependents
    staleness: Staleness
    proof: Proof
    etiquette: str
    sources: Sources
    honest_gaps: tuple[dict[str, Any], ...] = ()
    non_claims: tuple[str, ...] = ()
    schema: str = "m1nd-delegation-packet-v0"
    verdict: str = "packet"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a child's report says by the protocol."""

    delegation_id: str | None = None
    deviations: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    left_out: int = 0  # findings beyond those that a report may have


class DelegationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a packet: enough to grade what comes back."""

    delegation_id: str
    agent_id: str
    workspace_root: str
    fingerprint: str
    created_ms: int
    expires_ms: int
    may_touch: tuple[str, ...]
    expected_change: tuple[str, ...]
    dependents: tuple[str, ...]
    memory_slice: bool
    memory_rows_project: int
    memory_rows_medulla: int
    memory_rows_stale: int
    under: str | None = None
    status: str = "live"
    debriefs: tuple[str, ...] = ()  # digests of what was told, so that telling it twice is telling it once
    findings: tuple[str, ...] = ()  # the same of each finding that landed
    schema: str = "hindbrain-delegation-record-v0"


class OutcomeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One debrief in numbers, so that runs with and without a memory slice can be compared."""

    delegation_id: str
    subagent_id: str
    agent_id: str
    at: int
    outcome: Outcome
    outcome_unverified: bool
    expired: bool
    memory_slice: bool
    memory_rows_project: int
    memory_rows_medulla: int
    memory_rows_stale: int
    touched: int
    outside_scope: int
    unpredicted: int
    findings_landed: int
    findings_refused: int
    debrief: str
    exit_status: int | None = None
    schema: str = "hindbrain-delegation-outcome-v0"
