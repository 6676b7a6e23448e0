"""Comments: the lines of a file without what explains them, to see whether the code itself changed."""

from typing import TYPE_CHECKING

from hindbrain.engines.code.languages import GRAMMARS, language_of, parser_of

if TYPE_CHECKING:
    from tree_sitter import Tree

__all__ = ["code_lines"]

_MOST_BYTES = 1024 * 1024  # a larger file is compared with its comments

# Languages without a grammar here: what begins a line that is only a comment.
_LINE_COMMENTS = {
    "#": "perl r julia elixir nim cython powershell terraform make docker cmake graphql",
    "//": "kotlin swift scala dart zig groovy proto objc fsharp gomod",
    "--": "lua haskell sql",
    "%": "erlang",
    ";": "clojure",
}
_BEGINS = {language: mark for mark, languages in _LINE_COMMENTS.items() for language in languages.split()}


def code_lines(path: str, data: bytes) -> list[tuple[int, str]]:
    """Return (number, text) of every line with code: comments are cut out, and blank lines and trailing spaces are dropped."""
    language = language_of(path, data)
    if language in GRAMMARS and len(data) <= _MOST_BYTES:
        data = _without_comments(data, parser_of(language).parse(data))
    lines = enumerate(data.decode("utf-8", "replace").splitlines(), start=1)
    begins = _BEGINS.get(language)
    return [
        (number, line.rstrip())
        for number, line in lines
        if line.strip() and not (begins is not None and line.lstrip().startswith(begins))
    ]


def _without_comments(data: bytes, tree: "Tree") -> bytes:
    """The same number of lines: of a comment only its line breaks stay."""
    parts, begin = [], 0
    for start, end in _comments(tree):
        parts.append(data[begin:start].rstrip(b" \t") if not _alone(data, start) else data[begin:start])
        parts.append(b"\n" * data.count(b"\n", start, end))
        begin = end
    return b"".join([*parts, data[begin:]])


def _alone(data: bytes, start: int) -> bool:
    """Whether a comment is the first of its line: what follows keeps its indentation."""
    return not data[data.rfind(b"\n", 0, start) + 1 : start].strip()


def _comments(tree: "Tree") -> list[tuple[int, int]]:
    """Where the comments of a file are, in order. The walk is a loop: nesting may be deep."""
    found, cursor = [], tree.walk()
    while True:
        node = cursor.node
        comment = node is not None and (node.type == "comment" or node.type.endswith("_comment"))
        if comment and node is not None:
            found.append((node.start_byte, node.end_byte))
        if not comment and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
