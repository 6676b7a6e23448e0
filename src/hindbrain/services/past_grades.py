"""Grades at a time: what the ledger says about claims up to a moment. The marks beside a claim know only the present."""

from hindbrain.domain.brain import Tier
from hindbrain.domain.ledger import Entry
from hindbrain.domain.stored import stored_json
from hindbrain.services.brains import OpenBrain
from hindbrain.services.rows import DEMOTION, GRADED_WRONG
from hindbrain.stores.port import Mark, Version

__all__ = ["PastGrades"]

_ACT = "claim.grade"
_PAGE = 1_000


class PastGrades:
    """The grades of one brain that were given until a moment."""

    def __init__(self, opened: OpenBrain, at: int) -> None:
        self._shared = opened.brain.tier is Tier.MEDULLA
        self._given: dict[str, list[Entry]] = {}
        after = 0
        while page := opened.store.entries(after=after, act=_ACT, limit=_PAGE):
            for entry in page:
                if entry.at <= at:
                    self._given.setdefault(entry.subject.removeprefix("claim:"), []).append(entry)
            after = page[-1].seq

    def of(self, version: Version) -> list[Mark]:
        """Return the grades of a version as they were at that moment."""
        return self.marks(version.claim_id, version.slug, born_at=version.born_at, ended_at=version.ended_at)

    def marks(self, claim_id: str, slug: str, *, born_at: int, ended_at: int | None) -> list[Mark]:
        """Return the grades that a claim got while one text of it was live: a new text begins without any."""
        found: dict[str, Mark] = {}
        for entry in self._given.get(claim_id, ()):
            if entry.at < born_at or (ended_at is not None and entry.at >= ended_at):
                continue
            feedback = str(stored_json(entry.payload, "ledger").get("feedback"))
            wrong = feedback == "wrong"
            kind = (DEMOTION if self._shared else GRADED_WRONG) if wrong else f"graded_{feedback}"
            if not wrong and not self._shared:
                found.pop(GRADED_WRONG, None)
            found[kind] = Mark(slug=slug, kind=kind, at=entry.at, by=entry.actor, channel=entry.channel)
        return list(found.values())
