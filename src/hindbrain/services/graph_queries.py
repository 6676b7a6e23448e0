"""Graph queries: activate, impact, why, panoramic, missing and counterfactual, as rows with external ids. Changes no graph."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.engines.activation import Activation, activate, ghosts, holes
from hindbrain.engines.impact import Blast, blast, chains, panorama, taken_away
from hindbrain.engines.paths import shortest
from hindbrain.policy.activation import DIMENSIONS, HOLES, PANORAMA, SEEDS
from hindbrain.services.call import Retrieved
from hindbrain.services.graph_access import GraphAccess, Held, blocked, following, proof_state, provenance
from hindbrain.services.learning import Learning
from hindbrain.services.light_documents import stale_warning

__all__ = ["GraphQueries"]

_DIGITS = 6


def _ms(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 3)


def _told(value: float) -> float:
    return round(float(value), _DIGITS)


class GraphQueries:
    """What can be asked of a graph."""

    def __init__(self, access: GraphAccess, learning: Learning) -> None:
        self._access = access
        self._learning = learning

    # -- activate ----------------------------------------------------------------------------------------------------

    def activate(
        self,
        caller: Caller,
        *,
        query: str,
        top_k: int,
        dimensions: Sequence[str],
        xlr: bool,
        ghost_edges: bool,
        structural_holes: bool,
        learn: bool,
        brain: str | None,
    ) -> Retrieved:
        """Wake the graph by a question."""
        start = time.perf_counter()
        schema = "m1nd-activate-v0"
        nothing: dict[str, Any] = {"query": query, "seeds": [], "activated": [], "ghost_edges": [], "structural_holes": []}
        with self._access.held(caller, brain) as held:
            if not query.strip():
                answer = blocked(schema, "the query is empty: say what you look for", **nothing, plasticity=None)
                return Retrieved(answer=answer | {"elapsed_ms": _ms(start)}, candidates=0)
            found = self._woken(held, query, top_k, dimensions or tuple(DIMENSIONS), xlr)
            if not len(found.nodes):
                answer = blocked(schema, f"nothing in this graph is named like {query[:100]!r}", **nothing, plasticity=None)
                return Retrieved(answer=answer | {"elapsed_ms": _ms(start)}, candidates=0)
            rows = found.nodes[:top_k]
            taught = self._learning.woke(held, found, top_k) if learn and held.own else None
            activated = self._activated(held, found, top_k)
            state = proof_state([row["activation"] for row in activated], activated[0]["type"])
            self._access.seen(caller, [row["node_id"] for row in activated])
            net = held.graph.net
            answer = {
                "schema": schema,
                "query": query,
                "seeds": [
                    brief | {"strength": _told(strength)}
                    for brief, strength in zip(
                        held.briefs(found.seeds.nodes[:top_k].tolist()), found.seeds.strengths[:top_k], strict=True
                    )
                ],
                "activated": activated,
                "ghost_edges": [
                    {
                        "source": net.ids[ghost.source],
                        "target": net.ids[ghost.target],
                        "shared_dimensions": list(ghost.shared),
                        "strength": _told(ghost.strength),
                    }
                    for ghost in (ghosts(net, found) if ghost_edges else ())
                ],
                "structural_holes": self._holes(held, found, None) if structural_holes else [],
                "plasticity": taught,
                "xlr_fallback": found.fallback,
                "elapsed_ms": _ms(start),
                **following(state),
            }
        shown = [f"{row['activation']:.3f}  {row['node_id']}" for row in activated]
        shown += [f"warning: {said}" for said in dict.fromkeys(row["warning"] for row in activated if "warning" in row)]
        more = len(found.nodes) - len(rows)
        answer["rendered"] = "\n".join([*shown, *([f"and {more} more"] if more > 0 else [])])
        return Retrieved(answer=answer, candidates=len(found.nodes))

    def _woken(self, held: Held, query: str, top_k: int, dimensions: Sequence[str], xlr: bool) -> Activation:
        strange = [name for name in dimensions if name not in DIMENSIONS]
        if strange:
            raise InvalidParams(f"{strange[0][:40]!r} is no dimension", fix=f"use some of {', '.join(DIMENSIONS)}")
        with held.graph.lock:
            return activate(
                held.graph.net,
                held.graph.names,
                query,
                most_seeds=top_k * SEEDS.per_result,
                dimensions=tuple(dimensions),
                xlr=xlr,
                now=self._access.clock() / 1000,
            )

    def _activated(self, held: Held, found: Activation, top_k: int) -> list[dict[str, Any]]:
        rows = found.nodes[:top_k].tolist()
        net = held.graph.net
        nodes = held.nodes(rows)
        given = dict.fromkeys(node.path for node in nodes if node.id.startswith("light::") and node.path)
        stale = {path: said for path in given if (said := stale_warning(held.opened, path)) is not None}
        return [
            {
                "node_id": node.id,
                "label": node.label,
                "type": node.kind,
                "activation": _told(found.activation[at]),
                "dimensions": {name: _told(score) for name, score in zip(DIMENSIONS, found.dimensions[at], strict=True)},
                "pagerank": _told(net.pagerank[row]),
                "tags": list(node.tags),
                "provenance": provenance(node),
                **({"warning": stale[node.path]} if node.id.startswith("light::") and node.path in stale else {}),
            }
            for at, (row, node) in enumerate(zip(rows, nodes, strict=True))
        ]

    def _holes(self, held: Held, found: Activation, least: float | None) -> list[dict[str, Any]]:
        net = held.graph.net
        return [
            {
                "node_id": net.ids[hole.node],
                "label": net.labels[hole.node],
                "type": net.kinds[hole.node],
                "sibling_avg_activation": _told(hole.siblings),
                "reason": f"its siblings in {net.ids[hole.parent]} are active and none is connected to it",
            }
            for hole in holes(net, found, HOLES.siblings if least is None else least)
        ]

    def missing(self, caller: Caller, *, query: str, min_sibling_activation: float, brain: str | None) -> Retrieved:
        """What a question does not reach though everything around it is woken."""
        schema = "m1nd-missing-v0"
        with self._access.held(caller, brain) as held:
            if not query.strip():
                return Retrieved(
                    answer=blocked(schema, "the query is empty: say what you look for", query=query, holes=[]), candidates=0
                )
            found = self._woken(held, query, SEEDS.most, tuple(DIMENSIONS), True)
            listed = self._holes(held, found, min_sibling_activation)
        if not listed:
            return Retrieved(
                answer=blocked(schema, "no hole: what is active here is connected", query=query, holes=[]), candidates=0
            )
        answer = {"schema": schema, "query": query, "holes": listed, **following("triaging")}
        answer["rendered"] = "\n".join(f"{hole['node_id']}: {hole['reason']}" for hole in listed)
        return Retrieved(answer=answer, candidates=len(listed))

    # -- impact ------------------------------------------------------------------------------------------------------

    def impact(
        self, caller: Caller, *, node_id: str, direction: str, causal_chains: bool, max_nodes: int | None, brain: str | None
    ) -> Retrieved:
        """What a change of a node may reach."""
        start = time.perf_counter()
        schema = "m1nd-impact-v0"
        with self._access.held(caller, brain) as held:
            row = self._access.resolve(held, node_id)
            if row is None:
                answer = self._access.unknown(held, schema, node_id, node_id=node_id, direction=direction, blast_radius=[])
                return Retrieved(answer=answer, candidates=0)
            net = held.graph.net
            with held.graph.lock:
                found = blast(net, np.array([row]), direction, held.graph.claims, held.graph.directories)
                ways = chains(net, row, direction) if causal_chains else []
            entries = self._blast_rows(held, found, max_nodes)
            code = ~found.citation
            answer = {
                "schema": schema,
                "node_id": net.ids[row],
                "direction": direction,
                "blast_radius": entries,
                "dependents": int(code.sum()),
                "knowledge_citations": int(found.citation.sum()),
                "total_energy": _told(found.signal[code].sum()),
                "max_hops_reached": int(found.hops.max(initial=0)),
                "causal_chains": [
                    {
                        "nodes": [net.ids[node] for node in way.nodes],
                        "relations": [net.relations[net.relation[edge]] for edge in way.edges],
                        "causal_strength": _told(way.strength),
                    }
                    for way in ways
                ],
                "truncated": len(entries) < len(found.nodes),
                "elapsed_ms": _ms(start),
            }
        if not len(found.nodes):
            nothing = f"nothing in this graph is reached from {net.ids[row]} ({direction}): no edge leads there"
            return Retrieved(answer=answer | blocked(schema, nothing), candidates=0)
        self._access.seen(caller, [net.ids[row], *(entry["node_id"] for entry in entries)])
        answer |= following("proving") | {
            "next_suggested_tool": "why",
            "next_step_hint": "why {source, target} shows how two of these are connected.",
        }
        answer["rendered"] = _impact_text(answer)
        return Retrieved(answer=answer, candidates=len(found.nodes))

    @staticmethod
    def _blast_rows(held: Held, found: Blast, most: int | None) -> list[dict[str, Any]]:
        rows = found.nodes[:most].tolist()
        return [
            brief
            | {"signal_strength": _told(found.signal[at]), "hop_distance": int(found.hops[at])}
            | ({"is_knowledge_citation": True} if found.citation[at] else {})
            for at, brief in enumerate(held.briefs(rows))
        ]

    def counterfactual(self, caller: Caller, *, node_ids: Sequence[str], cascade: bool, brain: str | None) -> dict[str, Any]:
        """What would lose its connections without some nodes."""
        schema = "m1nd-counterfactual-v0"
        with self._access.held(caller, brain) as held:
            rows = {name: self._access.resolve(held, name) for name in node_ids}
            unknown = [name for name, row in rows.items() if row is None]
            known = np.array(sorted({row for row in rows.values() if row is not None}), dtype=np.int64)
            if not len(known):
                return self._access.unknown(held, schema, node_ids[0] if node_ids else "", unknown=unknown)
            net = held.graph.net
            with held.graph.lock:
                fall = taken_away(net, known, held.graph.claims, held.graph.directories, cascade=cascade)
            dependents = [
                brief | {"edges_lost": int(lost)}
                for brief, lost in zip(held.briefs(fall.dependents.tolist()), fall.lost, strict=True)
            ]
            answer: dict[str, Any] = {
                "schema": schema,
                "removed": [net.ids[node] for node in fall.removed],
                "unknown": unknown,
                "dependents": dependents,
                "orphaned": held.briefs(fall.orphans.tolist()),
                "cascade": self._blast_rows(held, fall.cascade, None) if fall.cascade is not None else [],
                **following("proving" if dependents or len(fall.orphans) else "triaging"),
            }
        answer["rendered"] = "\n".join(
            [
                f"Without {', '.join(node_ids)} ({len(answer['removed'])} nodes):",
                *(f"  {row['node_id']} loses {row['edges_lost']}" for row in dependents[:20]),
                *(f"  {row['node_id']} stands alone" for row in answer["orphaned"][:20]),
            ]
        )
        return answer

    # -- why ---------------------------------------------------------------------------------------------------------

    def why(self, caller: Caller, *, source: str, target: str, max_hops: int, brain: str | None) -> Retrieved:
        """How two nodes are connected."""
        schema = "m1nd-why-v0"
        told: dict[str, Any] = {"source": source, "target": target, "found": False, "paths": []}
        with self._access.held(caller, brain) as held:
            ends = [self._access.resolve(held, name) for name in (source, target)]
            for name, row in zip((source, target), ends, strict=True):
                if row is None:
                    return Retrieved(answer=self._access.unknown(held, schema, name, **told), candidates=0)
            one, other = int(ends[0] or 0), int(ends[1] or 0)
            net, graph = held.graph.net, held.graph
            with graph.lock:
                # That two files lie in one directory connects them only when nothing better does.
                steps = shortest(net, one, other, max_hops, graph.directories)
                if steps is None:
                    steps = shortest(net, one, other, max_hops, np.zeros(net.nodes, dtype=bool))
                together = bool(graph.communities[one] == graph.communities[other])
        told |= {"source": net.ids[one], "target": net.ids[other], "same_community": together}
        if steps is None:
            nothing = f"no connection of at most {max_hops} hops between {net.ids[one]} and {net.ids[other]}"
            return Retrieved(answer=blocked(schema, nothing, **told), candidates=0)
        path = [
            {
                "from": net.ids[step.before],
                "relation": net.relations[net.relation[step.edge]],
                "direction": "forward" if step.forward else "reverse",
                "to": net.ids[step.after],
            }
            for step in steps
        ]
        self._access.seen(caller, [net.ids[one], *(str(step["to"]) for step in path)])
        answer = {"schema": schema, **told, "found": True, "hops": len(path), "paths": [path], **following("proving")}
        arrows = {"forward": "-{}-> {}", "reverse": "<-{}- {}"}
        lines = ["  " + arrows[str(step["direction"])].format(step["relation"], step["to"]) for step in path]
        answer["rendered"] = "\n".join([net.ids[one], *lines])
        return Retrieved(answer=answer, candidates=1)

    # -- panoramic ---------------------------------------------------------------------------------------------------

    def panoramic(self, caller: Caller, *, scope: str | None, top_n: int, brain: str | None) -> Retrieved:
        """Where a project is fragile."""
        schema = "m1nd-panoramic-v0"
        with self._access.held(caller, brain) as held:
            net = held.graph.net
            prefix = _relative(scope, held.opened.brain.root)
            rows = held.graph.files
            if prefix:
                inside = [net.ids[row].startswith(prefix) or net.paths[row].startswith(prefix) for row in rows.tolist()]
                rows = rows[np.array(inside, dtype=bool)]
            if not len(rows):
                nothing = (
                    "no file of this graph lies in that scope" if prefix else "this graph has no files: ingest the workspace"
                )
                answer = blocked(schema, nothing, modules=[], total_modules=0, critical_alerts=[], scope_applied=bool(prefix))
                return Retrieved(answer=answer, candidates=0, scope=scope)
            found = panorama(net, rows)
            modules = [
                brief
                | {
                    "file_path": net.paths[int(found.nodes[at])],
                    "blast_forward": int(found.forward[at]),
                    "blast_backward": int(found.backward[at]),
                    "centrality": _told(found.centrality[at]),
                    "churn": _told(found.churn[at]),
                    "combined_risk": _told(found.risk[at]),
                    "is_critical": bool(found.risk[at] >= PANORAMA.critical),
                }
                for at, brief in enumerate(held.briefs(found.nodes[:top_n].tolist()))
            ]
        critical = int((found.risk >= PANORAMA.critical).sum())
        self._access.seen(caller, [module["node_id"] for module in modules])
        answer = {
            "schema": schema,
            "modules": modules,
            "total_modules": len(rows),
            "critical_alerts": [module["node_id"] for module in modules if module["is_critical"]],
            "critical_count": critical,
            "scope_applied": bool(prefix),
            **following("proving"),
        }
        if found.left_out:
            answer["left_out"] = found.left_out
        answer["rendered"] = "\n".join(_module_text(module) for module in modules)
        return Retrieved(answer=answer, candidates=len(rows), scope=scope)


def _relative(scope: str | None, root: str | None) -> str:
    """A scope as a prefix of ids or paths; an absolute one inside the root is made relative to it."""
    told = (scope or "").strip()
    inner = told.removeprefix("file::")
    if root and (inner == root or inner.startswith(root.rstrip("/") + "/")):
        return inner.removeprefix(root).lstrip("/")
    return told


def _module_text(module: dict[str, Any]) -> str:
    reach = f"reaches {module['blast_forward']}, reached by {module['blast_backward']}"
    return f"{module['combined_risk']:.2f}{'!' if module['is_critical'] else ' '} {module['node_id']}  ({reach})"


def _impact_text(answer: dict[str, Any]) -> str:
    lines = [f"{answer['node_id']} ({answer['direction']}): {answer['dependents']} reached"]
    for row in answer["blast_radius"][:30]:
        mark = "  cites it" if row.get("is_knowledge_citation") else ""
        lines.append(f"  {row['signal_strength']:.3f}  {'·' * row['hop_distance']} {row['node_id']}{mark}")
    more = answer["dependents"] + answer["knowledge_citations"] - 30
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else [])])
