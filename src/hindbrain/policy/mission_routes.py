"""Mission routes: the decision table of the router, the tools it may name, and the limits of the loop rules. Data with the
version of `policy.missions`; a change cites the round that was measured (`docs/policy-notes.md`)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.mission import Family

__all__ = [
    "ALIKE",
    "DIRECT_FAMILIES",
    "DO_NOT_MOST",
    "FOCUS",
    "IDLE",
    "LOOPS",
    "PROCESS_RULES",
    "REREAD",
    "REREAD_KEPT",
    "RETRIEVAL",
    "RULES",
    "SHORT_OF_PROOF",
    "SPENT_TOOLS",
    "STALE_STEPS",
    "THRASH",
    "TOOLS",
    "TRIED_REPAIRS",
    "UNTIL",
    "Barred",
    "LoopRule",
    "Rule",
    "Until",
]

_F = Family

# What a move may name, and its kind. With a dot or not, these are operations of Hindbrain; the last group are the host's own.
TOOLS: Mapping[str, Family] = {
    "seek": _F.GRAPH,
    "activate": _F.GRAPH,
    "panoramic": _F.GRAPH,
    "impact": _F.GRAPH,
    "why": _F.GRAPH,
    "warmup": _F.GRAPH,
    "predict": _F.GRAPH,
    "missing": _F.GRAPH,
    "trace": _F.GRAPH,
    "ingest": _F.GRAPH,
    "search": _F.LITERAL_SEARCH,
    "glob": _F.LITERAL_SEARCH,
    "recall": _F.MEMORY,
    "experience.query": _F.MEMORY,
    "trust_selftest": _F.RECOVERY,
    "recovery_playbook": _F.RECOVERY,
    "doctor": _F.RECOVERY,
    "update.plan": _F.RECOVERY,
    "hosts.plan": _F.RECOVERY,
    "session_handshake": _F.HOST,
    "mission.event": _F.MISSION,
    "mission.claim": _F.MISSION,
    "mission.verify": _F.MISSION,
    "mission.handoff": _F.MISSION,
    "mission.close": _F.MISSION,
    "mission.run": _F.TEST,
    "read": _F.DIRECT_READ,
    "grep": _F.LITERAL_SEARCH,
    "edit": _F.EDIT,
    "ask_human": _F.HUMAN,
}
RETRIEVAL = ("search", "glob", "recall")  # ask the binding too, beside the graph family
DIRECT_FAMILIES = frozenset({_F.DIRECT_READ, _F.LITERAL_SEARCH, _F.TEST, _F.COMPILE, _F.RUNTIME})
SPENT_TOOLS = ("mission.verify", "mission.handoff", "mission.close")  # what is offered when the whole budget is used
STALE_STEPS = ("update.plan", "hosts.plan", "session_handshake", "trust_selftest")  # a host that runs another build, in order
TRIED_REPAIRS = ("recovery_playbook", "doctor")  # retrieval that answers nothing, before the files are asked

# What a bug hunt looks at once more around what it found.
FOCUS = (
    "public contracts and their documents",
    "boundary values",
    "error paths",
    "async and concurrent use",
    "helpers and exported functions that nothing covered",
)

SHORT_OF_PROOF = 0.6  # of the budget; above it, without direct evidence, a mission reads
DO_NOT_MOST = 64  # entries of one answer; more would not be read
ALIKE = 0.8  # shared words of two questions that count as one
IDLE = 5  # uses of tools without anything new
REREAD = 3
REREAD_KEPT = 64  # reads of one file that are looked back on
THRASH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRule:
    name: str
    why: str


LOOPS: Mapping[str, LoopRule] = {
    "LW1": LoopRule(name="identical call", why="the same call gives the same answer"),
    "LW2": LoopRule(name="repeated search", why="nothing in its scope has changed since it was asked"),
    "LW3": LoopRule(name="graph streak", why="the graph says where to look, and only looking proves"),
    "LW4": LoopRule(name="ping-pong", why="two places take turns and neither settles the question"),
    "LW5": LoopRule(name="no progress", why="nothing new was touched, proven or concluded"),
    "LW6": LoopRule(name="re-read", why="the text is the one that was read before"),
    "LW7": LoopRule(name="dead path", why="it was ruled out"),
    "LW8": LoopRule(name="verify thrash", why="the same evidence gives the same verdict"),
}
# Rules that say something of how the work is done; the controller takes each as one logical failure of its round.
PROCESS_RULES = frozenset({"LW1", "LW4", "LW5", "LW8"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """When something is no longer forbidden, where no rule of the table says it."""

    direct: str = "one direct event that shows something new"
    other: str = "something else was done"
    scope: str = "something in its scope changes"
    verified: str = "the next verification"
    dissent: str = "a dissent gives a reason"
    memory: str = "experience says otherwise, or a dissent gives a reason"
    mission: str = "the mission ends, or a dissent gives a reason"


UNTIL = Until()


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """What a rule forbids while it decides."""

    item: str
    kind: str
    reason: str
    source: str = "route"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the decision table. The first line whose condition holds decides."""

    name: str
    when: str
    stop_condition: str
    fallback: str
    evidence_required: str
    why: str
    do_not: tuple[Barred, ...] = ()


def _graph(reason: str, source: str = "route") -> Barred:
    return Barred(item=_F.GRAPH.value, kind="tool_family", reason=reason, source=source)


RULES: Mapping[str, Rule] = {
    "P0": Rule(
        name="closed",
        when="the mission is not active",
        stop_condition="none",
        fallback="mission resume",
        evidence_required="none",
        why="what is over takes no moves",
    ),
    "P1": Rule(
        name="wrong workspace",
        when="the guard says wrong_workspace_binding",
        stop_condition="the guard says single_repo or federated",
        fallback="read files below the requested repository directly",
        evidence_required="host_handshake",
        why="answers about another repository are worse than none",
        do_not=(
            _graph("the graph is bound to another workspace", "guard"),
            *(Barred(item=one, kind="tool", reason="it answers from the wrong binding", source="guard") for one in RETRIEVAL),
        ),
    ),
    "P2": Rule(
        name="stale host binary",
        when="the running build is not the expected one",
        stop_condition="a new handshake shows the expected build",
        fallback="one call of the command line with the right build",
        evidence_required="host_handshake",
        why="a program of another build may answer by other rules",
        do_not=(_graph("its answers are no evidence while the host runs another build", "guard"),),
    ),
    "P3": Rule(
        name="retrieval blocked",
        when="the graph has nodes and the last retrieval was blocked or came back empty",
        stop_condition="one retrieval succeeds or a literal search answers",
        fallback="literal search, then the files themselves",
        evidence_required="direct_search",
        why="an empty answer of a full graph says nothing about the code",
    ),
    "P4": Rule(
        name="exact target known",
        when="a target is named and was not looked at directly in this mission",
        stop_condition="the file is read or its test is run",
        fallback="literal search in the folder of the file",
        evidence_required="direct_source",
        why="what can be read or run needs no graph",
        do_not=(_graph("the needed fact can be read or run"),),
    ),
    "P5": Rule(
        name="broad unknown repository",
        when="the graph is empty or stale, no target is known, and the route allows a graph call",
        stop_condition="the graph is there and one audit is done",
        fallback="list the directory, then search literally",
        evidence_required="graph_orientation",
        why="a map is cheaper than wandering, once",
        do_not=(Barred(item="mission.claim", kind="tool", reason="nothing was seen directly yet"),),
    ),
    "P6": Rule(
        name="graph budget used",
        when="the graph calls since the last direct event have reached the route's limit",
        stop_condition="one direct event",
        fallback="ask a person for a target",
        evidence_required="direct_source",
        why="the next graph call costs more than the file it points at",
        do_not=(_graph("the route's graph calls are used", "loop"),),
    ),
    "P7": Rule(
        name="loop",
        when="a loop rule other than the graph streak holds",
        stop_condition="the loop is left",
        fallback="hand over",
        evidence_required="direct_source",
        why="the same step again brings the same result",
    ),
    "P8": Rule(
        name="evidence without a judged claim",
        when="there is direct evidence, and no claim, or a claim that nobody judged",
        stop_condition="one claim is judged",
        fallback="none",
        evidence_required="evidence_refs",
        why="evidence that nobody concludes from is lost",
    ),
    "P9": Rule(
        name="control directive",
        when="the last verification failed and the controller gave a direction",
        stop_condition="the next verification",
        fallback="hand over and name the gaps",
        evidence_required="direct_source",
        why="what failed is not tried again in the same way",
    ),
    "P10": Rule(
        name="bug hunt sweep",
        when="a bug hunt has a verified finding and has not swept since",
        stop_condition="a sweep with a direct event inside it is recorded",
        fallback="close with force and a dissent",
        evidence_required="direct_coverage_sweep",
        why="the first defect is rarely the only one",
        do_not=(
            _graph("a sweep is done on the files"),
            Barred(item="mission.close", kind="tool", reason="the sweep is open"),
        ),
    ),
    "P11": Rule(
        name="refactor guard",
        when="a refactor has no impact or plan check yet",
        stop_condition="the check is recorded",
        fallback="read the callers directly",
        evidence_required="graph_structural",
        why="an edit reaches further than its file",
        do_not=(Barred(item=_F.EDIT.value, kind="tool_family", reason="what the edit reaches is not known yet"),),
    ),
    "P12": Rule(
        name="docs binding",
        when="a statement of a document is neither bound to code nor listed as unbound",
        stop_condition="every statement is bound or listed as unbound",
        fallback="literal search for the symbol it names",
        evidence_required="doc_bound",
        why="a document drifts by statements, not as a whole",
    ),
    "P13": Rule(
        name="release gate",
        when="a release mission reached its gate and its tests, version or change log were not looked at",
        stop_condition="the gate's events are recorded",
        fallback="list what is missing as gaps",
        evidence_required="direct_test",
        why="readiness is run, not felt",
        do_not=(Barred(item="mission.close", kind="tool", reason="the gate is open"),),
    ),
    "P14": Rule(
        name="budget short of proof",
        when="over 60 percent of the budget is used without direct evidence",
        stop_condition="one direct event",
        fallback="hand over",
        evidence_required="direct_source",
        why="what is left of the budget is needed for proof",
        do_not=(_graph("what is left of the budget is for proof"),),
    ),
    "P15": Rule(
        name="ready to close",
        when="a claim is verified and nothing required is open",
        stop_condition="the proof packet",
        fallback="verify the next claim",
        evidence_required="none",
        why="more work would not prove more",
        do_not=(_graph("the mission is proven"),),
    ),
    "P16": Rule(
        name="default",
        when="no other rule holds",
        stop_condition="one orientation event",
        fallback="list the directory",
        evidence_required="graph_orientation",
        why="one cheap look tells where to read",
    ),
}
