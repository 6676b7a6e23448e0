"""Migration: a medulla that mixes project facts and doctrine is sorted by a table that a person decides on. Nothing is lost or
doubled: a backup comes first, gates come last, and what fails is taken back."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from hindbrain.domain.brain import MEDULLA
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import Claim, outdated, parse, stamped
from hindbrain.domain.errors import HindbrainError, MigrationFailed, OwnerRunning, StaleWrite
from hindbrain.domain.ledger import Act
from hindbrain.domain.migration import AMBIGUOUS, Placement, Step, TableRow, arriving, pointer
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.gateway import Gateway
from hindbrain.services.ingest_roots import RootsFile, roots_files
from hindbrain.services.migration_plan import SCHEMA, MigrationPlan, is_done
from hindbrain.services.migration_steps import MigrationSteps, Move, Places
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.routing import Router
from hindbrain.services.rows import date_of
from hindbrain.stores.atomic import write_text
from hindbrain.stores.directories import make_directory
from hindbrain.stores.files import digest_of
from hindbrain.stores.locks import try_lock
from hindbrain.stores.migration_backup import MigrationBackup
from hindbrain.stores.port import Mark

__all__ = ["Migration"]

Progress = Callable[[int, int, str], None]


class Migration:
    """`migrate plan`, `apply` and `rollback`."""

    def __init__(
        self, brains: Brains, router: Router, gateway: Gateway, reconciler: Reconciler, clock: Callable[[], int]
    ) -> None:
        self._brains = brains
        self._home = brains.home
        self._gateway = gateway
        self._reconciler = reconciler
        self._clock = clock
        self._plan = MigrationPlan(brains, router, reconciler)
        self._steps = MigrationSteps(gateway, reconciler, clock)

    def plan(self, *, target: str | None) -> dict[str, Any]:
        """What a migration would do, claim by claim. Changes no memory."""
        return self._plan.plan(target=target)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No owner beside a migration: its answers would show claims in both places, or in none. Also keeps one from starting."""
        self._home.ensure()
        handle = try_lock(self._home.owner_lock)
        if handle is None:
            raise OwnerRunning(
                f"an owner is running on {self._home.path}; a migration wants the home for itself",
                fix="end it with: hindbrain stop; then migrate in a terminal",
            )
        try:
            yield
        finally:
            os.close(handle)

    @contextmanager
    def _places(self, roots: Iterable[str]) -> Iterator[Places]:
        with ExitStack() as held:
            medulla = held.enter_context(self._brains.use(self._home.medulla()))
            projects = {}
            for root in sorted(set(roots)):
                brain = self._home.project(root)
                if brain is None:
                    raise MigrationFailed(f"the brain of {root} is gone", fix="bring it back, then try again")
                projects[root] = held.enter_context(self._brains.use(brain))
            yield Places(medulla=medulla, projects=projects)

    # -- apply -------------------------------------------------------------------------------------------------------

    def apply(self, caller: Caller, *, table: str, progress: Progress) -> dict[str, Any]:
        """Carry out exactly this table. Refused as a whole before the first write, taken back as a whole after it."""
        rows = self._plan.read(table)
        with self._alone():
            self._recover(caller)
            live = self._live()
            self._plan.check(caller, rows, live)
            todo = [row for row in rows if not is_done(row, live) and row.placement is not Placement.AMBIGUOUS]
            todo = [row for row in todo if row.placement is Placement.PROJECT or live[row.slug].origin_brain is None]
            marks = sorted(row.slug for row in rows if row.placement is Placement.AMBIGUOUS)
            roots = roots_files(self._home)
            if not todo and not roots and marks == self._marked():
                return {
                    "ok": True,
                    "schema": SCHEMA,
                    "applied": False,
                    "already_migrated": True,
                    "rendered": "Nothing is left to do.",
                }
            with self._places(row.destination for row in todo if row.destination) as places:
                moves = [self._move(caller, places, row) for row in todo]
                for move in moves:
                    self._steps.check(places, move)
                return self._carry_out(caller, places, moves, marks, roots, progress)

    def _live(self) -> dict[str, Claim]:
        if not self._brains.has_medulla():
            return {}
        with self._brains.use(self._home.medulla()) as medulla:
            self._reconciler.fresh(medulla)
            self._reconciler.take_up(medulla)
            return {version.slug: parse(version.text, fallback_label=version.slug) for version in medulla.store.each_live()}

    def _marked(self) -> list[str]:
        if not self._brains.has_medulla():
            return []
        with self._brains.use(self._home.medulla()) as medulla:
            return sorted(mark.slug for mark in medulla.store.marks(kind=AMBIGUOUS))

    def _move(self, caller: Caller, places: Places, row: TableRow) -> Move:
        slug, now = row.slug, self._clock()
        before = places.medulla.store.live([slug])[slug].text
        claim = parse(before, fallback_label=slug)
        text, arrives = stamped(before, "Origin-Brain", MEDULLA), None
        if row.placement is Placement.PROJECT and row.destination is not None:
            told = (
                f"First written on {date_of(claim.created)} by {claim.source_agent or 'unknown'}"
                f" (Created: {claim.created or 'unknown'}); moved here from the medulla on {date_of(now)} by {caller.agent}."
            )
            text = pointer(claim, slug, row.destination, agent=caller.agent, now=now)
            arrives = arriving(before, row.destination, told=told)
        there = places.projects.get(row.destination or "") if arrives is not None else None
        step = Step(
            slug=slug,
            destination=row.destination if arrives is not None else None,
            before=digest_of(before),
            after=digest_of(text),
            arrived=digest_of(arrives) if arrives is not None else None,
            traces=tuple(digest_of(outdated(one)) for one in (before, text, arrives) if one is not None),
            history=_archives(places.medulla, slug),
            history_there=_archives(there, slug) if there else (),
        )
        return Move(step=step, before=before, after=text, arriving=arrives)

    def _carry_out(
        self, caller: Caller, places: Places, moves: list[Move], marks: list[str], roots: list[RootsFile], progress: Progress
    ) -> dict[str, Any]:
        total = len(moves) + 2
        active = self._steps.active(places)
        progress(0, total, "making a backup")
        backup = self._back_up(caller, places, moves, roots)
        try:
            for number, move in enumerate(moves, 1):
                progress(number, total, "moving claims")
                self._steps.carry_out(caller, places, move, backup.name)
            for one in roots:
                write_text(one.path, one.swept_text)
            self._record(caller, places.medulla, "medulla.migrate", backup.name, {"claims": len(moves)}, marks)
            progress(total - 1, total, "proving the result")
            gates = self._steps.prove(places, moves, active)
            backup.update(state="applied")
        except BaseException as failure:
            self._undo(caller, places, backup, failure)
            raise
        progress(total, total, "done")
        moved = sum(move.arriving is not None for move in moves)
        return {
            "ok": True,
            "schema": SCHEMA,
            "applied": True,
            "already_migrated": False,
            "migration": backup.name,
            "backup": str(backup.path),
            "counts": {"moved": moved, "stamped": len(moves) - moved, "ambiguous": len(marks)},
            "gates": gates,
            "roots": [one.told() for one in roots],
            "rendered": f"Moved {moved} and stamped {len(moves) - moved}. Active claims: {gates['active_before']} before; now "
            f"{gates['active_in_projects']} in projects and {gates['active_in_medulla']} in the medulla.\n"
            "To take it back: hindbrain migrate rollback",
        }

    def _back_up(self, caller: Caller, places: Places, moves: list[Move], roots: list[RootsFile]) -> MigrationBackup:
        """Copies of every file that will change and of the databases; the manifest is last and makes it valid."""
        MigrationBackup.sweep(self._home.medulla_dir)
        make_directory(self._home.medulla_dir)
        backup = MigrationBackup.begin(self._home.medulla_dir, self._clock())
        try:
            for move in moves:
                backup.keep(f"{move.step.slug}.light.md", move.before)
            for opened in places.everywhere():
                opened.store.backup(backup.database(opened.brain.fingerprint))
            lists = [backup.keep_list(number, one.path, one.text, after=one.swept_text) for number, one in enumerate(roots)]
            backup.save(
                {
                    "schema": SCHEMA,
                    "state": "applying",
                    "at": self._clock(),
                    "by": caller.agent,
                    "steps": [move.step.told() for move in moves],
                    "roots": lists,
                    "ambiguous": self._marked(),
                }
            )
        except BaseException:
            backup.remove()
            raise
        return backup

    def _record(
        self, caller: Caller, medulla: OpenBrain, act: str, migration: str, payload: dict[str, Any], marks: Iterable[str]
    ) -> None:
        """The act as a whole, with the list of claims that a person has yet to classify."""
        now, wanted = self._clock(), set(marks)
        known = {mark.slug for mark in medulla.store.marks(kind=AMBIGUOUS)}
        with medulla.store.writing() as writer:
            writer.append(
                Act(
                    act=act,
                    subject="brain",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=now,
                    payload={"migration": migration, "ambiguous": len(wanted), **payload},
                )
            )
            for slug in sorted(wanted - known):
                writer.put_mark(Mark(slug=slug, kind=AMBIGUOUS, at=now, by=caller.agent, channel=caller.channel.value))
            for slug in sorted(known - wanted):
                writer.drop_mark(slug, AMBIGUOUS)

    def _undo(self, caller: Caller, places: Places, backup: MigrationBackup, failure: BaseException) -> None:
        """Take a failed migration back; a failure that has a name is told as one of the migration."""
        try:
            left = self._take_back(caller, places, backup)
        except (HindbrainError, OSError) as second:
            raise MigrationFailed(
                f"the migration failed ({failure}) and could not be taken back completely: {second}",
                fix="see that the disk has room, then: hindbrain migrate rollback",
                rolled_back=False,
            ) from second
        if isinstance(failure, HindbrainError | OSError):
            raise MigrationFailed(
                f"the migration failed and was taken back: {failure}",
                fix=getattr(failure, "fix", None) or "put right what the message names, then apply the table again",
                rolled_back=True,
                left_alone=left,
                cause=getattr(failure, "code", "store_unavailable"),
            ) from failure

    # -- rollback ----------------------------------------------------------------------------------------------------

    def rollback(self, caller: Caller, *, progress: Progress) -> dict[str, Any]:
        """Take the last migration back: claim files as they were, byte for byte, and only what it created removed."""
        with self._alone():
            backups = MigrationBackup.all(self._home.medulla_dir)
            if not backups:
                text = "There is no migration to take back."
                return {"ok": True, "schema": SCHEMA, "rolled_back": False, "reason": text, "rendered": text}
            backup = backups[-1]
            steps = backup.steps
            with self._places(step.destination for step in steps if step.destination) as places:
                if backup.manifest["state"] == "applied":
                    self._check_unchanged(places, backup)
                left = self._take_back(caller, places, backup, progress)
        return {
            "ok": True,
            "schema": SCHEMA,
            "rolled_back": True,
            "migration": backup.name,
            "restored": len(steps) - len(left),
            "left_alone": left,
            "rendered": f"Took {backup.name} back; claims as they were: {len(steps) - len(left)}.",
        }

    def _check_unchanged(self, places: Places, backup: MigrationBackup) -> None:
        """Whatever was written since the migration is somebody's work, and a rejected value does not come back this way."""
        steps = backup.steps
        if changed := self._steps.changed(places, steps) + backup.changed_lists():
            raise StaleWrite(
                f"changed since the migration: {', '.join(changed[:5])}",
                fix="these are newer than the backup; move single claims back by memorize instead",
                changed=changed,
            )
        for step in steps:
            original = parse(backup.kept(f"{step.slug}.light.md"), fallback_label=step.slug)
            self._gateway.check_tombstones(places.medulla, original, slug=step.slug)

    def _take_back(
        self, caller: Caller, places: Places, backup: MigrationBackup, progress: Progress = lambda _done, _of, _text: None
    ) -> list[str]:
        """Undo what there is to undo, and forget the backup; returns the claims that somebody wrote meanwhile."""
        manifest, steps, left = backup.manifest, backup.steps, []
        for number, step in enumerate(reversed(steps)):
            progress(number, len(steps), "taking claims back")
            if not self._steps.take_back(caller, places, step, backup.kept(f"{step.slug}.light.md"), backup.name):
                left.append(step.slug)
        backup.restore_lists()
        self._record(caller, places.medulla, "medulla.rollback", backup.name, {"claims": len(steps)}, manifest["ambiguous"])
        backup.remove()
        return left

    def _recover(self, caller: Caller) -> None:
        """A migration that died in the middle is taken back before another begins."""
        for backup in reversed(MigrationBackup.all(self._home.medulla_dir)):
            if backup.manifest["state"] == "applying":
                with self._places(step.destination for step in backup.steps if step.destination) as places:
                    self._take_back(caller, places, backup)


def _archives(opened: OpenBrain, slug: str) -> tuple[str, ...]:
    return tuple(path.name for place in opened.places for _, path in place.history(slug))
