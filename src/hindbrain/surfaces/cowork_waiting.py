"""Waiting for mail on the command line: `cowork wait --drain` takes what came as soon as it came."""

from __future__ import annotations

from hindbrain.surfaces import cli, output

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["go", "taken"]

_FLAG = "--drain"


def taken(words: list[str]) -> tuple[bool, list[str]]:
    """Whether it shall be drained, and the other words."""
    return _FLAG in words, [word for word in words if word != _FLAG]


def go(op: Command, drain: Command, read: dict[str, Any], given: dict[str, Any]) -> int:
    """Wait, then drain if something came. Nothing that came is lost: what the wait saw still lies in the inbox."""
    answer = cli.answered(op, read, given)
    if answer.get("ok") and answer["arrived"]:
        kept: dict[str, Any] = {name: read[name] for name in read if name in drain["schema"]["properties"]}
        answer = cli.answered(drain, kept, given)
    return output.present(answer, given)
