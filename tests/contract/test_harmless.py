"""The envelope is harmless: it changes nothing, asks nothing, leaks nothing, fails no call, and never calls nothing something."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.domain.brain import Brain
from hindbrain.engines.contract import Facts, envelope
from hindbrain.services.house import House
from hindbrain.settings import Settings
from hindbrain.stores.opening import store_opener
from hindbrain.stores.port import BrainStore, Found
from tests.contract.envelopes import RETRIEVAL, SCHEMA, checked
from tests.support.opens import watching
from tests.support.world import World

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is how opens are seen")


def a_brain(world: World, name: str = "x") -> str:
    root = world.brain(name, src__a_py="kettle = 1\n")
    world.at(root).memorize(f"Kettle of {name}", "The kettle boils.", evidence=["src/a.py"])
    world.at(root).call("boot_memory", action="set", key="kettle", value="boils")
    return root


def built(world: World, root: str, scope: str | None = None) -> dict[str, Any]:
    return world.app.house.contract.envelope(
        world.at(root, session="fixed").caller, tool="seek", candidates=0, scope=scope, error=None, proof_state=None
    )


def stamps(place: Path) -> dict[str, tuple[int, int, bytes]]:
    """Size, time and bytes of every file; the database's shared-memory file is its readers' notebook and is left out."""
    found = {}
    for path in sorted(place.rglob("*")):
        if path.is_file() and not path.name.endswith("-shm"):
            facts = path.stat()
            found[str(path)] = (facts.st_size, facts.st_mtime_ns, path.read_bytes())
    return found


@pytest.mark.req("RC-027")
def test_rc_027_building_it_a_hundred_times_changes_nothing(world: World) -> None:
    x = a_brain(world)
    first = built(world, x)
    before = stamps(world.place)
    looker = world.at(x)
    counters = looker.call("instances")["instances"]

    for number in range(100):
        assert built(world, x, scope=["light::", None, "/elsewhere"][number % 3])["schema"] == SCHEMA

    assert built(world, x) == first
    assert stamps(world.place) == before
    assert looker.call("instances")["instances"] == counters


def facts(**more: Any) -> Facts:
    base: dict[str, Any] = {
        "tool": "seek", "agent_id": "codex:maker", "candidates": 0, "error": None, "proof_state": None, "requested_scope": None,
        "mismatch": None, "process_id": 1, "runtime_root": "/r", "executable": None, "version": "1", "workspace_root": "/w",
        "workspace_root_source": None, "ingest_roots": ("/w",), "nodes": 3, "edges": 2, "generation": 1, "learned": 0,
        "graph_path": "/g", "graph_path_exists": True, "served": None,
    }  # fmt: skip
    return Facts(**(base | more))


@linux
@pytest.mark.req("RC-028", "RC-027")
def test_rc_028_the_builder_touches_no_file_and_its_facts_come_from_manifest_and_database(world: World) -> None:
    x = a_brain(world)
    world.at(x).north("kettle")

    with watching(world.place) as opened:
        for _ in range(100):
            envelope(facts())
        assert opened.paths() == set()
        built(world, x)
        touched = {Path(path).name for path in opened.paths()}

    databases = {f"{name}.db{end}" for name in ("brain", "index") for end in ("", "-wal", "-shm")}
    assert touched <= {"project_brain.json", *databases}, "no claim, no code, no index of another brain"


@pytest.mark.req("RC-028")
def test_rc_028_it_runs_no_retrieval_of_its_own(world: World) -> None:
    x = a_brain(world)
    caller = world.at(x).caller
    world.close()
    asked: list[str] = []

    def opener(brain: Brain, directory: Path) -> BrainStore:
        store = store_opener("")(brain, directory)
        real = store.find

        def find(*arguments: Any, **more: Any) -> Found:
            asked.append(brain.name)
            return real(*arguments, **more)

        store.find = find  # type: ignore[method-assign]
        return store

    house = House(world.home, Settings({}), clock=world.clock, open_store=opener, bound_root=None, resident=False)
    try:
        house.contract.envelope(caller, tool="seek", candidates=0, scope=None, error=None, proof_state=None)
        assert asked == []
        house.recall.beat(house.router.route(caller), "kettle", tier=None, fallback=False)
        assert asked, "the watch sees a retrieval"
    finally:
        house.close()


@pytest.mark.req("RC-029")
@pytest.mark.parametrize("gone", ["runtime", "database", "home"])
def test_rc_029_it_never_makes_a_call_fail(world: World, gone: str) -> None:
    x = a_brain(world)
    actor = world.at(x)
    actor.north("kettle")
    directory = world.store(x).parent
    if gone == "runtime":
        shutil.rmtree(directory)
    elif gone == "home":
        shutil.rmtree(world.home.path)
    else:
        world.close()
        for path in directory.glob("brain.db*"):
            path.unlink()
        (directory / "brain.db").write_bytes(b"no database " * 1000)

    for tool, arguments in (("seek", {"query": "kettle"}), ("north", {"task": "kettle"})):
        found = checked(actor.call(tool, **arguments), tool)
        if gone == "database":
            assert found["observed"]["error_text"], "it says why a part is missing"
            assert found["graph_identity"]["node_count"] is None
            assert found["trust_mode"] == "retrieval_needs_recovery", "a broken store is not an empty one"


@pytest.mark.req("RC-033", "RC-037", "RC-003")
@pytest.mark.parametrize("tier", [None, "all-brains"])
def test_rc_033_it_names_no_path_of_another_brain(world: World, tier: str | None) -> None:
    x, y = a_brain(world), a_brain(world, "y")

    for tool, arguments in (("seek", {"query": "kettle"}), ("north", {"task": "kettle"}), ("boot_memory", {"action": "list"})):
        answer = world.at(x).call(tool, **arguments, tier=tier)
        told = json.dumps(checked(answer, tool))
        assert y not in told
        assert world.store(y).parent.name not in told
        assert json.dumps(answer).count("m1nd-agent-runtime-contract-v") == 1
        assert "m1nd-agent-runtime-contract-v1" not in json.dumps(answer)

    mismatch = world.at(x).seek("kettle", scope=y)["agent_runtime_contract"]["workspace_binding"]["mismatch"]
    assert mismatch["known_brain"] == y, "except where it was asked for by its path"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str, str]]:
    """One home for many questions; asking changes nothing."""
    world = World(tmp_path_factory.mktemp("questions"))
    x, y = a_brain(world), a_brain(world, "y")
    world.at(x).memorize("Shared kettle", "Every kettle boils.", tier="medulla")
    world.at(x).memorize("Kettle of x", "The kettle boils at ninety.")
    yield world, x, y
    world.close()


def shown(answer: dict[str, Any]) -> int:
    """How many items an answer lists, whatever it calls them."""
    groups = [row for group in answer.get("groups", ()) for row in group["rows"]]
    lists = [answer.get(key, ()) for key in LISTS]
    return (
        len(groups)
        + sum(map(len, lists))
        + ("entry" in answer)
        + bool(answer.get("match_count"))
        + (answer.get("node_id") is not None)
    )


LISTS = (
    *("results", "memory", "entries", "anchors", "evidence", "activated", "blast_radius", "modules", "predictions", "holes"),
    *("structural_holes", "path", "paths", "files", "commits", "timeline", "suspects", "frames", "seeds", "priming", "nodes"),
)


WORDS = st.one_of(
    st.sampled_from(["kettle", "boils at ninety", "Kettle of x", "nothing", "harbour crane", "'\" OR 1=1 --", "NEAR(a b)", "*"]),
    st.text(max_size=40),
)
TIER = st.sampled_from([None, "project", "medulla", "all-brains", "everything"])
ONE_WORD = {
    "memory.search": "query",
    "activate": "query",
    "search": "query",
    "glob": "pattern",
    "graph.show": "node",
    "impact": "node_id",
    "predict": "changed_node",
    "missing": "query",
    "timeline": "node",
    "trace": "text",
    "warmup": "task_description",
    "brief": "query",
    "context": "query",
    "knowledge.retrieve": "query",
    "experience.query": "space",
}
QUESTIONS = st.one_of(
    st.tuples(
        st.just("seek"),
        st.fixed_dictionaries(
            {"query": WORDS, "tier": TIER},
            optional={
                "scope": st.sampled_from(["light::", "src", "file::src/a.py", "/elsewhere", "X", "Y"]),
                "top_k": st.integers(1, 5),
                "min_score": st.floats(0, 1),
                "include_history": st.booleans(),
            },
        ),
    ),
    st.tuples(st.just("north"), st.fixed_dictionaries({"task": st.none() | WORDS, "tier": TIER})),
    st.tuples(
        st.just("recall"),
        st.fixed_dictionaries(
            {"query": st.none() | WORDS, "tier": TIER},
            optional={"as_of": st.integers(0, 2_000_000_000_000), "limit": st.integers(1, 3)},
        ),
    ),
    st.tuples(st.just("boot_memory"), st.fixed_dictionaries({"action": st.just("list"), "tier": TIER})),
    *(
        st.tuples(st.just(tool), st.fixed_dictionaries({name: st.sampled_from(["file::a.py", "file::package.json"]) | WORDS}))
        for tool, name in ONE_WORD.items()
    ),
    st.tuples(st.just("why"), st.fixed_dictionaries({"source": WORDS, "target": st.just("file::package.json") | WORDS})),
    st.tuples(st.just("panoramic"), st.fixed_dictionaries({}, optional={"scope": WORDS})),
    st.tuples(
        st.just("boot_memory"), st.fixed_dictionaries({"action": st.just("get"), "key": st.just("kettle") | WORDS, "tier": TIER})
    ),
)


@pytest.mark.req("RC-031", "RC-004", "RC-003")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(question=QUESTIONS, brainless=st.booleans())
def test_rc_031_an_empty_list_is_never_ok(
    home: tuple[World, str, str], question: tuple[str, dict[str, Any]], brainless: bool
) -> None:
    world, x, y = home
    tool, arguments = question
    scope = {"X": x, "Y": y}.get(arguments.get("scope", ""), arguments.get("scope"))
    arguments = {**arguments, **({"scope": scope} if "scope" in arguments else {})}

    answer = world.at(str(world.place) if brainless else x).call(tool, **arguments)
    found = checked(answer, tool)

    assert found["status"] != "ok" or shown(answer) > 0
    assert found["status"] != "ok" or tool != "seek" or answer["results"]
    assert not found["observed"]["candidates"] or answer["ok"]


@pytest.mark.req("RC-031", "RC-002")
def test_rc_031_the_property_covers_every_retrieval_operation() -> None:
    assert set(RETRIEVAL) == {"seek", "north", "recall", "boot_memory", "why", "panoramic", *ONE_WORD}
