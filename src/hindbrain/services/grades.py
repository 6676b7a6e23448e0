"""Grades: what agents found out about claims afterwards. Kept beside the store; the claim file is never changed."""

from collections.abc import Callable, Sequence
from typing import Any

from hindbrain.domain.brain import Tier
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import slug_of
from hindbrain.domain.errors import InvalidLabel, InvalidParams, UnknownClaim
from hindbrain.domain.ledger import Act
from hindbrain.policy.etiquette import may_share
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.routing import Router
from hindbrain.services.rows import DEMOTION, GRADED_WRONG
from hindbrain.stores.port import Mark, Version

__all__ = ["FEEDBACK", "Grades", "checked_feedback", "names_code", "slug_named"]

FEEDBACK = ("correct", "wrong", "partial")


def checked_feedback(feedback: str) -> str:
    if feedback not in FEEDBACK:
        raise InvalidParams(f"feedback {feedback!r} is not a grade", fix=f"use one of {', '.join(FEEDBACK)}")
    return feedback


def names_code(name: str) -> bool:
    """True for what may be a node of code: an id or a path. Labels and slugs of claims, and ids of memory rows, are none."""
    return not name.startswith("light::") and ("::" in name or "/" in name or "." in name)


class Grades:
    """`learn`: correct, wrong or partial, for claims of this brain and of the medulla."""

    def __init__(self, brains: Brains, router: Router, reconciler: Reconciler, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._router = router
        self._reconciler = reconciler
        self._clock = clock

    def learn(
        self, caller: Caller, *, feedback: str, node_ids: Sequence[str], query: str, strength: float, tier: str | None
    ) -> dict[str, Any]:
        """Grade the named claims. `wrong` on a shared one takes it out of every default beat until it is consolidated."""
        checked_feedback(feedback)
        slugs = [slug for slug in (slug_named(one) for one in node_ids) if slug]
        if not slugs:
            raise InvalidParams("node_ids names no claim", fix="give slugs, labels or the node_id of memory rows")
        grades, found = [], 0
        for brain in self._brains_for(caller, tier):
            with self._brains.use(brain) as opened:
                self._reconciler.fresh(opened)
                own = [slug if slug.isascii() else opened.slug_for(slug) for slug in slugs]
                for slug, live in opened.store.live(own).items():
                    found += 1
                    grades.append(self._grade(caller, opened, slug, live, feedback))
        if not found:
            raise UnknownClaim(f"none of {', '.join(slugs)} is a live claim here", fix="seek shows the slugs")
        return {
            "ok": True,
            "schema": "m1nd-learn-v0",
            "query": query,
            "feedback": feedback,
            "nodes_found": found,
            "nodes_expanded": 0,
            "edges_modified": 0,
            "strength": strength,
            "trust_records_updated": found,
            "claim_grades": grades,
            "rendered": "\n".join(_told(grade) for grade in grades),
        }

    def _brains_for(self, caller: Caller, tier: str | None) -> list[Any]:
        route = self._router.route(caller)
        brains = [route.brain] if route.brain is not None and tier != Tier.MEDULLA.value else []
        if tier != Tier.PROJECT.value and self._brains.has_medulla():
            brains.append(self._brains.home.medulla())
        return brains

    def _grade(self, caller: Caller, opened: OpenBrain, slug: str, live: Version, feedback: str) -> dict[str, Any]:
        now = self._clock()
        shared = opened.brain.tier is Tier.MEDULLA
        wrong = feedback == "wrong"
        kind = (DEMOTION if shared else GRADED_WRONG) if wrong else f"graded_{feedback}"
        mark = Mark(slug=slug, kind=kind, at=now, by=caller.agent, channel=caller.channel.value)
        with opened.store.writing() as writer:
            writer.append(
                Act(
                    act="claim.grade",
                    subject=f"claim:{live.claim_id}",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=now,
                    payload={"feedback": feedback},
                )
            )
            writer.put_mark(mark)
            if not wrong and not shared:
                writer.drop_mark(slug, GRADED_WRONG)
        grade: dict[str, Any] = {"slug": slug, "store_brain": opened.brain.name, "feedback": feedback, "trust": 0 if wrong else 1}
        if shared and wrong:
            grade[DEMOTION] = True
            if not may_share(caller.agent):
                grade["etiquette"] = "demotion by a role other than *:orchestrator or human:founder is recorded"
        return grade


def _told(grade: dict[str, Any]) -> str:
    """One grade as a sentence, with what follows from it."""
    text = f"Graded {grade['slug']!r} in {grade['store_brain']} as {grade['feedback']}."
    if grade.get(DEMOTION):
        text += " It has left every default answer; consolidate archives it."
    return text + (f" Etiquette: {grade['etiquette']}." if "etiquette" in grade else "")


def slug_named(named: str) -> str:
    """A slug from a slug, a label, or a memory row's node id."""
    parts = named.split("::")
    if parts[0] == "light" and len(parts) >= 4:
        return parts[3].removesuffix("-light-md")
    try:
        return slug_of(named)
    except InvalidLabel:
        return ""
