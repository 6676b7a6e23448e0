"""Missions as agents call them: modes, routes, budgets, first moves, what is forbidden, what circles cost, and when to close."""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hindbrain.domain.mission import EvidenceClass, MissionMode, Phase, Route, TrustEnvelope
from hindbrain.engines.mission_closing import open_requirements
from hindbrain.engines.mission_router import route
from hindbrain.engines.mission_starters import expected_phases, starters
from hindbrain.policy.missions import POLICY_VERSION, route_of
from hindbrain.services.missions import surroundings
from hindbrain.services.missions.surroundings import facts_of
from tests.support.missions import claimed, course, event, guard, spec
from tests.support.world import Actor, World

CODE = "def total(prices):\n    return sum(prices[1:])\n"
_NUMBERS = itertools.count(1)
_BOUNDED = ["unbounded exploration", "production readiness claim"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One repository for all: a mission belongs to its agent, and every test has its own."""
    made = World(tmp_path_factory.mktemp("shop"))
    made.brain("shop", **{"src/total.py": CODE, "src/b.py": "B = 1\n", "CHANGELOG.md": "# Changes\n"})
    yield made
    made.close()


@pytest.fixture
def agent(shop: World) -> Actor:
    return shop.at(shop.directory("shop"), f"codex:maker{next(_NUMBERS)}")


def start(agent: Actor, mode: str = "bug_hunt", **more: Any) -> dict[str, Any]:
    answer = agent.call("mission.start", task="find why the total of prices is wrong", mode=mode, **{"budget": "short", **more})
    assert answer["ok"], answer
    return answer


def told(agent: Actor, kind: str, target: str | None = None, **more: Any) -> dict[str, Any]:
    answer = agent.call("mission.event", event_type=kind, target=target, **more)
    assert answer["ok"], answer
    return answer


def following(agent: Actor) -> dict[str, Any]:
    answer = agent.call("mission.next")
    assert answer["ok"], answer
    return answer


# -- modes, routes, budgets --------------------------------------------------------------------------------------------------


TABLE = {
    "bug_hunt": ("short_audit", "trained_audit", "trained_audit"),
    "review": ("short_audit", "trained_audit", "trained_audit"),
    "refactor": ("balanced", "balanced", "risk_first"),
    "docs_drift": ("docs_binding",) * 3,
    "architecture": ("balanced", "balanced", "architecture_survey"),
    "release": ("release_preflight",) * 3,
    "host_recovery": ("recovery",) * 3,
    "orientation": ("balanced",) * 3,
    "task": ("balanced",) * 3,
}
NON_GOALS = {
    "bug_hunt": ["public performance claim", "complete security audit"],
    "release": ["host cache refresh proof", "graph repair proof"],
    "architecture": ["runtime correctness proof", "full refactor plan"],
}
PHASES = {"release": ["orient", "verify", "gate", "report"], "docs_drift": ["orient", "bind", "verify", "report"]}


def test_aol_052_aol_053_there_are_nine_modes_and_nine_routes() -> None:
    assert {one.value for one in MissionMode} == set(TABLE)
    assert {one.value for one in Route} == {one for row in TABLE.values() for one in row} | {"direct_proof"}


@pytest.mark.parametrize("mode", TABLE)
@pytest.mark.parametrize("risk", ["low", "medium", "high"])
def test_aol_053_the_route_follows_mode_budget_and_risk(mode: str, risk: str) -> None:
    found = tuple(route_of(MissionMode(mode), budget, risk).value for budget in ("short", "normal", "deep"))

    assert found == (("risk_first",) * 3 if (mode, risk) == ("refactor", "high") else TABLE[mode])


def test_aol_021_aol_045_aol_047_aol_052_aol_140_a_mission_of_each_mode_begins_with_its_phases_goals_and_criteria(
    agent: Actor,
) -> None:
    for mode in TABLE:
        more = {"criteria": ["the total is right"]} if mode == "task" else {}
        answer = start(agent, mode, non_goals=["a rewrite"], **more)

        assert answer["route"] == TABLE[mode][0]
        assert answer["expected_phases"] == PHASES.get(mode, ["locate", "verify", "report"])
        assert answer["non_goals"] == [*NON_GOALS.get(mode, _BOUNDED), "a rewrite"]
        assert answer["criteria"]
    criteria = [one["criterion"] for one in start(agent)["criteria"]]
    assert "each reported defect has a direct source reference" in criteria
    assert agent.call("mission.start", task="do it", mode="task")["error"]["code"] == "invalid_params"


def test_aol_045_the_phases_are_these_eight() -> None:
    assert [one.value for one in Phase] == ["orient", "locate", "bind", "verify", "gate", "report", "recover", "closed"]
    assert {one.value: [phase.value for phase in expected_phases(one)] for one in MissionMode} == {
        mode: PHASES.get(mode, ["locate", "verify", "report"]) for mode in TABLE
    }


BUDGETS: tuple[tuple[str | dict[str, int], tuple[int, int, int], str], ...] = (
    ("short", (12, 8, 90_000), "short_audit"),
    ("normal", (16, 10, 240_000), "trained_audit"),
    ("deep", (32, 20, 600_000), "trained_audit"),
    ({"tool_calls_max": 15, "files_read_max": 3, "soft_deadline_ms": 1_000}, (15, 3, 1_000), "short_audit"),
    ({"tool_calls_max": 40, "files_read_max": 3, "soft_deadline_ms": 1_000}, (40, 3, 1_000), "trained_audit"),
)


def test_aol_054_a_budget_is_a_preset_or_its_three_amounts(agent: Actor) -> None:
    for budget, amounts, way in BUDGETS:
        answer = start(agent, budget=budget)

        assert answer["budget"] == dict(zip(("tool_calls_max", "files_read_max", "soft_deadline_ms"), amounts, strict=True))
        assert answer["route"] == way
        left = agent.call("mission.next", mission_id=answer["mission_id"])["policy"]["budget_remaining"]
        assert (left["tool_calls"], left["files"], left["ms"]) == amounts


@pytest.mark.parametrize(
    ("freshness", "route", "tools"),
    [
        ("empty", Route.SHORT_AUDIT, ["ingest"]),
        ("empty", Route.BALANCED, ["ingest"]),
        ("fresh", Route.SHORT_AUDIT, ["seek", "mission.next"]),
        ("stale", Route.TRAINED_AUDIT, ["seek", "mission.next"]),
        ("fresh", Route.RISK_FIRST, ["panoramic"]),
        ("fresh", Route.BALANCED, ["panoramic"]),
        ("fresh", Route.RELEASE_PREFLIGHT, ["panoramic"]),
    ],
)
def test_aol_046_the_first_moves_follow_graph_and_route(freshness: str, route: Route, tools: list[str]) -> None:
    trust = TrustEnvelope(
        verdict="full_trust",
        graph_freshness=freshness,  # type: ignore[arg-type]  # one of four, as the table gives them
        binding_fingerprint="",
        node_count=1,
        edge_count=1,
        changed_files_since_ingest=0,
        checked_at="",
    )
    found = starters(spec(route=route), trust, focus=("src/b.py",))

    assert [one.tool for one in found] == tools
    assert found[0].focus == ("src/b.py",)
    if tools[0] == "seek":
        assert found[0].arguments["query"] == spec().task


def test_aol_046_a_mission_that_begins_proposes_its_first_moves(agent: Actor) -> None:
    assert [one["tool"] for one in start(agent)["starter_moves"]] == ["seek", "mission.next"]


# -- moves -------------------------------------------------------------------------------------------------------------------


def test_aol_005_aol_009_aol_025_one_move_comes_without_a_question(agent: Actor) -> None:
    start(agent)
    answer = following(agent)

    assert isinstance(answer["move"], dict)
    assert (answer["move"]["type"], answer["step_id"], answer["schema"]) == ("graph_query", 1, "hindbrain-mission-next-v1")
    assert answer["policy"]["preferred_tool"] == answer["move"]["tool"]
    assert answer["policy"]["do_not"] == ()
    called = agent.call(answer["move"]["tool"], **answer["move"]["arguments"])
    assert called["ok"], called  # as it stands


def test_aol_053_aol_142_aol_148_known_targets_make_the_first_move_a_direct_proof(agent: Actor) -> None:
    started = start(agent, known_targets=["src/total.py"])
    answer = following(agent)

    assert (started["route"], answer["route"]) == ("short_audit", "direct_proof")
    assert (answer["move"]["type"], answer["move"]["target"]) == ("read_file", "src/total.py")
    assert [(one["item"], one["kind"]) for one in answer["policy"]["do_not"]] == [("graph", "tool_family")]
    assert "seek" not in answer["policy"]["allowed_tools"]
    assert told(agent, "file_read", "src/total.py")["evidence_class"] == "direct_source"
    assert following(agent)["policy"]["rule"] == "P8"


def test_aol_010_aol_016_aol_143_after_one_question_the_short_route_forbids_the_graph_until_something_is_read(
    agent: Actor,
) -> None:
    start(agent)
    answer = told(agent, "semantic_search", "total of prices", tool="seek", payload={"candidates": ["src/total.py"]})
    assert [one["rule"] for one in answer["loop_warnings"]] == ["LW3"]

    stopped = following(agent)
    (entry,) = stopped["policy"]["do_not"]
    assert (entry["item"], entry["source"]) == ("graph", "loop")
    assert entry["reason"]
    assert (stopped["policy"]["rule"], stopped["move"]["target"]) == ("P6", "src/total.py")

    told(agent, "file_read", "src/total.py")
    assert following(agent)["policy"]["do_not"] == ()


def test_aol_028_a_forbidden_call_without_dissent_is_a_warning_of_the_mission(agent: Actor) -> None:
    start(agent)
    told(agent, "semantic_search", "total of prices", tool="seek")
    following(agent)

    answer = told(agent, "semantic_search", "another question", tool="seek")

    assert any(one.startswith("undeclared_dissent") for one in answer["warnings"])
    assert any(one.startswith("undeclared_dissent") for one in agent.call("mission.status")["warnings"])


def test_aol_027_a_dissent_is_counted_and_the_next_move_is_the_chosen_one(agent: Actor) -> None:
    start(agent)
    told(agent, "semantic_search", "total of prices", tool="seek")
    following(agent)
    told(
        agent,
        "dissent",
        payload={"why": "the names say nothing", "chosen_tool": "activate", "evidence_required": "direct_source"},
    )

    answer = following(agent)
    assert (answer["move"]["tool"], answer["move"]["type"]) == ("activate", "graph_query")
    assert told(agent, "graph_query", "price list", tool="activate")["warnings"] == []
    without = agent.call("mission.event", event_type="dissent", payload={"chosen_tool": "x", "evidence_required": "y"})
    assert without["error"]["code"] == "invalid_params"


def test_aol_137_explaining_changes_no_event_and_no_step(agent: Actor) -> None:
    start(agent)
    before = agent.call("mission.status")

    answer = agent.call("route_explain")

    assert (answer["ok"], answer["rule"], answer["facts"]["mode"]) == (True, "P16", "bug_hunt")
    after = agent.call("mission.status")
    assert (after["event_count"], after["next_step_id"]) == (before["event_count"], before["next_step_id"])
    assert following(agent)["policy"]["rule"] == answer["rule"]


def test_aol_058_past_the_deadline_the_mission_lives_and_is_told_to_come_to_an_end(shop: World, agent: Actor) -> None:
    start(agent)
    shop.clock.forward(90_001)

    answer = following(agent)

    assert answer["move"]["type"] == "handoff"
    assert set(answer["policy"]["allowed_tools"]) == {"mission.verify", "mission.handoff", "mission.close"}
    assert "deadline" in answer["soft_warning"]
    assert told(agent, "file_read", "src/total.py")["ok"]  # it is not killed
    assert (
        agent.call(
            "mission.verify",
            claim="the sum leaves the first price out",
            evidence_class="direct_source",
            evidence_refs=["direct_source:src/total.py:2"],
        )["verdict"]
        == "verified_for_mission"
    )


def test_aol_057_over_sixty_percent_without_proof_the_next_move_is_a_direct_one(agent: Actor) -> None:
    start(agent)
    for number in range(8):
        told(agent, "dir_list", f"place{number}")

    answer = following(agent)

    assert (answer["policy"]["rule"], answer["move"]["type"]) == ("P14", "literal_search")
    assert "over 60%" in answer["soft_warning"]


def test_aol_317_aol_318_what_was_told_follows_from_the_log_also_in_a_new_process(shop: World, agent: Actor) -> None:
    started = start(agent, budget="deep")
    mission = started["mission_id"]
    told_rules = [(following(agent)["policy"]["rule"], agent.call("mission.status")["event_count"])]
    for kind, target in (
        ("semantic_search", "total of prices"),
        ("semantic_search", "sum of prices"),
        ("file_read", "src/total.py"),
        ("dead_path", "src/b.py"),
        ("file_read", "src/b.py"),
    ):
        told(agent, kind, target, payload={"why": "one constant", "candidates": ["src/total.py"]})
        told_rules.append((following(agent)["policy"]["rule"], agent.call("mission.status")["event_count"]))
    before = following(agent)

    shop.restart()

    after = following(agent)
    assert (after["move"], after["policy"]) == (before["move"], before["policy"])
    house = shop.app.house
    with house.brains.use(house.router.write_route(agent.caller)) as opened:
        found = [route(facts_of(house.mission_log.at(opened, mission, seq), shop.clock())).rule for _, seq in told_rules]
    assert found == [rule for rule, _ in told_rules]
    assert len(set(found)) >= 3
    assert agent.call("mission.status", at=1)["event_count"] == 1


# -- circles -------------------------------------------------------------------------------------------------------------------


def test_aol_124_aol_131_aol_133_a_repeated_search_is_an_event_and_a_number_of_the_mission(agent: Actor) -> None:
    start(agent, budget="deep")
    first = told(agent, "literal_search", "prices total", payload={"query": "prices total"})
    told(agent, "file_read", "src/b.py")
    second = told(agent, "literal_search", "Total, prices", payload={"query": "Total, prices"})

    assert first["loop_warnings"] == []
    (warning,) = second["loop_warnings"]
    assert (warning["rule"], warning["action"]) == ("LW2", "warn")
    assert warning["event_ids"] == [first["event_id"], second["event_id"]]
    told(agent, "file_read", "src/total.py")
    third = told(agent, "literal_search", "prices total", payload={"query": "prices total"})
    assert [one["action"] for one in third["loop_warnings"]] == ["do_not"]
    entries = [one for one in following(agent)["policy"]["do_not"] if one["source"] == "loop"]
    assert [one["item"] for one in entries] == ["prices total"]
    told(agent, "file_edit", "src/b.py")
    assert [one for one in following(agent)["policy"]["do_not"] if one["item"] == "prices total"] == []
    assert agent.call("mission.verify_chain")["ok"]


def test_aol_129_a_dead_path_is_blocked_until_a_dissent_gives_a_reason(agent: Actor) -> None:
    start(agent, budget="deep")
    dead = told(agent, "dead_path", "src/b.py", payload={"why": "it holds one constant"})

    answer = told(agent, "file_read", "src/b.py")

    (warning,) = answer["loop_warnings"]
    assert (warning["rule"], warning["action"]) == ("LW7", "block")
    assert "one constant" in warning["message"]
    assert dead["event_id"] in warning["event_ids"]
    assert "src/b.py" in [one["item"] for one in following(agent)["policy"]["do_not"]]
    told(agent, "dissent", "src/b.py", payload={"why": "B is used", "chosen_tool": "read", "evidence_required": "direct_source"})
    assert "src/b.py" not in [one["item"] for one in following(agent)["policy"]["do_not"]]


# -- closing -------------------------------------------------------------------------------------------------------------------


def test_aol_036_aol_099_a_finding_without_a_sweep_and_a_claim_nobody_judged_keep_a_mission_open(agent: Actor) -> None:
    start(agent)
    agent.call(
        "mission.verify",
        claim="the sum leaves the first price out",
        evidence_class="direct_source",
        evidence_refs=["direct_source:src/total.py:2"],
    )
    claim = agent.call("mission.claim", claim="B is wrong too")

    refused = agent.call("mission.close")

    assert refused["error"]["code"] == "mission_open"
    assert "coverage_sweep" in refused["error"]["message"]
    assert claim["claim_id"] in refused["error"]["message"]
    listed = agent.call("mission.close", gaps=["B is wrong too"])
    assert claim["claim_id"] not in listed["error"]["message"]
    move = following(agent)
    assert (move["policy"]["rule"], move["move"]["tool"]) == ("P8", "mission.verify")


def test_aol_141_the_version_of_the_tables_stands_in_every_mission_and_its_packet(agent: Actor) -> None:
    started = start(agent, "review")
    agent.call("mission.verify", claim="B is one", evidence_class="direct_source", evidence_refs=["direct_source:src/b.py:1"])

    closed = agent.call("mission.close", summary="done")

    assert closed["ok"], closed
    assert started["policy_version"] == POLICY_VERSION
    packet = agent.call("mission.export", mission_id=started["mission_id"], format="proof")
    assert packet["data"]["policy_version"] == POLICY_VERSION


def test_aol_036_what_is_open_by_rule() -> None:
    wrong = msgspec.to_builtins(guard(classification="wrong_workspace_binding", reason="bound elsewhere"))
    release = spec(mode=MissionMode.RELEASE, route=Route.RELEASE_PREFLIGHT)
    docs = spec(mode=MissionMode.DOCS_DRIFT, route=Route.DOCS_BINDING)
    seen = event("test_run", ".", outcome="passed", payload={"command": "pytest"})
    said = msgspec.structs.replace(seen, evidence_class=EvidenceClass.DIRECT_UNVERIFIED)
    open_claim = claimed("it is so", verify=False)
    stated = event("note", payload={"statements": {"a holds b": "open", "c holds d": "unbound"}})

    def names(*events: Any, given: Any = None, gaps: tuple[str, ...] = ()) -> list[str]:
        return [one.partition(":")[0] for one in open_requirements(course(*events, given=given), gaps)]

    read = event("file_read", "src/a.py")
    assert names() == ["nothing_proven"]
    assert names(read) == []
    assert names(read, event("context_guard", ".", payload={"guard": wrong})) == ["context_guard"]
    assert names(claimed("found")) == ["coverage_sweep"]
    assert names(claimed("found"), gaps=("coverage_sweep",)) == ["coverage_sweep"]  # takes force
    assert names(open_claim) == [open_claim.payload["claim"]["claim_id"]]
    assert names(open_claim, gaps=("it is so",)) == []
    assert names(claimed("ready"), said, given=release) == ["release_tests"]
    assert names(claimed("ready"), said, given=release, gaps=("release_tests",)) == []
    assert names(claimed("ready"), seen, given=release) == []
    assert names(read, stated, given=docs) == ["a holds b"]


# -- surroundings ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, ("python", "-m", "pytest", "-q")),
        ({"tests/test_a.py": "import unittest\n"}, ("python", "-m", "unittest")),
        ({"package.json": '{"scripts": {"test": "jest"}}'}, ("npm", "test", "--")),
        ({"package.json": "{broken", "go.mod": "module x\n"}, ("go", "test", "./...")),
        ({"Cargo.toml": "[package]\n"}, ("cargo", "test")),
        ({"README.md": "x\n"}, ()),
    ],
)
def test_aol_157_how_tests_are_run_is_seen_in_the_repository(
    tmp_path: Path, files: dict[str, str], command: tuple[str, ...]
) -> None:
    for name, text in files.items():
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)

    assert surroundings.test_command(str(tmp_path)) == command


def test_aol_148_aol_157_files_of_a_claim_and_of_a_release_are_those_that_exist(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "setup.py", "CHANGES.md"):
        (tmp_path / name).write_text("x\n")

    assert surroundings.release_files(str(tmp_path)) == ("pyproject.toml", "CHANGES.md")
    assert surroundings.existing(str(tmp_path), ("setup.py", "gone.py", "a\0b", "x" * 5_000)) == ("setup.py",)


def test_aol_157_a_release_is_gated_by_a_test_that_was_really_run(
    agent: Actor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_one.py").write_text(
        "import unittest\n\nclass One(unittest.TestCase):\n    def test_it(self): pass\n"
    )
    start(agent, "release")
    agent.call(
        "mission.verify",
        claim="CHANGELOG.md holds `# Changes`",
        evidence_class="direct_source",
        evidence_refs=["direct_source:CHANGELOG.md:1"],
    )
    gate = following(agent)
    assert (gate["policy"]["rule"], gate["move"]["type"], gate["phase"]) == ("P13", "run_test", "gate")
    told(agent, "test_run", "tests", outcome="passed", payload={"command": "pytest", "exit_status": 0})
    assert following(agent)["policy"]["rule"] == "P13"  # only said

    ran = agent.call("mission.run", command=[sys.executable, "-m", "unittest", "discover", "-s", str(tmp_path / "checks")])

    assert ran["ok"], ran
    assert "Ran 1 test" in capfd.readouterr().err
    assert (ran["evidence_class"], following(agent)["phase"]) == ("direct_test", "report")
