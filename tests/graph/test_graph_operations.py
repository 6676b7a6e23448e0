"""The operations on a graph, through the house: answers, envelopes, learning that lasts, claims beside code."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.graph import Edge, Node
from tests.contract.envelopes import checked
from tests.support.given_graph import given_graph, small_project, symbol, weight_of
from tests.support.world import DAY, World, git

HUB, ONE, TWO, CHAIN = (f"file::pkg/{name}.zz" for name in ("hub", "one", "two", "chain"))


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["node_id"] for row in rows]


def plain(answer: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in answer.items() if key != "elapsed_ms"}, sort_keys=True)


# -- activate ------------------------------------------------------------------------------------------------------------


def test_gr_075_an_answer_has_its_fields_and_only_external_ids(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("activate", query="load", include_structural_holes=True)

    fields = {"query", "seeds", "activated", "ghost_edges", "structural_holes", "plasticity", "elapsed_ms", "proof_state"}
    assert fields | {"next_suggested_tool", "next_step_hint", "agent_runtime_contract"} <= set(answer)
    row = answer["activated"][0]
    assert set(row) == {"node_id", "label", "type", "activation", "dimensions", "pagerank", "tags", "provenance"}
    assert set(row["dimensions"]) == {"structural", "semantic", "temporal", "causal"}
    named = [*ids(answer["seeds"]), *ids(answer["activated"])]
    named += [edge[end] for edge in answer["ghost_edges"] for end in ("source", "target")]
    assert all(agent.call("graph.show", node=one)["node_id"] == one for one in set(named))
    assert f"{ONE}::fn::load_user" in ids(answer["seeds"])


@pytest.mark.req("GR-076", "RC-001", "RC-030")
@pytest.mark.parametrize("query", ["", "   ", "zzqqxx"])
def test_gr_076_a_question_without_a_seed_is_blocked_and_no_failure(world: World, query: str) -> None:
    _, agent = small_project(world)

    answer = agent.call("activate", query=query)

    assert (answer["ok"], answer["proof_state"], answer["activated"]) == (True, "blocked", [])
    envelope = answer["agent_runtime_contract"]
    assert (envelope["proof_state"], envelope["observed"]["candidates"], envelope["status"]) == ("blocked", 0, "triaging")


def test_gr_067_a_dimension_that_does_not_exist_is_refused(world: World) -> None:
    _, agent = small_project(world)

    assert agent.call("activate", query="hub", dimensions=["smell"])["error"]["code"] == "invalid_params"


def test_gr_078_without_learning_ten_repeats_are_equal(world: World) -> None:
    _, agent = small_project(world)

    first = plain(agent.call("activate", query="load hub", learn=False))

    assert {plain(agent.call("activate", query="load hub", learn=False)) for _ in range(10)} == {first}


def test_rc_009_candidates_are_all_that_woke_not_only_those_shown(world: World) -> None:
    _, agent = small_project(world)

    whole = agent.call("activate", query="hub", learn=False)
    cut = agent.call("activate", query="hub", top_k=1, learn=False)

    assert len(cut["activated"]) == 1
    assert cut["agent_runtime_contract"]["observed"]["candidates"] == len(whole["activated"]) > 1


# -- learning ------------------------------------------------------------------------------------------------------------


def generation(world: World, root: str) -> int:
    return int(world.at(root).call("persist")["plasticity_generation"])


def test_gr_077_a_question_teaches_and_one_that_must_not_changes_nothing(world: World) -> None:
    root, agent = small_project(world)

    agent.call("activate", query="hub", learn=False)
    before, weight = generation(world, root), weight_of(world, root, HUB, CHAIN)
    agent.call("activate", query="hub")

    assert (before, generation(world, root)) == (0, 1)
    assert weight == pytest.approx(0.6)
    assert weight_of(world, root, HUB, CHAIN) > 0.6


def test_gr_116_an_edge_grows_by_what_its_ends_were_told_to_have(world: World) -> None:
    root, agent = small_project(world)

    answer = agent.call("activate", query="hub")

    value = {row["node_id"]: min(row["activation"], 1.0) for row in answer["activated"]}
    assert weight_of(world, root, HUB, CHAIN) == pytest.approx(0.6 + 0.08 * value[HUB] * value[CHAIN], abs=1e-5)
    assert answer["plasticity"]["edges_strengthened"] >= 1


def test_gr_117_what_nobody_asks_for_fades_by_half_a_percent_a_query(world: World) -> None:
    root, agent = small_project(world)

    for _ in range(10):
        agent.call("activate", query="alone", top_k=1)

    assert weight_of(world, root, HUB, CHAIN) == pytest.approx(0.6 * 0.995**10, abs=1e-6)
    world.restart()
    assert weight_of(world, root, HUB, CHAIN) == pytest.approx(0.6 * 0.995**10, abs=1e-6)


@pytest.mark.parametrize(("feedback", "weight"), [("correct", 0.8), ("wrong", 0.4)])
def test_gr_120_a_verdict_moves_the_edge_between_two_files(world: World, feedback: str, weight: float) -> None:
    root, agent = small_project(world)

    answer = agent.call("learn", feedback=feedback, node_ids=[ONE, HUB], query="why")

    assert weight_of(world, root, ONE, HUB) == pytest.approx(weight, abs=1e-6)
    fields = {"query", "feedback", "nodes_found", "nodes_expanded", "edges_modified", "strength", "trust_records_updated"}
    assert fields | {"claim_grades"} <= set(answer)  # GR-121
    assert (answer["nodes_found"], answer["trust_records_updated"], answer["claim_grades"]) == (2, 2, [])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"feedback": "maybe", "node_ids": [ONE]}, "invalid_params"),
        ({"feedback": "correct", "node_ids": ["file::no/such.py", "file::nor/this.py"]}, "unknown_claim"),
    ],
)
def test_gr_122_another_word_or_only_unknown_nodes_is_an_error_and_nothing_changes(
    world: World, arguments: dict[str, Any], code: str
) -> None:
    root, agent = small_project(world)

    answer = agent.call("learn", **arguments)

    assert answer["error"]["code"] == code
    if code == "unknown_claim":
        assert all(one in answer["error"]["message"] for one in arguments["node_ids"])
    assert generation(world, root) == 0


def test_gr_122_what_is_unknown_beside_what_is_known_is_named(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("learn", feedback="correct", node_ids=[ONE, "file::no/such.py"])

    assert (answer["ok"], answer["nodes_found"], answer["unknown"]) == (True, 1, ["file::no/such.py"])


def test_gr_123_claims_and_code_are_judged_in_one_call(world: World) -> None:
    _, agent = small_project(world)
    agent.memorize("Retry policy", "Three times.")

    answer = agent.call("learn", feedback="wrong", node_ids=["retry-policy", HUB])

    assert [grade["slug"] for grade in answer["claim_grades"]] == ["retry-policy"]
    assert answer["nodes_found"] == 2
    assert agent.call("trust", node=HUB)["nodes"][0]["false_alarm_count"] == 1


def test_gr_127_each_act_of_learning_raises_the_generation_and_a_restart_does_not_lower_it(world: World) -> None:
    root, agent = small_project(world)

    agent.call("learn", feedback="correct", node_ids=[ONE, HUB])
    agent.call("activate", query="hub")

    assert generation(world, root) == 2
    world.restart()
    assert generation(world, root) == 2  # GR-132


def test_gr_128_learned_weights_survive_restart_and_re_ingest(world: World) -> None:
    root = world.brain("repo", user_py="import used\n\nused.go()\n", used_py="def go():\n    return 1\n")
    agent = world.at(root)
    before = weight_of(world, root, "file::user.py", "file::used.py")
    agent.call("learn", feedback="correct", node_ids=["user.py", "used.py"])
    Path(root, "unrelated.py").write_text("y = 2\n", encoding="utf-8")

    assert agent.call("ingest", path=root)["ok"]
    world.restart()

    assert "file::unrelated.py" in ids(agent.call("panoramic")["modules"])
    assert weight_of(world, root, "file::user.py", "file::used.py") == pytest.approx(before + 0.2, abs=1e-6)


def test_gr_128_an_edge_that_is_gone_is_dropped_in_silence(world: World) -> None:
    root, agent = small_project(world)
    agent.call("learn", feedback="correct", node_ids=[ONE, HUB])

    given_graph(world, root, [Node(id=HUB, label="hub.zz", kind="file", path="pkg/hub.zz")], [])

    assert agent.call("activate", query="hub")["ok"]


def test_gr_128_two_processes_on_one_home_learn_from_each_other(world: World) -> None:
    root, agent = small_project(world)
    agent.call("activate", query="hub", learn=False)  # warm before the other one learns
    second = World(world.place)

    second.at(root).call("learn", feedback="correct", node_ids=[ONE, HUB])
    agent.call("learn", feedback="correct", node_ids=[ONE, HUB])

    assert weight_of(world, root, ONE, HUB) == pytest.approx(1.0, abs=1e-6)
    assert weight_of(second, root, ONE, HUB) == pytest.approx(1.0, abs=1e-6)
    assert generation(second, root) == 2
    second.close()


def test_gr_127_many_threads_learn_and_none_is_lost(world: World) -> None:
    root, agent = small_project(world)

    with ThreadPoolExecutor(max_workers=4) as threads:
        answers = list(threads.map(lambda _: agent.call("activate", query="hub"), range(20)))

    assert all(answer["ok"] for answer in answers)
    assert generation(world, root) == 20
    told = weight_of(world, root, HUB, CHAIN)
    world.restart()
    assert weight_of(world, root, HUB, CHAIN) == pytest.approx(told, abs=1e-6)


def test_gr_129_what_one_brain_learned_another_does_not_know(world: World) -> None:
    _, agent = small_project(world, "x")
    other, _ = small_project(world, "y")

    agent.call("learn", feedback="correct", node_ids=[ONE, HUB])

    assert weight_of(world, other, ONE, HUB) == pytest.approx(0.6, abs=1e-6)
    assert generation(world, other) == 0


def test_gr_118_six_questions_leave_one_lasting_bonus(world: World) -> None:
    _, agent = small_project(world)

    events = [agent.call("activate", query="hub chain")["plasticity"]["ltp_events"] for _ in range(7)]

    assert events[4] > 0
    assert events[:4] == [0, 0, 0, 0]
    assert events[5:] == [0, 0]


def test_conf_a_forgotten_claim_leaves_nothing_in_what_was_learned(world: World) -> None:
    root, agent = small_project(world)
    agent.memorize("Zanzibar launch codes", "The zanzibar codes are in the vault.", evidence=["pkg/hub.zz"])
    agent.call("activate", query="zanzibar launch codes hub")

    world.human(root).call("forget", claim="zanzibar-launch-codes", reason="asked")
    world.close()

    for path in world.home.path.rglob("learned.db*"):
        assert b"anzibar" not in path.read_bytes()


# -- impact and why ------------------------------------------------------------------------------------------------------


def test_gr_105_impact_tells_signals_hops_energy_and_chains(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("impact", node_id=ONE)

    rows = {row["node_id"]: (row["signal_strength"], row["hop_distance"]) for row in answer["blast_radius"]}
    assert rows[HUB] == (pytest.approx(0.33, abs=1e-6), 1)
    assert rows[CHAIN] == (pytest.approx(0.1089, abs=1e-6), 2)
    assert answer["max_hops_reached"] == 2
    assert answer["total_energy"] == pytest.approx(sum(signal for signal, _ in rows.values()), abs=1e-5)
    assert answer["causal_chains"][0]["nodes"] == [ONE, HUB, CHAIN]
    assert answer["truncated"] is False
    assert agent.call("impact", node_id=ONE, max_nodes=1)["truncated"] is True


def test_gr_106_a_claim_that_cites_a_file_is_in_its_impact_and_no_dependent(world: World) -> None:
    _root, agent = small_project(world, pkg__real_py="x = 1\n")
    agent.memorize("Real is real", "Says so.", evidence=["pkg/real.py"])
    before = agent.call("impact", node_id="file::pkg/real.py", direction="reverse")

    cited = [row for row in before["blast_radius"] if row.get("is_knowledge_citation")]

    assert cited
    assert all(row["node_id"].startswith("light::") for row in cited)
    assert before["knowledge_citations"] == len(cited)
    assert before["dependents"] == len(before["blast_radius"]) - len(cited)


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("impact", {"node_id": "file::pkg/hubb.zz"}),
        ("why", {"source": "file::pkg/hubb.zz", "target": ONE}),
        ("why", {"source": ONE, "target": "file::pkg/hubb.zz"}),
        ("predict", {"changed_node": "file::pkg/hubb.zz"}),
        ("timeline", {"node": "file::pkg/hubb.zz"}),
        ("graph.show", {"node": "file::pkg/hubb.zz"}),
    ],
)
def test_gr_107_an_unknown_node_is_blocked_with_the_nearest_ids(world: World, operation: str, arguments: dict[str, Any]) -> None:
    _, agent = small_project(world)

    answer = agent.call(operation, **arguments)

    assert (answer["ok"], answer["proof_state"]) == (True, "blocked")
    assert HUB in answer["suggestions"]
    assert len(answer["suggestions"]) <= 3
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == 0


def test_gr_108_why_shows_the_way_with_relations_and_directions(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("why", source=ONE, target=TWO)

    assert (answer["found"], answer["hops"]) == (True, 2)
    assert [(step["relation"], step["direction"], step["to"]) for step in answer["paths"][0]] == [
        ("imports", "forward", HUB),
        ("imports", "reverse", TWO),
    ]
    assert isinstance(answer["same_community"], bool)
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == 1


def test_gr_108_no_connection_is_told(world: World) -> None:
    root, agent = small_project(world)
    given_graph(world, root, [Node(id="custom::island", label="island", kind="concept")], [], owner="more")

    answer = agent.call("why", source=ONE, target="custom::island")

    assert (answer["found"], answer["proof_state"], answer["paths"]) == (False, "blocked", [])


# -- panoramic, missing, counterfactual ----------------------------------------------------------------------------------


def test_gr_102_the_hub_is_first_and_all_modules_are_counted(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("panoramic", top_n=1, scope="pkg/")

    assert ids(answer["modules"]) == [HUB]
    assert (answer["total_modules"], answer["scope_applied"]) == (6, True)
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == 6
    module = answer["modules"][0]
    assert {"blast_forward", "blast_backward", "centrality", "combined_risk", "is_critical"} <= set(module)
    assert answer["critical_alerts"] == ([HUB] if module["is_critical"] else [])


@pytest.mark.req("GR-104", "RC-031")
def test_gr_104_an_empty_panorama_is_blocked(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("panoramic", scope="no/such/place")

    assert (answer["proof_state"], answer["modules"]) == ("blocked", [])
    assert answer["agent_runtime_contract"]["recovery"] is not None


@pytest.mark.req("GR-083")
@pytest.mark.parametrize("form", ["pkg", "file::pkg", "{root}/pkg", "file::{root}/pkg"])
def test_gr_102_every_form_of_a_scope_means_the_same(world: World, form: str) -> None:
    root, agent = small_project(world)

    answer = agent.call("panoramic", scope=form.format(root=root))

    assert answer["total_modules"] == 6


def test_gr_109_the_child_its_active_siblings_do_not_know_is_missing(world: World) -> None:
    root, agent = small_project(world)
    path = "pkg/wide.zz"
    children = [symbol(path, f"fetch_{one}") for one in "abcd"] + [symbol(path, "lonely")]
    file = Node(id=f"file::{path}", label="wide.zz", kind="file", path=path)
    inside = [Edge(source=file.id, target=child.id, relation="contains", weight=1.0) for child in children]
    calls = [Edge(source=children[i].id, target=children[i + 1].id, relation="calls", weight=0.4) for i in range(3)]
    given_graph(world, root, [file, *children], [*inside, *calls], owner="wide")

    answer = agent.call("missing", query="fetch")

    assert ids(answer["holes"]) == [f"file::{path}::fn::lonely"]
    assert file.id in answer["holes"][0]["reason"]
    assert agent.call("missing", query="hub")["proof_state"] == "blocked"


def test_gr_111_without_the_hub_its_dependents_lose_it_and_nothing_changes(world: World) -> None:
    _root, agent = small_project(world)
    before = plain(agent.call("activate", query="hub", learn=False))

    answer = agent.call("counterfactual", node_ids=[HUB])

    assert {row["node_id"] for row in answer["dependents"]} == {ONE, TWO, "file::pkg/three.zz"}
    assert CHAIN in ids(answer["orphaned"])
    assert {ONE, TWO} <= set(ids(answer["cascade"]))
    assert plain(agent.call("activate", query="hub", learn=False)) == before


# -- history -------------------------------------------------------------------------------------------------------------


def committed(root: str, times: int) -> None:
    for number in range(times):
        for name in ("left.py", "right.py"):
            Path(root, name).write_text(f"x = {number}\n", encoding="utf-8")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"change {number}")


def test_gr_110_files_that_were_committed_together_are_predicted(world: World) -> None:
    root = world.repository("repo", left_py="x\n", right_py="x\n", third_py="x\n")
    committed(root, 5)
    agent = world.at(root)
    assert agent.call("ingest", path=root, project_root=root)["ok"]

    answer = agent.call("predict", changed_node="left.py")

    assert (answer["predictions"][0]["node_id"], answer["source"]) == ("file::right.py", "co_change")
    assert answer["predictions"][0]["times"] == 5


def test_gr_110_without_history_the_structure_predicts(world: World) -> None:
    _, agent = small_project(world)

    answer = agent.call("predict", changed_node=HUB)

    assert answer["source"] == "structure"
    assert CHAIN in ids(answer["predictions"])


def test_gr_126_what_was_learned_together_is_predicted(world: World) -> None:
    _, agent = small_project(world)
    agent.call("learn", feedback="correct", node_ids=[ONE, TWO])

    answer = agent.call("predict", changed_node=ONE)

    assert ids(answer["predictions"]) == [TWO]
    assert answer["source"] == "co_change"


def test_gr_114_a_timeline_lists_the_commits_of_a_file(world: World) -> None:
    root = world.repository("repo", left_py="x\n", right_py="x\n")
    committed(root, 3)
    world.clock.catch_up()
    agent = world.at(root)
    assert agent.call("ingest", path=root, project_root=root)["ok"]

    answer = agent.call("timeline", node="left.py", depth="30d")

    assert [commit["subject"] for commit in answer["commits"]] == ["change 2", "change 1", "change 0"]
    assert answer["co_changed"][0] == {"path": "right.py", "times": 3}
    assert answer["total_churn"] == sum(c["lines_added"] + c["lines_removed"] for c in answer["commits"]) > 0
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == 3


def test_gr_114_a_length_of_time_that_is_none_is_refused(world: World) -> None:
    _, agent = small_project(world)

    assert agent.call("timeline", node=HUB, depth="soon")["error"]["code"] == "invalid_params"


def test_gr_113_without_history_nothing_pretends_to_be_known(world: World) -> None:
    _, agent = small_project(world)

    whole = agent.call("trust")
    one = agent.call("trust", node=HUB)["nodes"][0]

    assert (whole["tier"], whole["trust_score"], whole["nodes"]) == ("unknown", None, [])
    assert (one["tier"], one["trust_score"]) == ("unknown", None)


def test_gr_125_a_confirmed_defect_counts_and_fades(world: World) -> None:
    _, agent = small_project(world)
    for _ in range(3):
        agent.call("learn", feedback="correct", node_ids=[HUB])

    fresh = agent.call("trust")["nodes"][0]
    world.clock.forward(30 * DAY)
    later = agent.call("trust")["nodes"][0]

    # three defects: risk 1 + 3 x 0.5 of at most 3; a month later half of it
    assert (fresh["node_id"], fresh["defect_count"], fresh["tier"]) == (HUB, 3, "high_risk")
    assert fresh["trust_score"] == pytest.approx(1 - 0.75 * 0.95, abs=1e-6)
    assert later["trust_score"] == pytest.approx(1 - 0.375 * 0.95, abs=1e-6)
    assert later["tier"] == "medium_risk"


def test_gr_112_earlier_questions_with_the_same_start_prime_a_task(world: World) -> None:
    _, agent = small_project(world)
    before = agent.call("warmup", task_description="look at hub")
    agent.call("activate", query="hub")

    after = agent.call("warmup", task_description="look at hub")

    assert before["priming"] == []
    assert HUB in ids(before["seeds"])
    assert {HUB, CHAIN} <= set(ids(after["priming"]))
    assert after["queries_alike"] == 1


def test_gr_130_a_learned_edge_is_in_the_drift(world: World) -> None:
    root, agent = small_project(world)

    agent.call("learn", feedback="correct", node_ids=[ONE, HUB])

    for caller in (agent, world.at(root)):  # also in the next session of the same agent
        drifted = caller.call("drift")["top_weight_drifts"]
        assert {"source": ONE, "target": HUB, "relation": "imports", "before": 0.6, "after": 0.8, "change": 0.2} in drifted


def test_gr_162_a_session_knows_what_it_was_shown(world: World) -> None:
    root, agent = small_project(world)
    nothing = agent.call("coverage_session")["visited"]

    agent.call("activate", query="hub", top_k=1)

    seen = agent.call("coverage_session")
    assert (nothing, seen["visited"], seen["visited_files"]) == (0, 1, ["pkg/hub.zz"])
    assert world.at(root).call("coverage_session")["visited"] == 0


def test_gr_163_a_saved_state_is_taken_back(world: World) -> None:
    root, agent = small_project(world)
    agent.call("learn", feedback="correct", node_ids=[ONE, HUB])
    agent.call("persist", action="save")
    agent.call("learn", feedback="wrong", node_ids=[ONE, HUB])

    answer = agent.call("persist", action="load")

    assert weight_of(world, root, ONE, HUB) == pytest.approx(0.8, abs=1e-6)
    assert answer["plasticity_generation"] == 3


def test_gr_163_nothing_saved_is_nothing_to_load(world: World) -> None:
    _, agent = small_project(world)

    assert agent.call("persist", action="load")["error"]["code"] == "invalid_params"


# -- traces --------------------------------------------------------------------------------------------------------------

SOURCE = "def outer():\n    return inner()\n\n\ndef inner():\n    raise ValueError('x')\n"
PYTHON = """Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 10, in run
  File "{root}/app/main.py", line 2, in outer
  File "{root}/app/main.py", line 6, in inner
ValueError: x"""


def test_gr_trace_a_python_trace_names_its_suspects_the_innermost_first(world: World) -> None:
    root = world.brain("repo", app__main_py=SOURCE)

    answer = world.at(root).call("trace", text=PYTHON.format(root=root))

    assert ids(answer["suspects"]) == ["file::app/main.py::fn::inner", "file::app/main.py::fn::outer"]
    assert [frame["third_party"] for frame in answer["frames"]] == [False, False, True]
    assert answer["suspects"][0]["suspicion"] > answer["suspects"][1]["suspicion"]


@pytest.mark.parametrize("text", ["no trace at all", 'File "/elsewhere/x.py", line 3, in y'])
def test_gr_trace_a_text_without_frames_of_this_project_is_blocked(world: World, text: str) -> None:
    _, agent = small_project(world)

    answer = agent.call("trace", text=text)

    assert (answer["proof_state"], answer["suspects"]) == ("blocked", [])


# -- the envelope --------------------------------------------------------------------------------------------------------

# A call that finds something, and one that finds nothing.
ASKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "activate": ({"query": "hub"}, {"query": "zzqqxx"}),
    "graph.show": ({"node": HUB}, {"node": "zzqqxx"}),
    "impact": ({"node_id": HUB}, {"node_id": "file::pkg/alone.zz"}),
    "panoramic": ({}, {"scope": "nowhere"}),
    "predict": ({"changed_node": HUB}, {"changed_node": "file::pkg/alone.zz"}),
    "trace": ({"text": 'File "/srv/pkg/hub.zz", line 2, in dispatch_event'}, {"text": "no trace"}),
    "warmup": ({"task_description": "hub"}, {"task_description": "zzqqxx"}),
    "why": ({"source": ONE, "target": CHAIN}, {"source": ONE, "target": "file::pkg/alone.zz"}),
}


@pytest.mark.req("RC-001", "RC-002", "RC-009", "RC-031")
@pytest.mark.parametrize("operation", sorted(ASKED))
def test_rc_031_what_is_found_is_trusted_and_nothing_found_never_is(world: World, operation: str) -> None:
    _, agent = small_project(world)
    hit, miss = ASKED[operation]

    found = checked(agent.call(operation, **hit), operation)
    nothing = agent.call(operation, **miss)
    told = checked(nothing, operation)

    assert (found["trust_mode"], found["status"]) == ("full_trust", "ok")
    assert found["observed"]["candidates"] > 0
    assert (told["observed"]["candidates"], told["status"], nothing["proof_state"]) == (0, "triaging", "blocked")


# -- who may ask ---------------------------------------------------------------------------------------------------------


def test_conf_a_stranger_sees_the_lent_code_and_no_claim_and_teaches_nothing(world: World) -> None:
    root, agent = small_project(world)
    agent.memorize("Secret plan hub", "Nobody else may read it.", evidence=["package.json"])
    world.close()
    world.bound_root = root
    stranger = world.at(world.directory("elsewhere"))

    answer = stranger.call("activate", query="secret plan hub")

    assert HUB in ids(answer["activated"])
    assert not [one for one in ids(answer["activated"]) if one.startswith("light::")]
    assert answer["plasticity"] is None
    reached = stranger.call("impact", node_id="file::package.json", direction="reverse")["blast_radius"]
    assert not [one for one in ids(reached) if one.startswith("light::")]


def test_conf_another_project_cannot_be_named(world: World) -> None:
    other, _ = small_project(world, "y")
    _, agent = small_project(world, "x")

    assert agent.call("activate", query="hub", brain=other)["error"]["code"] == "path_refused"
    assert agent.call("impact", node_id=HUB, brain="analysis:none")["error"]["code"] == "unknown_brain"


def test_gr_066_claims_wake_beside_code(world: World) -> None:
    _, agent = small_project(world)
    agent.memorize("Dispatch order", "Events leave in order.")

    answer = agent.call("activate", query="dispatch order", learn=False)

    assert any(one.startswith("light::") for one in ids(answer["activated"]))
    assert f"{HUB}::fn::dispatch_event" in ids(answer["activated"])


def test_gr_show_a_neighbourhood_is_a_tree_with_relations(world: World) -> None:
    _, agent = small_project(world)

    text = agent.call("graph.show", node=HUB, depth=1)["rendered"]

    assert text.splitlines()[0] == f"{HUB}  (file)"
    assert "imports →" in text
    assert "← imports" in text
    assert "\x1b" not in text
