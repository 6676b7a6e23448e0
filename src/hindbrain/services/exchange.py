"""Exchange: a brain as one archive of plain files, and back. Into a brain that holds nothing an archive is restored; into any
other one each thing of it passes the gateway like any write."""

import json
import os
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec

from hindbrain.domain.archive import FORMAT
from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.claim import Claim, parse, slug_of
from hindbrain.domain.errors import HindbrainError, HumanNeeded, InvalidParams
from hindbrain.domain.evidence import EvidenceId
from hindbrain.domain.ledger import Act
from hindbrain.domain.typed import decoded
from hindbrain.policy.carrying import ARCHIVE_MAX_BYTES, MEMBERS_MOST
from hindbrain.policy.evidence import EXPORT_MAX_BYTES
from hindbrain.policy.limits import CLAIM_MAX_BYTES
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_exchange import CardExchange
from hindbrain.services.evidence_anchor import note_former
from hindbrain.services.evidence_exchange import MEMBER, EvidenceExchange
from hindbrain.services.exporting import Exporting
from hindbrain.services.gateway import Draft, Gateway
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.restoring import Restoring, manifest_of
from hindbrain.services.routing import Router
from hindbrain.stores.archive_file import opened_archive
from hindbrain.stores.port import BootEntry

__all__ = ["Exchange"]

SCHEMA = "hindbrain-export-v0"


class Exchange:
    """`export` and `import`."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        reconciler: Reconciler,
        evidence: EvidenceExchange,
        cards: CardExchange,
        settle: Callable[[OpenBrain], None],
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._reconciler = reconciler
        self._evidence = evidence
        self._cards = cards
        self._clock = clock
        self._exporting = Exporting(evidence, cards, settle)
        self._restoring = Restoring(brains, reconciler, settle, self._check_origin)

    def finish(self, opened: OpenBrain) -> None:
        """A brain that wakes finishes what a dead process was restoring."""
        self._restoring.finish(opened)

    # -- out ---------------------------------------------------------------------------------------------------------

    def export(
        self, caller: Caller, *, target: str, tier: str | None, progress: Callable[[int, int, str], None]
    ) -> dict[str, Any]:
        """Write everything of a brain as a .tar.gz of plain files."""
        path = Path(target)
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            counts = self._exporting.write(opened, path, progress)
        return {"ok": True, "schema": SCHEMA, "format": FORMAT, "path": str(path), "brain": brain.name, **counts}

    # -- in ----------------------------------------------------------------------------------------------------------

    def take_in(
        self,
        caller: Caller,
        *,
        source: str,
        tier: str | None,
        dry_run: bool,
        as_candidates: bool,
        progress: Callable[[int, int, str], None],
    ) -> dict[str, Any]:
        """Read an export into the caller's brain. Every claim passes the gateway; what is refused is named with its reason."""
        path = Path(source)
        if not as_candidates and not dry_run and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                "only a person imports an archive as it is; an agent imports candidates",
                fix="give as_candidates, or ask a person to run the import in a terminal",
            )
        if tier == MEDULLA and caller.channel is not Channel.HUMAN:
            raise HumanNeeded(
                "only a person restores the medulla from an export; agents share by promoting",
                fix="ask a person to run the import",
            )
        brain = self._router.named(caller, tier)
        told = {"ok": True, "schema": "hindbrain-import-v0", "brain": brain.name, "dry_run": dry_run}
        report: dict[str, Any] = {"taken": [], "unchanged": [], "refused": [], "as_candidates": [], "link_errors": []}
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            with opened_archive(path, most=ARCHIVE_MAX_BYTES) as archive:
                manifest = manifest_of(archive)
            if manifest is not None and not as_candidates and self._restoring.fits(opened, manifest):
                made = self._restoring.restore(caller, opened, path, manifest, dry_run=dry_run, progress=progress)
            else:
                made = None
        if made is not None:
            self._brains.drop(brain)  # whatever was known of the empty brain is opened anew
            counts = dict.fromkeys(report, 0) | {"restored": sum(made["rows"].values())}
            return told | {"mode": "restore", "counts": counts, "restored": made} | report | {"needs_human": made["needs_human"]}
        needs = self._merge(caller, brain, path, report, dry_run=dry_run, as_candidates=as_candidates, progress=progress)
        if not dry_run:
            self._record(caller, brain, report)
        counts = {name: len(rows) for name, rows in report.items()}
        return told | {"mode": "merge", "counts": counts, "needs_human": needs} | report

    def _merge(
        self,
        caller: Caller,
        brain: Brain,
        path: Path,
        report: dict[str, Any],
        *,
        dry_run: bool,
        as_candidates: bool,
        progress: Callable[[int, int, str], None],
    ) -> list[str]:
        """Each thing of an archive by itself, through the gateway; what would need a person."""
        with opened_archive(path, most=ARCHIVE_MAX_BYTES) as archive:
            members = [one for one in archive if one.isfile()][:MEMBERS_MOST]
            with self._brains.use(brain) as opened:
                arriving = [one for one in members if one.name in self._cards.NAMES and one.size <= EXPORT_MAX_BYTES]
                cards = self._cards.read({one.name: _text(archive, one) for one in arriving}, report)
                needs = self._cards.check_person(caller, opened, cards, dry_run=dry_run, as_candidates=as_candidates)
                ids: dict[str, EvidenceId] = {}
                for number, member in enumerate(members):
                    progress(number, len(members), "reading the export")
                    ids |= self._take_member(caller, opened, archive, member, report, dry_run=dry_run)
                with self._origin(archive, opened) as origin:
                    self._cards.take_in(
                        caller, opened, cards, ids, report, dry_run=dry_run, as_candidates=as_candidates, origin=origin
                    )
                named = _exported_from(archive)
                if not dry_run and named is not None and named != brain.name and os.path.isabs(named):
                    with opened.store.writing() as writer:
                        note_former(opened, writer, named)
        return needs

    def _record(self, caller: Caller, brain: Brain, report: dict[str, Any]) -> None:
        codes = dict(sorted(Counter(str(one["code"]) for one in report["refused"]).items()))
        payload: dict[str, Any] = {name: len(rows) for name, rows in report.items()} | {"refused_by_code": codes}
        with self._brains.use(brain) as opened, opened.store.writing() as writer:
            writer.append(
                Act(
                    act="brain.import",
                    subject="brain",
                    actor=caller.agent,
                    channel=Channel.IMPORT,
                    at=self._clock(),
                    payload=payload,
                )
            )

    def _take_member(
        self,
        caller: Caller,
        opened: OpenBrain,
        archive: tarfile.TarFile,
        member: tarfile.TarInfo,
        report: dict[str, Any],
        *,
        dry_run: bool,
    ) -> dict[str, EvidenceId]:
        """One file of the archive; of evidence, what its rows are called here."""
        directory, _, name = member.name.rpartition("/")
        if member.name == "boot_memory.json" and member.size <= 64 * 1024 * 1024:
            self._take_boot(caller, opened, _text(archive, member), report, dry_run=dry_run)
            return {}
        if member.name == MEMBER:
            return self._take_evidence(caller, opened, archive, member, report, dry_run=dry_run)
        if directory != "agent-memory" or not name.endswith(".light.md"):
            return {}
        if member.size > CLAIM_MAX_BYTES:
            report["refused"].append({"name": name[:80], "code": "claim_too_large"})
            return {}
        text = _text(archive, member)
        slug = name.removesuffix(".light.md")
        try:
            if slug_of(slug) != slug:
                raise InvalidParams(f"{name[:80]!r} is not the name of a claim")
            self._take_claim(caller, opened, slug, text, report, dry_run=dry_run)
        except HindbrainError as refused:
            report["refused"].append({"name": slug[:80], "code": refused.code, "reason": refused.message})
        return {}

    def _take_evidence(
        self,
        caller: Caller,
        opened: OpenBrain,
        archive: tarfile.TarFile,
        member: tarfile.TarInfo,
        report: dict[str, Any],
        *,
        dry_run: bool,
    ) -> dict[str, EvidenceId]:
        lines = archive.extractfile(member)
        if lines is None:
            return {}
        with self._origin(archive, opened) as origin:
            return self._evidence.take_in(caller, opened, lines, report, dry_run=dry_run, origin=origin)

    @contextmanager
    def _origin(self, archive: tarfile.TarFile, opened: OpenBrain) -> Iterator[OpenBrain | None]:
        """The brain that an archive comes from, if it is another one of this home: what it has buried since stays buried."""
        manifest = manifest_of(archive)
        born = self._born_in(archive) or (self._restoring.origin_here(opened, manifest) if manifest is not None else None)
        with ExitStack() as stack:
            yield stack.enter_context(self._brains.use(born)) if born is not None and born.name != opened.brain.name else None

    def _born_in(self, archive: tarfile.TarFile) -> Brain | None:
        """The brain of this home that an export was made of, if there is one."""
        name = _exported_from(archive)
        if name == MEDULLA:
            return self._brains.home.medulla() if self._brains.has_medulla() else None
        return self._brains.home.project(name) if name is not None and os.path.isabs(name) else None

    def _take_claim(
        self, caller: Caller, opened: OpenBrain, slug: str, text: str, report: dict[str, Any], *, dry_run: bool
    ) -> None:
        claim = parse(text, fallback_label=slug)
        live = opened.store.live([slug]).get(slug)
        if live is not None and live.text == text:
            report["unchanged"].append(slug)
            return
        self._gateway.check_text(text)
        self._gateway.check_hygiene(opened, [text], site="import")
        self._gateway.check_tombstones(opened, claim, slug=slug)
        self._check_origin(opened, claim, slug)
        if claim.absolute and caller.channel is not Channel.HUMAN:
            raise HumanNeeded("absolute doctrine is set by a person, in the medulla", fix="a person imports it in a terminal")
        if not dry_run:
            draft = Draft(
                claim=claim,
                act="claim.import",
                actor=caller.agent,
                channel=Channel.IMPORT,
                slug=slug,
                text=text,
            )
            self._gateway.put(opened, draft)
        report["taken"].append(slug)

    def _check_origin(self, opened: OpenBrain, claim: Claim, slug: str) -> None:
        """What the brain it was born in has rejected or forgotten since is not carried into another one of this home."""
        brain = self._brains.born_in(claim.origin_brain)
        if brain is not None and brain.name != opened.brain.name:
            with self._brains.use(brain) as origin:
                self._gateway.check_tombstones(origin, claim, slug=slug)

    def _take_boot(self, caller: Caller, opened: OpenBrain, text: str, report: dict[str, Any], *, dry_run: bool) -> None:
        """The keyed values of an export. A key that is there already keeps its value."""
        try:
            entries = decoded(text, list[_Keyed])
        except (msgspec.DecodeError, RecursionError) as wrong:
            report["refused"].append({"name": "boot_memory.json", "code": InvalidParams.code, "reason": str(wrong)})
            return
        known = {one.key for one in opened.store.boot()}
        for one in entries:
            if not one.key.strip() or one.key in known:
                continue
            try:
                by = one.updated_by_agent or caller.agent
                self._gateway.check_actor(by)
                self._gateway.check_text("".join([one.key, _json(one.value), *one.tags, *one.source_refs]))
                self._gateway.check_keyed(opened, one.key, one.value, more=[*one.tags, *one.source_refs], site="import")
            except HindbrainError as refused:
                report["refused"].append({"name": f"boot:{one.key[:80]}", "code": refused.code, "reason": refused.message})
                continue
            if not dry_run:
                self._put_keyed(caller, opened, one, by)
            report["taken"].append(f"boot:{one.key}")

    def _put_keyed(self, caller: Caller, opened: OpenBrain, one: "_Keyed", by: str) -> None:
        now = self._clock()
        act = Act(act="boot.set", subject="boot", actor=caller.agent, channel=Channel.IMPORT, at=now, payload={})
        entry = BootEntry(
            key=one.key,
            value=json.dumps(one.value, ensure_ascii=False, sort_keys=True),
            tags=json.dumps(one.tags, ensure_ascii=False),
            source_refs=json.dumps(one.source_refs, ensure_ascii=False),
            updated_at_ms=one.updated_at_ms or now,
            updated_by_agent=by,
        )
        with opened.store.writing() as writer:
            writer.append(act)
            writer.put_boot(entry)


class _Keyed(msgspec.Struct, kw_only=True):
    """One keyed value as an export holds it."""

    key: str
    value: Any = None
    tags: list[str] = []
    source_refs: list[str] = []
    updated_at_ms: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] = 0
    updated_by_agent: str = ""


def _json(value: Any, indent: int | None = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, sort_keys=True) + "\n"


def _text(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    return "" if file is None else file.read().decode("utf-8", "replace")


def _exported_from(archive: tarfile.TarFile) -> str | None:
    """The name of the brain that an export says it was made of."""
    try:
        told = json.loads(_text(archive, archive.getmember("export.json")))
    except (KeyError, ValueError):
        return None
    name = told.get("brain") if isinstance(told, dict) else None
    return name if isinstance(name, str) else None
