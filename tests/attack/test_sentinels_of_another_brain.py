"""Attack F29 and its siblings: an agent of A reads everything that can be read, with every plausible argument.

Brain B is full of a word that stands nowhere else. No answer to A may hold it, unless A asks with `tier: all-brains`."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, Effect, input_schema
from tests.support.owner import start_owner
from tests.support.world import Actor, World

WORD = "zqxsentinel"  # only in B: labels, texts, agents, files, sources
BAIT = "heronword kettleword"  # stands beside it in every text of B, and is what A asks for
TEXT = f"The {WORD} {BAIT} boils at seven in the northern harbour."
AGENT = f"{WORD}:agent"

# Answers that a requirement row wants to reach across brains. An agent without a shell gets none of them.
WIDE = {
    "inbox_sweep": "MED-273: reads the spool and every known box",
    "triage_session": "MED-276: prints the open letters of all boxes",
}
# Operations that wait or start something; what they read is read by others here as well.
LEFT_OUT = {"cowork.wait": "waits", "task.show": "waits when that is asked", "release.check": "runs the tests of a checkout"}


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"] is True, answer
    return answer


def filled(world: World, root: str) -> set[str]:
    """Put the word into every field of B, through real operations. The ids that came of it."""
    agent, person = world.at(root, AGENT), world.human(root)
    done(person.call("init", path=root))
    done(agent.memorize(f"{WORD} label", TEXT, evidence=[f"src/{WORD}.py"]))
    done(agent.memorize(f"{WORD} label", f"{TEXT} Again.", confidence=0.9))
    row = done(agent.call("record", text=TEXT, wing=WORD, room=WORD, source=WORD, thread=WORD, tags=[WORD], speaker=WORD))
    done(agent.call("memory.ingest", text=f"{TEXT}\n", source=f"{WORD}.md", wing=WORD))
    done(
        agent.call(
            "knowledge.distill",
            statement=TEXT,
            content="Seen twice by the keeper.",
            tier="shu",
            supporting_refs=[row["evidence_id"]],
        )
    )
    done(agent.call("adoption.record", track="card_context", signal="accepted", feature=WORD, note=TEXT, query=TEXT))
    done(agent.call("boot_memory", action="set", key=WORD, value=TEXT))
    done(agent.call("report", **{"class": "friction"}, what=TEXT, snippet=TEXT, tool=WORD))
    done(person.call("mailbox.distribute"))
    for name in (WORD, f"{WORD}-b"):
        done(agent.call("cowork.register", agent_id=name, tool="codex"))
    done(agent.call("cowork.send", **{"from": WORD}, to=f"{WORD}-b", message=TEXT, channel=None))
    done(agent.call("cowork.channel.set", channel=WORD, agents=[WORD]))
    done(agent.call("cowork.session.create", session_id=WORD, title=TEXT, goal=TEXT, agents=[WORD]))
    done(agent.call("cowork.reserve", agent_id=WORD, paths=[f"src/{WORD}.py"], reason=TEXT))
    done(agent.call("partner.push", content=TEXT, target_tool="claude"))
    done(person.call("experience.remember", text=TEXT))
    done(agent.call("run", goal=f"Write it down: {TEXT}", empty=True, wait_s=60))
    done(agent.call("mission.start", task=TEXT))
    agent.call("seek", query=TEXT)
    agent.call("activate", query=WORD)
    agent.call("memorize", node_label=f"{WORD} refused", text=f"{TEXT} token=ghp_{'a1B2' * 9}")
    kept = "\n".join(
        json.dumps(agent.call(name, **more))
        for name, more in (
            ("memory.list", {}),
            ("knowledge.list", {}),
            ("mission.list", {}),
            ("task.list", {}),
            ("mailbox.show", {}),
            ("adoption.list", {}),
            ("ledger.show", {"limit": 500}),
        )
    )
    ids = set(re.findall(r"\b(?:ev|card|msn|tsk|adoption|meg|dlg)_[A-Za-z0-9]{8,}\b", kept))
    return ids | {one["id"] for one in agent.call("mailbox.show")["letters"]}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str, str, set[str]]]:
    world = World(tmp_path_factory.mktemp("sentinels"))
    a = world.brain("brain-a", src__a_py="def work(): ...\n")
    b = world.repository("brain-b", **{f"src__{WORD}_py": f"def {WORD}(): ...\n"})
    ids = filled(world, b)
    own = world.at(a)
    own.memorize("Own label", "The own kettle of this project boils at nine.")
    own.call("record", text="An own observation about the kettle.")
    yield world, a, b, ids
    world.close()


def values(name: str, schema: dict[str, Any], b: str, ids: list[str]) -> list[Any]:
    """What an agent that is after B would send for one argument."""
    options = [schema, *schema.get("anyOf", ())]
    listed = [value for one in options for value in one.get("enum", ()) if value is not None]
    if listed:
        return [value for value in listed if value not in ("all-brains", "all_brains")]
    kinds = {one.get("type") for one in options}
    if "boolean" in kinds:
        return [True, False]
    if "integer" in kinds or "number" in kinds:
        return [
            max((one.get("minimum", 1) for one in options), default=1),
            *(one["maximum"] for one in options if "maximum" in one),
        ]
    if "array" in kinds:
        return [[b], [BAIT], ids[:1]]
    if "object" in kinds:
        return [{}]
    if name == "tier":
        return ["project", "medulla", b, "*"]
    return [BAIT, b, f"{b}/src", "*", "light::", *ids]


def calls(name: str, b: str, ids: set[str]) -> Iterator[dict[str, Any]]:
    """Arguments for an operation: each value of each argument once, beside one value of those that it needs."""
    schema = input_schema(REGISTRY[name])
    kinds = [next((one for one in sorted(ids) if one.startswith(prefix)), prefix) for prefix in ("ev_", "card_", "msn_", "tsk_")]
    letter = [one for one in sorted(ids) if "_" not in one][:1]
    own = {key: values(key, one, b, [*kinds, *letter]) for key, one in schema["properties"].items() if key != "agent_id"}
    needed = {key: own[key][0] for key in schema.get("required", ()) if key in own}
    if "agent_id" in schema.get("required", ()):
        needed["agent_id"] = "somebody"
    yield needed
    for key, given in own.items():
        for value in given:
            yield {**needed, key: value}


def leaks(answer: object, given: dict[str, Any], ids: set[str]) -> list[str]:
    """What of B is in an answer that A did not say itself."""
    text, asked = json.dumps(answer, ensure_ascii=False), json.dumps(given, ensure_ascii=False)
    return [word for word in (WORD, *ids) if word in text and word not in asked]


READS = sorted(name for name, op in REGISTRY.items() if op.effect is Effect.READ and name not in LEFT_OUT)


@pytest.mark.req("CONF-01", "CONF-02")
@pytest.mark.parametrize("shell", [True, False], ids=["with a shell", "without a shell"])
def test_f29_no_read_of_a_holds_anything_of_b(worlds: tuple[World, str, str, set[str]], shell: bool) -> None:
    world, a, b, ids = worlds
    found: dict[str, list[str]] = {}
    made = 0
    for name in READS:
        if shell and name in WIDE:
            continue
        for given in itertools.islice(calls(name, b, ids), 60):
            caller = replace(world.at(a).caller, reads_files=shell)
            answer = Actor(world, caller).call(name, **given)
            made += 1
            if out := leaks(answer, given, ids):
                found.setdefault(name, []).append(f"{out} by {json.dumps(given)[:200]}")

    assert found == {}
    assert made > 1000


# Writes whose answers read: they reach an agent's context as well.
READING_WRITES: list[tuple[str, dict[str, Any]]] = [
    ("boot_memory", {"action": "list"}),
    ("boot_memory", {"action": "get", "key": WORD}),
    ("delegate", {"task": f"Change a.py: {BAIT}", "scope": {"paths": ["src/a.py"]}}),
    ("mission.start", {"task": BAIT}),
    ("mission.next", {}),
    ("partner.drain", {"target": "claude"}),
    ("cowork.drain", {"agent_id": WORD}),
    ("cowork.capture", {}),
    ("promote", {"claim": f"{WORD} label", "reason": "mine now", "dry_run": True}),
    ("consolidate", {}),
    ("persist", {}),
    ("federate_auto", {}),
    ("knowledge.backfill_apply", {}),
    ("experience.dream", {"dry_run": True}),
    ("mission.resume", {"mission_id": "msn_of_b"}),
    *(
        ("hosts.event", {"host": "claude-code", "event": event, "payload": {"session_id": "h", "prompt": BAIT}})
        for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact", "SubagentStart", "SessionEnd")
    ),
]


@pytest.mark.parametrize(("name", "given"), READING_WRITES, ids=lambda one: one if isinstance(one, str) else "")
def test_f29_no_answer_to_a_write_of_a_holds_anything_of_b(
    worlds: tuple[World, str, str, set[str]], name: str, given: dict[str, Any]
) -> None:
    world, a, _, ids = worlds
    if name == "mission.resume":
        given = {"mission_id": next(one for one in ids if one.startswith("msn_"))}
    if name == "hosts.event":
        given = {**given, "payload": {**given["payload"], "cwd": a}}

    answer = Actor(world, replace(world.at(a).caller, reads_files=False)).call(name, **given)

    assert leaks(answer, given, ids) == []


@pytest.mark.parametrize("shell", [True, False], ids=["with a shell", "without a shell"])
def test_f29_a_caller_from_nowhere_reads_nothing_of_b(worlds: tuple[World, str, str, set[str]], shell: bool) -> None:
    world, _, b, ids = worlds
    found = {}
    for name in READS:
        if shell and name in WIDE:
            continue
        given = next(calls(name, b, ids))
        answer = Actor(world, replace(world.at(None).caller, reads_files=shell)).call(name, **given)
        if out := leaks(answer, given, ids):
            found[name] = out

    assert found == {}


def test_f29_asking_for_all_brains_shows_it_so_the_word_is_there_to_be_found(worlds: tuple[World, str, str, set[str]]) -> None:
    world, a, b, _ = worlds

    wide = world.at(a).call("seek", query=BAIT, tier="all-brains")

    assert WORD in json.dumps(wide)
    assert WORD in json.dumps(world.at(b, AGENT).call("north", task=BAIT))


def test_f29_no_route_of_http_shows_an_agent_of_a_anything_of_b(tmp_path: Path) -> None:
    world = World(tmp_path)
    a = world.brain("brain-a", src__a_py="def work(): ...\n")
    b = world.repository("brain-b", **{f"src__{WORD}_py": f"def {WORD}(): ...\n"})
    ids = filled(world, b)
    home = world.app.home.path
    world.close()
    running = start_owner(home)
    try:
        paths = [path for path, methods in running.get("/api/openapi.json").json["paths"].items() if "get" in methods]
        for path in sorted({*paths, "/api/graph/subgraph?node=x", "/api/mailbox?limit=100"} - {"/api/events"}):
            if path == "/api/inbox_sweep":
                continue  # MED-273, as above
            answer = running.get(path, hindbrain_caller_root=a, hindbrain_challenge="0" * 32)
            assert leaks(answer.body.decode(), {}, ids) == [], path
    finally:
        running.kill()
