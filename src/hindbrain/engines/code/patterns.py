"""Patterns: simple symbols of languages that have no grammar here. Line by line, so no text can make it slow."""

import re

from hindbrain.engines.code.grammar import Imports
from hindbrain.engines.code.sweep import Found, Symbol

__all__ = ["read_lines"]

_LONGEST = 400  # characters of a line that are looked at
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|open|final|abstract|sealed|static|override|suspend|inline|data|pub|export|async|"
    r"local|case|implicit|lazy|mutable|fileprivate|@\w+)\s+)*"
)
_WORDS = {
    "class": "class",
    "object": "class",
    "actor": "class",
    "message": "class",
    "struct": "struct",
    "enum": "enum",
    "interface": "trait",
    "trait": "trait",
    "protocol": "trait",
    "service": "trait",
    "defprotocol": "trait",
    "type": "type",
    "typealias": "type",
    "module": "mod",
    "defmodule": "mod",
    "namespace": "mod",
    "fun": "fn",
    "func": "fn",
    "function": "fn",
    "def": "fn",
    "defp": "fn",
    "defmacro": "fn",
    "defn": "fn",
    "defn-": "fn",
    "fn": "fn",
    "sub": "fn",
    "proc": "fn",
    "rpc": "fn",
    "macro": "fn",
}
_DEFINITION = re.compile(
    rf"^\s*\(?{_MODIFIERS}({'|'.join(sorted(_WORDS, key=len, reverse=True))})\s+(?:<[^>]*>\s*)?([\w.$?!:-]+)"
)
_SQL = re.compile(
    r"^\s*create\s+(?:or\s+replace\s+)?(?:\w+\s+)??(table|view|function|procedure|index)\s+(?:if\s+not\s+exists\s+)?([\w.\"]+)",
    re.IGNORECASE,
)
_SPECIAL = {
    "sql": (_SQL, "type"),
    "terraform": (re.compile(r'^(resource|data|module|variable|output)\s+("[\w-]+"(?:\s+"[\w-]+")?)'), "type"),
    "make": (re.compile(r"^()([\w./-]+)\s*:(?!=)"), "fn"),
    "r": (re.compile(r"^\s*()([\w.]+)\s*(?:<-|=)\s*function\b"), "fn"),
    "haskell": (re.compile(r"^()([a-z]\w*)\s*::"), "fn"),
    "ocaml": (re.compile(r"^\s*(let|and)\s+(?:rec\s+)?([a-z]\w*)"), "fn"),
    "dart": (re.compile(r"^\s*(?:[\w<>?]+\s+)()(\w+)\s*\([^;]*\)\s*(?:async\s*)?\{"), "fn"),
    "graphql": (re.compile(r"^\s*(type|input|interface|enum|union|scalar)\s+(\w+)"), "type"),
}
_IMPORT = re.compile(r"^\s*import\s+([\w.]+?)(\.[*_])?(?:\s+as\s+(\w+))?\s*;?\s*$")
_IMPORTING = frozenset({"kotlin", "scala", "groovy"})
_PROSE = frozenset({"text", "css", "xml", "gomod", "docker"})


def read_lines(language: str, text: str) -> Found:
    """The symbols of a text by the looks of its lines; a symbol goes to the next one."""
    found = Found()
    if language in _PROSE:
        return found
    special, kind = _SPECIAL.get(language, (None, ""))
    at = 0
    for line in text.split("\n"):
        size = len(line.encode("utf-8"))
        head = line[:_LONGEST]
        if match := _DEFINITION.match(head):
            _add(found, _WORDS[match[1]], match[2], at, at + _indent(head))
        elif special is not None and (match := special.match(head)):
            _add(found, kind, match[2].replace('"', "").replace(" ", "."), at, at + _indent(head))
        elif language in _IMPORTING:
            found.imports += _imported(head)
        at += size + 1
    if found.symbols:
        found.symbols[-1].end = at - 1
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _add(found: Found, capture: str, name: str, line: int, start: int) -> None:
    """Add a symbol that begins in the line at this byte, where the one before it ends."""
    name = name.strip(".:-?!")
    if name:
        if found.symbols:
            found.symbols[-1].end = line
        found.symbols.append(Symbol(capture=capture, start=start, end=start + 1, parent=-1, name=name, named_at=start))


def _imported(line: str) -> Imports:
    match = _IMPORT.match(line)
    if match is None:
        return []
    name = match[1]
    if match[2]:
        return [("*", f"{name}.*")]
    last = name.rpartition(".")[2]
    return [(match[3] or last, f"{name}#{last}")]
