"""Cards: what each rank means and asks for, and how much of them a context takes. One table feeds every gate."""

from dataclasses import dataclass

from hindbrain.domain.card import Rank, Role, Status

__all__ = [
    "CONTEXT_DAO_TIAN",
    "CONTEXT_ITEMS",
    "DISTILL_ROWS",
    "DISTILL_SAMPLES",
    "DISTILL_SUGGESTIONS",
    "EVIDENCE_TOP_K",
    "EXCERPT_TOKENS",
    "GATES",
    "LEXICAL_FLOOR",
    "LEXICAL_SHARE",
    "MEANINGS",
    "NORTH_CARDS",
    "RAISES",
    "RELEVANCE_DIGITS",
    "RETRIEVE_TOP_K",
    "SELF_REPORT",
    "Gate",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a card must cite to gain a status. A counterexample closes every gate, unless a person lets it pass."""

    target: Status
    supporting: int
    verification: int
    teaching: int
    reviewer: bool
    why: str

    def needs(self) -> tuple[tuple[Role, int], ...]:
        return (
            (Role.SUPPORTING, self.supporting),
            (Role.VERIFICATION, self.verification),
            (Role.TEACHING, self.teaching),
        )


# Thresholds never fall on the way up: each rank is rarer, better supported and reviewed more strictly than the one below.
GATES: dict[Rank, Gate] = {
    Rank.DAO_TIAN: Gate(
        target=Status.CANONICAL,
        supporting=3,
        verification=2,
        teaching=1,
        reviewer=True,
        why="a universal law is rare, taught by a person, and never self-granted",
    ),
    Rank.DAO_REN: Gate(
        target=Status.PROMOTED,
        supporting=2,
        verification=1,
        teaching=0,
        reviewer=False,
        why="a law of a field is seen twice and checked once",
    ),
    Rank.SHU: Gate(
        target=Status.PROMOTED,
        supporting=1,
        verification=1,
        teaching=0,
        reviewer=False,
        why="a method was seen to work and checked again",
    ),
    Rank.QI: Gate(
        target=Status.PROMOTED,
        supporting=1,
        verification=1,
        teaching=0,
        reviewer=False,
        why="a tool's behaviour was seen and checked again",
    ),
}

MEANINGS: dict[Rank, str] = {
    Rank.DAO_TIAN: "universal law across fields, the most stable: a view of the world",
    Rank.DAO_REN: "law of one field: judgement in it",
    Rank.SHU: "reusable method or workflow: how to go about it",
    Rank.QI: "concrete tool, command or interface: the means",
}

# From what a rank is raised, and what the step up needs beside it. One step a call.
RAISES: dict[Rank, Rank] = {Rank.SHU: Rank.QI, Rank.DAO_REN: Rank.SHU, Rank.DAO_TIAN: Rank.DAO_REN}

SELF_REPORT = "self-report"  # what the system says about its own knowledge verifies nothing

CONTEXT_ITEMS = 12
CONTEXT_DAO_TIAN = 1
RETRIEVE_TOP_K = 5
EXCERPT_TOKENS = 30  # of each row that an act copies out of its project: enough to recognise it
EVIDENCE_TOP_K = 20

# A card is about a question when it has this share of the question's weight in its words, and this share of what the best card
# has: one common word of a short question is enough, one of a long one is chance.
LEXICAL_FLOOR = 0.1
LEXICAL_SHARE = 0.3
RELEVANCE_DIGITS = 1
NORTH_CARDS = 4  # of a first answer: a law at most, then methods and tools

# A subject with so many observations and no knowledge is worth distilling; so many are named, each with so many rows.
DISTILL_ROWS = 5
DISTILL_SUGGESTIONS = 3
DISTILL_SAMPLES = 3
