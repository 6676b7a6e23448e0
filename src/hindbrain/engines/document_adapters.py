"""Document adapters: notes, documents of any kind, graph descriptors and bibliographies as nodes of their own namespace. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

from hindbrain.domain.graph import Edge, Node
from hindbrain.engines.code.languages import language_of
from hindbrain.engines.document_graph import DocumentGraph, brief, finite, namespaced, slug
from hindbrain.engines.documents import PROSE, headings, named_in, plain_html
from hindbrain.policy.graph import STRENGTHS, strength

__all__ = ["NODE_KINDS", "read_bibliography", "read_descriptor", "read_notes", "read_universal"]

NODE_KINDS = (
    "file",
    "directory",
    "function",
    "class",
    "struct",
    "enum",
    "type",
    "module",
    "reference",
    "concept",
    "material",
    "process",
    "product",
    "supplier",
    "regulatory",
    "system",
    "cost",
)
_CUSTOM = re.compile(r"custom:(\d{1,4})$")
_READERS = {"pdf": "pdf", "docx": "office", "pptx": "office", "xlsx": "office", "odt": "office", "doc": "office", "xls": "office"}
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[([ xX])\]\s*)?(.*)$")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_CLASSES = (
    ("task", re.compile(r"^(?:todo|task|action|next)\b\s*[:\-]", re.IGNORECASE)),
    ("decision", re.compile(r"^(?:decision|decided|we (?:decided|chose|agreed))\b", re.IGNORECASE)),
    ("state", re.compile(r"^(?:state|status|currently|now)\b", re.IGNORECASE)),
    ("event", re.compile(r"^(?:event\b|\d{4}-\d{2}-\d{2}\b)", re.IGNORECASE)),
)
_BOUND = {"task": "tracks", "decision": "decided", "event": "happened_on"}
_CLAIM = re.compile(r"^(?:claim|requirement|decision|rule)\s*:|\b(?:MUST|SHALL|MUST NOT|SHALL NOT)\b")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\(\s*<?(https?://[^)\s>]{1,500})")
_HREF = re.compile(r"<a\b[^<>]{0,200}?\bhref\s*=\s*[\"'](https?://[^\"'<>]{1,500})[\"']", re.IGNORECASE)
_ENTRY = re.compile(r"^[ \t]*@(\w+)\s*\{\s*([^,\s}]+)", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*(\w+)\s*=\s*[{\"](.*?)[}\"],?\s*$", re.MULTILINE)
_MOST = 5_000  # entries or blocks of one document


class _Graph:
    """Nodes and edges of one document while it is read."""

    def __init__(self, adapter: str, namespace: str, path: str) -> None:
        self.start = f"{adapter}::{namespace}"
        self.adapter = adapter
        self.namespace = namespace
        self.path = path
        self.part = slug(path)
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []

    def add(self, kind: str, rest: str, label: str, *, type_: str, line: int, last: int = 0, tags: tuple[str, ...] = ()) -> str:
        node_id = f"{self.start}::{kind}::{self.part}{rest}"
        self.nodes.setdefault(
            node_id,
            Node(
                id=node_id,
                label=brief(label),
                kind=type_,
                path=self.path,
                line_start=line,
                line_end=max(line, last),
                excerpt=brief(label),
                namespace=self.namespace,
                tags=(f"{self.adapter}:{kind}", *tags),
            ),
        )
        return node_id

    def bind(self, source: str, target: str, relation: str) -> None:
        given = strength(relation)
        self.edges.append(Edge(source=source, target=target, relation=relation, weight=given.weight, causal=given.causal))

    def code(self, source: str, line: str) -> None:
        """Edges to the files a line names, as written and from the document's own directory."""
        for capture, name, qualifier in named_in(line):
            if capture == "ref.file":
                written = f"{qualifier.removeprefix('./')}{name}".removeprefix("/")
                self.bind(source, f"file::{written}", "references")
                directory = self.path.rpartition("/")[0]
                if directory:
                    self.bind(source, f"file::{directory}/{written}", "references")

    def done(self, text: str, status: dict[str, str] | None = None) -> DocumentGraph:
        return DocumentGraph(nodes=tuple(self.nodes.values()), edges=tuple(self.edges), text=text, provider_status=status or {})


def read_notes(path: str, text: str, *, namespace: str | None = None) -> DocumentGraph:
    """Notes: a file, its sections and its entries, each entry known as task, decision, state, event or note."""
    graph = _Graph("memory", namespaced(namespace, "memory"), path)
    lines = text.replace("\r\n", "\n").split("\n")
    file_id = graph.add("file", "", path.rsplit("/", 1)[-1], type_="file", line=1, last=len(lines))
    section = file_id
    marks = {at: title for at, _, title in headings("markdown", lines)}
    for at, line in enumerate(lines):
        if at in marks:
            section = graph.add("section", f"::{slug(marks[at])}-{at + 1}", marks[at], type_="module", line=at + 1)
            graph.bind(file_id, section, "contains")
        elif (entry := _entry(line)) and len(graph.nodes) < _MOST:
            _note(graph, section, at + 1, *entry)
    return graph.done(text)


def _entry(line: str) -> tuple[str, str] | None:
    """The text of an entry and its class."""
    item = _ITEM.match(line)
    text = (item[2] if item else line).strip()
    if len(text) < 3 or text.startswith(("#", "```", "---", "===", "|", ">")):
        return None
    if item and item[1] is not None:
        return text, "task"
    bare = text.lstrip("*_ ")
    return text, next((name for name, pattern in _CLASSES if pattern.match(bare)), "note")


def _note(graph: _Graph, section: str, line: int, text: str, kind: str) -> None:
    type_ = "process" if kind == "task" else "concept"
    entry = graph.add("entry", f"::{line}::{slug(text[:60])}", text, type_=type_, line=line, tags=(f"memory:{kind}",))
    graph.bind(section, entry, "contains")
    for capture, name, qualifier in named_in(text):
        label = f"{qualifier.removeprefix('./')}{name}" if capture == "ref.file" else name
        target = graph.add("reference", f"::{slug(label)}", label, type_="reference", line=line)
        graph.bind(entry, target, "mentions")
    graph.code(entry, text)
    if kind == "event" and (day := _DATE.search(text)):
        graph.bind(entry, graph.add("reference", f"::{day[0]}", day[0], type_="reference", line=line), _BOUND[kind])


def read_universal(path: str, data: bytes, *, namespace: str | None = None) -> DocumentGraph:
    """A document: its sections, blocks, tables, links and claims. A format that needs a reader says that it is missing."""
    ending = path.rpartition(".")[2].lower()
    if ending in _READERS:
        reader = _READERS[ending]
        return DocumentGraph(skipped=((path, f"no reader for {ending} is installed"),), provider_status={reader: "missing"})
    if b"\0" in data[:8192]:
        return DocumentGraph(skipped=((path, "binary"),))
    language = language_of(path, data)
    language = language if language in PROSE else "text"
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    graph = _Graph("universal", namespaced(namespace, "universal"), path)
    lines = text.split("\n")
    document = graph.add("document", "", path.rsplit("/", 1)[-1], type_="file", line=1, last=len(lines))
    places = _outline(graph, document, headings(language, lines), len(lines))
    body = plain_html(text).split("\n") if language == "html" else lines
    for first, last in _blocks(body):
        if len(graph.nodes) < _MOST:
            _block(graph, places[min(first, len(places) - 1)], body, first, last)
    for at, line in enumerate(lines):
        for label, url in _links(line):
            link = graph.add("link", f"::{slug(url)}", label, type_="reference", line=at + 1)
            graph.bind(places[at], link, "references")
    return graph.done("\n".join(body), {language: "builtin"})


def _outline(graph: _Graph, document: str, marks: list[tuple[int, int, str]], total: int) -> list[str]:
    """Sections under their headings; the section of every line."""
    places, above, here = [], [(0, document)], document
    starts = {at: (level, title) for at, level, title in marks}
    for at in range(total):
        if at in starts:
            level, title = starts[at]
            while above[-1][0] >= level:
                above.pop()
            here = graph.add("section", f"::{at + 1}::{slug(title)}", title, type_="module", line=at + 1)
            graph.bind(above[-1][1], here, "contains")
            above.append((level, here))
        places.append(here)
    return places


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each stretch without an empty line."""
    first = -1
    for at, line in enumerate([*lines, ""]):
        if line.strip() and first < 0:
            first = at
        elif not line.strip() and first >= 0:
            yield first, at - 1
            first = -1


def _block(graph: _Graph, section: str, lines: list[str], first: int, last: int) -> None:
    text = " ".join(lines[first : last + 1])
    table = sum(line.lstrip().startswith("|") for line in lines[first : last + 1]) >= 2
    kind = "table" if table else "block"
    node = graph.add(kind, f"::{first + 1}", text, type_="concept", line=first + 1, last=last + 1)
    graph.bind(section, node, "contains")
    for at in range(first, last + 1):
        graph.code(section, lines[at])
        bare = lines[at].strip().lstrip("-*> ")
        if _CLAIM.search(bare):
            claim = graph.add("claim", f"::{at + 1}::{slug(bare[:60])}", bare, type_="concept", line=at + 1)
            graph.bind(section, claim, "contains")


def _links(line: str) -> Iterator[tuple[str, str]]:
    for found in _LINK.finditer(line[:4000]):
        yield found[1], found[2]
    for found in _HREF.finditer(line[:4000]):
        yield found[1], found[1]


def read_descriptor(text: str) -> DocumentGraph:
    """A graph that is written down as `nodes` and `edges`; dangling edges and nodes without an id are left out and named."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return DocumentGraph(skipped=(("descriptor", f"no JSON: {str(error)[:120]}"),))
    if not isinstance(given, dict):
        return DocumentGraph(skipped=(("descriptor", "an object with nodes and edges is needed"),))
    skipped: list[tuple[str, str]] = []
    kinds: dict[str, str] = {}
    nodes: dict[str, Node] = {}
    for row in _rows(given.get("nodes"), skipped, "node"):
        node = _node(row, kinds)
        if node is None:
            skipped.append((f"node {str(row.get('id', ''))[:120]!r}", "the id names nothing"))
        else:
            nodes.setdefault(node.id, node)
    edges = []
    for row in _rows(given.get("edges"), skipped, "edge"):
        source, target = str(row.get("source", "")), str(row.get("target", ""))
        if source not in nodes or target not in nodes:
            skipped.append((f"edge {source[:80]} -> {target[:80]}", "an end of it is no node"))
            continue
        edges.append(_edge(row, source, target, skipped))
    return DocumentGraph(nodes=tuple(nodes.values()), edges=tuple(edges), skipped=tuple(skipped))


def _rows(given: object, skipped: list[tuple[str, str]], what: str) -> Iterator[dict[str, Any]]:
    for row in given if isinstance(given, list) else []:
        if isinstance(row, dict):
            yield row
        else:
            skipped.append((f"{what} {str(row)[:80]!r}", "no object"))


def _node(row: dict[str, Any], kinds: dict[str, str]) -> Node | None:
    node_id = str(row.get("id", "")).strip()
    path = node_id.removeprefix("file::")
    if not node_id or (node_id.startswith("file::") and not path.strip("./\\ ")):
        return None
    kind, tags = _kind(str(row.get("type", "concept")), kinds)
    raw = row.get("tags")
    given = tuple("_".join(str(tag).split()) for tag in raw) if isinstance(raw, list) else ()
    return Node(
        id=node_id,
        label=brief(str(row.get("label") or node_id)),
        kind=kind,
        path=str(row.get("path") or ""),
        excerpt=brief(str(row.get("excerpt") or "")),
        tags=(*given, *tags),
        last_modified=finite(row.get("last_modified")),
        change_frequency=min(1.0, max(0.0, finite(row.get("change_frequency")))),
    )


def _kind(word: str, kinds: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    """A known type, a custom one by its number, or the next free custom one with its own word as a tag."""
    word = word.strip().lower()
    if word in NODE_KINDS or _CUSTOM.match(word):
        return word, ()
    if word not in kinds:
        kinds[word] = f"custom:{len(kinds)}"
    return kinds[word], (f"type:{slug(word)}",)


def _edge(row: dict[str, Any], source: str, target: str, skipped: list[tuple[str, str]]) -> Edge:
    weight = row.get("weight", STRENGTHS["references"].weight)
    if finite(weight) != weight:
        skipped.append((f"weight of {source[:80]} -> {target[:80]}", "no finite number; 0 is used"))
    return Edge(
        source=source,
        target=target,
        relation=str(row.get("relation") or "references"),
        weight=finite(weight),
        causal=min(1.0, max(0.0, finite(row.get("causal_strength", 0.0)))),
        bidirectional=row.get("direction") == "bidirectional",
        inhibitory=row.get("inhibitory") is True,
    )


def read_bibliography(path: str, text: str, *, namespace: str | None = None) -> DocumentGraph:
    """A BibTeX file: each entry a reference that the file cites."""
    graph = _Graph("bibtex", namespaced(namespace, "bibtex"), path)
    document = graph.add("document", "", path.rsplit("/", 1)[-1], type_="file", line=1)
    entries = [found for found in _ENTRY.finditer(text) if found[1].lower() not in ("comment", "string", "preamble")]
    for number, found in enumerate(entries[:_MOST]):
        end = entries[number + 1].start() if number + 1 < len(entries) else len(text)
        fields = {name.lower(): value for name, value in _FIELD.findall(text[found.end() : min(end, found.end() + 5_000)])}
        line = text.count("\n", 0, found.start()) + 1
        entry = graph.add("entry", f"::{slug(found[2])}", fields.get("title") or found[2], type_="reference", line=line)
        graph.bind(document, entry, "cites")
    return graph.done(text)
