"""Mentions: which file or definition a document means by a path or by a name in code style."""

import posixpath

from hindbrain.engines.code.scope import AMBIGUOUS
from hindbrain.engines.code.table import Table, parent_of

__all__ = ["mentioned"]

_SHORTEST = 3  # letters of a name that is looked for: `x` in a formula means no function


def mentioned(table: Table, path: str, name: str, qualifier: str) -> str:
    """The node that a document at `path` means. A qualifier with a slash at its end is a directory, so the name is a file."""
    if qualifier == "package:":
        return _package(table, name)
    if qualifier.endswith("/"):
        return _file(table, path, name, qualifier)
    if "." in name and not qualifier and (found := _file(table, path, name, "./")) and found is not AMBIGUOUS:
        return found
    if len(name) < _SHORTEST:
        return ""
    found_ids = table.named(name, "")
    if qualifier:
        last = qualifier.rsplit(".", 1)[-1]
        found_ids = [one for one in found_ids if _labelled(parent_of(one), last)] or found_ids
    if not found_ids:
        return ""
    return found_ids[0] if len(found_ids) == 1 else AMBIGUOUS


def _package(table: Table, name: str) -> str:
    """A package of this tree by its name: the file that stands for its directory."""
    last = name.rsplit("/", 1)[-1]
    for spelled in dict.fromkeys((last, last.replace("-", "_"))):
        found = [one for one in table.modules.standing_for(spelled) if "/tests/" not in f"/{one}"]
        if len(found) == 1:
            return f"file::{found[0]}"
    return ""


def _labelled(node_id: str, label: str) -> bool:
    last = node_id.rsplit("::", 1)[-1]
    return last == label or posixpath.basename(last).split(".", 1)[0] == label


def _file(table: Table, path: str, name: str, directory: str) -> str:
    """As written from the root, from the document, else the only file whose path ends so."""
    written = posixpath.normpath(posixpath.join(directory, name)).lstrip("/")
    for base in ("", posixpath.dirname(path)):
        candidate = posixpath.normpath(posixpath.join(base, written))
        if candidate in table.paths:
            return f"file::{candidate}"
    tail = "/" + written.lstrip("./")
    found = [one for one in table.modules.called(name) if ("/" + one).endswith(tail)]
    if not found:
        return ""
    return f"file::{found[0]}" if len(found) == 1 else AMBIGUOUS
