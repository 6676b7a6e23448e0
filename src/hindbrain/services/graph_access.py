"""Graph access: which graph a caller may ask, its nodes as rows, and what a session has seen of it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hindbrain.domain.brain import Brain, contains
from hindbrain.domain.caller import Caller, Channel
from hindbrain.domain.errors import BrainlessRoot, InvalidParams, UnknownBrain
from hindbrain.domain.graph import Node
from hindbrain.domain.read_errors import UnknownNode
from hindbrain.policy.activation import PROOF, SHOWN
from hindbrain.services.authority import ANALYSIS
from hindbrain.services.brains import Brains, OpenBrain
from hindbrain.services.routing import Router
from hindbrain.services.warm_graph import WarmGraph, WarmGraphs
from hindbrain.stores.learned import SessionMark

__all__ = ["ANALYSIS", "GraphAccess", "Held", "blocked", "check_member", "proof_state"]

_NEXT = {
    "ready_to_edit": ("impact", "Look at the impact of the first result, then edit it."),
    "proving": ("impact", "Check the first result: its impact shows what hangs on it."),
    "triaging": ("seek", "Several candidates are alike: narrow the question, or seek by meaning."),
    "blocked": ("recovery_playbook", "Nothing was found: hand recovery.arguments to recovery_playbook."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A graph that is in use, with the brain it belongs to and whether this caller may teach it."""

    opened: OpenBrain
    graph: WarmGraph
    own: bool

    def nodes(self, rows: Sequence[int]) -> list[Node]:
        """The nodes of some rows, with where they stand."""
        net = self.graph.net
        ids = [net.ids[row] for row in rows]
        store = self.opened.graph
        code = store.nodes(ids) if store is not None else {}
        return [
            code.get(external)
            or Node(
                id=external,
                label=net.labels[row],
                kind=net.kinds[row],
                path=net.paths[row],
                namespace="light" if external.startswith("light::") else "",
                tags=tuple(net.tags[row].split()),
            )
            for row, external in zip(rows, ids, strict=True)
        ]

    def briefs(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        net = self.graph.net
        return [{"node_id": net.ids[row], "label": net.labels[row], "type": net.kinds[row]} for row in rows]


def provenance(node: Node) -> dict[str, Any]:
    return {
        "source_path": node.path,
        "line_start": node.line_start,
        "line_end": node.line_end,
        "excerpt": node.excerpt,
        "namespace": node.namespace,
        "canonical": not node.id.startswith("light::"),
    }


def proof_state(scores: Sequence[float], top_kind: str) -> str:
    """How far an answer carries: by its best score and the distance to the next."""
    if not scores:
        return "blocked"
    top, margin = scores[0], scores[0] - scores[1] if len(scores) > 1 else scores[0]
    if top >= PROOF.edit_score and margin >= PROOF.edit_margin and top_kind == "file":
        return "ready_to_edit"
    if top >= PROOF.proving_score and (margin >= PROOF.proving_margin or len(scores) == 1):
        return "proving"
    return "triaging"


def following(state: str) -> dict[str, Any]:
    """The fields that say what to do next."""
    tool, hint = _NEXT[state]
    return {"proof_state": state, "next_suggested_tool": tool, "next_step_hint": hint}


def blocked(schema: str, reason: str, **more: Any) -> dict[str, Any]:
    """An answer that found nothing, and says so."""
    return {"schema": schema, **more, **following("blocked"), "reason": reason, "rendered": reason}


def _is_member(own: Brain, analysis: Brain) -> bool:
    return any(contains(own.root or "", one) or contains(one, own.root or "") for one in analysis.ingest_roots)


def check_member(caller: Caller, own: Brain | None, analysis: Brain) -> None:
    """An analysis holds the code of several repositories: only their own agents ask it, and a person."""
    if caller.channel is Channel.HUMAN or (own is not None and _is_member(own, analysis)):
        return
    raise UnknownBrain(
        f"{analysis.name[:100]!r} is no analysis of this project", fix="federate makes one with your project in it"
    )


class GraphAccess:
    """Opens the graph of a caller: its project's with the claims, or an analysis by name."""

    def __init__(self, brains: Brains, router: Router, clock: Callable[[], int]) -> None:
        self._brains = brains
        self.home = brains.home
        self._router = router
        self.clock = clock
        self.warm = WarmGraphs()

    @contextmanager
    def held(self, caller: Caller, brain: str | None = None) -> Iterator[Held]:
        """The caller's graph for the block. A stranger may borrow the bound brain's code, never its memory."""
        named, own = self._named(caller, brain)
        with self._brains.use(named) as opened:
            graph = self.warm.of(opened, claims=own)
            held = Held(opened=opened, graph=graph, own=own)
            if own:
                self._mark(caller, held)
            yield held

    def _named(self, caller: Caller, brain: str | None) -> tuple[Brain, bool]:
        route = self._router.route(caller)
        if brain is not None and brain.startswith(ANALYSIS):
            found = self._brains.home.project(brain)
            if found is None:
                raise UnknownBrain(f"there is no {brain[:100]!r}", fix="federate makes one; instances lists what there is")
            check_member(caller, route.brain, found)
            return found, True
        if brain is not None and (route.brain is None or brain not in (route.brain.root, route.brain.display_name)):
            raise InvalidParams(
                f"{brain[:100]!r} is neither your project nor an analysis", fix="leave brain out, or name analysis:<name>"
            )
        if route.brain is not None:
            return route.brain, True
        if route.lent is not None:
            return route.lent, False
        raise BrainlessRoot(
            f"no brain covers {route.root}: there is no graph to ask",
            fix=self._router.bootstrap_fix(caller, route.root) if route.root else "say from which project you come",
            caller_root=route.root,
        )

    def _mark(self, caller: Caller, held: Held) -> None:
        net = held.graph.net
        held.graph.learned.mark_session(
            SessionMark(
                session=caller.session,
                agent=caller.agent,
                at=self.clock(),
                nodes=net.nodes,
                edges=net.edges,
                generation=held.graph.learned.generation,
            )
        )

    def seen(self, caller: Caller, ids: Sequence[str]) -> None:
        """Note what a session was shown."""
        self._router.session(caller).seen.update(ids)

    def visited(self, caller: Caller) -> frozenset[str]:
        return frozenset(self._router.session(caller).seen)

    def resolve(self, held: Held, name: str) -> int | None:
        return held.graph.names.resolve(name)

    def no_node(self, held: Held, name: str) -> UnknownNode:
        """The error of a call that needs a node which the graph does not have."""
        near = held.graph.names.nearest(name, SHOWN.suggestions)
        fix = f"name one of the suggestions: {', '.join(near)}" if near else "find its id with: search"
        return UnknownNode(_missed(held, name), fix=fix, suggestions=near)

    def unknown(self, held: Held, schema: str, name: str, **more: Any) -> dict[str, Any]:
        """An answer about a node that there is not, with ids that look like it."""
        near = held.graph.names.nearest(name, SHOWN.suggestions)
        missed = _missed(held, name)
        hint = f" {'Name one by its id' if _shared(held, name) else 'Nearest'}: {', '.join(near)}." if near else ""
        return blocked(schema, f"{missed}.{hint}", suggestions=near, exit_code=1, **more)


def _shared(held: Held, name: str) -> bool:
    return len(held.graph.names.called(name)) > 1


def _missed(held: Held, name: str) -> str:
    """Why a name leads to no node: several have it, or none."""
    number = len(held.graph.names.called(name))
    return f"{number} nodes are called {name[:200]!r}" if number > 1 else f"there is no node {name[:200]!r}"
