"""Disk errors: what the file system refused, as an answer with the path and a way out."""

import errno
import posixpath
import shlex

from hindbrain.domain.errors import StoreUnavailable

__all__ = ["disk_error"]

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DENIED = (errno.EACCES, errno.EPERM)
_IN_THE_WAY = (errno.EEXIST, errno.ENOTDIR)


def disk_error(failure: OSError) -> StoreUnavailable:
    """Return the error of a call that the file system refused."""
    path = failure.filename if isinstance(failure.filename, str) else None
    reason = failure.strerror or str(failure)
    if path is None:
        return StoreUnavailable(f"the disk refused: {reason}", fix="hindbrain doctor", path=None)
    return StoreUnavailable(f"the disk refused {path}: {reason}", fix=_fix(failure.errno, path), path=path)


def _fix(number: int | None, path: str) -> str:
    parent = shlex.quote(posixpath.dirname(path) or ".")
    if number in _FULL:
        return f"free some room on the disk of {parent}; df {parent} shows it"
    if number in _DENIED:
        return f"if {parent} is yours, run: chmod u+rwx {parent}; else ask its owner, whom ls -ld {parent} shows"
    if number == errno.EROFS:
        return f"{parent} is on a read-only file system: use a directory that can be written"
    if number in _IN_THE_WAY:
        return f"move the file at {shlex.quote(path)} away: a directory must be there"
    return "hindbrain doctor"
