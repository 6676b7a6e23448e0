"""Learning: what questions and verdicts teach a brain's graph, written down at once. Claims are graded elsewhere.

Only code is taught: what is learned outlives the graph it is about, and a claim must be forgettable without a trace.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, UnknownClaim
from hindbrain.engines.activation import Activation
from hindbrain.engines.network import Ints
from hindbrain.engines.plasticity import Change, given_feedback, grown, with_children
from hindbrain.policy.activation import LEARNING
from hindbrain.services.grades import Grades, checked_feedback, names_code, slug_named
from hindbrain.services.graph_access import GraphAccess, Held
from hindbrain.stores.learned import Defect, Drift, Query

__all__ = ["Learning"]


class Learning:
    """The one way by which weights change."""

    def __init__(self, access: GraphAccess, clock: Callable[[], int]) -> None:
        self._access = access
        self._clock = clock

    def woke(self, held: Held, found: Activation, top_k: int) -> dict[str, Any]:
        """A question was asked: its strongest nodes grow together, all others fade a little, and it is remembered."""
        graph, store = held.graph, held.graph.learned
        code = ~graph.claims[found.nodes[:top_k]]
        nodes, activation = found.nodes[:top_k][code], found.activation[:top_k][code]
        with graph.lock, store.writing(durable=False):
            graph.settle()
            change = grown(graph.net, nodes, np.minimum(activation, 1.0), graph.histories)
            generation, number = store.generation + 1, store.queries + 1
            self._write(held, change, generation)
            graph.counted(nodes)
            net = graph.net
            ids = [net.ids[node] for node in nodes]
            store.add_active(ids)
            store.set_number("queries", number)
            seeds = found.seeds.nodes[~graph.claims[found.seeds.nodes]][: LEARNING.primed]
            told = Query(
                at=self._clock(),
                seeds=tuple(net.ids[node] for node in seeds),
                nodes=tuple((one, round(float(value), 6)) for one, value in zip(ids, activation, strict=True)),
            )
            store.remember(told, number=number, most=LEARNING.queries)
        return {
            "edges_strengthened": change.strengthened,
            "edges_decayed": int(graph.net.edges - len(change.edges)),
            "ltp_events": change.lasting_up,
            "ltd_events": change.lasting_down,
            "homeostatic_rescales": change.rebalanced,
            "priming_nodes": min(len(ids), LEARNING.primed),
            "plasticity_generation": generation,
        }

    def learn(
        self,
        caller: Caller,
        grades: Grades,
        *,
        feedback: str,
        node_ids: Sequence[str],
        query: str,
        strength: float,
        tier: str | None,
    ) -> dict[str, Any]:
        """A verdict on code, on claims, or on both in one call. What names neither is told; if all do, nothing changes."""
        checked_feedback(feedback)
        code = self._known(caller, node_ids)
        others = [name for name in node_ids if name not in code]
        graded: dict[str, Any] = {"claim_grades": []}
        unknown: list[str] = []
        try:
            if others:
                graded = grades.learn(caller, feedback=feedback, node_ids=others, query=query, strength=strength, tier=tier)
                known = {grade["slug"] for grade in graded["claim_grades"]}
                unknown = [name for name in others if names_code(name) and slug_named(name) not in known]
        except (UnknownClaim, InvalidParams):
            if not code:
                named = ", ".join(name[:120] for name in node_ids)
                raise UnknownClaim(
                    f"none of {named} is a node or a live claim here", fix="activate and seek show the ids"
                ) from None
            unknown = others
        taught = self._verdict(caller, feedback=feedback, node_ids=code, strength=strength) if code else {}
        counted = {
            key: taught.get(key, 0) + graded.get(key, 0)
            for key in ("nodes_found", "nodes_expanded", "edges_modified", "trust_records_updated")
        }
        told = [graded["rendered"]] if "rendered" in graded else []
        if code:
            told.append(f"Noted {feedback} for {len(code)} nodes; {counted['edges_modified']} edges moved.")
        if unknown:
            told.append(f"Unknown here: {', '.join(unknown)}.")
        return {
            "ok": True,
            "schema": "m1nd-learn-v0",
            "query": query,
            "feedback": feedback,
            **counted,
            "strength": strength,
            "claim_grades": graded["claim_grades"],
            "unknown": unknown,
            "rendered": "\n".join(told),
        }

    def _known(self, caller: Caller, node_ids: Sequence[str]) -> list[str]:
        """Which of these name a node of code in the caller's own graph."""
        with self._access.held(caller) as held:
            return [name for name in node_ids if self._code_row(held, name) is not None] if held.own else []

    def _code_row(self, held: Held, name: str) -> int | None:
        row = self._access.resolve(held, name) if names_code(name) else None
        return None if row is None or held.graph.claims[row] else row

    def _verdict(self, caller: Caller, *, feedback: str, node_ids: Sequence[str], strength: float) -> dict[str, Any]:
        """Move the edges between the named nodes and note the verdict on each of them."""
        with self._access.held(caller) as held:
            rows = [row for name in node_ids if (row := self._code_row(held, name)) is not None]
            rows = list(dict.fromkeys(rows))
            half = (len(rows) + 1) // 2
            graph, store = held.graph, held.graph.learned
            parts = [np.array(rows[:half], dtype=np.int64), np.array(rows[half:], dtype=np.int64)]
            with graph.lock, store.writing(durable=True):
                graph.settle()
                groups = [with_children(graph.net, part) for part in parts]
                change = given_feedback(graph.net, groups, feedback, strength, graph.histories)
                generation = store.generation + 1
                self._write(held, change, generation)
                ids = [graph.net.ids[row] for row in rows]
                now = self._clock()
                store.add_defects([Defect(node=one, kind=feedback, at=now) for one in ids], caller.agent)
                store.add_together([(one, other) for at, one in enumerate(ids) for other in ids[at + 1 :]])
        return {
            "nodes_found": len(rows),
            "nodes_expanded": len(_union(groups)),
            "edges_modified": len(change.edges),
            "trust_records_updated": len(rows),
            "plasticity_generation": generation,
        }

    def _write(self, held: Held, change: Change, generation: int) -> None:
        """Inside a transaction: the edges as they are now, how far they moved, and the counter."""
        graph, store = held.graph, held.graph.learned
        edges = graph.taught(change, generation)
        store.put_edges(edges)
        now = self._clock()
        drifts = [
            Drift(at=now, source=edge.source, target=edge.target, relation=edge.relation, before=float(was), after=edge.weight)
            for edge, was in zip(edges, change.before, strict=True)
        ]
        store.add_drifts(drifts, most=LEARNING.drifts)
        store.set_number("generation", generation)


def _union(groups: Sequence[Ints]) -> Ints:
    return np.unique(np.concatenate(list(groups)))
