"""What both wire formats share: JSON that has to be an object, events of a stream, counts that may be anything."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from hindbrain.providers.port import ProviderFailed

__all__ = ["count", "events", "member", "value_of"]


def value_of(raw: bytes | str) -> dict[str, Any]:
    """The JSON object in an answer."""
    if not raw.strip():
        raise ProviderFailed("empty", "the answer is empty")
    try:
        found = json.loads(raw.decode("utf-8") if isinstance(raw, bytes) else raw)
    except UnicodeDecodeError:
        raise ProviderFailed("broken", "the answer is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ProviderFailed("broken", "the answer is no complete JSON") from None
    if not isinstance(found, dict):
        raise ProviderFailed("broken", "the answer is no JSON object")
    return found


def member(value: object, *path: str | int) -> Any:
    """What stands at a place in a JSON value; None where there is nothing."""
    for step in path:
        if isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        elif isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


def count(value: object) -> int:
    """A number of tokens; 0 for whatever is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each event of a stream, as the events end."""
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield "\n".join(data)
            data = []
        elif line.startswith(b"data:"):
            try:
                data.append(line[5:].removeprefix(b" ").decode("utf-8"))
            except UnicodeDecodeError:
                raise ProviderFailed("broken", "the stream is not UTF-8") from None


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            yield b"".join([*waiting, piece]).rstrip(b"\r")
            waiting = []
        waiting.append(rest)
    if any(waiting):
        yield b"".join(waiting).rstrip(b"\r")
        yield b""  # a last event whose blank line never came is judged by what it says
