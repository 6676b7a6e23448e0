"""Shell words: a command line as tree-sitter parses it, reduced to its commands, words and redirections.

Only forms that every shell reads alike are understood. All else is named in `odd`: a reader treats such a line as unknown. Each
token is checked again by its own text, so that a difference between the grammar and a real shell shows up as odd."""

import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hindbrain.engines.code.languages import parser_of

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Fragment", "Line", "Redirect", "Word", "taken_apart"]

_one_at_a_time = threading.Lock()
_DEEPEST = 40  # nodes inside nodes; a person writes a few
_ASSIGNED = re.compile(r"\A([A-Za-z_][A-Za-z0-9_]*)=")
_NAME = re.compile(r"\A[A-Za-z_][A-Za-z0-9_]*\Z|\A\d\Z|\A[@*#?$!-]\Z")
_BARE = re.compile(r"\A(?:\\.|[^\s\\'\"$`;&|<>()])+\Z", re.DOTALL)  # a word without quotes and replacements
_PATTERN = re.compile(r"(?<!\\)(?:\\\\)*[*?\[\]{}~]")
_BLANKS = re.compile(r"\A(?:[ \t]|\\\n)*\Z")
_LINES = re.compile(r"\A(?:[ \t\n]|\\\n)*\Z")
_JOINED = re.compile(r"\A(?:\\\n)+\Z")  # without a blank, two parts of one word
_SIGNS = frozenset({"{", "}", "{}", "[", "]", "[["})  # words of their own, not patterns
_STARTS = "*?[]{}~"

# Nodes that hold commands, one after the other. Their own tokens start nothing.
_HOLDERS = frozenset(
    {"program", "list", "subshell", "compound_statement", "do_group", "if_statement", "elif_clause", "else_clause"}
    | {"while_statement", "negated_command"}
)
_TOKENS = frozenset(
    {";", "&", "&&", "||", "|", "\n", "(", ")", "{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done"}
)
_WORDS = frozenset(
    {"word", "number", "string", "raw_string", "concatenation", "simple_expansion", "expansion", "command_substitution"}
)
# Inside these, a line break is part of the text, or ends nothing.
_OWN_LINES = frozenset(
    {"string", "raw_string", "comment", "heredoc_body", *_HOLDERS, "pipeline", "command_substitution", "for_statement"}
)
_REDIRECTS = frozenset({"<", ">", ">>", ">|", ">&", "<&", "<>", "&>", "&>>"})
_ODD = {
    "ERROR": "it does not read as a command line",
    "arithmetic_expansion": "it computes, and a shell runs what stands in an index",
    "ansi_c_string": "it has a word that shells read differently",
    "array": "it has a list, which shells read differently",
    "brace_expression": "it has braces, which shells read differently",
    "c_style_for_statement": "it has a loop that shells read differently",
    "case_statement": "it has a choice by pattern",
    "declaration_command": "it declares a variable",
    "extglob_pattern": "it has a pattern that shells read differently",
    "function_definition": "it defines a function",
    "heredoc_redirect": "it has a text of its own in it",
    "herestring_redirect": "it has a text of its own in it",
    "process_substitution": "it gives a command as a file",
    "subscript": "it has an index, and a shell runs what stands in it",
    "translated_string": "it has a word that shells read differently",
    "unset_command": "it removes a variable",
}


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes. `plain` when its text is what the program gets; `replaced` when a variable or the output of a
    command stands in it; `loose` when that can make several words of it; `assigns` the variable that it sets before a command."""

    text: str
    plain: bool = True
    quoted: bool = False
    replaced: bool = False
    assigns: str = ""
    loose: bool = False

    @property
    def open(self) -> bool:
        """Whether it can turn out to be an option: nobody knows how it begins."""
        return self.replaced or (not self.plain and self.text[:1] in ("", *_STARTS))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where a stream goes to or comes from."""

    sign: str
    target: Word


@dataclass(slots=True)
class Fragment:
    """One simple command. `nested` when it stands inside another form, so that its status is not that of the line."""

    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    piped: bool = False  # it reads what the one before it prints
    nested: bool = False


@dataclass(slots=True)
class Line:
    """All commands that a line starts, also those inside of words; and what could not be read."""

    fragments: list[Fragment] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def taken_apart(command: str) -> Line:
    """Return every command of a line, in the order in which they are met."""
    line = Line()
    if any(char.isspace() and char not in " \t\n" for char in command) or not all(
        char.isprintable() or char in "\t\n" for char in command
    ):
        # A blank that is none for a shell would hide where words end.
        line.odd.append("it has characters that cannot be seen")
        return line
    if "$[" in command:
        line.odd.append(_ODD["arithmetic_expansion"])
    try:
        raw = command.encode()
    except UnicodeEncodeError:
        line.odd.append("it has characters that cannot be seen")
        return line
    with _one_at_a_time:  # the process has one parser
        root = parser_of("bash").parse(raw).root_node
    reader = _Reader(raw, line)
    reader.check_tokens(root)
    reader.holder(root, piped=False, nested=False, depth=0)
    return line


class _Reader:
    """Reads a tree by a list of known nodes; a node that is not in it is odd, and commands inside it are still met."""

    def __init__(self, raw: bytes, line: Line) -> None:
        self._raw = raw
        self._line = line

    def _odd(self, why: str) -> None:
        if why not in self._line.odd:
            self._line.odd.append(why)

    def _text(self, start: int, end: int) -> str:
        return self._raw[start:end].decode()

    # --- tokens: what lies between them, and where a comment begins -----------------------------------------------------

    def check_tokens(self, root: "Node") -> None:
        """See that nothing lies between tokens but blanks, and line breaks only where they end a command."""
        at, waiting = 0, [root]
        while waiting:
            node = waiting.pop()
            if node.is_missing:
                self._odd("something is missing in it")
            if node.children and node.type != "string":
                waiting += reversed(node.children)
                continue
            if node.type == "string":  # what lies between its parts is its text; commands in it are read by themselves
                for inner in node.children:
                    if inner.type == "command_substitution":
                        _Reader(self._raw, self._line)._check_inside(inner)
            self._check_gap(self._text(at, node.start_byte), node)
            at = max(at, node.end_byte)
        self._check_gap(self._text(at, len(self._raw)), root)

    def _check_inside(self, node: "Node") -> None:
        at = node.start_byte
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here.children and here.type != "string":
                waiting += reversed(here.children)
                continue
            self._check_gap(self._text(at, here.start_byte), here)
            at = max(at, here.end_byte)

    def _check_gap(self, gap: str, node: "Node") -> None:
        if not gap:
            if (
                node.type == "comment"
                and node.start_byte
                and self._raw[node.start_byte - 1 : node.start_byte] not in b" \t\n;&|()"
            ):
                self._odd("a comment begins inside a word")
            return
        if _JOINED.match(gap):
            self._odd("a word goes over the end of a line")
        if node.type == "comment" and gap.endswith("\\\n"):
            self._odd("a comment begins inside a word")
        if _BLANKS.match(gap):
            return
        parent = node.parent
        while parent is not None and parent.start_byte == node.start_byte and parent.type not in _OWN_LINES:
            node, parent = parent, parent.parent
        ends = parent is None or parent.type in _OWN_LINES or parent.type in _ODD or parent.type == "case_item"
        if not _LINES.match(gap) or not ends:
            self._odd("a line ends inside a command")

    # --- commands -------------------------------------------------------------------------------------------------------

    def holder(self, node: "Node", *, piped: bool, nested: bool, depth: int) -> None:
        for child in node.children:
            if child.is_named or child.type not in _TOKENS:
                self._statement(child, piped=piped, nested=nested, depth=depth + 1)

    def _statement(self, node: "Node", *, piped: bool, nested: bool, depth: int) -> None:
        if depth > _DEEPEST:
            self._odd("it is nested too deeply to be read")
            return
        kind = node.type
        if kind == "comment":
            return
        if kind in ("program", "list"):
            self.holder(node, piped=piped, nested=nested, depth=depth)
        elif kind in _HOLDERS:
            self.holder(node, piped=piped, nested=True, depth=depth)
        elif kind == "pipeline":
            self._pipeline(node, piped=piped, nested=nested, depth=depth)
        elif kind == "redirected_statement":
            self._redirected(node, piped=piped, nested=nested, depth=depth)
        elif kind == "command":
            self._line.fragments.append(self._command(node, piped=piped, nested=nested, depth=depth))
        elif kind in ("variable_assignment", "variable_assignments"):
            made = node.children if kind == "variable_assignments" else [node]
            words = [self._assignment(one, depth) for one in made]
            self._line.fragments.append(Fragment(words, piped=piped, nested=nested))
        elif kind == "test_command":
            self._test(node, piped=piped, nested=nested, depth=depth)
        elif kind == "for_statement":
            self._for(node, piped=piped, depth=depth)
        else:
            self._odd(_ODD.get(kind, "it has a form that is not known here"))
            self._met_inside(node, depth)

    def _met_inside(self, node: "Node", depth: int) -> None:
        """Meet the commands inside a node that was not understood."""
        for child in node.children:
            if child.type in ("command_name", "declaration_command", "unset_command"):
                text = child.text.decode() if child.text else ""
                self._line.fragments.append(
                    Fragment([Word(text.split(maxsplit=1)[0] if text.strip() else "", plain=False)], nested=True)
                )
            if child.type in ("command", "pipeline", "redirected_statement", "test_command", *_HOLDERS):
                self._statement(child, piped=False, nested=True, depth=depth + 1)
            elif child.type == "command_substitution":
                self.holder(child, piped=False, nested=True, depth=depth + 1)
            elif depth < _DEEPEST:
                self._met_inside(child, depth + 1)

    def _pipeline(self, node: "Node", *, piped: bool, nested: bool, depth: int) -> None:
        after = piped
        for child in node.children:
            if child.type == "|":
                after = True
            elif child.type == "|&":
                self._odd("it has a sign that shells read differently")
                after = True
            else:
                self._statement(child, piped=after, nested=nested, depth=depth + 1)

    def _redirected(self, node: "Node", *, piped: bool, nested: bool, depth: int) -> None:
        before = len(self._line.fragments)
        held = Fragment(piped=piped, nested=nested)
        for child in node.children:
            if child.type == "file_redirect":
                self._redirect(child, held, depth)
            elif child.type in ("heredoc_redirect", "herestring_redirect"):
                self._odd(_ODD[child.type])
                self._met_inside(child, depth)
            else:
                self._statement(child, piped=piped, nested=nested, depth=depth + 1)
        made = self._line.fragments[before:]
        if len(made) == 1 and held.redirects and not made[0].redirects:
            made[0].redirects += held.redirects
        elif held.redirects or held.words:
            self._line.fragments.append(held)

    def _redirect(self, node: "Node", into: Fragment, depth: int) -> None:
        parts = [child for child in node.children if child.type != "file_descriptor"]
        sign = parts[0].type if parts else ""
        if sign not in _REDIRECTS or len(parts) < 2:
            self._odd("a redirection is not known here")
            return
        into.redirects.append(Redirect(sign, self._word(parts[1], depth)))
        # The grammar takes words after a redirection for more targets; a shell takes them for words of the command.
        into.words += [self._word(one, depth) for one in parts[2:]]

    def _command(self, node: "Node", *, piped: bool, nested: bool, depth: int) -> Fragment:
        made = Fragment(piped=piped, nested=nested)
        last = -1
        for child in node.children:
            if child.type == "file_redirect":
                self._redirect(child, made, depth)
            elif child.type in ("heredoc_redirect", "herestring_redirect"):
                self._odd(_ODD[child.type])
                self._met_inside(child, depth)
            else:
                if child.start_byte == last:
                    self._odd("two words are not parted")
                if child.type == "variable_assignment":
                    made.words.append(self._assignment(child, depth))
                else:
                    made.words.append(self._word(child.children[0] if child.type == "command_name" else child, depth))
            last = child.end_byte
        return made

    def _assignment(self, node: "Node", depth: int) -> Word:
        children = node.children
        if len(children) < 2 or children[0].type != "variable_name" or children[1].type != "=":
            self._odd(_ODD["subscript"])
            self._met_inside(node, depth)
            return Word("", plain=False, replaced=True, assigns="?")
        name = self._text(children[0].start_byte, children[0].end_byte)
        value = self._word(children[2], depth) if len(children) > 2 else Word("")
        return Word(f"{name}={value.text}", value.plain, value.quoted, value.replaced, name)

    def _test(self, node: "Node", *, piped: bool, nested: bool, depth: int) -> None:
        """`[ … ]` is a command with words; the other forms compute."""
        if not node.children or node.children[0].type != "[":
            self._odd("it has a test that shells read differently")
            self._met_inside(node, depth)
            return
        made = Fragment([Word("[")], piped=piped, nested=nested)
        waiting = list(reversed(node.children[1:]))
        while waiting:
            one = waiting.pop()
            if one.type in _WORDS:
                made.words.append(self._word(one, depth))
            elif one.type in ("unary_expression", "binary_expression", "negation_expression", "parenthesized_expression"):
                waiting += reversed(one.children)
            elif one.type == "test_operator" or one.type in ("=", "==", "!=", "!", "]"):
                made.words.append(Word(self._text(one.start_byte, one.end_byte)))
            else:
                self._odd("it has a test that shells read differently")
                self._met_inside(one, depth)
        self._line.fragments.append(made)

    def _for(self, node: "Node", *, piped: bool, depth: int) -> None:
        first = node.children[0].type if node.children else ""
        if first != "for":
            self._odd("it has a loop that shells read differently")
        words = [Word("for")]
        for child in node.children[1:]:
            if child.type == "variable_name":
                words.append(Word(self._text(child.start_byte, child.end_byte)))
            elif child.type in _WORDS:
                self._word(child, depth)  # for the commands in it
            elif child.type in _HOLDERS:
                self.holder(child, piped=piped, nested=True, depth=depth + 1)
            elif child.type not in ("in", ";", "\n"):
                self._odd("it has a loop that shells read differently")
                self._met_inside(child, depth)
        self._line.fragments.append(Fragment(words, piped=piped, nested=True))

    # --- words ----------------------------------------------------------------------------------------------------------

    def _word(self, node: "Node", depth: int) -> Word:
        if depth > _DEEPEST:
            self._odd("it is nested too deeply to be read")
            return Word("", plain=False, replaced=True)
        pieces = node.children if node.type == "concatenation" else [node]
        made, bare = list[str](), 0
        plain, quoted, replaced, loose = True, False, False, False
        for piece in pieces:
            raw = self._text(piece.start_byte, piece.end_byte)
            if piece.type in ("word", "number"):
                text, clean = self._bare(raw)
                plain = plain and clean
                quoted = quoted or "\\" in raw
                bare = bare if quoted or replaced else bare + len(text)
                made.append(text)
            elif piece.type == "raw_string":
                if len(raw) < 2 or raw[0] != "'" or raw[-1] != "'" or "'" in raw[1:-1]:
                    self._odd("a quote is not closed")
                made.append(raw[1:-1])
                quoted = True
            elif piece.type == "string":
                text, fixed = self._double(piece, depth)
                made.append(text)
                quoted, replaced = True, replaced or not fixed
            elif piece.type in ("simple_expansion", "expansion", "command_substitution"):
                self._replacement(piece, depth)
                replaced = loose = True
            else:
                self._odd(_ODD.get(piece.type, "it has a word that is not known here"))
                self._met_inside(piece, depth)
                replaced = loose = True
        whole = "".join(made)
        assigned = _ASSIGNED.match(whole)
        source = self._text(node.start_byte, node.end_byte)
        return Word(
            whole,
            (plain or source in _SIGNS) and not replaced,
            quoted,
            replaced,
            assigned[1] if assigned and assigned.end() <= bare else "",
            loose or not (plain or source in _SIGNS),
        )

    def _bare(self, raw: str) -> tuple[str, bool]:
        """Return the text of a word without quotes, and whether it is no pattern."""
        if not _BARE.match(raw) or raw.startswith("#") or "\\\n" in raw:
            self._odd("it has a word that shells read differently")
        return re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL), not _PATTERN.search(raw)

    def _double(self, node: "Node", depth: int) -> tuple[str, bool]:
        """Return the inside of double quotes, and whether nothing in it is replaced."""
        if len(node.children) < 2 or node.children[0].type != '"' or node.children[-1].type != '"':
            self._odd("a quote is not closed")
            self._met_inside(node, depth)
            return "", False
        made, fixed, at = list[str](), True, node.children[0].end_byte
        for child in node.children[1:-1]:
            if child.type in ("string_content", "$"):
                continue
            made.append(self._quoted(self._text(at, child.start_byte)))
            at, fixed = child.end_byte, False
            if child.type in ("simple_expansion", "expansion", "command_substitution"):
                self._replacement(child, depth)
            else:
                self._odd(_ODD.get(child.type, "it has a word that is not known here"))
                self._met_inside(child, depth)
        made.append(self._quoted(self._text(at, node.children[-1].start_byte)))
        return "".join(made), fixed

    def _quoted(self, raw: str) -> str:
        """Return text between double quotes. No quote, backtick or replacement may be left in it unseen."""
        if re.search(r"(?<!\\)(?:\\\\)*(?:[\"`]|\$[A-Za-z0-9_{(@*#?$!'\"-])", raw):
            self._odd("it has a word that shells read differently")
        return re.sub(r'\\(["\\$`\n])', lambda found: "" if found[1] == "\n" else found[1], raw)

    def _replacement(self, node: "Node", depth: int) -> None:
        if node.type == "command_substitution":
            raw = self._text(node.start_byte, node.end_byte)
            if not (raw.startswith("$(") and raw.endswith(")")) and not (raw.startswith("`") and raw.endswith("`")):
                self._odd("its brackets do not match")
            if raw.startswith("`") and "\\" in raw:
                self._odd("it has a word that shells read differently")
            for child in node.children:
                if child.type not in ("$(", "`", ")"):
                    if child.type == "file_redirect":
                        held = Fragment(nested=True)
                        self._redirect(child, held, depth)
                        self._line.fragments.append(held)
                    elif child.is_named or child.type not in _TOKENS:
                        self._statement(child, piped=False, nested=True, depth=depth + 1)
            return
        names = [child for child in node.children if child.type in ("variable_name", "special_variable_name")]
        raw = self._text(node.start_byte, node.end_byte)
        name = raw[2:-1] if raw.startswith("${") else raw[1:]
        if len(names) != 1 or not _NAME.match(name):
            self._odd("it has a replacement that does more than name a variable")
            self._met_inside(node, depth)
