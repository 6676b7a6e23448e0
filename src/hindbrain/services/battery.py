"""The battery: confusions that were confirmed, as cases that run against the live brain. Makes, lists and runs them.

A case only asks; whoever runs it hands in the way to ask, which is the public operations with a session of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.battery import Case, Failing, Verdict
from hindbrain.domain.brain import MEDULLA, Brain, Tier
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.letter import Letter
from hindbrain.domain.misdelivery import Misdelivery
from hindbrain.engines.battery import case_text, drafted, judged, read_case
from hindbrain.engines.confusion import confirmed, iso_week, sent_at
from hindbrain.engines.fence import shown
from hindbrain.engines.moments import stamped
from hindbrain.policy.battery import FOR_ALL
from hindbrain.services.brains import Brains
from hindbrain.services.gateway import Gateway
from hindbrain.services.mailbox.sweep import Sweep
from hindbrain.services.routing import Router
from hindbrain.stores.battery_files import case_files, place_case
from hindbrain.stores.home import Home

__all__ = ["Battery", "Shelf"]

Ask = Callable[[str, Mapping[str, Any]], dict[str, Any]]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The cases of one brain, and the files beside them that are none."""

    brain: Brain
    cases: tuple[Case, ...]
    unreadable: tuple[dict[str, str], ...]


class Battery:
    """Cases of the caller's own brain and of the medulla."""

    def __init__(
        self, home: Home, brains: Brains, router: Router, gateway: Gateway, sweep: Sweep, clock: Callable[[], int]
    ) -> None:
        self._home = home
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._sweep = sweep
        self._clock = clock

    # -- cases -------------------------------------------------------------------------------------------------------

    def shelves(self, caller: Caller) -> list[Shelf]:
        """The battery of the caller's brain, then the medulla's."""
        own = self._router.route(caller).brain
        return [self._shelf(brain) for brain in (*([own] if own is not None else []), self._home.medulla())]

    def _shelf(self, brain: Brain) -> Shelf:
        cases: list[Case] = []
        unreadable: list[dict[str, str]] = []
        try:
            files, left = case_files(self._home.battery_dir(brain))
        except PathRefused as refused:
            return Shelf(
                brain=brain, cases=(), unreadable=({"file": str(self._home.battery_dir(brain)), "reason": refused.message},)
            )
        for name, raw in files:
            found = raw if isinstance(raw, str) else read_case(raw, name=name)
            if isinstance(found, Case):
                cases.append(found)
            else:
                unreadable.append({"file": f"{name}.json", "reason": found})
        if left:
            unreadable.append({"file": "…", "reason": f"{left} more files are beyond what one battery holds"})
        return Shelf(brain=brain, cases=tuple(cases), unreadable=tuple(unreadable))

    def add(
        self,
        caller: Caller,
        *,
        letter_id: str | None,
        kind: Misdelivery | None,
        tier: Tier | None,
        name: str | None,
        about: str | None,
        absent: Sequence[str],
        present: Sequence[str],
    ) -> dict[str, Any]:
        """A case from a letter; without one it is synthetic: a detector for what has not happened yet."""
        letter = self._letter(caller, letter_id)
        chosen = kind or self._kind_of(letter)
        brain = self._router.named(caller, MEDULLA if self._concerns_all(chosen, tier) else None)
        # A project's own case always concerns it, whatever the directory is called into which it was cloned.
        own = self._router.route(caller).brain if brain.root is None else None
        if letter is not None and brain.root is not None:
            self._refuse_foreign(caller, letter, brain)
        words = about if about is not None else (letter.what or letter.expected or "") if letter is not None else ""
        case = Case(
            id=name or f"{chosen.value.replace('_', '-')}-{letter.id if letter is not None else 'synthetic'}",
            kind=chosen,
            date=self._day(letter),
            letter=letter.id if letter is not None else None,
            synthetic=letter is None,
            what=words[:500],
            probes=drafted(chosen, about=words, absent=absent, present=present, where=own.display_name if own else None),
        )
        text = case_text(case)
        self._gateway.check_text(text)
        wrong = read_case(text.encode("utf-8"), name=case.id)
        if isinstance(wrong, str):
            raise InvalidParams(f"this makes no case: {wrong}", fix="give shorter texts and a name of a-z, 0-9 and -")
        with self._brains.use(brain) as opened:
            self._gateway.check_hygiene(opened, [text, words, *absent, *present], site="battery")
        directory = self._home.battery_dir(brain)
        if brain.root is None:
            self._home.make(directory)
        return {
            "case": case,
            "battery": brain.name,
            "path": str(directory / f"{case.id}.json"),
            "added": place_case(directory, case.id, text),
        }

    def _letter(self, caller: Caller, letter_id: str | None) -> Letter | None:
        if letter_id is None:
            return None
        found = self._sweep.letter(caller, letter_id)
        if found is None:
            raise InvalidParams(
                f"no letter {letter_id[:80]!r} is known here", fix="hindbrain triage-session lists letters with their ids"
            )
        return found

    def _refuse_foreign(self, caller: Caller, letter: Letter, brain: Brain) -> None:
        """A case lies with the brain that was bitten: what happened to another project is written down there."""
        homes = self._sweep.homes(caller, letter)
        if homes and brain.name not in homes:
            raise InvalidParams(
                f"the letter {letter.id} is about {shown(homes[0])[:200]}",
                fix="make the case in that project, or give tier medulla when it concerns all",
            )

    def _day(self, letter: Letter | None) -> str:
        """The day on which it happened, else today."""
        at = sent_at(letter) if letter is not None else None
        return stamped(at if at is not None and iso_week(at) is not None else self._clock())[:10]

    @staticmethod
    def _kind_of(letter: Letter | None) -> Misdelivery:
        try:
            return Misdelivery(letter.kind if letter is not None and letter.kind else "")
        except ValueError:
            raise InvalidParams(
                "neither the call nor the letter says what kind of confusion it was",
                fix=f"give kind as one of {', '.join(kind.value for kind in Misdelivery)}",
            ) from None

    @staticmethod
    def _concerns_all(kind: Misdelivery, tier: Tier | None) -> bool:
        return tier is Tier.MEDULLA or (tier is None and kind in FOR_ALL)

    # -- runs --------------------------------------------------------------------------------------------------------

    def run(
        self, caller: Caller, ask: Ask, progress: Progress, *, only: str | None = None
    ) -> tuple[list[Verdict], list[dict[str, str]]]:
        """Every case against the caller's brain, by asking it as anybody would. Also the files that are no case."""
        own = self._router.write_route(caller)
        shelves = self.shelves(caller)
        cases = [(shelf.brain, case) for shelf in shelves for case in shelf.cases if only in (None, case.id)]
        verdicts = []
        for number, (brain, case) in enumerate(cases):
            progress(number, len(cases), case.id)
            verdicts.append(self._verdict(brain, case, own, ask))
        if only is not None and not cases:
            raise InvalidParams(f"no case {only[:80]!r} is here", fix="hindbrain battery list")
        return verdicts, [one for shelf in shelves for one in shelf.unreadable]

    @staticmethod
    def _verdict(brain: Brain, case: Case, own: Brain, ask: Ask) -> Verdict:
        probes = [probe for probe in case.probes if probe.where in (None, own.display_name)]
        failing: list[Failing] = []
        for probe in probes:
            failing += judged(probe, ask(probe.call, probe.arguments), own=own.name)
        return Verdict(
            id=case.id,
            kind=case.kind.value,
            battery=brain.tier.value,
            passed=not failing,
            asked=len(probes),
            failing=tuple(failing),
        )

    # -- what still lacks a case -------------------------------------------------------------------------------------

    def check(self, caller: Caller) -> tuple[list[dict[str, Any]], int]:
        """Confirmed events that no triage ties to a case that exists, and how many events there are."""
        known, _ = self._sweep.look(caller)
        readable = {row["id"] for row in self._sweep.sweep(caller)["letters"]}
        ids = self._case_ids(caller)
        lacking: list[dict[str, Any]] = []
        events = 0
        for letter in known.letters:
            if letter.id not in readable or (kind := confirmed(letter, known.graph)) is None:
                continue
            events += 1
            closing = [one for one in known.graph.answered_by(letter) if one.closes]
            named = [one.case for one in closing if one.case]
            if not any(name in ids for name in named):
                row = {"letter": letter.id, "kind": kind.value, "what": letter.what, "triaged": bool(closing), "named": named}
                lacking.append(row)
        return lacking, events

    def _case_ids(self, caller: Caller) -> set[str]:
        others = self._brains.all() if self._sweep.reads_all(caller) else ()
        shelves = [*self.shelves(caller), *map(self._shelf, others)]
        return {case.id for shelf in shelves for case in shelf.cases}
