"""Identity of a repository: what stays the same in every clone and worktree, and where its branch stands. Asks git only."""

import re
from functools import lru_cache
from urllib.parse import urlsplit

from hindbrain.stores.git import asked
from hindbrain.stores.repository import repository_of

__all__ = ["branch_head", "identity_of", "remote_name"]

_SECONDS = 5.0  # of a history so long that it is not worth waiting for: the path names it then
_SCP = re.compile(r"(?:[^@/\s]+@)?([\w.-]+):(?!//)([^\s]+)")
_DRIVE = 1  # a host of one letter is a drive


def identity_of(path: str) -> str:
    """The first commit and the name of the remote; without a commit, the path. `path` is canonical."""
    repository = repository_of(path)
    head = _line(repository.worktree, "rev-parse", "-q", "--verify", "HEAD") if repository.git else None
    first = _first_commit(repository.worktree, head) if head else None
    if first is None:
        return f"path:{repository.worktree}"
    name = remote_name(_line(repository.worktree, "config", "--get", "remote.origin.url") or "")
    return f"git:{first}+{name}" if name else f"git:{first}"


def branch_head(path: str) -> str | None:
    """Branch and commit of a checkout as `branch@commit`; `@commit` when it stands on none."""
    if not repository_of(path).git:
        return None
    said = asked(path, "rev-parse", "HEAD", "--abbrev-ref", "HEAD", seconds=_SECONDS)
    lines = (said or b"").decode("utf-8", "replace").split()
    if len(lines) != 2:
        return None
    return f"@{lines[0]}" if lines[1] == "HEAD" else f"{lines[1]}@{lines[0]}"


def remote_name(url: str) -> str:
    """A remote as host and path, however it is written; empty for a directory of this machine, which names nothing elsewhere."""
    url = url.strip()
    if "://" in url:
        parts = urlsplit(url)
        host, path = (parts.hostname or "").lower(), parts.path
    elif found := _SCP.fullmatch(url):
        host, path = found[1].lower(), found[2]
    else:
        return ""
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}" if len(host) > _DRIVE and path else ""


@lru_cache(maxsize=256)
def _first_commit(worktree: str, head: str) -> str | None:
    """The oldest commit without a parent. `head` is here for the cache: another one may have another history."""
    said = asked(worktree, "rev-list", "--max-parents=0", head, seconds=_SECONDS)
    lines = (said or b"").decode("ascii", "replace").split()
    return lines[-1] if lines else None


def _line(root: str, *words: str) -> str | None:
    said = asked(root, *words, seconds=_SECONDS)
    return said.decode("utf-8", "replace").strip() or None if said is not None else None
