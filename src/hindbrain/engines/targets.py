"""Targets: the one concrete input of a tool call, in the form in which it is blocked, compared and remembered."""

import posixpath
import re

__all__ = ["normalised_target", "parent_scope"]

_SPACES = re.compile(r"\s+")
_HOST = re.compile(r"://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)")
_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")


def normalised_target(target: str, workspace: str = "") -> str:
    """Without spare spaces; a path inside the workspace relative to it, and without detours."""
    text = _SPACES.sub(" ", target).strip()
    root = posixpath.normpath(workspace) if workspace else ""
    inside = bool(root) and f"{text}/".startswith(
        f"{root}/"
    )  # also where a directory above the workspace has a space in its name
    if not inside and not _is_path(text):
        return text
    plain = posixpath.normpath(text)
    return posixpath.relpath(plain, root) if inside else plain


def parent_scope(target: str) -> str | None:
    """What a target lies in: the domain of an address, the quoted words of a query, the directory of a path. None without one."""
    if host := _HOST.search(target):
        return host.group(1).lower() or None
    if quoted := _QUOTED.search(target):
        return quoted.group(1) or quoted.group(2)
    directory = posixpath.dirname(target) if _is_path(target) else ""
    return directory if directory.strip("/") else None


def _is_path(text: str) -> bool:
    """A path is one word with a slash. A command and a query have spaces, an address has its scheme."""
    return "/" in text and " " not in text and "://" not in text
