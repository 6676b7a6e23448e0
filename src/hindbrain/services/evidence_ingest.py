"""Ingest: files, trees, conversation exports and texts become evidence. Idempotent by content, resumable after a kill, one reader
of a source at a time; a file that cannot be read or a chunk that may not be kept is named, and the rest goes in."""

import errno
import hashlib
import io
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from hindbrain.domain.anchor import Anchor
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, HumanNeeded, InvalidParams, PathRefused, StoreUnavailable
from hindbrain.domain.evidence import Domain, EvidenceId, Provenance, SourceType, is_machine
from hindbrain.engines.chunking import Shape, shape_of
from hindbrain.engines.transcripts import Format, Reading, Turn, cleaned, detected, from_document, from_lines
from hindbrain.policy.evidence import (
    BATCH_ROWS,
    DOCUMENT_MAX_BYTES,
    EXPORT_MAX_BYTES,
    NORMALIZE_VERSION,
    REFUSED_MOST,
    SAMPLE_LINES,
    SOURCE_LOCK_S,
    SOURCE_MAX,
    TEXT_MAX_BYTES,
    WORD_MAX,
)
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.evidence_anchor import Anchors, Placed, anchor_at
from hindbrain.services.evidence_batch import Batches, Kept
from hindbrain.services.evidence_guard import check_human, check_tags, check_word, check_words, default_provenance, field_hint
from hindbrain.services.evidence_rows import Piece, Scope, pieces_of
from hindbrain.services.gateway import Gateway
from hindbrain.stores.evidence_files import Ignoring, digest_of, lines_of, looks_binary, opened_file, text_files
from hindbrain.stores.locks import locked
from hindbrain.stores.port import Source, Where

__all__ = ["Ingest", "Request"]

ACT = "evidence.ingest"
_LAST = 1 << 40  # beyond every position
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # the same for every file that comes after

Progress = Callable[[int, int, str], None]
IGNORING = Ignoring()

_STEPS = 100  # in which the reading of one file is told,
_STEP_BYTES = 1 << 15  # each of some hundred turns at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be taken in, and how."""

    path: str | None = None  # absolute
    text: str | None = None
    source: str | None = None
    form: Format | None = None
    wing: str = ""
    room: str | None = None
    domain: Domain = Domain.PROJECT
    field: str = "general"
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    importance: int = 0
    anchor_kind: str | None = None
    anchor_id: str | None = None
    cwd: str | None = None
    branch_local: bool = True
    strip_noise: bool = True
    keep_tools: bool = False
    ignoring: Ignoring = IGNORING
    dry_run: bool = False
    again: bool = False  # read also what was read whole before
    channel: Channel | None = None  # by which it came, where that is another one than the caller's

    def check(self) -> None:
        """Refuse words that are no names."""
        for name in ("wing", "room", "field"):
            check_word(getattr(self, name) or "", name, WORD_MAX)
        check_word(self.source or "", "source", SOURCE_MAX)
        check_tags(self.tags)


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What an ingest did so far."""

    files: int = 0
    kept: Kept = field(default_factory=Kept)
    broken_lines: int = 0
    replaced: int = 0
    noise: int = 0
    waited_ms: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)
    refusals: int = 0
    formats: dict[str, int] = field(default_factory=dict)

    def refuse(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            self.refusals += 1
            if len(self.refused) < REFUSED_MOST:
                self.refused.append(row)


class Ingest:
    """Takes sources in."""

    def __init__(self, brains: Brains, anchors: Anchors, gateway: Gateway, batches: Batches, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._anchors = anchors
        self._gateway = gateway
        self._batches = batches
        self._clock = clock

    def run(self, caller: Caller, request: Request, progress: Progress) -> dict[str, Any]:
        """Take in a file, a tree or a text; the answer tells what went in, what was there and what was refused."""
        if (request.path is None) == (request.text is None):
            raise InvalidParams("give a path, or a text", fix="hindbrain memory ingest PATH, or - for standard input")
        request.check()
        placed = self._placed(caller, request)
        tally = _Tally()
        with self._brains.use(placed.brain) as opened:
            words = (request.wing, request.room, request.field, request.source, request.anchor_id, *request.tags)
            check_words(self._gateway, opened, words, (), site="memory.ingest")
            salt = "" if request.dry_run and opened.store.meta("salt") is None else self._gateway.salt(opened)
            job = _Job(caller=caller, request=request, placed=placed, opened=opened, salt=salt, tally=tally)
            hinted = field_hint(opened, request.field)
            try:
                if request.text is not None:
                    self._text(job, request.text, progress)
                else:
                    self._path(job, str(request.path), progress)
            except StoreUnavailable as failure:
                # What was acknowledged by the disk stays; the next ingest of the same source goes on from there.
                failure.details |= {"kept_before": len(tally.kept.created)}
                raise
        return self._told(placed.brain, request, tally) | hinted

    def again(self, caller: Caller, opened: OpenBrain, path: str, source: str, request: Request, anchor: Anchor) -> Kept:
        """Read one file again, as it was taken in before: what it no longer gives is put away in the same transaction."""
        placed = Placed(brain=opened.brain, anchor=anchor)
        tally = _Tally()
        salt = self._gateway.salt(opened)
        job = _Job(caller=caller, request=request, placed=placed, opened=opened, salt=salt, tally=tally)
        self._file(job, os.path.realpath(path), source, None)
        return tally.kept

    # -- where -------------------------------------------------------------------------------------------------------

    def _placed(self, caller: Caller, request: Request) -> Placed:
        provenance = request.provenance or Provenance.HUMAN
        check_human(caller, request.provenance)
        if request.domain is Domain.GLOBAL and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                "only a person fills the medulla from files; agents record single observations",
                fix="ask a person to run it in a terminal",
            )
        cwd = request.cwd
        if request.path is not None and request.anchor_kind is None and request.domain is not Domain.GLOBAL and cwd is None:
            placed = self._anchors.placed(
                caller,
                domain=request.domain,
                provenance=Provenance.RUNTIME,
                kind=None,
                anchor_id=None,
                cwd=None,
            )
            here = request.path if os.path.isdir(request.path) else os.path.dirname(request.path)
            own = self._brains.covering(os.path.realpath(here)) if os.path.isdir(here) else None
            # What lies inside the project is anchored at the checkout it lies in, the rest where the caller stands.
            if own is not None and own.name == placed.brain.name:
                anchor, root = anchor_at(here)
                return replace(placed, anchor=anchor, checkout=root)
            return placed
        return self._anchors.placed(
            caller,
            domain=request.domain,
            provenance=provenance,
            kind=request.anchor_kind,
            anchor_id=request.anchor_id,
            cwd=cwd,
            branch_local=request.branch_local,
        )

    # -- sources -----------------------------------------------------------------------------------------------------

    def _path(self, job: "_Job", path: str, progress: Progress) -> None:
        if "\x00" in path or not os.path.isabs(path):
            raise PathRefused(f"{path[:120]!r} is not an absolute path", fix="give a file or a directory")
        real = os.path.realpath(path)
        if not os.path.exists(real):
            raise PathRefused(f"{path[:200]!r} does not exist", fix="give a file or a directory that exists")
        if not os.path.isdir(real):
            self._file(job, real, job.name_of(real, os.path.dirname(real), single=True), progress)
            return
        top = anchor_at(real)[1]
        files = list(text_files(real, top, job.request.ignoring))
        for number, file in enumerate(files):
            name = job.name_of(file, real, single=False)
            progress(number, len(files), name)
            try:
                self._file(job, file, name, None)
            except StoreUnavailable:
                raise
            except (HindbrainError, OSError) as failure:
                if isinstance(failure, OSError) and failure.errno in _DISK:
                    raise
                job.tally.refuse([_unread(name, failure)])

    def _file(self, job: "_Job", path: str, name: str, progress: Progress | None) -> None:
        with opened_file(path) as file:
            if looks_binary(file):
                raise PathRefused(f"{name[:200]!r} is not a text", fix="give text files")
            size = os.fstat(file.fileno()).st_size
            self._source(job, file, name, size, shape_of(name), progress)

    def _text(self, job: "_Job", text: str, progress: Progress) -> None:
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > TEXT_MAX_BYTES:
            raise InvalidParams(f"the text has {len(data)} bytes; {TEXT_MAX_BYTES} is the most", fix="put it into a file")
        name = job.request.source or "stdin"
        self._source(job, io.BytesIO(data), name, len(data), shape_of(name), progress, typed=True)

    def _source(
        self, job: "_Job", file: IO[bytes], name: str, size: int, shape: Shape, progress: Progress | None, *, typed: bool = False
    ) -> None:
        """One source: skipped when it was read whole before and has not changed, else read under its lock."""
        job.tally.files += 1
        check_words(self._gateway, job.opened, (), (check_word(name, "the name of a file", SOURCE_MAX),), site="memory.ingest")
        digest = digest_of(file)
        form, turns, reading = self._read(job, file, size, progress, name)
        kind = SourceType.CONVERSATION if form is not Format.TEXT else SourceType.MANUAL if typed else SourceType.PROJECT
        scope = job.scope(name, kind, self._clock())
        key = job.key(scope, form)
        job.tally.formats[form.value] = job.tally.formats.get(form.value, 0) + 1
        site = f"memory.ingest of {name[:120]}"
        pieces = pieces_of(
            self._gateway,
            job.opened,
            turns,
            job.salt,
            default_thread=name,
            shape=Shape.MESSAGE if kind is SourceType.CONVERSATION else shape,
            site=site,
        )
        if job.request.dry_run:
            self._count(job, scope, pieces)
        else:
            with self._only_reader(job, scope.source, key):
                self._take(job, scope, key, digest, pieces)
        job.tally.broken_lines += reading.broken_lines
        job.tally.replaced += reading.replaced
        job.tally.noise += reading.noise_bytes

    def _take(self, job: "_Job", scope: Scope, key: str, digest: str, pieces: Iterator[Piece]) -> None:
        known = next((one for one in job.opened.store.sources(key) if one.source == scope.source), None)
        current = known is not None and known.digest == digest and known.normalize_version == NORMALIZE_VERSION
        if known is not None and current and known.done and not job.request.again:
            job.tally.kept.skipped += known.chunks
            return
        note = Source(
            source=scope.source,
            scope=key,
            digest=digest,
            normalize_version=NORMALIZE_VERSION,
            chunks=0,
            done=False,
            at=self._clock(),
        )
        total = Kept()
        # A text file that changed no longer says what it said; a conversation only ever grows, unless it is read otherwise.
        retires = scope.source_type is SourceType.PROJECT or job.request.again
        for batch, last in _batched(pieces, BATCH_ROWS if not job.request.again else _LAST):
            retire = (lambda: self._outdated(job, scope, total.seen)) if last and retires else None
            source = replace(note, chunks=len(total.seen), done=True) if last else None
            by = job.request.channel
            into = (job.caller, job.opened, scope, batch, job.salt)
            kept = self._batches.put(*into, act=ACT, channel=by, source=source, retire=retire)
            job.tally.kept.add(kept)
            job.tally.refuse(one.told() for one in kept.refused)
            total.seen += kept.seen

    @staticmethod
    def _outdated(job: "_Job", scope: Scope, seen: Iterable[EvidenceId]) -> set[EvidenceId]:
        where = Where(source=scope.source, source_type=scope.source_type.value, anchor_ids=(scope.anchor.id,), wing=scope.wing)
        same = (scope.room, scope.domain, scope.field)
        rows = job.opened.store.each_evidence(where)
        return {
            row.id
            for row in rows
            if (row.room, row.domain, row.field) == same
            and (row.provenance is scope.provenance or (is_machine(row.role) and scope.provenance is Provenance.HUMAN))
        } - set(seen)

    def _count(self, job: "_Job", scope: Scope, pieces: Iterator[Piece]) -> None:
        """What an ingest would do, by the ids it would make."""
        for batch, _ in _batched(pieces, BATCH_ROWS):
            kept = self._batches.planned(job.opened, scope, batch, job.salt)
            job.tally.kept.add(kept)
            job.tally.refuse(one.told() for one in kept.refused)

    @contextmanager
    def _only_reader(self, job: "_Job", source: str, key: str) -> Iterator[None]:
        directory = Path(job.opened.directory, "locks")
        self._brains.home.make(directory)
        named = hashlib.sha256("\x1f".join((source, key)).encode("utf-8", "surrogatepass")).hexdigest()
        path = directory / f"{named[:32]}.lock"
        began = time.monotonic()
        with locked(path, wait_s=SOURCE_LOCK_S):
            job.tally.waited_ms += int((time.monotonic() - began) * 1000)
            try:
                yield
            finally:
                path.unlink(missing_ok=True)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _read(
        self, job: "_Job", file: IO[bytes], size: int, progress: Progress | None, name: str
    ) -> tuple[Format, Iterator[Turn], Reading]:
        """What a source is, and its turns. Logs are read line by line; only a document is read as a whole."""
        request = job.request
        reading = Reading(strip_noise=request.strip_noise, keep_tools=request.keep_tools)
        form = request.form
        if form in (None, Format.CONVOS):
            found = detected(list(islice(lines_of(file), SAMPLE_LINES)))
            file.seek(0)
            form = found if form is None or found is None or found.by_lines else form
        if form is not None and form.by_lines:
            return form, from_lines(_watched(file, size, progress, name), form, reading), reading
        most = DOCUMENT_MAX_BYTES if form is Format.TEXT else EXPORT_MAX_BYTES
        if size > most:
            raise PathRefused(f"{name[:200]!r} has {size} bytes; {most} is the most for one document", fix="split it")
        data = file.read(most + 1)
        if form is not Format.TEXT:
            form, turns = from_document(data, request.form if request.form is not Format.CONVOS or form else None, reading)
            if turns or request.form not in (None, Format.CONVOS):
                return form, iter(turns), reading
        text, replaced = _decoded(data)
        reading.replaced += replaced
        text = reading.without_own(text)
        return Format.TEXT, iter([Turn(text=text)] if text.strip() else []), reading

    def _told(self, brain: Brain, request: Request, tally: _Tally) -> dict[str, Any]:
        created = tally.kept.created
        verb = "Would take" if request.dry_run else "Took"
        lines = [
            f"{verb} {len(created)} chunk(s) of {tally.files} file(s) into {brain.display_name}; {tally.kept.skipped} were there."
        ]
        lines += [f"{tally.kept.retired} that the source no longer holds were put away."] if tally.kept.retired else []
        lines += [f"refused {row['source_file']}, line {row.get('line', 1)}: {row['reason']}" for row in tally.refused[:10]]
        return {
            "ok": True,
            "schema": "hindbrain-memory-ingest-v0",
            "brain": brain.name,
            "files": tally.files,
            "chunks": len(created),
            "skipped": tally.kept.skipped,
            "retired": tally.kept.retired,
            "noise_bytes_stripped": tally.noise,
            "lock_wait_ms": tally.waited_ms,
            "dry_run": request.dry_run,
            "formats": tally.formats,
            "broken_lines": tally.broken_lines,
            "replaced_characters": tally.replaced,
            "refused": tally.refused,
            "refused_count": tally.refusals,
            "created": created,
            "rendered": "\n".join(lines),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One call of ingest on its way."""

    caller: Caller
    request: Request
    placed: Placed
    opened: OpenBrain
    salt: str
    tally: _Tally

    def name_of(self, path: str, root: str, *, single: bool) -> str:
        """What a file is called: its place in its checkout, else in the tree that was named, else where it lies."""
        if self.request.source is not None and single:
            return self.request.source
        top = self.placed.checkout
        if top is not None and path.startswith(top.rstrip("/") + "/"):
            named = os.path.relpath(path, top)
        else:
            named = path if single else os.path.relpath(path, root)
        return cleaned(named.replace(os.sep, "/"))[0]

    def scope(self, source: str, kind: SourceType, now: int) -> Scope:
        request = self.request
        default = {
            SourceType.PROJECT: Provenance.RESEARCH,
            SourceType.CONVERSATION: Provenance.HUMAN,
            SourceType.MANUAL: default_provenance(self.caller.channel),
        }[kind]
        return Scope(
            source=source,
            source_type=kind,
            provenance=request.provenance or default,
            anchor=self.placed.anchor,
            domain=request.domain,
            field=request.field,
            wing=request.wing,
            room=request.room,
            added_at=now,
            tags=request.tags,
            importance=request.importance,
            recorded_by=self.caller.signature,
        )

    def key(self, scope: Scope, form: Format) -> str:
        """Under which a source was taken in: with other words around it or read otherwise it is another one."""
        request = self.request
        parts = {
            "anchor": scope.anchor.id,
            "kind": scope.anchor.kind,
            "parent": scope.anchor.parent,
            "domain": scope.domain,
            "field": scope.field,
            "provenance": scope.provenance,
            "wing": scope.wing,
            "room": scope.room,
            "type": scope.source_type,
            "typed": request.text is not None,
            "form": form,
            "strip_noise": request.strip_noise,
            "keep_tools": request.keep_tools,
        }
        return json.dumps(parts, ensure_ascii=False, sort_keys=True)


def _batched(pieces: Iterator[Piece], rows: int) -> Iterator[tuple[list[Piece], bool]]:
    """Pieces in batches of about so many rows, the last one marked; an empty source has one empty batch."""
    batch: list[Piece] = []
    count = 0
    for piece in pieces:
        if batch and count + len(piece.chunks) > rows:
            yield batch, False
            batch, count = [], 0
        batch.append(piece)
        count += len(piece.chunks)
    yield batch, True


def _watched(file: IO[bytes], size: int, progress: Progress | None, name: str) -> Iterator[bytes]:
    done = told = 0
    step = max(size // _STEPS, _STEP_BYTES)
    for line in lines_of(file):
        yield line
        done += len(line)
        if progress is not None and done - told > step:
            progress(min(done, size), size, name)
            told = done


def _decoded(data: bytes) -> tuple[str, int]:
    """The text of a document, and how much of it was not."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return cleaned(data.decode("utf-16", "replace"))
    try:
        return cleaned(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        kept, replaced = cleaned(text)
        return kept, replaced + text.count("\ufffd")


def _unread(name: str, failure: HindbrainError | OSError) -> dict[str, Any]:
    if isinstance(failure, HindbrainError):
        return {"source_file": name, "code": failure.code, "reason": failure.message}
    return {"source_file": name, "code": PathRefused.code, "reason": str(failure.strerror or failure)}
