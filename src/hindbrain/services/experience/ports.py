"""What experience is given: a way to write without waiting. The journal of a brain is one; `Direct` writes where it stands."""

from typing import Protocol

from hindbrain.stores.port import BrainStore, Writer

__all__ = ["Deposits", "Direct", "Durable", "Write"]


class Write(Protocol):
    """One thing to write. It may run more than once: a transaction that fails is begun anew."""

    def __call__(self, writer: Writer, /) -> object: ...


class Durable(Protocol):
    """What became of a write."""

    def wait(self, timeout_s: float | None = None) -> bool:
        """True once it is durable."""
        ...


class Deposits(Protocol):
    """A queue of writes. Only what is droppable may be dropped, and every drop is counted."""

    @property
    def dropped(self) -> int: ...

    def put(self, write: Write, *, droppable: bool = False) -> Durable: ...

    def drain(self, timeout_s: float | None = None) -> bool: ...

    def close(self, timeout_s: float = 30.0) -> bool: ...


class _Done:
    def wait(self, timeout_s: float | None = None) -> bool:
        return True


class Direct:
    """Writes at once, in a transaction of its own: for what a person asks for and waits for."""

    def __init__(self, store: BrainStore) -> None:
        self._store = store

    @property
    def dropped(self) -> int:
        return 0

    def put(self, write: Write, *, droppable: bool = False) -> Durable:
        with self._store.writing() as writer:
            write(writer)
        return _Done()

    def drain(self, timeout_s: float | None = None) -> bool:
        return True

    def close(self, timeout_s: float = 30.0) -> bool:
        return True
