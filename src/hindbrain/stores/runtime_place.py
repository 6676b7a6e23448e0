"""The place of a runtime directory: what agents and hooks left for a checkout belongs to that checkout, not to its path."""

import json
import os
import secrets
from pathlib import Path

from hindbrain.domain.brain import fingerprint
from hindbrain.stores.atomic import write_whole
from hindbrain.stores.births import birth_of
from hindbrain.stores.home import Home
from hindbrain.stores.repository import git_directory

__all__ = ["keep_runtime_place", "settle_runtime"]


def settle_runtime(home: Home, root: str) -> None:
    """Set aside what was left at a root for another directory or repository there: bus, hooks and inboxes of a pair."""
    name = fingerprint(root)
    left = [path for path in (home.runtime / name, *home.pair_dir.glob(f"*/{name}.jsonl")) if path.exists()]
    if not left or not os.path.isdir(root):
        return
    now, before = _place(root), _kept(home, root)
    if before is not None and not _same(before, now):
        for path in left:
            os.rename(path, path.with_name(f".{path.name}.{secrets.token_hex(4)}"))
    keep_runtime_place(home, root)


def keep_runtime_place(home: Home, root: str) -> None:
    """Record for which directory and repository something is left at a root."""
    now = _place(root)
    if _kept(home, root) != now:
        home.make(home.checkouts_dir)
        write_whole(_file(home, root), json.dumps(now) + "\n")


def _place(root: str) -> list[list[int] | None]:
    git = git_directory(root)
    return [_listed(birth_of(root)), _listed(birth_of(git)) if git is not None else None]


def _listed(birth: tuple[int, int] | None) -> list[int] | None:
    return list(birth) if birth is not None else None


def _same(before: list[list[int] | None], now: list[list[int] | None]) -> bool:
    """The same directory, with the same repository in it: `git init` in it, or the removal of `.git`, leaves it the same."""
    return before[0] == now[0] and (before[1] == now[1] or None in (before[1], now[1]))


def _kept(home: Home, root: str) -> list[list[int] | None] | None:
    try:
        found = json.loads(_file(home, root).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, list) and len(found) == 2 else None


def _file(home: Home, root: str) -> Path:
    return home.checkouts_dir / f"{fingerprint(root)}.json"
