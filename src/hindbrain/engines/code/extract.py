"""Extraction: one source file becomes nodes, edges, references and stretches of text. Knows no other file."""

import hashlib
import re

from hindbrain.domain.graph import FileFacts, Node, Parsed
from hindbrain.engines.code.chunks import chunks_of, lines_of
from hindbrain.engines.code.languages import GRAMMARS, language_of
from hindbrain.engines.code.patterns import read_lines
from hindbrain.engines.code.sweep import Found, read_tree
from hindbrain.engines.code.symbols import assemble
from hindbrain.engines.code_terms import code_words
from hindbrain.engines.document_data import add_names, packages_of, read_go_module
from hindbrain.engines.documents import PROSE, plain_html, read_prose
from hindbrain.policy.graph import BINARY_LOOK, DATA_KEYS, LONGEST_LINE, MAX_FILE_BYTES

__all__ = ["file_id", "parse_file"]

_DATA = frozenset({"json", "toml", "yaml"})
_SUSPECT = 20_000  # bytes below which nobody minifies
_DENSE = 400  # bytes a line on average that no programmer writes
_WRITTEN = frozenset({"markdown", "rst", "text"})  # a paragraph may be one line


def file_id(path: str) -> str | None:
    """The node id of a file; None for a path that names none."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return "file::" + "/".join(parts) if parts and ".." not in parts else None


def parse_file(path: str, data: bytes, *, mtime_ns: int) -> Parsed:
    """What one file contributes to the graph."""
    identity = file_id(path)
    if identity is None:
        return Parsed(
            facts=_facts(path, data, mtime_ns, "text", 0, "skipped"), nodes=(), edges=(), warnings=("path names no file",)
        )
    path = identity.removeprefix("file::")
    language = language_of(path, data)
    reason = _refused(data, language)
    if reason:
        return _bare(path, data, mtime_ns, language, reason)
    text = data.decode("utf-8", errors="replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    warnings = ("not UTF-8: unreadable characters were replaced",) if "\ufffd" in text and b"\xef\xbf\xbd" not in data else ()
    found, how = _found(path, language, text)
    facts = _facts(path, data, mtime_ns, language, lines_of(text), how)
    symbols = assemble(facts, found, text)
    return Parsed(
        facts=facts,
        nodes=symbols.nodes,
        edges=symbols.edges,
        references=symbols.references,
        imports=tuple(dict.fromkeys(found.imports)),
        chunks=chunks_of(
            plain_html(text) if language == "html" else text, [(node.line_start, node.line_end) for node in symbols.nodes[1:]]
        ),
        names=symbols.names,
        warnings=warnings,
    )


def _found(path: str, language: str, text: str) -> tuple[Found, str]:
    if language in PROSE:
        found = read_prose(language, text)
    elif language in GRAMMARS:
        found = read_tree(language, data := text.encode("utf-8"))
        if language in _DATA:
            del found.symbols[DATA_KEYS:]
            add_names(found, data)
    else:
        found = read_lines(language, text)
        found.imports += read_go_module(text) if language == "gomod" else []
    found.uses += packages_of(path, text)
    how = "text" if language not in GRAMMARS else "fallback" if found.broken else "full"
    return found, how


def _refused(data: bytes, language: str) -> str:
    if len(data) > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES} bytes"
    if b"\0" in data[:BINARY_LOOK]:
        return "binary"
    dense = len(data) > _SUSPECT and len(data) > _DENSE * (data.count(b"\n") + 1)
    if dense and language not in _WRITTEN and re.search(rb"[^\n]{%d}" % LONGEST_LINE, data):
        return "minified"
    return ""


def _facts(path: str, data: bytes, mtime_ns: int, language: str, lines: int, how: str) -> FileFacts:
    digest = hashlib.sha256(data).hexdigest()
    return FileFacts(path=path, size=len(data), mtime_ns=mtime_ns, sha256=digest, language=language, lines=lines, parse=how)


def _bare(path: str, data: bytes, mtime_ns: int, language: str, reason: str) -> Parsed:
    """A file that is known but not read."""
    lines = 0 if reason == "binary" else data.count(b"\n") + (not data.endswith(b"\n"))
    node = Node(
        id=f"file::{path}",
        label=path.rsplit("/", 1)[-1],
        kind="file",
        path=path,
        line_start=1,
        line_end=max(1, lines),
        tags=(language,),
        last_modified=mtime_ns / 1e9,
    )
    facts = _facts(path, data, mtime_ns, language, lines, "skipped")
    return Parsed(facts=facts, nodes=(node,), edges=(), names=code_words(path), warnings=(reason,))
