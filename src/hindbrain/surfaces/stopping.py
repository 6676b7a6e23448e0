"""Ending the owner of a home: asked over HTTP, by a signal when it does not answer, and waited for."""

import os
import signal
import time

from hindbrain.domain.errors import OwnerUnreachable
from hindbrain.surfaces.client import OwnerAddress, OwnerGone, answer_of, read_owner, read_token, request

__all__ = ["stop_owner"]

_ASK_S = 5.0
_STOP_S = 15.0  # the owner itself gives its running calls ten seconds
_PAUSE_S = 0.02


def stop_owner(home: str) -> OwnerAddress | None:
    """The owner that was up and is over now; None when there was none."""
    address = read_owner(home)
    if address is None or not _asked(home, address):
        return None
    deadline = time.monotonic() + _STOP_S
    while _running(address) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
    if _running(address):
        raise OwnerUnreachable(
            f"the owner (process {address.pid}) did not end within {_STOP_S:g} s",
            fix="look at owner.log in the home, then try again",
        )
    return address


def _asked(home: str, address: OwnerAddress) -> bool:
    """Ask over HTTP, and by signal if it does not answer; False when there is nobody to ask."""
    try:
        if answer_of(request(address, read_token(home), "POST", "/api/stop", {}, b"", _ASK_S).body)["ok"]:
            return True
    except OwnerGone:
        pass  # stuck, or gone: the kernel says which
    # The lock on the owner file shows that the process which it names is the owner, and no stranger with its number.
    living = read_owner(home)
    if living is None or living.pid != address.pid:
        return False
    os.kill(address.pid, signal.SIGTERM)
    return True


def _running(address: OwnerAddress) -> bool:
    try:
        os.kill(address.pid, 0)
        with open(f"/proc/{address.pid}/stat", "rb") as file:
            # A process whose parent has not looked at its end yet (a container without an init) is over all the same.
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's process, or a system without /proc
