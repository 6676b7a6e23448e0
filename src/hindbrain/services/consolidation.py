"""Consolidation: the medulla is kept small by explicit passes. A dry run by default; an applied one leaves a record."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindbrain.domain.caller import Caller
from hindbrain.domain.claim import Claim, body_text, parse
from hindbrain.domain.errors import HindbrainError
from hindbrain.engines.text import fold
from hindbrain.policy.limits import LOCK_WAIT_S, MEDULLA_WARN_AT
from hindbrain.services.arrivals import claim_of
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.claims import medulla_size
from hindbrain.services.gateway import Gateway
from hindbrain.services.reconcile import Reconciler
from hindbrain.services.rows import DEMOTION, WITNESS_SUPERSEDED
from hindbrain.stores.atomic import write_text
from hindbrain.stores.line_file import append_lines
from hindbrain.stores.port import Mark, Version

__all__ = ["Consolidation", "forget_slug"]

_RECORD = "consolidation.jsonl"

_RULES_FILES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md")
_RESTATES = 40  # folded characters from which a text found whole in a rules file is a restatement of it


class Consolidation:
    """Un-shares what was graded wrong, and says what else could go."""

    def __init__(self, brains: Brains, gateway: Gateway, reconciler: Reconciler, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._gateway = gateway
        self._reconciler = reconciler
        self._clock = clock

    def run(self, caller: Caller, *, apply: bool, merge: tuple[str, ...] = ()) -> dict[str, Any]:
        """The plan of a pass, and with `apply` its execution. Duplicates are merged only when they are named in `merge`."""
        if not self._brains.has_medulla():
            return {
                "ok": True,
                "schema": "hindbrain-consolidate-v0",
                "applied": False,
                "plan": [],
                **medulla_size(0),
                "warnings": [],
            }
        with self._brains.use(self._brains.home.medulla()) as medulla:
            self._reconciler.fresh(medulla)
            live = {version.slug: version for version in medulla.store.each_live() if version.active}
            claims = {slug: claim_of(version) for slug, version in live.items()}
            plan = self._plan(medulla, live, claims)
            report = self._report(medulla, claims, noting=apply)
            before = len(live)
            done = self._apply(caller, medulla, plan, merge) if apply else []
            count = medulla.store.counts().active_claims
            if apply:
                self._record(caller, medulla, done, before, count)
        return {
            "ok": True,
            "schema": "hindbrain-consolidate-v0",
            "applied": apply,
            "plan": plan,
            "done": done,
            **report,
            **medulla_size(count),
            "warnings": [f"medulla_over_{MEDULLA_WARN_AT}"] if count >= MEDULLA_WARN_AT else [],
        }

    def _plan(self, medulla: OpenBrain, live: dict[str, Version], claims: dict[str, Claim]) -> list[dict[str, Any]]:
        plan: list[dict[str, Any]] = [
            {"act": "demote", "slug": mark.slug, "by": mark.by, "why": "graded wrong"}
            for mark in medulla.store.marks(kind=DEMOTION)
            if mark.slug in live
        ]
        folded: dict[str, list[str]] = {}
        for slug, claim in claims.items():
            folded.setdefault(fold(body_text(claim)), []).append(slug)
        plan += [
            {"act": "merge", "slugs": sorted(slugs), "why": "the same text", "needs": "confirmation: name the slugs in merge"}
            for text, slugs in folded.items()
            if text and len(slugs) > 1
        ]
        rules = self._rules()
        for slug, claim in claims.items():
            text = fold(body_text(claim))
            place = next((path for path, whole in rules.items() if len(text) >= _RESTATES and text in whole), None)
            if place:
                plan.append({"act": "prune_to_pointer", "slug": slug, "why": f"restates {place}"})
        return plan

    def _rules(self) -> dict[str, str]:
        """The rules files of the registered projects, folded: what agents read anyway."""
        found = {}
        for brain in self._brains.all():
            for name in _RULES_FILES:
                path = os.path.join(brain.root or "", name)
                try:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        found[path] = fold(file.read(1_000_000))
                except OSError:
                    continue
        return found

    def _report(self, medulla: OpenBrain, claims: dict[str, Claim], *, noting: bool) -> dict[str, Any]:
        """Copies whose witness is gone or replaced, and files nobody signed; they are named and left alone. An applied pass
        notes a lost witness beside its copy, so that every reader sees it without opening a third store."""
        lost = []
        for slug, claim in claims.items():
            if claim.origin_claim and not self._witnessed(slug, claim):
                lost.append({"slug": slug, WITNESS_SUPERSEDED: True})
                known = medulla.store.marks(slugs=[slug], kind=WITNESS_SUPERSEDED)
                if noting and not known:
                    mark = Mark(slug=slug, kind=WITNESS_SUPERSEDED, at=self._clock(), by="hindbrain", channel="runtime")
                    with medulla.store.writing() as writer:
                        writer.put_mark(mark)
        return {
            "witness_superseded": lost,
            "unattributed": sorted(slug for slug, claim in claims.items() if claim.origin_brain is None),
        }

    def _witnessed(self, copy: str, claim: Claim) -> bool:
        root, _, slug = (claim.origin_claim or "").rpartition("#")
        brain = self._brains.home.project(root)
        if brain is None:
            return False
        try:
            with self._brains.use(brain) as opened:
                self._reconciler.fresh(opened)
                self._reconciler.stale_rows(opened, {slug: None})  # an edit in place leaves the directory's time as it was
                live = opened.store.live([slug]).get(slug)
        except (HindbrainError, OSError):
            return True  # a store that cannot be read says nothing against its witness; doctor names it
        return live is not None and parse(live.text).promoted_to == f"medulla@{copy}@{claim.created}"

    def _apply(
        self, caller: Caller, medulla: OpenBrain, plan: list[dict[str, Any]], merge: tuple[str, ...]
    ) -> list[dict[str, Any]]:
        done = []
        for step in plan:
            if step["act"] == "demote":
                self._end(caller, medulla, step["slug"], act="claim.demote")
                done.append(step)
            elif step["act"] == "merge" and set(step["slugs"]) <= set(merge):
                for slug in step["slugs"][1:]:
                    self._end(caller, medulla, slug, act="claim.merge")
                done.append(step)
        return done

    def _end(self, caller: Caller, medulla: OpenBrain, slug: str, *, act: str) -> None:
        with medulla.place.lock(slug, wait_s=LOCK_WAIT_S):
            self._gateway.end(
                medulla,
                slug,
                act=act,
                actor=caller.agent,
                channel=caller.channel,
                before=lambda writer: writer.drop_mark(slug, DEMOTION),
            )

    def _record(self, caller: Caller, medulla: OpenBrain, done: list[dict[str, Any]], before: int, after: int) -> None:
        line = {
            "at": self._clock(),
            "by": caller.agent,
            "channel": caller.channel.value,
            "acts": done,
            "before": before,
            "after": after,
        }
        append_lines(medulla.directory / _RECORD, (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8"))


def forget_slug(directory: Path, slug: str) -> None:
    """Take a forgotten label out of the record of passes; what was done, and how often, stays."""
    path = directory / _RECORD
    if not path.exists():
        return
    raw = path.read_text(encoding="utf-8", errors="replace").splitlines()
    lines = [line for one in raw if (line := _parsed(one)) is not None]
    kept = [line | {"acts": [_without(act, slug) for act in line["acts"]]} for line in lines]
    if kept != lines or len(lines) < len(raw):
        write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept))


def _parsed(raw: str) -> dict[str, Any] | None:
    """One pass of the record; None for a torn line, which an older release left on a full disk and which may hold the label."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("acts"), list) else None


def _without(act: dict[str, Any], slug: str) -> dict[str, Any]:
    names = {key: [None if one == slug else one for one in act[key]] for key in ("slugs",) if key in act}
    return act | names | ({"slug": None} if act.get("slug") == slug else {})
