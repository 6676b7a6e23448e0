"""Files under an open directory: read, written whole and renamed by their last name, through no link and over nothing unseen."""

import errno
import os
import secrets
import stat
from contextlib import suppress

from hindbrain.domain.errors import PathRefused

__all__ = ["content_of", "facts_of", "placed", "renamed", "shown", "told"]

_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def shown(name: str) -> str:
    """A name as it can be printed: one line, nothing that steers a terminal, no broken bytes."""
    plain = name.encode("utf-8", "backslashreplace").decode()
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in plain)


def told(wrong: OSError, path: str) -> PathRefused:
    """An error of the system, in words; a link on the way looks to it like a file that is no directory."""
    said = {
        errno.ENOENT: "no such file or directory",
        errno.ELOOP: "a link, which is not followed",
        errno.ENOTDIR: "not a directory, or a link, which is not followed",
        errno.EACCES: "permission denied",
        errno.EEXIST: "it is there already",
        errno.ENAMETOOLONG: "the name is too long",
    }.get(wrong.errno or 0, os.strerror(wrong.errno or errno.EIO).lower())
    name = wrong.filename if isinstance(wrong.filename, str) else path
    return PathRefused(f"{shown(name or path)[:200]}: {said}", fix="look for its name first")


def facts_of(name: str, parent: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def content_of(name: str, parent: int, most: int) -> bytes:
    handle = os.open(name, _FILE, dir_fd=parent)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise PathRefused(f"{shown(name)[:200]} is no regular file", fix="choose another one")
        if facts.st_size > most:
            raise PathRefused(
                f"{shown(name)[:200]} has {facts.st_size} bytes; at most {most} are read", fix="read a smaller file"
            )
        parts, size = [], 0
        while size <= most and (part := os.read(handle, 1 << 20)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)[:most]
    finally:
        os.close(handle)


def renamed(name: str, source: int, to: str, goal: int) -> None:
    """Another name for a file. The new one must be free; where a file can have one name only, that is looked up before."""
    try:
        os.link(name, to, src_dir_fd=source, dst_dir_fd=goal, follow_symlinks=False)
    except PermissionError:
        if facts_of(to, goal) is not None:
            raise
        os.rename(name, to, src_dir_fd=source, dst_dir_fd=goal)
        return
    os.unlink(name, dir_fd=source)


def placed(name: str, parent: int, raw: bytes, before: os.stat_result | None, *, mode: int | None = None) -> None:
    """A whole file under its name, with the mode of the one before unless another is given. One that was not there is linked in,
    which fails when the name was taken meanwhile."""
    temporary = f".{secrets.token_hex(8)}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            if mode is not None:
                os.fchmod(file.fileno(), mode & 0o777)
            elif before is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode) & 0o777)
        if before is None:
            renamed(temporary, parent, name, parent)
        else:
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        raise
