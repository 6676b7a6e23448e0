"""Symbols: definitions get their node ids, their parents and what they refer to. Knows ids and edges, not syntax."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from hindbrain.domain.graph import Edge, FileFacts, Node, Reference
from hindbrain.engines.code.grammar import DEFINITIONS, REFERENCES
from hindbrain.engines.code.sweep import Found, Symbol
from hindbrain.engines.code_terms import code_words
from hindbrain.policy.graph import DOC_CHARS, EXCERPT_CHARS, STRENGTHS

__all__ = ["Assembled", "assemble"]

_SPACE = re.compile(r"\s+")
_NOT_PLAIN = re.compile(r"[^\w]+")
_QUOTES = "\"' \t\n"
_COMMENT_LINE = re.compile(r"^\s*(?:///?!?|/\*+!?|\*+/?|#+(?!\[|!)|--)\s?([^*]*(?:\*(?!/)[^*]*)*)(?:\*/)?$")
_SLASHES = ("//", "/*", "*")
_HASH = ("#",)
_COMMENT_MARKS = {
    "python": (),
    "markdown": (),
    "rst": (),
    "html": (),
    "text": (),
    "ruby": _HASH,
    "bash": _HASH,
    "perl": _HASH,
    "r": _HASH,
    "make": _HASH,
    "lua": ("--",),
    "sql": ("--",),
}
_CONTAINERS = frozenset({"class", "struct", "enum", "trait", "type"})
_CONTAINS = STRENGTHS["contains"]


@dataclass(frozen=True, slots=True)
class Assembled:
    """The nodes of a file with what binds them and what they ask for."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    references: tuple[Reference, ...]
    names: str


def assemble(facts: FileFacts, found: Found, text: str) -> Assembled:
    """Give everything that was found its id and its place."""
    data_lines = text.split("\n")
    starts = _line_starts(text, data_lines)
    path = facts.path
    root = f"file::{path}"
    modified = facts.mtime_ns / 1e9
    ids, parents = _ids(found.symbols, root)
    nodes = [
        Node(
            id=root,
            label=path.rsplit("/", 1)[-1],
            kind="file",
            path=path,
            line_start=1,
            line_end=max(1, facts.lines),
            excerpt=_brief(_plain(found.doc)) or _first_line(data_lines),
            tags=(facts.language,),
            last_modified=modified,
        )
    ]
    edges = []
    words = [path, _plain(found.doc)[:DOC_CHARS]]
    marks = _COMMENT_MARKS.get(facts.language, _SLASHES)
    for symbol, identity, parent in zip(found.symbols, ids, parents, strict=True):
        if symbol.alias_of >= 0:
            continue
        line = bisect_right(starts, symbol.start)
        nodes.append(
            Node(
                id=identity,
                label=symbol.name,
                kind=DEFINITIONS[symbol.capture][1],
                path=path,
                line_start=line,
                line_end=min(bisect_right(starts, max(symbol.start, symbol.end - 1)), facts.lines),
                excerpt=_signature(data_lines, bisect_right(starts, symbol.named_at)),
                tags=_tags(symbol, found.symbols),
                last_modified=modified,
            )
        )
        edges.append(Edge(source=parent, target=identity, relation="contains", weight=_CONTAINS.weight, causal=_CONTAINS.causal))
        words.append(symbol.name)
        if symbol.doc:
            words.append(_plain(symbol.doc)[:DOC_CHARS])
        elif marks:
            words.append(_comment_above(data_lines, line, marks))
    references = tuple(
        Reference(
            source=ids[at] if at >= 0 else root if at == -1 else _owner_id(found, at, ids, root),
            name=name,
            relation=REFERENCES[capture],
            qualifier=qualifier,
            line=bisect_right(starts, byte),
        )
        for at, capture, name, qualifier, byte in found.uses
    )
    return Assembled(nodes=tuple(nodes), edges=tuple(edges), references=references, names=code_words("\n".join(words)))


def _line_starts(text: str, lines: list[str]) -> list[int]:
    """The first byte of every line."""
    lengths = [len(line) + 1 for line in lines] if text.isascii() else [len(line.encode("utf-8")) + 1 for line in lines]
    return [0, *accumulate(lengths[:-1])]


def _ids(symbols: list[Symbol], root: str) -> tuple[list[str], list[str]]:
    """The id of every symbol and of its parent; a name that comes again gets a number."""
    types: dict[str, int] = {}
    for at, symbol in enumerate(symbols):
        if symbol.capture in _CONTAINERS:
            types.setdefault(symbol.name, at)
    taken: dict[str, int] = {}
    ids: list[str] = [""] * len(symbols)
    parents: list[str] = [root] * len(symbols)
    owned = [at for at, symbol in enumerate(symbols) if _elsewhere(symbol, symbols)]
    late = set(owned)
    # Types first: a method may stand before the type it belongs to.
    for at in [*(n for n in range(len(symbols)) if n not in late), *owned]:
        symbol = symbols[at]
        if symbol.alias_of >= 0:
            ids[at] = ids[symbol.alias_of]
            continue
        owner = types.get(symbol.owner, -1) if symbol.owner else -1
        above = owner if owner >= 0 and ids[owner] else symbol.parent
        parents[at] = ids[above] if above >= 0 else root
        middle = f"::impl::{_bare(symbol.owner)}" if symbol.owner and above == symbol.parent else ""
        wanted = f"{parents[at]}{middle}::{DEFINITIONS[symbol.capture][0]}::{_id_part(symbol)}"
        taken[wanted] = count = taken.get(wanted, 0) + 1
        ids[at] = wanted if count == 1 else f"{wanted}#{count}"
    return ids, parents


def _owner_id(found: Found, at: int, ids: list[str], root: str) -> str:
    """The type a block belongs to, when it is defined in this file."""
    owner = found.owners[-2 - at]
    return next((ids[n] for n, one in enumerate(found.symbols) if one.name == owner and one.capture in _CONTAINERS), root)


def _id_part(symbol: Symbol) -> str:
    if symbol.capture == "section":
        return _NOT_PLAIN.sub("-", symbol.name.lower()).strip("-")[:80] or "_"
    return _bare(symbol.name)


def _bare(name: str) -> str:
    """A name as it may stand in an id, whose parts are told apart by `::`."""
    return _SPACE.sub("", name).replace("::", ".")[:120] or "_"


def _elsewhere(symbol: Symbol, symbols: list[Symbol]) -> bool:
    """Whether a symbol, or one around it, belongs to a type that is defined at another place."""
    while True:
        if symbol.owner:
            return True
        if symbol.parent < 0:
            return False
        symbol = symbols[symbol.parent]


def _tags(symbol: Symbol, symbols: list[Symbol]) -> tuple[str, ...]:
    if symbol.capture == "const":
        return ("constant",)
    if symbol.capture == "fn" and (symbol.owner or (symbol.parent >= 0 and symbols[symbol.parent].capture in _CONTAINERS)):
        return ("method",)
    return ("interface",) if symbol.capture == "trait" else ()


def _signature(lines: list[str], line: int) -> str:
    """The definition from its first line to where its head ends."""
    head = lines[line - 1].strip()
    at = line
    while at < min(len(lines), line + 6) and len(head) < EXCERPT_CHARS and head.count("(") > head.count(")"):
        head += " " + lines[at].strip()
        at += 1
    return _brief(head)


def _brief(text: str) -> str:
    return _SPACE.sub(" ", text).strip()[:EXCERPT_CHARS].rstrip()


def _plain(doc: str) -> str:
    """The text of a docstring, as much of it as is looked at."""
    return doc[: DOC_CHARS + 20].lstrip("rRbBuUfF").strip(_QUOTES)


def _first_line(lines: list[str]) -> str:
    return next((_brief(line) for line in lines[:20] if line.strip() and not line.startswith("#!")), "")


def _comment_above(lines: list[str], line: int, marks: tuple[str, ...]) -> str:
    """The comment that stands right above a definition."""
    found: list[str] = []
    at = line - 2
    while at >= 0 and len(found) < 12:
        bare = lines[at].lstrip()
        if bare.startswith(("@", "#[", "[")):
            at -= 1
            continue
        if not bare.startswith(marks):
            break
        match = _COMMENT_LINE.match(lines[at][:DOC_CHARS].rstrip())
        found.append(match[1] if match else "")
        at -= 1
    return " ".join(reversed(found))[:DOC_CHARS]
