"""Activation by hand: four dimensions, their sum, noise cancelling, ghosts and holes, to six digits."""

import random
from typing import Any

import numpy as np
import pytest

from hindbrain.engines.activation import Activation, activate, ghosts, holes, merged, temporal
from hindbrain.engines.network import Network
from hindbrain.engines.seeds import Names, words
from hindbrain.engines.spreading import causal, reach, spread
from hindbrain.engines.trigrams import Trigrams, similarity
from hindbrain.policy.activation import DIMENSIONS, SPREAD
from tests.support.small_graph import network, spread_plainly

NOW = 1_000_000_000.0
CHAIN = [{"s": f"n{i}", "t": f"n{i + 1}"} for i in range(7)]


def woken(net: Network, query: str, **more: Any) -> Activation:
    given: dict[str, Any] = {"most_seeds": 100, "dimensions": tuple(DIMENSIONS), "xlr": False, "now": NOW, **more}
    return activate(net, Names(net), query, **given)


def by_id(net: Network, found: Activation) -> dict[str, float]:
    return {net.ids[node]: float(value) for node, value in zip(found.nodes, found.activation, strict=True)}


def seeds(*rows: int) -> tuple[Any, Any]:
    return np.array(rows, dtype=np.int64), np.ones(len(rows))


# -- structural ----------------------------------------------------------------------------------------------------------


def test_gr_068_a_signal_loses_almost_half_with_every_hop_and_ends_after_five() -> None:
    net = network([f"n{i}" for i in range(8)], CHAIN)

    found = spread(net, *seeds(0), SPREAD)

    assert found.value == pytest.approx([1, 0.55, 0.3025, 0.166375, 0.09150625, 0.0503284375, 0, 0], abs=1e-9)
    assert found.hop.tolist() == [0, 1, 2, 3, 4, 5, -1, -1]


def test_gr_068_the_strongest_arrival_counts_not_the_first_and_not_the_sum() -> None:
    direct = {"s": "a", "t": "c", "weight": 0.2}
    around = [{"s": "a", "t": "b", "weight": 1.0}, {"s": "b", "t": "c", "weight": 1.0}, {"s": "c", "t": "d", "weight": 1.0}]
    net = network("abcd", [direct, *around])

    found = spread(net, *seeds(0), SPREAD)

    assert found.value == pytest.approx([1.0, 0.55, 0.3025, 0.166375], abs=1e-6)


@pytest.mark.parametrize(("weight", "reached"), [(0.0727, 0.0), (0.0728, 0.0728 * 0.55)])
def test_gr_068_a_signal_at_or_below_the_threshold_stops(weight: float, reached: float) -> None:
    net = network("ab", [{"s": "a", "t": "b", "weight": weight}])

    assert spread(net, *seeds(0), SPREAD).value[1] == pytest.approx(reached, abs=1e-6)


def test_gr_069_an_inhibitory_edge_takes_half_of_its_signal_and_never_more_than_there_is() -> None:
    plain = {"s": "a", "t": "b"}
    net = network("abc", [plain, {"s": "c", "t": "b", "inhibitory": True}])
    weak = network("abc", [{**plain, "weight": 0.1}, {"s": "c", "t": "b", "inhibitory": True}])

    assert spread(net, *seeds(0, 2), SPREAD).value[1] == pytest.approx(0.55 - 0.275, abs=1e-9)
    assert spread(weak, *seeds(0, 2), SPREAD).value[1] == 0.0


@pytest.mark.parametrize("number", range(12))
def test_gr_070_a_queue_over_all_paths_reaches_the_same_nodes_with_the_same_strength(number: int) -> None:
    rng = random.Random(number)
    count = rng.randint(5, 40)
    edges = {(rng.randrange(count), rng.randrange(count)): round(rng.uniform(0.05, 1.6), 3) for _ in range(count * 2)}
    names = [f"n{i:02}" for i in range(count)]
    net = network(names, [{"s": names[a], "t": names[b], "weight": w} for (a, b), w in edges.items()])
    start = {rng.randrange(count): rng.uniform(0.2, 1.0) for _ in range(3)}

    found = spread(net, np.array(list(start), dtype=np.int64), np.array(list(start.values())), SPREAD)
    plain = spread_plainly(
        [(a, b, float(np.float32(w))) for (a, b), w in edges.items()],
        start,
        decay=SPREAD.decay,
        threshold=SPREAD.threshold,
        depth=SPREAD.depth,
    )

    assert {int(node): float(found.value[node]) for node in found.nodes} == pytest.approx(plain, abs=1e-9)
    ranked = sorted(plain, key=lambda node: (-plain[node], node))[:10]
    assert set(np.argsort(-found.value, kind="stable")[: len(ranked)].tolist()) == set(ranked)


def test_gr_068_an_edge_in_both_directions_carries_both_ways() -> None:
    net = network("ab", [{"s": "a", "t": "b", "bidirectional": True}])

    assert spread(net, *seeds(1), SPREAD).value == pytest.approx([0.55, 1.0])
    assert reach(net, net.back, *seeds(0), SPREAD).value == pytest.approx([1.0, 0.55])


# -- causal --------------------------------------------------------------------------------------------------------------


def test_gr_071_only_causal_edges_carry_forward_fully_and_backward_with_seven_tenths() -> None:
    net = network("abcd", [{"s": "a", "t": "b", "causal": 0.5}, {"s": "a", "t": "c"}, {"s": "d", "t": "a", "causal": 0.8}])

    found = causal(net, *seeds(0), SPREAD)

    assert found.value == pytest.approx([1.0, 0.5 * 0.55, 0.0, 0.8 * 0.55 * 0.7], abs=1e-6)


# -- temporal ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hours", "often", "score"), [(0, 0.0, 0.6), (168, 0.0, 0.3), (336, 0.5, 0.15 + 0.2), (None, 1.0, 0.4), (None, 0.0, 0.0)]
)
def test_gr_066_recency_halves_every_week_and_frequency_adds(hours: float | None, often: float, score: float) -> None:
    changed = 0.0 if hours is None else NOW - hours * 3600
    net = network({"a": {"last_modified": changed, "change_frequency": often}})

    assert temporal(net, np.array([0]), NOW) == pytest.approx([score], abs=1e-6)


# -- the sum -------------------------------------------------------------------------------------------------------------


def test_gr_066_four_scores_and_their_sum_agree_with_a_calculation_by_hand() -> None:
    net = network(
        {
            "file::alpha": {"last_modified": NOW, "change_frequency": 0.5, "pagerank": 0.4},
            "file::beta": {"last_modified": NOW - 168 * 3600, "pagerank": 0.25},
            "file::gamma": {},
        },
        [{"s": "file::alpha", "t": "file::beta", "weight": 0.5, "causal": 0.8}, {"s": "file::beta", "t": "file::gamma"}],
    )

    found = woken(net, "alpha")

    # alpha: structural 1, semantic 1, temporal 0.6 + 0.2, causal 1; all four agree.
    # beta: structural 0.275, temporal 0.3, causal 0.5 * 0.8 * 0.55 = 0.22; three agree.
    # gamma: structural 0.275 * 0.55 = 0.15125 alone.
    assert by_id(net, found) == pytest.approx(
        {
            "file::alpha": (0.35 + 0.25 + 0.15 * 0.8 + 0.25) * 1.5 + 0.1 * 0.4,
            "file::beta": (0.35 * 0.275 + 0.15 * 0.3 + 0.25 * 0.22) * 1.3 + 0.1 * 0.25,
            "file::gamma": 0.35 * 0.15125,
        },
        abs=1e-6,
    )
    assert found.dimensions[0] == pytest.approx([1.0, 1.0, 0.8, 1.0], abs=1e-6)


def test_gr_067_a_dimension_that_was_not_asked_for_gives_its_weight_to_the_others() -> None:
    net = network([f"n{i}" for i in range(8)], CHAIN)

    found = woken(net, "n0", dimensions=("structural",))

    assert by_id(net, found) == pytest.approx(
        {"n0": 1.0, "n1": 0.55, "n2": 0.3025, "n3": 0.166375, "n4": 0.09150625, "n5": 0.0503284375}, abs=1e-6
    )


def test_gr_067_a_dimension_without_any_score_gives_its_weight_in_proportion() -> None:
    rank = np.zeros(2)

    total, _ = merged({"structural": np.array([1.0, 0.5]), "semantic": np.array([0.2, 0.0])}, rank)

    assert total == pytest.approx([(0.35 * 1.0 + 0.25 * 0.2) / 0.6, 0.35 * 0.5 / 0.6], abs=1e-9)


@pytest.mark.parametrize(("dimensions", "factor"), [(2, 1.0), (3, 1.3), (4, 1.5)])
def test_gr_066_dimensions_that_agree_resonate(dimensions: int, factor: float) -> None:
    scores = {name: np.array([0.02, 1.0]) if i < dimensions else np.array([0.009, 1.0]) for i, name in enumerate(DIMENSIONS)}

    total, _ = merged(scores, np.zeros(2))

    plain = sum(w * (0.02 if i < dimensions else 0.009) for i, w in enumerate(DIMENSIONS.values()))
    assert total[0] == pytest.approx(plain * factor, abs=1e-9)


# -- seeds ---------------------------------------------------------------------------------------------------------------

PLACES = {
    "file::src/retry.py": {"label": "retry.py", "kind": "file", "path": "src/retry.py"},
    "file::src/retry.py::fn::retry": {"label": "retry"},
    "file::src/retry.py::fn::retry_policy": {"label": "retry_policy"},
    "file::src/io.py::fn::copy": {"label": "copy", "tags": "retry io"},
    "file::src/io.py::fn::retries_left": {"label": "left_of_retri"},
}


def test_gr_066_seeds_are_found_by_label_beginning_tag_and_likeness_in_this_order() -> None:
    net = network(PLACES)

    found = Names(net).seeds("retry", 100)

    strength = {net.ids[n]: s for n, s in zip(found.nodes, found.strengths, strict=True)}
    assert strength["file::src/retry.py::fn::retry"] == 1.0
    assert strength["file::src/retry.py"] == strength["file::src/retry.py::fn::retry_policy"] == 0.9
    assert strength["file::src/io.py::fn::copy"] == 0.85
    assert found.strengths.tolist() == sorted(found.strengths.tolist(), reverse=True)


def test_gr_066_a_misspelled_name_is_a_weak_seed_and_noise_is_none() -> None:
    net = network(PLACES)

    found = Names(net).seeds("retrypolicy", 100)

    assert net.ids[found.nodes[0]] == "file::src/retry.py::fn::retry_policy"
    assert 0.1 <= found.strengths[0] < 0.7
    assert len(Names(net).seeds("zzzqqq", 100).nodes) == 0


@pytest.mark.parametrize("named", ["file::src/retry.py", "src/retry.py"])
def test_gr_066_an_id_and_a_path_name_their_node(named: str) -> None:
    net = network(PLACES)

    found = Names(net).seeds(named, 1)

    assert [net.ids[node] for node in found.nodes] == ["file::src/retry.py"]


def test_gr_066_no_more_than_two_hundred_seeds() -> None:
    net = network({f"fn::{i:03}": {"label": "run"} for i in range(300)})

    found = Names(net).seeds("run", 1000)

    assert len(found.nodes) == 200
    assert found.nodes.tolist() == list(range(200))


def test_gr_080_a_question_is_split_into_words_and_identifiers_into_parts() -> None:
    found = words("How does HTTPRetryPolicy work in `src/net_util.py`?")

    assert {"httpretrypolicy", "retry", "policy", "src/net_util.py", "net", "util"} <= set(found)
    assert not {"how", "does", "in", "py"} & set(found)


def test_gr_066_likeness_is_a_cosine_over_trigrams() -> None:
    texts = ["retry_policy", "retry", "deploy", "日本語の名前", "ab", ""]
    rows, score = Trigrams(texts).scores("retry", 0.0)

    found = dict(zip(rows.tolist(), score.tolist(), strict=True))
    assert found[1] == pytest.approx(1.0)
    assert 0 < found[0] < 1
    assert set(found) == {0, 1}
    assert Trigrams(texts).scores("日本語", 0.1)[0].tolist() == [3]
    assert similarity("retry", "RETRY") == pytest.approx(1.0)
    assert similarity("retry", "retries") == pytest.approx(2 / (3 * 5) ** 0.5)


# -- what lies between ---------------------------------------------------------------------------------------------------


def test_gr_072_nodes_that_wake_together_without_an_edge_are_a_ghost_edge() -> None:
    net = network(
        {"load_user": {"last_modified": NOW}, "load_team": {"last_modified": NOW}, "other": {}},
        [{"s": "load_user", "t": "other"}],
    )

    found = woken(net, "load")
    listed = ghosts(net, found)

    assert (net.ids[listed[0].source], net.ids[listed[0].target]) == ("load_team", "load_user")
    assert {"structural", "temporal"} <= set(listed[0].shared)
    value = by_id(net, found)
    assert listed[0].strength == pytest.approx(min((value["load_team"] * value["load_user"]) ** 0.5, 1.0))


def test_gr_072_an_edge_is_no_ghost_and_ten_are_enough() -> None:
    names = [f"load_{i:02}" for i in range(8)]
    net = network(names, [{"s": names[0], "t": names[1]}])

    listed = ghosts(net, woken(net, "load"))

    assert len(listed) == 10
    assert (0, 1) not in [(g.source, g.target) for g in listed]


def module(*, bound: bool) -> Network:
    children = ["load_a", "load_b", "load_c", "load_d", "apart"]
    edges = [{"s": "module", "t": child, "relation": "contains"} for child in children]
    ring = [{"s": "load_a", "t": "load_b"}, {"s": "load_b", "t": "load_c"}, {"s": "load_c", "t": "load_d"}]
    return network(["module", *children], [*edges, *ring, *([{"s": "apart", "t": "load_a"}] if bound else [])])


def test_gr_073_a_child_that_its_woken_siblings_do_not_know_is_a_hole() -> None:
    net = module(bound=False)

    found = woken(net, "load")
    listed = holes(net, found, 0.3)

    assert [net.ids[hole.node] for hole in listed] == ["apart"]
    value = by_id(net, found)
    assert listed[0].siblings == pytest.approx(sum(value[f"load_{one}"] for one in "abcd") / 4)


def test_gr_073_a_child_with_an_edge_to_a_sibling_is_none() -> None:
    net = module(bound=True)

    assert holes(net, woken(net, "load"), 0.3) == []


# -- noise cancelling ----------------------------------------------------------------------------------------------------


def far(*, quiet_branch: bool) -> Network:
    """A chain from the seed whose end another node feeds as well, and a branch of it that nobody else feeds."""
    edges = [{"s": f"p{i}", "t": f"p{i + 1}"} for i in range(3)] + [{"s": "z", "t": "p3"}]
    return network(["p0", "p1", "p2", "p3", "q3", "z"], [*edges, *([{"s": "p2", "t": "q3"}] if quiet_branch else [])])


def test_gr_074_what_unrelated_nodes_reach_as_well_is_taken_away() -> None:
    net = far(quiet_branch=True)

    plain = by_id(net, woken(net, "p0", dimensions=("structural",)))
    cancelled = by_id(net, woken(net, "p0", dimensions=("structural",), xlr=True))

    assert plain == pytest.approx({"p0": 1.0, "p1": 0.55, "p2": 0.3025, "p3": 0.166375, "q3": 0.166375}, abs=1e-6)
    assert cancelled == {key: value for key, value in plain.items() if key != "p3"}


def test_gr_074_when_cancelling_would_remove_everything_the_signal_stays_and_it_is_told() -> None:
    net = far(quiet_branch=False)

    found = woken(net, "p0", dimensions=("structural",), xlr=True)

    assert found.fallback
    assert [net.ids[node] for node in found.anti_seeds] == ["z"]
    assert by_id(net, found) == by_id(net, woken(net, "p0", dimensions=("structural",)))


# -- always the same -----------------------------------------------------------------------------------------------------


def test_gr_078_ties_are_broken_by_external_id_and_ten_repeats_are_equal() -> None:
    rng = random.Random(3)
    names = [f"run_{i:03}" for i in range(200)]
    edges = [{"s": rng.choice(names), "t": rng.choice(names), "weight": 0.5} for _ in range(800)]
    unique = list({(edge["s"], edge["t"]): edge for edge in edges}.values())
    net = network(names, unique)

    first = woken(net, "run", xlr=True)

    for _ in range(10):
        again = woken(network(names, rng.sample(unique, len(unique))), "run", xlr=True)
        assert again.nodes.tolist() == first.nodes.tolist()
        assert again.activation.tolist() == first.activation.tolist()
    equal = np.flatnonzero(np.diff(first.activation) == 0)
    assert len(equal)
    assert all(first.nodes[at] < first.nodes[at + 1] for at in equal)


def test_gr_006_a_weight_that_is_no_number_carries_nothing() -> None:
    net = network("abc", [{"s": "a", "t": "b", "weight": float("nan")}, {"s": "a", "t": "c", "weight": float("inf")}])

    assert spread(net, *seeds(0), SPREAD).value.tolist() == [1.0, 0.0, 0.0]


def test_gr_066_common_words_together_name_the_labels_that_consist_of_them() -> None:
    verbs = [f"load_thing_{i:03}" for i in range(300)] + [f"cache_part_{i:03}" for i in range(300)]
    net = network({f"fn::{label}": {"label": label} for label in [*verbs, "load_cache"]})

    found = Names(net).seeds("how do we load the cache?", 5)

    assert net.ids[found.nodes[0]] == "fn::load_cache"
    assert 0.1 <= found.strengths[0] <= 0.7
