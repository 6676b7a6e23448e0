"""Repositories of fixtures: real git repositories with the same commits on every machine, and the digest of a tree."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hindbrain.domain.errors import InvalidParams, StoreUnavailable
from hindbrain.stores.git import change

__all__ = ["changed", "committed", "digest", "files", "listed"]

_SETTINGS = ("user.name=Gym", "user.email=gym@example.invalid")
# What git keeps for itself, and what tools leave behind when they only look.
_LEFT_OUT = frozenset({".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


def committed(root: Path, steps: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    """Make a repository with one commit per (message, files); the last commit's id."""
    root.mkdir(parents=True, exist_ok=True)
    _git(root, "init", "-q", "-b", "main")
    for number, (message, texts) in enumerate(steps):
        for path, text in texts.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "--allow-empty", "-m", message, day=number + 1)
    return _git(root, "rev-parse", "HEAD").strip()


def files(directory: Path) -> dict[str, str]:
    """The texts below a directory by relative path."""
    return {path: (directory / path).read_text(encoding="utf-8") for path in listed(directory)}


def listed(directory: Path) -> list[str]:
    """Relative paths of all files, in order."""
    return sorted(path.relative_to(directory).as_posix() for path in _walk(directory))


def digest(directory: Path) -> str:
    """One value for names and contents of all files below a directory."""
    whole = hashlib.sha256()
    for path in listed(directory):
        content = hashlib.sha256((directory / path).read_bytes()).hexdigest()
        whole.update(f"{path}\0{content}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def changed(before: Mapping[str, str], directory: Path) -> tuple[str, ...]:
    """Paths whose text is another one than before, was added or is gone."""
    now = files(directory)
    return tuple(sorted(path for path in {*before, *now} if before.get(path) != now.get(path)))


def _walk(directory: Path) -> Iterator[Path]:
    for place, names, found in os.walk(directory):
        names[:] = sorted(set(names) - _LEFT_OUT)
        yield from (Path(place, one) for one in found)


def _git(root: Path, *words: str, day: int = 1) -> str:
    when = f"2026-01-{day:02d}T00:00:00+00:00"
    done = change(str(root), *words, settings=_SETTINGS, environ={"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when})
    if done is None:
        raise InvalidParams("the gym needs git, and there is none", fix="install git, then run the gym again")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[:300]
        raise StoreUnavailable(f"git {words[0]} failed: {said}", fix="check the disk and git, then run the gym again")
    return done.stdout.decode("utf-8")
