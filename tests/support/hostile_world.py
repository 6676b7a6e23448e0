"""A world in which every text that the Hall shows is an attack: markup, addresses that run, characters that hide or turn.

All of it comes in by ordinary operations, as an agent could write it. Where the product refuses a text the next milder one is
tried, and what was refused is kept, with the reason it gave."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from tests.support.world import Actor, World, git

__all__ = ["HOSTILE", "PIECES", "HostileWorld", "build_hostile_world"]

SCRIPT = "<script>window.pwned=1</script>"
IMAGE = '<img src=x onerror="window.pwned=1">'
ADDRESS = "javascript:window.pwned=1"
BREAK_OUT = "\"'><svg onload=window.pwned=1>"
ESCAPED = "&lt;b&gt;&amp;&#x3c;"
TEMPLATE = "{{constructor.constructor('window.pwned=1')()}} ${window.pwned=1}"
REVERSED = "\u202egpj.exe\u202c \u2066isolate \u200fright \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"
UNSEEN = (
    "ze\u200bro\u200c wi\u2060dth\ufeff s\u00adoft \U000e0068\U000e0069 fi\u3164ll\u2800er e\ufe0f\ufe01\U000e0100 j\u034foin"
)
LONG = "unbroken" * 60
EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308"
COMBINED = "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324A\u0321\u0334\u0335\u031c\u0330\u0354"
CONTROL = "bell\x07 escape\x1b[31mred\x1b[0m back\x08"

PIECES = (SCRIPT, IMAGE, ADDRESS, BREAK_OUT, ESCAPED, TEMPLATE, REVERSED, UNSEEN, LONG, EMOJI, COMBINED, CONTROL)
# From all at once to markup alone: the first that an operation takes is kept.
HOSTILE = (
    "\n".join(PIECES),
    "\n".join(piece for piece in PIECES if piece != CONTROL),
    " ".join(piece for piece in PIECES if piece not in (CONTROL, UNSEEN)),
    " ".join(piece for piece in PIECES if piece not in (CONTROL, UNSEEN, REVERSED)),
    " ".join((SCRIPT, IMAGE, ADDRESS, BREAK_OUT, EMOJI)),
    " ".join((SCRIPT, IMAGE, ADDRESS, BREAK_OUT, ESCAPED)),
)
# For fields of one line; callers cut them to what the field holds.
LINES = (
    " ".join((IMAGE, ADDRESS, REVERSED, UNSEEN, EMOJI, BREAK_OUT, SCRIPT, COMBINED, ESCAPED, LONG)),
    " ".join((IMAGE, ADDRESS, "\u05e9\u05dc\u05d5\u05dd", BREAK_OUT, SCRIPT, COMBINED, ESCAPED, LONG)),
)
# What a file or directory may be called: no slash, and 255 bytes.
NAME = f"{IMAGE} &lt; \u202egpj \u200bze {EMOJI}"
AGENT = f"{IMAGE}:\u202egpj\u200b"
FILE = "<img src=x onerror=pwned=1>\u202ep\u200b.py"

_WHY = "Whoever reads a page by its markup runs what others wrote; it holds wherever text is shown."


@dataclass(frozen=True, kw_only=True)
class HostileWorld:
    """A home with one hostile brain and a hostile medulla. `refused` says which text an operation did not take, and why."""

    directory: Path
    home: Path
    roots: dict[str, Path]
    ids: dict[str, str] = field(default_factory=dict)
    refused: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def plant(self, actor: Actor, operation: str, given: Callable[[str, str], dict[str, Any]]) -> dict[str, Any]:
        """Call an operation with the worst text and the worst line that it takes."""
        said: dict[str, Any] = {}
        for line, hostile in product(LINES, HOSTILE):
            said = actor.call(operation, **given(hostile, line))
            if said["ok"]:
                return said
            self.refused.setdefault(operation, []).append((hostile, str(said.get("error") or said)))
        raise AssertionError(f"{operation} takes no hostile text: {said}")


def build_hostile_world(place: Path) -> HostileWorld:
    """Make it in a new directory. No owner runs when it is done."""
    world = World(place)
    world.clock.catch_up()
    root = world.repository(NAME)
    Path(root, FILE).write_text(
        f'def onload_pwned():\n    """{IMAGE}"""\n    return \u0645\u0631\u062d()\n\n\ndef \u0645\u0631\u062d():\n    pass\n'
    )
    Path(root, "README.md").write_text(f"# {LINES[0]}\n\n[{SCRIPT}]({ADDRESS})\n\n## {REVERSED}\n\n{IMAGE}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"{SCRIPT} {REVERSED}")
    made = HostileWorld(directory=world.place, home=world.home.path, roots={"hostile": Path(root)})
    agent, person = world.at(root, AGENT), world.human(root)
    assert agent.call("ingest", path=root, project_root=root)["ok"]
    for chapter in (_claims, _evidence, _cards, _missions, _experience, _letters, _cowork, _adoption):
        chapter(made, agent, person)
    world.close()
    return made


def _claims(made: HostileWorld, agent: Actor, person: Actor) -> None:
    first = made.plant(
        agent,
        "memorize",
        lambda worst, line: {"node_label": line[:200], "text": worst, "evidence": [FILE, line[:200]], "title": line[:100]},
    )
    made.ids["claim"] = first["slug"]
    made.plant(agent, "memorize", lambda worst, line: {"node_label": f"{IMAGE} again", "text": worst, "evidence": [ADDRESS]})
    made.plant(
        agent,
        "memorize",
        lambda worst, line: {"node_label": f"{IMAGE} again", "text": f"changed {worst}", "evidence": [f"{FILE}:1"]},
    )
    made.plant(person, "memorize", lambda worst, line: {"node_label": line[:200], "text": worst, "tier": "medulla"})
    agent.call("learn", feedback="wrong", node_ids=[first["slug"]], query=IMAGE)


def _evidence(made: HostileWorld, agent: Actor, person: Actor) -> None:
    for name in ("seen", "checked", "taught"):
        kept = made.plant(
            person if name == "taught" else agent,
            "record",
            lambda worst, line, name=name: {
                "text": f"{name} {worst}",
                "source": line[:200],
                "tags": [IMAGE, ADDRESS],
                "speaker": line[:80],
                "thread": line[:80],
                "role": "user",
                "provenance": "human" if name == "taught" else "runtime",
            },
        )
        made.ids[name] = kept["evidence_id"]


def _cards(made: HostileWorld, agent: Actor, person: Actor) -> None:
    ids = made.ids
    card = made.plant(
        agent,
        "knowledge.distill",
        lambda worst, line: {
            "statement": line[:240],
            "content": f"{_WHY} {worst}",
            "tier": "qi",
            "supporting_refs": [ids["seen"]],
            "scope_constraints": worst,
            "trigger_hints": {"intent_tags": [IMAGE, ADDRESS]},
        },
    )
    ids["card"] = card["card_id"]
    made.plant(
        agent,
        "knowledge.link",
        lambda worst, line: {"card_id": ids["card"], "evidence_id": ids["checked"], "role": "verification", "note": worst},
    )
    made.plant(
        agent,
        "knowledge.promote",
        lambda worst, line: {
            "card_id": ids["card"],
            "status": "promoted",
            "verification_refs": [ids["checked"]],
            "reason": worst,
        },
    )
    made.plant(
        agent, "knowledge.annotate", lambda worst, line: {"card_id": ids["card"], "reason": worst, "metadata": {IMAGE: ADDRESS}}
    )
    second = made.plant(
        agent,
        "knowledge.distill",
        lambda worst, line: {
            "statement": f"never {line}"[:240],
            "content": f"{_WHY} {worst}",
            "tier": "shu",
            "supporting_refs": [ids["seen"]],
        },
    )
    ids["candidate"] = second["card_id"]


def _missions(made: HostileWorld, agent: Actor, person: Actor) -> None:
    begun = made.plant(
        agent,
        "mission.start",
        lambda worst, line: {
            "task": worst,
            "mode": "review",
            "criteria": [worst[:300]],
            "non_goals": [worst[:300]],
            "known_targets": [FILE],
        },
    )
    made.ids["mission"] = begun["mission_id"]
    made.plant(
        agent, "mission.event", lambda worst, line: {"event_type": "hypothesis", "target": line[:200], "payload": {"why": worst}}
    )
    for _ in range(3):
        made.plant(
            agent,
            "mission.event",
            lambda worst, line: {"event_type": "literal_search", "target": line[:200], "payload": {"query": worst}},
        )
    made.plant(agent, "mission.claim", lambda worst, line: {"claim": worst, "targets": [line[:200]], "criteria": ["1"]})
    made.plant(
        agent,
        "mission.verify",
        lambda worst, line: {
            "claim": f"shown {worst}",
            "evidence_class": "direct_source",
            "evidence_refs": [f"direct_source:{FILE}:1"],
        },
    )
    made.plant(agent, "mission.handoff", lambda worst, line: {"summary": worst, "leave": False})
    run = made.plant(person, "run", lambda worst, line: {"goal": f"Count the words of {FILE}. {worst}", "wait_s": 60.0})
    made.ids["task"] = run["task_id"]
    made.plant(agent, "delegate", lambda worst, line: {"task": worst, "scope": {"paths": [FILE]}, "subagent_hint": IMAGE})


def _experience(made: HostileWorld, agent: Actor, person: Actor) -> None:
    for level in ("M", "K", "C"):
        told = made.plant(
            person,
            "experience.remember",
            lambda worst, line, level=level: {
                "text": worst,
                "level": level,
                "space": "tool:shell",
                "entity": f"path:{FILE}",
                "tags": [IMAGE[:60], ADDRESS],
            },
        )
        made.ids["megram"] = told["megram_id"]
    person.call("experience.dream")
    made.plant(person, "experience.feedback", lambda worst, line: {"rule": made.ids["megram"], "content": worst})


def _letters(made: HostileWorld, agent: Actor, person: Actor) -> None:
    for about in ("bug", "memory_misdelivery", "idea"):
        told = made.plant(
            agent,
            "report",
            lambda worst, line, about=about: {
                "class": about,
                "what": worst,
                "tool": IMAGE[:60],
                "expected": worst,
                "snippet": worst,
                **({"kind": "leak"} if about == "memory_misdelivery" else {}),
            },
        )
        made.ids[f"letter-{about}"] = told["id"]
    made.plant(person, "triage", lambda worst, line: {"answers": [made.ids["letter-bug"]], "what": worst, "verdict": "fixed"})


def _cowork(made: HostileWorld, agent: Actor, person: Actor) -> None:
    for name in ("one", "two"):
        agent.call("cowork.register", agent_id=name, tool="claude")
    agent.call("cowork.channel.set", channel="room", agents=["one", "two"])
    made.plant(
        agent,
        "cowork.session.create",
        lambda worst, line: {
            "session_id": "s1",
            "title": line[:200],
            "agents": ["one", "two"],
            "goal": worst,
            "channels": ["room"],
        },
    )
    for _ in range(2):
        made.plant(agent, "cowork.send", lambda worst, line: {"from": "one", "to": "two", "message": worst, "thread_id": "t"})
    made.plant(agent, "cowork.channel.send", lambda worst, line: {"from": "one", "channel": "room", "message": worst})
    made.plant(
        agent,
        "cowork.reserve",
        lambda worst, line: {"agent_id": "one", "paths": ["<img src=x onerror=pwned=1>"], "minutes": 60, "reason": line[:200]},
    )


def _adoption(made: HostileWorld, agent: Actor, person: Actor) -> None:
    made.plant(
        agent,
        "adoption.capture",
        lambda worst, line: {"surface": "runtime-context", "outcome": "used", "query": worst, "note": worst, "execute": True},
    )
