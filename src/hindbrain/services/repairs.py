"""Repairs: the few things doctor may put right by itself. Each touches only what is derived or ours, and loses nothing.
Rows of evidence are replaced only after a copy of the database."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import parse
from hindbrain.domain.errors import HindbrainError
from hindbrain.domain.ledger import Act
from hindbrain.domain.read_errors import CheckFailed
from hindbrain.services.audience import Audience
from hindbrain.services.brains import Brains
from hindbrain.services.embedding import Embedding
from hindbrain.services.evidence_faults import EvidenceFaults, fault_texts
from hindbrain.services.gateway import claim_terms
from hindbrain.services.graphs import Graphs
from hindbrain.services.home_files import FileProblem, HomeFiles
from hindbrain.services.index_health import (
    DERIVED,
    damaged_index,
    database_damage,
    files_health,
    graph_health,
    kind_of_damage,
    set_aside_health,
    vectors_health,
)
from hindbrain.services.ingests import Ingests, Request
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.recovery import index_problem
from hindbrain.stores.home import Home
from hindbrain.stores.sqlite_files import drop_set_aside
from hindbrain.stores.token_file import damage_of, ensure_token
from hindbrain.stores.vector_port import Shelf

__all__ = ["Repairs"]

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repair:
    """One thing to do: what is wrong, what is done about it, and how."""

    kind: str
    target: str
    problem: str
    action: str
    run: Callable[[Progress], None]


class Repairs:
    """Finds what is safe to repair in a home, and repairs it when told to."""

    def __init__(
        self,
        home: Home,
        brains: Brains,
        reconciler: Reconciler,
        embedding: Embedding,
        graphs: Graphs,
        ingests: Ingests,
        clock: Callable[[], int],
        files: HomeFiles,
        faults: EvidenceFaults,
        audience: Audience,
    ) -> None:
        self._faults = faults
        self._audience = audience
        self._reconciler = reconciler
        self._files = files
        self._home = home
        self._brains = brains
        self._embedding = embedding
        self._graphs = graphs
        self._ingests = ingests
        self._clock = clock

    def fix(self, caller: Caller, *, yes: bool, progress: Progress) -> dict[str, Any]:
        """The plan, and with `yes` what came of it. A repair that fails is named and stops no other."""
        # Repairing writes: whoever may not read about a brain leaves its files alone.
        own = None if self._audience.reads_all(caller) else self._audience.names(caller)
        damaged = [one for one in self._files.of_home() if own is None or one.brain is None or one.brain in own]
        documents = [_rewriting(one) for one in damaged if one.repair is not None]
        planned = [*self._indexes(caller, own), *documents, *self._private()]
        rows = []
        for one in planned:
            row: dict[str, Any] = {"kind": one.kind, "target": one.target, "problem": one.problem, "action": one.action}
            if yes:
                try:
                    one.run(progress)
                    row["done"] = True
                except (HindbrainError, OSError) as failure:
                    row |= {"done": False, "failed": str(failure)}
            rows.append(row)
        left = [row for row in rows if not row.get("done")]
        report = {
            "ok": True,
            "schema": "hindbrain-doctor-fix-v0",
            "repairs": rows,
            "writes": yes and len(left) < len(rows),
            "rendered": _told(rows, yes=yes),
        }
        if yes and left:
            failed = CheckFailed(f"{len(left)} of {len(rows)} repairs failed", fix="`repairs` names the reason of each")
            return failed.report(report)
        return report

    def _indexes(self, caller: Caller, own: frozenset[str] | None) -> list[_Repair]:
        found = []
        known = [*self._brains.all(), *([self._home.medulla()] if self._brains.has_medulla() else [])]
        for brain in [one for one in known if own is None or one.name in own]:
            try:
                with self._brains.use(brain) as opened:
                    damage = database_damage(opened)
                    problem = damaged_index(damage) or index_problem(opened)
                    vectors = vectors_health(opened, self._embedding, damage)
                    graph, files = graph_health(opened, self._graphs, damage), files_health(damage)
                    left = [one.text for one in set_aside_health(opened)]
                    mirrors = list(self._files.of_brain(opened))
                    faults = fault_texts(self._faults.found(opened))
                    copy = self._faults.copy_name(opened)
            except (HindbrainError, OSError):
                continue  # doctor names a brain that cannot be opened; no repair of ours reaches into it
            if problem is not None:
                found.append(
                    _Repair(
                        kind="index",
                        target=brain.name,
                        problem=problem,
                        action="build the text index again from the claims",
                        run=self._reindexing(caller, brain),
                    )
                )
            if vectors is not None and vectors.kind == "vectors_lag":
                found.append(
                    _Repair(
                        kind="vectors",
                        target=brain.name,
                        problem=vectors.text,
                        action="give every row its vectors",
                        run=self._embedding_anew(brain),
                    )
                )
            if graph is not None and brain.root is not None and os.path.isdir(brain.root):
                found.append(
                    _Repair(
                        kind="graph",
                        target=brain.name,
                        problem=graph.text,
                        action="take the files in again",
                        run=self._ingesting(caller, brain),
                    )
                )
            found += [_rewriting(one) for one in mirrors if one.repair is not None]
            if faults:
                found.append(
                    _Repair(
                        kind="evidence",
                        target=brain.name,
                        problem="; ".join(text for _, text, _ in faults),
                        action=f"copy brain.db to {copy}, then remove that text and correct that label",
                        run=self._relabelling(caller, brain, copy),
                    )
                )
            if files is not None:
                found.append(
                    _Repair(
                        kind="files",
                        target=brain.name,
                        problem=files.text,
                        action="look at every claim file again",
                        run=self._looking_again(brain),
                    )
                )
            if left or any(kind_of_damage(one) for one in damage):
                found.append(
                    _Repair(
                        kind="copies",
                        target=brain.name,
                        problem="; ".join(left) or "damaged files will be set aside",
                        action="remove the damaged copies of derived files",
                        run=self._removing_copies(brain),
                    )
                )
        return found

    def _relabelling(self, caller: Caller, brain: Brain, copy: Path) -> Callable[[Progress], None]:
        def run(_progress: Progress) -> None:
            with self._brains.use(brain) as opened:
                self._faults.repair(caller, opened, copy)

        return run

    def _looking_again(self, brain: Brain) -> Callable[[Progress], None]:
        def run(_progress: Progress) -> None:
            with self._brains.use(brain) as opened:
                opened.state.renew()
                for place in opened.places:
                    self._reconciler.scan(opened, place)

        return run

    def _removing_copies(self, brain: Brain) -> Callable[[Progress], None]:
        return lambda _progress: drop_set_aside(self._home.brain_dir(brain), *DERIVED)

    def _embedding_anew(self, brain: Brain) -> Callable[[Progress], None]:
        def run(progress: Progress) -> None:
            with self._brains.use(brain) as opened:
                vectors = opened.store.vectors
                if any(kind_of_damage(one) == "vectors_lag" for one in opened.store.check()):
                    for stamp in {one for shelf in Shelf for one in vectors.stamps(shelf)}:
                        vectors.drop(stamp)
                self._embedding.embed_all(opened, progress)

        return run

    def _ingesting(self, caller: Caller, brain: Brain) -> Callable[[Progress], None]:
        """A graph that is there is brought up to date, one that is gone is made again from all its roots."""

        def run(progress: Progress) -> None:
            with self._brains.use(brain) as opened:
                if opened.graph is not None:
                    opened.graph.renew_damaged()
                if not opened.graph_lost:
                    for place in self._graphs.places(opened):
                        request = Request(
                            path=place.root,
                            incremental=True,
                            include_dotfiles=place.patterns is not None,
                            dotfile_patterns=place.patterns or (),
                        )
                        self._ingests.run(caller, opened, request, progress)
                    return
                self._ingests.rebuild(caller, opened, progress)

        return run

    def _reindexing(self, caller: Caller, brain: Brain) -> Callable[[Progress], None]:
        def run(progress: Progress) -> None:
            with self._brains.use(brain) as opened:
                opened.store.rebuild_index(lambda v: claim_terms(parse(v.text, fallback_label=v.slug)), progress)
                with opened.store.writing() as writer:
                    writer.append(
                        Act(
                            act="index.rebuild",
                            subject="index",
                            actor=caller.agent,
                            channel=caller.channel,
                            at=self._clock(),
                            payload={},
                        )
                    )

        return run

    def _private(self) -> list[_Repair]:
        found = []
        for path in self._home.token_files:
            if not path.exists():
                continue
            if path.stat().st_mode & 0o077:
                found.append(
                    _Repair(
                        kind="token",
                        target=path.name,
                        problem="others can read it",
                        action="make it readable by its user only",
                        run=_making_private(path),
                    )
                )
            if (why := damage_of(path)) is not None:
                found.append(
                    _Repair(
                        kind="token",
                        target=path.name,
                        problem=f"it is no token: {why}",
                        action="write a new token, which the next owner uses",
                        run=_renewing(path),
                    )
                )
        return found


def _renewing(path: Path) -> Callable[[Progress], None]:
    def run(_progress: Progress) -> None:
        ensure_token(path)

    return run


def _rewriting(one: FileProblem) -> _Repair:
    repair = one.repair
    assert repair is not None  # noqa: S101 - the caller chose those that have one
    return _Repair(kind="file", target=str(one.path), problem=one.why, action=one.action, run=lambda _progress: repair())


def _making_private(path: Path) -> Callable[[Progress], None]:
    return lambda _progress: os.chmod(path, 0o600)


def _told(rows: list[dict[str, Any]], *, yes: bool) -> str:
    if not rows:
        return "Nothing needs a repair that is safe to make; hindbrain doctor tells what else there is."
    lines = []
    for row in rows:
        mark = "done" if row.get("done") else f"failed: {row['failed']}" if "failed" in row else "would"
        lines.append(f"{mark}: {row['action']} ({row['target']}: {row['problem']})")
    return "\n".join(lines if yes else [*lines, "Nothing was changed. Carry it out with: hindbrain doctor --fix --yes"])
