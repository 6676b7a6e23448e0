"""The sweep: every letter once, from the spool and all boxes, with its fate. Reads only, and decides who may see which."""

from collections.abc import Iterable, Mapping
from typing import Any

from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.letter import Letter
from hindbrain.engines.confusion import confusion, sent_at
from hindbrain.engines.fates import OPEN, counted, open_among
from hindbrain.services.brains import Brains
from hindbrain.services.mailbox.distribution import Distribution, Plan
from hindbrain.services.mailbox.reading import Known, Reading, shown_letter
from hindbrain.services.routing import Router, gap

__all__ = ["Sweep"]

SPOOL = "spool"
_NARROWED = "only this project's letters and the medulla's: every box is read by a person, or by a process of the user unless \
the setting all_brains is off"


class Sweep:
    """Looks at all letters at once. `wide` is whether this machine lets anybody but a person read across projects."""

    def __init__(self, brains: Brains, router: Router, reading: Reading, distribution: Distribution, *, wide: bool) -> None:
        self._brains = brains
        self._router = router
        self._reading = reading
        self._distribution = distribution
        self._wide = wide

    def look(self, caller: Caller) -> tuple[Known, Plan]:
        """All letters, and where each of the spool belongs."""
        plan = self._distribution.plan(caller)
        return self._reading.known(target.root for target in plan.targets.values() if target.root is not None), plan

    def sweep(self, caller: Caller) -> dict[str, Any]:
        """Every letter that the caller may read, once, with where it was found, its fate and its flags."""
        known, plan = self.look(caller)
        route, all_of_them = self._router.route(caller).brain, self.reads_all(caller)
        where = places_of(known)
        seen = [one for one in known.letters if all_of_them or self._is_of(one, where, plan, route)]
        ids = {letter.id for letter in seen}
        counts = counted(seen, known.graph)
        told = confusion(seen, known.graph, ())
        faces = {brain.root for brain in self._brains.all()}
        answer: dict[str, Any] = {
            "letters": [self._row(one, known, where[one.id], plan) for one in seen],
            "total": len(seen),
            "open": open_among(counts),
            "counts": counts,
            "boxes": [
                {"box": root or "medulla", "letters": len(batch.letters), "faceless": root is not None and root not in faces}
                for root, batch in known.boxes.items()
                if all_of_them or root is None or (route is not None and root == route.root)
            ],
            "unreachable": list(known.unreachable) if all_of_them else [],
            "pending": [
                {"id": one, "name": target.name, "reason": target.reason}
                for one, target in plan.targets.items()
                if target.reason is not None and one in ids
            ],
            "refused_hygiene": [{"id": one, "pattern_class": hit} for one, hit in plan.refused.items() if one in ids],
            "unresolved_refs": [one for one in known.graph.unresolved if one["id"] in ids],
            "malformed": known.spool.malformed + sum(batch.malformed for batch in known.boxes.values()),
            "misdelivery": {"by_kind": told.by_kind, "invalid_kind": told.invalid_kind, "rejected": told.rejected},
        }
        if not all_of_them:
            answer["honest_gaps"] = [gap("all_brains_off", _NARROWED)]
        return answer

    def waiting(self, caller: Caller) -> list[dict[str, Any]]:
        """The open letters, the oldest first; one whose time cannot be read comes last, in the order of its file."""
        rows = [row for row in self.sweep(caller)["letters"] if row["state"] in OPEN]
        return sorted(rows, key=lambda row: (row["at"] is None, row["at"] or 0))

    def letter(self, caller: Caller, letter_id: str) -> Letter | None:
        """A letter that the caller may read, by its id."""
        return self.among(caller, (letter_id,)).get(letter_id)

    def among(self, caller: Caller, ids: Iterable[str]) -> dict[str, Letter]:
        """Those of these letters that are here and that the caller may read."""
        known, plan = self.look(caller)
        found = {one: known.graph.letters[one] for one in ids if one in known.graph.letters}
        if self.reads_all(caller):
            return found
        where, brain = places_of(known), self._router.route(caller).brain
        return {one: letter for one, letter in found.items() if self._is_of(letter, where, plan, brain)}

    def homes(self, caller: Caller, letter: Letter) -> list[str]:
        """The brains that a letter is about: the box it belongs to, and those it lies in."""
        known, plan = self.look(caller)
        target = plan.targets.get(letter.id)
        meant = [target.shown] if target is not None and target.reason is None else []
        return [*dict.fromkeys((*meant, *(one for one in places_of(known).get(letter.id, ()) if one != SPOOL)))]

    def reads_all(self, caller: Caller) -> bool:
        """A person at a terminal always; a process of the user unless that is switched off; an agent without a shell never."""
        return caller.reads_all_brains(wide=self._wide)

    @staticmethod
    def _is_of(letter: Letter, where: Mapping[str, list[str]], plan: Plan, brain: Brain | None) -> bool:
        """Whether a letter lies in the box of this brain or in the medulla's, or would."""
        own = {"medulla", *([brain.name] if brain is not None else [])}
        target = plan.targets.get(letter.id)
        return bool(own & set(where[letter.id])) or (target is not None and target.reason is None and target.shown in own)

    @staticmethod
    def _row(letter: Letter, known: Known, where: list[str], plan: Plan) -> dict[str, Any]:
        target = plan.targets.get(letter.id)
        meant = target.shown if target is not None and target.reason is None else None
        # Letters of several projects stand side by side here: each says whose it is, by us and not by its own words.
        box = next((one for one in where if one != SPOOL), meant)
        return shown_letter(letter, known.graph, arrived=SPOOL not in where) | {
            "found_in": where,
            "box": box,
            "at": sent_at(letter),
        }


def places_of(known: Known) -> dict[str, list[str]]:
    """Where each letter lies: the spool, boxes by their root, the medulla's box."""
    found: dict[str, list[str]] = {letter.id: [SPOOL] for letter in known.spool.letters}
    for root, batch in known.boxes.items():
        for letter in batch.letters:
            found.setdefault(letter.id, []).append(root or "medulla")
    return found
