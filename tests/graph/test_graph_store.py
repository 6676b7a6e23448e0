"""The graph's file: what is put comes back, changed files replace themselves, and a damaged file is begun anew."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hindbrain.domain.graph import Edge, Node
from hindbrain.stores.graph import LocalGraph
from hindbrain.stores.graph_columns import pagerank
from hindbrain.stores.graph_port import Bound, Resolution, ResolveFile, Symbols
from tests.graph.files import parsed


def by_label(symbols: Symbols) -> ResolveFile:
    """The simplest resolver there is: the only definition with that name."""

    def resolve(path: str, references: Sequence[tuple[str, str, str, str, int]]) -> Resolution:
        edges, ambiguous, unresolved = [], 0, 0
        for source, name, relation, _, _ in references:
            found = symbols.named(name)
            ambiguous += len(found) > 1
            unresolved += not found
            if len(found) == 1:
                edges.append((source, found[0], relation, 0, 0.4, 0.5))
        return Bound(edges, len(edges), ambiguous, unresolved)

    return resolve


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[LocalGraph]:
    store = LocalGraph(tmp_path, by_label)
    yield store
    store.close()


def edges(graph: LocalGraph) -> set[tuple[str, str, str]]:
    """What `arrays` says is bound."""
    a = graph.arrays()
    return {
        (a.ids[s], a.relations[r], a.ids[t])
        for s, r, t in zip(a.source.tolist(), a.relation.tolist(), a.target.tolist(), strict=True)
    }


@pytest.mark.req("GR-001", "GR-002")
def test_gr_001_a_node_comes_back_with_everything_it_was_given(graph: LocalGraph) -> None:
    graph.put([parsed("src/a.py", defines=["run"], frequency=0.25)])

    found = graph.nodes(["file::src/a.py::fn::run", "file::src/a.py", "nowhere"])

    run = found["file::src/a.py::fn::run"]
    assert (run.label, run.kind, run.path, run.line_start, run.excerpt) == ("run", "function", "src/a.py", 2, "def run()")
    assert run.change_frequency == 0.25
    assert set(found) == {"file::src/a.py::fn::run", "file::src/a.py"}
    assert graph.edges_of("file::src/a.py", limit=5) == (
        Edge(source="file::src/a.py", target="file::src/a.py::fn::run", relation="contains", weight=1.0),
    )


def test_gr_002_an_edge_that_two_owners_know_is_one_edge(graph: LocalGraph) -> None:
    graph.put([parsed("a.py", defines=["f"])])
    again = Edge(source="file::a.py", target="file::a.py::fn::f", relation="contains", weight=1.0)

    graph.merge("notes", [], [again, again])

    assert edges(graph) == {("file::a.py", "contains", "file::a.py::fn::f")}
    assert len(graph.edges_of("file::a.py", limit=9)) == 1


@pytest.mark.parametrize("bad", ["", " ", "file::", "file::.", "file::./.."])
def test_gr_004_an_id_that_names_nothing_is_left_out(graph: LocalGraph, bad: str) -> None:
    graph.merge("notes", [Node(id=bad, label="x", kind="file"), Node(id="note::a", label="a", kind="concept")], [])

    assert graph.arrays().ids == ["note::a"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_gr_006_a_number_that_is_not_finite_counts_for_nothing(graph: LocalGraph, value: float) -> None:
    nodes = [Node(id="a", label="a", kind="concept", last_modified=value), Node(id="b", label="b", kind="concept")]

    graph.merge("notes", nodes, [Edge(source="a", target="b", relation="mentions", weight=value, causal=value)])

    (edge,) = graph.edges_of("a", limit=1)
    assert (edge.weight, edge.causal, graph.nodes(["a"])["a"].last_modified) == (0.0, 0.0, 0.0)


def test_gr_007_the_ranks_of_a_ring_are_equal_and_sum_to_one(graph: LocalGraph) -> None:
    ring = [Edge(source=a, target=b, relation="mentions") for a, b in ("ab", "bc", "ca")]

    graph.merge("notes", [Node(id=name, label=name, kind="concept") for name in "abc"], ring)

    assert graph.arrays().pagerank.tolist() == pytest.approx([1 / 3] * 3, abs=1e-6)


def test_gr_007_a_node_that_leads_nowhere_gives_its_rank_to_all() -> None:
    import numpy as np

    ranks = pagerank(3, np.array([0, 1], dtype=np.int32), np.array([2, 2], dtype=np.int32), np.array([False, False]))

    assert ranks.sum() == pytest.approx(1.0, abs=1e-5)
    assert ranks[2] > ranks[0] == ranks[1]


def test_gr_008_a_kind_of_its_own_survives(graph: LocalGraph) -> None:
    graph.merge("descriptor", [Node(id="x", label="x", kind="custom:3", tags=("a", "b"))], [])

    assert graph.nodes(["x"])["x"].kind == "custom:3"
    assert (graph.arrays().kinds, graph.arrays().tags) == (["custom:3"], ["a b"])


def test_gr_009_no_more_nodes_than_the_limit_and_it_says_so(tmp_path: Path) -> None:
    graph = LocalGraph(tmp_path, most_nodes=10)

    written = graph.put([parsed("a.py", defines=[f"f{n}" for n in range(20)])])

    assert (written.truncated, graph.counts()[0]) == (True, 10)
    graph.close()


def test_gr_020_names_are_bound_across_files_whichever_came_first(graph: LocalGraph) -> None:
    written = graph.put(
        [parsed("a.py", uses=["run", "gone", "two"]), parsed("b.py", defines=["run", "two"]), parsed("c.py", defines=["two"])]
    )

    assert ("file::a.py", "calls", "file::b.py::fn::run") in edges(graph)
    assert (written.references_resolved, written.references_ambiguous, written.references_unresolved) == (1, 1, 1)


def test_gr_026_a_changed_file_binds_the_others_again(graph: LocalGraph) -> None:
    """One file is parsed, and the graph is the one that a whole ingest of all files gives."""
    first = [
        parsed("a.py", uses=["run", "walk"]),
        parsed("b.py", defines=["run"]),
        parsed("c.py", defines=["stay"], uses=["run"]),
    ]
    graph.put(first)
    steps: list[tuple[list[str], set[tuple[str, str, str]]]] = [
        (["walk"], {("file::a.py", "calls", "file::b.py::fn::walk")}),
        (
            ["walk", "run"],
            {("file::a.py", "calls", f"file::b.py::fn::{n}") for n in ("walk", "run")}
            | {("file::c.py", "calls", "file::b.py::fn::run")},
        ),
        ([], set()),
    ]

    for defines, bound in steps:
        written = graph.put([parsed("b.py", defines=defines)])

        assert {edge for edge in edges(graph) if edge[1] == "calls"} == bound
        assert written.files_parsed == 1
        assert graph.counts()[1] == len(edges(graph))


def test_gr_026_a_removed_file_leaves_no_node_edge_or_word(graph: LocalGraph) -> None:
    graph.put([parsed("a.py", uses=["run"]), parsed("b.py", defines=["run"], text="lantern")])
    graph.merge("history", [], [Edge(source="file::a.py", target="file::b.py", relation="co_changes")])

    graph.put([], removed=["b.py"])

    assert (graph.arrays().ids, edges(graph), graph.find(["lantern"], limit=5)) == (["file::a.py"], set(), ())
    assert set(graph.files()) == {"a.py"}
    assert graph.counts()[:2] == (1, 0)


def test_gr_003_the_same_files_give_the_same_ids_and_bindings(graph: LocalGraph) -> None:
    files = [parsed("a.py", uses=["run"]), parsed("b.py", defines=["run"])]
    graph.put(files)
    before = (graph.arrays().ids, edges(graph))

    graph.put(files, replace=True)
    graph.put(files)

    assert (graph.arrays().ids, edges(graph)) == before


def test_gr_023_replace_leaves_nothing_of_what_was_there(graph: LocalGraph) -> None:
    graph.put([parsed("a.py", text="lantern"), parsed("b.py", defines=["run"])])
    graph.merge("notes", [Node(id="note::a", label="a", kind="concept")], [])

    graph.put([parsed("b.py", defines=["run"])], replace=True)

    assert (list(graph.files()), graph.find(["lantern"], limit=5)) == (["b.py"], ())
    assert graph.nodes(["note::a"]) == {}


def test_gr_024_a_merged_node_keeps_its_file_and_unites_its_tags(graph: LocalGraph) -> None:
    graph.put([parsed("a.py", defines=["f"])])

    graph.merge(
        "notes", [Node(id="file::a.py", label="A", kind="concept", tags=("seen",)), Node(id="n", label="n", kind="concept")], []
    )

    node = graph.nodes(["file::a.py"])["file::a.py"]
    assert (node.label, node.kind, node.path, node.tags) == ("A", "file", "a.py", ("seen",))
    assert graph.counts()[0] == 3


def test_gr_025_what_an_owner_no_longer_tells_goes_and_nothing_else(graph: LocalGraph) -> None:
    graph.put([parsed("a.py")])
    graph.merge("note.md", [Node(id="note::A", label="A", kind="module"), Node(id="note::B", label="B", kind="module")], [])

    graph.merge("note.md", [Node(id="note::A", label="A", kind="module")], [])

    assert graph.arrays().ids == ["file::a.py", "note::A"]


def test_gr_027_the_inventory_tells_what_it_was_told(graph: LocalGraph) -> None:
    one = parsed("a.py", text="hello")

    graph.put([one])

    assert graph.files() == {"a.py": one.facts}


def test_gr_031_an_edge_to_an_unknown_node_is_counted_and_left_out(graph: LocalGraph) -> None:
    written = graph.merge(
        "descriptor", [Node(id="a", label="a", kind="concept")], [Edge(source="a", target="b", relation="mentions")]
    )

    assert (written.edges_skipped, graph.counts()[:2]) == (1, (1, 0))


def test_gr_132_generations_grow_and_are_kept(tmp_path: Path) -> None:
    graph = LocalGraph(tmp_path)
    for _ in range(3):
        graph.put([parsed("a.py")])
    graph.close()

    again = LocalGraph(tmp_path)

    assert again.counts()[2] == 3
    assert again.raise_generation(2) == 3
    assert again.raise_generation(7) == 7 == again.counts()[2]
    again.close()


def test_gr_092_full_text_finds_chunks_names_and_whole_files(graph: LocalGraph) -> None:
    graph.put([parsed("a.py", defines=["lantern"], text="oil wick"), parsed("b.py", defines=["oil"], text="oil oil")])

    assert [(hit.path, hit.line_start, hit.line_end) for hit in graph.find(["wick"], limit=5)] == [("a.py", 1, 5)]
    assert [hit.path for hit in graph.find(["lantern"], limit=5, field="names")] == ["a.py"]
    assert [(hit.path, hit.line_end) for hit in graph.find(["end", "wick"], limit=5, field="whole")] == [("a.py", 9), ("b.py", 9)]
    assert graph.frequencies(["oil", "nothing"]) == ({"oil": 2, "nothing": 0}, 4)
    assert graph.frequencies(["end"], field="whole") == ({"end": 2}, 2)
    assert [hit.path for hit in graph.find(["oil", "wick"], limit=5, within=1)] == ["a.py"]
    assert graph.find(['"', "*", "NEAR(", "a OR b"], limit=5) == ()


def test_gr_136_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path) -> None:
    graph = LocalGraph(tmp_path)
    graph.put([parsed("a.py")])
    graph.close()
    (tmp_path / "graph.db").write_bytes(b"not a database" * 1000)
    (tmp_path / "graph.db-wal").unlink(missing_ok=True)

    again = LocalGraph(tmp_path)

    assert (again.counts()[:2], again.meta("lost")) == ((0, 0), "damaged")
    again.put([parsed("a.py")])
    assert (again.counts()[0], again.meta("lost")) == (1, None)
    assert [path.name for path in tmp_path.glob("graph.db.corrupt.*")] != []
    again.close()


def test_gr_136_a_file_that_vanishes_under_an_open_graph_is_begun_anew(graph: LocalGraph) -> None:
    graph.put([parsed("a.py")])
    for name in ("graph.db", "graph.db-wal", "graph.db-shm"):
        graph.path.with_name(name).unlink(missing_ok=True)

    assert graph.counts()[:2] == (0, 0)
    graph.put([parsed("b.py")])
    assert graph.arrays().ids == ["file::b.py"]


def test_gr_136_an_interrupted_ingest_leaves_the_graph_as_it_was(graph: LocalGraph) -> None:
    graph.put([parsed("a.py", defines=["f"])])
    before = (graph.counts(), graph.arrays().ids)

    def broken() -> Iterator[object]:
        yield parsed("b.py")
        raise InterruptedError

    with pytest.raises(InterruptedError):
        graph.put(broken(), replace=True)  # type: ignore[arg-type]

    assert (graph.counts(), graph.arrays().ids) == before


def test_gr_015_files_committed_together_are_told_with_how_often(graph: LocalGraph) -> None:
    graph.put([parsed("a.py"), parsed("b.py"), parsed("c.py")])

    with graph.taking() as take:
        take.history(
            {"a.py": (3, 50), "b.py": (2, 40)},
            {"a.py": [("b.py", 2), ("c.py", 1), ("gone.py", 9)]},
            below=["a.py", "b.py", "c.py"],
        )
        take.finish()

    assert graph.changes(["a.py", "c.py", "no.py"]) == {"a.py": (("b.py", 2), ("c.py", 1))}
    facts = graph.files()
    assert [(facts[path].commits, facts[path].last_commit) for path in ("a.py", "b.py", "c.py")] == [(3, 50), (2, 40), (0, 0)]
    rates = [graph.nodes([f"file::{path}"])[f"file::{path}"].change_frequency for path in ("a.py", "b.py", "c.py")]
    assert rates[0] == 1.0
    assert rates[0] > rates[1] > rates[2] == 0.0
