"""Code in seek and north (GR-079 to GR-091)."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hindbrain.engines.code_terms import code_terms
from hindbrain.services.code_rows import judged
from tests.support.world import World

RETRY = '''"""Retries of failed requests."""


class HTTPRetryPolicy:
    """How often a failed request is sent again, and how long to wait before it."""

    def next_delay(self, attempt):
        return 2 ** attempt


def give_up(policy, attempt):
    return attempt > policy.most
'''
CART = '''"""The cart of a shop."""


def total(items):
    """What a customer pays for all items."""
    return sum(item.price for item in items)
'''
TEST = "from net.retry import HTTPRetryPolicy\n\n\ndef test_delay():\n    assert HTTPRetryPolicy().next_delay(1) == 2\n"
FIELDS = {
    "node_id",
    "label",
    "type",
    "score",
    "score_breakdown",
    "intent_summary",
    "file_path",
    "line_start",
    "line_end",
    "excerpt",
    "connections",
}


def filler(number: int) -> str:
    return f"def step_{number}(value):\n    # unit {number} of the pipeline\n    return value + {number}\n"


@pytest.fixture
def shop(world: World) -> str:
    more = {f"src__part{number}_py": filler(number) for number in range(12)}
    return world.brain(
        "shop",
        src__net__retry_py=RETRY,
        src__cart_py=CART,
        docs__retry_md="# Retry policy\n\nHow HTTPRetryPolicy decides on the delay of a failed request.\n",
        tests__test_retry_py=TEST,
        **more,
    )


def code(answer: dict[str, Any]) -> list[dict[str, Any]]:
    assert answer["ok"], answer
    return [row for row in answer["results"] if row["source"] == "code"]


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        ("How does HTTPRetryPolicy work?", {"httpretrypolicy", "http", "retri", "polici"}, {"how", "does"}),
        ("parse_query parseQuery ParseQuery", {"parsequery", "pars", "queri"}, {"parse_query"}),
        ("x = 42; self.y", set(), {"x", "42", "self", "y"}),
        ("café_größe 你好", {"cafe", "gross", "你好"}, set()),
    ],
)
def test_gr_080_identifiers_count_whole_and_in_parts_without_stop_words(text: str, has: set[str], lacks: set[str]) -> None:
    found = set(code_terms(text))

    assert has <= found
    assert not lacks & found


def test_gr_079_by_weighed_signs_and_not_the_formula_of_the_source_a_named_class_comes_first(world: World, shop: str) -> None:
    rows = code(world.at(shop).seek("How does HTTPRetryPolicy work?"))

    assert rows[0]["file_path"] == "src/net/retry.py"
    assert any(row["label"] == "HTTPRetryPolicy" and row["type"] == "class" for row in rows[:3])
    assert rows == sorted(rows, key=lambda row: (-row["score"], row["node_id"]))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("what a customer pays for items", "src/cart.py"),
        ('Traceback:\n  File "/x/src/cart.py", line 6, in total\nTypeError', "src/cart.py"),
        ("Delay of failed requests\n\nThe wait before a request is sent again is too long.", "src/net/retry.py"),
        ("look at src/part7.py", "src/part7.py"),
        ("net.retry.give_up never gives up", "src/net/retry.py"),
    ],
)
def test_gr_079_words_frames_files_and_modules_lead_to_the_file(world: World, shop: str, text: str, path: str) -> None:
    rows = code(world.at(shop).seek(text, node_types=["file"]))

    assert rows[0]["file_path"] == path


def test_gr_079_rows_below_min_score_are_dropped(world: World, shop: str) -> None:
    every = code(world.at(shop).seek("HTTPRetryPolicy", min_score=0.0))
    some = code(world.at(shop).seek("HTTPRetryPolicy", min_score=0.5))

    assert len(some) < len(every)
    assert all(row["score"] >= 0.5 for row in some)


def test_gr_079_a_question_about_nothing_here_gets_no_code(world: World, shop: str) -> None:
    answer = world.at(shop).seek("Which song motivates Caroline to be courageous at the festival?")

    assert answer["results"] == []
    assert answer["proof_state"] == "blocked"
    assert "nothing relevant" in answer["rendered"]


def test_gr_081_source_before_documents_before_tests_as_measured_and_no_bonus_for_a_repository_name(world: World) -> None:
    text = "def spline(x):\n    # fit a spline through points\n    return x\n"
    more = {f"src__part{number}_py": filler(number) for number in range(12)}
    files = {"src__spline_py": text, "docs__spline_py": text, "tests__test_spline_py": text}
    plain = world.brain("plain", **files, **more)
    named = world.brain("m1nd-core", **files, **more)

    rows = code(world.at(plain).seek("fit a spline through points", node_types=["file"]))
    same = code(world.at(named).seek("fit a spline through points", node_types=["file"]))

    assert [row["file_path"] for row in rows[:3]] == ["src/spline.py", "docs/spline.py", "tests/test_spline.py"]
    assert [(row["file_path"], row["score"]) for row in rows] == [(row["file_path"], row["score"]) for row in same]


def test_gr_081_who_asks_for_tests_gets_tests(world: World, shop: str) -> None:
    rows = code(world.at(shop).seek("tests of HTTPRetryPolicy next_delay", node_types=["file"]))

    assert "tests/test_retry.py" in [row["file_path"] for row in rows[:2]]


def test_gr_082_a_claim_under_docs_is_not_lowered_in_the_scope_of_claims(world: World, shop: str) -> None:
    actor = world.at(shop)
    actor.memorize("docs retry policy", "The retry policy doubles its delay.")

    (everywhere,) = [row for row in actor.seek("retry policy delay")["results"] if row["source"] == "memory"]
    (alone,) = actor.seek("retry policy delay", scope="light::")["results"]

    assert alone["score"] == everywhere["score"]


def test_gr_083_a_scope_means_the_same_in_each_of_its_forms(world: World, shop: str) -> None:
    forms = ["src/net", "file::src/net", os.path.join(shop, "src/net"), "file::src/net/", "./src/net"]

    found = [[row["node_id"] for row in world.at(shop).seek("HTTPRetryPolicy delay", scope=scope)["results"]] for scope in forms]

    assert found[0]
    assert all(ids == found[0] for ids in found)
    assert all(node.startswith("file::src/net/") for node in found[0])


def test_gr_083_a_scope_of_claims_has_no_code_and_a_scope_of_code_no_claims(world: World, shop: str) -> None:
    actor = world.at(shop)
    actor.memorize("Retry policy", "HTTPRetryPolicy doubles its delay.")

    claims = actor.seek("HTTPRetryPolicy delay", scope="light::")["results"]
    places = actor.seek("HTTPRetryPolicy delay", scope="src")["results"]

    assert {row["source"] for row in claims} == {"memory"}
    assert {row["source"] for row in places} == {"code"}


def test_gr_083_a_symbol_is_a_scope(world: World, shop: str) -> None:
    scope = "file::src/net/retry.py::class::HTTPRetryPolicy"

    ids = [row["node_id"] for row in world.at(shop).seek("next_delay of HTTPRetryPolicy", scope=scope)["results"]]

    assert ids
    assert all((node + "::").startswith(scope + "::") for node in ids)


def test_gr_084_the_medulla_has_no_code(world: World, shop: str) -> None:
    assert world.at(shop).seek("HTTPRetryPolicy", tier="medulla")["results"] == []
    assert code(world.at(shop).seek("HTTPRetryPolicy", tier="project"))


@pytest.mark.parametrize("kind", ["function", "class", "file"])
def test_gr_085_node_types_filter_by_type(world: World, shop: str, kind: str) -> None:
    rows = world.at(shop).seek("HTTPRetryPolicy next_delay", node_types=[kind])["results"]

    assert rows
    assert {row["type"] for row in rows} == {kind}


def test_gr_086_every_result_has_its_fields_and_at_most_five_connections(world: World, shop: str) -> None:
    actor = world.at(shop)
    actor.memorize("Retry policy", "HTTPRetryPolicy doubles its delay.")

    rows = actor.seek("HTTPRetryPolicy delay")["results"]

    assert {row["source"] for row in rows} == {"memory", "code"}
    assert all(row.keys() >= FIELDS for row in rows)
    assert all(len(row["connections"]) <= 5 for row in rows)
    assert any(row["connections"] for row in rows)
    assert all(link.keys() == {"node_id", "label", "relation"} for row in rows for link in row["connections"])
    (claim,) = [row for row in rows if row["source"] == "memory"]
    assert {"claim", "origin_brain", "source_agent", "tier"} <= claim.keys()


@pytest.mark.parametrize("query", ["HTTPRetryPolicy", "what a customer pays", "retry of failed requests", "src/part3.py"])
def test_gr_087_the_weighted_parts_are_the_score(world: World, shop: str, query: str) -> None:
    answer = world.at(shop).seek(query, min_score=0.0)

    for row in code(answer):
        assert {"keyword", "semantic", "graph", "trigram", "path_bias"} <= row["score_breakdown"].keys()
        parts = sum(answer["score_weights"][name] * part for name, part in row["score_breakdown"].items())
        assert abs(parts - row["score"]) < 1e-6
        assert 0 < row["score"] <= 1


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        ([], "blocked"),
        ([("file", "a.py", 0.9), ("file", "b.py", 0.6)], "ready_to_edit"),
        ([("file", "a.py", 0.9), ("function", "a.py", 0.88), ("file", "b.py", 0.6)], "ready_to_edit"),
        ([("function", "a.py", 0.9), ("file", "b.py", 0.6)], "proving"),
        ([("file", "a.py", 0.9), ("file", "b.py", 0.7)], "proving"),
        ([("file", "a.py", 0.5)], "proving"),
        ([("file", "a.py", 0.5), ("file", "b.py", 0.49)], "triaging"),
        ([("file", "a.py", 0.4)], "triaging"),
    ],
)
def test_gr_088_the_state_of_proof_follows_top_margin_and_type(rows: list[tuple[str, str, float]], state: str) -> None:
    assert judged([{"type": kind, "file_path": path, "score": score} for kind, path, score in rows])["proof_state"] == state


def test_gr_088_the_envelope_says_the_same_state(world: World, shop: str) -> None:
    answer = world.at(shop).seek("HTTPRetryPolicy")

    assert answer["proof_state"] in {"proving", "ready_to_edit"}
    assert answer["agent_runtime_contract"]["proof_state"] == answer["proof_state"]


@pytest.mark.parametrize(
    ("scores", "state"), [([0.8, 0.2], "sufficient"), ([0.2] * 12, "gathering"), ([0.7] * 12, "saturated"), ([], "gathering")]
)
def test_gr_090_an_answer_says_whether_it_is_enough(scores: list[float], state: str) -> None:
    rows = [{"type": "file", "file_path": f"{at}.py", "score": score} for at, score in enumerate(scores)]

    told = judged(rows)["sufficiency"]

    assert told["state"] == state
    assert told["captured"] == len(scores)
    assert told["why"]


def test_gr_091_code_is_found_without_a_model(world: World, shop: str) -> None:
    answer = world.at(shop).seek("HTTPRetryPolicy")

    assert answer["embeddings_used"] is False
    assert code(answer)


def test_gr_089_change_speaks_in_the_graph_part_and_can_be_left_out(world: World) -> None:
    root = world.repository(
        "log", a_py="def one():\n    return 1\n", b_py="def two():\n    return 2\n", c_py="def three():\n    return 3\n"
    )
    for number in range(3):
        Path(root, "b.py").write_text(f"def two():\n    return {number}\n", encoding="utf-8")
        committed(root, "Improve flux capacitor output")
    world.at(root).call("ingest", path=root, project_root=root)

    told = code(world.at(root).seek("flux capacitor: def two", min_score=0.0, node_types=["file"]))
    bare = code(world.at(root).seek("flux capacitor: def two", min_score=0.0, node_types=["file"], graph_rerank=False))

    assert told[0]["file_path"] == "b.py"
    assert told[0]["score_breakdown"]["graph"] > 0
    assert all(row["score_breakdown"]["graph"] == 0 for row in bare)


def test_gr_146_north_names_places_in_the_code_to_begin_at(world: World, shop: str) -> None:
    answer = world.at(shop).north("Make HTTPRetryPolicy wait longer")

    assert answer["anchors"][0]["file_path"] == "src/net/retry.py"
    assert answer["agent_runtime_contract"]["observed"]["candidates"] >= len(answer["anchors"])
    assert "src/net/retry.py" in answer["rendered"]
    assert world.at(shop).north()["anchors"] == []


def test_gr_079_ten_repeats_give_one_answer(world: World, shop: str) -> None:
    answers = [code(world.at(shop).seek("delay of failed requests", min_score=0.0)) for _ in range(10)]

    assert all(answer == answers[0] for answer in answers)


def committed(root: str, message: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", root, "add", "."], check=True, capture_output=True)
    subprocess.run(["git", "-C", root, *who, "commit", "-q", "-m", message], check=True, capture_output=True)
