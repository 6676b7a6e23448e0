"""Anchors of evidence: which scope an observation belongs to, by the checkout it was made in, and which brain holds it."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.domain.anchor import GLOBAL, LEGACY, Anchor, AnchorKind
from hindbrain.domain.brain import Brain
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import InvalidParams, PathRefused
from hindbrain.domain.evidence import Domain, Provenance
from hindbrain.domain.stored import stored_json
from hindbrain.policy.carrying import ORIGIN_KEY
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.routing import Router
from hindbrain.stores.evidence_checkout import checkout_by_files, checkout_of
from hindbrain.stores.port import Writer

__all__ = ["Anchors", "Placed", "Scopes", "anchor_at", "anchors_of", "note_former", "scopes_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where an observation goes: its brain, its anchor, and the checkout it was made in, if any."""

    brain: Brain
    anchor: Anchor
    checkout: str | None = None


def anchor_at(directory: str, kind: AnchorKind = AnchorKind.WORKTREE) -> tuple[Anchor, str]:
    """The anchor of a directory, and the root of its checkout. Outside git a directory is a checkout without a repository."""
    checkout = checkout_of(directory)
    parent = f"repo://{checkout.common}" if checkout.common is not None else None
    if kind is AnchorKind.REPO and parent is not None:
        return Anchor(kind=kind, id=parent), checkout.root
    return Anchor(kind=AnchorKind.WORKTREE, id=f"worktree://{checkout.root}", parent=parent), checkout.root


def anchors_of(directory: str | None) -> list[Anchor]:
    """The scopes that speak where somebody stands, from near to far. Read from files: no program is started for a question."""
    if directory is None:
        return [LEGACY, GLOBAL]
    checkout = checkout_by_files(directory)
    parent = f"repo://{checkout.common}" if checkout.common is not None else None
    own = Anchor(kind=AnchorKind.WORKTREE, id=f"worktree://{checkout.root}", parent=parent)
    return [own, *([Anchor(kind=AnchorKind.REPO, id=parent)] if parent else []), LEGACY, GLOBAL]


FORMER = "anchor.former"  # meta key: roots this brain had before, or whose memory it took over


def former_roots(opened: OpenBrain) -> list[str]:
    """Where the repository of a brain was before it moved, in this home or in another one."""
    known = list(stored_json(opened.store.meta(FORMER) or "[]", "meta"))
    came = stored_json(opened.store.meta(ORIGIN_KEY) or "{}", "meta").get("name")
    return known if came in (None, opened.brain.name, *known) else [*known, came]


def note_former(opened: OpenBrain, writer: Writer, root: str) -> None:
    """Remember a root: what is anchored there belongs to the main checkout now."""
    writer.set_meta(FORMER, json.dumps(list(dict.fromkeys([*former_roots(opened), root]))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """The scopes that speak where somebody stands, from near to far, as one brain knows them. A brain belongs to one repository,
    so every repository anchor in it is this one, wherever a clone or a move put it."""

    anchors: tuple[Anchor, ...]
    former: tuple[str, ...] = ()  # roots of before, when this is the main checkout
    project: bool = True

    def nearness(self, anchor: Anchor) -> int | None:
        """The place of an anchor in the order, from 0; None when it does not speak here."""
        for at, one in enumerate(self.anchors):
            if one.id == anchor.id:
                return at
        if not self.project:
            return None
        if anchor.kind is AnchorKind.WORKTREE and anchor.id.removeprefix("worktree://") in self.former:
            return 0
        repos = [at for at, one in enumerate(self.anchors) if one.kind is AnchorKind.REPO]
        return repos[0] if anchor.kind is AnchorKind.REPO else None

    def ids(self) -> tuple[str, ...]:
        """Every name under which these scopes are known here."""
        more = [f"{kind}://{root}{end}" for root in self.former for kind, end in (("worktree", ""), ("repo", "/.git"))]
        return (*(anchor.id for anchor in self.anchors), *more)


def scopes_in(opened: OpenBrain, anchors: Sequence[Anchor]) -> Scopes:
    """The same scopes as one brain knows them."""
    root = opened.brain.root
    main = root is not None and any(anchor.id == f"worktree://{root}" for anchor in anchors)
    return Scopes(anchors=tuple(anchors), former=tuple(former_roots(opened)) if main else (), project=root is not None)


class Anchors:
    """Places observations."""

    def __init__(self, brains: Brains, router: Router) -> None:
        self._brains = brains
        self._router = router

    def placed(
        self,
        caller: Caller,
        *,
        domain: Domain,
        provenance: Provenance,
        kind: str | None,
        anchor_id: str | None,
        cwd: str | None,
        branch_local: bool = False,
    ) -> Placed:
        """The given anchor, else the derived one. What is anchored to no project is kept in the medulla, the rest at home."""
        if (kind is None) != (anchor_id is None):
            raise InvalidParams("anchor_kind and anchor_id go together", fix="give both, or neither and let them be derived")
        if kind is not None and anchor_id is not None:
            given = Anchor(kind=AnchorKind(kind), id=anchor_id)
            self._check(given, domain)
            return Placed(brain=self._brain(caller, given), anchor=given)
        if domain is Domain.GLOBAL:
            return self.scoped(caller, AnchorKind.GLOBAL, cwd=cwd)
        shared = provenance is Provenance.RESEARCH and not branch_local
        return self.scoped(caller, AnchorKind.REPO if shared else AnchorKind.WORKTREE, cwd=cwd)

    def scoped(self, caller: Caller, kind: AnchorKind, *, cwd: str | None) -> Placed:
        """The anchor of this kind where the caller stands. Without git the repository is the directory itself."""
        if kind is AnchorKind.GLOBAL:
            return Placed(brain=self._brains.home.medulla(), anchor=GLOBAL)
        brain = self._router.write_route(caller)
        directory = self._directory(caller, brain, cwd)
        if directory is None:
            return Placed(brain=brain, anchor=LEGACY)
        anchor, root = anchor_at(directory, kind)
        return Placed(brain=brain, anchor=anchor, checkout=root)

    def standing(self, caller: Caller, cwd: str | None) -> str | None:
        """The directory a question comes from: a named one of the caller's own project, else where the caller stands."""
        brain = self._router.route(caller).brain
        if brain is not None:
            return self._directory(caller, brain, cwd)
        return next((one for one in (caller.root, caller.told_root) if one is not None and os.path.isdir(one)), None)

    @staticmethod
    def _check(anchor: Anchor, domain: Domain) -> None:
        """Said before an id is made of it; the value itself refuses the same."""
        if anchor.kind is AnchorKind.GLOBAL and domain is not Domain.GLOBAL:
            raise InvalidParams(
                f"a global anchor needs the domain global, not {domain.value}",
                fix="give domain=global, or anchor it at the repository",
            )

    def _brain(self, caller: Caller, anchor: Anchor) -> Brain:
        return self._brains.home.medulla() if anchor.kind is AnchorKind.GLOBAL else self._router.write_route(caller)

    def _directory(self, caller: Caller, brain: Brain, cwd: str | None) -> str | None:
        """The directory an observation was made in: what the call says, else where the caller stands, if that is this brain's."""
        if cwd is not None:
            if not os.path.isabs(cwd) or "\x00" in cwd:
                raise PathRefused(f"{cwd[:120]!r} is not an absolute path", fix="give cwd as an absolute directory")
            found = self._brains.covering(os.path.realpath(cwd))
            if found is None or found.name != brain.name:
                raise PathRefused(
                    f"{cwd[:200]!r} does not belong to {brain.display_name}", fix="give a directory of this project as cwd"
                )
            return cwd
        for standing in (caller.root, caller.told_root):
            if standing is not None and os.path.isdir(standing):
                found = self._brains.covering(standing)
                if found is not None and found.name == brain.name:
                    return standing
        known = caller.root is not None or caller.told_root is not None
        return brain.root if known and brain.root is not None and os.path.isdir(brain.root) else None
