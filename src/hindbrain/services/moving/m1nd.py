"""m1nd: claims, keyed values and letters of its home, of one of its runtimes, or of a repository's own `.m1nd`. What its runtimes
hold outside of a project was read by every project and is shared."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hindbrain.domain.claim import parse
from hindbrain.domain.errors import HindbrainError, InvalidParams, PathRefused
from hindbrain.domain.letter import Links, letter_id
from hindbrain.domain.moving import Item, ItemKind, Unread
from hindbrain.domain.typed import decoded
from hindbrain.engines.letters import legacy_links
from hindbrain.engines.transcripts import time_of
from hindbrain.policy.limits import CLAIM_MAX_BYTES
from hindbrain.policy.moving import STATE_MAX_BYTES
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.stores.foreign_tree import files_under, read_within
from hindbrain.stores.letter_files import lines

__all__ = ["KIND", "M1ndHome"]

NAME = ".m1nd"
_CLAIMS, _BOOT, _BRAINS, _RUNTIMES = "agent-memory", "boot_memory_state.json", "project-brains", "runtimes"
_MANIFEST, _SPOOL, _BOX = "project_brain.json", "field-reports.jsonl", "inbox.jsonl"
_SUFFIX = ".light.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Store:
    """One directory with claims and keyed values; `root` is its project, None for what every project read."""

    path: Path
    name: str
    root: str | None


def _base(path: Path) -> Path:
    return path / NAME if (path / NAME).is_dir() else path


def _looks_like(path: Path) -> bool:
    base = _base(path)
    if not base.is_dir():
        return False
    known = ((base / _RUNTIMES), (base / _BRAINS), (base / _MANIFEST), (base / _SPOOL))
    return any(place.exists() for place in known) or (base.name == NAME and (base / _CLAIMS).is_dir())


class M1ndHome:
    """What m1nd kept at one place."""

    kind = "m1nd"
    version: str | int | None = None

    def __init__(self, base: Path) -> None:
        self._base = base
        self.id = hashlib.sha256(str(base).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._left: Counter[str] = Counter()
        self._stores = tuple(self._found())

    def _found(self) -> Iterator[_Store]:
        base = self._base
        at_home = any((base / name).exists() for name in (_RUNTIMES, _BRAINS, _SPOOL))
        if not at_home:
            yield _Store(path=base, name="", root=_root_of(base) or str(base.parent))
            return
        runtimes = [base] if (base / _CLAIMS).is_dir() or (base / _BRAINS).is_dir() or (base / _BOOT).is_file() else []
        runtimes += _directories(base / _RUNTIMES)
        for runtime in runtimes:
            prefix = f"{runtime.relative_to(base)}/" if runtime != base else ""
            yield _Store(path=runtime, name=prefix, root=None)
            for brain in _directories(runtime / _BRAINS):
                root = _root_of(brain)
                if root is None:
                    self._left["brains that do not say whose they are"] += 1
                else:
                    yield _Store(path=brain, name=f"{prefix}{_BRAINS}/{brain.name}/", root=root)

    def total(self) -> int:
        return sum(1 for store in self._stores for _ in files_under(store.path / _CLAIMS, _SUFFIX))

    def items(self) -> Iterator[Item | Unread]:
        self._left = Counter({name: number for name, number in self._left.items() if name.startswith("brains")})
        for store in self._stores:
            yield from self._claims(store)
            yield from self._boot(store)
        for name in (_SPOOL, _BOX):
            yield from self._letters(name)

    def left_out(self) -> Mapping[str, int]:
        return self._left

    def _claims(self, store: _Store) -> Iterator[Item | Unread]:
        for found in files_under(store.path / _CLAIMS, _SUFFIX):
            key = f"{store.name}{_CLAIMS}/{found.name}"
            if "/" in found.name or found.name.startswith("."):
                self._left["older versions"] += 1  # history, and what is no claim by its name
                continue
            try:
                text = read_within(found.path, CLAIM_MAX_BYTES).decode("utf-8")
            except UnicodeDecodeError:
                yield Unread(key=key, code=InvalidParams.code, reason="the file is not UTF-8")
                continue
            except HindbrainError as wrong:
                yield Unread(key=key, code=wrong.code, reason=wrong.message)
                continue
            slug = found.name.removesuffix(_SUFFIX)
            if not parse(text, fallback_label=slug).active:
                self._left["outdated claims"] += 1
                continue
            yield Item(
                kind=ItemKind.CLAIM, key=key, text=text, label=slug, light=True, root=store.root, shared=store.root is None
            )

    def _boot(self, store: _Store) -> Iterator[Item | Unread]:
        key = f"{store.name}{_BOOT}"
        if not (store.path / _BOOT).is_file():
            return
        try:
            entries = decoded(read_within(store.path / _BOOT, STATE_MAX_BYTES), _Boot).entries
        except (msgspec.DecodeError, RecursionError) as wrong:
            yield Unread(key=key, code=InvalidParams.code, reason=f"not a state of keyed values: {wrong}")
            return
        except HindbrainError as wrong:
            yield Unread(key=key, code=wrong.code, reason=wrong.message)
            return
        for name, entry in sorted(entries.items()):
            yield Item(
                kind=ItemKind.BOOT,
                key=f"{key}#{name}"[:2_000],
                label=name,
                value=entry.value,
                author=entry.updated_by_agent,
                at=time_of(entry.updated_at_ms),
                tags=tuple(entry.tags),
                refs=tuple(entry.source_refs),
                root=store.root,
                shared=store.root is None,
            )

    def _letters(self, name: str) -> Iterator[Item | Unread]:
        path = self._base / name
        if not path.exists():
            return
        try:
            links = legacy_links(lines(path)) if name == _SPOOL else Links()
            for number, raw in enumerate(lines(path), 1):
                key = f"{name}:{number}"
                if raw is None:
                    yield Unread(key=key, code=InvalidParams.code, reason="the line is too long for a letter")
                elif raw.strip():
                    own = letter_id(raw)
                    refs = (*links.answers.get(own, ()), *links.unresolved.get(own, ()))
                    yield Item(kind=ItemKind.LETTER, key=key, raw=raw, refs=refs, shared=True)
        except OSError as wrong:
            yield Unread(key=name, code=PathRefused.code, reason=str(wrong.strerror or wrong))


class _Entry(msgspec.Struct, kw_only=True):
    value: Any = None
    tags: list[str] = []
    source_refs: list[str] = []
    updated_at_ms: int = 0
    updated_by_agent: str = ""


class _Boot(msgspec.Struct, kw_only=True):
    entries: dict[str, _Entry] = {}


def _directories(path: Path) -> list[Path]:
    if path.is_symlink() or not path.is_dir():
        return []
    return sorted(one for one in path.iterdir() if one.is_dir() and not one.is_symlink() and not one.name.startswith("."))


def _root_of(brain: Path) -> str | None:
    """The project that a brain of m1nd says it belongs to."""
    try:
        found = msgspec.json.decode(read_within(brain / _MANIFEST, STATE_MAX_BYTES))
    except (HindbrainError, msgspec.DecodeError, RecursionError):
        return None
    root = found.get("project_root") if isinstance(found, dict) else None
    return root if isinstance(root, str) and root.startswith("/") else None


@contextmanager
def _opened(place: Place) -> Iterator[Source]:
    if not _looks_like(place.path):
        raise InvalidParams(
            f"{place.path.name[:120]!r} holds no memory of m1nd", fix="give ~/.m1nd, or a repository that has .m1nd"
        )
    yield M1ndHome(_base(place.path))


KIND = Kind(name="m1nd", looks_like=_looks_like, opened=_opened)
