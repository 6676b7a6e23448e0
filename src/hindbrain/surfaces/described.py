"""Operations as the registry tells them, each only when it is asked for: a schema takes half a millisecond, a call needs one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hindbrain.operations import REGISTRY, describe

__all__ = ["Described", "every", "offered"]


class Described(Mapping[str, dict[str, Any]]):
    """Some operations of the registry, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = dict.fromkeys(names)
        self._told: dict[str, dict[str, Any]] = {}

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._told:
            self._told[name] = describe(REGISTRY[name])
        return self._told[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def every() -> Described:
    return Described(sorted(REGISTRY))


def offered() -> Described:
    """Those that the command line has."""
    return Described(name for name in sorted(REGISTRY) if "cli" not in REGISTRY[name].left_out)
