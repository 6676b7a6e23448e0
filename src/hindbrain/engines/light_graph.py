"""The graph of one claim file: its nodes and edges, by the L1GHT mapping. Pure."""

import re

from hindbrain.domain.claim import Claim
from hindbrain.domain.label import former_slug

__all__ = ["LightGraph", "evidence_path", "light_graph", "section_id"]

LightGraph = tuple[
    list[tuple[str, str, str]], list[tuple[str, str, str]]
]  # nodes (id, kind, label), edges (source, relation, target)

_MARKER = re.compile(r"^\[(?P<glyph>⍂|⍐|⍌|𝔻|⟁|RED|AMBER) (?P<name>[a-z_]+): (?P<value>.*)\]\s*$")
_RELATIONS = {
    "entity": "declares_entity",
    "state": "declares_state",
    "event": "declares_event",
    "depends_on": "depends_on",
    "binds_to": "binds_to",
    "tests": "declares_test",
    "blocker": "declares_blocker",
    "warning": "declares_warning",
    "evidence": "evidenced_by",
    "confidence": "declares_metadata",
    "ambiguity": "declares_metadata",
}
_HEADER = {"protocol": "defines_protocol", "state": "has_state"}
_CLAIM_KINDS = {"entity", "state", "event"}


def _slug(text: str) -> str:
    """The part of a node's id that helps a reader; ids of nodes that are stored already stay the same."""
    return former_slug(text[:200]) or "x"


def evidence_path(value: str) -> str:
    """An evidence value as a repository-relative path: slashes, no leading `./`, no line number, no symbol."""
    path = value.strip().replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return re.sub(r":\d+(?:-\d+)?$", "", path).split("::", 1)[0]


def section_id(slug: str, title: str, *, namespace: str = "light") -> str:
    """The node a memory row is known by."""
    return f"light::{namespace}::section::{slug}-light-md::{_slug(title)}-1"


def light_graph(slug: str, claim: Claim, text: str, *, namespace: str = "light") -> LightGraph:
    """Every node and edge of a claim file; evidence is tied to `file::<path>` by the caller, who knows which files exist."""
    part = f"{slug}-light-md"
    file_id = f"light::{namespace}::file::{part}"
    section = section_id(slug, claim.title or claim.label, namespace=namespace)
    nodes = [(file_id, "file", claim.label), (section, "module", claim.title or claim.label)]
    edges = [(file_id, "contains_section", section)]
    for key in ("protocol", "state", "created", "source_agent", "origin_brain"):
        value = getattr(claim, key)
        if value is not None:
            meta = f"light::{namespace}::meta::{part}::{key}"
            nodes.append((meta, "concept", str(value)))
            edges.append((file_id, _HEADER.get(key, "has_metadata"), meta))
    above = section
    for number, line in enumerate(text.split("\n"), 1):
        match = _MARKER.match(line)
        if match is None or (relation := _RELATIONS.get(match["name"])) is None:
            continue
        tag = f"light::{namespace}::tag::{part}::{number}::{_slug(match['value'])}"
        nodes.append((tag, "process" if relation == "declares_test" else "concept", match["value"]))
        edges.append((above if match["glyph"] == "𝔻" else section, relation, tag))
        if match["name"] in _CLAIM_KINDS and match["glyph"] != "𝔻":
            above = tag
    return nodes, edges
