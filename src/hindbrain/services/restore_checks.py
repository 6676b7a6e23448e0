"""Restore checks: what an archive must show before a brain is made of it. It was made by a stranger until it has shown that."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hindbrain.domain.archive import MANIFEST, Manifest
from hindbrain.domain.caller import Channel
from hindbrain.domain.card import Status
from hindbrain.domain.claim import Claim, parse, slug_of
from hindbrain.domain.errors import HygieneRefused, InvalidParams, LedgerBroken, StoreNewer
from hindbrain.domain.experience import Writer
from hindbrain.domain.mission import EventType
from hindbrain.engines.archiving import Kind, Member, member_of, row_of
from hindbrain.engines.hygiene import scan
from hindbrain.policy.carrying import LEFT_TABLES, LOCAL_MARKS, LOCAL_META, MOVED_META, PLAIN_META
from hindbrain.policy.evidence import LINE_MAX_BYTES
from hindbrain.policy.experience import LAW_SPACE, law_lines
from hindbrain.policy.hygiene import NEVER_ALLOWED, ROTATE
from hindbrain.policy.limits import CLAIM_MAX_BYTES
from hindbrain.services.gateway import strings_in
from hindbrain.services.ledgers import broken_in
from hindbrain.stores.archive_file import Unpacked
from hindbrain.stores.files import digest_of
from hindbrain.stores.learned import LEARNED_LAYOUT
from hindbrain.stores.port import BrainStore
from hindbrain.stores.table_port import LAYOUT, Plain, TableSnapshot

__all__ = ["MERGE", "check_chain", "check_members", "check_texts", "learned_rows", "needs_person", "table_rows"]

MERGE = "import it with as_candidates: each thing then passes the gateway by itself, and what is refused is named"
_DIGITS = re.compile(r"[0-9a-f-]*\Z")
_TELLING = frozenset(("card", "meta", "claim_version", "megram", "mission_event"))  # rows that have standing without a channel
_SHORT, _KNOWN_MOST = 64, 10_000
_ACTIVE = frozenset((Status.PROMOTED.value, Status.CANONICAL.value))


def check_members(manifest: Manifest, found: Mapping[str, Unpacked], schema_version: int) -> dict[Member, Path]:
    """The files of an archive by what they are. Each is named by the manifest with its size and digest, and no other is there."""
    if manifest.schema_version > schema_version:
        raise StoreNewer(
            f"the archive has schema version {manifest.schema_version}; this release knows up to {schema_version}",
            fix="upgrade Hindbrain to the release that wrote it; nothing was changed",
            found=manifest.schema_version,
            known=schema_version,
        )
    if manifest.schema_version < schema_version:
        raise InvalidParams(f"the archive has schema version {manifest.schema_version}, this release {schema_version}", fix=MERGE)
    if odd := sorted(set(manifest.members) ^ (set(found) - {MANIFEST})):
        raise InvalidParams(f"{odd[0][:120]!r} is in the manifest or in the archive, not in both", fix="make the export again")
    members: dict[Member, Path] = {}
    for name, told in manifest.members.items():
        member, there = member_of(name), found[name]
        if (there.size, there.sha256) != (told.bytes, told.sha256):
            raise InvalidParams(f"{name[:120]!r} is not what the manifest says", fix="copy the archive again, or make it again")
        layout: Mapping[str, object] = {Kind.TABLE: LAYOUT, Kind.LEARNED: LEARNED_LAYOUT}.get(member.kind, {member.name: ""})
        if member.name not in layout or (member.kind is Kind.TABLE and member.name in LEFT_TABLES):
            raise InvalidParams(f"{name[:120]!r} is no table of this release", fix=MERGE)
        if there.path is not None:
            members[member] = there.path
    return members


def _lines(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while line := file.readline(LINE_MAX_BYTES + 1):
            if len(line) > LINE_MAX_BYTES or not line.endswith(b"\n"):
                raise InvalidParams("a row of a table is too long, or cut off", fix="make the export again")
            yield line


def table_rows(members: Mapping[Member, Path]) -> Iterator[tuple[str, Iterator[Plain]]]:
    """The tables of an archive with their rows, in the order in which they can be filled."""
    for table, columns in LAYOUT.items():
        if (path := members.get(Member(Kind.TABLE, table))) is not None:
            yield table, _rows(path, columns, table)


def learned_rows(members: Mapping[Member, Path]) -> Iterator[tuple[str, Iterator[Plain]]]:
    """What use taught, in the same way."""
    for table, (columns, _) in LEARNED_LAYOUT.items():
        if (path := members.get(Member(Kind.LEARNED, table))) is not None:
            yield table, _rows(path, columns)


def _rows(path: Path, columns: Sequence[str], table: str | None = None) -> Iterator[Plain]:
    for line in _lines(path):
        row = row_of(columns, line)
        yield row if table is None else _checked(table, row)


def _checked(table: str, row: Plain) -> Plain:
    told = dict(zip(LAYOUT[table], row, strict=True))
    if (table == "meta" and told["key"] in LOCAL_META) or (table == "mark" and told["kind"] in LOCAL_MARKS):
        raise InvalidParams(f"a row of {table} belongs to the database it came from", fix="make the export again")
    if table == "claim_version":
        slug, text = told["slug"], told["text"]
        if not isinstance(slug, str) or slug_of(slug) != slug:
            raise InvalidParams(f"{str(slug)[:80]!r} is not the name of a claim", fix="make the export again")
        if not isinstance(text, str) or digest_of(text) != told["digest"]:
            raise InvalidParams(f"the text of {slug[:80]!r} is not the one that was recorded", fix="make the export again")
    return row


def check_chain(store: BrainStore) -> None:
    """The ledger holds from its first entry to its last, and everything that it tells of is as it tells."""
    problems = [*store.check(), *(f"entry {one.seq}: {one.reason}" for one in broken_in(store)[1])]
    if problems:
        raise LedgerBroken(
            f"the record in the archive does not hold at {len(problems)} place(s); the first is {problems[0]}", fix=MERGE
        )


def check_texts(
    snapshot: TableSnapshot, files: Mapping[Member, Path], check_claim: Callable[[Claim, str], None], progress: Callable[[], None]
) -> None:
    """No secret and no unfinished merge in any text; live claims are no larger than claims are, and buried nowhere."""
    allowed = _allowed(files)
    known: set[str] = set()  # short cells that were looked at: most rows repeat those of the row before
    for table in LAYOUT:
        for row in snapshot.rows(table):
            progress()
            for cell in (one for one in row if isinstance(one, str) and one not in known and not _DIGITS.match(one)):
                if "\x00" in cell:
                    raise InvalidParams(f"a row of {table} holds a NUL character", fix=MERGE)
                _clean(cell, allowed, f"a row of {table}")
                if len(cell) <= _SHORT and len(known) < _KNOWN_MOST:
                    known.add(cell)
            told = dict(zip(LAYOUT[table], row, strict=True))
            if table == "claim_version" and told["ended_at"] is None:
                if len(told["text"].encode()) > CLAIM_MAX_BYTES:
                    raise InvalidParams(f"the claim {told['slug'][:80]!r} is larger than {CLAIM_MAX_BYTES} bytes", fix=MERGE)
                check_claim(parse(told["text"], fallback_label=told["slug"]), told["slug"])
    for member, path in files.items():
        if member.kind in (Kind.HISTORY, Kind.FILE, Kind.REPOSITORY, Kind.LEARNED):
            for text in _texts_of(member, path):
                progress()
                _clean(text, allowed, member.name)


def _texts_of(member: Member, path: Path) -> Iterator[str]:
    """A file of lines line by line. Any other as a whole besides: a secret may go over the end of a line, or be spelled so that
    only who reads the JSON sees it."""
    if path.stat().st_size <= LINE_MAX_BYTES and not member.name.endswith(".jsonl"):
        yield path.read_bytes().decode("utf-8", "replace")
    with open(path, "rb") as file:
        while line := file.readline(LINE_MAX_BYTES):
            if len(line) == LINE_MAX_BYTES:
                raise InvalidParams(f"a line of {member.name[:120]!r} has more than {LINE_MAX_BYTES} bytes", fix=MERGE)
            yield line.decode("utf-8", "replace")


def _allowed(files: Mapping[Member, Path]) -> frozenset[str]:
    """The lines that a person let through where the archive was made, by their digest."""
    path = files.get(Member(Kind.FILE, "hygiene_allow.json"))
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
    except ValueError:
        found = {}
    return frozenset(key for key, reason in found.items() if reason) if isinstance(found, dict) else frozenset()


def _clean(text: str, allowed: frozenset[str], where: str) -> None:
    for one in _strings(text):
        for hit in scan(one):
            digest = hashlib.sha256(hit.text.encode("utf-8", "surrogatepass")).hexdigest()
            if hit.pattern_class in NEVER_ALLOWED or digest not in allowed:
                raise HygieneRefused(
                    f"{where}: line {hit.line} looks like {hit.pattern_class} ({hit.preview}…); nothing was restored",
                    fix=f"{ROTATE}; to take the rest, {MERGE}",
                    pattern_class=hit.pattern_class,
                    line=hit.line,
                    site="import",
                )


def _strings(text: str) -> list[str]:
    """The texts inside a JSON value, or the text itself: quotes and braces would hide where a word begins."""
    if text.lstrip()[:1] not in ("{", "["):
        return [text]
    try:
        found: Any = json.loads(text, object_pairs_hook=list)  # as pairs: a name that is there twice hides nothing
        return strings_in(found)
    except (ValueError, RecursionError):
        return [text]


def needs_person(snapshot: TableSnapshot, files: Mapping[Member, Path]) -> list[str]:
    """What of an archive only a person may bring to life: standing, a person's own acts, settings, lines let through."""
    found: list[str] = []
    for table, columns in LAYOUT.items():
        if table in _TELLING or "channel" in columns:
            found += [why for row in snapshot.rows(table) if (why := _standing(table, dict(zip(columns, row, strict=True))))][:1]
    if Member(Kind.FILE, "hygiene_allow.json") in files:
        found.append("lines that a person let through")
    if any(one.kind is Kind.FILE and one.name.startswith("delegations/") for one in files):
        found.append("packets that bind children")
    return list(dict.fromkeys(found))


def _is_law(told: Mapping[str, Any]) -> bool:
    """Whether an experience is a law as this release lays it, in its own place: every brain with a mission has these."""
    return told["space"] == LAW_SPACE and told["content"] in law_lines()


def _standing(table: str, told: Mapping[str, Any]) -> str | None:
    if told.get("channel") == Channel.HUMAN.value:
        return "acts of a person"
    if table == "megram" and told["writer"] == Writer.OPERATOR.value and not _is_law(told):
        return "experience of a person"
    if table == "mission_event" and told["event_type"] == EventType.HUMAN_STATEMENT.value:
        return "statements of a person"
    if table == "card" and told["status"] in _ACTIVE:
        return "active cards"
    if table == "meta" and told["key"] not in PLAIN_META and not told["key"].startswith(MOVED_META):
        return "settings of a person"
    if table == "claim_version" and told["ended_at"] is None and parse(told["text"]).absolute:
        return "absolute doctrine"
    return None
