"""Moving in: the memory of another program is looked through, planned, and carried out in batches that each hold by themselves. A
second import brings nothing twice, and one that was killed goes on."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindbrain.domain.anchor import Anchor
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, HumanNeeded, InvalidParams, PathRefused, StoreUnavailable
from hindbrain.domain.ledger import Act
from hindbrain.domain.moving import Item, ItemKind, Unread
from hindbrain.engines.legacy import Observed
from hindbrain.policy.evidence import BATCH_ROWS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.memory_import import MemoryImport, Request
from hindbrain.services.moving.belonging import Belonging
from hindbrain.services.moving.letters import LetterTaking
from hindbrain.services.moving.observations import FileTaking, RowTaking, observed_of
from hindbrain.services.moving.source import Kind, Place, Source
from hindbrain.services.moving.taking import BootTaking, ClaimTaking, Origin
from hindbrain.services.moving.tally import Tally
from hindbrain.services.moving.telling import told
from hindbrain.services.routing import Router

__all__ = ["Moving", "Ways"]

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """The ways in, one for each kind of item."""

    claims: ClaimTaking
    rows: RowTaking
    files: FileTaking
    letters: LetterTaking
    boot: BootTaking


@dataclass(slots=True, kw_only=True)
class _Job:
    """One import on its way."""

    caller: Caller
    request: Request
    source: Source
    origin: Origin
    project: OpenBrain
    medulla: Callable[[], OpenBrain | None]
    tally: Tally = field(default_factory=Tally)
    waiting: dict[bool, list[tuple[Observed, Anchor]]] = field(default_factory=lambda: {False: [], True: []})


class Moving:
    """`memory import`: one front for every program. Palaces, which bring cards and outcomes along, have a way of their own."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        palaces: MemoryImport,
        ways: Ways,
        kinds: tuple[Kind, ...],
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._palaces = palaces
        self._ways = ways
        self._kinds = kinds
        self._clock = clock

    def run(self, caller: Caller, request: Request, progress: Progress) -> dict[str, Any]:
        """Tell what an import would bring, or bring it."""
        brain = self._router.write_route(caller)
        path = self._path(request.path)
        kind = self._kind(path, request)
        if kind is None:
            if request.projects:
                raise InvalidParams("that program keeps no projects", fix="name its wings, or leave project out")
            return self._palaces.run(caller, brain, path, request, progress)
        self._check(caller, kind, request)
        with ExitStack() as stack:
            source = stack.enter_context(kind.opened(Place(path=path, room=self._brains.home.path, root=brain.root)))
            project = stack.enter_context(self._brains.use(brain))

            def medulla() -> OpenBrain | None:
                if not (request.execute or self._brains.has_medulla()):
                    return None  # a plan does not make one
                return stack.enter_context(self._brains.use(self._brains.home.medulla()))

            job = _Job(
                caller=caller,
                request=request,
                source=source,
                origin=Origin(kind=source.kind, id=source.id),
                project=project,
                medulla=medulla,
            )
            try:
                self._take_all(job, Belonging(self._brains, brain, request.projects), progress)
            except StoreUnavailable as failure:
                failure.details |= {"kept_before": job.tally.taken}  # it stays, and the next import goes on from there
                raise
            self._record(job)
            human = caller.channel is Channel.HUMAN
            return told(job.tally, source, brain, path, execute=request.execute, human=human)

    # -- before anything is written ----------------------------------------------------------------------------------

    def _path(self, given: str) -> Path:
        path = Path(given)
        home = Path(os.path.realpath(self._brains.home.path))
        if path == home or home in path.parents:
            raise PathRefused(f"{given[:120]!r} is Hindbrain's own", fix="hindbrain import takes what hindbrain export wrote")
        if not path.exists():
            raise PathRefused(f"{given[:200]!r} does not exist", fix="give a database, a file or a directory that exists")
        return path

    def _kind(self, path: Path, request: Request) -> Kind | None:
        """The program whose memory lies at a path; None for a palace, or for what only the palaces could still know."""
        if request.kind == "auto":
            return next((kind for kind in self._kinds if kind.looks_like(path)), None)
        return next((kind for kind in self._kinds if kind.name == request.kind), None)

    @staticmethod
    def _check(caller: Caller, kind: Kind, request: Request) -> None:
        if request.wings or request.as_candidates:
            raise InvalidParams(f"{kind.name} has neither wings nor cards", fix="leave wings and as_candidates out")
        if request.projects and not kind.knows_projects:
            raise InvalidParams(f"{kind.name} keeps no projects", fix="leave project out")
        if request.projects and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                "only a person gives the memory of one project to another", fix="a person runs it with --project in a terminal"
            )

    # -- the way in --------------------------------------------------------------------------------------------------

    def _take_all(self, job: _Job, belonging: Belonging, progress: Progress) -> None:
        total = job.source.total()
        for number, one in enumerate(job.source.items()):
            if number % BATCH_ROWS == 0 or (isinstance(one, Item) and one.kind is ItemKind.FILE):
                progress(number, max(total, number), "taking items")
            if isinstance(one, Unread):
                job.tally.unread(one)
            elif (other := belonging.other(one)) is not None:
                job.tally.counts["other_projects"] += 1
                job.tally.others[other] += 1
            else:
                self._take(job, one)
        for shared in job.waiting:
            self._put(job, shared=shared)
        if job.request.execute:
            self._ways.letters.settle()

    def _take(self, job: _Job, item: Item) -> None:
        job.tally.flag(item)
        try:
            if item.shared:
                self._check_person(job, item)
            if item.kind is ItemKind.EVIDENCE:
                self._wait(job, item)
            elif item.kind is ItemKind.FILE:
                self._file(job, item)
            else:
                came = self._one(job, item)
                job.tally.count(item.kind, created=int(came), unchanged=int(not came))
        except StoreUnavailable:
            raise
        except HindbrainError as wrong:
            job.tally.refuse(item.key, wrong)

    @staticmethod
    def _check_person(job: _Job, item: Item) -> None:
        why = "letters of this machine" if item.kind is ItemKind.LETTER else "what held for every project goes to the medulla"
        job.tally.persons[why] += 1
        if job.caller.channel is not Channel.HUMAN:
            raise HumanNeeded(f"{why}; a person takes them over", fix="a person runs it in a terminal")

    def _one(self, job: _Job, item: Item) -> bool:
        execute = job.request.execute
        if item.kind is ItemKind.LETTER:
            return self._ways.letters.take(item)
        opened = job.medulla() if item.shared else job.project
        if opened is None:
            return True  # there is no medulla yet: whatever comes is new there
        if item.kind is ItemKind.BOOT:
            return self._ways.boot.take(job.caller, opened, item, execute=execute)
        return self._ways.claims.take(job.caller, opened, job.origin, item, execute=execute)

    def _file(self, job: _Job, item: Item) -> None:
        found = self._ways.files.take(job.caller, item, execute=job.request.execute)
        job.tally.count(ItemKind.FILE, created=found["chunks"], unchanged=found["skipped"])
        job.tally.counts["files"] += 1
        for name in ("broken_lines", "retired"):
            if found[name]:
                job.tally.counts[name] += found[name]
        rows = [{"name": f"{item.key}, line {one.get('line', 1)}"} | one for one in found["refused"]]
        job.tally.refuse_rows({name: one[name] for name in ("name", "code", "reason")} for one in rows)
        if more := found["refused_count"] - len(rows):
            job.tally.codes["unnamed"] += more  # an ingest names only the first of them

    def _wait(self, job: _Job, item: Item) -> None:
        waiting = job.waiting[item.shared]
        waiting.append(observed_of(item, job.source.kind))
        if len(waiting) >= BATCH_ROWS:
            self._put(job, shared=item.shared)

    def _put(self, job: _Job, *, shared: bool) -> None:
        rows, job.waiting[shared] = job.waiting[shared], []
        if not rows:
            return
        opened = job.medulla() if shared else job.project
        if opened is None:
            job.tally.count(ItemKind.EVIDENCE, created=len(rows))
            return
        found = self._ways.rows.take(job.caller, opened, rows, kind=job.source.kind, execute=job.request.execute)
        job.tally.count(ItemKind.EVIDENCE, created=found.created, unchanged=found.unchanged)
        job.tally.refuse_rows(found.refused)

    def _record(self, job: _Job) -> None:
        """One entry that an import was made, in the project's own ledger; none when nothing came of it."""
        tally = job.tally
        if not job.request.execute or not (tally.taken or tally.refusals):
            return
        payload: dict[str, Any] = {
            "kind": job.source.kind,
            "taken": tally.taken,
            "refused": tally.refusals,
            "refused_by_code": dict(sorted(tally.codes.items())),
        }
        with job.project.store.writing() as writer:
            writer.append(
                Act(
                    act="brain.import",
                    subject="brain",
                    actor=job.caller.agent,
                    channel=Channel.IMPORT,
                    at=self._clock(),
                    payload=payload,
                )
            )
