"""Maintenance: the loop by which memory is kept healthy, step by step. A checklist for people and agents, not a scheduler."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["STEPS", "TITLE", "TOPICS", "Need", "Step", "Topic"]

TITLE = "Keeping memory healthy"


class Need(StrEnum):
    """What must be there for a step to make sense, as the reason why it does not."""

    BRAIN = "no brain covers this directory yet"
    EVIDENCE = "there is no evidence yet"
    CANDIDATE = "there is no candidate card"
    CARD = "there is no card yet"
    OUTCOME = "no outcome was recorded yet"
    AGENTS = "no agents are registered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `words` are typed as they stand, apart from words in capitals. None of them gives a card its status."""

    topic: str
    purpose: str
    operation: str
    words: str = ""
    writes: bool = False
    needs: tuple[Need, ...] = ()

    @property
    def command(self) -> str:
        return f"hindbrain {self.operation.replace('.', ' ')} {self.words}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One part of the loop, with what to keep in mind and what to type."""

    name: str
    text: str
    steps: tuple[Step, ...]


_DISTILL = (
    "--statement 'WHAT HOLDS' --content 'WHY IT HOLDS AND WHERE NOT' --tier qi --supporting-refs EVIDENCE_ID --field research"
)
_VALIDATE = Step(
    topic="research validation",
    purpose="see whether a report can be taken in",
    operation="research.validate",
    words="REPORT.json",
)
_PREVIEW = Step(
    topic="research ingest",
    purpose="see which rows of evidence it would give",
    operation="research.ingest",
    words="REPORT.json",
    needs=(Need.BRAIN,),
)
_INGEST = Step(
    topic="research ingest",
    purpose="keep its findings as evidence",
    operation="research.ingest",
    words="REPORT.json --execute",
    writes=True,
    needs=(Need.BRAIN,),
)
_MAKE = Step(
    topic="distill",
    purpose="make a candidate of evidence, in your own words",
    operation="knowledge.distill",
    words=_DISTILL,
    writes=True,
    needs=(Need.BRAIN, Need.EVIDENCE),
)
_GATE = Step(
    topic="card gates",
    purpose="see what a candidate lacks",
    operation="knowledge.gate",
    words="CARD_ID",
    needs=(Need.BRAIN, Need.CANDIDATE),
)
_CONTEXT = Step(
    topic="context use and adoption",
    purpose="work with what is known, cards included",
    operation="context",
    words="'WHAT YOU ARE ABOUT TO DO' --include-cards",
    needs=(Need.BRAIN, Need.CARD),
)
_CAPTURE_OUTCOME = Step(
    topic="context use and adoption",
    purpose="record what came of it, after it happened",
    operation="adoption.capture",
    words="--surface card-context --outcome used --card-id CARD_ID --note 'WHAT HAPPENED' --execute",
    writes=True,
    needs=(Need.BRAIN, Need.CARD),
)
_REVIEW = Step(
    topic="adoption review",
    purpose="see how guidance turned out",
    operation="adoption.review",
    needs=(Need.BRAIN, Need.OUTCOME),
)
_PROPOSE = Step(
    topic="adoption review",
    purpose="see whether outcomes speak for a default; a person changes it",
    operation="defaults.propose",
    words="card-context",
    needs=(Need.BRAIN, Need.OUTCOME),
)
_ROLLBACK = Step(
    topic="rollback",
    purpose="see whether outcomes speak against a default",
    operation="defaults.rollback",
    words="card-context",
    needs=(Need.BRAIN, Need.OUTCOME),
)
_BUS_DOCTOR = Step(
    topic="cowork handoff", purpose="check the agents and their messages", operation="cowork.doctor", needs=(Need.AGENTS,)
)
_HANDOFF = Step(
    topic="cowork handoff", purpose="sum up what is open between agents", operation="cowork.handoff", needs=(Need.AGENTS,)
)
_CAPTURE = Step(
    topic="explicit capture",
    purpose="store the handoff between agents as evidence",
    operation="cowork.capture",
    words="--execute",
    writes=True,
    needs=(Need.BRAIN, Need.AGENTS),
)

STEPS: tuple[Step, ...] = (
    _VALIDATE,
    _PREVIEW,
    _INGEST,
    _MAKE,
    _GATE,
    _CONTEXT,
    _REVIEW,
    _ROLLBACK,
    _BUS_DOCTOR,
    _HANDOFF,
    _CAPTURE,
)

# Outcomes are recorded and reviewed before anything is said about a default: measure first.
TOPICS: tuple[Topic, ...] = (
    Topic(name="research validation", text="A report of a research tool is looked at before it comes in.", steps=(_VALIDATE,)),
    Topic(
        name="research ingest",
        text="Its findings become evidence, each with its sources. What it concludes stays a suggestion.",
        steps=(_PREVIEW, _INGEST),
    ),
    Topic(name="distill", text="A candidate says what follows from evidence and where it does not hold.", steps=(_MAKE,)),
    Topic(
        name="card gates",
        text="A gate tells what is missing. Passing it changes nothing: a person or an operator's command does.",
        steps=(_GATE,),
    ),
    Topic(
        name="context use and adoption",
        text="Use what is known, then record what really came of it.",
        steps=(_CONTEXT, _CAPTURE_OUTCOME),
    ),
    Topic(
        name="adoption review",
        text="Look at the outcomes before any default is touched. A proposal changes nothing.",
        steps=(_REVIEW, _PROPOSE),
    ),
    Topic(name="rollback", text="When outcomes speak against a default, it is taken back.", steps=(_ROLLBACK,)),
    Topic(name="cowork handoff", text="An agent that hands work over shows what is open.", steps=(_BUS_DOCTOR, _HANDOFF)),
    Topic(name="explicit capture", text="Messages between agents become evidence only on request.", steps=(_CAPTURE,)),
)
