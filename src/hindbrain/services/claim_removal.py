"""Claim removal: a person ends a claim, and brings an ended one back. Nothing is erased: the history keeps every version."""

from typing import Any

from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.claim import parse
from hindbrain.domain.errors import PathRefused, UnknownClaim
from hindbrain.policy.limits import LOCK_WAIT_S
from hindbrain.services.arrivals import arrived_by
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.gateway import Draft, Gateway
from hindbrain.services.reconcile import Reconciler, kept_out, kept_out_fix
from hindbrain.services.routing import Router
from hindbrain.stores.port import Version

__all__ = ["ClaimRemoval"]

_SCHEMA = "hindbrain-claim-v0"


class ClaimRemoval:
    """Ends claims by an act, and undoes that."""

    def __init__(self, brains: Brains, router: Router, gateway: Gateway, reconciler: Reconciler) -> None:
        self._brains = brains
        self._router = router
        self._gateway = gateway
        self._reconciler = reconciler

    def remove(self, caller: Caller, *, claim: str, tier: str | None) -> dict[str, Any]:
        """End a live claim for everybody who shares the brain, and remove its file from this checkout."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            slug = opened.slug_for(claim)
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                self._reconciler.settle(opened, slug)
                ended = self._gateway.end(opened, slug, act="claim.remove", actor=caller.agent, channel=caller.channel)
            if ended is None:
                raise UnknownClaim(f"{brain.display_name} has no live claim {slug!r}", fix="seek shows what there is")
        return {
            "ok": True,
            "schema": _SCHEMA,
            "slug": slug,
            "brain": brain.name,
            "version": ended.version,
            "rendered": f"Removed {slug!r} from {brain.display_name}; `hindbrain claim restore {slug}` brings it back.",
        }

    def restore(self, caller: Caller, *, claim: str, tier: str | None) -> dict[str, Any]:
        """Bring the last version of an ended claim back; for a live claim, write its version into the file of this checkout."""
        brain = self._router.named(caller, tier)
        with self._brains.use(brain) as opened:
            self._reconciler.fresh(opened)
            slug = opened.slug_for(claim)
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                self._reconciler.settle(opened, slug)
                last = next(iter(opened.store.versions(slug)), None)
                if last is None:
                    raise UnknownClaim(f"{brain.display_name} never had a claim {slug!r}", fix="seek shows what there is")
                restored = last.ended_at is not None
                if restored:
                    self._bring_back(caller, opened, last)
                else:
                    self._write_file(opened, slug)
            path = opened.holding(slug).file(slug)
        told = f"Restored {slug!r} in {brain.display_name}." if restored else f"{slug!r} is live; its file is {path}."
        return {
            "ok": True,
            "schema": _SCHEMA,
            "slug": slug,
            "brain": brain.name,
            "restored": restored,
            "path": str(path),
            "rendered": told,
        }

    def _write_file(self, opened: OpenBrain, slug: str) -> None:
        """Write the live version into this checkout, unless there is somebody's unfinished work."""
        if (found := kept_out(opened).get(slug)) is not None:
            why, path = found
            raise PathRefused(f"{path} is not replaced: {why.note}", fix=kept_out_fix(why.kind, path))
        self._reconciler.roll_forward(opened, slug)

    def _bring_back(self, caller: Caller, opened: OpenBrain, last: Version) -> None:
        slug, parsed = last.slug, parse(last.text, fallback_label=last.slug)
        self._gateway.check_tombstones(opened, parsed, slug=slug)
        # It came as it came: bringing it back makes nobody here its author.
        came = Channel(last.channel) if arrived_by(last) and last.channel else caller.channel
        draft = Draft(claim=parsed, act="claim.restore", actor=caller.agent, channel=came, slug=slug, text=last.text, gated=False)
        self._gateway.put_locked(opened, draft, slug, self._gateway.salt(opened))
