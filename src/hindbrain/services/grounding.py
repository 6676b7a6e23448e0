"""Grounding: what a claim cites, as nodes of the graph and as lines that can be found again after the file was edited."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hindbrain.domain.claim import Claim, parse
from hindbrain.engines.code.comments import code_lines
from hindbrain.engines.light_graph import evidence_path, light_graph
from hindbrain.services import anchors
from hindbrain.services.brains import OpenBrain
from hindbrain.stores.port import Edge, Node, Version

__all__ = ["LINES", "cited_code_stands", "cited_lines", "claim_graph", "line_anchors", "line_state", "reground", "symbol_node"]

LINES = "line_anchor"  # kind of the note that holds what cited lines said when the claim was written
_LINE = re.compile(r":(\d+)(?:-(\d+))?$")
_PARTS = re.compile(r"::|\.|#")
_AROUND = 2  # lines above and below that tell equal lines apart
_BATCH = 500  # claims looked at together
_LONGEST = 200  # cited lines that are compared


# -- nodes --------------------------------------------------------------------------------------------------------------


def symbol_node(opened: OpenBrain, value: str) -> str | None:
    """The node of `path::name`, when the graph has one."""
    text = value.strip().replace("\\", "/").removeprefix("./")
    path, mark, symbol = text.partition("::")
    wanted = [part for part in _PARTS.split(symbol) if part] if mark else []
    graph = opened.graph if wanted else None
    for node in graph.nodes_of(path) if graph is not None else ():
        names = node.removeprefix(f"file::{path}").split("::")[2::2]
        if names[-len(wanted) :] == wanted:
            return node
    return None


def claim_graph(opened: OpenBrain, slug: str, claim: Claim, text: str, cited: Mapping[str, str]) -> tuple[list[Node], list[Edge]]:
    """The nodes and edges of a claim, tied to the code it cites: to the symbol it names if that is there, else to the file."""
    if not claim.active:
        return [], []
    raw_nodes, raw_edges = light_graph(slug, claim, text)
    nodes = [Node(id=i, kind=k, label=label) for i, k, label in raw_nodes]
    edges = [Edge(source=s, relation=r, target=t) for s, r, t in raw_edges]
    labels = {i: label for i, _, label in raw_nodes}
    for _source, relation, tag in raw_edges:
        if relation != "evidenced_by" or not cited.get(path := evidence_path(labels[tag])):
            continue
        symbol = symbol_node(opened, labels[tag])
        if symbol is None:
            nodes.append(Node(id=f"file::{path}", kind="file", label=path.rsplit("/", 1)[-1], path=path))
        else:
            nodes.append(Node(id=symbol, kind="function", label=symbol.rsplit("::", 1)[-1], path=path))
        edges.append(Edge(source=tag, relation="grounded_in", target=symbol or f"file::{path}"))
    return nodes, edges


def reground(opened: OpenBrain) -> tuple[int, int]:
    """Try evidence again that led nowhere, or that names a symbol; how much leads somewhere now, and how much still does not."""
    root = opened.brain.root
    if root is None:
        return 0, 0
    resolved = unresolved = 0
    again: list[tuple[Version, dict[str, str]]] = []
    for version, cited in _anchored(opened):
        now = {path: digest or anchors.file_digest(root, path) for path, digest in cited.items()}
        found = sum(bool(now[path]) and not digest for path, digest in cited.items())
        resolved += found
        unresolved += sum(not digest for digest in now.values())
        if found or any("::" in value for value in parse(version.text, fallback_label=version.slug).evidence):
            again.append((version, now))
    if again:
        with opened.store.writing() as writer:
            for version, now in again:
                claim = parse(version.text, fallback_label=version.slug)
                writer.put_anchors(version.slug, now)
                writer.put_graph(f"claim:{version.slug}", *claim_graph(opened, version.slug, claim, version.text, now))
    return resolved, unresolved


def _anchored(opened: OpenBrain) -> Iterator[tuple[Version, dict[str, str]]]:
    """Live claims whose evidence may lead somewhere else than before: some of it led nowhere, or names a symbol."""
    slugs = sorted(opened.store.digests())
    for begin in range(0, len(slugs), _BATCH):
        anchored = {slug: cited for slug, cited in opened.store.anchors(slugs[begin : begin + _BATCH]).items() if cited}
        for slug, version in sorted(opened.store.live(sorted(anchored)).items()):
            if version.active and (not all(anchored[slug].values()) or "::" in version.text):
                yield version, anchored[slug]


# -- lines --------------------------------------------------------------------------------------------------------------


def line_anchors(values: Iterable[str], root: str | None) -> str:
    """What the cited lines and files say now, as a note to compare with later; empty when no cited file can be read."""
    kept: dict[str, Any] = {}
    for value in values:
        path = evidence_path(value)
        content = anchors.content(root, path) if root is not None and path else None
        if content is None:
            continue
        match = _LINE.search(value.strip())
        code = code_lines(path, content)
        if match is None:
            kept[value] = {"path": path, "code": _code_digest(code)}
            continue
        lines = _split(content)
        first = int(match[1])
        last = min(int(match[2] or first), first + _LONGEST)
        if 1 <= first <= last <= len(lines):
            cited = [line for number, line in code if first <= number <= last]
            said = _said(lines, first, last) | ({"code": _digest(cited), "height": len(cited)} if cited else {})
            kept[value] = {"path": path, "lines": [first, last], "said": said}
    return json.dumps(kept, ensure_ascii=False) if kept else ""


def line_state(note: str, path: str, root: str) -> list[dict[str, Any]]:
    """Where the lines that a claim cites in a file are today: `same`, `moved` to another line, or `changed`."""
    found = []
    for value, anchor in json.loads(note).items() if note else ():
        if anchor["path"] == path and "lines" in anchor:
            content = anchors.content(root, path) or b""
            found.append({"evidence": value, "cited_line": anchor["lines"][0], **_where(anchor, path, content)})
    return found


def cited_lines(opened: OpenBrain, slug: str, path: str) -> dict[str, Any]:
    """Where the lines are now that a claim cites in a file, when it cites lines at all."""
    notes = [mark.note for mark in opened.store.marks(slugs=[slug], kind=LINES)]
    found = line_state(notes[0], path, opened.brain.root) if notes and opened.brain.root is not None else []
    return {"lines": found} if found else {}


def cited_code_stands(note: str, evidence: Iterable[str], path: str, root: str) -> bool:
    """Whether all that a claim cites in a file still says what it said.

    A cited line may be elsewhere now. Comments and blank lines that were added, edited or removed change no code.
    """
    cited = {value for value in evidence if evidence_path(value) == path}
    states = {one["evidence"]: one["cited_lines"] in ("same", "moved") for one in line_state(note, path, root)}
    whole = {value: one["code"] for value, one in json.loads(note).items() if one["path"] == path and "code" in one}
    content = anchors.content(root, path) if whole else None
    if content is not None:
        now = _code_digest(code_lines(path, content))
        states |= {value: code == now for value, code in whole.items()}
    return bool(cited) and all(states.get(value, False) for value in cited)


def _where(anchor: Mapping[str, Any], path: str, content: bytes) -> dict[str, Any]:
    first, last = anchor["lines"]
    said = anchor["said"]
    height = last - first
    lines = _split(content)
    places = [at for at in range(1, len(lines) - height + 1) if _digest(lines[at - 1 : at + height]) == said["text"]]
    if not places:
        places = _code_places(said, code_lines(path, content)) if "code" in said else []
        nearest = min(places, key=lambda at: abs(at - first), default=None)
    else:
        # Of several equal stretches the one with the same lines around it, then the nearest.
        nearest = min(places, key=lambda at: (-_likeness(_said(lines, at, at + height), said), abs(at - first)))
    if nearest is None:
        return {"cited_lines": "changed", "line_now": None}
    return {"cited_lines": "same" if nearest == first else "moved", "line_now": nearest}


def _code_places(said: Mapping[str, Any], code: Sequence[tuple[int, str]]) -> list[int]:
    """The first lines of stretches that say the same but for their comments and blank lines."""
    height = said["height"]
    texts = [line for _, line in code]
    return [code[at][0] for at in range(len(code) - height + 1) if _digest(texts[at : at + height]) == said["code"]]


def _likeness(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    return sum(one[part] == other[part] for part in ("above", "below"))


def _said(lines: Sequence[str], first: int, last: int) -> dict[str, str]:
    return {
        "text": _digest(lines[first - 1 : last]),
        "above": _digest(lines[max(0, first - 1 - _AROUND) : first - 1]),
        "below": _digest(lines[last : last + _AROUND]),
    }


def _digest(lines: Sequence[str]) -> str:
    """Indentation is no part of what a line says: a block that was moved into another one is the same."""
    return hashlib.sha256("\n".join(line.strip() for line in lines).encode()).hexdigest()[:16]


def _code_digest(code: Sequence[tuple[int, str]]) -> str:
    """Of a whole file; here indentation counts, as it does in Python."""
    return hashlib.sha256("\n".join(line for _, line in code).encode()).hexdigest()[:16]


def _split(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()
