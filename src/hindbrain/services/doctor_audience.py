"""What the doctor shows of other brains: a caller that may not read them gets the kind and the number of their problems."""

from collections.abc import Iterable
from typing import Any

from hindbrain.services.doctor_sections import warning

__all__ = ["counted_by_kind", "shown_warnings", "unreachable"]


def shown_warnings(warnings: Iterable[dict[str, Any]], own: frozenset[str]) -> list[dict[str, Any]]:
    """Return the warnings of these brains and of the machine as they are, and of other brains their numbers.

    Texts about another brain hold labels, file names, agents and ids of it."""
    found = list(warnings)
    mine = [one for one in found if one.get("brain") is None or one["brain"] in own]
    return [*mine, *counted_by_kind(one for one in found if one.get("brain") is not None and one["brain"] not in own)]


def counted_by_kind(warnings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one warning for each brain, level and kind, with how many there are."""
    numbers: dict[tuple[str, str, str], int] = {}
    for one in warnings:
        key = (one["brain"], one["level"], one["kind"])
        numbers[key] = numbers.get(key, 0) + 1
    return [
        {
            **warning(level, kind, f"{brain}: {number} of this kind", "look at it in that repository: hindbrain doctor"),
            "brain": brain,
        }
        for (brain, level, kind), number in numbers.items()
    ]


def unreachable(row: dict[str, Any]) -> dict[str, Any]:
    """Why a brain of somebody else cannot be opened is not told: the reason may name its files."""
    return {"unreachable": "it cannot be opened"} if "unreachable" in row else {}
