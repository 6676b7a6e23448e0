"""Adoption: when an outcome is worth recording, what makes its record good, and what must be seen before a default changes."""

from dataclasses import dataclass

from hindbrain.domain.adoption import Signal, Track

__all__ = [
    "ALLOWED_MODES",
    "BASIS_KEY",
    "CANDIDATES",
    "CARD_CONTEXT",
    "DEFAULT_KEY",
    "DEFAULT_MODE",
    "FORBIDDEN_MODES",
    "GATES",
    "HARDENING",
    "ID_PREFIX",
    "LIST_LIMIT",
    "METADATA_MAX",
    "MODE_REQUIREMENTS",
    "NEEDS_ID",
    "OPTIONAL_FIELDS",
    "READINESS",
    "RECORDING_RULE",
    "REQUIRED_FIELDS",
    "ROLLBACK_REQUIREMENTS",
    "SHORT_SURFACES",
    "SIGNALS",
    "SURFACES",
    "TELLING",
    "TEXT_MAX",
    "TRACKS",
    "VERSION",
    "Gate",
    "Mode",
    "Readiness",
    "Surface",
    "TrackGuide",
]

VERSION = 1  # of the guidance and of the instrumentation policy; grows when their meaning does

ID_PREFIX = "adoption_"
LIST_LIMIT = 50
TEXT_MAX = 4_000  # characters of a note or a question: an outcome in a few sentences, not a transcript
METADATA_MAX = 16_000  # bytes of JSON

# -- when to record --------------------------------------------------------------------------------------------------

RECORDING_RULE = "Record what really happened at run time, after it happened. Never what might help, was planned or is hoped for."

REQUIRED_FIELDS = ("track", "signal", "feature")
OPTIONAL_FIELDS = ("id", "query", "context_hash", "card_id", "evaluator_id", "research_report_id", "note", "metadata")

SIGNALS: dict[Signal, str] = {
    Signal.USED: "the guidance was read and went into the work",
    Signal.ACCEPTED: "it helped: the work went better because of it",
    Signal.REJECTED: "it was weighed and deliberately not followed",
    Signal.MISS: "guidance that would have helped exists or should exist, and did not appear",
    Signal.ROLLBACK: "the guidance made things worse and what it changed was taken back",
    Signal.CONTRADICTION: "it disagreed with stronger evidence or with an instruction",
    Signal.NEUTRAL: "it was read and made no difference one can name",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackGuide:
    """When an outcome belongs to a track, and what its features are usually called."""

    when: str
    examples: tuple[str, ...]


TRACKS: dict[Track, TrackGuide] = {
    Track.RUNTIME_ADOPTION: TrackGuide(
        when="memory changed how an agent worked in general", examples=("context_pack", "skill_selection")
    ),
    Track.CARD_CONTEXT: TrackGuide(when="a card in a context changed what was done, or should have", examples=("include_cards",)),
    Track.CARD_EMBEDDING: TrackGuide(
        when="a card was not found by the evidence it cites, though its statement fits the question",
        examples=("card_statement_recall",),
    ),
    Track.EVALUATOR: TrackGuide(when="an evaluator's advice changed a decision about a card", examples=("advisory_gate",)),
    Track.RESEARCH_ADAPTER: TrackGuide(
        when="checking or planning the intake of a research report changed what was done",
        examples=("research_validate_plan", "research_ingest_plan"),
    ),
}

# -- what a good record has ------------------------------------------------------------------------------------------

# These say that something went well or badly: without a note or a question nobody can tell later what.
TELLING = frozenset((Signal.ACCEPTED, Signal.REJECTED, Signal.MISS, Signal.ROLLBACK, Signal.CONTRADICTION))

# What a record of a track is about; without it the outcome cannot be tied to its cause.
NEEDS_ID: dict[Track, str] = {
    Track.CARD_CONTEXT: "card_id",
    Track.CARD_EMBEDDING: "card_id",
    Track.EVALUATOR: "evaluator_id",
    Track.RESEARCH_ADAPTER: "research_report_id",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """Where an outcome was seen, as people say it, and what it is recorded under."""

    track: Track
    feature: str


SURFACES: dict[str, Surface] = {
    "card-context": Surface(track=Track.CARD_CONTEXT, feature="include_cards"),
    "card-embedding": Surface(track=Track.CARD_EMBEDDING, feature="card_statement_recall"),
    "research-adapter": Surface(track=Track.RESEARCH_ADAPTER, feature="research_ingest_plan"),
    "evaluator": Surface(track=Track.EVALUATOR, feature="advisory_gate"),
    "runtime-context": Surface(track=Track.RUNTIME_ADOPTION, feature="context_pack"),
    "skill-selection": Surface(track=Track.RUNTIME_ADOPTION, feature="skill_selection"),
}

SHORT_SURFACES = {"context": "card-context"}

# -- what must be seen -----------------------------------------------------------------------------------------------

HARDENING = 3  # accepted outcomes of one feature from which it is worth making part of a workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What the outcomes of a track must show before work on a candidate is worth starting. It opens nothing by itself."""

    track: Track
    signal: Signal
    least: int
    none_of: tuple[Signal, ...]
    balanced: bool = False  # not rejected more often than accepted
    why: str


GATES: dict[str, Gate] = {
    "card-context-default": Gate(
        track=Track.CARD_CONTEXT,
        signal=Signal.ACCEPTED,
        least=3,
        none_of=(Signal.ROLLBACK,),
        balanced=True,
        why="cards helped more than once and never had to be taken back",
    ),
    "card-embeddings": Gate(
        track=Track.CARD_EMBEDDING,
        signal=Signal.MISS,
        least=3,
        none_of=(Signal.ROLLBACK,),
        why="finding cards by their evidence fails often enough to pay for vectors; evidence stays what is cited",
    ),
    "evaluator-api": Gate(
        track=Track.EVALUATOR,
        signal=Signal.ACCEPTED,
        least=3,
        none_of=(Signal.ROLLBACK, Signal.CONTRADICTION),
        why="advice was right each time; it stays advice and gains no authority",
    ),
    "research-adapter": Gate(
        track=Track.RESEARCH_ADAPTER,
        signal=Signal.ACCEPTED,
        least=1,
        none_of=(Signal.CONTRADICTION, Signal.ROLLBACK),
        why="one report that was taken in and held up shows that the way works",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What must be seen of one feature before it may become a default. Stricter than its gate."""

    track: Track
    feature: str
    accepted: int
    none_of: tuple[Signal, ...]


CARD_CONTEXT = "card-context"
READINESS: dict[str, Readiness] = {
    "card-context-default": Readiness(
        track=Track.CARD_CONTEXT, feature="include_cards", accepted=3, none_of=(Signal.ROLLBACK, Signal.CONTRADICTION)
    )
}
# Both names of the one default there is, as gates and as people call it.
CANDIDATES: dict[str, str] = {"card-context": "card-context-default", "card-context-default": "card-context-default"}

DEFAULT_KEY = "context.include_cards_default"
BASIS_KEY = "context.include_cards_basis"

# -- how outcomes may be observed ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A way of observing outcomes that is allowed."""

    description: str
    execute: bool
    checked: bool


DEFAULT_MODE = "manual_only"
ALLOWED_MODES: dict[str, Mode] = {
    "manual_only": Mode(
        description="somebody who saw an outcome records it, by a checked capture or a checked record",
        execute=False,
        checked=True,
    ),
    "opt_in_wrapper": Mode(
        description="one command is wrapped by hand; its end is captured and kept only when that was asked for",
        execute=True,
        checked=True,
    ),
}
FORBIDDEN_MODES = ("implicit_background_capture", "silent_event_append", "quality_gate_bypass")
MODE_REQUIREMENTS = (
    "opt-in: nothing is observed unless somebody asked for it",
    "opt-out: the setting adoption = false stops every write of outcomes, and reports go on working",
    "preserved identifiers: surface, outcome, card, evaluator, report and context are kept as they were given",
    "checked writes: outcomes are written by a checked capture or a checked record only",
    "criteria before default-on: how to notice that it fails is written down before a default is proposed",
)
ROLLBACK_REQUIREMENTS = (
    "rollback signals: whoever sees behaviour get worse records the signal rollback",
    "the criteria that were given with a default are kept beside it and shown with it",
    "taking a default back needs such an outcome and a person; it deletes no outcome",
)
