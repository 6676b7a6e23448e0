"""JSON paths: one value of a structured text, by names and positions: `$.runs[0].name`. No filters, no wildcards."""

from typing import Any

import regex  # type: ignore[import-untyped]  # it comes without types

__all__ = ["PathWrong", "value_at"]

_STEP = regex.compile(r"""\.(?P<name>[^.\[\]]+)|\[(?P<at>-?\d+)\]|\[(?P<quote>["'])(?P<quoted>.*?)(?P=quote)\]""")


class PathWrong(ValueError):
    """The path cannot be read."""


def value_at(value: Any, path: str) -> tuple[Any, ...]:
    """The value there, alone in a tuple; an empty one when there is none. Raises PathWrong."""
    rest = path.strip()
    rest = rest[1:] if rest.startswith("$") else f".{rest}"
    while rest:
        step = _STEP.match(rest)
        if step is None:
            raise PathWrong(f"{path!r} is no path into JSON")
        rest = rest[step.end() :]
        if step["at"] is not None:
            at = int(step["at"])
            if not isinstance(value, list) or not -len(value) <= at < len(value):
                return ()
            value = value[at]
        else:
            name = step["name"] if step["name"] is not None else step["quoted"]
            if not isinstance(value, dict) or name not in value:
                return ()
            value = value[name]
    return (value,)
