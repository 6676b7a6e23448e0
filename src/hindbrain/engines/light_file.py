"""L1GHT files as the `light` adapter reads them: header, lists, sections and markers, each a node with its edge. A claim's nodes
are its own; the entities of a strategy document are shared with every document that names them. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hindbrain.domain.claim import looks_like_light
from hindbrain.domain.graph import Edge, Node
from hindbrain.engines.document_graph import DocumentGraph, brief, namespaced, slug
from hindbrain.engines.hygiene import has_conflict_markers
from hindbrain.engines.light_graph import evidence_path
from hindbrain.policy.graph import LIGHT_STRENGTHS, Strength

__all__ = ["Marker", "header_of", "headings_of", "markers", "read_light"]

_HEADER_LINES = 40  # lines that may hold the header of a file without fences
_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*#*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_KEY = re.compile(r"^([A-Za-z][A-Za-z0-9 -]{0,60}):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"^\s*[-*]\s+(.+)$")
_MARKER = re.compile(r"^\[(?P<glyph>⍂|⍐|⍌|𝔻|⟁|RED|AMBER) (?P<name>[a-z_]+): (?P<value>.*)\]\s*$")
_HEADER = {"protocol": "defines_protocol", "state": "has_state", "glyph": "has_glyph", "color": "has_color"}
_LISTS = {"depends_on": ("dep", "depends_on", "light:dependency"), "next": ("next", "next_binding", "light:next")}
_TAGS = {
    ("⍂", "entity"): "declares_entity",
    ("⍐", "state"): "declares_state",
    ("⍌", "event"): "declares_event",
    ("⟁", "depends_on"): "depends_on",
    ("⟁", "binds_to"): "binds_to",
    ("⟁", "tests"): "declares_test",
    ("RED", "blocker"): "declares_blocker",
    ("AMBER", "warning"): "declares_warning",
    ("𝔻", "evidence"): "evidenced_by",
    ("𝔻", "confidence"): "declares_metadata",
    ("𝔻", "ambiguity"): "declares_metadata",
}
_NAMING = frozenset({"declares_entity", "depends_on"})
_CLAIMS = frozenset({"⍂", "⍐", "⍌"})
# Header values that recall needs without reading the file again; they stand on every node of the file.
_CARRIED = {
    "created": "authored_ms",
    "source_agent": "source_agent",
    "origin_brain": "origin_brain",
    "promoted_by": "promoted_by",
    "origin_claim": "origin_claim",
}


def read_light(path: str, text: str, *, namespace: str | None = None) -> DocumentGraph | None:
    """The graph of one L1GHT file; None when the text is none. `path` is relative to what is read, or the file's own name."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if has_conflict_markers(text):
        return DocumentGraph(skipped=((path, "merge_conflict"),))
    if not looks_like_light(text):
        return None
    return _File(path, namespaced(namespace, "light")).read(text.split("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """One marker of a document, with what it stands under."""

    line: int
    glyph: str
    name: str
    value: str
    heading: str = ""
    entity: str = ""  # declared last under the same heading


def _body(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines below the header, without what is shown as code."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    fenced = False
    for number in range(_header(lines)[1], len(lines)):
        if _FENCE.match(lines[number]):
            fenced = not fenced
        elif not fenced:
            yield number + 1, lines[number]


def header_of(text: str) -> dict[str, str]:
    """The keys of a file's header, in lower case with underscores; lists are left out."""
    found, _ = _header(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"))
    return {key: value for _, key, value in found if not key.startswith("- ")}


def headings_of(text: str) -> tuple[tuple[int, str], ...]:
    """Level and title of every heading."""
    found = (_HEADING.match(line) for _, line in _body(text))
    return tuple((len(one[1]), one[2]) for one in found if one)


def markers(text: str) -> Iterator[Marker]:
    """Every marker of a strategy document in order."""
    heading = entity = ""
    for number, line in _body(text):
        if title := _HEADING.match(line):
            heading, entity = title[2], ""
        elif (found := _MARKER.match(line)) and (found["glyph"], found["name"]) in _TAGS:
            value = found["value"].strip()
            if found["name"] == "entity":
                entity = value
            yield Marker(line=number, glyph=found["glyph"], name=found["name"], value=value, heading=heading, entity=entity)


@dataclass(slots=True)
class _File:
    path: str
    namespace: str
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    evidence: list[tuple[str, str]] = field(default_factory=list)
    carried: tuple[str, ...] = ()
    section: str = ""
    claim: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    document: bool = False  # a strategy document, which nobody signed as a claim of theirs
    entity: str = ""  # declared last under this heading
    shared: dict[str, Node] = field(default_factory=dict)

    def read(self, lines: list[str]) -> DocumentGraph:
        header, body = _header(lines)
        values = {key: value for _, key, value in header if value}
        self.document = "source_agent" not in values
        self.carried = tuple(f"{name}:{'_'.join(values[key].split())}" for key, name in _CARRIED.items() if key in values)
        if values.get("state") == "outdated":
            self.carried += ("light:outdated",)
        file_id = self._add("file", "", values.get("node") or self.path.rsplit("/", 1)[-1], "file", "", 1, lines[0])
        self.section = file_id
        self._head(file_id, header)
        fenced = False
        for number in range(body, len(lines)):
            if self.document and _FENCE.match(lines[number]):
                fenced = not fenced
            elif not fenced:
                self._line(file_id, number + 1, lines[number])
        return DocumentGraph(
            nodes=tuple(self.nodes.values()),
            edges=tuple(self.edges),
            shared=tuple(self.shared.values()),
            evidence=tuple(self.evidence),
            text="\n".join(lines),
        )

    def _head(self, file_id: str, header: list[tuple[int, str, str]]) -> None:
        for number, key, value in header:
            if key.startswith("- "):
                part, relation, tag = _LISTS[key[2:]]
                if self.document and part == "dep":
                    self._bind(file_id, self._entity(value, number), relation, LIGHT_STRENGTHS[part])
                    continue
                node = self._add(part, f"::{slug(value)}", value, "reference", tag, number, value)
                self._bind(file_id, node, relation, LIGHT_STRENGTHS[part])
            elif value and key != "node":  # the label of the file itself
                node = self._add("meta", f"::{key}", value, "concept", f"light:{key}", number, value)
                self._bind(file_id, node, _HEADER.get(key, "has_metadata"), LIGHT_STRENGTHS["meta"])

    def _line(self, file_id: str, number: int, line: str) -> None:
        if title := self._title(line):
            part = slug(title)
            self.counts[part] = count = self.counts.get(part, 0) + 1
            self.section = self._add("section", f"::{part}-{count}", title, "module", "light:section", number, title)
            self.claim = self.entity = ""
            self._bind(file_id, self.section, "contains_section", LIGHT_STRENGTHS["section"])
            return
        match = _MARKER.match(line)
        relation = _TAGS.get((match["glyph"], match["name"])) if match else None
        if match is None or relation is None:
            return
        value = match["value"].strip()
        if self.document and relation in _NAMING:
            self._named(number, value, relation)
            return
        kind = "process" if relation == "declares_test" else "concept"
        tag = self._add("tag", f"::{number}::{slug(value)}", value, kind, f"light:{relation}", number, value)
        above = self.claim if match["glyph"] == "𝔻" and self.claim else self.section
        self._bind(self.entity or above, tag, relation, LIGHT_STRENGTHS["tag"])
        if match["glyph"] in _CLAIMS:
            self.claim = tag
        if relation == "binds_to" and self.entity:
            self._bind(self.entity, f"file::{evidence_path(value)}", relation, LIGHT_STRENGTHS["tag"])
        if relation == "evidenced_by":
            self.evidence.append((tag, value))
            if "#" not in value:  # of another brain: it is asked there
                self._bind(tag, f"file::{evidence_path(value)}", "grounded_in", LIGHT_STRENGTHS["evidence"])

    def _title(self, line: str) -> str:
        """A claim has sections of the second level only; in a document every heading is one."""
        if not self.document:
            return line[3:].strip() if line.startswith("## ") else ""
        found = _HEADING.match(line)
        return found[2] if found else ""

    def _named(self, number: int, value: str, relation: str) -> None:
        """A marker that names an entity: declares it under its heading, or says what the one above depends on."""
        named = self._entity(value, number)
        if relation == "declares_entity":
            self._bind(self.section, named, relation, LIGHT_STRENGTHS["tag"])
            self.entity, self.claim = named, ""
        else:
            self._bind(self.entity or self.section, named, relation, LIGHT_STRENGTHS["dep"])

    def _entity(self, name: str, number: int) -> str:
        """The one node of a name in this namespace, with the place where this file names it."""
        node_id = f"light::{self.namespace}::entity::{slug(name)}"
        self.shared.setdefault(
            node_id, Node(id=node_id, label=name, kind="concept", namespace=self.namespace, tags=("light", "light:entity"))
        )
        place = f"{self.path}:{number}"
        row = self._add("mention", f"::{number}::{slug(name)}", place, "reference", "light:mention", number, name)
        self._bind(node_id, row, "has_metadata", LIGHT_STRENGTHS["meta"])
        return node_id

    def _add(self, part: str, rest: str, label: str, kind: str, tag: str, line: int, excerpt: str) -> str:
        node_id = f"light::{self.namespace}::{part}::{slug(self.path)}{rest}"
        tags = ("light", *((tag,) if tag else (f"namespace:{self.namespace}",)), *self.carried)
        self.nodes.setdefault(
            node_id,
            Node(
                id=node_id,
                label=label,
                kind=kind,
                path=self.path,
                line_start=line,
                line_end=line,
                excerpt=brief(excerpt),
                namespace=self.namespace,
                tags=tags,
            ),
        )
        return node_id

    def _bind(self, source: str, target: str, relation: str, given: Strength) -> None:
        self.edges.append(Edge(source=source, target=target, relation=relation, weight=given.weight, causal=given.causal))


def _header(lines: list[str]) -> tuple[list[tuple[int, str, str]], int]:
    """(line, key, value) of the header, items of its lists as `- key`, and the index of the first line of the body."""
    if lines and lines[0].rstrip() == "---":
        end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == "---"), 0)
        if end:
            return list(_pairs(lines, 1, end)), end + 1
    end = next(
        (at for at, line in enumerate(lines[:_HEADER_LINES]) if line.startswith(("#", "["))), min(len(lines), _HEADER_LINES)
    )
    return list(_pairs(lines, 0, end)), end


def _pairs(lines: list[str], start: int, end: int) -> Iterator[tuple[int, str, str]]:
    listing = ""
    for at in range(start, end):
        line = lines[at].rstrip()
        if listing and (item := _ITEM.match(line)):
            yield at + 1, f"- {listing}", item[1].strip()
        elif found := _KEY.match(line):
            key = re.sub(r"[ -]+", "_", found[1].lower())
            value = (found[2] or "").strip()
            listing = key if key in _LISTS else ""
            if not listing:
                yield at + 1, key, value
            for item_text in value.split(",") if listing and value else ():
                if item_text.strip():
                    yield at + 1, f"- {listing}", item_text.strip()
