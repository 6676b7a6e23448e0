"""Progress of a long call, drawn on stderr. The only part of the command line that needs a drawing library."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hindbrain.surfaces.client import CALL_S, OwnerAddress, OwnerGone, Who, answer_of, operation_request, stream
from hindbrain.surfaces.render import clean

__all__ = ["bar", "by_owner", "events"]

Advance = Callable[[int, int, str], None]


@contextmanager
def bar(title: str) -> Iterator[Advance]:
    """A bar that is gone when the work is done; the function moves it."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[steps]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(title, total=None, steps="")

        def advance(done: int, total: int, text: str) -> None:
            steps = f"{done}/{total}" if total else ""  # before the work is counted there is nothing to tell
            drawn.update(task, completed=done, total=total or None, description=clean(text) or title, steps=steps)

        yield advance


def by_owner(address: OwnerAddress, token: str, operation: str, arguments: Mapping[str, Any], who: Who) -> dict[str, Any]:
    """One call with its progress, as the owner streams it."""
    path, headers, body = operation_request(operation, arguments, who, "text/event-stream")
    status, found, pieces = stream(address, token, "POST", path, headers, body, CALL_S)
    if not found.get("content-type", "").startswith("text/event-stream"):
        return answer_of(b"".join(pieces))
    with bar(operation) as advance:
        for event, data in events(pieces):
            if event == "answer":
                return answer_of(data)
            if event == "progress":
                step = json.loads(data)
                advance(int(step["done"]), int(step["total"]), str(step["text"]))
    raise OwnerGone(f"the owner ended the stream without an answer (HTTP {status})", sent=True)


def events(pieces: Iterator[bytes]) -> Iterator[tuple[str, bytes]]:
    """Server-sent events: the name and the data of each."""
    waiting = b""
    for piece in pieces:
        waiting += piece
        while b"\n\n" in waiting:
            frame, waiting = waiting.split(b"\n\n", 1)
            fields = [line.partition(b":") for line in frame.replace(b"\r", b"").split(b"\n")]
            name = b"".join(value.strip() for key, _, value in fields if key == b"event")
            data = b"\n".join(value.removeprefix(b" ") for key, _, value in fields if key == b"data")
            if data:
                yield name.decode("ascii", "replace"), data
