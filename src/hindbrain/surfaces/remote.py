"""A session served by the owner: the same calls as an embedded one, over HTTP."""

from collections.abc import Callable
from typing import Any, Protocol

from hindbrain import __version__
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import OwnerRunning, OwnerUnreachable
from hindbrain.surfaces.client import OwnerAddress, OwnerGone, Who, call, ensure_owner, find_owner, read_token, same_line

__all__ = ["RemoteSession", "Session", "other_release", "unreachable"]


class Session(Protocol):
    """What `hindbrain.open` gives: the same whether the owner answers or this process does."""

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]: ...

    def close(self) -> None: ...

    def __enter__(self) -> "Session": ...

    def __exit__(self, *exc: object) -> None: ...


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
    """Calls of one caller to the owner of one home, whichever process that is at the moment of a call."""

    def __init__(
        self, home: str, address: OwnerAddress, caller: Caller, *, start: bool, alone: Callable[[], Session] | None = None
    ) -> None:
        self._home = home
        self._address = address
        self._start = start
        self._alone = alone
        self._embedded: Session | None = None
        self._human = caller.channel is Channel.HUMAN
        self._who = Who(caller.root, caller.agent, caller.session, caller.root_source.value)

    @classmethod
    def open(
        cls, home: str, caller: Caller, *, start: bool, alone: Callable[[], Session] | None = None
    ) -> "RemoteSession | None":
        """A session if an owner answers or may be started; None otherwise. `alone` answers when no owner is up any more."""
        try:
            address = ensure_owner(home) if start else find_owner(home)
        except OwnerGone as gone:
            raise unreachable(gone) from gone
        if address is None:
            return None
        if not same_line(address.version):
            raise other_release(address)
        return cls(home, address, caller, start=start, alone=alone)

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            return self._call(operation, arguments)
        except OwnerGone as gone:
            if gone.sent or self._alone is None:
                return unreachable(gone).answer()
        # The owner ended and has no successor. Nothing was sent, and this process may do the work as well.
        if self._embedded is None:
            self._embedded = self._alone()
        return self._embedded.call(operation, **arguments)

    def _call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._asked(operation, arguments)
        except OwnerGone as gone:
            # An idle owner ends itself. A call that never reached it is safe to repeat with its successor.
            successor = None if gone.sent else ensure_owner(self._home) if self._start else find_owner(self._home)
            if successor is None or not same_line(successor.version):
                raise
            self._address = successor
            return self._asked(operation, arguments)

    def _asked(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return call(self._address, read_token(self._home, human=self._human), operation, arguments, self._who)

    def close(self) -> None:
        """Close what was opened when no owner was up; to an owner nothing is held between calls."""
        if self._embedded is not None:
            self._embedded.close()

    def __enter__(self) -> "RemoteSession":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
