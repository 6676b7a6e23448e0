"""Exporting: everything of a brain as one archive of plain files. The same memory gives the same bytes, wherever it lies."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from hindbrain.domain.archive import FORMAT, MANIFEST, Manifest, Sum
from hindbrain.domain.errors import StoreUnavailable
from hindbrain.domain.stored import stored_json
from hindbrain.engines.archiving import Kind, carried, is_history, line_of, member_name
from hindbrain.policy.carrying import CARRIED, LEFT_TABLES, LOCAL_MARKS, LOCAL_META, ORIGIN_KEY
from hindbrain.services.boot import plain_entry
from hindbrain.services.brains import OpenBrain
from hindbrain.services.card_exchange import CardExchange
from hindbrain.services.evidence_anchor import note_former
from hindbrain.services.evidence_exchange import MEMBER, EvidenceExchange
from hindbrain.stores.archive_file import ArchiveWriter, writing_archive
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.learned import LEARNED_LAYOUT
from hindbrain.stores.table_port import LAYOUT, Plain, Tables, TableSnapshot

__all__ = ["Exporting", "carried_files", "tables_of"]

Progress = Callable[[int, int, str], None]
_TOLD = 1_000  # rows after which progress is told


class Exporting:
    """Writes archives."""

    def __init__(self, evidence: EvidenceExchange, cards: CardExchange, settle: Callable[[OpenBrain], None]) -> None:
        self._evidence = evidence
        self._cards = cards
        self._settle = settle  # what waits in memory is written first

    def write(self, opened: OpenBrain, target: Path, progress: Progress) -> dict[str, int]:
        """Write a brain to a file that is whole or not there; how much of what it holds."""
        self._settle(opened)
        name, brain_id = _identity(opened)
        store = tables_of(opened)
        with writing_archive(target, opened.directory) as writer:
            with store.snapshot() as snapshot:
                counts = {"claims": _claims(writer, snapshot), "history": _history(writer, opened)}
                counts |= self._shown(writer, opened, progress)
                counts |= _tables(writer, snapshot, progress, opened.store.head()[0])
            counts["learned"] = _learned(writer, opened)
            counts["files"] = _files(writer, opened)
            sums = {name: Sum(bytes=size, sha256=digest) for name, (size, digest) in writer.sums.items()}
            manifest = Manifest(
                format=FORMAT, id=brain_id, brain=name, schema_version=store.schema_version, members=dict(sorted(sums.items()))
            )
            writer.add(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest, order="sorted"), indent=1) + b"\n")
        return counts

    def _shown(self, writer: ArchiveWriter, opened: OpenBrain, progress: Progress) -> dict[str, int]:
        """What a reader looks for, and what another brain takes in through its gateway."""
        boot = [plain_entry(one) for one in opened.store.boot()]
        writer.add("boot_memory.json", (json.dumps(boot, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode())
        counts = {"boot_entries": len(boot)}
        members = {MEMBER: self._evidence.lines(opened), **self._cards.members(opened)}
        for member, lines in members.items():
            noun = member.removesuffix(".jsonl")
            told = _told((line.encode("utf-8", "surrogateescape") for line in lines), progress, noun)
            counts[noun] = writer.add_all(member, told)
        return counts


def tables_of(opened: OpenBrain) -> Tables:
    """The store of a brain as one that is read and filled as a whole."""
    store = opened.store
    if not isinstance(store, Tables):
        raise StoreUnavailable("this store cannot be carried", fix="open the brain on SQLite or PostgreSQL")
    return store


def _identity(opened: OpenBrain) -> tuple[str, str]:
    """Name and id under which a brain is told. One that was restored and not written to since is the brain that it came from; one
    that went on is itself, and remembers where the other stood."""
    origin = stored_json(opened.store.meta(ORIGIN_KEY) or "{}", "meta")
    if origin and opened.store.head()[0] == origin["seq"]:
        return origin["name"], origin["id"]
    if origin and origin["name"] != opened.brain.name and os.path.isabs(origin["name"]):
        with opened.store.writing() as writer:
            note_former(opened, writer, origin["name"])
    return opened.brain.name, opened.brain.id


def _claims(writer: ArchiveWriter, snapshot: TableSnapshot) -> int:
    slug, text, ended = (LAYOUT["claim_version"].index(name) for name in ("slug", "text", "ended_at"))
    count = 0
    for row in snapshot.rows("claim_version"):
        if row[ended] is None:
            writer.add(f"agent-memory/{row[slug]}.light.md", row[text].encode("utf-8", "surrogateescape"))
            count += 1
    return count


def _history(writer: ArchiveWriter, opened: OpenBrain) -> int:
    found: dict[str, Path] = {}
    for place in opened.places:
        with suppress(FileNotFoundError, NotADirectoryError):
            for one in os.scandir(place.history_path):
                if is_history(one.name) and one.is_file(follow_symlinks=False):
                    found.setdefault(one.name, Path(one.path))
    for name, path in sorted(found.items()):
        writer.add_file(member_name(Kind.HISTORY, name), path)
    return len(found)


def _tables(writer: ArchiveWriter, snapshot: TableSnapshot, progress: Progress, entries: int) -> dict[str, int]:
    for table, columns in LAYOUT.items():
        if table in LEFT_TABLES:
            continue
        lines = (line_of(columns, row) for row in snapshot.rows(table) if _travels(table, row))
        first = next(lines, None)
        if first is not None:
            writer.add_all(member_name(Kind.TABLE, table), _told(_after(first, lines), progress, table))
    return {"ledger_entries": entries}


def _travels(table: str, row: Plain) -> bool:
    """Notes of this database about itself stay here."""
    if table == "meta":
        return row[0] not in LOCAL_META
    return table != "mark" or row[LAYOUT["mark"].index("kind")] not in LOCAL_MARKS


def _after(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _told(lines: Iterator[bytes], progress: Progress, noun: str) -> Iterator[bytes]:
    for number, line in enumerate(lines, 1):
        if number % _TOLD == 0:
            progress(number, number, f"writing {noun}")
        yield line


def _learned(writer: ArchiveWriter, opened: OpenBrain) -> int:
    if not opened.plasticity_generation and not opened.learned_path.exists():
        return 0
    count = 0
    for table, (columns, _) in LEARNED_LAYOUT.items():
        if rows := opened.learned.told(table):
            count += writer.add_all(member_name(Kind.LEARNED, table), (line_of(columns, row) for row in rows))
    return count


def _files(writer: ArchiveWriter, opened: OpenBrain) -> int:
    count = 0
    for kind, base in _bases(opened):
        for name in carried_files(base, in_repository=kind is Kind.REPOSITORY):
            with suppress(FileNotFoundError):  # what is there no more is no part of the brain
                writer.add_file(member_name(kind, name), base / name)
                count += 1
    return count


def _bases(opened: OpenBrain) -> list[tuple[Kind, Path]]:
    bases = [(Kind.FILE, opened.directory)]
    if opened.brain.root is not None:
        bases.append((Kind.REPOSITORY, Path(opened.brain.root, REPO_DIR)))
    return bases


def carried_files(base: Path, *, in_repository: bool) -> list[str]:
    """The files below a directory that travel, by name; links are followed nowhere."""
    found: set[str] = set()
    if base.is_symlink():
        return []
    for room in (one for one in CARRIED if one.in_repository == in_repository):
        top = base / room.name
        if room.depth == 0:
            found |= {room.name} if top.is_file() and not top.is_symlink() else set()
            continue
        for directory, _, names in os.walk(top, followlinks=False):
            below = Path(directory).relative_to(base).as_posix()
            found |= {f"{below}/{name}" for name in names if not os.path.islink(os.path.join(directory, name))}
    return sorted(name for name in found if carried(name, in_repository=in_repository))
