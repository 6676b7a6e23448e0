"""The sweep: the captures of a syntax tree in one walk from first byte to last, so that each use knows the symbol around it.

No recursion over the tree: a file nested a hundred thousand deep is read like any other.
"""

import re
from dataclasses import dataclass, field

from hindbrain.engines.code.grammar import DEFINITIONS, REFERENCES, Imports
from hindbrain.engines.code.languages import grammar_of, parser_of, query_of
from hindbrain.policy.graph import MAX_SYMBOLS, REGISTERING

__all__ = ["Found", "Symbol", "Use", "read_tree"]

_JOINTS = b".:>-?!& \t\r\n"
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$@.:>-\\"
_SEPARATORS = ("::", "->", "?.", "!.", "\\")
_SIGILS = " \t\r\n#@$&*"
_NAME = re.compile(r"[^\W\d][\w$]*[?!]?|[$][\w$]*")
_DOTTED = re.compile(r"[\w$@]+(?:\.[\w$@]+)*")
_LONGEST_IMPORT = 10_000  # bytes of one statement; a longer one was not written by hand
_LOOK_BACK = 160  # bytes of a dotted name that are read: enough for its last parts, and a chain of calls costs no square
Event = tuple[int, int, str]  # first byte, minus one past the last byte, capture
Use = tuple[int, str, str, str, int]  # symbol (-1: the file, below: an owner), capture, name, qualifier, first byte


@dataclass(slots=True)
class Symbol:
    """A definition on its way to a node."""

    capture: str
    start: int
    end: int
    parent: int  # -1: the file
    name: str = ""
    owner: str = ""  # the type it belongs to, when that is not around it
    doc: str = ""
    named_at: int = 0  # first byte of its name
    alias_of: int = -1  # the symbol that is this one under the same name: `typedef struct a {} a`


@dataclass(slots=True)
class Found:
    """What a syntax tree holds."""

    symbols: list[Symbol] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    imports: Imports = field(default_factory=list)
    owners: list[str] = field(default_factory=list)  # types whose blocks use something: use n belongs to owner -2 - n
    doc: str = ""
    broken: bool = False


def read_tree(language: str, data: bytes) -> Found:
    """The symbols, uses and imports of one file."""
    from tree_sitter import QueryCursor

    tree = parser_of(language).parse(data)
    root = tree.root_node
    captures = QueryCursor(query_of(language)).captures(root)
    events: list[Event] = []
    for capture, nodes in captures.items():
        if not capture.startswith("_"):
            events += [(node.start_byte, -node.end_byte, capture) for node in nodes]
    events.sort()
    return _Sweep(language, data, broken=root.has_error).run(events)


class _Sweep:
    def __init__(self, language: str, data: bytes, *, broken: bool) -> None:
        self._data = data
        self._grammar = grammar_of(language)
        self._found = Found(broken=broken)
        self._open: list[tuple[int, int]] = []  # (one past the last byte, symbol) of what is around here, innermost last
        self._decorated: list[Use] = []
        self._waiting: list[Use] = []  # what a block promises before it says for whom
        self._seen: set[tuple[int, str, bytes]] = set()
        self._owners: list[tuple[int, str]] = []  # (one past the last byte, type) of blocks that belong to a type

    def run(self, events: list[Event]) -> Found:
        """Walk over everything that was captured."""
        around, data = self._open, self._data
        for start, minus_end, capture in events:
            end = -minus_end
            while around and around[-1][0] <= start:
                around.pop()
            if capture in REFERENCES:
                self._use(start, end, capture)
            elif capture in DEFINITIONS:
                self._define(start, end, capture)
            elif capture == "name":
                self._name(data[start:end].decode("utf-8", "replace"), start)
            elif capture == "import":
                text = data[start : min(end, start + _LONGEST_IMPORT)].decode("utf-8", "replace")
                self._found.imports += self._grammar.imports(text)
            elif capture == "doc":
                self._document(data[start:end].decode("utf-8", "replace"))
            elif capture == "scope":
                self._owners.append((end, ""))
                self._waiting.clear()
            elif capture == "owner":
                self._own(start, data[start:end].decode("utf-8", "replace"))
        self._found.uses += [(-1, *use[1:]) for use in self._decorated]
        return self._found

    def _here(self) -> int:
        return self._open[-1][1] if self._open else -1

    def _define(self, start: int, end: int, capture: str) -> None:
        symbols = self._found.symbols
        if len(symbols) >= MAX_SYMBOLS:
            return
        if capture == "const":
            name = self._data[start:end].decode("utf-8", "replace")
            if not self._open and (name.isupper() or not self._grammar.constants):
                symbols.append(Symbol(capture=capture, start=start, end=end, parent=-1, name=name, named_at=start))
            return
        if symbols and symbols[-1].start == start and symbols[-1].end == end:
            return  # two patterns met at one definition
        symbols.append(Symbol(capture=capture, start=start, end=end, parent=self._here(), owner=self._owner(start)))
        here = len(symbols) - 1
        self._open.append((end, here))
        if self._decorated:
            self._found.uses += [(here, *use[1:]) for use in self._decorated]
            self._decorated.clear()

    def _owner(self, start: int) -> str:
        while self._owners and self._owners[-1][0] <= start:
            self._owners.pop()
        return self._owners[-1][1] if self._owners and self._outside() else ""

    def _outside(self) -> bool:
        """Whether nothing is around but the file and modules."""
        return not self._open or self._found.symbols[self._open[-1][1]].capture == "mod"

    def _own(self, start: int, name: str) -> None:
        while self._owners and self._owners[-1][0] <= start:
            self._owners.pop()
        if not self._outside():
            symbol = self._found.symbols[self._open[-1][1]]
            symbol.owner = symbol.owner or name
        elif self._owners and not self._owners[-1][1]:
            self._owners[-1] = (self._owners[-1][0], name)
            self._found.owners.append(name)
            at = -1 - len(self._found.owners)
            self._found.uses += [(at, *use[1:]) for use in self._waiting]
            self._waiting.clear()

    def _name(self, name: str, start: int) -> None:
        if self._open:
            here = self._open[-1][1]
            symbol = self._found.symbols[here]
            if not symbol.name:
                symbol.named_at = start
                scope, _, last = name.rpartition("::")
                symbol.name = " ".join(last.split())
                symbol.owner = symbol.owner or scope.rsplit("::", 1)[-1].split("<", 1)[0]
                inner = self._found.symbols[here + 1] if here + 1 < len(self._found.symbols) else symbol
                if inner.parent == here and inner.name == symbol.name and symbol.start < inner.start < start:
                    inner.alias_of = here

    def _document(self, text: str) -> None:
        here = self._here()
        if here >= 0:
            self._found.symbols[here].doc = self._found.symbols[here].doc or text
        else:
            self._found.doc = self._found.doc or text

    def _use(self, start: int, end: int, capture: str) -> None:
        if capture == "ref.member":
            start = self._begin(start)
        raw = self._data[max(start, end - _LOOK_BACK) : end]
        here = self._here()
        key = (here, capture, raw)
        if key in self._seen:
            return
        self._seen.add(key)
        name, qualifier = _split(raw.decode("utf-8", "replace"))
        if not name or (not qualifier and name in self._grammar.ignored):
            return
        use = (here, capture, name, qualifier, start)
        if capture == "ref.decorator":
            uses = self._found.uses
            if uses and uses[-1][1] == "ref.call" and uses[-1][4] == start:
                uses.pop()  # a decorator with arguments is a call too; it is told once
            self._decorated.append(use)
            return
        if capture == "ref.implements" and self._outside() and self._owners and not self._owners[-1][1]:
            self._waiting.append(use)
            return
        self._found.uses.append(use)
        if name in REGISTERING and capture in ("ref.call", "ref.member"):
            self._registered(here, end)

    def _begin(self, start: int) -> int:
        """Where the dotted name begins whose last part begins here."""
        before = self._data[max(0, start - _LOOK_BACK) : start]
        stripped = before.rstrip(_JOINTS)
        if len(stripped) == len(before):
            return start
        return start - len(before) + len(stripped.rstrip(_NAME_BYTES))

    def _registered(self, here: int, end: int) -> None:
        """The first arguments of a call that hands something over."""
        if self._data[end : end + 1] != b"(":
            return
        arguments = self._data[end + 1 : end + 1 + _LOOK_BACK].decode("utf-8", "replace").split(")", 1)[0]
        for argument in arguments.split(",")[:3]:
            name, qualifier = _split(argument.strip().split("(", 1)[0])
            if name and not name.isdigit() and argument.strip()[0] not in "'\"`":
                self._found.uses.append((here, "ref.registers", name, qualifier, end))


def _split(text: str) -> tuple[str, str]:
    """The last part of a dotted name and what stands before it: `?` when that is more than names."""
    text = text.lstrip(":\\")
    if "<" in text and not text.startswith("<"):
        text = text.split("<", 1)[0]
    for separator in _SEPARATORS:
        if separator in text:
            text = text.replace(separator, ".")
    before, dot, name = text.rpartition(".")
    name = name.strip(_SIGILS)
    if not _NAME.fullmatch(name):
        return "", ""
    if before:
        before = "".join(before.split()).strip(_SIGILS + ".")
        return name, before if _DOTTED.fullmatch(before) else "?"
    return name, "?" if dot else ""
