"""Restoring: an archive becomes the brain it was made of, in a brain that holds nothing. All of it or nothing, whoever is killed.

Rows come in one transaction; files are staged before it and put in place after it, by whoever opens the brain next if need be."""

import hashlib
import json
import logging
import os
import secrets
import shutil
import tarfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hindbrain.domain.archive import FORMAT, MANIFEST, Manifest
from hindbrain.domain.brain import MEDULLA, Brain, BrainId
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.claim import Claim
from hindbrain.domain.errors import HumanNeeded, InvalidParams, StoreNewer, StoreUnavailable
from hindbrain.domain.stored import stored_json
from hindbrain.domain.typed import decoded
from hindbrain.engines.archiving import Kind, Member, member_name, member_of
from hindbrain.policy.carrying import (
    ARCHIVE_MAX_BYTES,
    BIRTH_ACTS,
    FILE_ACT,
    LOCAL_META,
    MEMBERS_MOST,
    ORIGIN_KEY,
    PENDING_KEY,
    RESERVE_BYTES,
)
from hindbrain.policy.evidence import EXPORT_MAX_BYTES
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.exporting import carried_files, tables_of
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.restore_checks import (
    MERGE,
    check_chain,
    check_members,
    check_texts,
    learned_rows,
    needs_person,
    table_rows,
)
from hindbrain.stores.archive_file import check_place, opened_archive, unpack
from hindbrain.stores.atomic import sync_directory, write_bytes
from hindbrain.stores.directories import make_directory
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.locks import held, locked
from hindbrain.stores.table_port import LAYOUT

if TYPE_CHECKING:
    from hindbrain.stores.sqlite import SqliteStore

__all__ = ["Restoring", "manifest_of"]

LOG = logging.getLogger("hindbrain.restoring")

_STAGING = ".restore-"
_LOCK = "restore.lock"
_PLAN = "plan.json"
_TOLD = 1_000  # rows after which progress is told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Staged:
    """An archive that was unpacked and has shown that it may become a brain."""

    directory: Path
    members: Mapping[Member, Path]
    rows: Mapping[str, int]
    needs: list[str]


def manifest_of(archive: tarfile.TarFile) -> Manifest | None:
    """What an archive says of itself; None when it is of the first format, which only merges."""
    try:
        member = archive.getmember(MANIFEST)
    except KeyError:
        return None
    if not member.isreg() or member.size > EXPORT_MAX_BYTES:
        return None
    file = archive.extractfile(member)
    try:
        told = decoded(file.read() if file is not None else b"", Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return told if told.format == FORMAT else None


class Restoring:
    """The part of `import` that makes a brain of an archive."""

    def __init__(
        self,
        brains: Brains,
        reconciler: Reconciler,
        settle: Callable[[OpenBrain], None],
        check_origin: Callable[[OpenBrain, Claim, str], None],
    ) -> None:
        self._brains = brains
        self._reconciler = reconciler
        self._settle = settle  # what waits in memory is written first
        self._check_origin = check_origin  # what the brain of a claim has forgotten since does not come back

    # -- whether -----------------------------------------------------------------------------------------------------

    def fits(self, opened: OpenBrain, manifest: Manifest) -> bool:
        """Whether an archive would be restored here: it is of a brain of this kind, this one holds nothing, and the one it comes
        from is no other brain of this home."""
        if (manifest.brain == MEDULLA) != (opened.brain.root is None):
            return False
        return _holds_nothing(opened, manifest) and _same_files(opened, manifest) and self.origin_here(opened, manifest) is None

    def origin_here(self, opened: OpenBrain, manifest: Manifest) -> Brain | None:
        """Another brain of this home that an archive was made of, or that was restored from the same."""
        others = [brain for brain in self._brains.all() if brain.name != opened.brain.name]
        by_id = next((brain for brain in others if brain.id == manifest.id), None)
        return by_id or next((brain for brain in others if self._came_from(brain) == manifest.id), None)

    def _came_from(self, brain: Brain) -> str | None:
        try:
            with self._brains.use(brain) as opened:
                found: str | None = stored_json(opened.store.meta(ORIGIN_KEY) or "{}", "meta").get("id")
                return found
        except (StoreUnavailable, StoreNewer):  # a brain that cannot be opened says nothing, and must not stop a move
            return None

    # -- how ---------------------------------------------------------------------------------------------------------

    def restore(
        self,
        caller: Caller,
        opened: OpenBrain,
        source: Path,
        manifest: Manifest,
        *,
        dry_run: bool,
        progress: Callable[[int, int, str], None],
    ) -> dict[str, Any]:
        """Make this brain the one that the archive was made of."""
        self._settle(opened)
        expected = opened.store.head()
        with locked(opened.directory / _LOCK, wait_s=LOCK_WAIT_S), ExitStack() as stack:
            directory = opened.directory / f"{_STAGING}{secrets.token_hex(8)}"
            directory.mkdir(mode=0o700)
            stack.callback(_unstage, opened, directory)
            staged = self._staged(opened, source, manifest, directory, progress)
            if staged.needs and caller.channel is not Channel.HUMAN and not dry_run:
                raise HumanNeeded(
                    f"the archive holds {', '.join(staged.needs)}; only a person brings that to life",
                    fix=f"a person runs the import in a terminal, or {MERGE}",
                )
            if not dry_run:
                self._fill(opened, manifest, staged, expected)
                try:
                    self._place(opened, directory, staged.members)
                except (OSError, StoreUnavailable) as failure:
                    raise StoreUnavailable(
                        f"the memory was restored; files of it wait to be put in their place: {_why(failure)}",
                        fix="put that right; whoever opens the brain next goes on, and nothing has to be imported again",
                    ) from failure
        if not dry_run:
            for place in opened.places:
                self._reconciler.scan(opened, place)
            self._reconciler.write_files(opened)
        files = sum(one.kind in (Kind.FILE, Kind.REPOSITORY, Kind.HISTORY) for one in staged.members)
        return {"rows": dict(staged.rows), "files": files, "needs_human": staged.needs if dry_run else []}

    def _staged(
        self,
        opened: OpenBrain,
        source: Path,
        manifest: Manifest,
        directory: Path,
        progress: Callable[[int, int, str], None],
    ) -> _Staged:
        from hindbrain.stores.sqlite import SqliteStore  # a home on a server needs it for this only

        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            if done % _TOLD == 0:
                progress(done, done, "reading the archive")

        with opened_archive(source, most=ARCHIVE_MAX_BYTES) as archive:
            found = unpack(archive, directory, keep=_kept, members=MEMBERS_MOST, reserve=RESERVE_BYTES)
        members = check_members(manifest, found, tables_of(opened).schema_version)
        self._check_places(opened, members)
        # A database of its own first: what breaks a rule of the tables or of the chain is found before anything is touched.
        scratch = SqliteStore(directory / "scratch", BrainId(manifest.id))
        try:
            _try_out(scratch, members)
            for _, learned in learned_rows(members):
                for _ in learned:
                    step()
            check_chain(scratch)
            with scratch.snapshot() as snapshot:
                check_texts(snapshot, members, lambda claim, slug: self._check_origin(opened, claim, slug), step)
                needs = needs_person(snapshot, members)
                rows = {table: sum(1 for _ in snapshot.rows(table)) for table in LAYOUT}
        finally:
            scratch.close()
        if opened.brain.root is None:
            needs = ["the medulla", *needs]
        return _Staged(directory=directory, members=members, rows={k: n for k, n in rows.items() if n}, needs=needs)

    @staticmethod
    def _check_places(opened: OpenBrain, members: Mapping[Member, Path]) -> None:
        """Every file can be put where it belongs. Afterwards is too late: the rows are committed before the files are placed."""
        if opened.brain.root is None and any(one.kind is Kind.REPOSITORY for one in members):
            raise InvalidParams("the medulla has no repository whose files it could hold", fix=MERGE)
        ours = [opened.directory, *([Path(opened.brain.root)] if opened.brain.root is not None else [])]
        for member in members:
            base, _ = _base(opened, member.kind)
            if base is not None:
                check_place(base / member.name, within=next(one for one in ours if base.is_relative_to(one)))

    def _fill(self, opened: OpenBrain, manifest: Manifest, staged: _Staged, expected: tuple[int, str]) -> None:
        plan = [[one.kind.value, one.name, path.name] for one, path in staged.members.items()]
        write_bytes(staged.directory / _PLAN, json.dumps(plan).encode())
        for path in staged.members.values():
            _sync(path)
        sync_directory(staged.directory)
        sync_directory(opened.directory)
        keep = {key: value for key in sorted(LOCAL_META) if (value := opened.store.meta(key)) is not None}
        head = next((row for table, rows in table_rows(staged.members) if table == "brain_head" for row in rows), (0,))
        origin = {"id": manifest.id, "name": manifest.brain, "seq": head[0]}
        keep |= {PENDING_KEY: staged.directory.name, ORIGIN_KEY: json.dumps(origin, sort_keys=True)}
        try:
            tables_of(opened).fill(table_rows(staged.members), expected=expected, keep=keep)
        except StoreUnavailable:
            if opened.store.meta(PENDING_KEY) != staged.directory.name:
                raise
            # The rows are committed; the index, which is made of them, had no room. Whoever searches next fills it.

    # -- afterwards --------------------------------------------------------------------------------------------------

    def finish(self, opened: OpenBrain) -> None:
        """Put what a dead process staged in its place, and take away what one left that never came so far."""
        left = [path for path in opened.directory.glob(f"{_STAGING}*") if path.is_dir() and not path.is_symlink()]
        if not left or (held(opened.directory / _LOCK) and not opened.store.meta(PENDING_KEY)):
            return
        with locked(opened.directory / _LOCK, wait_s=LOCK_WAIT_S):
            pending = opened.store.meta(PENDING_KEY)
            for directory in left:
                if directory.name == pending and directory.is_dir():
                    plan = decoded((directory / _PLAN).read_bytes(), list[tuple[Kind, str, str]])
                    try:
                        self._place(opened, directory, {Member(kind, name): directory / file for kind, name, file in plan})
                    except (OSError, StoreUnavailable) as failure:
                        # What stands in the way of a file keeps nobody from the memory: whoever opens it next tries again.
                        LOG.warning("files of a restored brain wait to be put in their place: %s", _why(failure))
                else:
                    shutil.rmtree(directory, ignore_errors=True)

    @staticmethod
    def _place(opened: OpenBrain, directory: Path, members: Mapping[Member, Path]) -> None:
        """Doing it twice is doing it once: files are copied whole, and the note goes last."""
        learned = list(learned_rows(members))
        if learned or opened.learned_path.exists():
            opened.learned.fill(learned)
        for member, path in members.items():
            base, mode = _base(opened, member.kind)
            if base is None:
                continue
            target = base / member.name
            make_directory(target.parent)
            write_bytes(target, path.read_bytes(), mode=mode)
        with opened.store.writing() as writer:
            writer.set_meta(PENDING_KEY, "")
        shutil.rmtree(directory, ignore_errors=True)


def _unstage(opened: OpenBrain, directory: Path) -> None:
    """Take away what was staged, unless it is wanted: what was committed goes when it is in its place."""
    if opened.store.meta(PENDING_KEY) != directory.name:
        shutil.rmtree(directory, ignore_errors=True)


def _why(failure: Exception) -> str:
    if isinstance(failure, OSError):
        return f"{failure.filename}: {failure.strerror}" if failure.filename else str(failure.strerror or failure)
    return str(failure)


def _try_out(scratch: "SqliteStore", members: Mapping[Member, Path]) -> None:
    try:
        scratch.fill(table_rows(members), expected=scratch.head(), keep={})
    except StoreUnavailable as refused:
        raise StoreUnavailable(
            f"the rows of the archive cannot be held: {refused.message}",
            fix="make the export again, or free some disk space; nothing was restored",
        ) from refused


def _base(opened: OpenBrain, kind: Kind) -> tuple[Path | None, int]:
    if kind is Kind.HISTORY:
        return opened.place.history_path, 0o600
    if kind is Kind.FILE:
        return opened.directory, 0o600
    return (Path(opened.brain.root, REPO_DIR) if kind is Kind.REPOSITORY and opened.brain.root else None), 0o644


def _kept(name: str) -> bool:
    """What is for readers is looked at and not kept."""
    return name != MANIFEST and member_of(name).kind is not Kind.SHOWN


def _holds_nothing(opened: OpenBrain, manifest: Manifest) -> bool:
    """Whether a brain recorded nothing but its birth. A clone brings claim files along: they count as nothing while the archive
    has each of them as it stands."""
    after, took_files = 0, False
    while batch := opened.store.entries(after=after, limit=1_000):
        took_files |= any(entry.act == FILE_ACT for entry in batch)
        if any(entry.act not in BIRTH_ACTS and entry.act != FILE_ACT for entry in batch):
            return False
        after = batch[-1].seq
    if not took_files:
        return not opened.store.boot() and not opened.store.digests()
    told = {name: one.sha256 for name, one in manifest.members.items() if name.startswith("agent-memory/")}
    same = all(told.get(f"agent-memory/{slug}.light.md") == digest for slug, digest in opened.store.digests().items())
    return same and next(opened.store.ended(limit=1), None) is None


def _same_files(opened: OpenBrain, manifest: Manifest) -> bool:
    """Files of ours that are here already are those of the archive: a clone brings its letter box along."""
    bases = [(Kind.FILE, opened.directory)]
    if opened.brain.root is not None:
        bases.append((Kind.REPOSITORY, Path(opened.brain.root, REPO_DIR)))
    for kind, base in bases:
        for name in carried_files(base, in_repository=kind is Kind.REPOSITORY):
            told = manifest.members.get(member_name(kind, name))
            if told is None or hashlib.sha256((base / name).read_bytes()).hexdigest() != told.sha256:
                return False
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
