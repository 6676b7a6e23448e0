"""Impact, paths, panorama and what falls, by hand."""

import numpy as np
import pytest

from hindbrain.engines.impact import blast, chains, knowledge, panorama, taken_away
from hindbrain.engines.network import Network
from hindbrain.engines.paths import communities, shortest
from tests.support.small_graph import network


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def no(net: Network) -> np.ndarray:
    return np.zeros(net.nodes, dtype=bool)


# -- impact --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "start", "reached"),
    [
        ("forward", 0, {"b": (0.55, 1), "c": (0.3025, 2)}),
        ("reverse", 2, {"b": (0.55, 1), "a": (0.3025, 2)}),
        ("both", 1, {"a": (0.55, 1), "c": (0.55, 1)}),
    ],
)
def test_gr_105_a_change_spreads_along_a_chain(direction: str, start: int, reached: dict[str, tuple[float, int]]) -> None:
    net = network("abc", [{"s": "a", "t": "b"}, {"s": "b", "t": "c"}])

    found = blast(net, rows(start), direction, no(net))

    told = {net.ids[n]: (s, h) for n, s, h in zip(found.nodes, found.signal, found.hops, strict=True)}
    assert {key: hops for key, (_, hops) in told.items()} == {key: hops for key, (_, hops) in reached.items()}
    assert {key: signal for key, (signal, _) in told.items()} == pytest.approx({k: s for k, (s, _) in reached.items()})


def test_gr_105_a_signal_of_a_hundredth_or_less_and_a_sixth_hop_are_not_told() -> None:
    net = network([f"n{i}" for i in range(8)], [{"s": f"n{i}", "t": f"n{i + 1}"} for i in range(7)])
    weak = network("ab", [{"s": "a", "t": "b", "weight": 0.018}])

    assert blast(net, rows(0), "forward", no(net)).hops.tolist() == [1, 2, 3, 4, 5]
    assert len(blast(weak, rows(0), "forward", no(weak)).nodes) == 0


def test_gr_106_a_claim_that_cites_a_node_is_told_apart_and_passes_nothing_on() -> None:
    net = network(
        ["file::a.py", "file::b.py", "light::light::tag::x", "light::light::file::x"],
        [
            {"s": "file::b.py", "t": "file::a.py", "weight": 0.5},
            {"s": "light::light::tag::x", "t": "file::a.py", "relation": "grounded_in", "weight": 0.8},
            {"s": "light::light::file::x", "t": "light::light::tag::x", "relation": "contains_section"},
        ],
    )

    found = blast(net, rows(0), "reverse", knowledge(net))

    assert {net.ids[n]: bool(c) for n, c in zip(found.nodes, found.citation, strict=True)} == {
        "light::light::tag::x": True,
        "file::b.py": False,
    }


def test_gr_105_a_directory_is_no_dependent_of_what_lies_in_it() -> None:
    net = network("abd", [{"s": "d", "t": "a", "relation": "contains"}, {"s": "b", "t": "a"}])

    found = blast(net, rows(0), "both", no(net), np.array([False, False, True]))

    assert [net.ids[node] for node in found.nodes] == ["b"]


def test_gr_105_causal_chains_are_the_strongest_ways() -> None:
    net = network(
        "abcd",
        [
            {"s": "a", "t": "b", "causal": 0.6},
            {"s": "b", "t": "c", "causal": 0.5},
            {"s": "a", "t": "d"},
        ],
    )

    (chain,) = chains(net, 0, "forward")
    (back,) = chains(net, 2, "reverse")

    assert [net.ids[node] for node in chain.nodes] == ["a", "b", "c"]
    assert chain.strength == pytest.approx(0.3)
    assert [net.ids[node] for node in back.nodes] == ["c", "b", "a"]


# -- what falls ----------------------------------------------------------------------------------------------------------


def test_gr_111_a_hub_taken_away_leaves_its_dependents_and_the_graph_unchanged() -> None:
    net = network(
        ["hub", "hub::fn", "user1", "user2", "far"],
        [
            {"s": "hub", "t": "hub::fn", "relation": "contains"},
            {"s": "user1", "t": "hub::fn", "weight": 0.4},
            {"s": "user2", "t": "hub::fn", "weight": 0.4},
            {"s": "user2", "t": "hub", "weight": 0.5},
            {"s": "far", "t": "user2", "weight": 0.5},
        ],
    )
    before = net.weight.copy()

    fall = taken_away(net, rows(net.index["hub"]), no(net), cascade=True)

    assert [net.ids[node] for node in fall.removed] == ["hub", "hub::fn"]
    assert [(net.ids[n], int(k)) for n, k in zip(fall.dependents, fall.lost, strict=True)] == [("user2", 2), ("user1", 1)]
    assert [net.ids[node] for node in fall.orphans] == ["user1"]
    assert fall.cascade is not None
    assert {net.ids[node] for node in fall.cascade.nodes} == {"user1", "user2", "far"}
    assert (net.weight == before).all()


# -- paths ---------------------------------------------------------------------------------------------------------------


def test_gr_108_two_nodes_are_connected_over_a_third_whichever_way_the_edges_point() -> None:
    net = network("abc", [{"s": "a", "t": "b", "relation": "imports"}, {"s": "c", "t": "b", "relation": "calls"}])

    steps = shortest(net, 0, 2, 6, no(net))

    assert steps is not None
    assert [(net.ids[s.before], net.ids[s.after], net.relations[net.relation[s.edge]], s.forward) for s in steps] == [
        ("a", "b", "imports", True),
        ("b", "c", "calls", False),
    ]


@pytest.mark.parametrize(("hops", "found"), [(5, False), (6, True)])
def test_gr_108_the_number_of_hops_is_bounded(hops: int, found: bool) -> None:
    net = network([f"n{i}" for i in range(7)], [{"s": f"n{i}", "t": f"n{i + 1}"} for i in range(6)])

    assert (shortest(net, 0, 6, hops, no(net)) is not None) is found


def test_gr_108_no_way_and_no_distance() -> None:
    net = network("abc", [{"s": "a", "t": "b"}])

    assert shortest(net, 0, 2, 6, no(net)) is None
    assert shortest(net, 1, 1, 6, no(net)) == []


def test_gr_108_a_way_through_a_shut_node_is_none() -> None:
    net = network("abc", [{"s": "b", "t": "a"}, {"s": "b", "t": "c"}])

    assert shortest(net, 0, 2, 6, np.array([False, True, False])) is None


@pytest.mark.parametrize("seed", range(6))
def test_gr_108_the_way_is_as_short_as_a_plain_search_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"n{i:02}" for i in range(30)]
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 30, (40, 2)) if a != b}
    net = network(names, [{"s": names[a], "t": names[b]} for a, b in pairs])
    near: dict[int, set[int]] = {}
    for a, b in pairs:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    distance, front = {0: 0}, [0]
    while front:
        front = [n for node in front for n in near.get(node, ()) if distance.setdefault(n, distance[node] + 1) > distance[node]]
        front = list(dict.fromkeys(n for n in front if distance[n] == max(distance.values())))

    for target in range(1, 30):
        steps = shortest(net, 0, target, 30, no(net))
        assert (len(steps) if steps is not None else None) == distance.get(target)


def test_gr_108_groups_that_hardly_know_each_other_are_two_communities() -> None:
    one, two = [f"a{i}" for i in range(5)], [f"b{i}" for i in range(5)]
    inner = [{"s": x, "t": y} for group in (one, two) for x in group for y in group if x < y]
    net = network([*one, *two], [*inner, {"s": "a0", "t": "b0", "weight": 0.1}])

    found = communities(net)

    assert len(set(found[:5].tolist())) == len(set(found[5:].tolist())) == 1
    assert found[0] != found[5]


# -- panorama ------------------------------------------------------------------------------------------------------------


def project(**more: dict[str, float]) -> Network:
    names = ["hub", "u1", "u2", "u3", "lone"]
    nodes = {f"file::{n}.py": {"kind": "file", "path": f"{n}.py", **more.get(n, {})} for n in names}
    nodes["file::hub.py::fn::run"] = {"path": "hub.py"}
    calls = [{"s": f"file::u{i}.py", "t": "file::hub.py::fn::run"} for i in (1, 2, 3)]
    return network(nodes, [*calls, {"s": "file::hub.py", "t": "file::hub.py::fn::run", "relation": "contains"}])


def test_gr_102_the_hub_of_a_project_comes_first() -> None:
    net = project(hub={"pagerank": 0.5}, u1={"pagerank": 0.1})
    files = rows(*(row for row in range(net.nodes) if net.kinds[row] == "file"))

    found = panorama(net, files)

    assert net.ids[found.nodes[0]] == "file::hub.py"
    assert (found.forward[0], found.backward[0]) == (0, 3)
    assert found.risk[0] == pytest.approx(0.5 * 1.0 + 0.3 * 1.0)
    assert len(found.nodes) == 5
    lone = [net.ids[node] for node in found.nodes].index("file::lone.py")
    assert (found.forward[lone], found.backward[lone], found.risk[lone]) == (0, 0, 0.0)


def test_gr_103_of_two_equal_files_the_one_that_changes_more_is_riskier() -> None:
    net = project(u2={"change_frequency": 0.9})
    files = rows(*(row for row in range(net.nodes) if net.kinds[row] == "file"))

    found = panorama(net, files)

    risk = {net.ids[n]: float(r) for n, r in zip(found.nodes, found.risk, strict=True)}
    assert risk["file::u2.py"] == pytest.approx(risk["file::u1.py"] + 0.2 * 0.9, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_gr_102_the_blast_of_many_files_is_counted_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 1500  # more than one block of columns
    names = [f"file::{i:04}" for i in range(count)]
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, count, (3000, 2)) if a != b}
    net = network(
        {one: {"kind": "file", "path": one[6:]} for one in names}, [{"s": names[a], "t": names[b]} for a, b in sorted(pairs)]
    )
    ahead: dict[int, set[int]] = {}
    for a, b in pairs:
        ahead.setdefault(a, set()).add(b)

    found = panorama(net, np.arange(count))

    for node, told in list(zip(found.nodes.tolist(), found.forward.tolist(), strict=True))[:50]:
        seen = {node}
        for _ in range(3):
            seen |= {other for one in seen for other in ahead.get(one, ())}
        assert told == len(seen) - 1
