"""Identity of a repository: what stays the same in every clone and worktree, and by what this very one is known again."""

import hashlib
import json
import os
import re
import stat
import uuid
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from hindbrain.domain.repository_identity import Traits
from hindbrain.stores.births import birth_of
from hindbrain.stores.git import asked
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.repository import Names, git_directory, is_checkout, repository_of

__all__ = [
    "Signature",
    "branch_head",
    "carried_id",
    "carried_witness",
    "has_commit",
    "identity_of",
    "indexed_ns",
    "remote_name",
    "signature_of",
    "small_text",
    "traits_of",
]

Signature = tuple[int, ...]

_SECONDS = 5.0  # of a history so long that it is not worth waiting for: the path names it then
_SCP = re.compile(r"(?:[^@/\s]+@)?([\w.-]+):(?!//)([^\s]+)")
_SMALL_BYTES = 65_536  # of what a repository brings along beside its claims: an id, a witness, some names
_SAMPLED = 64  # files of a directory inside a repository that are compared
_MEMORY = os.fsencode(f"{REPO_DIR}/")
_FIRST_MOST = 64  # commits without a parent that are kept
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


# -- this very repository ------------------------------------------------------------------------------------------------------


def signature_of(root: str) -> Signature | None:
    """A few numbers of the file system that change when another repository is put at a path; None when no directory is there.

    Cheap: no file is read and no program started. The same signature is the same repository; another one has to be looked at.
    """
    try:
        place = os.stat(root)
    except OSError:
        return None
    if not stat.S_ISDIR(place.st_mode):
        return None
    git = os.path.join(root, ".git")
    if not os.path.isdir(git):
        found = git_directory(root) if is_checkout(root) else None
        if found is None:  # no git directory of its own dates it: its birth does
            return (*(birth_of(root) or ()), *_stamp(os.path.join(root, REPO_DIR, ".witness")))
        git = found
    return (
        place.st_ino,
        *_stamp(git)[:1],
        *_stamp(os.path.join(git, "config")),
        *_stamp(os.path.join(root, REPO_DIR, ".witness")),
    )


def traits_of(root: str, *, history: bool = True, files: Iterable[str] | None = None) -> Traits:
    """What is known of the repository in a directory. Without `history` git is not started.

    `files` names the files to look at in a directory inside a repository; a sample of those that git tracks when left out.
    """
    git = git_directory(root)
    inside = git is not None and not is_checkout(root)
    shallow = git is not None and os.path.exists(os.path.join(git, "shallow"))
    first: frozenset[str] = frozenset()
    if history and git is not None and not shallow:
        said = asked(root, "rev-list", "--max-parents=0", "HEAD", seconds=_SECONDS)
        first = frozenset((said or b"").decode("ascii", "replace").split()[-_FIRST_MOST:])
    return Traits(
        place=birth_of(root),
        git=birth_of(git) if git is not None else None,
        first=first,
        remote=_remote(root) if history and git is not None else "",
        brain_id=carried_id(root),
        witness=carried_witness(root),
        within=os.path.relpath(root, repository_of(root).worktree) if inside else "",
        files=_tracked(root, files) if history and inside else frozenset(),
    )


def has_commit(root: str) -> bool:
    """Whether the history of a repository has begun, read from its files; False where there is no git, or a shallow one."""
    git = git_directory(root)
    if git is None or os.path.exists(os.path.join(git, "shallow")):
        return False
    try:
        head = small_text(os.path.join(git, "HEAD")).strip()
    except (OSError, ValueError):
        return False
    name = head.removeprefix("ref:").strip()
    return not head.startswith("ref:") or any(os.path.exists(os.path.join(git, one)) for one in (name, "packed-refs"))


def indexed_ns(root: str) -> int:
    """When git last wrote the list of files of the repository around a directory; 0 without one."""
    git = git_directory(root)
    return _stamp(os.path.join(git, "index"))[1] if git is not None else 0


def carried_id(root: str) -> str | None:
    """The id that travels with the repository, if it carries one."""
    try:
        return str(uuid.UUID(json.loads(small_text(os.path.join(root, REPO_DIR, "brain.json")))["id"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def carried_witness(root: str) -> str | None:
    """The secret that this home left in the directory; git does not carry it."""
    try:
        return small_text(os.path.join(root, REPO_DIR, ".witness")).strip() or None
    except (OSError, ValueError):
        return None


def _remote(root: str) -> str:
    """Where the repository came from: `origin`, else the first remote that it names."""
    said = asked(root, "config", "--get-regexp", r"^remote\..*\.url$", seconds=_SECONDS)
    pairs = (line.partition(" ") for line in (said or b"").decode("utf-8", "replace").splitlines())
    urls = {name: url.strip() for name, _, url in pairs}
    url = urls.get("remote.origin.url") or next(iter(urls.values()), "")
    return remote_name(url) or url


def _tracked(root: str, names: Iterable[str] | None) -> frozenset[tuple[str, str]]:
    """Names and digests of files below a directory that the repository around it tracks: of those that are named, or of a sample.

    Empty files and the memory that travels with the directory are left out: other directories have the same.
    """
    said = asked(root, "ls-files", "-z", seconds=_SECONDS)
    listed = {os.fsdecode(name) for name in (said or b"").split(b"\x00") if name and not name.startswith(_MEMORY)}
    usable = Names(root)
    chosen = sorted(listed, key=_digest)[:_SAMPLED] if names is None else sorted(listed.intersection(names))
    found = ((name, _content(os.path.join(root, name))) for name in chosen if usable.why_not(name) is None)
    return frozenset((name, digest) for name, digest in found if digest is not None)


def _content(path: str) -> str | None:
    """The digest of a file's size and beginning; None for an empty file and for anything that is no file."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or not facts.st_size:
                return None
            return _digest(f"{facts.st_size}\n", file.read(_SMALL_BYTES))
    except (OSError, ValueError):
        return None


def _digest(text: str, more: bytes = b"") -> str:
    return hashlib.blake2b(os.fsencode(text) + more, digest_size=16).hexdigest()


def _stamp(path: str) -> tuple[int, int]:
    try:
        state = os.stat(path)
    except OSError:
        return 0, 0
    return state.st_ino, state.st_mtime_ns


def small_text(path: str | os.PathLike[str]) -> str:
    """The beginning of a file that a repository brought along. It may be a link to a device, or a pipe: neither is read."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read(_SMALL_BYTES).decode("utf-8")
