"""Mission exports as files: `mission export --out FILE`. The file is written here, by whoever typed it, with exactly the bytes
that a mission keeps: a packet in its canonical form, events and flight records one a line."""

from __future__ import annotations

import os

from hindbrain.surfaces import cli, output
from hindbrain.surfaces.arguments import Usage

# As in exchange.py: the typing module is too dear for a thin call.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hindbrain.surfaces.manifest import Command

__all__ = ["go", "taken"]


def taken(words: list[str]) -> tuple[str | None, list[str]]:
    """The file that is named by --out, and the other words."""
    for place, word in enumerate(words):
        if word == "--out":
            if place + 1 == len(words):
                raise Usage("--out needs the name of a file", "give one: --out proof.json")
            return words[place + 1], [*words[:place], *words[place + 2 :]]
        if word.startswith("--out="):
            return word.removeprefix("--out="), [*words[:place], *words[place + 1 :]]
    return None, words


def go(op: Command, read: dict[str, Any], given: dict[str, Any], out: str) -> int:
    """Export into a file that is not there yet."""
    answer = cli.answered(op, read, given)
    if not answer["ok"]:
        return output.present(answer, given)
    from hindbrain.engines.mission_chain import written

    raw = written(answer["format"], answer["data"])
    path = os.path.abspath(os.path.expanduser(out))
    try:
        with open(path, "xb") as file:
            file.write(raw)
    except OSError as failure:
        told = {"code": "path_refused", "message": f"{path} cannot be written: {failure.strerror}", "fix": "name a new file"}
        return output.present({"ok": False, "error": told}, given)
    kept = {name: answer[name] for name in ("ok", "schema", "mission_id", "format")}
    return output.present({**kept, "file": path, "bytes": len(raw), "rendered": f"{answer['format']}: {path}"}, given)
