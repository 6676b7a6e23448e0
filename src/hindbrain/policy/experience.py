"""Experience: how strongly each state counts when it becomes a megram, how fast that fades, and from which sums on it advises,
hardens into a rule, loses its trust or is forgotten. Each number with its reason; `engines` reads them."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.domain.errors import InvalidParams

__all__ = [
    "ACTIONS",
    "BANKRUPTCY",
    "CATEGORIES",
    "CLOSING_S",
    "DECAYS",
    "DECLARED",
    "DISSONANCE",
    "DREAM_EVERY_S",
    "DREAM_SETTLE_S",
    "FEEDBACK",
    "GLOBAL_ENTITY",
    "GLOBAL_SPACE",
    "GLOBAL_TAGS",
    "HYPOTHESES_MOST",
    "HYPOTHESIS",
    "HYPOTHESIS_SPACE",
    "HYPOTHESIS_TOOLS",
    "KEEP_SPENT_DAYS",
    "LAWS",
    "LAW_SPACE",
    "PROMOTION",
    "PROMOTION_K",
    "QUANTA",
    "RESERVED",
    "RULE_STATES",
    "SOURCES_TOLD",
    "STANDING_MOST",
    "THINKING",
    "Actions",
    "Law",
    "Promotion",
    "Quantum",
    "Rules",
    "Threshold",
    "Tried",
    "law_lines",
    "quantized",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantum:
    """How much attention a state draws, which way it points, and its decay per day."""

    f: float
    sigma: float
    k: float
    why: str


QUANTA: Mapping[str, Quantum] = {
    "abandon": Quantum(f=0.95, sigma=-1.0, k=0.05, why="what ended a task in vain is not to be tried again"),
    "accept": Quantum(f=0.90, sigma=1.0, k=0.05, why="a way on which nothing was missing"),
    "change_approach": Quantum(f=0.85, sigma=-1.0, k=0.05, why="the wrong kind of tool for this"),
    "success": Quantum(f=0.80, sigma=1.0, k=0.05, why="good enough, and worth repeating"),
    "break_symmetry": Quantum(f=0.75, sigma=1.0, k=0.05, why="what worked after nothing had moved"),
    "change_path": Quantum(f=0.30, sigma=0.0, k=0.2, why="a dead end says nothing against the tool"),
    "refine": Quantum(f=0.10, sigma=0.5, k=0.5, why="a small correction, soon forgotten"),
}

DISSONANCE = Quantum(f=0.9, sigma=1.0, k=0.05, why="a task ended well against a rule; its sign is opposite to the rule's")

FEEDBACK = "negative_feedback"  # what is said against a rule; f is the rule's own, its sign the opposite
DECLARED = Quantum(f=1.0, sigma=1.0, k=0.0, why="a person said so; it stands until experience speaks against it")
HYPOTHESIS = Quantum(f=0.3, sigma=0.0, k=0.2, why="a guess draws a little attention, points nowhere and soon fades")

HYPOTHESIS_SPACE = "hypothesis:tools"  # apart from all that was experienced: a guess changes no advice
HYPOTHESIS_TOOLS = 4  # tools of one combination; more is no plan any more
HYPOTHESES_MOST = 3  # of one cycle: a person reads them

# State names that mean one thing only. A hypothesis is no rule and never becomes one.
RESERVED: Mapping[str, Quantum] = {"hypothesis": HYPOTHESIS}

DECAYS = (0.0, 0.05, 0.2, 0.5)  # per day: never, half in about 14 days, in 3.5, in 1.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """From which sums on a pair advises something."""

    attention: float
    decision: float
    why: str


ACTIONS = Actions(attention=0.5, decision=0.2, why="one clear outcome of the last two weeks is heard; a near tie asks for care")


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Both sums that a group must reach; the sign of `decision` says which way."""

    attention: float
    decision: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """What hardens into a rule: the sums for a best practice and those for a constraint."""

    prefer: Threshold
    avoid: Threshold
    why: str


PROMOTION = Promotion(
    prefer=Threshold(attention=5.0, decision=3.0),
    avoid=Threshold(attention=5.0, decision=-3.0),
    why="about six agreeing outcomes within days: chance does not repeat itself so often",
)
CATEGORIES: Mapping[str, Promotion] = {
    "fact": Promotion(
        prefer=Threshold(attention=1.5, decision=1.0), avoid=PROMOTION.avoid, why="a fact that held twice is known"
    ),
    "procedure": PROMOTION,
    "constraint": Promotion(
        prefer=PROMOTION.prefer, avoid=Threshold(attention=3.0, decision=-2.0), why="harm needs fewer repetitions than habit"
    ),
}
PROMOTION_K = 0.0  # a rule does not fade
BANKRUPTCY = 0.05  # decay of a rule that lost its trust: it fades like any strong outcome
KEEP_SPENT_DAYS = 30  # episodes that a rule carries are kept so long, to look behind it
DREAM_EVERY_S = 300.0  # seconds between cycles when nothing calls for one
DREAM_SETTLE_S = 0.05  # after the last result of a burst
CLOSING_S = 2.0  # that the last cycle may take
SOURCES_TOLD = 10  # newest texts of a group that are shown to whoever words its rule

RULE_STATES = {1: "best_practice", -1: "constraint"}
GLOBAL_SPACE, GLOBAL_ENTITY = "global:user", "env:local"  # what holds for every task
GLOBAL_TAGS = ("persona", "user-preference", "environment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How much a rule must have stood."""

    recalls: int
    days: int
    why: str


THINKING = Tried(
    recalls=10, days=30, why="a month of use, often: then it may be worth a person's thought; it is never more by itself"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a brain's settings choose among all this."""

    categories: frozenset[str] = frozenset({"fact"})  # whose own thresholds are in force
    two_stage: bool = False  # one success is task knowledge at once, two make a rule
    keep_days: int = KEEP_SPENT_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """What no experience overrules. A rule that asks for a breach, or warns of a duty, is kept and not followed."""

    number: int
    name: str
    text: str
    breaches: tuple[str, ...]  # regular expressions, read without case
    duties: tuple[str, ...]


STANDING_MOST = 100  # entries at level T that are read for a system prompt, the laws among them
LAW_SPACE = "law:hindbrain"  # where the laws stand among what was experienced
LAWS: tuple[Law, ...] = (
    Law(
        number=0,
        name="truth",
        text="Say what happened. What is reported, remembered and given as the cause of a failure is what was seen; an easier "
        "goal is never handed over as the one that was asked for.",
        breaches=(
            r"\b(report|claim|say|pretend|mark)\b[^.]*\b(success|succeeded|done|passed|passing)\b[^.]*"
            r"\b(although|even (if|when|though)|without|regardless|anyway)\b",
            r"\b(hide|conceal|invent|make up|fabricate|fake)\b[^.]*\b(failure|error|result|output|evidence|test)s?\b",
        ),
        duties=(r"\b(report|admit|tell|name)\w*\b[^.]{0,30}\b(failure|error|truth|gap)s?\b",),
    ),
    Law(
        number=1,
        name="no harm",
        text="Delete, overwrite, send or reconfigure only after a person allowed this very action; leave for one is no leave for "
        "the next.",
        breaches=(
            r"\b(skip|bypass|ignore|disable|without|never)\b[^.]{0,40}\b(confirmations?|permission|approval|asking)\b",
            r"\b(delete|remove|overwrite|wipe|send|reset)\b[^.]*\bwithout\b[^.]*\b(a word|consent|question)\b",
        ),
        duties=(r"\b(ask|wait)\w*\b[^.]{0,30}\b(confirmation|permission|approval|leave)\b",),
    ),
    Law(
        number=2,
        name="best effort",
        text="Within the first two laws, use the whole budget of attempts and plans, and stop when two rounds in a row made it "
        "worse.",
        breaches=(
            r"\b(give up|abandon|stop)\b[^.]*\b(at once|immediately|before trying|first failure|first error)\b",
            r"\bkeep (trying|going|retrying)\b[^.]*\b(forever|endlessly|no matter|whatever)\b",
        ),
        duties=(r"\b(try|trying)\b[^.]{0,20}\b(again|another (way|approach))\b",),
    ),
    Law(
        number=3,
        name="stay able",
        text="Stop what runs away, keep context and calls within bounds, and never remember a wrong cause of a failure.",
        breaches=(
            r"\b(ignore|exceed|raise|disable|bypass)\b[^.]*\b(limit|budget|time-?out|cap|bound)s?\b",
            r"\b(ignore|disregard|override|overrule)\b[^.]*\b(laws?|rules? of the house|instructions)\b",
        ),
        duties=(r"\b(keep|stay|respect)\w*\b[^.]{0,30}\b(limit|budget|time-?out|bound)s?\b",),
    ),
)


def law_lines() -> tuple[str, ...]:
    """The laws as lines of a system prompt; every prompt of a role begins with them."""
    return tuple(f"Law {law.number} ({law.name}): {law.text}" for law in LAWS)


def quantized(state: str) -> tuple[float, float, float]:
    """f, sigma and k of a state. A state that is not in the table needs numbers of its own."""
    quantum = QUANTA.get(state)
    if quantum is None:
        raise InvalidParams(
            f"the state {state!r} has no numbers", fix="Give f, sigma and k, or one of: " + ", ".join(QUANTA) + "."
        )
    return quantum.f, quantum.sigma, quantum.k
