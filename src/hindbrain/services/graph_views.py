"""Graph views: a neighbourhood for a terminal, and a graph as a file that other tools open."""

from pathlib import Path
from typing import Any

import numpy as np

from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams
from hindbrain.domain.graph import Node
from hindbrain.engines.drawing import svg
from hindbrain.engines.fence import shown
from hindbrain.engines.graph_columns import columns
from hindbrain.engines.graph_formats import dot, graphml, snapshot_text
from hindbrain.engines.subgraph import Part, around, tree, whole
from hindbrain.policy.activation import COLUMNS, EXPORT_EDGES, EXPORT_INLINE
from hindbrain.services.call import Retrieved
from hindbrain.services.graph_access import GraphAccess, Held, blocked, following, provenance
from hindbrain.stores.atomic import write_new

__all__ = ["GraphViews"]

_BATCH = 5000


class GraphViews:
    """What of a graph can be looked at."""

    def __init__(self, access: GraphAccess) -> None:
        self._access = access

    def show(self, caller: Caller, *, node: str | None, depth: int, each: int, brain: str | None) -> Retrieved:
        """A neighbourhood as a tree; without a node that of the most important file."""
        schema = "hindbrain-graph-show-v0"
        with self._access.held(caller, brain) as held:
            net = held.graph.net
            row = self._access.resolve(held, node) if node is not None else self._middle(held)
            if row is None:
                if node is None:
                    return Retrieved(
                        answer=blocked(schema, "this graph has no nodes: ingest the workspace", node_id=None), candidates=0
                    )
                return Retrieved(answer=self._access.unknown(held, schema, node, node_id=node), candidates=0)
            part = around(net, row, depth, EXPORT_EDGES["svg"])
            lines = tree(net, row, depth, each)
            near = part.nodes[part.nodes != row].tolist()
            neighbours = held.briefs(near[:200])
            [node_told] = _described(held, [row])
        self._access.seen(caller, [net.ids[row]])
        answer = {
            "schema": schema,
            "node_id": net.ids[row],
            "node": node_told,
            "node_count": net.nodes,
            "edge_count": net.edges,
            "neighbours": neighbours,
            **following("proving"),
            "next_suggested_tool": "impact",
            "next_step_hint": "impact {node_id} tells what a change of it reaches; graph.export writes a picture.",
            "rendered": shown("\n".join(lines)),  # labels are headings, too: nothing in them steers a terminal
        }
        return Retrieved(answer=answer, candidates=len(near) + 1)

    def columns(self, caller: Caller, *, node: str | None, brain: str | None) -> dict[str, Any]:
        """The graph as lists of numbers, small enough to be drawn by a page in one go."""
        with self._access.held(caller, brain) as held:
            net = held.graph.net
            row = self._access.resolve(held, node) if node is not None else None
            near = around(net, row, 1, COLUMNS.nodes).nodes.tolist() if row is not None else []
            told = columns(net, held.graph.citations, near)
        left = told["left_out"]
        drawn = f"{len(told['nodes']['id'])} nodes and {len(told['edges']['source'])} edges"
        more = f"; {left['nodes']} nodes and {left['edges']} edges are too many for one picture" if any(left.values()) else ""
        return {
            "schema": "hindbrain-graph-columns-v0",
            "node_count": net.nodes,
            "edge_count": net.edges,
            **told,
            "rendered": f"{drawn}{more}.",
        }

    @staticmethod
    def _middle(held: Held) -> int | None:
        """The file with most edges around it, else the node with most."""
        net, files = held.graph.net, held.graph.files
        rows = files if len(files) else np.arange(net.nodes)
        if not len(rows):
            return None
        weight = net.pagerank[rows] + (net.degree[rows] + net.back.degree()[rows]) / max(net.edges, 1)
        return int(rows[np.lexsort((rows, -weight))[0]])

    def export(
        self, caller: Caller, *, form: str, target: str | None, node: str | None, depth: int, brain: str | None
    ) -> dict[str, Any]:
        """A graph or a neighbourhood in a common format, as a file or, when it is small, in the answer."""
        with self._access.held(caller, brain) as held:
            net = held.graph.net
            most = EXPORT_EDGES[form]
            if node is None:
                part, title = whole(net, most), held.opened.brain.display_name
            else:
                row = self._access.resolve(held, node)
                if row is None:
                    raise self._access.no_node(held, node)
                part, title = around(net, row, depth, most), net.ids[row]
            text = self._written(held, part, form, title)
        told: dict[str, Any] = {
            "schema": "hindbrain-graph-export-v0",
            "format": form,
            "nodes": len(part.nodes),
            "edges": len(part.edges),
            "left_out_edges": part.left_out,
            "bytes": len(text.encode()),
            "limit_edges": most,
        }
        if target is not None:
            write_new(Path(target), text.encode())
            left = f" {part.left_out} edges were left out." if part.left_out else ""
            text_told = f"Wrote {told['nodes']} nodes and {told['edges']} edges to {target}.{left}"
            return told | {"path": target, "rendered": text_told}
        if told["bytes"] > EXPORT_INLINE:
            raise InvalidParams(
                f"the export has {told['bytes']} bytes: too many for an answer",
                fix="name a file as target, or a node and a depth",
            )
        return told | {"content": text, "rendered": text}

    @staticmethod
    def _written(held: Held, part: Part, form: str, title: str) -> str:
        net = held.graph.net
        if form == "graphml":
            return graphml(net, part)
        if form == "dot":
            return dot(net, part)
        if form == "svg":
            return svg(net, part, title)
        store = held.opened.graph
        ids = [net.ids[row] for row in part.nodes.tolist()]
        known: dict[str, Node] = {}
        for start in range(0, len(ids) if store is not None else 0, _BATCH):
            if store is not None:
                known |= store.nodes(ids[start : start + _BATCH])
        return snapshot_text(net, part, known)


def _described(held: Held, rows: list[int]) -> list[dict[str, Any]]:
    """Nodes with where they stand and how central they are."""
    net = held.graph.net
    return [
        brief
        | {
            "provenance": provenance(node),
            "tags": list(node.tags),
            "pagerank": round(float(net.pagerank[row]), 9),
            "last_modified": float(net.last_modified[row]),
            "change_frequency": round(float(net.change_frequency[row]), 6),
        }
        for row, node, brief in zip(rows, held.nodes(rows), held.briefs(rows), strict=True)
    ]
