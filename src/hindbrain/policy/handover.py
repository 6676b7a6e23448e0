"""Hand-over tables: how long one is trusted, how long its summary is, and what it does not claim."""

from hindbrain.domain.mission import EventType, Family

__all__ = ["AGE_HOURS", "COUNTED", "NON_CLAIMS", "REDUCTION", "SUMMARY_CHARS"]

AGE_HOURS = 72  # results of runs and answers of a graph are asked again after a long weekend; a file is known by its digest
SUMMARY_CHARS = 1200  # a page of a terminal: the lists say the rest
REDUCTION = 0.5  # of the share of repeated work, below which a hand-over is not worth its reading

# What counts when work is compared with work that was done before.
COUNTED: dict[EventType, Family] = {
    EventType.FILE_READ: Family.DIRECT_READ,
    EventType.DIR_LIST: Family.DIRECT_READ,
    EventType.DIFF_READ: Family.DIRECT_READ,
    EventType.LITERAL_SEARCH: Family.LITERAL_SEARCH,
    EventType.SEMANTIC_SEARCH: Family.GRAPH,
    EventType.GRAPH_QUERY: Family.GRAPH,
    EventType.AUDIT: Family.GRAPH,
    EventType.IMPACT: Family.GRAPH,
    EventType.TEST_RUN: Family.TEST,
}

NON_CLAIMS = (
    "a hand-over keeps work from being done twice; it starts, schedules and watches no agent",
    "no autonomous swarm of agents is claimed",
    "an inherited claim is not verified for the mission that inherits it",
)
