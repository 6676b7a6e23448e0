"""Import of other programs' memories: a mempal database of any version, a MemPalace palace. Planned first; carried out in batches
that each hold by themselves, so that a second import does nothing and one that was killed goes on."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindbrain.domain.anchor import GLOBAL, LEGACY, Anchor, AnchorKind
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import HindbrainError, HumanNeeded, InvalidParams
from hindbrain.domain.evidence import Domain, EvidenceId
from hindbrain.domain.ledger import Act
from hindbrain.engines.legacy import Observed, fact, observed
from hindbrain.engines.legacy_cards import card_id_of, cited, known, outcome
from hindbrain.policy.evidence import BATCH_ROWS, REFUSED_MOST
from hindbrain.policy.legacy import FLAGGED_MOST
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_arrival import Arrival, Arrivals, Arrived, refusal, shown
from hindbrain.services.evidence_anchor import anchors_of
from hindbrain.services.foreign_cards import arrival_of, body_of, by_old_id
from hindbrain.services.foreign_evidence import ForeignEvidence
from hindbrain.services.outcome_arrival import OutcomeArrivals
from hindbrain.services.palaces import Palace, is_global, is_live, opened_palace
from hindbrain.stores.foreign_file import Record
from hindbrain.stores.port import ForeignCard

__all__ = ["MemoryImport", "Request"]

Progress = Callable[[int, int, str], None]
_GLOBAL = AnchorKind.GLOBAL.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a caller asks for."""

    path: str
    kind: str = "auto"
    wings: tuple[str, ...] = ()
    execute: bool = False
    as_candidates: bool = False
    projects: tuple[str, ...] = ()  # of the source, whose items belong here too


@dataclass(slots=True, kw_only=True)
class _Job:
    """One import on its way."""

    caller: Caller
    request: Request
    palace: Palace
    project: OpenBrain
    medulla: OpenBrain | None  # None while there is none: a plan does not make one
    own: tuple[Anchor, ...]
    ids: dict[str, EvidenceId] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    wings: Counter[str] = field(default_factory=Counter)
    refused: list[dict[str, Any]] = field(default_factory=list)
    flagged: list[dict[str, Any]] = field(default_factory=list)
    link_errors: list[dict[str, Any]] = field(default_factory=list)
    as_candidates: list[str] = field(default_factory=list)

    def wanted(self, row: Record) -> bool:
        return not self.request.wings or str(row.get("wing")) in self.request.wings


class MemoryImport:
    """`memory import`."""

    def __init__(
        self,
        brains: Brains,
        evidence: ForeignEvidence,
        arrivals: Arrivals,
        outcomes: OutcomeArrivals,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._evidence = evidence
        self._arrivals = arrivals
        self._outcomes = outcomes
        self._clock = clock

    def run(self, caller: Caller, brain: Brain, path: Path, request: Request, progress: Progress) -> dict[str, Any]:
        """Tell what an import into a brain would bring from a path that may be read, or bring it."""
        with ExitStack() as stack:
            palace = stack.enter_context(opened_palace(path, request.kind, self._brains.home.path))
            project = stack.enter_context(self._brains.use(brain))
            shared = any(is_global(row) for row in self._rows(palace, request))
            needs = self._persons(caller, palace, project, request, shared=shared)
            medulla = None
            if shared and (request.execute or self._brains.has_medulla()):
                medulla = stack.enter_context(self._brains.use(self._brains.home.medulla()))
            own = tuple(anchors_of(brain.root))
            job = _Job(caller=caller, request=request, palace=palace, project=project, medulla=medulla, own=own)
            self._take(job, progress)
            self._record(job)
            return self._told(job, path, needs)

    # -- before anything is written ----------------------------------------------------------------------------------

    @staticmethod
    def _rows(palace: Palace, request: Request) -> Iterator[Record]:
        """What may be taken, without what it says. Cards have no wing: a filter by wing leaves them out."""
        for row in palace.brief():
            if is_live(row) and (not request.wings or str(row.get("wing")) in request.wings):
                yield row
        if not request.wings:
            yield from palace.cards()

    def _persons(
        self, caller: Caller, palace: Palace, project: OpenBrain, request: Request, *, shared: bool
    ) -> list[dict[str, Any]]:
        """What of this only a person may do. A plan tells it; carrying it out by anybody else ends here, with nothing written."""
        needs: list[dict[str, Any]] = []
        if shared:
            needs.append({"for": "medulla", "why": "some rows are global and go to the medulla"})
        active = self._active(palace, project, request)
        if active and not request.as_candidates:
            needs.append({"for": "status", "why": f"{len(active)} card(s) would arrive active", "cards": active[:REFUSED_MOST]})
        if request.execute and caller.channel is not Channel.HUMAN:
            if shared:
                raise HumanNeeded(
                    "some rows are global; only a person fills the medulla from a file",
                    fix="ask a person to run it in a terminal, or name the wings to take",
                )
            self._arrivals.check_person(caller, active, as_candidates=request.as_candidates)
        return needs

    def _active(self, palace: Palace, project: OpenBrain, request: Request) -> list[Any]:
        if request.wings:
            return []
        made = []
        for row in palace.cards():
            try:
                made.append(self._arrival(row, LEGACY if not is_global(row) else GLOBAL, {}, palace.kind))
            except HindbrainError:
                continue  # it is refused, and told so, when its turn comes
        return self._arrivals.active(project, made)

    # -- the way in --------------------------------------------------------------------------------------------------

    def _take(self, job: _Job, progress: Progress) -> None:
        total = sum(1 for _ in job.palace.brief())
        self._take_rows(job, total, progress)
        if not job.request.wings:
            progress(total, total, "taking facts, cards and outcomes")
            self._take_facts(job)
        self._take_knowledge(job)
        if not job.request.wings:
            self._take_cards(job)
            self._take_outcomes(job)

    def _take_rows(self, job: _Job, total: int, progress: Progress) -> None:
        batches: dict[bool, list[tuple[Observed, Anchor]]] = {True: [], False: []}
        for number, row in enumerate(job.palace.rows()):
            if number % BATCH_ROWS == 0:
                progress(number, total, "taking rows")
            if not is_live(row):
                job.counts["deleted"] += 1
            elif not job.wanted(row):
                job.counts["other_wings"] += 1
            elif row.get("memory_kind") != "knowledge":
                self._add(job, batches, row, observed)
        for shared, batch in batches.items():
            self._put(job, batch, shared=shared)

    def _take_facts(self, job: _Job) -> None:
        batches: dict[bool, list[tuple[Observed, Anchor]]] = {True: [], False: []}
        for row in job.palace.facts():
            job.counts["facts"] += 1
            self._add(job, batches, row, lambda one: fact(one, job.palace.kind))
        self._put(job, batches[False], shared=False)

    def _add(
        self,
        job: _Job,
        batches: dict[bool, list[tuple[Observed, Anchor]]],
        row: Record,
        read: Callable[[Record], Observed],
    ) -> None:
        try:
            seen = read(row)
        except HindbrainError as wrong:
            job.refused.append(refusal(str(row.get("id")), wrong))
            return
        anchor = self._anchor(job, seen.anchor_kind, seen.anchor_id, seen.parent, seen.domain)
        job.flagged += [{"name": shown(seen.id), "flag": flag} for flag in seen.odd]
        batch = batches[anchor.kind is AnchorKind.GLOBAL]
        batch.append((seen, anchor))
        if len(batch) >= BATCH_ROWS:
            self._put(job, batch, shared=anchor.kind is AnchorKind.GLOBAL)
            batch.clear()

    def _put(self, job: _Job, batch: Sequence[tuple[Observed, Anchor]], *, shared: bool) -> None:
        opened = job.medulla if shared else job.project
        if not batch:
            return
        if opened is None:  # a plan for a medulla that is not there yet
            job.counts["evidence"] += len(batch)
            job.wings.update(seen.wing for seen, _ in batch)
            return
        kept = self._evidence.put(job.caller, opened, batch, name=job.palace.path.name, execute=job.request.execute)
        job.ids |= kept.ids
        job.wings.update(seen.wing for seen, _ in batch if seen.id in kept.ids)
        job.counts["evidence"] += kept.created
        job.counts["evidence_unchanged"] += kept.unchanged
        job.refused += kept.refused

    def _take_knowledge(self, job: _Job) -> None:
        """Knowledge rows of the first kind stay as they are until a backfill makes cards of them."""
        rows = [row for row in job.palace.rows() if row.get("memory_kind") == "knowledge" and is_live(row) and job.wanted(row)]
        self._resolve(job, rows)
        for shared in (False, True):
            made = []
            for row in rows:
                if is_global(row) is shared:
                    one = known(row)
                    anchor = self._anchor(job, one.anchor_kind, one.anchor_id, one.parent, one.domain)
                    refs = {ref.old_id: job.ids[ref.old_id] for ref in cited(row) if ref.old_id in job.ids}
                    body = body_of(row, refs=refs, anchor=anchor, origin=job.palace.kind)
                    made.append(ForeignCard(id=one.id, body=body, at=self._clock()))
                    job.flagged += [{"name": shown(one.id), "flag": flag} for flag in (*one.flags, *one.missing)]
            opened = job.medulla if shared else job.project
            if opened is None:
                job.counts["foreign_cards"] += len(made)
            elif made:
                kept = self._evidence.hold(job.caller, opened, made, execute=job.request.execute)
                job.counts["foreign_cards"] += kept.created
                job.counts["foreign_cards_unchanged"] += kept.unchanged
                job.refused += kept.refused

    def _take_cards(self, job: _Job) -> None:
        rows = list(job.palace.cards())
        self._resolve(job, rows)
        made: dict[bool, list[Arrival]] = {True: [], False: []}
        for row in rows:
            try:
                one = known(row)
                anchor = self._anchor(job, one.anchor_kind, one.anchor_id, one.parent, one.domain)
                made[anchor.kind is AnchorKind.GLOBAL].append(self._arrival(row, anchor, job.ids, job.palace.kind))
            except HindbrainError as wrong:
                job.refused.append(refusal(str(row.get("id")), wrong))
        for shared, arrivals in made.items():
            opened = job.medulla if shared else job.project
            if opened is None:
                job.counts["cards"] += len(arrivals)
                continue
            self._count(
                job,
                self._arrivals.take(
                    job.caller,
                    opened,
                    arrivals,
                    as_candidates=job.request.as_candidates,
                    execute=job.request.execute,
                    near=job.project if shared else None,
                    expected=frozenset(job.ids.values()),
                ),
            )

    def _arrival(self, row: Record, anchor: Anchor, refs: dict[str, EvidenceId], origin: str) -> Arrival:
        old_id = known(row).id
        if not old_id:
            raise InvalidParams("a card without an id")
        return arrival_of(
            row, card_id=card_id_of(old_id), anchor=anchor, refs=refs, origin=origin, opt_in=True, now=self._clock()
        )

    def _take_outcomes(self, job: _Job) -> None:
        events = []
        for row in job.palace.outcomes():
            try:
                events.append(outcome(row, now=self._clock()))
            except HindbrainError as wrong:
                job.refused.append(refusal(str(row.get("id")), wrong))
        kept = self._outcomes.take(job.caller, job.project, events, origin=job.palace.kind, execute=job.request.execute)
        job.counts["outcomes"] += len(kept.created)
        job.counts["outcomes_unchanged"] += len(kept.unchanged)
        job.refused += kept.refused

    def _resolve(self, job: _Job, rows: Sequence[Record]) -> None:
        """What these rows cite and this import did not bring may have come with an earlier one."""
        lacking = {ref.old_id for row in rows for ref in cited(row)} - job.ids.keys()
        for opened in (job.project, job.medulla):
            if lacking and opened is not None:
                job.ids |= by_old_id(opened, lacking)
                lacking -= job.ids.keys()

    def _anchor(self, job: _Job, kind: str, anchor_id: str, parent: str | None, domain: Domain) -> Anchor:
        """The anchor a row had, where it means something to this project; else the one of rows that come from elsewhere."""
        if kind == _GLOBAL:
            return GLOBAL if domain is Domain.GLOBAL else LEGACY  # one that breaks the rule of both programs stays at home
        for own in job.own:
            if own.kind.value == kind and own.id == anchor_id:
                return own
        repository = next((own.id for own in job.own if own.kind is AnchorKind.REPO and own != LEGACY), None)
        if kind == AnchorKind.WORKTREE.value and anchor_id.startswith("worktree:///") and parent and parent == repository:
            return Anchor(kind=AnchorKind.WORKTREE, id=anchor_id, parent=parent)
        return LEGACY

    # -- what is told ------------------------------------------------------------------------------------------------

    @staticmethod
    def _count(job: _Job, found: Arrived) -> None:
        job.counts["cards"] += len(found.created)
        job.counts["cards_unchanged"] += len(found.unchanged)
        job.counts["links"] += found.links
        job.counts["events"] += found.events
        job.refused += found.refused
        job.flagged += found.flagged
        job.link_errors += found.link_errors
        job.as_candidates += found.as_candidates

    def _record(self, job: _Job) -> None:
        """One entry that an import was made, in the project's own ledger; none when nothing came of it."""
        made = sum(job.counts[name] for name in ("evidence", "foreign_cards", "cards", "outcomes"))
        if not job.request.execute or not (made or job.refused):
            return
        codes = dict(sorted(Counter(str(one["code"]) for one in job.refused).items()))
        payload: dict[str, Any] = {"kind": job.palace.kind, "taken": made, "refused": len(job.refused), "refused_by_code": codes}
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

    @staticmethod
    def _told(job: _Job, path: Path, needs: list[dict[str, Any]]) -> dict[str, Any]:
        execute, counts = job.request.execute, dict(sorted(job.counts.items()))
        made = sum(job.counts[name] for name in ("evidence", "foreign_cards", "cards", "outcomes"))
        counts |= {"refused": len(job.refused), "flagged": len(job.flagged), "link_errors": len(job.link_errors)}
        return {
            "ok": True,
            "schema": "hindbrain-memory-import-v0",
            "brain": job.project.brain.name,
            "kind": job.palace.kind,
            "source_version": job.palace.version,
            "path": str(path),
            "execute": execute,
            "writes": execute and made > 0,
            "counts": counts,
            "wings": dict(sorted(job.wings.items())),
            "needs_human": needs,
            "as_candidates": job.as_candidates[:FLAGGED_MOST],
            "refused": job.refused[:REFUSED_MOST],
            "flagged": job.flagged[:FLAGGED_MOST],
            "link_errors": job.link_errors[:FLAGGED_MOST],
            "left_out": job.palace.left_out(),
            "rendered": _rendered(job, counts, needs),
        }


def _rendered(job: _Job, counts: dict[str, int], needs: list[dict[str, Any]]) -> str:
    verb = "Took" if job.request.execute else "Would take"
    version = f", version {job.palace.version}" if job.palace.version else ""
    named = (("evidence", "row(s)"), ("cards", "card(s)"), ("foreign_cards", "knowledge row(s)"), ("outcomes", "outcome(s)"))
    told = ", ".join(f"{counts[name]} {words}" for name, words in named if counts.get(name)) or "nothing new"
    lines = [f"{verb} {told} from {job.palace.kind}{version} into {job.project.brain.display_name}."]
    kept = sum(
        counts.get(name, 0) for name in ("evidence_unchanged", "cards_unchanged", "foreign_cards_unchanged", "outcomes_unchanged")
    )
    lines += [f"{kept} are here already."] if kept else []
    lines += [f"Refused {one['name']}: {one['reason']}" for one in job.refused[:5]]
    lines += [f"and {len(job.refused) - 5} more."] if len(job.refused) > 5 else []
    lines += [f"Odd: {one['name']}: {one['flag']}" for one in job.flagged[:5]]
    lines += [f"and {len(job.flagged) - 5} more."] if len(job.flagged) > 5 else []
    lines += [f"{len(job.as_candidates)} active card(s) arrive as candidates."] if job.as_candidates else []
    if not job.request.execute:
        lines += [f"A person has to run it: {one['why']}." for one in needs]
        lines += ["Nothing was written; --execute does it."]
    elif counts.get("foreign_cards"):
        lines += ["hindbrain knowledge backfill-plan shows which of the knowledge rows can become cards."]
    return "\n".join(lines)
