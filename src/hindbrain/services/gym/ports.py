"""Ports of the gym: a session of Hindbrain on a home of the lane's own, given by the composition root."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

__all__ = ["LaneSession", "Opener"]


class LaneSession(Protocol):
    """One agent's session. Errors come as answers."""

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]: ...

    def close(self) -> None: ...


Opener = Callable[[Path, Path, str], LaneSession]  # home, root, agent
