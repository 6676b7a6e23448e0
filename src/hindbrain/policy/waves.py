"""Waves: in which order the operating layer was built, the gates of each, and what a passed gate does not say."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ACCEPTANCE", "CALLS_MOST", "GATES_KEPT", "WAVES", "Needed", "Wave"]

GATES_KEPT = 5  # runs whose evidence stays in the home
CALLS_MOST = 1.2  # of repeated work over the same fixture, how much more a later run may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """One wave: its gates by name, each with what it shows."""

    row: str
    title: str
    gates: Mapping[str, str]
    non_claim: str


WAVES: Mapping[int, Wave] = {
    1: Wave(
        row="AOL-290",
        title="mission kernel",
        gates={
            "kernel_calls": "start, event, next, claim, verify, handoff, resume and close each answer in one mission",
            "earlier_loop": "start, next, verify and close alone carry a mission, and a state of that time is taken in",
            "guard_in_state": "the state of a mission holds the context guard it began with",
            "digest_in_close": "the packet's digest is that of the events, and a changed byte is found",
            "evidence_classes": "no class of evidence proves by its name alone, and an unknown one is refused",
            "adherence": "a bug hunt under mission control goes through every step that is required",
        },
        non_claim="a mission of a script says nothing of how well an agent follows one",
    ),
    2: Wave(
        row="AOL-291",
        title="strategy as a graph",
        gates={
            "light_ingest": "the strategy document is taken in by the adapter light",
            "entity_edges": "MissionKernelV1 leads to EvidenceLedger and BenchmarkGym in one step",
            "literal_search": "a literal search finds the entities in the document",
            "drift_non_claim": "that drift detection is complete is still not claimed",
        },
        non_claim="a document that agrees with its files may still be wrong",
    ),
    3: Wave(
        row="AOL-292",
        title="flight recorder",
        gates={
            "flight_report": "the report has circles, tool counts, direct evidence and the time to the first good finding",
            "flight_stream": "events and flight records stand one a line beside the packet, with the same counts",
            "stays_here": "nothing is exported unless somebody says where to",
        },
        non_claim="what an agent did with its own tools and did not tell is not in a flight record",
    ),
    4: Wave(
        row="AOL-293",
        title="route policy",
        gates={
            "routes": "every mode begins with the route of its table",
            "direct_proof": "a known target is read first, and no graph is asked",
            "graph_stop": "after its one look the short route forbids the next graph call",
            "dissent": "an agent that says why goes its own way",
            "repeated_fixtures": "over repeated fixtures recall does not fall and the calls do not grow by more than a fifth",
        },
        non_claim="three scripted hunts do not tell how another agent fares on another repository",
    ),
    5: Wave(
        row="AOL-294",
        title="recovery",
        gates={
            "stale_runtime": "another build than the expected one is an event of the mission",
            "wrong_workspace": "a mission for another repository is told so at its door, and its way out is a move",
            "missing_tools": "a host without its recovery tools is told to look from a terminal",
            "dead_transport": "a dead transport is answered with commands for a terminal",
            "rebind_non_claim": "no plan and no report claims that a host is bound anew",
        },
        non_claim="no host was restarted for this; only a new handshake shows that one is bound anew",
    ),
    6: Wave(
        row="AOL-295",
        title="hand-over",
        gates={
            "resumed_work": "with the hand-over a second agent repeats at most half as much, and ends the work",
            "dead_paths": "a dead path of the first agent is forbidden to the second until it dissents",
            "parent_and_child": "both missions name each other",
            "no_swarm": "that orchestration is complete is still not claimed",
        },
        non_claim="one relay of two scripts is no measure of many agents",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """One condition of acceptance: which gates show it; none: a recorded round does."""

    row: str
    says: str
    gates: tuple[tuple[int, str], ...] = ()


ACCEPTANCE: Mapping[str, Needed] = {
    "kernel": Needed(row="AOL-298", says="all kernel calls exist", gates=((1, "kernel_calls"),)),
    "guard": Needed(row="AOL-299", says="the context guard is part of the mission state", gates=((1, "guard_in_state"),)),
    "packet": Needed(row="AOL-300", says="the packet has its event digest and direct classes", gates=((1, "digest_in_close"),)),
    "recall": Needed(row="AOL-301", says="on three fixtures mission recall is not worse than trained recall"),
    "handover": Needed(row="AOL-302", says="a resumed mission repeats less work", gates=((6, "resumed_work"), (6, "dead_paths"))),
    "recovery": Needed(
        row="AOL-303",
        says="the four cases of recovery are shown",
        gates=((5, "stale_runtime"), (5, "wrong_workspace"), (5, "missing_tools"), (5, "rebind_non_claim")),
    ),
    "strategy": Needed(
        row="AOL-304",
        says="the strategy is in the graph and can be asked",
        gates=((2, "light_ingest"), (2, "entity_edges"), (2, "literal_search")),
    ),
}
