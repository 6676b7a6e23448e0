"""Search for texts and patterns, and glob (GR-092 to GR-101)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import Actor, World

SHAPE = {
    "node_id",
    "label",
    "type",
    "file_path",
    "line_number",
    "matched_line",
    "context_before",
    "context_after",
    "graph_linked",
}

RETRY = "class RetryPolicy:\n    def next_delay(self, attempt):\n        return backoff ** attempt\n"
CART = "def total(items):\n    return sum(items)\n\n\ndef retry_total(items):\n    return total(items)\n"


@pytest.fixture
def shop(world: World) -> str:
    return world.brain("shop", src__retry_py=RETRY, src__cart_py=CART, tests__fixtures__cart_py="backoff = 'sample'\n")


def lines(answer: dict[str, Any]) -> list[tuple[str, int | None]]:
    assert answer["ok"], answer
    return [(row["file_path"], row["line_number"]) for row in answer["results"]]


def searched(actor: Actor, query: str, **more: Any) -> dict[str, Any]:
    answer = actor.call("search", query=query, **more)
    assert answer["ok"], answer
    return answer


def test_gr_092_a_file_made_after_the_ingest_is_found_without_a_node(world: World, shop: str) -> None:
    Path(shop, "src/late.py").write_text("zebra = 1\n", encoding="utf-8")

    answer = searched(world.at(shop), "zebra")

    (row,) = answer["results"]
    assert (row["file_path"], row["line_number"], row["graph_linked"], row["node_id"]) == ("src/late.py", 1, False, None)


def test_gr_093_an_answer_has_its_fields_and_a_line_the_symbol_around_it(world: World, shop: str) -> None:
    answer = searched(world.at(shop), "backoff ** attempt", scope="src", context_lines=1)

    (row,) = answer["results"]
    assert row.keys() >= SHAPE
    assert row["node_id"].endswith("next_delay")
    assert row["type"] == "function"
    assert row["context_before"] == ["    def next_delay(self, attempt):"]
    assert row["context_after"] == []
    told = {"total_matches", "scope_applied", "truncated", "auto_ingested", "auto_ingested_paths", "proof_state", "files_read"}
    assert told | {"agent_runtime_contract"} <= answer.keys()
    assert answer["scope_applied"] == "src"
    assert answer["proof_state"] == "proving"


@pytest.mark.parametrize("query", ["", " ", "\t\n"])
def test_gr_094_an_empty_query_is_refused_and_names_glob_and_seek(world: World, shop: str, query: str) -> None:
    error = world.at(shop).call("search", query=query)["error"]

    assert error["code"] == "invalid_params"
    assert "glob" in error["fix"]
    assert "seek" in error["fix"]


@pytest.mark.parametrize("query", ["(", "[a", "a{2", "*a", "(?P<x"])
def test_gr_095_a_pattern_that_cannot_be_read_is_refused_with_one_that_can(world: World, shop: str, query: str) -> None:
    answer = world.at(shop).call("search", query=query, mode="regex")

    if answer["ok"]:  # some libraries read it as it stands; then it is a pattern
        assert query == "a{2"
        return
    assert answer["error"]["code"] == "invalid_params"
    assert "regular expression" in answer["error"]["message"]
    assert answer["agent_runtime_contract"]["observed"]["error_text"]
    example = answer["error"]["fix"].split("'")[1].replace("\\\\", "\\")
    assert world.at(shop).call("search", query=example, mode="regex")["ok"]


@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(a|a)*$"])
def test_gr_095_a_catastrophic_pattern_ends_and_names_the_file(world: World, pattern: str) -> None:
    root = world.brain("slow", bad_txt="a" * 60 + "b\n", good_txt="aaa\n")

    answer = searched(world.at(root), pattern, mode="regex", filename_pattern="*.txt")

    assert answer["timed_out_files"] == ["bad.txt"]
    assert "good.txt" in {path for path, _ in lines(answer)}


def test_gr_095_the_pattern_of_the_row_ends_at_once(world: World) -> None:
    root = world.brain("slow", bad_txt="a" * 30 + "b\n")

    assert searched(world.at(root), "(a+)+$", mode="regex")["timed_out_files"] == []


def test_gr_095_a_search_that_could_not_read_everything_concludes_no_absence(world: World) -> None:
    root = world.brain("slow", bad_txt="a" * 60 + "b\n")

    answer = searched(world.at(root), r"(a|aa)+$", mode="regex")

    assert answer["total_matches"] == 0
    assert answer["absence"]["state"] == "inconclusive"


@pytest.mark.parametrize("narrowed", [{"scope": "nowhere"}, {"filename_pattern": "*.nope"}])
def test_rc_009_where_no_file_was_read_no_absence_is_concluded(world: World, shop: str, narrowed: dict[str, str]) -> None:
    answer = searched(world.at(shop), "def", **narrowed)

    assert answer["files_read"] == 0
    assert answer["absence"]["state"] == "inconclusive"
    assert "no file was read" in answer["rendered"]


def test_rc_009_absence_is_conclusive_when_every_file_was_read(world: World, shop: str) -> None:
    answer = searched(world.at(shop), "no such words anywhere")

    assert answer["absence"]["state"] == "conclusive"
    assert answer["files_read"] >= 4
    assert answer["proof_state"] == "blocked"
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"query": "total", "filename_pattern": "src/cart.py", "invert": True}, [2, 3, 4]),
        ({"query": "^def", "mode": "regex", "filename_pattern": "src/cart.py"}, [1, 5]),
        ({"query": r"items\):.*return sum", "mode": "regex", "multiline": True}, [1]),
        ({"query": r"items\):.*return sum", "mode": "regex"}, []),
        ({"query": "TOTAL", "case_sensitive": True}, []),
        ({"query": "^$", "mode": "regex", "filename_pattern": "cart.py", "scope": "src"}, [3, 4]),
        ({"query": r"retry_(?=total)", "mode": "regex", "filename_pattern": "src/cart.py"}, [5]),
    ],
)
def test_gr_096_invert_multiline_and_case(world: World, shop: str, options: dict[str, Any], expected: list[int]) -> None:
    answer = searched(world.at(shop), **options)

    content = [row["line_number"] for row in answer["results"] if row["file_path"] == "src/cart.py" and not _by_id(row, options)]
    assert content == expected


def _by_id(row: dict[str, Any], options: dict[str, Any]) -> bool:
    """A hit in an id rather than in a line: its line is the first of the symbol, shown without its surroundings."""
    return bool(row["node_id"]) and row["context_before"] == [] and row["context_after"] == [] and not options.get("multiline")


def test_rc_009_count_only_gives_the_number_and_it_is_the_candidates(world: World) -> None:
    root = world.brain("twelve", a_txt="needle\n" * 12)

    answer = searched(world.at(root), "needle", count_only=True)

    assert (answer["results"], answer["match_count"], answer["total_matches"]) == ([], 12, 12)
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == 12
    assert answer["agent_runtime_contract"]["trust_mode"] == "full_trust"


def test_gr_097_a_scope_outside_is_taken_in_first_when_it_is_one_directory(world: World, shop: str) -> None:
    beside = world.repository("beside", lib__x_py="marvel = 1\n")

    answer = searched(world.at(shop), "marvel", scope=beside, auto_ingest=True)

    assert answer["auto_ingested"]
    assert answer["auto_ingested_paths"] == [beside]
    assert [row["matched_line"] for row in answer["results"] if row["line_number"] == 1][-1] == "marvel = 1"


def test_gr_097_a_scope_with_two_meanings_is_an_error_that_lists_both(world: World, shop: str) -> None:
    world.repository("extra", a_py="x = 1\n")
    other = world.repository("elsewhere/root", b_py="y = 1\n")
    world.repository("elsewhere/extra", c_py="z = 1\n")
    assert world.at(shop).call("ingest", path=other, federation_intent=True)["ok"]

    error = world.at(shop).call("search", query="x", scope="extra", auto_ingest=True)["error"]

    assert error["code"] == "invalid_params"
    assert os.path.join(str(world.place), "extra") in error["message"]
    assert "elsewhere/extra" in error["message"]


def test_gr_097_without_a_brain_nothing_is_taken_in(world: World) -> None:
    stranger = world.repository("stranger", a_py="x = 1\n")
    beside = world.repository("beside", b_py="y = 1\n")

    answer = world.at(stranger).call("search", query="y", scope=beside, auto_ingest=True)

    assert not answer["ok"]
    assert not world.home.medulla_dir.exists()


@pytest.mark.parametrize("place", [".git", ".hg", ".svn", "node_modules", "target", "dist", "build", ".hindbrain"])
def test_gr_098_records_and_by_products_are_never_looked_into(world: World, shop: str, place: str) -> None:
    directory = Path(shop, place)
    directory.mkdir(exist_ok=True)
    (directory / "inbox.jsonl").write_text("quagga\n", encoding="utf-8")

    answer = searched(world.at(shop), "quagga")

    assert answer["results"] == []
    assert place in answer["absence"]["never_read"]


def test_gr_099_exact_label_then_symbols_then_files_then_lines_fixtures_last(world: World) -> None:
    root = world.brain(
        "order",
        fixtures__a_py="cart = 1\n",
        src__use_py="from cart import x\n",
        src__cart_py="x = 1\n",
        src__shop_py="class Cart:\n    pass\n\n\ndef empty_cart():\n    pass\n",
    )

    rows = searched(world.at(root), "cart", context_lines=0)["results"]

    ids = [row["node_id"] for row in rows]
    assert ids[0].endswith("::Cart")
    assert "empty_cart" in ids[1]
    assert ids[2] == "file::src/cart.py"
    assert rows[-1]["file_path"] == "fixtures/a.py"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*_test.py", ["a_test.py", "deep/er/b_test.py"]),
        ("*_test.py", ["a_test.py", "deep/er/b_test.py"]),
        ("deep/**", ["deep/er/b_test.py", "deep/x.ts"]),
        ("deep/*.ts", ["deep/x.ts"]),
        ("**/*.{ts,go}", ["deep/x.ts", "z.go"]),
        ("nothing/*", []),
    ],
)
def test_gr_100_glob_lists_exactly_the_files_that_fit(world: World, pattern: str, expected: list[str]) -> None:
    root = world.brain("names", a_test_py="", deep__er__b_test_py="", deep__x_ts="", z_go="package z\n")
    Path(root, "a_test.py").touch()

    answer = world.at(root).call("glob", pattern=pattern)

    assert [row["file_path"] for row in answer["results"]] == expected
    assert answer["agent_runtime_contract"]["observed"]["candidates"] == len(expected)


def test_gr_100_glob_knows_what_is_new_and_what_is_gone(world: World, shop: str) -> None:
    Path(shop, "src/new.py").write_text("", encoding="utf-8")
    Path(shop, "src/cart.py").unlink()

    rows = world.at(shop).call("glob", pattern="src/*.py")["results"]

    assert {row["file_path"]: (row["graph_linked"], row["on_disk"]) for row in rows} == {
        "src/cart.py": (True, False),
        "src/new.py": (False, True),
        "src/retry.py": (True, True),
    }


def test_gr_100_a_pattern_made_to_hurt_ends(world: World, shop: str) -> None:
    Path(shop, "a" * 120).write_text("", encoding="utf-8")

    assert world.at(shop).call("glob", pattern="*a" * 40 + "b")["results"] == []


def test_gr_101_a_small_limit_keeps_whole_rows_and_says_so(world: World) -> None:
    root = world.brain("many", a_txt="needle in the hay\n" * 200)

    answer = searched(world.at(root), "needle", max_output_chars=3_000)

    envelope = answer.pop("agent_runtime_contract")
    assert envelope["observed"]["candidates"] == 200
    assert len(json.dumps(answer, ensure_ascii=False)) <= 3_000 + len(answer["inline_summary"]) + 40
    assert answer["truncated"]
    assert 0 < len(answer["results"]) < 50
    assert "of 200" in answer["inline_summary"]


def test_gr_092_pipes_links_and_binaries_are_not_read(world: World, shop: str) -> None:
    outside = world.place / "secret.txt"
    outside.write_text("quokka\n", encoding="utf-8")
    os.mkfifo(os.path.join(shop, "pipe"))
    os.symlink(outside, os.path.join(shop, "link.txt"))
    os.symlink("/dev/zero", os.path.join(shop, "zero"))
    Path(shop, "image.bin").write_bytes(b"\x00quokka\n")
    Path(shop, "latin.txt").write_bytes("quokka \xe9\n".encode("latin-1"))

    answer = searched(world.at(shop), "quokka")

    assert lines(answer) == [("latin.txt", 1)]


def test_gr_092_a_file_too_large_to_read_is_named(world: World, shop: str) -> None:
    with open(os.path.join(shop, "big.txt"), "wb") as file:
        file.truncate(9 * 1024 * 1024)

    answer = searched(world.at(shop), "numbat")

    assert answer["files_not_read"] == ["big.txt"]
    assert answer["absence"]["state"] == "inconclusive"


def test_gr_083_a_scope_limits_a_search_in_each_of_its_forms(world: World, shop: str) -> None:
    forms = ["src", "file::src", os.path.join(shop, "src"), "src/"]

    found = [lines(searched(world.at(shop), "backoff", scope=scope)) for scope in forms]

    assert found == [[("src/retry.py", 3)]] * len(forms)


def test_gr_093_semantic_mode_ranks_code_by_words(world: World, shop: str) -> None:
    answer = searched(world.at(shop), "RetryPolicy next delay", mode="semantic")

    assert answer["results"][0]["file_path"] == "src/retry.py"
    assert answer["results"][0]["score"] > 0
