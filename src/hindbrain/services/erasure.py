"""Erasure: reject a value so that it stays away, forget a claim so that nothing of it is left. Human acts, both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from hindbrain.domain.brain import Brain, born_in
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import Block, Claim, body_text, parse
from hindbrain.domain.errors import HindbrainError, UnknownClaim
from hindbrain.domain.ledger import Act
from hindbrain.domain.migration import moved_to
from hindbrain.engines.text import folds
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.card_erasure import CardErasure
from hindbrain.services.consolidation import forget_slug
from hindbrain.services.evidence_erasure import EvidenceErasure
from hindbrain.services.experience.erasing import ExperienceErasure, Value
from hindbrain.services.forgetting import OUT_OF_REACH, Forgetting, walk_sentence
from hindbrain.services.gateway import STANDS_ALONE, Gateway, fingerprints
from hindbrain.services.missions.erasing import MissionErasure, Reached, sentence
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.routing import Router
from hindbrain.stores.migration_backup import erase_from_backups
from hindbrain.stores.port import Version

__all__ = ["Erasure"]

_VERSIONS_MOST = 10_000_000


class Erasure:
    """Tombstones and forgetting."""

    def __init__(
        self,
        brains: Brains,
        router: Router,
        gateway: Gateway,
        reconciler: Reconciler,
        evidence: EvidenceErasure,
        cards: CardErasure,
        experience: ExperienceErasure,
        missions: MissionErasure,
        forgetting: Forgetting,
        clock: Callable[[], int],
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._reconciler = reconciler
        self._evidence = evidence
        self._cards = cards
        self._experience = experience
        self._missions = missions
        self._forgetting = forgetting
        self._clock = clock

    def reject(
        self, caller: Caller, *, claim: str, value: str | None, reason: str, tier: str | None, lift: bool
    ) -> dict[str, Any]:
        """Refuse a value for good: it leaves recall, and no channel, label, case or look-alike brings it back."""
        brain = self._router.named(caller, tier)
        self._gateway.check_text(reason)
        with self._brains.use(brain) as opened:
            slug = opened.slug_for(claim)
            self._gateway.check_hygiene(opened, [reason], site="reject")
            salt = self._gateway.salt(opened)
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                self._reconciler.settle(opened, slug)
                live = opened.store.live([slug]).get(slug)
                if value is None and live is None and not opened.store.versions(slug):
                    raise UnknownClaim(
                        f"{brain.display_name} has no claim {slug!r}", fix="give the value itself to reject it beforehand"
                    )
                targets = self._values(opened, slug, claim, value)
                prints = [mark for one in targets for mark in fingerprints(one, salt, slug=slug)]
                if lift:
                    return self._lift(caller, opened, slug, prints, reason)
                hit = live is not None and bool(set(fingerprints(parse(live.text), salt, slug=slug)) & set(prints))
                self._bury(caller, opened, slug, prints, reason, ends=hit)
            # After the tombstones: whatever is written meanwhile is refused, and what was there before is found here.
            said = [block.text or block.label for one in targets for block in one.blocks]
            withdrawn = self._evidence.withdraw(caller, opened, said, prints)
            retired = self._cards.withdraw(caller, opened, prints)
            unlived = self._experience.withdraw(caller, opened, said, prints)
        return {
            "ok": True,
            "schema": "hindbrain-reject-v0",
            "slug": slug,
            "brain": brain.name,
            "ended": hit,
            "evidence_ended": withdrawn,
            "cards_retired": retired,
            "experience_forgotten": unlived,
            "rendered": f"Rejected {slug!r} in {brain.display_name}; the value stays away"
            + (", under this label: it is too short to be known by itself." if _is_short(said) else "."),
        }

    @staticmethod
    def _values(opened: OpenBrain, slug: str, label: str, value: str | None) -> list[Claim]:
        if value is not None:
            live = opened.store.live([slug]).get(slug)
            name = parse(live.text, fallback_label=label).label if live else label
            return [Claim(label=name, blocks=(Block(label=name, text=value),))]
        live = opened.store.live([slug]).get(slug) or opened.store.versions(slug)[0]
        return [parse(live.text, fallback_label=slug)]

    def _bury(self, caller: Caller, opened: OpenBrain, slug: str, prints: list[str], reason: str, *, ends: bool) -> None:
        now = self._clock()

        def tombstones(writer: Any) -> None:
            for one in prints:
                writer.put_tombstone(one, at=now, by=caller.agent, reason=reason)

        if ends:
            self._gateway.end(
                opened,
                slug,
                act="claim.reject",
                actor=caller.agent,
                channel=caller.channel,
                payload={"fingerprints": len(prints)},
                before=tombstones,
            )
            return
        with opened.store.writing() as writer:
            writer.append(
                Act(
                    act="claim.reject",
                    subject="value",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=now,
                    payload={"fingerprints": len(prints)},
                )
            )
            tombstones(writer)

    def _lift(self, caller: Caller, opened: OpenBrain, slug: str, prints: list[str], reason: str) -> dict[str, Any]:
        with opened.store.writing() as writer:
            lifted = sum(writer.drop_tombstone(one) for one in prints)
            if lifted:
                writer.append(
                    Act(
                        act="claim.lift",
                        subject="value",
                        actor=caller.agent,
                        channel=caller.channel,
                        at=self._clock(),
                        payload={"fingerprints": lifted},
                    )
                )
        return {
            "ok": True,
            "schema": "hindbrain-reject-v0",
            "slug": slug,
            "lifted": lifted,
            "rendered": "The value may be written again." if lifted else f"Nothing of {slug!r} was rejected here.",
        }

    def forget(self, caller: Caller, *, claim: str, reason: str, tier: str | None) -> dict[str, Any]:
        """Erase a claim for real: row, file, history, words, graph, copies. The ledger keeps the act, not the content."""
        if self._evidence.is_id(claim):
            return self._evidence.forget(caller, evidence_id=claim, reason=reason)
        if claim.startswith("card_"):
            return self._cards.forget(caller, card_id=claim, reason=reason, among=self._evidence.all_brains(None))
        if claim.startswith("adoption_"):
            return self._cards.forget_outcome(caller, event_id=claim, among=self._evidence.all_brains(None))
        brain = self._router.named(caller, tier)
        self._gateway.check_text(reason)
        with self._brains.use(brain) as opened:
            slug = opened.slug_for(claim)
            self._gateway.check_hygiene(opened, [reason], site="forget")
            self._reconciler.fresh(opened)
            versions = opened.store.versions(slug)
            if not versions and not any(place.has(slug) or place.history(slug) for place in opened.places):
                raise UnknownClaim(f"{brain.display_name} has no claim {slug!r}", fix="seek shows what there is")
            values = [parse(version.text, fallback_label=slug) for version in versions]
            erase = _Erase(caller=caller, slug=slug, values=values, reason=reason or "forgotten", meant=lambda _: True)
            # The copies first: whoever is interrupted finds the claim still here, and asking again reaches what is left.
            copies: list[dict[str, Any]] = []
            unreached = self._erase_copies(brain, replace(erase, meant=lambda one: _came_from(one, brain, slug)), copies)
            reached = [{"brain": brain.name, "slug": slug, **self._erase(opened, erase)}, *copies]
            same, mentions = self._other_claims(opened, slug, values)
            reached += [{"brain": brain.name, "slug": one, **self._erase(opened, replace(erase, slug=one))} for one in same]
        left = f" {len(unreached)} brain(s) could not be looked at." if unreached else ""
        named = ", ".join(mentions)
        left += f" It still stands inside of {named}: forget or rewrite what should not keep it." if mentions else ""
        told = sentence(reached) + walk_sentence(reached) + left
        return {
            "ok": True,
            "schema": "hindbrain-forget-v0",
            "slug": slug,
            "reached": reached,
            "unreached": unreached,
            "mentioned_in": mentions,
            "rendered": f"Forgot {slug!r} in {len(reached)} place(s).{told} {OUT_OF_REACH}",
        }

    def _other_claims(self, opened: OpenBrain, slug: str, values: Sequence[Claim]) -> tuple[list[str], list[str]]:
        """Other labels of a brain whose versions all say a forgotten value and nothing else, and labels that mention it."""
        salt = self._gateway.salt(opened)
        said = [block.text or block.label for claim in values for block in claim.blocks]
        value = Value(said, [one for claim in values for one in fingerprints(claim, salt, slug=slug)], salt)
        held: dict[str, list[str]] = {}
        for version in chain(opened.store.each_live(), opened.store.ended(limit=_VERSIONS_MOST)):
            if version.slug != slug:
                held.setdefault(version.slug, []).append(version.text)
        touched = {other: texts for other, texts in held.items() if any(map(value.held_by, texts))}
        same = [other for other, texts in touched.items() if all(_says_only(parse(one), value) for one in texts)]
        return sorted(same), sorted(set(touched) - set(same))

    def _erase_copies(self, home: Brain, erase: "_Erase", reached: list[dict[str, Any]]) -> list[dict[str, str]]:
        """The same in every other brain that took a version from this one: shared copies, and what was carried over by import."""
        unreached = []
        others = [*self._brains.all(), *([self._brains.home.medulla()] if self._brains.has_medulla() else [])]
        for brain in others:
            if brain.name == home.name:
                continue
            try:
                with self._brains.use(brain) as opened:
                    self._reconciler.fresh(opened)
                    # A file without a row is what an interrupted forgetting left.
                    texts = [one.text for one in opened.store.versions(erase.slug)]
                    texts += [text for place in opened.places if (text := place.read(erase.slug)) is not None]
                    versions = [parse(text, fallback_label=erase.slug) for text in texts]
                    wider = _with_original(erase, versions, f"{home.name}#{erase.slug}")
                    if any(wider.meant(one) for one in versions):
                        reached.append({"brain": brain.name, "slug": erase.slug, **self._erase(opened, wider)})
            except (HindbrainError, OSError) as failure:
                unreached.append({"brain": brain.name, "reason": str(failure)})
        return unreached

    def _erase(self, opened: OpenBrain, erase: "_Erase") -> dict[str, Any]:
        slug, salt = erase.slug, self._gateway.salt(opened)
        with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
            versions = opened.store.versions(slug)
            meant = [one for one in versions if erase.meant(parse(one.text, fallback_label=slug))]
            claims = [*erase.values, *(parse(one.text, fallback_label=slug) for one in meant)]
            for place in opened.places:
                opened.state.put_directory(str(place.path), 0)  # whoever comes after a crash in here looks at the files again
            # Archives before the rows that tell of them, the live file after: a file without a row is seen and named later on.
            files = sum(place.erase_history(slug, erase.means) for place in opened.places)
            prints = {one for claim in claims for one in fingerprints(claim, salt, slug=slug)}
            said = [block.text or block.label for claim in claims for block in claim.blocks]
            missions = self._erase_rows(opened, erase, versions, meant, prints, said)
            walked = self._forgetting.walk(erase.caller, opened, said, prints)
            files += sum(place.erase(slug, erase.means) for place in opened.places)
            if len(meant) == len(versions):
                opened.state.forget(slug)
                forget_slug(opened.directory, slug)
            brain = opened.brain
            files += erase_from_backups(self._brains.home.medulla_dir, brain.fingerprint, brain.root, slug)
        return {"files": files, **self._missions.cleared(opened, missions).told(), **walked}

    def _erase_rows(
        self,
        opened: OpenBrain,
        erase: "_Erase",
        versions: Sequence[Version],
        meant: Sequence[Version],
        prints: set[str],
        said: Sequence[str],
    ) -> Reached:
        now, slug, caller = self._clock(), erase.slug, erase.caller
        with opened.store.writing() as writer:
            writer.append(
                Act(
                    act="claim.forget",
                    subject=f"claim:{versions[0].claim_id}" if versions else "claim:unknown",
                    actor=caller.agent,
                    channel=caller.channel,
                    at=now,
                    payload={"versions": len(meant)},
                )
            )
            for one in sorted(prints):
                writer.put_tombstone(one, at=now, by=caller.agent, reason=erase.reason)
            missions = self._missions.reach(caller, opened, writer, said, prints)
            if len(meant) == len(versions):
                writer.erase_claim(slug)
                return missions
            for live in (one for one in meant if one.ended_at is None):
                writer.end_claim(slug, expected=live.version, at=now, ended_act="claim.forget")
                writer.put_anchors(slug, {})
                writer.put_graph(f"claim:{slug}", [], [])
            writer.erase_versions(slug, [one.version for one in meant])
            return missions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Erase:
    """What is to be forgotten under a label: all of it where it was asked, elsewhere what came from there."""

    caller: Caller
    slug: str
    values: Sequence[Claim]
    reason: str
    meant: Callable[[Claim], bool]

    def means(self, text: str) -> bool:
        """Whether the file with this text is to go."""
        return self.meant(parse(text, fallback_label=self.slug))


def _says_only(claim: Claim, value: Value) -> bool:
    """Whether a claim says a value and nothing else."""
    return all(set(folds(block.text or block.label)) & set(value.folded) for block in claim.blocks)


def _came_from(claim: Claim, brain: Brain, slug: str) -> bool:
    """A shared copy says which claim it is a copy of; one that was imported kept the brain it was born in."""
    return claim.origin_claim == f"{brain.name}#{slug}" or born_in(brain, claim.origin_brain)


def _with_original(erase: _Erase, versions: Sequence[Claim], here: str) -> _Erase:
    """A brain that holds a pointer to the forgotten claim also holds the original that a migration moved: that goes too."""
    if not any(moved_to(one) == here for one in versions):
        return erase
    said = tuple(body_text(one).strip() for one in erase.values)
    return replace(
        erase,
        meant=lambda one: (
            erase.meant(one) or moved_to(one) == here or any(text.startswith(body_text(one).strip()) for text in said)
        ),
    )


def _is_short(texts: Sequence[str]) -> bool:
    """Whether a value is known again only together with its label."""
    return all(len(folded) < STANDS_ALONE for text in texts for folded in folds(text))
