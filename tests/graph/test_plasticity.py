"""How edges learn: growth, decay, lasting marks, bounds and feedback, by hand; and that what was learned is kept."""

from pathlib import Path

import numpy as np
import pytest

from hindbrain.engines.network import Network
from hindbrain.engines.plasticity import Change, History, balanced, given_feedback, grown, with_children
from hindbrain.stores.learned import Defect, Drift, LearnedEdge, LearnedStore, Query, SessionMark
from tests.support.small_graph import network


def weights(net: Network) -> dict[tuple[str, str], float]:
    every = np.arange(net.edges, dtype=np.int32)
    return {net.edge_key(int(edge))[:2]: float(weight) for edge, weight in zip(every, net.strength(every), strict=True)}


def pair(weight: float = 1.0) -> Network:
    return network("ab", [{"s": "a", "t": "b", "weight": weight}])


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def after(change: Change) -> dict[int, History]:
    return dict(zip(change.edges.tolist(), change.histories, strict=True))


# -- growth --------------------------------------------------------------------------------------------------------------


def test_gr_116_an_edge_between_two_woken_nodes_grows_by_the_product_of_their_activations() -> None:
    net = network("abc", [{"s": "a", "t": "b", "weight": 0.5}, {"s": "a", "t": "c", "weight": 0.5}])

    change = grown(net, rows(0, 1), np.array([0.5, 0.4]), {})

    assert weights(net) == pytest.approx({("a", "b"): 0.516, ("a", "c"): 0.5}, abs=1e-9)
    assert (change.strengthened, change.before.tolist()) == (1, [0.5])


def test_gr_116_no_edge_grows_above_the_cap() -> None:
    net = pair(2.99)

    grown(net, rows(0, 1), np.array([1.0, 1.0]), {})

    assert weights(net)["a", "b"] == pytest.approx(3.0, abs=1e-6)


def test_gr_117_edges_of_nodes_that_nobody_asked_for_lose_half_a_percent_per_query() -> None:
    net = network("abc", [{"s": "a", "t": "b"}, {"s": "c", "t": "b"}])

    net.queries = 10
    net.active[2] = 10  # c was active each time

    assert weights(net) == pytest.approx({("a", "b"): 0.995**10, ("c", "b"): 1.0}, abs=1e-9)


@pytest.mark.parametrize(("weight", "rest"), [(0.05, 0.05), (0.08, 0.05), (0.4, 0.2), (3.0, 0.5)])
def test_gr_117_no_edge_of_the_code_fades_below_half_of_what_the_code_says_nor_below_the_floor(
    weight: float, rest: float
) -> None:
    net = pair(weight)

    net.queries = 5000

    assert weights(net)["a", "b"] == pytest.approx(rest, abs=1e-6)


def test_gr_117_a_weight_that_is_set_fades_from_then_on() -> None:
    net = pair(0.4)
    net.queries = 100

    net.set_weights(rows(0), np.array([2.0]))
    net.queries = 110

    assert weights(net)["a", "b"] == pytest.approx(2.0 * 0.995**10, abs=1e-9)


def test_gr_118_the_fifth_strengthening_leaves_a_bonus_once() -> None:
    net = pair(1.0)
    histories: dict[int, History] = {}
    events = []

    for _ in range(6):
        change = grown(net, rows(0, 1), np.array([0.5, 0.4]), histories)
        histories |= after(change)
        events.append(change.lasting_up)

    assert events == [0, 0, 0, 0, 1, 0]
    assert weights(net)["a", "b"] == pytest.approx(1.0 + 6 * 0.016 + 0.15, abs=1e-9)
    assert histories[0] == History(up=6, lasting_up=True)


def test_gr_118_the_fifth_weakening_leaves_a_penalty_once() -> None:
    net = pair(1.0)
    histories: dict[int, History] = {}

    for _ in range(6):
        histories |= after(given_feedback(net, [rows(0), rows(1)], "wrong", 0.01, histories))

    assert weights(net)["a", "b"] == pytest.approx(1.0 - 6 * 0.01 - 0.15, abs=1e-9)
    assert histories[0] == History(down=6, lasting_down=True)


def test_gr_119_incoming_weights_that_sum_to_more_than_five_are_scaled_to_five() -> None:
    net = network("abc", [{"s": "a", "t": "c", "weight": 4.0}, {"s": "b", "t": "c", "weight": 4.0}])

    edges, _, _, nodes = balanced(net, rows(2))

    assert weights(net) == pytest.approx({("a", "c"): 2.5, ("b", "c"): 2.5}, abs=1e-9)
    assert (len(edges), nodes) == (2, 1)


def test_gr_119_what_the_code_itself_says_of_a_node_is_not_scaled_away() -> None:
    users = [f"u{i:02}" for i in range(40)]
    net = network(["hub", *users], [{"s": user, "t": "hub", "weight": 0.5} for user in users])

    change = grown(net, rows(0, 1), np.array([1.0, 1.0]), {})

    assert change.rebalanced == 1  # only the growth beyond 20.0 is taken back
    assert sum(weights(net).values()) == pytest.approx(20.0, abs=1e-6)
    assert weights(net)["u01", "hub"] == pytest.approx(0.5 * 20 / 20.08, abs=1e-6)


# -- feedback ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("feedback", "weight"), [("correct", 1.2), ("wrong", 0.8)])
def test_gr_120_feedback_moves_the_edges_between_the_nodes(feedback: str, weight: float) -> None:
    net = pair(1.0)

    given_feedback(net, [rows(0), rows(1)], feedback, 0.2, {})

    assert weights(net)["a", "b"] == pytest.approx(weight, abs=1e-9)


@pytest.mark.parametrize(("start", "feedback", "weight"), [(2.95, "correct", 3.0), (0.1, "wrong", 0.05)])
def test_gr_120_weights_stay_between_floor_and_cap(start: float, feedback: str, weight: float) -> None:
    net = pair(start)

    given_feedback(net, [rows(0), rows(1)], feedback, 0.2, {})

    assert weights(net)["a", "b"] == pytest.approx(weight, abs=1e-6)


def test_gr_120_partial_strengthens_the_first_half_and_weakens_what_binds_the_halves() -> None:
    net = network("abcd", [{"s": "a", "t": "b"}, {"s": "b", "t": "c"}, {"s": "d", "t": "a"}, {"s": "c", "t": "d"}])

    given_feedback(net, [rows(0, 1), rows(2, 3)], "partial", 0.2, {})

    assert weights(net) == pytest.approx({("a", "b"): 1.2, ("b", "c"): 0.8, ("d", "a"): 0.8, ("c", "d"): 1.0}, abs=1e-9)


def test_gr_120_the_children_of_the_nodes_take_part() -> None:
    net = network(
        ["file", "file::f", "file::g", "other"],
        [
            {"s": "file", "t": "file::f", "relation": "contains"},
            {"s": "file", "t": "file::g", "relation": "contains"},
            {"s": "file::f", "t": "file::g", "weight": 0.4},
            {"s": "file::f", "t": "other", "weight": 0.4},
        ],
    )

    nodes = with_children(net, rows(0))
    change = given_feedback(net, [nodes, rows()], "correct", 0.2, {})

    assert nodes.tolist() == [0, 1, 2]
    assert len(change.edges) == 3
    assert weights(net)["file::f", "file::g"] == pytest.approx(0.6, abs=1e-6)
    assert weights(net)["file::f", "other"] == pytest.approx(0.4, abs=1e-6)


# -- what is kept --------------------------------------------------------------------------------------------------------


def test_gr_128_learned_weights_settle_on_a_new_graph_with_what_faded_meanwhile() -> None:
    net = network("abc", [{"s": "a", "t": "b", "weight": 0.5}, {"s": "c", "t": "b", "weight": 0.4}])

    net.settle(rows(20, 20, 5), rows(0), np.array([2.0]), rows(8))

    assert weights(net) == pytest.approx({("a", "b"): 2.0 * 0.995**12, ("c", "b"): 0.4 * 0.995**5}, abs=1e-6)


def edge(weight: float = 1.5) -> LearnedEdge:
    return LearnedEdge(
        source="a", target="b", relation="calls", weight=weight, idle=3, up=2, down=1, lasting_up=False, lasting_down=False
    )


@pytest.fixture
def store(tmp_path: Path) -> LearnedStore:
    return LearnedStore(tmp_path / "learned.db")


def test_gr_128_what_was_learned_survives_a_restart(store: LearnedStore) -> None:
    with store.writing(durable=True):
        store.put_edges([edge()])
        store.add_active(["a", "a", "b"])
        store.set_number("generation", 7)
    store.close()

    again = LearnedStore(store.path)

    assert (again.edges(), again.active(), again.generation) == ([edge()], {"a": 2, "b": 1}, 7)
    again.close()


def test_gr_112_the_memory_of_questions_is_a_ring(store: LearnedStore) -> None:
    with store.writing(durable=False):
        for number in range(7):
            store.remember(Query(at=number, seeds=("a",), nodes=(("b", 0.5),)), number=number, most=5)

    assert [query.at for query in store.remembered()] == [6, 5, 4, 3, 2]
    assert store.remembered()[0].nodes == (("b", 0.5),)
    store.close()


def test_gr_128_a_failed_act_of_learning_leaves_nothing(store: LearnedStore) -> None:
    def broken() -> None:
        with store.writing(durable=True):
            store.put_edges([edge()])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()

    assert store.edges() == []
    store.close()


def test_gr_163_a_saved_state_comes_back_and_the_generation_still_grows(store: LearnedStore, tmp_path: Path) -> None:
    with store.writing(durable=True):
        store.put_edges([edge(1.5)])
        store.set_number("generation", 4)
        store.set_number("queries", 9)
    store.save(tmp_path / "saved.db")
    with store.writing(durable=True):
        store.put_edges([edge(0.3)])
        store.add_defects([Defect(node="a", kind="correct", at=1)], "x:y")
        store.set_number("generation", 6)
        store.set_number("queries", 11)

    store.load(tmp_path / "saved.db")

    assert (store.edges(), store.defects(), store.queries, store.generation) == ([edge(1.5)], [], 9, 7)
    store.close()


def test_gr_126_what_changed_together_counts_in_both_directions(store: LearnedStore) -> None:
    with store.writing(durable=True):
        store.add_together([("a", "b"), ("a", "b"), ("a", "c")])

    assert (store.together("a"), store.together("c")) == ({"b": 2, "c": 1}, {"a": 1})
    store.close()


def test_gr_130_drifts_are_kept_up_to_a_number_and_a_session_is_marked_once(store: LearnedStore) -> None:
    drifts = [Drift(at=at, source="a", target="b", relation="calls", before=1.0, after=1.0 + at) for at in range(5)]
    first = SessionMark(session="s", agent="x", at=1, nodes=2, edges=3, generation=4)
    with store.writing(durable=False):
        store.add_drifts(drifts, most=3)

    store.mark_session(first)
    store.mark_session(SessionMark(session="s", agent="x", at=9, nodes=9, edges=9, generation=9))

    assert [drift.at for drift in store.drifts(0)] == [2, 3, 4]
    assert [drift.at for drift in store.drifts(4)] == [4]
    assert store.sessions("x") == [first]
    store.close()
