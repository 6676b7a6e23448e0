"""Promotion: a project's claim is copied into the medulla with its provenance; the original stays as the witness."""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain
from hindbrain.domain.caller import FINISHER, Caller, Channel
from hindbrain.domain.claim import Claim, body_text, one_line, parse, qualified, stamped
from hindbrain.domain.errors import InvalidParams, NotAProjectBrain, NotLive, UnknownBrain, UnknownClaim
from hindbrain.domain.stored import stored_json
from hindbrain.engines.light_graph import evidence_path
from hindbrain.policy.etiquette import PROMOTE_WARNING, may_share
from hindbrain.policy.limits import LOCK_WAIT_S, MEDULLA_WARN_AT
from hindbrain.services.arrivals import vouched
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.claims import medulla_size
from hindbrain.services.gateway import Draft, Gateway
from hindbrain.services.intents import PROMOTE, ClaimPromotion, intent_of
from hindbrain.services.reconcile import SECRET, Reconciler, kept_out, kept_out_fix
from hindbrain.services.rows import DEMOTION, WITNESS_SUPERSEDED, RowMaker
from hindbrain.stores.port import Intent, Version
from hindbrain.stores.repository import canonical_root

__all__ = ["Promotion"]

SCHEMA = "m1nd-promote-v0"
_PATHLIKE = re.compile(
    r"(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.(?:py|rs|go|js|ts|tsx|java|c|h|cpp|rb|php|toml|json|yaml|yml|md|sh)\b|--[a-z][\w-]+"
)


class Promotion:
    """The one way by which a project's belief reaches other projects."""

    def __init__(
        self, brains: Brains, gateway: Gateway, reconciler: Reconciler, maker: RowMaker, clock: Callable[[], int]
    ) -> None:
        self._brains = brains
        self._gateway = gateway
        self._reconciler = reconciler
        self._maker = maker
        self._clock = clock

    def source(self, brain: str) -> Brain:
        """The registered project brain of this name. Nothing is created and nothing is guessed."""
        if brain == MEDULLA:
            raise NotAProjectBrain("the medulla is where promotions go, not where they come from", fix="name the project's root")
        if not brain.startswith("/") or "\x00" in brain:
            raise UnknownBrain(f"{brain[:80]!r} is not the root of a brain", fix="give the absolute root; `instances` lists them")
        found = self._brains.home.project(brain.rstrip("/") or "/") or self._brains.home.project(canonical_root(brain))
        if found is None:
            raise UnknownBrain(f"no brain is registered for {brain[:200]}", fix="`instances` lists the registered roots")
        return found

    def promote(self, caller: Caller, *, brain: str, claim: str, reason: str, dry_run: bool) -> dict[str, Any]:
        """Copy a claim into the medulla and stamp its original. Both files are written, or neither."""
        if not one_line(reason):
            raise InvalidParams("reason is empty", fix="say in one line why this holds beyond its project")
        home = self.source(brain)
        with self._brains.use(home) as opened:
            self.finish(opened)
            self._reconciler.fresh(opened)
            slug = opened.slug_for(claim)
            live = opened.store.live([slug]).get(slug)
            self._refuse_kept_out(opened, slug)
            if live is None:
                raise UnknownClaim(f"{home.display_name} has no live claim {slug!r}", fix="seek shows what there is")
            original = parse(vouched(live), fallback_label=slug)
            if not original.active:
                raise NotLive(f"{slug!r} is only a pointer to where the claim went", fix="promote the claim it points to")
            if dry_run:
                return self._checklist(home, original, slug)
            with self._brains.use(self._brains.home.medulla()) as medulla:
                self._gateway.check_hygiene(medulla, [live.text, reason, caller.agent], site="promote")
                return self._carry_out(caller, opened, medulla, live, original, slug, one_line(reason))

    def _refuse_kept_out(self, opened: OpenBrain, slug: str) -> None:
        """A claim that this checkout does not serve is not shared from it. The refusal names the reason and a secret's line."""
        found = kept_out(opened).get(slug)
        if found is None:
            return
        why, path = found
        if why.kind == SECRET:
            text = opened.holding(slug).read(slug)
            with self._brains.use(self._brains.home.medulla()) as medulla:
                self._gateway.check_hygiene(medulla, [text or ""], site="promote")
        raise UnknownClaim(f"{path} is not served: {why.note}", fix=kept_out_fix(why.kind, path))

    def _carry_out(
        self, caller: Caller, opened: OpenBrain, medulla: OpenBrain, live: Version, original: Claim, slug: str, reason: str
    ) -> dict[str, Any]:
        now = self._clock()
        root = opened.brain.root or ""
        copy = self._copy(original, slug, opened.brain, caller, reason, now)
        medulla_salt, salt = self._gateway.salt(medulla), self._gateway.salt(opened)
        self._gateway.check_tombstones(medulla, copy, slug=slug)
        self._gateway.check_tombstones(opened, original, slug=slug)
        first, second = sorted((opened, medulla), key=lambda one: str(one.place.path))
        # Locks in the order of their paths: two promotions in opposite directions cannot wait for each other.
        with first.place.lock(slug, wait_s=LOCK_WAIT_S), second.place.lock(slug, wait_s=LOCK_WAIT_S):
            self._reconciler.settle(opened, slug)
            current = opened.store.live([slug]).get(slug)
            if current is None:
                raise UnknownClaim(f"{opened.brain.display_name} has no live claim {slug!r}", fix="seek shows what there is")
            intent = self._intend(opened, slug, now)
            put = None
            try:
                put = self._gateway.put_locked(medulla, self._copy_draft(caller, copy, slug, intent), slug, medulla_salt)
                self._stamp(caller, opened, vouched(current), slug, salt, now, intent)
            except BaseException:
                self._take_back(medulla, slug, put.previous if put else None, written=put is not None)
                self._drop_intent(opened, intent)
                raise
        count = medulla.store.counts().active_claims
        warnings = [] if may_share(caller.agent) else [PROMOTE_WARNING]
        warnings += ["stale"] if self._maker.is_stale(original, now) else []
        warnings += [f"medulla_over_{MEDULLA_WARN_AT}"] if count >= MEDULLA_WARN_AT else []
        return {
            "ok": True,
            "schema": SCHEMA,
            "promoted": True,
            "medulla_path": str(put.path),
            "witness_path": str(opened.holding(slug).file(slug)),
            "medulla_slug": slug,
            "origin_brain": root,
            "origin_claim": f"{root}#{slug}",
            "promoted_by": caller.agent,
            "reason": reason,
            "evidence": {"origin_qualified": len(copy.evidence), "evidence_unverifiable": copy.evidence_unverifiable},
            **medulla_size(count),
            "warnings": warnings,
            "rendered": f"Promoted “{copy.label}” from {opened.brain.display_name} to the medulla.",
        }

    @staticmethod
    def _copy(original: Claim, slug: str, brain: Brain, caller: Caller, reason: str, now: int) -> Claim:
        root = brain.name
        blocks = tuple(
            replace(block, evidence=tuple(qualified(evidence_path_kept(path), root) for path in block.evidence))
            for block in original.blocks
        )
        return replace(
            original,
            created=now,
            origin_brain=original.origin_brain or brain.origin,
            supersedes=None,
            promoted_to=None,
            origin_claim=f"{root}#{slug}",
            promoted_by=one_line(caller.agent),
            promotion_reason=reason,
            origin_created=original.created,
            evidence_unverifiable=original.origin_brain is None and bool(original.evidence),
            absolute=False,
            blocks=blocks,
            extra=(),
        )

    @staticmethod
    def _copy_draft(caller: Caller, copy: Claim, slug: str, intent: str) -> Draft:
        def clear(writer: Any) -> None:
            for kind in (DEMOTION, WITNESS_SUPERSEDED):
                writer.drop_mark(slug, kind)

        return Draft(
            claim=copy,
            act="claim.promote",
            actor=caller.agent,
            channel=caller.channel,
            payload={"promotion": intent},
            before=clear,
        )

    def _stamp(self, caller: Caller, opened: OpenBrain, text: str, slug: str, salt: str, now: int, intent: str) -> None:
        marked = stamped(text, "Promoted-To", f"{MEDULLA}@{slug}@{now}")
        draft = Draft(
            claim=parse(marked, fallback_label=slug),
            act="claim.witness",
            actor=caller.agent,
            channel=caller.channel,
            slug=slug,
            text=marked,
            gated=False,
            new_file=False,
            payload={"promotion": intent},
            before=lambda writer: writer.drop_intent(intent),
        )
        self._gateway.put_locked(opened, draft, slug, salt)

    # -- both or neither ---------------------------------------------------------------------------------------------

    def _intend(self, opened: OpenBrain, slug: str, now: int) -> str:
        """Say in the source brain what is about to happen, so that a crash between the two stores can be finished."""
        intent = secrets.token_hex(8)
        with opened.store.writing() as writer:
            writer.put_intent(Intent(id=intent, kind=PROMOTE, payload=json.dumps({"slug": slug, "at": now}), at=now))
        return intent

    @staticmethod
    def _drop_intent(opened: OpenBrain, intent: str) -> None:
        with opened.store.writing() as writer:
            writer.drop_intent(intent)

    def _take_back(self, medulla: OpenBrain, slug: str, previous: Version | None, *, written: bool) -> None:
        """The witness could not be stamped: the medulla is put back to what was there before this call."""
        if not written:
            return
        if previous is None:
            self._gateway.withdraw(medulla, slug, actor="hindbrain", channel=Channel.RUNTIME)
        else:
            self._gateway.revert(medulla, previous, actor="hindbrain", channel=Channel.RUNTIME)

    def finish(self, opened: OpenBrain) -> int:
        """Complete or drop promotions that a dead process left half done; returns how many there were."""
        pending = [intent for intent in opened.store.intents() if intent.kind == PROMOTE]
        for intent in pending:
            if not isinstance(promised := intent_of(intent), ClaimPromotion):
                continue  # the doctor names it
            slug = promised.slug
            with opened.place.lock(slug, wait_s=LOCK_WAIT_S):
                if not any(one.id == intent.id for one in opened.store.intents()):
                    continue
                live = opened.store.live([slug]).get(slug)
                if live is not None and self._arrived(intent.id):
                    self._stamp(FINISHER, opened, live.text, slug, self._gateway.salt(opened), intent.at, intent.id)
                else:
                    self._drop_intent(opened, intent.id)
        return len(pending)

    def _arrived(self, intent: str) -> bool:
        if not self._brains.has_medulla():
            return False
        with self._brains.use(self._brains.home.medulla()) as medulla:
            return any(
                stored_json(entry.payload, "ledger").get("promotion") == intent
                for entry in medulla.store.entries(act="claim.promote", limit=100_000)
            )

    # -- reading -----------------------------------------------------------------------------------------------------

    def _checklist(self, home: Brain, original: Claim, slug: str) -> dict[str, Any]:
        """What can be checked of the two qualifications; the judgement stays with the caller."""
        suspects = sorted({match[0] for match in _PATHLIKE.finditer(body_text(original))})
        return {
            "ok": True,
            "schema": SCHEMA,
            "promoted": False,
            "dry_run": True,
            "origin_brain": home.root,
            "origin_claim": f"{home.root}#{slug}",
            "checklist": {
                "p1": "restated, the claim names no single repository's file, line or flag",
                "p1_suspects": suspects,
                "p2": "seen in two or more projects, or founder doctrine, or a distilled lesson about the tool",
                "evidence": list(original.evidence),
            },
        }

    def audit(self) -> dict[str, Any]:
        """Every medulla claim with its promoter and reason; those that no orchestrator or founder shared are flagged."""
        rows: list[dict[str, Any]] = []
        if self._brains.has_medulla():
            with self._brains.use(self._brains.home.medulla()) as medulla:
                self._reconciler.fresh(medulla)
                for version in medulla.store.each_live():
                    claim = parse(version.text, fallback_label=version.slug)
                    flags = []
                    if claim.origin_brain is None:
                        flags.append("unattributed: no Origin-Brain")
                    by = claim.promoted_by or claim.source_agent or "unknown"
                    if not may_share(by):
                        flags.append("etiquette: shared by a role other than *:orchestrator or human:founder")
                    rows.append(
                        {
                            "slug": version.slug,
                            "promoted_by": by,
                            "reason": claim.promotion_reason,
                            "at": claim.created,
                            "origin_brain": claim.origin_brain or "unknown",
                            "flags": flags,
                        }
                    )
        return {
            "ok": True,
            "schema": "hindbrain-audit-promotions-v0",
            "claims": rows,
            "flagged": sum(bool(r["flags"]) for r in rows),
        }


def evidence_path_kept(value: str) -> str:
    """The evidence as written, normalised but with its line."""
    path = evidence_path(value)
    return path + value.strip().replace("\\", "/").removeprefix("./")[len(path) :]
