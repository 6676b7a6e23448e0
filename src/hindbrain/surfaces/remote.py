"""A session served by the owner: the same calls as an embedded one, over HTTP."""

from typing import Any

from hindbrain import __version__
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import OwnerRunning, OwnerUnreachable
from hindbrain.surfaces.client import OwnerAddress, OwnerGone, Who, call, ensure_owner, find_owner, read_token, same_line

__all__ = ["RemoteSession", "other_release", "unreachable"]


def unreachable(gone: OwnerGone) -> OwnerUnreachable:
    """No owner answered, as an error with the next safe step."""
    if gone.sent:
        return OwnerUnreachable(
            f"{gone}; the call may have been carried out or not",
            fix="look at the state first (hindbrain status, hindbrain north), then repeat the call if it is missing",
        )
    return OwnerUnreachable(str(gone), fix="run hindbrain status, or set HINDBRAIN_MODE=embedded to work without an owner")


def other_release(address: OwnerAddress) -> OwnerRunning:
    """An owner of another release line serves this home."""
    return OwnerRunning(
        f"the owner of this home is Hindbrain {address.version}, this is {__version__}",
        fix="run hindbrain stop; the next call starts an owner of this release",
    )


class RemoteSession:
    """Calls of one caller to the owner of one home."""

    def __init__(self, home: str, address: OwnerAddress, caller: Caller, *, start: bool) -> None:
        self._home = home
        self._address = address
        self._start = start
        self._human = caller.channel is Channel.HUMAN
        self._who = Who(caller.root, caller.agent, caller.session, caller.root_source.value)

    @classmethod
    def open(cls, home: str, caller: Caller, *, start: bool) -> "RemoteSession | None":
        """A session if an owner answers or may be started; None otherwise."""
        try:
            address = ensure_owner(home) if start else find_owner(home)
        except OwnerGone as gone:
            raise unreachable(gone) from gone
        if address is None:
            return None
        if not same_line(address.version):
            raise other_release(address)
        return cls(home, address, caller, start=start)

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            return self._call(operation, arguments)
        except OwnerGone as gone:
            return unreachable(gone).answer()

    def _call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        token = read_token(self._home, human=self._human)
        try:
            return call(self._address, token, operation, arguments, self._who)
        except OwnerGone as gone:
            # An idle owner ends itself. A call that never reached it is safe to repeat with its successor.
            if gone.sent or not self._start:
                raise
            self._address = ensure_owner(self._home)
            return call(self._address, token, operation, arguments, self._who)

    def close(self) -> None:
        """Nothing is held between calls."""

    def __enter__(self) -> "RemoteSession":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
