"""Routing: which brain a call belongs to. One resolver for every surface, so that none can write into another brain."""

import os
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hindbrain.domain.brain import MEDULLA, Brain, contains
from hindbrain.domain.caller import Caller, Channel, RootSource
from hindbrain.domain.errors import BrainlessRoot, CallerRootUnknown, PathRefused, RepositoryChanged
from hindbrain.services.brains import Brains, repository_change, repository_ways
from hindbrain.services.registered_places import RegisteredPlaces
from hindbrain.stores.home import REPO_DIR
from hindbrain.stores.repository import canonical_root, repository_of

__all__ = ["Gap", "Route", "Router", "SessionState", "gap", "is_no_project", "refuse_home_directory"]

Gap = dict[str, Any]

_SESSION_REST_MS = 24 * 3_600_000
_SESSION_ACTIVE_MS = 15 * 60_000


def gap(kind: str, text: str, fix: object = None) -> Gap:
    """A named hole in an answer, with at most one way to close it."""
    return {"kind": kind, "text": text} | ({"fix": fix} if fix is not None else {})


@dataclass(slots=True)
class SessionState:
    """What the owner remembers of one session. Ephemeral: a session ends with its process."""

    id: str
    agent: str
    bound_project_root: str | None = None
    bound_mark: tuple[str, int] | None = None  # of the brain that was there: another one may have the path by now
    remembered_root: str | None = None
    caller_root_source: str = RootSource.UNKNOWN.value
    queries: int = 0
    last_ms: int = 0
    seen: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a call is served: its project brain, or none, with what has to be said about it."""

    brain: Brain | None
    root: str | None
    root_source: str
    gaps: tuple[Gap, ...] = ()
    lent: Brain | None = None  # the bound brain: lends its code graph to a stranger, never its memory


class Router:
    """Resolves callers to brains and keeps their sessions."""

    def __init__(self, brains: Brains, places: RegisteredPlaces, clock: Callable[[], int]) -> None:
        self._brains = brains
        self._places = places
        self._clock = clock
        self._sessions: dict[str, SessionState] = {}
        self._lock = threading.Lock()

    # -- sessions ----------------------------------------------------------------------------------------------------

    def session(self, caller: Caller) -> SessionState:
        now = self._clock()
        with self._lock:
            state = self._sessions.get(caller.session)
            if state is None:
                if len(self._sessions) > 10_000:
                    self._forget_idle(now)
                state = self._sessions[caller.session] = SessionState(id=caller.session, agent=caller.agent)
            state.last_ms = now
            state.agent = caller.agent
            if caller.root is not None:
                state.remembered_root = caller.root
                state.caller_root_source = caller.root_source.value
            return state

    def _forget_idle(self, now: int) -> None:
        for key in [k for k, s in self._sessions.items() if now - s.last_ms > _SESSION_REST_MS] or list(self._sessions)[:1000]:
            del self._sessions[key]

    def sessions(self) -> list[SessionState]:
        with self._lock:
            return list(self._sessions.values())

    def active(self) -> list[SessionState]:
        """Sessions that were heard of lately: a command of an hour ago is no session any more."""
        since = self._clock() - _SESSION_ACTIVE_MS
        return [state for state in self.sessions() if state.last_ms >= since]

    def end(self, session: str) -> None:
        """A connection closed: its session is over."""
        with self._lock:
            self._sessions.pop(session, None)

    def bind(self, caller: Caller, brain: Brain) -> None:
        state = self.session(caller)
        state.bound_project_root, state.bound_mark = brain.root, brain.mark

    def bound_root(self, caller: Caller) -> str | None:
        """The directory whose brain the session of a caller is bound to; None when another brain has it by now."""
        state = self.session(caller)
        root = state.bound_project_root
        brain = self._brains.home.project(root) if root is not None else None
        return root if brain is None or brain.mark == state.bound_mark else None

    # -- routes ------------------------------------------------------------------------------------------------------

    def may_name(self, caller: Caller, root: str) -> bool:
        """Whether a call may say that it comes from a canonical directory, though its surface does not know it.

        A person may. A model may name what its host opened for this session, and what a person registered.
        """
        if caller.channel is Channel.HUMAN or self._places.covers(root):
            return True
        if any(contains(one, root) and not is_no_project(one) for one in (*caller.offered_roots, caller.root) if one):
            return True
        if caller.root is None:  # the bound brain answers callers without a root in any case
            bound = self._brains.bound_root
            return bound is not None and self.session(caller).remembered_root is None and contains(bound, root)
        return repository_of(caller.root).root == repository_of(root).root

    def route(self, caller: Caller) -> Route:
        """The sticky brain of the session, else the one that covers the caller's root, else none (with the bound one's graph)."""
        state = self.session(caller)
        gaps: list[Gap] = []
        if state.bound_project_root is not None:
            brain = self._brains.project(state.bound_project_root)
            if brain is not None and brain.mark == state.bound_mark:
                return Route(brain=brain, root=state.bound_project_root, root_source="session", gaps=tuple(gaps))
            known = self._brains.home.project(state.bound_project_root)
            gone = known is None or known.mark != state.bound_mark
            why = "is no longer on disk" if gone else "was made for another repository than the one that is there now"
            gaps.append(gap("sticky_brain_missing", f"the brain this session was bound to ({state.bound_project_root}) {why}"))
        root, source = (caller.root, caller.root_source) if caller.root else (state.remembered_root, RootSource.SESSION)
        brain = self._brains.covering(root) if root else None
        if brain is None and caller.told_root is not None:
            # What the call says is heard only where nothing better is known: naming another brain never opens it.
            root, source = caller.told_root, RootSource.CALL
            brain = self._brains.covering(root)
        if brain is not None:
            # A session whose brain is gone is not moved to another in silence: every answer says so until it is bound anew.
            if state.bound_project_root is None:
                state.bound_project_root, state.bound_mark = brain.root, brain.mark
            return Route(brain=brain, root=root, root_source=source.value, gaps=tuple(gaps))
        if caller.refused_root is not None:
            gaps.append(_refused(caller.refused_root))
        if root is not None and (other := self._brains.replaced(root)) is not None:
            gaps.append(_replaced(other.root or root))
        lent = self._brains.project(self._brains.bound_root) if self._brains.bound_root else None
        if root is None:
            return Route(brain=lent, root=None, root_source=RootSource.UNKNOWN.value, gaps=(*gaps, _UNKNOWN), lent=lent)
        return Route(brain=None, root=root, root_source=source.value, gaps=tuple(gaps), lent=lent)

    def write_route(self, caller: Caller) -> Brain:
        """The brain a write goes to. Without one it is refused, and the medulla is never the fall-through."""
        route = self.route(caller)
        if route.brain is not None:
            return route.brain
        if route.root is None:
            raise CallerRootUnknown(
                "nobody said from which project this comes, and no brain is bound",
                fix={
                    "action": "name_your_root",
                    "call": {"arguments": {"caller_root": "<absolute project directory>"}},
                    "or": {"arguments": {"tier": "medulla"}},
                },
                caller_root=None,
            )
        self.refuse_replaced(route.root)
        raise BrainlessRoot(
            f"{uncovered(route.root)}; memory belongs to a project and is not kept anywhere else",
            fix=self.bootstrap_fix(caller, route.root),
            caller_root=route.root,
        )

    def refuse_replaced(self, root: str | None) -> None:
        """Refuse a caller whose directory is gone, or holds another repository than its brain was made for."""
        if root is not None and (other := self._brains.replaced(root)) is not None:
            raise RepositoryChanged(
                f"{repository_change(other.root or root)}; nothing is read or written there",
                fix=repository_ways(other.root or root),
                caller_root=root,
            )

    def named(self, caller: Caller, tier: str | None) -> Brain:
        """The brain that a call with a `tier` argument speaks of: the medulla when it is named, else the caller's own."""
        return self._brains.home.medulla() if tier == MEDULLA else self.write_route(caller)

    def bootstrap_fix(self, caller: Caller, root: str) -> dict[str, Any]:
        """The one call that gives a directory its brain, ready to be executed as it stands."""
        repository = repository_of(root)
        home = repository.root if os.path.isdir(repository.root) else root
        # A bare repository names the brain of its worktrees but has no files of its own to take in.
        files = home if os.path.exists(os.path.join(home, ".git")) else repository.worktree
        arguments = {"path": files, "project_root": home, "agent_id": caller.agent}
        return {
            "action": "ingest_your_repo",
            "call": {
                "tool": "ingest",
                "arguments": arguments,
                "cli": f"hindbrain ingest {shlex.quote(files)} --project-root {shlex.quote(home)}",
            },
        }

    def reception(self, caller: Caller, route: Route) -> dict[str, Any] | None:
        """What a caller from a directory without a brain is told. None on a match and when the root is unknown."""
        if route.brain is not None or route.root is None:
            return None
        fix = self.bootstrap_fix(caller, route.root)
        block: dict[str, Any] = {
            "schema": "m1nd-reception-degraded-v0",
            "match": "caller_root_mismatch",
            "caller_root": route.root,
            "bound_workspace": self._brains.bound_root,
            "honest": f"You get the medulla's memory only, and writes are refused: {uncovered(route.root)}.",
            "write_target": {"refused": BrainlessRoot.code},
        }
        if (other := self._brains.replaced(route.root)) is not None:
            ways = repository_ways(other.root or route.root)
            block["honest"] = f"You get the medulla's memory only, and writes are refused: {_replaced(other.root or '')['text']}."
            block["write_target"] = {"refused": RepositoryChanged.code}
            block["options"] = [_CONTINUE, {"action": "confirm_repository", "note": ways}]
            return block
        related = self._brains.related(route.root)
        if len(related) == 1 and related[0].root is not None:
            known = related[0].root
            block["known_brain"] = known
            fix["call"]["arguments"] |= {"path": known, "project_root": known}
            fix["call"]["cli"] = f"hindbrain ingest {shlex.quote(known)} --project-root {shlex.quote(known)}"
        block["options"] = [
            _CONTINUE,
            {"action": fix["action"], "call": fix["call"]},
        ]
        return block

    def write_target(self, route: Route, path: str | None) -> dict[str, Any]:
        if route.brain is None:
            if route.root is not None and self._brains.replaced(route.root) is not None:
                return {"refused": RepositoryChanged.code}
            return {"refused": BrainlessRoot.code if route.root else CallerRootUnknown.code}
        return {"tier": "project", "store_brain": route.brain.name, "path": path}


_CONTINUE = {"action": "continue_bound", "note": "go on without project memory; the medulla still answers"}
_UNKNOWN = gap("caller_root_unknown", "the call did not say from which project it comes; nothing is guessed")


def uncovered(root: str) -> str:
    """That a directory has no brain, and whether it carries memory, as a repository does that was moved or cloned."""
    carries = os.path.isfile(os.path.join(repository_of(root).root, REPO_DIR, "brain.json"))
    return f"no brain covers {root}" + (", and the memory it carries waits for `hindbrain init`" if carries else "")


def is_no_project(root: str) -> bool:
    """Whether a directory holds all projects of the user, or settings and keys: `~`, what is above it, `~/.ssh` and its like."""
    user = canonical_root(os.path.expanduser("~"))
    if contains(root, user):
        return root in (user, "/") or not os.path.exists(os.path.join(root, ".git"))
    repository = repository_of(root)
    settings = contains(user, root) and os.path.relpath(root, user).startswith(".")
    return settings and (not repository.git or repository.root == user)


def refuse_home_directory(root: str) -> None:
    """What holds everybody's projects is none: one brain would answer for all of them."""
    if is_no_project(root):
        raise PathRefused(f"{root} is not a project", fix="run it in the directory of a repository")


def _refused(root: str) -> Gap:
    return gap(
        "caller_root_refused",
        f"neither the host of this session nor a person registered {root[:200]!r}: as an argument it opens nothing",
        f"a person registers it in a terminal: hindbrain places add {shlex.quote(root[:200])}",
    )


def _replaced(root: str) -> Gap:
    return gap(
        "repository_changed",
        f"{repository_change(root)}; its memory is not shown",
        repository_ways(root),
    )
