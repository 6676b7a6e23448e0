"""Graph formats: a part of a network as a snapshot, GraphML or DOT, the way common tools read them. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hindbrain.domain.graph import Node
from hindbrain.engines.network import Network
from hindbrain.engines.subgraph import Part

__all__ = ["NODE_TYPES", "SNAPSHOT_VERSION", "dot", "graphml", "snapshot", "snapshot_text"]

SNAPSHOT_VERSION = 3
_CODE_TYPES = ("file", "directory", "function", "class", "struct", "enum", "type", "module", "reference")
_OTHER_TYPES = ("concept", "material", "process", "product", "supplier", "regulatory", "system", "cost")
NODE_TYPES = {name: code for code, name in enumerate(_CODE_TYPES + _OTHER_TYPES)}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


def _type_code(kind: str) -> int:
    """The number of a node type; custom ones start at 100. A kind without a number is a plain concept."""
    if kind.startswith("custom:") and kind[7:].isdigit():
        return 100 + int(kind[7:])
    return NODE_TYPES.get(kind, NODE_TYPES["concept"])


def snapshot(net: Network, part: Part, nodes: Mapping[str, Node]) -> dict[str, Any]:
    """A graph snapshot: nodes with provenance, edges with weights as they are now."""
    return {
        "version": SNAPSHOT_VERSION,
        "nodes": [_node(net, row, nodes.get(net.ids[row])) for row in part.nodes.tolist()],
        "edges": [_edge(net, row, float(weight)) for row, weight in zip(part.edges.tolist(), _weights(net, part), strict=True)],
    }


def snapshot_text(net: Network, part: Part, nodes: Mapping[str, Node]) -> str:
    return json.dumps(snapshot(net, part, nodes), ensure_ascii=False, indent=1) + "\n"


def _weights(net: Network, part: Part) -> Any:
    return net.strength(part.edges.astype("int32"))


def _node(net: Network, row: int, node: Node | None) -> dict[str, Any]:
    return {
        "external_id": net.ids[row],
        "label": net.labels[row],
        "node_type": _type_code(net.kinds[row]),
        "kind": net.kinds[row],
        "tags": net.tags[row].split(),
        "last_modified": float(net.last_modified[row]),
        "change_frequency": round(float(net.change_frequency[row]), 6),
        "provenance": {
            "source_path": net.paths[row],
            "line_start": node.line_start if node else 0,
            "line_end": node.line_end if node else 0,
            "excerpt": node.excerpt if node else "",
            "namespace": node.namespace if node else "",
            "canonical": not net.ids[row].startswith("light::"),
        },
    }


def _edge(net: Network, row: int, weight: float) -> dict[str, Any]:
    return {
        "source_id": net.ids[net.source[row]],
        "target_id": net.ids[net.target[row]],
        "relation": net.relations[net.relation[row]],
        "weight": round(weight, 6),
        "direction": "bidirectional" if net.bidirectional[row] else "forward",
        "inhibitory": bool(net.inhibitory[row]),
        "causal_strength": round(float(net.causal[row]), 6),
    }


def xml(text: str) -> str:
    """A text as XML may hold it: no control characters, nothing that opens a tag."""
    clean = _CONTROL.sub("\ufffd", text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


_KEYS = (
    ("label", "node", "string"),
    ("kind", "node", "string"),
    ("path", "node", "string"),
    ("pagerank", "node", "double"),
    ("relation", "edge", "string"),
    ("weight", "edge", "double"),
)


def graphml(net: Network, part: Part) -> str:
    return "\n".join(_graphml(net, part)) + "\n"


def _graphml(net: Network, part: Part) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name, on, kind in _KEYS:
        yield f'  <key id="{name}" for="{on}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph id="hindbrain" edgedefault="directed">'
    for row in part.nodes.tolist():
        yield f'    <node id="{xml(net.ids[row])}">'
        yield f'      <data key="label">{xml(net.labels[row])}</data>'
        yield f'      <data key="kind">{xml(net.kinds[row])}</data>'
        if net.paths[row]:
            yield f'      <data key="path">{xml(net.paths[row])}</data>'
        yield f'      <data key="pagerank">{float(net.pagerank[row]):.9g}</data>'
        yield "    </node>"
    for number, (row, weight) in enumerate(zip(part.edges.tolist(), _weights(net, part), strict=True)):
        source, target = xml(net.ids[net.source[row]]), xml(net.ids[net.target[row]])
        directed = "false" if net.bidirectional[row] else "true"
        yield f'    <edge id="e{number}" source="{source}" target="{target}" directed="{directed}">'
        yield f'      <data key="relation">{xml(net.relations[net.relation[row]])}</data>'
        yield f'      <data key="weight">{float(weight):.9g}</data>'
        yield "    </edge>"
    yield "  </graph>"
    yield "</graphml>"


def _quoted(text: str) -> str:
    clean = _CONTROL.sub("\ufffd", text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{clean}"'


def dot(net: Network, part: Part) -> str:
    lines = ["digraph hindbrain {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    for row in part.nodes.tolist():
        lines.append(f"  {_quoted(net.ids[row])} [label={_quoted(net.labels[row])}, tooltip={_quoted(net.kinds[row])}];")
    for row in part.edges.tolist():
        both = ", dir=both" if net.bidirectional[row] else ""
        relation = _quoted(net.relations[net.relation[row]])
        lines.append(f"  {_quoted(net.ids[net.source[row]])} -> {_quoted(net.ids[net.target[row]])} [label={relation}{both}];")
    return "\n".join([*lines, "}"]) + "\n"
