"""Guarding: which workspace a mission is really in, and how far its graph can be trusted. Pure: facts in, a guard out.
Every path here is resolved already; containment is by component."""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from hindbrain.domain.brain import contains
from hindbrain.domain.mission import (
    Classification,
    ContextGuard,
    DoNot,
    Family,
    RecoveryPayload,
    RootOrigin,
    TrustEnvelope,
    TrustVerdict,
)
from hindbrain.engines.guard_recovery import GUARD_NON_CLAIMS, federation, host_rebind, same_binding_ingest

__all__ = ["DRIFT", "GuardFacts", "TrustFacts", "cased", "classified", "drift", "fingerprint", "guard_do_not", "trusted"]

DRIFT = "context_drift"
_WRONG: Classification = "wrong_workspace_binding"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFacts:
    """What was found out about a place. Paths are real and absolute."""

    repo: str
    repo_usable: bool = True  # a directory that can be read
    workspace_root: str | None
    origin: RootOrigin
    workspace_usable: bool = True
    hosted: bool = False  # the host says where its sessions are, and they cannot bind themselves elsewhere
    bound_root: str | None  # of the brain that answers; None when none does
    ingest_roots: tuple[str, ...] = ()
    projects: frozenset[str] = frozenset()  # those ingest roots that are repositories of their own
    repositories: Mapping[str, str] = field(default_factory=dict)  # path -> main working tree of its repository
    seen: Mapping[str, str] = field(default_factory=dict)  # path -> the same place in the main working tree
    federation_intent: bool = False
    runtime_root: str
    binary_version: str
    build_id: str
    generation: int = 0
    nodes: int = 0
    branch_head: str | None = None

    def repository(self, path: str) -> str:
        return self.repositories.get(path, path)

    def inside(self, path: str, root: str) -> bool:
        """Whether a path lies in a root, or where the root would be in its own worktree."""
        return contains(self.seen.get(root, root), self.seen.get(path, path))

    @property
    def foreign(self) -> tuple[str, ...]:
        """Ingest roots of other repositories than the requested one."""
        return tuple(
            root
            for root in self.ingest_roots
            if root in self.projects and not _related(root, self.repo) and self.repository(root) != self.repository(self.repo)
        )


def _related(one: str, other: str) -> bool:
    return contains(one, other) or contains(other, one)


def classified(facts: GuardFacts) -> ContextGuard:
    """The guard of a place: which of the three situations it is, why, and the way out of a wrong one."""
    matches = facts.workspace_root is not None and facts.workspace_usable and _related(facts.workspace_root, facts.repo)
    classification, reason, recovery = _judged(facts, matches)
    return ContextGuard(
        repo=facts.repo,
        workspace_root=facts.workspace_root,
        workspace_root_source=facts.origin,
        ingest_roots=facts.ingest_roots,
        runtime_root=facts.runtime_root,
        binary_version=facts.binary_version,
        build_id=facts.build_id,
        graph_generation=facts.generation,
        workspace_match=matches,
        classification=classification,
        reason=reason,
        federation_intent=facts.federation_intent,
        branch_head=facts.branch_head,
        recovery=recovery,
        non_claims=GUARD_NON_CLAIMS,
    )


_Judged = tuple[Classification, str, RecoveryPayload | None]


def _judged(facts: GuardFacts, matches: bool) -> _Judged:
    repo, place = facts.repo, facts.workspace_root
    if not facts.repo_usable:
        return _WRONG, f"{repo} is no directory that can be read", None
    if place is None:
        return _rebind(facts, f"no workspace is known, {repo} was requested: nothing is bound")
    if not facts.workspace_usable:
        return _rebind(facts, f"the workspace {place} (from {facts.origin}) does not exist or cannot be read")
    if not matches:
        return _elsewhere(facts, place)
    if facts.bound_root is None:
        return _ingest(facts, f"no brain covers {repo}: nothing is bound to it")
    if not any(facts.inside(repo, root) or facts.inside(root, repo) for root in (facts.bound_root, *facts.ingest_roots)):
        return _ingest(facts, f"this session is bound to {facts.bound_root}, {repo} was requested")
    if facts.foreign:
        return _several(facts, facts.bound_root)
    if not facts.nodes:
        why = f"{repo} is the bound workspace, and its graph is cold"
        return "single_repo", why, same_binding_ingest(repo, facts.bound_root, why=why)
    return "single_repo", f"{repo} is the bound workspace, and the graph holds nothing else", None


def _elsewhere(facts: GuardFacts, place: str) -> _Judged:
    """The request lies outside of the workspace."""
    repo = facts.repo
    if facts.repository(repo) == facts.repository(place):
        return _rebind(facts, f"{place} is active, {repo} was requested: another worktree or directory of the same repository")
    present = any(contains(root, repo) for root in facts.ingest_roots)
    known = [root for root in (facts.bound_root, *facts.ingest_roots) if root is not None]
    if present and facts.bound_root is not None and any(facts.inside(place, root) for root in known):
        return _several(facts, facts.bound_root)
    why = f"{place} is active (from {facts.origin}), {repo} was requested"
    if facts.federation_intent and facts.bound_root is not None:
        said = f"{why}: both are meant, and the graph does not hold the second"
        return _WRONG, said, federation(facts.bound_root, facts.repository(repo), repo=repo, present=False, why=said)
    return _rebind(facts, why)


def _several(facts: GuardFacts, bound: str) -> _Judged:
    """The graph holds more than one repository, the requested one among them."""
    held = [root for root in facts.ingest_roots if root in facts.projects]
    if facts.federation_intent and len({facts.repository(root) for root in (bound, *held, facts.repo)}) > 1:
        return "federated", f"several repositories on purpose: {', '.join(dict.fromkeys((bound, *held)))}", None
    other = next((root for root in held if not _related(root, bound)), facts.repo)
    why = f"the graph of {bound} also holds {other}, and nobody said that several repositories are meant"
    return _WRONG, why, federation(bound, other, repo=facts.repo, present=True, why=why)


def _rebind(facts: GuardFacts, why: str) -> _Judged:
    return _WRONG, why, host_rebind(facts.repo, bound=facts.workspace_root, why=why)


def _ingest(facts: GuardFacts, why: str) -> _Judged:
    if facts.hosted:
        return _rebind(facts, why)
    return _WRONG, why, same_binding_ingest(facts.repo, facts.repository(facts.repo), why=why)


def guard_do_not(guard: ContextGuard | None) -> tuple[DoNot, ...]:
    """What a wrong binding forbids: asking its graph again. It is not stale, it is another place's."""
    if guard is None or guard.classification != _WRONG:
        return ()
    until = "the workspace is bound anew and the guard says so"
    return (DoNot(item=Family.GRAPH.value, kind="tool_family", reason=guard.reason, source="guard", until=until),)


def drift(before: ContextGuard | None, after: ContextGuard) -> tuple[str, ...]:
    """What changed around a mission since a guard was taken: one warning for each."""
    if before is None:
        return ()
    pairs = (
        ("classification", before.classification, after.classification),
        ("graph_generation", before.graph_generation, after.graph_generation),
        ("workspace_root", before.workspace_root, after.workspace_root),
        ("branch", _branch(before), _branch(after)),
        ("build_id", before.build_id, after.build_id),
    )
    return tuple(f"{DRIFT}: {name} was {was}, is {now}" for name, was, now in pairs if was != now)


def _branch(guard: ContextGuard) -> str | None:
    """The branch alone; a commit on it is work, not drift. Without one, the commit."""
    name, _, commit = (guard.branch_head or "").rpartition("@")
    return name or commit or None


def fingerprint(
    *, identity: str, workspace_root: str | None, runtime_root: str, build_id: str, generation: int, ingest_roots: tuple[str, ...]
) -> str:
    """One name for a binding: any part that changes gives another."""
    parts = [identity, workspace_root, runtime_root, build_id, generation, list(ingest_roots)]
    return "sha256:" + hashlib.sha256(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustFacts:
    """What a verdict on the binding rests on."""

    classification: Classification
    fingerprint: str
    expected_fingerprint: str | None = None
    stale_build: bool = False
    lacking_tools: tuple[str, ...] = ()  # required ones that the host does not list
    nodes: int | None = None  # None: it could not be found out
    edges: int = 0
    changed: int | None = None
    retrieval: str | None = None  # blocked or empty, though it should have found something
    checked_at: str


def trusted(facts: TrustFacts) -> TrustEnvelope:
    """The verdict; a fault that hides others comes before them: tools, binding, build, graph, retrieval, freshness."""
    if facts.nodes == 0:
        freshness = "empty"
    elif facts.nodes is None or facts.changed is None:
        freshness = "unknown"
    else:
        freshness = "stale" if facts.changed else "fresh"
    return TrustEnvelope(
        verdict=_verdict(facts, freshness),
        graph_freshness=freshness,  # type: ignore[arg-type]  # one of four, by the lines above
        binding_fingerprint=facts.fingerprint,
        node_count=facts.nodes or 0,
        edge_count=facts.edges,
        changed_files_since_ingest=facts.changed or 0,
        checked_at=facts.checked_at,
    )


def _verdict(facts: TrustFacts, freshness: str) -> TrustVerdict:
    if facts.lacking_tools:
        return "degraded_host_tool_surface"
    if facts.classification == _WRONG:
        return "wrong_workspace_binding"
    if facts.stale_build or facts.expected_fingerprint not in (None, facts.fingerprint):
        return "stale_binding_suspected"
    if facts.nodes == 0:
        return "needs_ingest"
    if facts.retrieval is not None:
        return "retrieval_needs_recovery"
    return "full_trust" if freshness == "fresh" else "orientation_only"


def cased(path: str, names: Callable[[str], Collection[str]], same: Callable[[str, str], bool]) -> str:
    """A path as its directories spell it. A file system that ignores case opens `/Src` for `/src`; both are one workspace."""
    found = "/"
    for part in path.strip("/").split("/") if path.strip("/") else ():
        there = names(found)
        spelt = part
        if part not in there:
            alike = (one for one in there if one.casefold() == part.casefold())
            spelt = next((one for one in alike if same(_joined(found, one), _joined(found, part))), part)
        found = _joined(found, spelt)
    return found


def _joined(directory: str, name: str) -> str:
    return f"{directory.rstrip('/')}/{name}"
