"""Letters of the tour: what went wrong and well over three weeks, what was answered, and a case that guards against one."""

from dataclasses import dataclass, field
from typing import Any

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["SCENES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Letter:
    day: float
    repository: str
    agent: str
    about: str
    what: str
    name: str = ""
    more: dict[str, Any] = field(default_factory=dict)


_CONFUSED = "memory_misdelivery"
_LETTERS = (
    _Letter(day=0.7, repository=HARBOR, agent="codex:agent", about="friction",
            what="Two agents changed orders.py in the same hour.",
            more={"tool": "cowork.reserve"}),
    _Letter(day=1.9, repository=HARBOR, agent="claude-code:agent", about=_CONFUSED, name="letter-absence",
            what="north told of no memory about retries although there is a claim.",
            more={"kind": "false_absence", "tool": "north", "expected": "the claim Retry policy"}),
    _Letter(day=4.9, repository=TIDE, agent="cursor:agent", about=_CONFUSED, name="letter-leak",
            what="A question in the client brought up a claim of the shop that nobody shared.",
            more={"kind": "leak", "tool": "seek"}),
    _Letter(day=6.4, repository=HARBOR, agent="gemini:reviewer", about="bug", name="letter-bug",
            what="The answer of impact names a file that was renamed.", more={"tool": "impact",
            "snippet": "src/harbor/queue.py"}),
    _Letter(day=8.8, repository=HARBOR, agent="codex:agent", about=_CONFUSED, name="letter-author",
            what="A claim of claude-code was shown as mine.", more={"kind": "misattribution", "tool": "seek"}),
    _Letter(day=9.9, repository=TIDE, agent="claude-code:agent", about="win",
            what="The packet told the child what it must not touch. It did not."),
    _Letter(day=12.4, repository=TIDE, agent="codex:agent", about="honesty",
            what="I said that the tests pass before I had run them.", name="letter-honesty"),
    _Letter(day=13.2, repository=HARBOR, agent="claude-code:agent", about=_CONFUSED, name="letter-vanished",
            what="A claim that I wrote yesterday was not there today.", more={"kind": "vanished", "tool": "history"}),
    _Letter(day=16.9, repository=HARBOR, agent="cursor:agent", about="friction", name="letter-external",
            what="The editor loses the terminal after an hour.", more={"external": True, "tool": "editor"}),
    _Letter(day=18.9, repository=HARBOR, agent="codex:agent", about=_CONFUSED, name="letter-open",
            what="What I wrote about the client went into the brain of the shop.",
            more={"kind": "wrong_store_write", "tool": "memorize"}),
    _Letter(day=19.6, repository=TIDE, agent="claude-code:agent", about="idea", name="letter-medulla",
            what="A beat could say how old its oldest row is.", more={"brain": "medulla"}),
    _Letter(day=20.4, repository=TIDE, agent="cursor:agent", about="friction",
            what="The first ingest of a large branch takes long."),
)  # fmt: skip


def _written(one: _Letter) -> Scene:
    def play(stage: Stage) -> None:
        told = stage.agent(one.repository, one.agent).call("report", **{"class": one.about, "what": one.what, **one.more})
        if one.name:
            stage.ids[one.name] = told["id"]

    return Scene(day=one.day, name=f"a letter: {one.what[:40]}", play=play)


def _answered(stage: Stage) -> None:
    """The first confusion becomes a case and is closed; others are closed, turned down, or answered and left open."""
    person, ids = stage.person(HARBOR), stage.ids
    person.call("mailbox.distribute")
    case = person.call("battery.add", letter_id=ids["letter-absence"], about="retry policy", present=["Retry policy"])["case"]
    ids["battery-case"] = case["id"]
    person.call(
        "triage", answers=[ids["letter-absence"]], what="the index was behind; there is a case", verdict="fixed", case=case["id"]
    )
    person.call(
        "triage", answers=[ids["letter-leak"]], what="the row came from the shared part; the fence says so now", verdict="fixed"
    )
    stage.agent(HARBOR).call(
        "report", **{"class": "note", "what": "I look at the renamed file tomorrow.", "answers": [ids["letter-bug"]]}
    )


def _filed(stage: Stage) -> None:
    person, ids = stage.person(HARBOR), stage.ids
    person.call("triage", answers=[ids["letter-author"]], what="the row has its author now", verdict="fixed")
    person.call("triage", answers=[ids["letter-vanished"]], what="it was rejected, and the history says so", verdict="rejected")
    person.call("mailbox.distribute")


SCENES: tuple[Scene, ...] = (
    *map(_written, _LETTERS),
    Scene(day=9.4, name="letters are answered", play=_answered),
    Scene(day=20.7, name="letters are filed", play=_filed),
)
