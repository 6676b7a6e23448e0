"""What one language needs to be read: a query over its syntax tree and the few rules a query cannot say."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["DEFINITIONS", "REFERENCES", "Grammar", "Imports"]

# (local name, target) pairs: target is the module as written, with `#name` when one name of it is taken.
Imports = list[tuple[str, str]]

# Captures that define a symbol: (part of the node id, kind of the node).
DEFINITIONS = {
    "fn": ("fn", "function"),
    "class": ("class", "class"),
    "struct": ("struct", "struct"),
    "enum": ("enum", "enum"),
    "trait": ("trait", "type"),
    "type": ("type", "type"),
    "mod": ("mod", "module"),
    "const": ("const", "concept"),
    "section": ("section", "module"),
    "key": ("key", "concept"),
}

# Captures that use a name: the relation they ask for. `type` and `decorator` become `references` of their own weight.
REFERENCES = {
    "ref.call": "calls",
    "ref.inherits": "inherits",
    "ref.implements": "implements",
    "ref.type": "type",
    "ref.decorator": "decorator",  # stands before what it decorates
    "ref.annotation": "decorator",  # stands inside it
    "ref.member": "calls",  # the name alone; what stands before it is looked up in the text
    "ref.element": "calls",
    "ref.registers": "registers",  # found by what is called, not by the query
    "ref.module": "declares_module",
    "ref.file": "references",  # of a document: a file by its path
    "ref.mention": "mentions",  # of a document: a name in code style
    "ref.config": "configures",
    "ref.package": "depends_on",
}


def _no_imports(_text: str) -> Imports:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One language. Captures of the query: a definition (see DEFINITIONS) with `name`, the uses of REFERENCES, `import`, `doc`,
    `scope` with `owner` (a block that belongs to a type which is defined elsewhere) and `owner` alone (a receiver)."""

    query: str
    imports: Callable[[str], Imports] = _no_imports
    ignored: frozenset[str] = frozenset()  # names of the language itself: an edge to them says nothing
    constants: bool = True  # constants are upper case by custom; False: every captured one is a constant
