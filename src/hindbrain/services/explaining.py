"""Explaining: why each row of a first answer stands where it does, what was found and not told, and what it costs.

A trace is carried along where somebody asks why; who does not ask pays nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hindbrain.engines.fence import fenced, tokens
from hindbrain.engines.retrieval import Scored
from hindbrain.policy.recall import EXPLAINED_ROWS, WEIGHTS
from hindbrain.services.rendering import known_text, row_text
from hindbrain.services.routing import Gap

__all__ = [
    "BELOW_FLOOR",
    "NOTHING_RELEVANT",
    "REPEATS",
    "WAITS",
    "Trace",
    "Tried",
    "boosts_of",
    "evidence_tried",
    "explained",
    "ranks",
]

Told = dict[str, Any]
BELOW_FLOOR = "below_floor"  # too little of it is about the task
OVER_LIMIT = "over_limit"  # better rows of the same kind took the places
BUDGET = "budget"  # the text of the answer has no room for it
WAITS = "waits_for_demotion"  # it was graded wrong, and a person decides
REPEATS = "repeats"  # a better row says the same, or is of the same message
NOTHING_RELEVANT = "nothing_relevant"  # taken together, nothing found is about the task


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One candidate of a brain, and what became of it."""

    kind: str
    id: str
    brain: str
    label: str
    score: float | None
    ways: Mapping[str, Mapping[str, float] | None]
    parts: Mapping[str, float]
    boosts: Sequence[Mapping[str, Any]] = ()
    out: str | None = None  # why it is not among the rows

    def told(self) -> Told:
        return {
            "kind": self.kind,
            "id": self.id,
            "label": self.label,
            "brain": self.brain,
            "score": self.score,
            "ways": dict(self.ways),
            "parts": {name: round(part, 4) for name, part in self.parts.items()},
            "boosts": list(self.boosts),
        }


@dataclass(slots=True)
class Trace:
    """What was tried for one question, by kind and brain; another try of a brain takes the place of the one before."""

    tried: dict[tuple[str, str], list[Tried]] = field(default_factory=dict)
    served: dict[str, Told] = field(default_factory=dict)

    def put(self, kind: str, brain: str, found: list[Tried]) -> None:
        self.tried[kind, brain] = found

    def was_served(self, brain: str, *, by_meaning: bool, pending: int, gaps: Sequence[Gap] = ()) -> None:
        by = "words and meaning" if by_meaning else "words"
        self.served[brain] = {"brain": brain, "by": by, "pending": pending} | ({"why": gaps[0]["text"]} if gaps else {})

    def of(self, kind: str, brain: str, id_: str) -> Tried | None:
        return next((one for one in self.tried.get((kind, brain), ()) if one.id == id_), None)


def ranks(scores: Mapping[int, float]) -> dict[int, dict[str, float]]:
    """Each row's place and score in one way of finding, the best first."""
    ordered = sorted(scores.items(), key=lambda one: (-one[1], -one[0]))
    return {turn: {"rank": place, "score": round(score, 4)} for place, (turn, score) in enumerate(ordered, start=1)}


def boosts_of(*, verified: bool, stale: bool, graded_wrong: bool) -> list[Told]:
    """What is known of a claim itself, as it was added to its score."""
    known = (
        ("verified", verified, WEIGHTS.verified),
        ("stale", stale, WEIGHTS.stale),
        ("graded_wrong", graded_wrong, WEIGHTS.graded_wrong),
    )
    return [{"name": name, "added": weight} for name, true, weight in known if true]


def evidence_tried(
    brain: str,
    scored: Sequence[Scored],
    names: Mapping[int, str],
    by: Mapping[str, Mapping[int, Mapping[str, float]]],
    out: Mapping[int, str],
) -> list[Tried]:
    """Candidates of evidence as they were scored, if they are still there. `out` says why one is not among the rows."""
    found = []
    for one in scored:
        turn = one.candidate.turn
        if (name := names.get(turn)) is None:
            continue
        ways: dict[str, Mapping[str, float] | None] = {name: known.get(turn) for name, known in by.items()}
        found.append(
            Tried(
                kind="evidence",
                id=name,
                brain=brain,
                label=name,
                score=one.score,
                ways=ways,
                parts=one.parts._asdict(),
                out=out.get(turn),
            )
        )
    return found


# -- the explanation -------------------------------------------------------------------------------------------------


def explained(answer: Mapping[str, Any], trace: Trace, *, instincts: Sequence[str], budget: int) -> Told:
    """What an answer of `north` shows and what it does not, with the reason and the price of each."""
    rows = [*_cards(answer), *_instincts(answer, instincts), *_claims(answer, trace), *_evidence(answer, trace)]
    places = [_place(row) for row in answer.get("anchors", ())]
    fit = len(rows) - int(answer.get("left_out", 0))
    shown = [*rows[:fit], *places]
    for rank, row in enumerate(shown, start=1):
        row |= {"rank": rank, "shown": True}
    told = {(row["kind"], row["brain"], row["id"]) for row in rows}
    over = [row | {"shown": False, "why": BUDGET} for row in rows[fit:]]
    rest = [
        one.told() | {"shown": False, "why": one.out or OVER_LIMIT, "tokens": None, "rank": None}
        for found in trace.tried.values()
        for one in found
        if (one.kind, one.brain, one.id) not in told
    ]
    rest.sort(key=lambda row: -(row["score"] or 0.0))
    return {
        "tokens": tokens(str(answer.get("rendered", ""))),
        "budget": budget,
        "left_out": len(over) + len(rest),
        "rows": shown,
        "left_out_rows": [*over, *rest][:EXPLAINED_ROWS],
        "served": list(trace.served.values()),
    }


def _priced(kind: str, id_: str, label: str, brain: str, text: str, why: str, tried: Tried | None, score: float | None) -> Told:
    found = tried.told() if tried is not None else {"ways": {}, "parts": {}, "boosts": []}
    cost = tokens(fenced(text))
    return {**found, "kind": kind, "id": id_, "label": label, "brain": brain, "score": score, "why": why, "tokens": cost}


def _claims(answer: Mapping[str, Any], trace: Trace) -> list[Told]:
    found = []
    for row in answer.get("memory", ()):
        tried = trace.of("claim", row["store_brain"], row["slug"])
        why = str(row["match"])
        found.append(_priced("claim", row["slug"], row["claim"], row["store_brain"], row_text(row), why, tried, row["score"]))
    return found


def _evidence(answer: Mapping[str, Any], trace: Trace) -> list[Told]:
    found = []
    for row in answer.get("evidence", ()):
        id_, brain = row["evidence_id"], row["store_brain"]
        tried = trace.of("evidence", brain, id_)
        found.append(_priced("evidence", id_, row["source_file"] or id_, brain, row_text(row), "task", tried, row["score"]))
    return found


def _cards(answer: Mapping[str, Any]) -> list[Told]:
    return [
        _priced("card", item["id"], item["text"][:120], item.get("brain", ""), known_text(item), "task", None, item.get("score"))
        for item in answer.get("knowledge", ())
    ]


def _instincts(answer: Mapping[str, Any], texts: Sequence[str]) -> list[Told]:
    rows = [row for kind in (answer.get("instincts") or {}).values() for row in kind]
    return [
        _priced("instinct", (row["megram_ids"] or [""])[0], f"{row['space']} / {row['entity']}", "", text, "task", None, None)
        | {"parts": {"attention": round(row["attention"], 4), "decision": round(row["decision"], 4)}}
        for row, text in zip(rows, texts, strict=False)
    ]


def _place(row: Mapping[str, Any]) -> Told:
    text = "\n".join([str(row["label"]), str(row.get("excerpt") or "")])
    return _priced("code", str(row["node_id"]), str(row["label"]), "", text, "task", None, row.get("score"))
