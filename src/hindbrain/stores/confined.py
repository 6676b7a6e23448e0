"""Confined: a program by itself that starts one command, keeps its writes inside of given directories where the kernel has
Landlock, and ends all that the command left running. Started by path, it imports nothing of ours: no thread is beside it."""

import ctypes
import errno
import json
import os
import resource
import signal
import stat
import sys
import time
from types import FrameType
from typing import Any

__all__ = ["landlock_version", "main"]

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every machine
_NO_NEW_PRIVS, _SUBREAPER, _PDEATHSIG = 38, 36, 1
_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_MAKING = sum(1 << bit for bit in range(4, 13))  # removing and making entries of every kind
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_CONNECT = 1 << 1
_SCOPED = 3  # sockets without a file, and signals, to whom is outside
_LOOKING = _EXECUTE | _READ | _READ_DIR
_OF_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")
_NOT_APPLIED = 125
_LARGEST_FILE = 1 << 30
_CLEANING_S = 5.0


def _kernel() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """Which rules the kernel knows; 0 without any."""
    if not sys.platform.startswith("linux"):
        return 0
    found = int(_kernel().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)))
    return max(found, 0)


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _confine(spec: dict[str, Any]) -> None:
    """Reading everywhere but in hidden places, writing only in the given ones, no signal to anybody else."""
    version, kernel = landlock_version(), _kernel()
    writing = _WRITE | _MAKING | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    rules = _Ruleset(fs=writing | _LOOKING, net=0, scoped=_SCOPED if version >= 6 else 0)
    if version >= 4 and not spec["connect"]:
        rules.net = _CONNECT
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    handle = kernel.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint(0))
    if handle < 0:
        raise OSError(ctypes.get_errno(), "no rules could be made")
    for place in _open_places("/", tuple(spec["hidden"])):
        _allow(kernel, handle, place, _LOOKING)
    for place in spec["write"]:
        _allow(kernel, handle, place, writing | _LOOKING)
    for place in _DEVICES:
        _allow(kernel, handle, place, _WRITE | _READ)
    if kernel.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or kernel.syscall(_RESTRICT, ctypes.c_int(handle), ctypes.c_uint(0)):
        raise OSError(ctypes.get_errno(), "the rules could not be put in force")
    os.close(handle)


def _open_places(place: str, hidden: tuple[str, ...]) -> list[str]:
    """What may be read: a directory as a whole, or, where something is hidden in it, each other entry."""
    if place in hidden:
        return []
    inside = tuple(one for one in hidden if one.startswith(place.rstrip("/") + "/"))
    if not inside:
        return [place]
    try:
        names = os.listdir(place)
    except OSError:
        return []
    found = []
    for name in names:
        full = os.path.join(place, name)
        if not os.path.islink(full):  # where it leads to is allowed, or not, under its own name
            found += _open_places(full, inside)
    return found


def _allow(kernel: ctypes.CDLL, rules: int, place: str, access: int) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # gone, or nobody's to read: without a rule it stays closed
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            access &= _OF_FILE
        rule = _Beneath(allowed=access, parent=handle)
        if kernel.syscall(_ADD, ctypes.c_int(rules), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint(0)):
            code = ctypes.get_errno()
            if code not in (errno.EBADFD, errno.EOPNOTSUPP, errno.EINVAL):
                raise OSError(code, "a rule could not be added")
    finally:
        os.close(handle)


def _children() -> list[int]:
    me, found = os.getpid(), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if parent == me:
                found.append(int(name))
    return found


def _clean_up() -> None:
    """End whatever the command left. Orphans come to us, so the whole tree is ours in the end."""
    ends = time.monotonic() + _CLEANING_S
    while time.monotonic() < ends:
        for child in _children():
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.005)


class _Ended(Exception):
    """We were told to end."""


def _told(_signal: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Ended


def main(given: str) -> int:
    """Run the command of a description; its exit status."""
    spec = json.loads(given)
    kernel = _kernel()
    kernel.prctl(_SUBREAPER, 1, 0, 0, 0)
    kernel.prctl(_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    status = 128 + signal.SIGKILL
    try:
        signal.signal(signal.SIGTERM, _told)
        child = os.fork()
        if child == 0:
            _become(spec, kernel)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except _Ended:
        status = 128 + signal.SIGTERM
    _clean_up()
    return 128 - status if status < 0 else status


def _become(spec: dict[str, Any], kernel: ctypes.CDLL) -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        kernel.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
        if spec["confine"]:
            _confine(spec)
        os.execv("/bin/sh", ["sh", "-c", spec["command"]])  # noqa: S606 - its whole purpose
    except OSError as wrong:
        os.write(2, f"hindbrain: not started, because it could not be contained: {wrong}\n".encode())
    os._exit(_NOT_APPLIED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
