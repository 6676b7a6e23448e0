"""Mission tables: what each mode, route, budget and kind of event means. Data with a version, which every mission keeps; a change
cites the round that was measured (`docs/policy-notes.md`)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.mission import (
    Budget,
    EventType,
    EvidenceClass,
    EvidenceGrade,
    Family,
    MissionMode,
    Outcome,
    Phase,
    Route,
)

__all__ = [
    "BUDGETS",
    "CLOSED_STATUSES",
    "COUNTED_OUT",
    "EVENTS",
    "GRADES",
    "GRAPH_STREAK",
    "MODES",
    "MOVES_OF_STATUS",
    "NON_CLAIMS",
    "OBSERVED",
    "POLICY_VERSION",
    "ROUNDS_MOST",
    "SWEEPS",
    "EventKind",
    "ModeRule",
    "route_of",
]

POLICY_VERSION = "1"
_M, _R, _P, _E, _F, _C = MissionMode, Route, Phase, EventType, Family, EvidenceClass

# The short values are the seed's; the others grow with what a route may ask.
BUDGETS: Mapping[str, Budget] = {
    "short": Budget(tool_calls_max=12, files_read_max=8, soft_deadline_ms=90_000),
    "normal": Budget(tool_calls_max=16, files_read_max=10, soft_deadline_ms=240_000),
    "deep": Budget(tool_calls_max=32, files_read_max=20, soft_deadline_ms=600_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRule:
    """A kind of work: its route by budget, its phases, what it does not aim at, and what it is measured by when nobody says."""

    routes: tuple[Route, Route, Route]  # short, normal, deep
    phases: tuple[Phase, ...]
    non_goals: tuple[str, ...]
    criteria: tuple[str, ...]


_PHASES = (_P.LOCATE, _P.VERIFY, _P.REPORT)
_BOUNDED = ("unbounded exploration", "production readiness claim")
_AUDIT = (_R.SHORT_AUDIT, _R.TRAINED_AUDIT, _R.TRAINED_AUDIT)


def _same(route: Route) -> tuple[Route, Route, Route]:
    return (route, route, route)


MODES: Mapping[MissionMode, ModeRule] = {
    _M.BUG_HUNT: ModeRule(
        routes=_AUDIT,
        phases=_PHASES,
        non_goals=("public performance claim", "complete security audit"),
        criteria=(
            "each reported defect has a direct source reference",
            "public contracts, boundary values, error paths, concurrency and exported helpers were swept",
        ),
    ),
    _M.REVIEW: ModeRule(routes=_AUDIT, phases=_PHASES, non_goals=_BOUNDED, criteria=("each finding cites a file and a line",)),
    _M.REFACTOR: ModeRule(
        routes=(_R.BALANCED, _R.BALANCED, _R.RISK_FIRST),
        phases=_PHASES,
        non_goals=_BOUNDED,
        criteria=("the plan was checked before the first edit", "the tests pass after the change"),
    ),
    _M.DOCS_DRIFT: ModeRule(
        routes=_same(_R.DOCS_BINDING),
        phases=(_P.ORIENT, _P.BIND, _P.VERIFY, _P.REPORT),
        non_goals=_BOUNDED,
        criteria=("each statement is bound to code or reported unbound",),
    ),
    _M.ARCHITECTURE: ModeRule(
        routes=(_R.BALANCED, _R.BALANCED, _R.ARCHITECTURE_SURVEY),
        phases=_PHASES,
        non_goals=("runtime correctness proof", "full refactor plan"),
        criteria=("each stated dependency was seen in a source",),
    ),
    _M.RELEASE: ModeRule(
        routes=_same(_R.RELEASE_PREFLIGHT),
        phases=(_P.ORIENT, _P.VERIFY, _P.GATE, _P.REPORT),
        non_goals=("host cache refresh proof", "graph repair proof"),
        criteria=("the tests were run and passed", "version and changelog agree"),
    ),
    _M.HOST_RECOVERY: ModeRule(
        routes=_same(_R.RECOVERY), phases=_PHASES, non_goals=_BOUNDED, criteria=("a new handshake shows the repaired host",)
    ),
    _M.ORIENTATION: ModeRule(
        routes=_same(_R.BALANCED), phases=_PHASES, non_goals=_BOUNDED, criteria=("the right repository and place are named",)
    ),
    _M.TASK: ModeRule(routes=_same(_R.BALANCED), phases=_PHASES, non_goals=_BOUNDED, criteria=()),
}


def route_of(mode: MissionMode, budget: str, risk: str) -> Route:
    """The route of a mode. A budget of one's own counts as the preset whose calls it reaches."""
    if mode is MissionMode.REFACTOR and risk == "high":
        return Route.RISK_FIRST
    return MODES[mode].routes[list(BUDGETS).index(budget)]


# Graph calls since the last direct event, from which the graph is closed until there is one.
GRAPH_STREAK: Mapping[Route, int] = {
    _R.DIRECT_PROOF: 0,
    _R.SHORT_AUDIT: 1,
    _R.DOCS_BINDING: 1,
    _R.RELEASE_PREFLIGHT: 1,
    _R.RECOVERY: 1,
    _R.TRAINED_AUDIT: 2,
    _R.RISK_FIRST: 2,
    _R.BALANCED: 2,
    _R.ARCHITECTURE_SURVEY: 4,
}

GRADES: Mapping[EvidenceClass, EvidenceGrade] = {
    _C.DIRECT_SOURCE: "direct",
    _C.DIRECT_SEARCH: "direct",
    _C.DIRECT_TEST: "direct",
    _C.DIRECT_COMPILER: "direct",
    _C.DIRECT_RUNTIME: "direct",
    _C.DIRECT_DIFF: "direct",
    _C.DIRECT_EXTERNAL: "direct",
    _C.DIRECT_HUMAN: "direct",
    _C.DIRECT_COVERAGE_SWEEP: "direct",
    _C.HOST_HANDSHAKE: "direct",
    _C.DIRECT_UNVERIFIED: "direct_unverified",
    _C.GRAPH_ORIENTATION: "graph_only",
    _C.GRAPH_STRUCTURAL: "graph_only",
    _C.MEMORY_RECALL: "graph_only",
    _C.DOC_BOUND: "graph_only",
    _C.DOC_STALE: "inferred",
    _C.HOST_DESCRIBED: "inferred",
    _C.AGENT_TESTIMONY: "inferred",
    _C.INFERRED: "inferred",
    _C.UNCLASSIFIED: "inferred",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """What an event of a type is unless it says otherwise, and who may write it."""

    family: Family
    evidence: EvidenceClass
    outcome: Outcome = Outcome.NOTED
    runtime_only: bool = False


def _kind(family: Family, evidence: EvidenceClass, outcome: Outcome = Outcome.NOTED, *, ours: bool = False) -> EventKind:
    return EventKind(family=family, evidence=evidence, outcome=outcome, runtime_only=ours)


EVENTS: Mapping[EventType, EventKind] = {
    _E.FILE_READ: _kind(_F.DIRECT_READ, _C.DIRECT_SOURCE, Outcome.FOUND),
    _E.DIR_LIST: _kind(_F.DIRECT_READ, _C.UNCLASSIFIED, Outcome.FOUND),
    _E.LITERAL_SEARCH: _kind(_F.LITERAL_SEARCH, _C.DIRECT_SEARCH, Outcome.FOUND),
    _E.SEMANTIC_SEARCH: _kind(_F.GRAPH, _C.GRAPH_ORIENTATION, Outcome.FOUND),
    _E.GRAPH_QUERY: _kind(_F.GRAPH, _C.GRAPH_ORIENTATION, Outcome.FOUND),
    _E.GRAPH_INGEST: _kind(_F.GRAPH, _C.UNCLASSIFIED, Outcome.NOTED),
    _E.AUDIT: _kind(_F.GRAPH, _C.GRAPH_ORIENTATION, Outcome.FOUND),
    _E.IMPACT: _kind(_F.GRAPH, _C.GRAPH_STRUCTURAL, Outcome.FOUND),
    _E.TEST_RUN: _kind(_F.TEST, _C.DIRECT_TEST, Outcome.INCONCLUSIVE),
    _E.COMPILE: _kind(_F.COMPILE, _C.DIRECT_COMPILER, Outcome.INCONCLUSIVE),
    _E.LINT: _kind(_F.COMPILE, _C.DIRECT_COMPILER, Outcome.INCONCLUSIVE),
    _E.RUNTIME_PROBE: _kind(_F.RUNTIME, _C.DIRECT_RUNTIME, Outcome.FOUND),
    _E.DIFF_READ: _kind(_F.DIRECT_READ, _C.DIRECT_DIFF, Outcome.FOUND),
    _E.WEB_FETCH: _kind(_F.DOCS, _C.DIRECT_EXTERNAL, Outcome.FOUND),
    _E.FILE_EDIT: _kind(_F.EDIT, _C.UNCLASSIFIED),
    _E.COMMAND: _kind(_F.RUNTIME, _C.DIRECT_RUNTIME, Outcome.INCONCLUSIVE),
    _E.COVERAGE_SWEEP: _kind(_F.DIRECT_READ, _C.DIRECT_COVERAGE_SWEEP),
    _E.BOUNDARY_SWEEP: _kind(_F.DIRECT_READ, _C.DIRECT_COVERAGE_SWEEP),
    _E.EDGE_CASE_SWEEP: _kind(_F.DIRECT_READ, _C.DIRECT_COVERAGE_SWEEP),
    _E.NEGATIVE_SPACE_SWEEP: _kind(_F.DIRECT_READ, _C.DIRECT_COVERAGE_SWEEP),
    _E.PUBLIC_CONTRACT_SWEEP: _kind(_F.DIRECT_READ, _C.DIRECT_COVERAGE_SWEEP),
    _E.FOLLOWUP_SWEEP: _kind(_F.DIRECT_READ, _C.DIRECT_COVERAGE_SWEEP),
    _E.HYPOTHESIS: _kind(_F.MISSION, _C.AGENT_TESTIMONY),
    _E.DEAD_PATH: _kind(_F.MISSION, _C.AGENT_TESTIMONY, Outcome.RULED_OUT),
    _E.CLAIM: _kind(_F.MISSION, _C.AGENT_TESTIMONY, ours=True),
    _E.VERIFY: _kind(_F.MISSION, _C.UNCLASSIFIED, ours=True),
    _E.DISSENT: _kind(_F.MISSION, _C.AGENT_TESTIMONY),
    _E.RECALL: _kind(_F.MEMORY, _C.MEMORY_RECALL, Outcome.FOUND),
    _E.CONTEXT_GUARD: _kind(_F.RECOVERY, _C.UNCLASSIFIED, ours=True),
    _E.HOST_HANDSHAKE: _kind(_F.HOST, _C.HOST_HANDSHAKE),
    _E.RECOVERY: _kind(_F.RECOVERY, _C.HOST_DESCRIBED, Outcome.NOT_RECOVERED),
    _E.HANDOFF: _kind(_F.MISSION, _C.UNCLASSIFIED, ours=True),
    _E.RESUME: _kind(_F.MISSION, _C.UNCLASSIFIED, ours=True),
    _E.HUMAN_STATEMENT: _kind(_F.HUMAN, _C.DIRECT_HUMAN),
    _E.LOOP_WARNING: _kind(_F.MISSION, _C.UNCLASSIFIED, ours=True),
    _E.BUDGET_WARNING: _kind(_F.MISSION, _C.UNCLASSIFIED, ours=True),
    _E.NOTE: _kind(_F.OTHER, _C.AGENT_TESTIMONY),
    _E.CLOSE: _kind(_F.MISSION, _C.UNCLASSIFIED, ours=True),
}

ROUNDS_MOST = 3  # verifications that fail before a mission's budget of rounds is used

SWEEPS = frozenset(one for one, kind in EVENTS.items() if kind.evidence is _C.DIRECT_COVERAGE_SWEEP)

# What is no use of a tool: thinking, saying and asking what to do next.
COUNTED_OUT = frozenset(one for one, kind in EVENTS.items() if kind.family is _F.MISSION or kind.runtime_only) | {_E.NOTE}

# Operations that are a use of a tool, when they are called inside a mission.
OBSERVED: Mapping[str, EventType] = {
    "seek": _E.SEMANTIC_SEARCH,
    "activate": _E.GRAPH_QUERY,
    "why": _E.GRAPH_QUERY,
    "trace": _E.GRAPH_QUERY,
    "warmup": _E.GRAPH_QUERY,
    "predict": _E.GRAPH_QUERY,
    "missing": _E.GRAPH_QUERY,
    "counterfactual": _E.GRAPH_QUERY,
    "panoramic": _E.AUDIT,
    "impact": _E.IMPACT,
    "search": _E.LITERAL_SEARCH,
    "glob": _E.DIR_LIST,
    "recall": _E.RECALL,
    "experience.query": _E.RECALL,
    "ingest": _E.GRAPH_INGEST,
}

# status -> where it may go
MOVES_OF_STATUS: Mapping[str, frozenset[str]] = {
    "active": frozenset({"handed_off", "closed", "abandoned"}),
    "handed_off": frozenset({"active", "closed"}),
    "closed": frozenset(),
    "abandoned": frozenset(),
}
CLOSED_STATUSES = frozenset({"closed", "abandoned"})

# What no packet, report or page may be read as saying. A gate that disproves one is named beside it.
NON_CLAIMS: Mapping[str, str] = {
    "AOL-306": "that the operating layer as a whole is finished",
    "AOL-307": "that mission control v1 exists, until `hindbrain accept v1` passes",
    "AOL-308": "that drift detection for strategy documents is complete",
    "AOL-309": "that Hindbrain beats direct work on files in every task",
    "AOL-310": "that semantic retrieval is always reliable",
    "AOL-311": "that a host was rebound, without a fresh handshake",
    "AOL-312": "that tests, compilers, probes of the running program or reading the source are replaced",
    "AOL-313": "that benchmark figures are ready for the public",
    "AOL-314": "that unattended updates in production are solved",
    "AOL-315": "that orchestration of several agents is complete",
    "AOL-316": "that the graph's contents are right, or that an open host's list of tools was refreshed",
}
