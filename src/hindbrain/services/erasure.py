"""Erasure: reject a value so that it stays away, forget a claim so that nothing of it is left. Human acts, both."""

from collections.abc import Callable
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import Block, Claim, parse, slug_of
from hindbrain.domain.errors import UnknownClaim
from hindbrain.domain.ledger import Act
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.events import Events
from hindbrain.services.gateway import Gateway, fingerprints
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.routing import Router

__all__ = ["Erasure"]


class Erasure:
    """Tombstones and forgetting."""

    def __init__(
        self, brains: Brains, router: Router, gateway: Gateway, reconciler: Reconciler, events: Events, clock: Callable[[], int]
    ) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._reconciler = reconciler
        self._events = events
        self._clock = clock

    def _brain(self, caller: Caller, tier: str | None) -> Brain:
        return self._brains.home.medulla() if tier == MEDULLA else self._router.write_route(caller)

    def reject(
        self, caller: Caller, *, claim: str, value: str | None, reason: str, tier: str | None, lift: bool
    ) -> dict[str, Any]:
        """Refuse a value for good: it leaves recall, and no channel, label, case or look-alike brings it back."""
        brain = self._brain(caller, tier)
        slug = slug_of(claim)
        self._gateway.check_text(reason)
        with self._brains.use(brain) as opened:
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
        return {
            "ok": True,
            "schema": "hindbrain-reject-v0",
            "slug": slug,
            "brain": brain.name,
            "ended": hit,
            "rendered": f"Rejected {slug!r} in {brain.display_name}; the value stays away.",
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
                session=caller.session,
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
            "rendered": f"Lifted {lifted} marks.",
        }

    def forget(self, caller: Caller, *, claim: str, reason: str, tier: str | None) -> dict[str, Any]:
        """Erase a claim for real: row, file, history, words, graph, shared copies. The ledger keeps the act, not the content."""
        brain = self._brain(caller, tier)
        slug = slug_of(claim)
        reached = []
        copies: list[tuple[Brain, str]] = [(brain, slug)]
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            versions = opened.store.versions(slug)
            if not versions and not opened.place.file(slug).exists():
                raise UnknownClaim(f"{brain.display_name} has no claim {slug!r}", fix="seek shows what there is")
            parsed = [parse(version.text, fallback_label=slug) for version in versions]
        copies += self._copies(brain, slug, parsed)
        for place, name in copies:
            with self._brains.use(place) as opened:
                files = self._erase(caller, opened, name, parsed)
                reached.append({"brain": place.name, "slug": name, "files": files})
        return {
            "ok": True,
            "schema": "hindbrain-forget-v0",
            "slug": slug,
            "reached": reached,
            "rendered": f"Forgot {slug!r} in {len(reached)} place(s). What left this machine before cannot be called back.",
        }

    def _copies(self, brain: Brain, slug: str, parsed: list[Claim]) -> list[tuple[Brain, str]]:
        """Where the content also lies: the shared copy of a witness; for a shared copy its own project keeps its original."""
        if brain.root is None or not self._brains.has_medulla():
            return []
        with self._brains.use(self._brains.home.medulla()) as medulla:
            return [
                (medulla.brain, slug)
                for version in medulla.store.versions(slug)[:1]
                if any(parse(v.text).origin_claim == f"{brain.root}#{slug}" for v in medulla.store.versions(slug))
            ]

    def _erase(self, caller: Caller, opened: OpenBrain, slug: str, parsed: list[Claim]) -> int:
        now = self._clock()
        salt = self._gateway.salt(opened)
        with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
            versions = opened.store.versions(slug)
            prints = {
                one
                for claim in (*parsed, *(parse(v.text, fallback_label=slug) for v in versions))
                for one in fingerprints(claim, salt, slug=slug)
            }
            with opened.store.writing() as writer:
                subject = f"claim:{versions[0].claim_id}" if versions else "claim:unknown"
                writer.append(
                    Act(
                        act="claim.forget",
                        subject=subject,
                        actor=caller.agent,
                        channel=caller.channel,
                        at=now,
                        payload={"versions": len(versions)},
                    )
                )
                for one in sorted(prints):
                    writer.put_tombstone(one, at=now, by=caller.agent, reason="forgotten")
                writer.erase_claim(slug)
            files = 0
            for place in opened.places:
                files += place.erase(slug)
                opened.state.drop(str(place.path), slug)
        self._events.publish({"brain": opened.brain.name, "act": "claim.forget"}, session=caller.session)
        return files
