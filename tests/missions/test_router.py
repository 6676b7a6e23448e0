"""The one next move: each rule of the table where it is the first match, what is forbidden meanwhile and by whom, and what a
budget leaves. Missions are made of their events, as the log gives them."""

from typing import Any

import msgspec
import pytest

from hindbrain.domain.control import Loss
from hindbrain.domain.errors import MissionClosed
from hindbrain.domain.handover import DeadPath, Inheritance
from hindbrain.domain.mission import (
    Budget,
    EventType,
    Family,
    MissionEvent,
    MissionMode,
    MissionSpec,
    Move,
    Policy,
    RecoveryPayload,
    RecoveryStep,
    Route,
    TrustEnvelope,
)
from hindbrain.engines.course import Course
from hindbrain.engines.mission_limits import undeclared
from hindbrain.engines.mission_moves import argv_of
from hindbrain.engines.mission_router import Facts, explained, remaining, route
from hindbrain.operations.registry import REGISTRY
from hindbrain.policy.mission_routes import RULES, TOOLS
from hindbrain.policy.missions import BUDGETS
from tests.support.missions import chained, claimed, course, event, guard, spec
from tests.support.world import START_MS

HOST_TOOLS = {"read", "grep", "edit", "ask_human"}


def guarded(freshness: str = "fresh", *, stale_build: bool = False, nodes: int = 40, **changes: Any) -> MissionEvent:
    """What the guard wrote down at the start."""
    trust = TrustEnvelope(
        verdict="full_trust" if freshness == "fresh" else "needs_ingest",
        graph_freshness=freshness,  # type: ignore[arg-type]  # one of four, and the record checks it when it is read
        binding_fingerprint="sha256:0",
        node_count=nodes,
        edge_count=nodes,
        changed_files_since_ingest=0,
        checked_at="2026-01-01T00:00:00.000Z",
    )
    payload = {
        "guard": msgspec.to_builtins(guard(**changes)),
        "trust": msgspec.to_builtins(trust),
        "stale_build": stale_build,
    }
    return event("context_guard", ".", actor="runtime", payload=payload)


def read(path: str = "src/a.py") -> MissionEvent:
    return event("file_read", path, tool="read", target_digest="sha256:1")


def seek(query: str = "where is it", *candidates: str, outcome: str = "found") -> MissionEvent:
    payload = {"query": query, "candidates": list(candidates)}
    return event("semantic_search", query, tool="seek", outcome=outcome, payload=payload)


def judged(verdict: str, directive: str = "change_path", **control: Any) -> MissionEvent:
    """A verification that failed, with what the controller made of it."""
    made = claimed("it is in a.py", verdict=verdict, targets=("src/a.py",))
    state = {
        "round": 1,
        "loss": msgspec.to_builtins(Loss(D=1.0, P=0.5, Omega=0.1, L=0.9)),
        "directive": directive,
        "prev_directive": "init",
        **control,
    }
    return msgspec.structs.replace(made, payload={**made.payload, "control": state, "round": {}})


def facts(*events: MissionEvent, at: int = 1_000, given: MissionSpec | None = None, **more: Any) -> Facts:
    return Facts(course=course(*events, given=given), now=START_MS + at, **more)


def wrong_guard() -> MissionEvent:
    step = RecoveryStep(order=1, surface="mcp", call="ingest", arguments={"path": "/srv/repo"}, mutating=True)
    way = RecoveryPayload(
        kind="same_binding_ingest", why="the graph is of another place", steps=(step,), proof_required=("context_guard",)
    )
    return guarded(classification="wrong_workspace_binding", workspace_match=False, reason="bound to /srv/other", recovery=way)


# One mission for each rule in which it is the first that matches.
FIRST: dict[str, Facts] = {
    "P1": facts(wrong_guard()),
    "P2": facts(guarded(stale_build=True)),
    "P3": facts(guarded(), seek(outcome="empty")),
    "P4": facts(guarded(), given=spec(known_targets=("src/a.py",))),
    "P5": facts(guarded("empty", nodes=0)),
    "P6": facts(guarded(), seek("where is it", "src/b.py")),
    "P7": facts(guarded(), event("dir_list", "src", tool="list"), event("dir_list", "src", tool="list")),
    "P8": facts(guarded(), read()),
    "P9": facts(guarded(), read(), judged("insufficient_evidence")),
    "P10": facts(guarded(), read(), claimed("it is in a.py")),
    "P11": facts(guarded(), given=spec(mode=MissionMode.REFACTOR, route=Route.BALANCED)),
    "P12": facts(
        guarded(),
        event("note", payload={"statements": {"the cache holds 100 entries": "open"}}),
        given=spec(mode=MissionMode.DOCS_DRIFT, route=Route.DOCS_BINDING),
    ),
    "P13": facts(
        guarded(),
        read(),
        claimed("the version is set"),
        given=spec(mode=MissionMode.RELEASE, route=Route.RELEASE_PREFLIGHT),
        test_command=("python", "-m", "pytest"),
    ),
    "P14": facts(guarded(), at=70_000),
    "P15": facts(guarded(), read(), claimed("it is so"), given=spec(mode=MissionMode.REVIEW)),
    "P16": facts(guarded()),
}


@pytest.mark.parametrize("rule", FIRST)
def test_aol_138_each_rule_decides_where_it_is_the_first_match(rule: str) -> None:
    routed = route(FIRST[rule])

    assert (routed.rule, routed.policy.rule) == (rule, rule)


def test_aol_138_aol_144_the_fixtures_cover_the_whole_table() -> None:
    assert ["P0", *FIRST] == list(RULES)


@pytest.mark.parametrize(
    ("status", "left"), [("closed", None), ("abandoned", None), (None, True)], ids=["closed", "abandoned", "handed over"]
)
def test_aol_144_a_mission_that_is_not_active_has_no_move(status: str | None, left: bool | None) -> None:
    last = (
        event("handoff", "hnd_1", payload={"handoff_id": "hnd_1", "leave": True})
        if left
        else event("close", payload={"status": status})
    )
    over = facts(guarded(), last)

    with pytest.raises(MissionClosed, match="handed_off" if left else str(status)):
        route(over)
    assert explained(over)["rule"] == "P0"


@pytest.mark.parametrize("rule", FIRST)
def test_aol_025_aol_135_aol_136_aol_139_every_answer_is_one_move_with_a_whole_policy(rule: str) -> None:
    routed = route(FIRST[rule])

    assert isinstance(routed.move, Move)
    told = msgspec.to_builtins(routed.policy)
    assert msgspec.convert(told, Policy) == routed.policy
    assert set(told) >= {
        "allowed_tools",
        "preferred_tool",
        "do_not",
        "stop_condition",
        "fallback",
        "evidence_required",
        "budget_remaining",
    }
    assert told["preferred_tool"] == routed.move.tool
    assert isinstance(told["do_not"], list | tuple)
    for entry in routed.policy.do_not:
        assert all((entry.item, entry.reason, entry.source, entry.until))
    assert routed.policy.evidence_required
    assert set(routed.policy.budget_remaining.__struct_fields__) == {"tool_calls", "files", "ms"}


@pytest.mark.parametrize("rule", FIRST)
def test_aol_135_what_is_offered_is_not_forbidden_and_can_be_called(rule: str) -> None:
    routed = route(FIRST[rule])
    barred = {one.item for one in routed.policy.do_not}

    assert not barred & set(routed.policy.allowed_tools)
    assert routed.move.tool not in barred
    if routed.move.tool not in HOST_TOOLS:
        known = REGISTRY[routed.move.tool].arguments
        assert set(routed.move.arguments) <= {one.encode_name for one in msgspec.structs.fields(known)}


def test_aol_135_every_tool_the_router_may_name_is_one_that_exists() -> None:
    assert [one for one in TOOLS if one not in REGISTRY and one not in HOST_TOOLS] == []


# -- the rows of the table -------------------------------------------------------------------------------------------------


def do_not(found: Facts) -> dict[str, str]:
    return {one.item: one.source for one in route(found).policy.do_not}


def test_aol_145_a_wrong_workspace_is_left_by_the_guards_own_way_and_nothing_is_retrieved() -> None:
    routed = route(FIRST["P1"])

    assert (routed.move.type, routed.move.tool, routed.move.arguments) == ("ingest", "ingest", {"path": "/srv/repo"})
    assert {"graph", "search", "glob", "recall"} <= set(do_not(FIRST["P1"]))
    assert {one.source for one in routed.policy.do_not} == {"guard"}
    after = facts(wrong_guard(), guarded())
    assert route(after).rule == "P16"
    assert do_not(after) == {}


def test_aol_146_a_stale_host_is_planned_rebound_and_checked_in_this_order() -> None:
    done: list[MissionEvent] = [guarded(stale_build=True)]
    told = []
    for _ in range(5):
        move = route(facts(*done)).move
        told.append((move.type, move.tool))
        family = TOOLS[move.tool]
        done.append(event("command", move.target, tool=move.tool, tool_family=family, evidence_class="unclassified"))

    assert told == [
        ("recover", "update.plan"),
        ("recover", "hosts.plan"),
        ("rebind", "session_handshake"),
        ("recover", "trust_selftest"),
        ("ask_human", "ask_human"),
    ]
    assert do_not(FIRST["P2"]) == {"graph": "guard"}
    fresh = event("recovery", ".", tool="hosts", outcome="recovered")
    assert route(facts(guarded(stale_build=True), fresh)).rule == "P16"


@pytest.mark.parametrize("outcome", ["empty", "blocked", "error"])
def test_aol_147_a_full_graph_that_answers_nothing_is_repaired_then_the_files_are_asked(outcome: str) -> None:
    given = spec(task="find parse_date", route=Route.TRAINED_AUDIT)
    done = [guarded(), seek(outcome=outcome)]
    told = []
    for _ in range(3):
        routed = route(facts(*done, given=given))
        told.append(routed.move.tool)
        assert "seek" in {one.item for one in routed.policy.do_not}
        done.append(event("command", ".", tool=routed.move.tool, tool_family="recovery", evidence_class="unclassified"))

    assert told == ["recovery_playbook", "doctor", "search"]
    found = event("literal_search", "parse_date", tool="search", outcome="empty", payload={"query": "parse_date"})
    after = route(facts(*done[:-1], found, given=given))
    assert after.rule != "P3"  # that nothing is there is an answer too
    assert "seek" not in {one.item for one in after.policy.do_not if one.source == "route"}


def test_aol_147_an_empty_graph_that_answers_nothing_is_as_it_should_be() -> None:
    assert route(facts(guarded("fresh", nodes=0), seek(outcome="empty"))).rule != "P3"


def test_aol_053_aol_142_aol_148_a_known_target_is_read_and_no_graph_is_offered() -> None:
    routed = route(FIRST["P4"])

    assert (routed.move.type, routed.move.target, routed.route) == ("read_file", "src/a.py", Route.DIRECT_PROOF)
    assert do_not(FIRST["P4"]) == {"graph": "route"}
    assert not [one for one in routed.policy.allowed_tools if TOOLS[one] is Family.GRAPH]
    assert route(facts(guarded(), read(), given=spec(known_targets=("src/a.py",)))).rule != "P4"


def test_aol_148_a_known_test_is_run_and_a_name_is_searched_for() -> None:
    test = route(facts(given=spec(known_targets=("tests/test_a.py",)), test_command=("python", "-m", "pytest"))).move
    name = route(facts(given=spec(known_targets=("parse_date",)))).move

    assert (test.type, test.arguments["command"]) == ("run_test", ["python", "-m", "pytest", "tests/test_a.py"])
    assert (name.type, name.target) == ("literal_search", "parse_date")


def test_aol_148_the_files_of_a_claim_are_looked_at_when_they_exist() -> None:
    claim = claimed("it is in a.py", verify=False, targets=("src/a.py",))
    there = msgspec.structs.replace(claim, payload={**claim.payload, "existing": ["src/a.py"]})

    assert route(facts(guarded(), there)).move.target == "src/a.py"
    assert route(facts(guarded(), claim)).rule == "P16"


def test_aol_148_a_target_that_was_looked_for_in_vain_is_not_asked_for_again() -> None:
    gone = event("file_read", "src/gone.py", tool="read", evidence_class="direct_unverified", outcome="error")

    assert route(facts(guarded(), gone, given=spec(known_targets=("src/gone.py",)))).rule != "P4"


@pytest.mark.parametrize("freshness", ["empty", "stale"])
def test_aol_149_an_unknown_repository_is_taken_in_then_audited_then_read(freshness: str) -> None:
    given = spec(route=Route.BALANCED)
    first = facts(guarded(freshness), given=given)
    taken_in = (guarded(freshness), event("graph_ingest", ".", tool="ingest"))
    audited = (*taken_in, event("audit", ".", tool="panoramic", payload={"candidates": ["src/b.py"]}))

    assert (route(first).rule, route(first).move.type) == ("P5", "ingest")
    assert do_not(first) == {"mission.claim": "route"}
    second = route(facts(*taken_in, given=given))
    assert (second.rule, second.move.tool) == ("P5", "panoramic")
    third = route(facts(*audited, given=given))
    assert third.rule != "P5"


def test_aol_149_without_a_tool_for_it_the_files_are_searched() -> None:
    routed = route(facts(guarded("empty"), given=spec(task="find parse_date"), missing_tools=frozenset({"ingest"})))

    assert (routed.rule, routed.move.type) == ("P5", "literal_search")


def test_aol_016_aol_143_aol_150_after_its_one_question_the_short_route_reads() -> None:
    routed = route(FIRST["P6"])

    assert (routed.move.type, routed.move.target) == ("read_file", "src/b.py")
    assert do_not(FIRST["P6"]) == {"graph": "loop"}
    (graph,) = routed.policy.do_not
    assert (graph.kind, "direct event" in graph.until) == ("tool_family", True)
    after = facts(guarded(), seek("where is it", "src/b.py"), read("src/b.py"))
    assert "graph" not in do_not(after)


def test_aol_016_taking_the_files_in_leaves_the_one_question_and_is_done_once() -> None:
    taken_in = facts(guarded("empty"), event("graph_ingest", ".", tool="ingest"))

    assert TOOLS[route(taken_in).move.tool] is Family.GRAPH
    assert do_not(taken_in)["ingest"] == "route"


def test_aol_150_without_a_candidate_the_words_are_searched_then_a_person_is_asked() -> None:
    given = spec(task="find parse_date")
    tried = [
        event("literal_search", word, outcome="blocked", evidence_class="unclassified", payload={"query": word})
        for word in ("parse_date", "find")
    ]

    assert route(facts(guarded(), seek(), given=given)).move.target == "parse_date"
    assert route(facts(guarded(), seek(), *tried, given=given)).move.type == "ask_human"


def test_aol_151_a_loop_is_left_for_another_place_and_the_item_is_barred() -> None:
    given = spec(route=Route.ARCHITECTURE_SURVEY)
    again = facts(guarded(), seek("where is it", "src/b.py"), seek("where is it", "src/b.py"), given=given)
    routed = route(again)

    assert (routed.rule, routed.move.target) == ("P7", "src/b.py")
    assert do_not(again) == {"where is it": "loop"}
    assert (
        route(
            facts(guarded(), seek("where is it", "src/b.py"), seek("where is it", "src/b.py"), read("src/b.py"), given=given)
        ).rule
        == "P8"
    )


def test_aol_151_standing_still_ends_in_a_conclusion_or_a_hand_over() -> None:
    idle = [event("dir_list", "src", tool=f"list{number}") for number in range(6)]
    proven = route(facts(guarded(), read("src"), *idle))
    asked = [
        event("literal_search", one, outcome="error", evidence_class="unclassified", payload={"query": one})
        for one in ("fault", "find")
    ]
    empty = route(facts(guarded(), *asked, *idle))

    assert (proven.rule, proven.move.tool) == ("P7", "mission.claim")
    assert (empty.rule, empty.move.type) == ("P7", "handoff")


def test_aol_152_evidence_without_a_claim_is_concluded_from() -> None:
    seen = read()
    routed = route(facts(guarded(), seen))
    claim = claimed("it is in a.py", verify=False, targets=("src/a.py",))

    assert (routed.move.type, routed.move.tool) == ("claim", "mission.claim")
    assert routed.move.arguments["evidence_refs"] == [seen.event_id]
    verify = route(facts(guarded(), seen, claim)).move
    assert (verify.tool, verify.arguments["claim"]) == ("mission.verify", claim.payload["claim"]["claim_id"])


@pytest.mark.parametrize(
    ("directive", "blocked", "expected"),
    [
        ("refine", {}, ("read_file", "src/a.py")),
        ("change_path", {"blocked_targets": ["src/a.py"]}, ("read_file", "src/b.py")),
        ("change_approach", {"blocked_tools": ["read"]}, ("run_test", ".")),
        ("break_symmetry", {"blocked_tools": ["read", "mission.run"]}, ("literal_search", "parse_date")),
        ("abandon", {}, ("handoff", "msn_01TEST")),
    ],
)
def test_aol_153_a_directive_decides_the_move_and_what_it_blocks_is_barred(
    directive: str, blocked: dict[str, list[str]], expected: tuple[str, str]
) -> None:
    given = spec(task="find parse_date", route=Route.BALANCED)
    asked = facts(
        guarded(),
        seek("where is it", "src/b.py"),
        read("src/c.py"),
        judged("insufficient_evidence", directive, **blocked),
        given=given,
        test_command=("pytest",),
    )
    routed = route(asked)

    assert (routed.rule, routed.move.type, routed.move.target) == ("P9", *expected)
    for item in (one for names in blocked.values() for one in names):
        assert do_not(asked)[item] == "ggs"


def test_aol_153_new_evidence_is_judged_and_a_success_ends_the_directive() -> None:
    failed = judged("insufficient_evidence", blocked_targets=["x.py"])
    name = failed.payload["claim"]["claim_id"]
    again = route(facts(guarded(), read(), failed, read("src/b.py"))).move
    proven = facts(guarded(), read(), failed, read("src/b.py"), claimed("it is in a.py", claim_id=name))

    assert (again.tool, again.arguments["claim"]) == ("mission.verify", name)
    assert route(proven).rule == "P10"
    assert "x.py" not in do_not(proven)


def test_aol_154_a_finding_is_swept_around_in_five_ways_before_the_end() -> None:
    routed = route(FIRST["P10"])

    assert (routed.move.type, len(routed.move.suggested_focus)) == ("direct_sweep", 5)
    assert do_not(FIRST["P10"]) == {"graph": "route", "mission.close": "route"}
    inside = read("src/b.py")
    swept = (guarded(), read(), claimed("it is in a.py"), inside)
    assert route(facts(*swept)).move.arguments["payload"]["linked_seqs"] == [4]
    assert route(facts(*swept, event("coverage_sweep", "."))).rule == "P10"  # bare: nothing inside it
    assert route(facts(*swept, event("coverage_sweep", ".", payload={"linked_seqs": [4]}))).rule == "P15"


def test_aol_155_a_refactor_is_checked_before_its_first_edit() -> None:
    given = spec(mode=MissionMode.REFACTOR, route=Route.RISK_FIRST, known_targets=("src/a.py",))
    claim = claimed("it may be moved", verify=True)
    ready = (guarded(), read(), claim)
    routed = route(facts(*ready, given=given))

    assert (routed.rule, routed.move.tool, routed.move.arguments) == ("P11", "impact", {"node_id": "src/a.py"})
    assert do_not(facts(*ready, given=given))["edit"] == "route"
    assert route(facts(*ready, event("impact", "src/a.py", tool="impact"), given=given)).rule != "P11"
    assert route(facts(*ready, given=given, graph=False)).move.type == "literal_search"


def test_aol_156_statements_are_bound_one_by_one() -> None:
    routed = route(FIRST["P12"])
    given = spec(mode=MissionMode.DOCS_DRIFT, route=Route.DOCS_BINDING)
    told = event("note", payload={"statements": {"the cache holds 100 entries": "unbound"}})

    assert (routed.move.tool, routed.move.target, routed.policy.evidence_required) == (
        "seek",
        "the cache holds 100 entries",
        "doc_bound",
    )
    assert route(facts(guarded(), told, given=given)).rule != "P12"


def test_aol_157_a_release_runs_its_tests_and_reads_version_and_changes() -> None:
    given = spec(mode=MissionMode.RELEASE, route=Route.RELEASE_PREFLIGHT)
    ready = (guarded(), read(), claimed("the version is set"))
    files = ("pyproject.toml", "CHANGELOG.md")
    told = event("test_run", ".", evidence_class="direct_unverified", outcome="passed", payload={"command": "pytest -q"})
    ran = event("test_run", ".", outcome="passed", payload={"command": "pytest -q"})

    assert route(FIRST["P13"]).move.arguments["command"] == ["python", "-m", "pytest"]
    assert do_not(FIRST["P13"]) == {"mission.close": "route"}
    assert route(facts(*ready, told, given=given, release_files=files)).move.arguments["command"] == ["pytest", "-q"]
    reading = route(facts(*ready, ran, given=given, release_files=files))
    assert (reading.rule, reading.move.target) == ("P13", "pyproject.toml")
    done = (*ready, ran, read("pyproject.toml"), read("CHANGELOG.md"))
    assert route(facts(*done, given=given, release_files=files)).rule == "P15"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -q 'tests/a b.py'", ("pytest", "-q", "tests/a b.py")),
        ("make test | tail", ("sh", "-c", "make test | tail")),
        ("pytest 'unclosed", ("sh", "-c", "pytest 'unclosed")),
        ("pytest $EXTRA", ("sh", "-c", "pytest $EXTRA")),
        ("pytest > log", ("sh", "-c", "pytest > log")),
    ],
)
def test_aol_157_a_command_that_was_told_is_given_back_as_it_can_be_run(line: str, words: tuple[str, ...]) -> None:
    assert argv_of(line) == words


def test_aol_159_what_is_proven_is_closed() -> None:
    routed = route(FIRST["P15"])

    assert (routed.move.type, routed.move.arguments) == ("close", {"mission_id": "msn_01TEST"})
    assert do_not(FIRST["P15"]) == {"graph": "route"}


@pytest.mark.parametrize(
    ("way", "tool"), [(Route.SHORT_AUDIT, "seek"), (Route.TRAINED_AUDIT, "panoramic"), (Route.BALANCED, "panoramic")]
)
def test_aol_005_aol_009_aol_160_without_a_question_one_cheap_look_is_proposed(way: Route, tool: str) -> None:
    routed = route(facts(guarded(), given=spec(route=way)))

    assert (routed.rule, routed.move.tool, routed.policy.do_not) == ("P16", tool, ())


def test_aol_160_without_a_graph_the_files_are_searched() -> None:
    routed = route(facts(given=spec(task="find parse_date"), graph=False))

    assert (routed.move.type, routed.move.tool, routed.move.arguments) == (
        "literal_search",
        "grep",
        {"pattern": "parse_date", "path": "."},
    )
    assert not [one for one in routed.policy.allowed_tools if TOOLS[one] is Family.GRAPH]


# -- budget ------------------------------------------------------------------------------------------------------------------


def listings(times: int) -> list[MissionEvent]:
    return [event("dir_list", f"src/{number}", tool="list") for number in range(times)]


def test_aol_055_the_largest_share_is_what_is_used() -> None:
    reads = [read("a.py"), read("b.py")]
    made = course(*reads, *listings(4), given=spec(budget=BUDGETS["short"]))

    assert (made.tool_calls, len(made.files)) == (6, 2)
    assert made.consumed(START_MS + 20_000) == 0.5
    assert made.consumed(START_MS + 10 * 90_000) == 1.0


def test_aol_056_what_remains_is_told_in_three_amounts() -> None:
    made = facts(read("a.py"), read("b.py"), *listings(4), at=20_000, given=spec(budget=BUDGETS["short"]))

    left = route(made).policy.budget_remaining
    assert (left.tool_calls, left.files, left.ms) == (6, 6, 70_000)
    assert remaining(made.course, START_MS + 10**9).ms == 0


def test_aol_057_aol_158_over_sixty_percent_without_direct_evidence_it_is_time_to_read() -> None:
    given = spec(task="find parse_date", budget=BUDGETS["short"])
    below = route(facts(guarded(), *listings(7), given=given))
    over = facts(guarded(), *listings(8), given=given)
    routed = route(over)

    assert below.soft_warning is None
    assert (routed.rule, routed.move.evidence_required) == ("P14", "direct_search")
    assert "over 60%" in (routed.soft_warning or "")
    assert do_not(over) == {"graph": "route"}
    seen = route(facts(guarded(), seek("where is it", "src/b.py"), *listings(7), given=spec(route=Route.BALANCED)))
    assert (seen.rule, seen.move.type, seen.move.target) == ("P14", "read_file", "src/b.py")
    assert route(facts(guarded(), *listings(8), read(), given=given)).soft_warning is None


def test_aol_057_an_empty_graph_is_not_taken_in_when_the_budget_is_for_proof() -> None:
    routed = route(facts(guarded("empty"), at=70_000, given=spec(task="find parse_date")))

    assert (routed.rule, routed.move.type) == ("P14", "literal_search")


@pytest.mark.parametrize(
    ("events", "tool"),
    [
        ((guarded(),), "mission.handoff"),
        ((guarded(), read()), "mission.handoff"),
        ((guarded(), read(), claimed("it is here", verify=False)), "mission.verify"),
        ((guarded(), read(), claimed("it is here")), "mission.handoff"),  # the sweep is open
        ((wrong_guard(),), "mission.handoff"),
    ],
    ids=["nothing", "evidence", "a claim", "a finding", "a wrong workspace"],
)
def test_aol_058_past_the_deadline_only_verify_handoff_and_close_are_offered(events: tuple[MissionEvent, ...], tool: str) -> None:
    routed = route(facts(*events, at=90_001))

    assert routed.move.tool == tool
    assert set(routed.policy.allowed_tools) == {"mission.verify", "mission.handoff", "mission.close"}
    assert "deadline has passed" in (routed.soft_warning or "")


def test_aol_058_with_all_calls_used_a_proven_mission_is_closed() -> None:
    given = spec(mode=MissionMode.REVIEW, budget=Budget(tool_calls_max=1, files_read_max=9, soft_deadline_ms=90_000))
    routed = route(facts(guarded(), read(), claimed("it is so"), given=given))

    assert routed.move.tool == "mission.close"
    assert "budget" in (routed.soft_warning or "")


def test_aol_059_saying_and_asking_are_no_calls() -> None:
    said = ("claim", "verify", "handoff", "dissent", "hypothesis", "dead_path", "note")
    events = [claimed("x", verify=False), claimed("y"), *(event(one, "x", payload={"handoff_id": "h"}) for one in said[2:])]

    assert course(*events).tool_calls == 0
    assert course(*events, *listings(2)).tool_calls == 2


# -- do_not --------------------------------------------------------------------------------------------------------------------


def test_aol_010_ctl_319_what_not_to_do_comes_from_every_source_with_its_reason() -> None:
    brought = Inheritance(dead_paths=(DeadPath(target="src/old.py", why_ruled_out="generated"),))
    asked = facts(
        guarded(),
        read("src/c.py"),
        event("dead_path", "src/d.py", payload={"why": "it is a copy"}),
        judged("insufficient_evidence", blocked_tools=["grep"], blocked_targets=["src/e.py"]),
        given=spec(known_targets=("src/f.py",), route=Route.BALANCED, inherited=msgspec.to_builtins(brought)),
        experience=(("ask_human", "tool", "two abandons on this intent"),),
    )
    told = {one.item: (one.source, one.reason) for one in route(asked).policy.do_not}

    assert {item: source for item, (source, _) in told.items()} == {
        "graph": "route",
        "grep": "ggs",
        "src/e.py": "ggs",
        "ask_human": "memory",
        "src/d.py": "loop",
        "src/old.py": "handoff",
    }
    assert told["ask_human"][1] == "two abandons on this intent"
    assert told["src/d.py"][1] == "it is a copy"


def test_aol_027_a_dissent_becomes_the_move_and_frees_what_it_chose() -> None:
    dissent = event(
        "dissent", payload={"why": "the names tell nothing", "chosen_tool": "seek", "evidence_required": "direct_source"}
    )
    used_up = (guarded(), seek("where is it", "src/b.py"))
    routed = route(facts(*used_up, dissent))

    assert (routed.move.tool, routed.move.evidence_required) == ("seek", "direct_source")
    assert "graph" not in {one.item for one in routed.policy.do_not}
    assert "graph" in do_not(facts(*used_up, dissent, seek("somewhere else")))  # it was for one move


def test_aol_129_a_dead_path_that_a_dissent_names_is_free() -> None:
    dead = event("dead_path", "src/d.py", payload={"why": "it is a copy"})
    dissent = event(
        "dissent", "src/d.py", payload={"why": "no copy", "chosen_tool": "read", "evidence_required": "direct_source"}
    )

    assert "src/d.py" in do_not(facts(guarded(), dead))
    assert "src/d.py" not in do_not(facts(guarded(), dead, dissent, read("src/d.py")))


def told_then(*before: MissionEvent, then: tuple[MissionEvent, ...]) -> str | None:
    """What is said about the last event, after a move was given out before the others."""
    made = course(*before)
    made.forbidden = route(Facts(course=made, now=START_MS)).policy.do_not
    for one in then:
        number = made.seq + 1
        made.add(chained((*before, *then))[number - 1] if one is not None else one)
    return undeclared(made, chained((*before, *then))[-1])


def test_aol_028_going_against_do_not_without_a_word_is_noticed() -> None:
    used_up = (guarded(), seek("where is it", "src/b.py"))
    dissent = event("dissent", payload={"why": "w", "chosen_tool": "seek", "evidence_required": "direct_source"})

    against = told_then(*used_up, then=(seek("elsewhere"),))
    assert (against or "").startswith("undeclared_dissent: ")
    assert "graph" in (against or "")
    assert told_then(*used_up, then=(dissent, seek("elsewhere"))) is None
    assert told_then(*used_up, then=(dissent, seek("elsewhere"), seek("and there"))) is not None  # one dissent, one act
    assert told_then(*used_up, then=(read("src/b.py"), seek("elsewhere"))) is None  # the end it named has come
    assert told_then(*used_up, then=(event("graph_ingest", ".", tool="ingest"),)) is None


def test_aol_028_a_dead_path_and_lines_read_too_often_are_watched_too() -> None:
    dead = event("dead_path", "src/d.py", payload={"why": "it is a copy"})
    lines = [event("file_read", "src/a.py", target_digest="sha256:1", payload={"range": [1, 20]}) for _ in range(3)]
    apart = [event("file_read", "src/a.py", target_digest="sha256:1", payload={"range": span}) for span in ([10, 12], [30, 40])]

    assert told_then(guarded(), dead, then=(read("src/d.py"),)) is not None
    assert told_then(guarded(), dead, then=(msgspec.structs.replace(read("src/d.py"), actor="runtime"),)) is None
    assert told_then(guarded(), *lines, then=(apart[0],)) is not None
    assert told_then(guarded(), *lines, then=(apart[1],)) is None


def test_aol_139_a_very_long_list_is_cut_and_says_so() -> None:
    dead = [event("dead_path", f"src/{number}.py", payload={"why": "no"}) for number in range(90)]
    routed = route(facts(guarded(), *dead))

    assert (len(routed.policy.do_not), routed.left_out) == (64, 26)
    assert routed.policy.do_not[0].item == "src/89.py"  # the newest are the likeliest


# -- explaining and reading again ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", FIRST)
def test_aol_137_explaining_names_the_rule_and_its_facts_and_changes_nothing(rule: str) -> None:
    asked = FIRST[rule]
    before = (asked.course.seq, asked.course.steps, asked.course.forbidden, asked.course.head)

    told = explained(asked)

    assert (told["rule"], told["because"]) == (rule, RULES[rule].when)
    assert [one["rule"] for one in told["considered"] if one["matched"]] == [rule]
    assert told["move"] == msgspec.to_builtins(route(asked).move)
    assert told["facts"]["events"] == asked.course.seq
    assert (asked.course.seq, asked.course.steps, asked.course.forbidden, asked.course.head) == before


def test_aol_317_aol_318_every_move_of_a_mission_is_found_again_from_its_log() -> None:
    given = spec(task="find parse_date", route=Route.TRAINED_AUDIT)
    events = chained(
        (
            guarded("empty"),
            event("graph_ingest", ".", tool="ingest"),
            event("audit", ".", tool="panoramic", payload={"candidates": ["src/b.py"]}),
            seek("where is it", "src/b.py", "src/c.py"),
            read("src/b.py"),
            event("dead_path", "src/c.py", payload={"why": "a copy"}),
            read("src/c.py"),
            judged("insufficient_evidence", blocked_targets=["src/b.py"]),
            read("src/d.py"),
            claimed("it is in d.py"),
            event("coverage_sweep", ".", payload={"linked_seqs": [9]}),
        )
    )
    live: Course = course(given=given)
    told = []
    for one in events:
        live.add(one)
        told.append(route(Facts(course=live, now=START_MS + one.seq)))

    again = [
        route(Facts(course=course(*events[:count], given=given), now=START_MS + count)) for count in range(1, len(events) + 1)
    ]

    assert again == told
    assert len({one.rule for one in told}) >= 5


def test_aol_141_the_version_of_the_table_is_the_one_the_mission_keeps() -> None:
    assert route(facts(guarded(), given=spec(policy_version="1"))).policy.version == "1"
    assert route(facts(guarded(), given=spec(policy_version="0"))).policy.version == "0"


def test_aol_138_a_look_that_nothing_would_bring_is_not_given_twice() -> None:
    """Whoever does as told is never told the same graph question again."""
    given = spec(task="find parse_date", route=Route.BALANCED, budget=BUDGETS["deep"])
    done: list[MissionEvent] = [guarded()]
    told = []
    for _ in range(6):
        move = route(facts(*done, given=given)).move
        told.append((move.tool, move.target))
        kind = {"panoramic": "audit", "seek": "semantic_search", "search": "literal_search"}.get(move.tool)
        if kind is None:
            break
        done.append(event(EventType(kind), move.target, tool=move.tool, outcome="error", payload={"query": move.target}))

    assert len(set(told)) == len(told)
