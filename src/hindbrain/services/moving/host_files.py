"""Files of agent hosts as items: transcripts, memory files and instructions. What a host told a model is evidence of what was
said to it, never a claim of ours."""

import os
from collections.abc import Iterator
from pathlib import Path

from hindbrain.domain.errors import HindbrainError, PathRefused
from hindbrain.domain.evidence import Provenance
from hindbrain.domain.moving import Item, ItemKind, Unread
from hindbrain.policy.moving import INSTRUCTIONS_MAX_BYTES
from hindbrain.stores.foreign_tree import Found, files_under, text_within
from hindbrain.stores.host_transcripts import began_in

__all__ = ["instructions_of", "memories", "shared_text", "transcripts"]


def transcripts(
    top: Path, prefix: str, *, start: str = "", root: str | None = None, project: str = ""
) -> Iterator[Item | Unread]:
    """The sessions under a directory, each with the directory it began in. One that does not say belongs to `root`, or to
    `project` where that is unknown."""
    for found in files_under(top, ".jsonl"):
        key = f"{prefix}{found.name}"
        if not os.path.basename(found.name).startswith(start) and not found.link:
            continue
        if found.link:
            yield _link(key)
            continue
        said = began_in(found.path) or root
        yield Item(kind=ItemKind.FILE, key=key, path=found.path, root=said, project=project if said is None else None)


def memories(top: Path, prefix: str, kind: str, *, root: str | None, project: str | None) -> Iterator[Item | Unread]:
    """The notes that a host keeps for one project."""
    for found in files_under(top, ".md"):
        key = f"{prefix}{found.name}"
        if found.link:
            yield _link(key)
        else:
            yield _file(found, key, kind, "memory", root=root, project=project)


def instructions_of(root: str | None, names: tuple[str, ...], kind: str) -> Iterator[Item | Unread]:
    """The instruction files of the project that asks, as far as they are its own."""
    for name in names if root is not None else ():
        path = Path(str(root), name)
        if path.is_symlink():
            yield _link(f"project/{name}")
        elif path.is_file():
            yield Item(
                kind=ItemKind.FILE,
                key=f"project/{name}",
                path=str(path),
                wing=kind,
                room="instructions",
                tags=("instructions",),
                root=root,
            )


def shared_text(path: Path, key: str, room: str) -> Iterator[Item | Unread]:
    """A file that a host shows in every project: one observation for all of them."""
    if not path.exists() and not path.is_symlink():
        return
    try:
        text = text_within(path, INSTRUCTIONS_MAX_BYTES)
        at = path.stat().st_mtime_ns // 1_000_000
    except HindbrainError as wrong:
        yield Unread(key=key, code=wrong.code, reason=wrong.message)
        return
    if text.strip():
        yield Item(
            kind=ItemKind.EVIDENCE,
            key=key,
            text=text,
            at=at,
            tags=(room,),
            room=room,
            shared=True,
            provenance=Provenance.HUMAN,
        )


def _file(found: Found, key: str, kind: str, room: str, *, root: str | None, project: str | None) -> Item:
    return Item(kind=ItemKind.FILE, key=key, path=found.path, wing=kind, room=room, tags=(room,), root=root, project=project)


def _link(key: str) -> Unread:
    return Unread(key=key, code=PathRefused.code, reason="it is a link; links are not followed")
