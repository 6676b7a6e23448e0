"""Host writing: our entry put into the file of an agent host. The rest of the file means the same afterwards, or nothing
is written."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindbrain.domain.errors import InvalidState, PathRefused
from hindbrain.policy.hosts import SERVER, HostFile
from hindbrain.stores.atomic import write_text

__all__ = ["entered", "put"]


def entered(
    file: HostFile, path: Path, entry: Mapping[str, Any], *, name: str = SERVER, project: str | None = None
) -> tuple[str, dict[str, Any]]:
    """The text of a host's file with our entry in it, and the entry: what somebody added to it stays. Writes nothing."""
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    try:
        before = (json.loads(old) if file.form == "json" else tomllib.loads(old)) if old.strip() else {}
    except ValueError as broken:
        raise InvalidState(f"{path} cannot be read: {broken}", fix="put the file right by hand first") from broken
    servers = before.get(file.key, {}) if isinstance(before, dict) else None
    if not isinstance(servers, dict):
        raise InvalidState(f"{path} is not the file of a host: {file.key} is no table", fix="put the file right by hand first")
    own = before.get("projects")
    own = own.get(project) if isinstance(own, dict) else None
    if isinstance(own, dict) and isinstance(own.get(file.key), dict) and name in own[file.key]:
        raise InvalidState(f"{path} lists {name} for this project alone", fix="change it with the host's own command")
    made = _merged(servers.get(name), entry)
    after = {**before, file.key: {**servers, name: made}}
    text = json.dumps(after, indent=2, ensure_ascii=False) + "\n" if file.form == "json" else _toml(old, file.key, name, made)
    if (json.loads(text) if file.form == "json" else _read(text)) != after:
        raise InvalidState(f"{path} is written in a way that cannot be changed safely", fix="use hosts plan and edit it by hand")
    return text, made


def _merged(old: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Our entry over one that is there: its other settings and variables stay, and so do more words after `mcp`."""
    kept = old if isinstance(old, dict) else {}
    variables = kept.get("env") if isinstance(kept.get("env"), dict) else {}
    words = kept.get("args")
    same = isinstance(words, list) and words[:1] == list(entry["args"])[:1]
    return {**kept, **entry, "args": words if same else entry["args"], "env": {**(variables or {}), **entry["env"]}}


def _read(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _toml(old: str, key: str, name: str, entry: Mapping[str, Any]) -> str:
    """The old text without our tables, and our tables at its end."""
    ours = (f"[{key}.{name}]", f"[{key}.{name}.")
    kept, skipping = [], False
    for line in old.splitlines():
        bare = line.strip()
        if bare.startswith("["):
            skipping = bare.startswith(ours)
        if not skipping:
            kept.append(line)
    lines = [f"[{key}.{name}]"]
    lines += [f"{word} = {json.dumps(value)}" for word, value in entry.items() if not isinstance(value, dict)]
    if variables := entry.get("env"):
        lines += ["", f"[{key}.{name}.env]", *(f"{word} = {json.dumps(value)}" for word, value in variables.items())]
    head = "\n".join(kept).rstrip("\n")
    return (head + "\n\n" if head else "") + "\n".join(lines) + "\n"


def put(base: Path, path: Path, text: str) -> None:
    """Write a host's file, which must lie where the host looks for it and not behind a link."""
    if path.is_symlink() or not path.parent.resolve().is_relative_to(base.resolve()):
        raise PathRefused(f"{path} leads elsewhere", fix="edit the file that it leads to by hand; hosts plan has the entry")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text, mode=os.stat(path).st_mode & 0o777 if path.is_file() else 0o600)
