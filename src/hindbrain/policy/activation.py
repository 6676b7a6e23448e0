"""How a signal spreads in the graph, how edges learn from it, and where the analyses of the graph stop. Numbers only."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "COLUMNS",
    "DIMENSIONS",
    "EXPORT_EDGES",
    "EXPORT_INLINE",
    "GHOST_EDGES",
    "HOLES",
    "IMPACT",
    "LEARNING",
    "LIGHT_WEIGHTS",
    "MERGE",
    "NOISE",
    "PANORAMA",
    "PREDICTION",
    "PROOF",
    "SEEDS",
    "SEMANTIC",
    "SHOWN",
    "SPREAD",
    "TEMPORAL",
    "TRACE",
    "TRUST",
    "Drawn",
    "Spread",
]

# dimension -> weight. What the code says binds most; when it changed is only a hint.
DIMENSIONS: Mapping[str, float] = {"structural": 0.35, "semantic": 0.25, "temporal": 0.15, "causal": 0.25}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far a signal goes."""

    decay: float = 0.55  # of each hop
    threshold: float = 0.04  # a signal at or below it stops
    depth: int = 5  # hops; five times 0.55 is below a twentieth
    saturation: float = 1.0  # a seed carries no more
    inhibition: float = 0.5  # share of a signal that an inhibitory edge takes away
    backward: float = 0.7  # what a cause gets from its effect: less certain than the other way round


SPREAD = Spread()
IMPACT = Spread(threshold=0.01)  # what an edit may break is followed further than what a question is about


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seeds:
    most: int = 200
    per_result: int = 5  # seeds asked for each row that is wanted
    exact: float = 1.0
    prefix: float = 0.9
    tag: float = 0.85
    fuzzy: float = 0.7  # times the similarity
    similar: float = 0.3  # trigram similarity from which a label counts as alike
    covered: float = 0.15  # share of a label that the words of a vague question make up; times 0.7 no seed is below 0.1
    shortest: int = 3  # letters of a word that is looked up
    prefixes: int = 200  # labels that one prefix may bring: more says nothing about any of them
    guessed: int = 8  # words that name nothing for which a label of like spelling is looked for
    words: int = 64  # of a question; a long text says what it is about in its rarest words, and those are kept


SEEDS = _Seeds()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Semantic:
    least: float = 0.1  # cosine below which two names share only chance letters
    most: int = 1000
    common: float = 0.25  # a trigram in more than this share of the labels tells nothing apart,
    few: int = 1000  # unless there are only so many
    grams: int = 64  # of a text that are looked up, the rarest first


SEMANTIC = _Semantic()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Temporal:
    recency: float = 0.6
    frequency: float = 0.4
    half_life_hours: float = 168.0  # a week


TEMPORAL = _Temporal()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merge:
    contributes: float = 0.01  # a dimension above this takes part
    resonance: tuple[tuple[int, float], ...] = ((4, 1.5), (3, 1.3))  # dimensions that agree -> factor
    pagerank: float = 0.1


MERGE = _Merge()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noise:
    """Noise cancelling: what a far and unrelated part of the graph would reach as well says nothing about the question."""

    anti_seeds: int = 3
    immune_hops: int = 2
    degree_ratio: float = 0.3  # an anti-seed has at least this share of the seeds' mean degree
    overlap: float = 0.2  # and shares at most this share of its neighbours with theirs
    density: tuple[float, float] = (0.3, 2.0)  # a hub hears noise from everywhere: it is cancelled by more
    candidates: int = 64  # looked at for an anti-seed


NOISE = _Noise()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ghosts:
    most: int = 10
    among: int = 50  # activated nodes that are compared in pairs
    dimensions: int = 2  # shared ones


GHOST_EDGES = _Ghosts()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holes:
    siblings: float = 0.3  # mean activation of the siblings
    most: int = 20
    family: int = 500  # children of one parent that are looked at: a flat directory of thousands is no module


HOLES = _Holes()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Learning:
    rate: float = 0.08
    decay: float = 0.005  # of edges that leave inactive nodes, per learning query
    lasting: float = 0.15  # bonus or penalty that is given once
    lasting_after: int = 5
    floor: float = 0.05
    cap: float = 3.0
    incoming: float = 5.0  # ceiling of the incoming weights of a node
    structure: float = 1.0  # what one edge of the code itself may add to that ceiling: an often used file is no fault
    kept: float = 0.5  # share of its own weight that an edge of the code keeps however long nobody asks for it
    queries: int = 1000  # remembered
    primed: int = 50
    priming: float = 0.01
    strength: float = 0.2
    forgotten_after: int = 2000  # idle queries; by then every edge has come to rest
    drifts: int = 5000  # weight changes that are remembered


LEARNING = _Learning()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panorama:
    blast: float = 0.5
    centrality: float = 0.3
    churn: float = 0.2
    critical: float = 0.7
    hops: int = 3  # at 0.55 a hop and half weights a signal is below 0.01 after the third
    most: int = 20_000  # files that are compared exactly; beyond, the best connected ones are


PANORAMA = _Panorama()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prediction:
    velocity: float = 0.2  # how much a file that changes often anyway gains
    learned: float = 1.0  # commits that one shared `learn` counts for


PREDICTION = _Prediction()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trust:
    """Defect history: a confirmed defect counts half a unit of risk, a partial match a quarter, a false alarm takes some back."""

    defect: float = 0.5
    partial: float = 0.25
    false_alarm: float = -0.125
    least: float = 0.05
    high_risk: float = 0.4
    medium_risk: float = 0.7


TRUST = _Trust()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace:
    """What makes a frame suspect: being near the crash first of all, then a fresh change, then a bad record."""

    depth: float = 0.6  # divided by the depth
    recency: float = 0.25
    defects: float = 0.15


TRACE = _Trace()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    """How far one answer carries."""

    edit_score: float = 0.85
    edit_margin: float = 0.25
    proving_score: float = 0.45
    proving_margin: float = 0.02


PROOF = _Proof()

# Relations of claims and documents -> (weight, causal strength).
LIGHT_WEIGHTS: Mapping[str, tuple[float, float]] = {
    "contains": (1.0, 0.0),
    "contains_section": (1.0, 0.8),
    "depends_on": (1.0, 0.9),
    "next_binding": (0.95, 0.82),
    "defines_protocol": (1.0, 0.85),
    "has_state": (1.0, 0.85),
    "has_glyph": (1.0, 0.85),
    "has_color": (1.0, 0.85),
    "has_metadata": (1.0, 0.85),
    "grounded_in": (0.8, 0.8),
    "": (0.9, 0.7),  # every other marker of a claim
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    depth: int = 2
    each: int = 12  # neighbours of one node in a terminal
    chains: int = 5
    suggestions: int = 3


SHOWN = _Shown()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """How much of a graph one page draws."""

    nodes: int = 20_000  # beyond, a screen has fewer pixels than there are nodes
    edges: int = 100_000  # most of an answer's bytes: about ten each
    claims: int = 2_000  # claims that stand beside the code they cite


COLUMNS = Drawn()
EXPORT_INLINE = 400_000  # bytes of an export that fit into an answer
EXPORT_EDGES: Mapping[str, int] = {
    "graphml": 500_000,
    "json": 1_000_000,
    "dot": 50_000,
    "svg": 400,  # beyond, no eye follows a line
}
