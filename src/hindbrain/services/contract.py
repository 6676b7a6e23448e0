"""The runtime contract of this process: gathers the facts for the envelope, the binding fingerprint and the trust mode."""

import os
from typing import Any

from hindbrain import __version__
from hindbrain.domain.brain import Brain, contains
from hindbrain.domain.caller import Caller
from hindbrain.domain.errors import HindbrainError, StoreBehind
from hindbrain.engines.contract import Facts, envelope, trust_mode
from hindbrain.services.brains import Brains
from hindbrain.services.routing import Route, Router
from hindbrain.stores.home import Home
from hindbrain.stores.installation import program
from hindbrain.stores.port import Counts
from hindbrain.stores.repository import canonical_root, workspace_hint

__all__ = ["Contract"]

_NOTHING = Counts(active_claims=0, nodes=0, edges=0, generation=0)


class Contract:
    """What every retrieval answer says of who answered, on which workspace, over which graph."""

    def __init__(self, home: Home, brains: Brains, router: Router) -> None:
        self._home = home
        self._brains = brains
        self._router = router

    def envelope(
        self,
        caller: Caller,
        *,
        tool: str,
        candidates: int | None,
        scope: str | None,
        error: str | None,
        proof_state: str | None,
    ) -> dict[str, Any]:
        """Never makes a call fail: what cannot be found out is empty, and the error text says why."""
        route = self._router.route(caller)
        brain = route.brain or route.lent
        graph_path = self.graph_path(brain)
        counts, learned, problem = self._counted(brain, rooted=route.root is not None)
        if problem is not None:
            error = error or f"the envelope is incomplete: {problem}"
        return envelope(
            Facts(
                tool=tool,
                agent_id=caller.agent,
                candidates=candidates,
                error=error,
                proof_state=proof_state,
                requested_scope=scope,
                mismatch=self.mismatch(route, scope),
                process_id=os.getpid(),
                runtime_root=_short(os.path.dirname(graph_path)),
                executable=_short(program()),
                version=__version__,
                workspace_root=brain.root if brain else None,
                workspace_root_source="manifest" if brain else None,
                ingest_roots=tuple(_within(root, brain.root) for root in self._roots(brain)) if brain else (),
                nodes=counts.nodes if counts else None,
                edges=counts.edges if counts else None,
                generation=counts.generation if counts else None,
                learned=learned,
                graph_path=_short(graph_path),
                graph_path_exists=os.path.exists(graph_path),
                served=self.served(brain),
            )
        )

    @staticmethod
    def served(brain: Brain | None) -> dict[str, Any] | None:
        return None if brain is None else {"project_root": brain.root, "display_name": brain.display_name}

    def graph_path(self, brain: Brain | None) -> str:
        return os.path.join(self._home.brain_dir(brain) if brain else self._home.path, "graph.db")

    @staticmethod
    def _roots(brain: Brain | None) -> tuple[str, ...]:
        if brain is None or brain.root is None or brain.last_ingest_ms is None:
            return ()
        return (brain.root, *brain.ingest_roots)

    def _counted(self, brain: Brain | None, *, rooted: bool) -> tuple[Counts | None, int | None, str | None]:
        """How much the brain holds, how often it was taught, and what cannot be found out: that never fails an answer.

        A caller without a root is served by the medulla. A directory that has no brain yet has nothing, whatever the medulla
        holds: its own graph is missing, and the way out is an ingest (RC-025)."""
        try:
            if brain is None:
                return (_NOTHING if rooted else self._medulla_counts()), 0, None
            with self._brains.use(brain) as opened:
                lost = f"the graph of {brain.display_name} is gone; ingest makes it again" if opened.graph_lost else None
                return opened.counted(), opened.plasticity_generation, lost
        except StoreBehind as behind:
            # What was never written holds nothing; what an older release wrote is not known until it is opened.
            return (_NOTHING, 0, None) if behind.details["found"] is None else (None, None, str(behind))
        except (HindbrainError, OSError) as failure:
            return None, None, str(failure)

    def _medulla_counts(self) -> Counts:
        if not self._brains.has_medulla():
            return _NOTHING
        with self._brains.use(self._brains.home.medulla()) as opened:
            return opened.store.counts()

    def mismatch(self, route: Route, scope: str | None) -> dict[str, Any] | None:
        """An absolute scope outside the workspace and all ingest roots; relative ones and id prefixes never are."""
        path = (scope or "").removeprefix("file::")
        if not os.path.isabs(path) or "\x00" in path:
            return None
        brain = route.brain
        real = canonical_root(path)
        if brain is not None and brain.covers(real):
            return None
        hint = workspace_hint(real)
        known = self._home.project(hint)
        checked = [{"kind": "workspace_root", "path": brain.root}] if brain else []
        checked += [{"kind": "ingest_root", "path": root} for root in self._roots(brain)]
        found: dict[str, Any] = {
            "schema": "m1nd-workspace-binding-mismatch-v0",
            "code": "wrong_workspace_binding",
            "requested_scope": scope,
            "requested_scope_path": real,
            "requested_workspace_hint": hint,
            "requested_context_id": os.path.basename(hint),
            "active_workspace_root": brain.root if brain else None,
            "active_workspace_root_source": "project_brain_manifest" if brain else None,
            "active_ingest_roots": list(self._roots(brain)),
            "known_roots_checked": checked,
            "runtime_root": str(self._home.brain_dir(brain)) if brain else str(self._home.path),
            "suggested_fix": {
                "preferred": "rebind with HINDBRAIN_WORKSPACE_ROOT",
                "env": {"HINDBRAIN_WORKSPACE_ROOT": hint},
                "same_binding_alternative": "ingest that workspace here on purpose",
                "cross_repo_alternative": "federate, for a task that truly spans repositories",
            },
            "non_claims": [
                "does not switch the workspace",
                "does not ingest, federate or change the graph",
                "does not prove that the requested workspace is the right one",
            ],
        }
        if known is not None:
            found["known_brain"] = hint
        return found

    def mode(self, route: Route, scope: str | None) -> str:
        """The trust mode of a binding that was not asked anything yet."""
        counts, _, problem = self._counted(route.brain or route.lent, rooted=route.root is not None)
        return trust_mode(
            mismatch=self.mismatch(route, scope) is not None,
            nodes=counts.nodes if counts else None,
            candidates=None,
            proof_state=None,
            error=problem is not None,
        )

    def fingerprint(self, route: Route) -> dict[str, Any]:
        """Which process, which files, which generation: what two answers must share to be about the same thing."""
        brain = route.brain or route.lent
        graph_path = self.graph_path(brain)
        counts, learned, _ = self._counted(brain, rooted=route.root is not None)
        generation = counts.generation if counts else None
        return {
            "schema": "m1nd-binding-fingerprint-v0",
            "process_id": os.getpid(),
            "current_exe": program(),
            "runtime_root": os.path.dirname(graph_path),
            "graph_path": graph_path,
            "plasticity_path": os.path.join(os.path.dirname(graph_path), "learned.db"),
            "workspace_root": brain.root if brain else None,
            "workspace_root_source": "project_brain_manifest" if brain else None,
            "ingest_roots": list(self._roots(brain)),
            "graph_path_exists": os.path.exists(graph_path),
            "graph_generation": generation,
            "plasticity_generation": learned,
            "cache_generation": None if generation is None else max(generation, learned or 0),
            "node_count": counts.nodes if counts else None,
            "edge_count": counts.edges if counts else None,
            "graph_finalized": True,
        }


def _short(path: str) -> str:
    """A path as people write it. The envelope goes with every answer, so each character counts."""
    user = os.path.expanduser("~").rstrip("/")
    return f"~{path.removeprefix(user)}" if user and path.startswith(f"{user}/") else path


def _within(path: str, root: str | None) -> str:
    """An ingest root as seen from the workspace: `.` is the workspace itself."""
    return os.path.relpath(path, root) if root is not None and contains(root, path) else path
