"""Statements of code: the syntax tree cut into one statement at a time, each with the definitions, conditions and loops that
enclose it. Both results of a conditional expression are statements of their own, under the condition and under its opposite."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hindbrain.domain.source_statement import Enclosing, Role, Statement
from hindbrain.engines.code.languages import GRAMMARS, language_of, parser_of

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["code_statements", "is_parsed"]

_CODE = frozenset(
    ["python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "csharp", "ruby", "php", "bash"]
)
_MOST_BYTES = 1024 * 1024
_DEEPEST = 60  # blocks within blocks; what lies deeper is part of its statement
_BLOCKS = frozenset(
    [
        "block",
        "statement_block",
        "class_body",
        "compound_statement",
        "declaration_list",
        "field_declaration_list",
        "body_statement",
        "do_group",
        "switch_body",
        "match_block",
        "enum_body",
        "interface_body",
        "function_body",
        "then",
        "statement_list",
        "enum_variant_list",
        "object_type",
    ]
)
# Parts of a condition that are no block of their own: what they hold happens when the condition does not.
_OTHERWISE = frozenset(["else_clause", "elif_clause", "else", "elsif"])
_CLAUSES = frozenset(
    [
        "except_clause",
        "finally_clause",
        "catch_clause",
        "case_clause",
        "expression_case",
        "default_case",
        "switch_case",
        "switch_default",
        "match_arm",
        "switch_block_statement_group",
        "rescue",
        "when",
        "ensure",
        "case_item",
        "case_statement",
    ]
)
_FIELDS = frozenset({"consequence", "alternative", "body"})
_CHOICES = frozenset({"conditional_expression", "ternary_expression"})
_BINDS = re.compile(r"[\w\"']\s*(?:=|:)\s*[^=:]")
_COMMENT = re.compile(r"comment\Z")
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "definition",
        re.compile(
            r"function|method|class|impl|struct|interface|enum|trait|module|namespace|constructor|type_(?:decl|spec|alias)"
        ),
    ),
    ("loop", re.compile(r"for_|foreach|while_|until_")),
    ("guard", re.compile(r"if_|elif|elsif|unless|case|arm|when|except|catch|rescue")),
)


def is_parsed(path: str) -> bool:
    """Return True for a file that is code with a grammar here."""
    return language_of(path) in _CODE & GRAMMARS.keys()


def code_statements(path: str, text: str) -> tuple[Statement, ...]:
    """Cut the text of a code file into its statements, comments included, in order."""
    data = text.encode("utf-8")
    if len(data) > _MOST_BYTES:
        return ()
    tree = parser_of(language_of(path)).parse(data)
    found = list(_children(data, tree.root_node, (), 0))
    return tuple(sorted(_noted(found), key=lambda one: (one.first, one.last)))


def _children(data: bytes, node: "Node", above: tuple[Enclosing, ...], depth: int) -> Iterator[Statement]:
    for child in node.named_children:
        yield from _statement(data, child, above, depth)


def _statement(data: bytes, node: "Node", above: tuple[Enclosing, ...], depth: int) -> Iterator[Statement]:
    if _COMMENT.search(node.type):
        yield _made(data, node, "comment", _plain(data, node.start_byte, node.end_byte), above)
        return
    if node.type in _BLOCKS and depth < _DEEPEST:
        yield from _children(data, node, above, depth + 1)
        return
    if _is_text(node):
        yield _made(data, node, "comment", _plain(data, node.start_byte, node.end_byte), above)  # a docstring
        return
    parts = list(_parts(node)) if depth < _DEEPEST else []
    header = _without(data, node, parts)
    if not parts:
        yield from _leaf(data, node, header, above)
        return
    role = _role(node.type, header)
    first = node.start_point[0] + 1
    yield Statement(
        kind="header",
        text=header,
        first=first,
        last=first + header.count("\n"),
        enclosing=above,
        body_end=node.end_point[0] + 1,
        role=role,
    )
    inner = (*above, Enclosing(role=role, text=header))
    other = (*above, Enclosing(role=role, text=header, negated=True)) if role == "guard" else inner
    for part in parts:
        otherwise = part.type in _OTHERWISE or _field(node, part) == "alternative"
        within = other if otherwise else inner
        if part.type in _BLOCKS or part.type in ("else_clause", "else"):
            yield from _children(data, part, within, depth + 1)
        else:
            yield from _statement(data, part, within, depth + 1)
    for comment in _comments(node, parts):
        yield _made(data, comment, "comment", _plain(data, comment.start_byte, comment.end_byte), above)


def _leaf(data: bytes, node: "Node", text: str, above: tuple[Enclosing, ...]) -> Iterator[Statement]:
    for comment in _comments(node, []):
        yield _made(data, comment, "comment", _plain(data, comment.start_byte, comment.end_byte), above)
    pieces = list(_pieces(node))
    if any(_BINDS.search(_plain(data, one.start_byte, one.end_byte)) for one in pieces):
        begins = Enclosing(role="section", text=text.partition("\n")[0])
        for one in pieces:
            yield _made(data, one, "code", _plain(data, one.start_byte, one.end_byte), (*above, begins))
        return
    choice = _first(node, _CHOICES)
    if choice is None or len(choice.named_children) != 3:
        yield _made(data, node, "code", text, above)
        return
    if choice.child_by_field_name("condition") is not None:
        condition, chosen, other = choice.named_children
    else:  # in Python the condition stands in the middle
        chosen, condition, other = choice.named_children
    test = f"if {_plain(data, condition.start_byte, condition.end_byte)}"
    for value, negated in ((chosen, False), (other, True)):
        said = (
            _plain(data, node.start_byte, choice.start_byte)
            + _plain(data, value.start_byte, value.end_byte)
            + _plain(data, choice.end_byte, node.end_byte)
        )
        yield _made(data, node, "code", said, (*above, Enclosing(role="guard", text=test, negated=negated)))


def _parts(node: "Node") -> Iterator["Node"]:
    """The outermost blocks and branches of a statement. The walk is a loop: expressions may be deep."""
    waiting = [(child, node) for child in node.named_children]
    while waiting:
        child, parent = waiting.pop(0)
        branch = _field(parent, child) in _FIELDS and child.type.endswith(("_statement", "_clause")) and parent is node
        if child.type in _BLOCKS or child.type in _CLAUSES or child.type in _OTHERWISE or branch:
            yield child
        else:
            waiting[:0] = [(one, child) for one in child.named_children]


def _pieces(node: "Node") -> Iterator["Node"]:
    """The parts of a statement of several lines that begin a line of their own: values of a table, arguments, constants."""
    waiting = list(node.named_children)
    while waiting:
        one = waiting.pop(0)
        if _COMMENT.search(one.type):
            continue
        if one.start_point[0] > node.start_point[0]:
            yield one
        else:
            waiting[:0] = one.named_children


def _comments(node: "Node", parts: "list[Node]") -> Iterator["Node"]:
    inside = {part.id for part in parts}
    waiting = list(node.named_children)
    while waiting:
        child = waiting.pop(0)
        if child.id in inside:
            continue
        if _COMMENT.search(child.type):
            yield child
        else:
            waiting[:0] = child.named_children


def _first(node: "Node", types: frozenset[str]) -> "Node | None":
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if one.type in types:
            return one
        waiting += one.named_children
    return None


def _field(parent: "Node", child: "Node") -> str:
    for at, one in enumerate(parent.children):
        if one.id == child.id:
            return parent.field_name_for_child(at) or ""
    return ""


def _is_text(node: "Node") -> bool:
    """Whether a statement is nothing but a string: it documents, and does nothing."""
    inner = node.named_children
    return node.type == "expression_statement" and len(inner) == 1 and inner[0].type in ("string", "concatenated_string")


def _role(kind: str, header: str) -> Role:
    if kind == "if_expression":
        return "guard"
    begins = re.match(
        r"\s*(?:\}\s*)?(if|elif|elsif|else if|while|until|unless|for|foreach|switch|match|case|when|except|catch)\b", header
    )
    if begins:
        if begins[1] in ("switch", "match"):
            return "block"
        return "loop" if begins[1].startswith(("for", "while", "until")) else "guard"
    for role, pattern in _ROLES:
        if pattern.search(kind):
            return role
    if "=>" in header or re.search(r"\b(?:function|def|fn|func|class|struct|interface)\b", header):
        return "definition"
    return "block"


def _without(data: bytes, node: "Node", parts: "list[Node]") -> str:
    """The text of a node without its blocks and its comments."""
    cut = sorted([(one.start_byte, one.end_byte) for one in (*parts, *_comments(node, parts))])
    text, at = [], node.start_byte
    for start, end in cut:
        text.append(_plain(data, at, start))
        at = max(at, end)
    return "".join([*text, _plain(data, at, node.end_byte)]).strip()


def _plain(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "replace")


def _made(data: bytes, node: "Node", kind: str, text: str, above: tuple[Enclosing, ...]) -> Statement:
    last = node.end_point[0] + (1 if node.end_point[1] else 0)
    made = Statement(
        kind="code", text=text.strip(), first=node.start_point[0] + 1, last=max(last, node.start_point[0] + 1), enclosing=above
    )
    return replace(made, kind="comment") if kind == "comment" else made


def _noted(found: list[Statement]) -> Iterator[Statement]:
    """Every statement, with the comment that ends its line."""
    notes = {one.first: one.text for one in found if one.kind == "comment"}
    begun = {one.first for one in found if one.kind != "comment"}
    for one in found:
        note = notes.get(one.last, "") if one.kind != "comment" and one.last in begun else ""
        yield replace(one, note=note) if note else one
