"""The guard: finds out where a caller really is, and how far the graph there can be trusted. Looks; it binds, ingests and changes
nothing. What a client says of its workspace is checked, not believed."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from hindbrain import __version__
from hindbrain.domain.brain import contains
from hindbrain.domain.caller import AgentId, Caller, RootSource
from hindbrain.domain.errors import PathRefused
from hindbrain.domain.mission import ContextGuard, RootOrigin, TrustEnvelope
from hindbrain.engines.guarding import GuardFacts, TrustFacts, cased, classified, fingerprint, trusted
from hindbrain.engines.mission_faults import Fault
from hindbrain.engines.moments import stamped
from hindbrain.engines.tool_surface import lacking_tools
from hindbrain.services.authority import Authority
from hindbrain.services.missions.graph import GraphStatus, MissionGraph
from hindbrain.services.routing import Router
from hindbrain.stores.home import Home
from hindbrain.stores.identity import branch_head, identity_of
from hindbrain.stores.installation import installed, running, started_as
from hindbrain.stores.repository import canonical_root, is_project, main_path, repository_of

__all__ = ["Guard", "Looked", "guard_payload", "told"]

_PING_S = 1.0  # an owner that takes longer is not there for an agent, and the guard is not to hang on it
_ORIGINS: dict[RootSource, RootOrigin] = {
    RootSource.CALL: "explicit",
    RootSource.HEADER: "explicit",
    RootSource.SESSION: "explicit",  # a header at the beginning of the session
    RootSource.ROOTS: "mcp_roots",
    RootSource.ENVIRONMENT: "env",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One look: where it is, how far the graph carries, and what else was seen."""

    guard: ContextGuard
    trust: TrustEnvelope
    stale_build: bool  # what runs is not what is installed
    identity: str  # of the repository, the same in every clone
    faults: tuple[Fault, ...] = ()  # mismatches of the runtime, by their diagnoses
    warnings: tuple[str, ...] = ()


def told(record: object) -> Any:
    """A record as the wire has it."""
    return msgspec.json.decode(msgspec.json.encode(record))


def guard_payload(looked: Looked, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """What a guard event keeps of a look; `warnings` are those of a drift."""
    return {
        "guard": told(looked.guard),
        "trust": told(looked.trust),
        "stale_build": looked.stale_build,
        "warnings": [*warnings, *looked.warnings],
    }


class Guard:
    """The front door of every mission."""

    def __init__(self, home: Home, router: Router, graph: MissionGraph, authority: Authority, clock: Callable[[], int]) -> None:
        self._home = home
        self._router = router
        self.graph = graph
        self._authority = authority
        self._clock = clock
        self.serving = False  # no owner, and yet here to stay: what this process started as may be old by now
        self.rechecks: list[Callable[[Caller], None]] = []  # told when a client's roots changed

    def moved(self, caller: Caller) -> None:
        """A client says that its roots changed: whoever has missions of this session looks again."""
        # A notice says no agent; the session remembers who worked in it.
        worked = next((one.agent for one in self._router.sessions() if one.id == caller.session), caller.agent)
        who = replace(caller, agent=AgentId(worked))
        if self._router.route(who).brain is None:
            return  # nothing of anybody is here
        for recheck in self.rechecks:
            recheck(who)

    def look(
        self,
        caller: Caller,
        *,
        repo: str | None = None,
        federation_intent: bool = False,
        workspace_root: str | None = None,
        available_tools: Sequence[str] | None = None,
        missing_tools: Sequence[str] = (),
        retrieval: str | None = None,
        expected_fingerprint: str | None = None,
    ) -> Looked:
        """`retrieval` is blocked or empty when a question found nothing that should have; `expected_fingerprint` is the one that
        the caller started with."""
        wanted = self._named(caller, repo) if repo is not None else None
        place, origin = self._workspace(caller, workspace_root, wanted)
        wanted = wanted or (repository_of(place).worktree if place is not None else self._nowhere(caller))
        status = self.graph.status(caller)
        owner, build = running(self._home, wait_s=_PING_S), started_as()
        runs = owner.build if owner is not None and owner.answers else build if self.serving else None
        wanted_build = installed().build if runs is not None else None  # reads every file of the program
        stale = runs != wanted_build
        facts = self._facts(caller, wanted, place, origin, status, build, intent=federation_intent)
        guard = classified(facts)
        seen = self._authority.reaches(caller, wanted)
        identity = identity_of(wanted) if seen else f"path:{wanted}"
        name = fingerprint(
            identity=identity,
            workspace_root=place,
            runtime_root=guard.runtime_root,
            build_id=build,
            generation=status.generation,
            ingest_roots=status.roots,
        )
        lacking = tuple(lacking_tools(available_tools, missing_tools))
        right = guard.classification != "wrong_workspace_binding"
        trust = trusted(
            TrustFacts(
                classification=guard.classification,
                fingerprint=name,
                expected_fingerprint=expected_fingerprint,
                stale_build=stale,
                lacking_tools=lacking,
                nodes=status.nodes,
                edges=status.edges,
                # The files of another place say nothing about how fresh this graph is.
                changed=self.graph.behind(caller, wanted) if right else None,
                retrieval=retrieval,
                checked_at=stamped(self._clock()),
            )
        )
        warnings, faults = [], []
        if owner is not None and owner.problem is not None:
            faults.append(Fault(name="dead_mcp_transport", evidence={"owner_pid": owner.pid, "problem": owner.problem}))
            warnings.append(f"dead_mcp_transport: the owner of this home (process {owner.pid}) does not answer: {owner.problem}")
        if stale:
            faults.append(Fault(name="stale_runtime", evidence={"running": runs, "installed": wanted_build}))
            warnings.append(f"stale_runtime: build {runs} runs, {wanted_build} is installed")
        if lacking:
            faults.append(Fault(name="missing_recovery_tools", evidence={"missing": list(lacking)}))
            warnings.append(f"missing_recovery_tools: the host does not list {', '.join(lacking)}")
        if status.problem is not None:
            warnings.append(f"graph_unreachable: {status.problem}")
        if not right:
            evidence = {"repo": guard.repo, "workspace_root": place, "ingest_roots": list(status.roots)}
            faults.append(Fault(name="wrong_workspace", evidence=evidence))
        return Looked(
            guard=guard, trust=trust, stale_build=stale, identity=identity, faults=tuple(faults), warnings=tuple(warnings)
        )

    # -- places ------------------------------------------------------------------------------------------------------

    def _workspace(self, caller: Caller, given: str | None, wanted: str | None) -> tuple[str | None, RootOrigin]:
        """The workspace and where it was learned: said, offered by the client, set, git's, the directory."""
        said = given if given is not None else caller.told_root or caller.refused_root  # it is compared, and opens nothing
        if said is not None:
            return self._named(caller, said), "explicit"
        root, origin = caller.root, _ORIGINS.get(caller.root_source)
        own = _settled(root) if root is not None else None
        if own is not None and self._managed(own):
            own = None  # started in a folder of ours, which is nobody's workspace
        if own is not None and origin == "explicit":
            return own, origin
        offered = [path for one in caller.offered_roots if not self._managed(path := _settled(one))]
        if offered:
            near = (one for one in offered if wanted is not None and (contains(one, wanted) or contains(wanted, one)))
            return next(near, offered[0]), "mcp_roots"
        if own is None:
            return None, "none"
        if origin is not None:
            return own, origin
        repository = repository_of(own)
        return (repository.worktree, "git") if repository.git else (own, "cwd")

    def _named(self, caller: Caller, path: str) -> str:
        """A path that somebody named, resolved where the caller may look; a folder of this home is refused."""
        found = self._authority.settled(caller, path)
        found = _settled(found) if self._authority.reaches(caller, found) else found
        if self._managed(found):
            raise PathRefused(
                f"{found[:200]} lies in the home of Hindbrain: a folder it manages is no workspace",
                fix="name the directory of a repository",
            )
        return found

    def _managed(self, path: str) -> bool:
        return contains(canonical_root(self._home.path), path)

    def _nowhere(self, caller: Caller) -> str:
        bound = self._router.route(caller).brain
        return (bound.root if bound is not None else None) or "/"

    # -- facts -------------------------------------------------------------------------------------------------------

    def _facts(
        self,
        caller: Caller,
        repo: str,
        place: str | None,
        origin: RootOrigin,
        status: GraphStatus,
        build: str,
        *,
        intent: bool,
    ) -> GuardFacts:
        bound = self._router.route(caller).brain
        bound_root = bound.root if bound is not None else None
        known = [path for path in (place, bound_root, *status.roots) if path is not None]
        looked_at = {path for path in known if self._authority.reaches(caller, path)}
        hosted = not caller.reads_files and caller.root is not None and not _related(caller.root, repo)
        facts = GuardFacts(
            repo=repo,
            workspace_root=place,
            origin=origin,
            workspace_usable=place in looked_at and _usable(place or ""),
            hosted=hosted,
            bound_root=bound_root,
            ingest_roots=status.roots,
            projects=frozenset(root for root in status.roots if root == bound_root or is_project(root)),
            repositories={path: repository_of(path).root if path in looked_at else path for path in known},
            seen={path: main_path(path) if path in looked_at else path for path in known},
            federation_intent=intent,
            runtime_root=str(self._home.brain_dir(bound)) if bound is not None else str(self._home.path),
            binary_version=__version__,
            build_id=build,
            generation=status.generation,
            nodes=status.nodes or 0,
        )
        if not self._authority.reaches(caller, repo):  # nothing is told of directories outside the caller's own
            return facts
        return _with_repo(facts)


def _with_repo(facts: GuardFacts) -> GuardFacts:
    """The same facts with what the requested directory itself says."""
    return replace(
        facts,
        repo_usable=_usable(facts.repo),
        repositories={**facts.repositories, facts.repo: repository_of(facts.repo).root},
        seen={**facts.seen, facts.repo: main_path(facts.repo)},
        branch_head=branch_head(facts.repo),
    )


def _related(one: str, other: str) -> bool:
    return contains(one, other) or contains(other, one)


def _usable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK)


def _settled(path: str) -> str:
    """A path with its links resolved, spelt as the disk spells it."""
    real = canonical_root(path)
    other = real.swapcase()
    if other == real or not os.path.exists(other) or not os.path.samefile(real, other):
        return real
    return cased(real, _names, os.path.samefile)


def _names(directory: str) -> Collection[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return ()
