"""Identity is not a path: what is put in a repository's place reads nothing of it, on any surface (F35, F37, F13, F36)."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.operations import REGISTRY, Effect, input_schema
from tests.support.world import Actor, World, git

WORDS = "lantern harbour"
LETTERS = ("inbox_sweep", "triage_session")  # a letter that waits names its project by path, and a person gave it a new one
LEFT = {"cowork.wait"}  # it waits for a message; cowork.drain reads the same inbox


def mark(owner: str) -> str:
    return f"SENTINEL{owner.upper()}"


def agent(world: World, root: str | None) -> Actor:
    """An agent over MCP, in a session of its own."""
    made = world.at(root)
    return Actor(world, replace(made.caller, reads_files=False))


def planted(world: World, name: str, *, init: bool = True, remote: str | None = None) -> str:
    """A repository whose sentinel lies in every part of its brain, on its bus and in its letters."""
    root = world.repository(name, **{f"{name}_py": f"def {mark(name).lower()}():\n    return 1\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", f"first of {name}")
    if remote is not None:
        git(root, "remote", "add", "origin", remote)
    made = world.at(root).call("init", path=root) if init else world.at(root).call("ingest", path=root, project_root=root)
    assert made["ok"], made
    actor = world.at(root)
    text = f"{WORDS} {mark(name)}"
    actor.memorize("Lantern", text)
    row = actor.call("record", text=text)
    assert row["ok"], row
    assert actor.call("boot_memory", action="set", key="lantern", value=text)["ok"]
    assert world.at(root, "claude:planner").call("mission.start", task=text)["ok"]
    distilled = {"statement": text, "content": f"Take it. {text}", "tier": "qi", "supporting_refs": [row["evidence_id"]]}
    carded = actor.call("knowledge.distill", **distilled)
    assert carded["ok"], carded
    for one in ("codex-a", "codex-b"):
        assert actor.call("cowork.register", agent_id=one, tool="codex")["ok"]
    assert actor.call("cowork.send", **{"from": "codex-a"}, to="codex-b", message=text)["ok"]
    assert actor.call("partner.push", content=text)["ok"]
    assert actor.call("report", **{"class": "bug"}, what=text)["ok"]
    return root


def stranger(world: World, name: str = "stranger") -> str:
    """A repository that never had a brain."""
    root = world.repository(name, evil_py="def evil():\n    return 2\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", f"first of {name}")
    return root


def read_everything(actor: Actor) -> Iterator[tuple[str, str]]:
    """Every operation that reads, with what its schema asks for, and the hooks of a host."""
    for name, op in sorted(REGISTRY.items()):
        if op.effect is not Effect.READ or op.human or name in LEFT:
            continue
        schema = input_schema(op)
        given = {key: _given(key, schema["properties"][key]) for key in schema.get("required", ())}
        for key in ("query", "task", "text"):
            if key in schema["properties"]:
                given[key] = WORDS
        yield name, json.dumps(actor.call(name, **given), default=str)
    yield "cowork.drain", json.dumps(actor.call("cowork.drain", agent_id="codex-b"), default=str)
    for event in ("SessionStart", "UserPromptSubmit"):
        told = {"host": "claude", "event": event, "payload": {"prompt": WORDS, "session_id": "s"}}
        yield f"hook {event}", json.dumps(actor.hook().call("hosts.event", **told), default=str)


def _given(key: str, schema: dict[str, Any]) -> Any:
    options = [schema, *schema.get("anyOf", ())]
    if listed := next((one["enum"] for one in options if "enum" in one), None):
        return listed[0]
    kinds = [one.get("type") for one in options]
    if "string" in kinds:
        return {"agent_id": "codex-b", "brain": "a"}.get(key, "lantern")
    return [] if "array" in kinds else {} if "object" in kinds else True if "boolean" in kinds else 1


def leaks(world: World, place: str, *foreign: str) -> list[str]:
    """Which reads from a directory show a sentinel that is not its own."""
    world.app.house.tick()
    found = []
    for name, answer in read_everything(agent(world, place)):
        # A path is no memory: refusals and lists of brains may name the directory itself.
        found += [f"{name}: {owner}" for owner in foreign if mark(owner) in answer or mark(owner).lower() in answer]
    return found


def refuses_writes(world: World, place: str) -> bool:
    told = [agent(world, place).call(*call[:1], **call[1]) for call in WRITES]
    return all(not one["ok"] for one in told)


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("memorize", {"node_label": "Planted", "text": "planted by a stranger"}),
    ("record", {"text": "planted by a stranger"}),
    ("boot_memory", {"action": "set", "key": "planted", "value": "x"}),
    ("mission.start", {"task": "planted by a stranger"}),
]


def swap(one: str, other: str) -> None:
    os.rename(one, f"{one}.t")
    os.rename(other, one)
    os.rename(f"{one}.t", other)


def replaced_by_clone(world: World, a: str) -> None:
    shutil.rmtree(a)
    git(str(world.place), "clone", "-q", stranger(world), a)


def emptied_and_cloned(world: World, a: str) -> None:
    for name in os.listdir(a):
        path = os.path.join(a, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    git(str(world.place), "clone", "-q", stranger(world), a)


def replaced_by_fresh_repository(world: World, a: str) -> None:
    os.rename(a, f"{a}.away")
    stranger(world, "a")


def replaced_by_plain_directory(world: World, a: str) -> None:
    os.rename(a, f"{a}.away")
    os.mkdir(a)


def replaced_with_a_forged_id(world: World, a: str) -> None:
    carried = Path(a, ".hindbrain", "brain.json").read_bytes() if Path(a, ".hindbrain").exists() else b"{}"
    replaced_by_clone(world, a)
    Path(a, ".hindbrain").mkdir()
    Path(a, ".hindbrain", "brain.json").write_bytes(carried)


REPLACED: list[Callable[[World, str], None]] = [
    replaced_by_clone,
    emptied_and_cloned,
    replaced_by_fresh_repository,
    replaced_by_plain_directory,
    replaced_with_a_forged_id,
]


@pytest.mark.parametrize("init", [True, False], ids=["init", "ingest"])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "restarted"])
@pytest.mark.parametrize("act", REPLACED)
def test_f35_what_is_put_in_a_repository_s_place_reads_nothing_of_it(
    world: World, act: Callable[[World, str], None], warm: bool, init: bool
) -> None:
    a = planted(world, "a", init=init)
    assert any(mark("a") in answer for _, answer in read_everything(world.at(a))), "the sentinel is found before"
    if not warm:
        world.restart()

    act(world, a)

    assert leaks(world, a, "a") == []
    assert refuses_writes(world, a)
    letter = agent(world, a).call("report", **{"class": "bug"}, what="of a stranger")
    assert letter["error"]["code"] == "repository_changed", "as a letter of no project everybody would read it"
    beat = world.at(a).north(WORDS)
    assert "repository_changed" in [gap["kind"] for gap in beat["honest_gaps"]]
    assert beat["reception"]["write_target"] == {"refused": "repository_changed"}
    for name in ("init", "ingest"):
        told = world.at(a).call(name, path=a, **({"project_root": a} if name == "ingest" else {}))
        assert told["error"]["code"] == "repository_changed"
        assert f"hindbrain brain confirm {a}" in told["error"]["fix"]


@pytest.mark.parametrize("init", [True, False], ids=["init", "ingest"])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "restarted"])
def test_f35_two_directories_that_were_swapped_never_mix(world: World, warm: bool, init: bool) -> None:
    a, b = planted(world, "a", init=init), planted(world, "b", init=init)
    if not warm:
        world.restart()

    swap(a, b)

    assert leaks(world, a, "a") == []  # what lies there is b's
    assert leaks(world, b, "b") == []
    assert refuses_writes(world, a)
    assert refuses_writes(world, b)
    swap(a, b)
    assert leaks(world, a, "b") == []
    assert leaks(world, b, "a") == []
    for root, own in ((a, "a"), (b, "b")):
        assert any(mark(own) in json.dumps(row) for row in world.at(root).north(WORDS)["memory"]), "back in its place"
        assert world.at(root).call("ledger.verify")["intact"]


def test_f35_two_clones_of_one_project_that_were_swapped_never_mix(world: World) -> None:
    source = stranger(world, "source")
    roots = []
    for name in ("a", "b"):
        root = str(world.place / name)
        git(source, "clone", "-q", source, root)
        assert world.at(root).call("ingest", path=root, project_root=root)["ok"]
        world.at(root).memorize("Lantern", f"{WORDS} {mark(name)}")
        roots.append(root)

    swap(*roots)

    assert [leaks(world, root, own) for root, own in zip(roots, ("a", "b"), strict=True)] == [[], []]


def test_f35_a_person_sorts_out_two_swapped_directories(world: World) -> None:
    a, b = planted(world, "a"), planted(world, "b")
    swap(a, b)
    human = world.human(None)
    found = [one for one in human.call("doctor")["warnings"] if one["kind"] == "repository_changed"]
    assert sorted(one["brain"] for one in found) == sorted((a, b))
    assert all(f"hindbrain brain detach {one['brain']}" in one["fix"] for one in found)

    assert human.call("brain.detach", path=a)["ok"]
    assert human.call("brain.detach", path=b)["ok"]
    for root in (a, b):
        assert world.at(root).call("init", path=root)["moved_from"] in (a, b)

    for root, own, other in ((a, "b", "a"), (b, "a", "b")):
        assert [one for one in leaks(world, root, other) if not one.startswith(LETTERS)] == []
        assert mark(own) in json.dumps(world.at(root).north(WORDS)["memory"])
        assert mark(own) in json.dumps(world.at(root).call("memory.list"))


def test_f35_a_person_confirms_a_repository_that_looks_like_another(world: World) -> None:
    a = planted(world, "a", init=False)
    replaced_by_clone(world, a)

    assert agent(world, a).call("brain.confirm", path=a)["error"]["code"] == "human_needed"
    assert world.human(a).call("brain.confirm", path=a)["ok"]

    assert mark("a") in json.dumps(world.at(a).north(WORDS)["memory"])
    world.restart()
    assert mark("a") in json.dumps(world.at(a).north(WORDS)["memory"])


def test_f35_a_detached_brain_comes_back_by_rebind(world: World) -> None:
    a = planted(world, "a")
    replaced_by_clone(world, a)
    assert world.human(None).call("brain.detach", path=a)["ok"]
    assert world.at(a).call("init", path=a)["reused_existing_brain"] is False
    assert [one for one in leaks(world, a, "a") if not one.startswith(LETTERS)] == []
    target = stranger(world, "target")

    assert world.human(None).call("rebind", old=a, new=target)["ok"]

    assert mark("a") in json.dumps(world.at(target).north(WORDS)["memory"])
    assert [one for one in leaks(world, a, "a") if not one.startswith(LETTERS)] == []


def rewritten(world: World, a: str) -> None:
    git(a, "commit", "-q", "--amend", "-m", "rewritten")


def made_again(world: World, a: str) -> None:
    shutil.rmtree(os.path.join(a, ".git"))
    git(a, "init", "-q", "-b", "main")


def cleaned(world: World, a: str) -> None:
    git(a, "clean", "-qfdx", "-e", ".hindbrain/agent-memory")


def restored(world: World, a: str) -> None:
    shutil.copytree(a, f"{a}.copy", symlinks=True)
    shutil.rmtree(a)
    os.rename(f"{a}.copy", a)


def other_remote(world: World, a: str) -> None:
    git(a, "remote", "add", "origin", "https://example.org/team/a.git")


def without_git(world: World, a: str) -> None:
    shutil.rmtree(os.path.join(a, ".git"))


@pytest.mark.parametrize("init", [True, False], ids=["init", "ingest"])
@pytest.mark.parametrize("act", [rewritten, made_again, cleaned, restored, other_remote, without_git])
def test_f35_nobody_is_locked_out_of_their_own_repository(world: World, act: Callable[[World, str], None], init: bool) -> None:
    a = planted(world, "a", init=init)

    act(world, a)
    world.restart()

    assert mark("a") in json.dumps(world.at(a).north(WORDS)["memory"])
    assert world.at(a).memorize("After", "still here")["ok"]


def test_f35_a_clone_of_the_same_remote_in_the_same_place_keeps_the_brain(world: World) -> None:
    upstream = stranger(world, "upstream")
    a = str(world.place / "a")
    git(upstream, "clone", "-q", upstream, a)
    world.at(a).call("ingest", path=a, project_root=a)
    world.at(a).memorize("Lantern", f"{WORDS} {mark('a')}")
    shutil.rmtree(a)

    git(upstream, "clone", "-q", upstream, a)

    assert mark("a") in json.dumps(world.at(a).north(WORDS)["memory"])


def test_f35_a_copy_has_no_brain_and_the_original_keeps_it(world: World) -> None:
    a = planted(world, "a")
    copy = str(world.place / "copy")
    shutil.copytree(a, copy, symlinks=True)

    assert refuses_writes(world, copy)
    assert [row for row in world.at(copy).north(WORDS)["memory"] if mark("a") in json.dumps(row)] == []
    made = world.at(copy).call("init", path=copy)
    assert (made["ok"], made["moved_from"]) == (True, None)
    assert mark("a") in json.dumps(world.at(a).north(WORDS)["memory"])
    world.at(copy).memorize("Of the copy", "SENTINELCOPY")
    assert "SENTINELCOPY" not in json.dumps(world.at(a).north("copy")["memory"])


def test_f35_an_ingest_root_that_was_replaced_is_not_served_by_the_brain(world: World) -> None:
    a = planted(world, "a")
    library = stranger(world, "library")
    assert world.human(a).call("ingest", path=library, federation_intent=True)["ok"]
    assert mark("a") in json.dumps(world.at(library).north(WORDS)["memory"])

    os.rename(library, f"{library}.away")
    git(str(world.place), "clone", "-q", stranger(world), library)

    assert leaks(world, library, "a") == []
    assert refuses_writes(world, library)


def test_f35_a_brain_reads_no_file_of_what_is_in_an_older_place_of_its_repository(world: World) -> None:
    a = planted(world, "a")
    moved = str(world.place / "moved")
    os.rename(a, moved)
    session = agent(world, moved)
    assert session.call("init", path=moved)["moved_from"] == a
    planted(world, "b", init=False)
    os.rename(str(world.place / "b"), a)
    library = stranger(world, "library")
    assert world.human(moved).call("ingest", path=library, federation_intent=True)["ok"]
    shutil.rmtree(library)
    shutil.copytree(a, library)

    found = [json.dumps(session.call("search", query="return", context_lines=2)), json.dumps(session.call("glob", pattern="**"))]
    assert "a.py" in found[0], "its own files are found in the new place"
    assert [one for one in found if mark("b").lower() in one or "b.py" in one] == []
    assert leaks(world, moved, "b") == []
    assert [place.root for place in _places(world, moved)] == [moved]


def _places(world: World, root: str) -> list[Any]:
    house = world.app.house
    brain = house.brains.covering(root)
    assert brain is not None
    with house.brains.use(brain) as opened:
        return house.graphs.places(opened)


def test_f35_worktrees_follow_their_repository(world: World) -> None:
    a = planted(world, "a")
    linked, moved = str(world.place / "linked"), str(world.place / "moved")
    git(a, "worktree", "add", "-q", linked, "-b", "feature")
    assert mark("a") in json.dumps(world.at(linked).north(WORDS)["memory"])
    git(a, "worktree", "move", linked, moved)
    assert mark("a") in json.dumps(world.at(moved).north(WORDS)["memory"])

    replaced_by_clone(world, a)

    assert leaks(world, moved, "a") == []
    assert refuses_writes(world, moved)


@pytest.mark.parametrize("init", [True, False], ids=["init", "ingest"])
def test_f37_a_clone_inside_an_initialised_plain_directory_has_no_brain(world: World, init: bool) -> None:
    work = world.directory("work")
    told = world.at(work).call("init", path=work) if init else world.at(work).call("ingest", path=work, project_root=work)
    assert told["ok"]
    world.at(work).memorize("Lantern", f"{WORDS} {mark('work')}")
    clone = f"{work}/clone"
    git(work, "clone", "-q", stranger(world), clone)
    os.mkdir(f"{clone}/deep")
    os.mkdir(f"{work}/plain")

    for place in (clone, f"{clone}/deep"):
        assert leaks(world, place, "work") == []
        assert refuses_writes(world, place)
        assert world.at(place).north()["reception"]["match"] == "caller_root_mismatch"
    assert mark("work") in json.dumps(world.at(f"{work}/plain").north(WORDS)["memory"]), "a plain directory is covered"
    made = world.at(clone).call("init", path=clone)
    assert (made["ok"], made["project_root"]) == (True, clone)


def test_f35_messages_to_a_repository_without_a_brain_stay_with_it(world: World) -> None:
    a = stranger(world, "a")
    actor = world.at(a)
    for one in ("codex-a", "codex-b"):
        assert actor.call("cowork.register", agent_id=one, tool="codex")["ok"]
    assert actor.call("cowork.send", **{"from": "codex-a"}, to="codex-b", message=mark("a"))["ok"]
    assert actor.call("partner.push", content=mark("a"))["ok"]
    assert mark("a") in json.dumps(actor.call("partner.status"))

    replaced_by_clone(world, a)

    assert [one for one in leaks(world, a, "a") if not one.startswith(LETTERS)] == []
    assert actor.call("cowork.drain", agent_id="codex-b")["error"]["code"] == "unknown_agent"


def test_f37_a_repository_inside_a_repository_has_no_brain_either(world: World) -> None:
    a = planted(world, "a")
    git(a, "clone", "-q", stranger(world), f"{a}/vendor")

    assert leaks(world, f"{a}/vendor", "a") == []
    assert refuses_writes(world, f"{a}/vendor")


@pytest.mark.parametrize("outer_git", [True, False], ids=["repository", "plain"])
def test_f13_a_nested_brain_has_a_bus_and_a_box_of_its_own(world: World, outer_git: bool) -> None:
    outer = world.repository("outer") if outer_git else world.directory("outer")
    inner = world.directory("outer/inner")
    for root in (outer, inner):
        assert world.at(root).call("ingest", path=root, project_root=root)["ok"]
    for root, name in ((outer, "outer"), (inner, "inner")):
        actor = world.at(root)
        for one in (f"{name}-a", f"{name}-b"):
            assert actor.call("cowork.register", agent_id=one, tool="codex")["ok"]
        assert actor.call("cowork.send", **{"from": f"{name}-a"}, to=f"{name}-b", message=mark(name))["ok"]
        assert actor.call("cowork.reserve", agent_id=f"{name}-a", paths=["src/*.py"], reason=mark(name))["ok"]
        assert actor.call("report", **{"class": "bug"}, what=mark(name))["ok"]
    assert world.human(outer).call("mailbox.distribute")["ok"]

    for root, own, other in ((outer, "outer", "inner"), (inner, "inner", "outer")):
        actor = world.at(root)
        seen = [actor.call(name) for name in ("cowork.agents", "cowork.events", "cowork.reservations", "mailbox.show")]
        seen.append(actor.call("cowork.drain", agent_id=f"{own}-b"))
        assert all(one["ok"] for one in seen), seen
        assert mark(own) in json.dumps(seen)
        assert mark(other) not in json.dumps(seen)
        assert actor.call("cowork.drain", agent_id=f"{other}-b")["error"]["code"] == "unknown_agent"
    assert agent(world, outer).call("cowork.agents", project_root=inner)["error"]["code"] == "path_refused"


@pytest.mark.parametrize("where", ["stranger", "nowhere", "/", "home"])
def test_f36_a_root_that_a_model_names_opens_nothing(world: World, where: str) -> None:
    a = planted(world, "a")
    places = {
        "stranger": lambda: stranger(world),
        "nowhere": lambda: None,
        "/": lambda: "/",
        "home": lambda: os.path.expanduser("~"),
    }
    actor = agent(world, places[where]())

    beat = actor.north(WORDS, caller_root=a)
    written = actor.call("memorize", node_label="Planted", text="planted by a model", caller_root=a)
    reads = [json.dumps(actor.call(name, **given, caller_root=a)) for name, given in READS]

    assert "caller_root_refused" in [gap["kind"] for gap in beat["honest_gaps"]]
    assert (written["ok"], beat["memory"]) == (False, [])
    assert [one for one in reads if mark("a") in one] == []
    assert mark("a") not in json.dumps(actor.north(WORDS)), "the session keeps nothing of it"
    assert "planted" not in json.dumps(world.at(a).north("planted by a model")["memory"])


READS: list[tuple[str, dict[str, Any]]] = [
    ("seek", {"query": WORDS}),
    ("memory.search", {"query": WORDS}),
    ("claims", {}),
    ("knowledge.list", {}),
    ("mission.list", {}),
    ("cowork.agents", {}),
    ("cowork.events", {}),
    ("mailbox.show", {}),
]


def test_f36_a_root_that_a_person_registered_may_be_named(world: World) -> None:
    projects = world.directory("projects")
    a = world.brain("projects/a")
    world.at(a).memorize("Lantern", f"{WORDS} {mark('a')}")
    assert world.human(None).call("places.add", path=projects)["ok"]
    actor = agent(world, None)

    assert mark("a") in json.dumps(actor.north(WORDS, caller_root=a)["memory"])
    assert mark("a") in json.dumps(actor.north(WORDS)["memory"]), "the session stays"


def test_f36_a_root_that_the_host_opened_may_be_named(world: World) -> None:
    a = planted(world, "a")
    base = agent(world, None).caller

    opened = Actor(world, replace(base, offered_roots=(a,)))
    everything = Actor(world, replace(world.at("/").caller, reads_files=False, offered_roots=("/", os.path.expanduser("~"))))

    assert mark("a") in json.dumps(opened.north(WORDS, caller_root=a)["memory"])
    assert everything.north(WORDS, caller_root=a)["memory"] == []


def test_f35_a_git_file_that_points_to_the_repository_of_a_brain_proves_nothing(world: World) -> None:
    a = planted(world, "a", init=False)
    moved = str(world.place / "moved")
    os.rename(a, moved)
    os.mkdir(a)
    Path(a, ".git").write_text(f"gitdir: {moved}/.git\n")

    assert leaks(world, a, "a") == []
    assert refuses_writes(world, a)


def test_f35_the_witness_of_a_brain_in_another_repository_proves_nothing(world: World) -> None:
    a, thief = planted(world, "a"), stranger(world)
    shutil.copytree(os.path.join(a, ".hindbrain"), os.path.join(thief, ".hindbrain"))
    shutil.rmtree(os.path.join(thief, ".hindbrain", "agent-memory"))

    swap(a, thief)

    assert leaks(world, a, "a") == []
    assert refuses_writes(world, a)
    os.rename(a, f"{a}.thief")
    made = world.at(f"{a}.thief").call("init", path=f"{a}.thief")
    assert (made["ok"], made["moved_from"]) == (True, None)
    assert mark("a") not in json.dumps(world.at(f"{a}.thief").north(WORDS)["memory"])
    assert world.at(thief).call("init", path=thief)["moved_from"] == a, "the rightful one still can"


def test_f35_the_witness_of_a_plain_directory_in_another_one_proves_nothing(world: World) -> None:
    notes, other = world.directory("notes"), world.directory("other")
    assert world.at(notes).call("init", path=notes)["ok"]
    world.at(notes).memorize("Lantern", f"{WORDS} {mark('notes')}")
    shutil.copytree(f"{notes}/.hindbrain", f"{other}/.hindbrain", ignore=shutil.ignore_patterns("agent-memory"))
    away = str(world.place / "away")
    os.rename(notes, away)

    assert world.at(other).call("init", path=other)["moved_from"] is None
    assert leaks(world, other, "notes") == []
    assert world.at(away).call("init", path=away)["moved_from"] == notes, "the rightful one still can"
    assert mark("notes") in json.dumps(world.at(away).north(WORDS)["memory"])


@pytest.mark.parametrize("seen", [True, False], ids=["refused before", "never seen"])
@pytest.mark.parametrize("restart", [False, True], ids=["warm", "restarted"])
def test_an_agent_whose_directory_was_moved_away_does_not_read_the_brain_of_its_old_place(
    world: World, restart: bool, seen: bool
) -> None:
    """The stranger's agent still names the directory after it is gone, whether or not it made a call while it was there."""
    root = planted(world, "victim")
    shutil.rmtree(root)
    os.rename(stranger(world), root)
    asked = {"query": WORDS, "floor": False}
    before = agent(world, root).call("memory.search", **asked) if seen else {}
    os.rename(root, str(world.place / "elsewhere"))
    if restart:
        world.restart()

    after = agent(world, root).call("memory.search", **asked)
    written = agent(world, root).call("record", text="of the stranger")

    for answer in (before, after):
        assert mark("victim") not in json.dumps(answer)
    assert written["error"]["code"] == "repository_changed"
    assert f"hindbrain rebind {root} NEW" in written["error"]["fix"]
    sent = agent(world, root).call("cowork.events")
    assert sent["error"]["code"] == "repository_changed"


def test_a_session_that_was_served_before_its_directory_went_keeps_its_brain(world: World) -> None:
    root = planted(world, "a", init=False)
    session = agent(world, root)
    assert mark("a") in json.dumps(session.north(WORDS)["memory"])

    os.rename(root, str(world.place / "away"))

    assert mark("a") in json.dumps(session.north(WORDS)["memory"])
    assert mark("a") not in json.dumps(agent(world, root).north(WORDS)["memory"]), "a new one proves nothing"


# -- directories inside a repository ---------------------------------------------------------------------------------------------


def monorepo(world: World) -> tuple[str, str]:
    """A repository with two packages, and the first one, which has a brain of its own with its sentinel."""
    outer = world.repository("outer")
    for name in ("alpha", "beta"):
        os.makedirs(f"{outer}/packages/{name}")
        for file in ("main", "more"):
            Path(outer, "packages", name, f"{file}.py").write_text(f"def {name}_{file}():\n    return 1\n")
    git(outer, "add", "-A")
    git(outer, "commit", "-qm", "two packages")
    alpha = f"{outer}/packages/alpha"
    assert world.at(alpha).call("ingest", path=alpha, project_root=alpha)["project_root"] == alpha
    actor = world.at(alpha)
    actor.memorize("Lantern", f"{WORDS} {mark('alpha')}")
    assert actor.call("boot_memory", action="set", key="lantern", value=mark("alpha"))["ok"]
    assert actor.call("record", text=f"{WORDS} {mark('alpha')}")["ok"]
    return outer, alpha


def replaced_by_another_package(world: World, outer: str, alpha: str) -> None:
    shutil.rmtree(alpha)
    os.mkdir(alpha)
    Path(alpha, "other.py").write_text("def other():\n    return 2\n")


def replaced_and_committed(world: World, outer: str, alpha: str) -> None:
    replaced_by_another_package(world, outer, alpha)
    git(outer, "add", "-A")
    git(outer, "commit", "-qm", "another package")


def replaced_by_its_sibling(world: World, outer: str, alpha: str) -> None:
    os.rename(alpha, f"{outer}/away")
    os.rename(f"{outer}/packages/beta", alpha)


def replaced_by_a_sibling_with_a_forged_id(world: World, outer: str, alpha: str) -> None:
    brain = world.home.project(alpha)
    assert brain is not None
    replaced_by_its_sibling(world, outer, alpha)
    os.mkdir(f"{alpha}/.hindbrain")
    told = {"schema": "hindbrain-brain-v0", "id": brain.id}
    Path(alpha, ".hindbrain", "brain.json").write_text(json.dumps(told))


def replaced_by_a_clone(world: World, outer: str, alpha: str) -> None:
    shutil.rmtree(alpha)
    git(str(world.place), "clone", "-q", stranger(world), alpha)


INSIDE: list[Callable[[World, str, str], None]] = [
    replaced_by_another_package,
    replaced_and_committed,
    replaced_by_its_sibling,
    replaced_by_a_sibling_with_a_forged_id,
    replaced_by_a_clone,
]


@pytest.mark.parametrize("act", INSIDE)
def test_f35_what_is_put_in_the_place_of_a_package_reads_nothing_of_it(
    world: World, act: Callable[[World, str, str], None]
) -> None:
    outer, alpha = monorepo(world)
    assert mark("alpha") in json.dumps(world.at(alpha).north(WORDS)["memory"])

    act(world, outer, alpha)

    assert leaks(world, alpha, "alpha") == []
    assert refuses_writes(world, alpha)
    told = world.at(alpha).call("ingest", path=alpha, project_root=alpha)
    assert told["error"]["code"] == "repository_changed"
    assert f"hindbrain brain confirm {alpha}" in told["error"]["fix"]
    assert world.human(None).call("brain.confirm", path=alpha)["ok"]
    assert mark("alpha") in json.dumps(world.at(alpha).north(WORDS)["memory"]), "a person can say that it is the same"


def switched_away_and_back(world: World, outer: str, alpha: str) -> None:
    git(outer, "checkout", "-q", "--orphan", "empty")
    git(outer, "rm", "-rqf", ".")
    git(outer, "commit", "-q", "--allow-empty", "-m", "nothing here")
    assert not os.path.exists(alpha)
    git(outer, "checkout", "-q", "main")


def edited_after_the_switch(world: World, outer: str, alpha: str) -> None:
    switched_away_and_back(world, outer, alpha)
    Path(alpha, "main.py").write_text("def edited():\n    return 3\n")
    Path(alpha, "new.py").write_text("def new():\n    return 4\n")


def cloned_again(world: World, outer: str, alpha: str) -> None:
    upstream = str(world.place / "upstream.git")
    git(outer, "clone", "-q", "--bare", outer, upstream)
    git(outer, "remote", "add", "origin", upstream)
    assert world.at(alpha).call("ingest", path=alpha, project_root=alpha)["ok"]
    assert world.human(None).call("brain.confirm", path=alpha)["ok"]  # it notes the remote
    shutil.rmtree(outer)
    git(str(world.place), "clone", "-q", upstream, outer)


def rewritten_in_place(world: World, outer: str, alpha: str) -> None:
    for name in ("main", "more"):
        Path(alpha, f"{name}.py").write_text(f"def {name}_again():\n    return 5\n")


@pytest.mark.parametrize("restart", [False, True], ids=["warm", "restarted"])
@pytest.mark.parametrize("act", [switched_away_and_back, edited_after_the_switch, cloned_again, rewritten_in_place])
def test_f35_a_package_that_git_made_again_keeps_its_brain(
    world: World, act: Callable[[World, str, str], None], restart: bool
) -> None:
    outer, alpha = monorepo(world)

    act(world, outer, alpha)
    if restart:
        world.restart()

    assert mark("alpha") in json.dumps(world.at(alpha).north(WORDS)["memory"])
    assert world.at(alpha).memorize("After", "still here")["ok"]


def test_f35_a_day_of_commits_renews_what_a_package_is_known_by(world: World) -> None:
    outer, alpha = monorepo(world)
    rewritten_in_place(world, outer, alpha)
    git(outer, "commit", "-qam", "every file is another one")
    (record,) = world.home.brains_dir.glob("*/repository.json")
    now = os.stat(f"{outer}/.git/index").st_mtime
    os.utime(record, (now - 2 * 86_400, now - 2 * 86_400))
    world.restart()
    assert world.at(alpha).north(WORDS)["memory"]

    switched_away_and_back(world, outer, alpha)

    assert mark("alpha") in json.dumps(world.at(alpha).north(WORDS)["memory"])


def test_f35_a_directory_of_a_project_that_became_a_link_is_not_read(world: World) -> None:
    project, other = world.directory("project"), world.directory("project/inner")
    assert world.at(project).call("ingest", path=project, project_root=project)["ok"]
    Path(other, "own.py").write_text("def own():\n    return 1\n")
    assert world.at(project).call("ingest", path=other)["ok"]
    secret = world.directory("secret")
    Path(secret, "own.py").write_text(f"def {mark('secret').lower()}():\n    return 1\n")
    os.rename(other, str(world.place / "away"))
    os.symlink(secret, other)

    assert leaks(world, project, "secret") == []
    found = world.at(project).call("search", query="return", context_lines=2)
    assert mark("secret").lower() not in json.dumps(found)


# -- what is kept by path -------------------------------------------------------------------------------------------------------


def taken_over(world: World, one: Actor | None = None) -> tuple[str, str]:
    """Repository a moved from its place and took its brain along; b came to the place and has a brain of its own."""
    a = planted(world, "a")
    os.mkdir(f"{a}/inner")
    if one is not None:
        assert one.north(WORDS)["memory"]
    moved = str(world.place / "moved")
    os.rename(a, moved)
    assert world.at(moved).call("init", path=moved)["moved_from"] == a
    os.rename(stranger(world, "b"), a)
    assert world.at(a).call("ingest", path=a, project_root=a)["reused_existing_brain"] is False
    world.at(a).memorize("Beacon", f"{WORDS} {mark('b')}")
    return a, moved


def test_f35_events_that_are_replayed_belong_to_a_brain_and_not_to_its_path(world: World) -> None:
    a, _ = taken_over(world)
    house, heard = world.app.house, []
    house.events.subscribe(heard.append, after=0)

    of_a = [event for event in heard if event.data.get("slug") == "lantern"]
    assert of_a, "the events of a name the place, and are still kept"
    for actor in (agent(world, a), world.human(a)):
        hears = house.audience.hears(actor.caller)
        assert [event for event in of_a if hears(event)] == []
        assert [event for event in heard if event.data.get("slug") == "beacon" and hears(event)]


def test_f35_a_session_follows_its_brain_and_not_the_path(world: World) -> None:
    place = str(world.place / "a")
    os.makedirs(place)
    session = Actor(world, replace(world.at(place).caller, reads_files=False))
    os.rmdir(place)
    a, moved = taken_over(world, session)

    inside = Actor(world, replace(session.caller, root=f"{moved}/inner"))

    assert mark("b") not in json.dumps(
        [inside.north(WORDS), inside.call("memory.search", query=WORDS), inside.call("cowork.events")]
    )
    assert mark("b") in json.dumps(world.at(a).north(WORDS)["memory"])


def test_f35_a_brain_that_another_process_moved_is_not_read_under_its_old_path(world: World) -> None:
    """One process has the brain of a open. Another one moves it and gives the place to b."""
    a = planted(world, "a")
    assert mark("a") in json.dumps(world.at(a).north(WORDS)["memory"])
    second = World(world.place)
    try:
        moved = str(world.place / "moved")
        os.rename(a, moved)
        assert second.at(moved).call("init", path=moved)["moved_from"] == a
        os.rename(stranger(world, "b"), a)
        assert second.at(a).call("ingest", path=a, project_root=a)["ok"]

        assert [one for one in leaks(world, a, "a") if not one.startswith(LETTERS)] == []
        assert world.at(a).memorize("Beacon", f"{WORDS} {mark('b')}")["ok"]
        assert leaks(second, moved, "b") == []
    finally:
        second.close()
