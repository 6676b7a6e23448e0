"""Migration steps: each claim's way to its project, its proof, and its way back. Every write passes the gateway, so that file,
row and ledger agree; what a dead process left is known by digests and taken back like the rest."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import body_text, outdated, parse
from hindbrain.domain.errors import MigrationFailed, StaleWrite
from hindbrain.domain.migration import Step
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.brains import OpenBrain
from hindbrain.services.gateway import Draft, Gateway
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.rows import DEMOTION, GRADED_WRONG
from hindbrain.stores.files import digest_of
from hindbrain.stores.port import Mark, Writer

__all__ = ["MigrationSteps", "Move", "Places"]

ACT = "claim.migrate"
BACK = "claim.rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A step with its texts, before it is carried out."""

    step: Step
    before: str
    after: str
    arriving: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The brains that a migration touches, all open."""

    medulla: OpenBrain
    projects: Mapping[str, OpenBrain]  # root -> brain

    def touched(self, step: Step) -> tuple[OpenBrain, ...]:
        """In the order of their paths, as promotion takes its locks: neither waits for the other."""
        found = [self.medulla, *([self.projects[step.destination]] if step.destination else [])]
        return tuple(sorted(found, key=lambda one: str(one.place.path)))

    def everywhere(self) -> tuple[OpenBrain, ...]:
        return (self.medulla, *self.projects.values())


class MigrationSteps:
    """Carries steps out, proves them, and takes them back."""

    def __init__(self, gateway: Gateway, reconciler: Reconciler, clock: Callable[[], int]) -> None:
        self._gateway = gateway
        self._reconciler = reconciler
        self._clock = clock

    # -- there -------------------------------------------------------------------------------------------------------

    def check(self, places: Places, move: Move) -> None:
        """What the gateway would refuse is refused before anything is written."""
        step = move.step
        self._gateway.check_text(move.after)
        if move.arriving is not None and step.destination is not None:
            there = places.projects[step.destination]
            self._gateway.check_text(move.arriving)
            self._gateway.check_hygiene(there, [move.arriving], site=f"migrate {step.slug}")
            self._gateway.check_tombstones(there, parse(move.arriving, fallback_label=step.slug), slug=step.slug)

    def carry_out(self, caller: Caller, places: Places, move: Move, migration: str) -> None:
        """Write the claim into its project, then pointer or stamp into the medulla: a crash may double it, never lose it."""
        step = move.step
        with self._locked(places, step):
            for opened in places.touched(step):
                self._reconciler.settle(opened, step.slug)
                live = opened.store.live([step.slug]).get(step.slug)
                if (live.digest if live else None) != (step.before if opened is places.medulla else None):
                    raise StaleWrite(
                        f"{opened.brain.name}#{step.slug} was changed while the migration ran",
                        fix="make a new plan when nobody writes",
                    )
            if move.arriving is not None and step.destination is not None:
                there = places.projects[step.destination]
                payload = {"migration": migration, "from": places.medulla.brain.name}
                self._put(caller, there, step.slug, move.arriving, ACT, payload, marks=self._grades(places.medulla, step.slug))
            payload = {"migration": migration, **({"to": step.destination} if step.destination else {})}
            self._put(caller, places.medulla, step.slug, move.after, ACT, payload)

    @staticmethod
    def _locked(places: Places, step: Step) -> ExitStack:
        with ExitStack() as held:
            for opened in places.touched(step):
                held.enter_context(opened.place.lock(step.slug, wait_s=LOCK_WAIT_S))
            return held.pop_all()

    def _put(
        self,
        caller: Caller,
        opened: OpenBrain,
        slug: str,
        text: str,
        act: str,
        payload: dict[str, str],
        *,
        marks: Iterable[Mark] = (),
    ) -> None:
        def note(writer: Writer) -> None:
            for mark in marks:
                writer.put_mark(mark)

        draft = Draft(
            claim=parse(text, fallback_label=slug),
            act=act,
            actor=caller.agent,
            channel=caller.channel,
            slug=slug,
            text=text,
            gated=False,
            payload=payload,
            before=note,
        )
        self._gateway.put_locked(opened, draft, slug, self._gateway.salt(opened))

    @staticmethod
    def _grades(medulla: OpenBrain, slug: str) -> list[Mark]:
        """A claim that was graded wrong is wrong in its project too."""
        return [replace(mark, kind=GRADED_WRONG) for mark in medulla.store.marks(slugs=[slug], kind=DEMOTION)]

    @staticmethod
    def active(places: Places) -> dict[str, frozenset[str]]:
        """Which of the medulla's active claims are active where: brain -> slugs."""
        shared = [version.slug for version in places.medulla.store.each_live() if version.active]
        return {
            opened.brain.name: frozenset(slug for slug, version in opened.store.live(shared).items() if version.active)
            for opened in places.everywhere()
        }

    # -- proof -------------------------------------------------------------------------------------------------------

    def prove(self, places: Places, moves: list[Move], active: Mapping[str, frozenset[str]]) -> dict[str, int]:
        """The gates; raises if one fails. `active` says which of the medulla's claims were active where before."""
        medulla = places.medulla.brain.name
        moved = {root: frozenset(m.step.slug for m in moves if m.step.destination == root) for root in places.projects}
        gone = frozenset[str]().union(*moved.values())
        for opened in places.everywhere():
            self._reconciler.fresh(opened)
            name = opened.brain.name
            self._prove_active(opened, active[medulla], active[name] | moved[name] if name != medulla else active[name] - gone)
        for move in moves:
            self._prove_texts(places, move)
        return {
            "active_before": len(active[medulla]),
            "active_in_projects": len(gone),
            "active_in_medulla": len(active[medulla] - gone),
            "history_files": len(moves),
        }

    @staticmethod
    def _prove_active(opened: OpenBrain, watched: frozenset[str], expected: frozenset[str]) -> None:
        """Each slug is live, and has the words by which seek finds it, where it should and nowhere else."""
        slugs = sorted(watched)
        live = {slug for slug, version in opened.store.live(slugs).items() if version.active}
        found = {slug for slug, words in opened.store.words(slugs).items() if words}
        for kind, have in (("live", live), ("found by seek", found)):
            if lost := sorted(expected - have):
                raise MigrationFailed(f"{', '.join(lost[:5])} would not be {kind} in {opened.brain.name}")
            if doubled := sorted(have - expected):
                raise MigrationFailed(f"{', '.join(doubled[:5])} would be {kind} in {opened.brain.name} too")

    def _prove_texts(self, places: Places, move: Move) -> None:
        """The history holds the original, and the destination its text."""
        step = move.step
        if digest_of(outdated(move.before)) not in self._traces(places.medulla, step.slug, step.history).values():
            raise MigrationFailed(f"the history of the medulla would not hold the original of {step.slug}")
        if step.destination is not None:
            there = places.projects[step.destination]
            text = there.holding(step.slug).read(step.slug) or ""
            said = body_text(parse(move.before)).strip()
            if digest_of(text) != step.arrived or not body_text(parse(text)).strip().startswith(said):
                raise MigrationFailed(f"{there.brain.name}#{step.slug} would not have the text of the original")

    @staticmethod
    def _traces(opened: OpenBrain, slug: str, known: Iterable[str]) -> dict[Path, str]:
        """Archives of a label that were not there before, with their digests."""
        fresh = [path for place in opened.places for _, path in place.history(slug) if path.name not in set(known)]
        return {path: digest_of(path.read_bytes().decode("utf-8", "surrogateescape")) for path in fresh}

    # -- back --------------------------------------------------------------------------------------------------------

    def changed(self, places: Places, steps: Iterable[Step]) -> list[str]:
        """What is by now neither as the migration found it nor as it left it."""
        found = []
        for step in steps:
            with self._locked(places, step):
                for opened in places.touched(step):
                    digest = self._settled(opened, step.slug)
                    mine = opened is places.medulla
                    if digest not in ((step.before, step.after) if mine else (step.arrived, None)):
                        found.append(f"{opened.brain.name}#{step.slug}")
        return found

    def take_back(self, caller: Caller, places: Places, step: Step, before: str, migration: str) -> bool:
        """The original into the medulla again, then the claim out of its project, with the archives that the migration made.
        False when somebody wrote the claim since: theirs is kept, and so is the project's."""
        medulla = places.medulla
        with self._locked(places, step):
            if self._settled(medulla, step.slug) == step.after:
                self._put(caller, medulla, step.slug, before, BACK, {"migration": migration})
            if self._settled(medulla, step.slug) != step.before:
                return False
            if digest_of(medulla.place.read(step.slug) or "") != step.before:
                raise MigrationFailed(f"{medulla.place.file(step.slug)} is not what it was")
            self._purge(medulla, step, step.history)
            if step.destination is not None:
                there = places.projects[step.destination]
                arrived = self._settled(there, step.slug)
                if arrived == step.arrived:
                    self._gateway.withdraw(there, step.slug, actor=caller.agent, channel=caller.channel)
                    with there.store.writing() as writer:
                        writer.drop_mark(step.slug, GRADED_WRONG)
                self._purge(there, step, step.history_there)
                return arrived in (step.arrived, None)
        return True

    def _settled(self, opened: OpenBrain, slug: str) -> str | None:
        """The digest of the live version, once file and row agree; None when there is none."""
        self._reconciler.settle(opened, slug)
        live = opened.store.live([slug]).get(slug)
        return live.digest if live else None

    def _purge(self, opened: OpenBrain, step: Step, known: Iterable[str]) -> None:
        for path, digest in self._traces(opened, step.slug, known).items():
            if digest in step.traces:
                path.unlink()
