"""Hindbrain: shared memory and mission control for coding agents."""

TYPE_CHECKING = False  # a type checker sees it as true; nobody pays for importing typing

if TYPE_CHECKING:
    from hindbrain.app import open as open  # noqa: A004 - the public name is the verb

__all__ = ["__version__", "open"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # Hooks and the thin client import this package on every prompt: nothing heavy is loaded before it is asked for.
    if name == "open":
        from hindbrain.app import open as open_session

        return open_session
    raise AttributeError(name)
