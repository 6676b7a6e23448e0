"""A mount and a network namespace for programs that attack: only one directory can be written, only loopback exists."""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

__all__ = ["confine"]

_NEW_MOUNTS, _NEW_NETWORK = 0x00020000, 0x40000000
_SET_FLAGS, _GET_FLAGS, _UP = 0x8914, 0x8913, 0x1


def confine(place: Path) -> bool:
    """Make everything but `place` read-only for this process and its children, and leave them only loopback.

    Returns False where the user may not do that. Attacks that could write elsewhere are then left out."""
    if sys.platform != "linux" or os.getuid() != 0:
        return False
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS | _NEW_NETWORK) != 0:
        return False
    inside = os.path.realpath(place)
    try:
        _mount("--make-rprivate", "/")
        _mount("--bind", inside, inside)
        for point in _mount_points():
            if point != inside and not point.startswith(("/proc", "/dev/pts")):
                # A mount point that another one hides cannot be reached, so it needs no change.
                with contextlib.suppress(subprocess.CalledProcessError):
                    _mount("-o", "remount,bind,ro", point)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            name = b"lo".ljust(16, b"\0")
            found = fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack("16sh22x", name[:16], 0))
            flags = struct.unpack("16sh22x", found)[1] | _UP
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", name[:16], flags))
    except (OSError, subprocess.CalledProcessError) as failed:
        raise RuntimeError(f"the namespace is only half made: {failed}") from failed
    return _is_confined(inside)


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def _mount_points() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split()[4].encode().decode("unicode_escape") for line in lines))


def _is_confined(inside: str) -> bool:
    probe = os.path.join(os.path.dirname(inside), f".probe-{os.getpid()}")
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
    except OSError:
        return True
    os.unlink(probe)
    return False
