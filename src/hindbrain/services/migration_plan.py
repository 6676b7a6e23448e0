"""The plan of a migration: every live claim of the medulla with the class and the project it is proposed for. Reads only, and
proposes only: the table is a person's."""

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from hindbrain.domain.brain import Brain, born_in, contains
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import Claim, body_text, parse
from hindbrain.domain.errors import InvalidParams, TableRefused
from hindbrain.domain.migration import Placement, TableRow, moved_to, read_table, table_text
from hindbrain.engines.light_graph import evidence_path
from hindbrain.engines.triage import proposal
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.ingest_roots import roots_files
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.routing import Router
from hindbrain.stores.atomic import write_new
from hindbrain.stores.ordinary_file import open_ordinary
from hindbrain.stores.port import Version

__all__ = ["SCHEMA", "MigrationPlan"]

SCHEMA = "hindbrain-migrate-v0"
_TABLE_MAX_BYTES = 64 * 1024 * 1024


class MigrationPlan:
    """Proposes a table, and holds a table against what is there."""

    def __init__(self, brains: Brains, router: Router, reconciler: Reconciler) -> None:
        self._brains = brains
        self._router = router
        self._reconciler = reconciler

    def plan(self, *, target: str | None) -> dict[str, Any]:
        """One row per live claim, the counts, and the ingest roots that lead nowhere; with `target` also as a file to edit."""
        rows, not_served = self._rows()
        counts = {one.value: sum(row.placement is one for row in rows) for one in Placement}
        swept = [one.told() for one in roots_files(self._brains.home)]
        answer: dict[str, Any] = {
            "ok": True,
            "schema": SCHEMA,
            "rows": [row.told() for row in rows],
            "counts": counts,
            "ghost_roots": swept,
            "not_served": not_served,
            "rendered": _rendered(rows, counts, swept, not_served),
        }
        if target is not None:
            write_new(Path(target), table_text(rows).encode())
            answer["table"] = target
            answer["rendered"] += f"\nThe table is in {answer['table']}."
        return answer

    def _rows(self) -> tuple[list[TableRow], list[str]]:
        if not self._brains.has_medulla():
            return [], []
        brains = self._brains.all()
        with self._brains.use(self._brains.home.medulla()) as medulla:
            self._reconciler.fresh(medulla)
            live = list(medulla.store.each_live())
            rows = [self._row(medulla, version, brains) for version in live if version.active]
            known = {version.slug for version in live}
            stray = [str(medulla.place.file(facts.slug)) for facts in medulla.place.scan() if facts.slug not in known]
            return rows, sorted(stray + [str(medulla.place.path / name) for name in medulla.place.misnamed()])

    @staticmethod
    def _row(medulla: OpenBrain, version: Version, brains: list[Brain]) -> TableRow:
        claim = parse(version.text, fallback_label=version.slug)
        placement, reason = proposal(claim)
        destination = _destination(claim, brains) if placement is Placement.PROJECT else None
        if placement is Placement.PROJECT and destination is None:
            reason += "; which project cannot be told"
        return TableRow(
            slug=version.slug,
            placement=placement,
            destination=destination,
            reason=reason,
            file=str(medulla.holding(version.slug).file(version.slug)),
            has_origin_brain=claim.origin_brain is not None,
        )

    # -- a table against what is there -------------------------------------------------------------------------------

    @staticmethod
    def read(table: str) -> tuple[TableRow, ...]:
        """The rows of a table file."""
        path = Path(table)
        try:
            with open_ordinary(path) as file:
                return read_table(file.read(_TABLE_MAX_BYTES).decode("utf-8"))
        except (OSError, UnicodeDecodeError) as wrong:
            raise InvalidParams(
                f"{path} cannot be read as a table: {wrong}", fix="make one: hindbrain migrate plan --target FILE"
            ) from wrong

    def check(self, caller: Caller, rows: tuple[TableRow, ...], live: dict[str, Claim]) -> None:
        """Refuse a table that does not name every live claim once, or sends one where it cannot go. Names every problem."""
        problems: list[dict[str, Any]] = []
        times = Counter(row.slug for row in rows)
        problems += [_problem(slug, "is not in the table") for slug in sorted(live) if live[slug].active and slug not in times]
        problems += [_problem(slug, f"is in the table {count} times") for slug, count in times.items() if count > 1]
        for row in rows:
            if not is_done(row, live) and (row.slug not in live or not live[row.slug].active):
                problems.append(_problem(row.slug, "is no live claim of the medulla"))
            elif row.placement is Placement.PROJECT:
                problems += self._destination_problems(caller, row, live)
        if problems:
            told = "; ".join(f"{one['slug']} {one['problem']}" for one in problems[:3])
            more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
            raise TableRefused(
                f"the table does not fit the medulla: {told}{more}",
                fix="put these lines right, or make a new table: hindbrain migrate plan --target FILE",
                problems=problems,
            )

    def _destination_problems(self, caller: Caller, row: TableRow, live: dict[str, Claim]) -> list[dict[str, Any]]:
        if row.destination is None:
            return [_problem(row.slug, "has no destination", fix="name the root of its project, or let it stay")]
        brain = self._brains.home.project(row.destination)
        if brain is None:
            why = f"would go to {row.destination}, which has no brain"
            # The bootstrap that a refused write gets too: memory never creates a brain in silence.
            fix = self._router.bootstrap_fix(caller, row.destination) if os.path.isdir(row.destination) else None
            return [_problem(row.slug, why, code="brainless_root", fix=fix)]
        if is_done(row, live):
            return []
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            files = [place.file(row.slug) for place in opened.places if place.has(row.slug)]
            if files or opened.store.live([row.slug]):
                file = files[0] if files else opened.place.file(row.slug)
                why = f"would replace {file}"
                return [_problem(row.slug, why, file=str(file), fix="let it stay, or rename one of the two claims")]
        return []


def is_done(row: TableRow, live: dict[str, Claim]) -> bool:
    """True for a claim that an earlier migration already moved to where this row wants it."""
    there = moved_to(live[row.slug]) if row.slug in live else None
    return row.placement is Placement.PROJECT and there == f"{row.destination}#{row.slug}"


def _problem(slug: str, problem: str, **more: Any) -> dict[str, Any]:
    return {"slug": slug, "problem": problem, **{key: value for key, value in more.items() if value is not None}}


def _destination(claim: Claim, brains: list[Brain]) -> str | None:
    """The one registered project that a claim speaks of: by its origin, by the files it cites, by its name. None in doubt."""
    roots = [brain.root for brain in brains if brain.root is not None]
    if (born := next((brain.root for brain in brains if born_in(brain, claim.origin_brain)), None)) is not None:
        return born
    cited = Counter(root for value in claim.evidence for root in _citing(value, roots))
    best = [root for root, count in cited.items() if count == max(cited.values())]
    if len(best) == 1:
        return best[0]
    text = "\n".join((claim.label, claim.title or "", body_text(claim)))
    named = [b.root for b in brains if re.search(rf"(?<![\w-]){re.escape(b.display_name)}(?![\w-])", text, re.IGNORECASE)]
    return named[0] if len(named) == 1 and not cited else None


def _citing(value: str, roots: list[str]) -> list[str]:
    """The projects that have this file."""
    root, mark, _ = value.partition("#")
    if mark and root in roots:
        return [root]
    path = evidence_path(value)
    if os.path.isabs(path):
        return sorted((one for one in roots if contains(one, path)), key=len)[-1:]
    return [one for one in roots if path and ".." not in path.split("/") and os.path.exists(os.path.join(one, path))]


def _rendered(rows: list[TableRow], counts: dict[str, int], swept: list[dict[str, Any]], not_served: list[str]) -> str:
    lines = [
        f"Active claims in the medulla: {len(rows)}; " + ", ".join(f"{count} {name}" for name, count in counts.items()) + "."
    ]
    for row in rows:
        where = f" → {row.destination}" if row.destination else ""
        lines.append(f"  {row.slug}: {row.placement.value}{where} ({row.reason})")
    for one in swept:
        lines += [f"ghost root in {one['file']}: {gone['entry']} ({gone['reason']})" for gone in one["removed"]]
    lines += [f"not served, so not moved: {file}" for file in not_served]
    return "\n".join(lines)
