"""Operations on the graph of code, documents and claims: what a question wakes, what an edit reaches, how things connect."""

import posixpath
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from hindbrain.domain.errors import BrainlessRoot, HygieneRefused, InvalidParams, PathRefused, UnknownBrain
from hindbrain.domain.places import BrainName, Endings, OutputFile, ProjectFile, ProjectRoot, SourcePath
from hindbrain.domain.read_errors import UnknownNode
from hindbrain.operations.registry import Effect, operation
from hindbrain.policy.activation import SHOWN
from hindbrain.services.call import Call, Retrieved

__all__ = [
    "activate",
    "counterfactual",
    "coverage_session",
    "drift",
    "federate",
    "federate_auto",
    "graph_columns",
    "graph_export",
    "graph_show",
    "impact",
    "missing",
    "panoramic",
    "persist",
    "predict",
    "timeline",
    "trace",
    "trust",
    "warmup",
    "why",
]

BrainArgument = Annotated[BrainName | None, Meta(description="analysis:<name> for a federation; your project when left out")]
NodeArgument = Annotated[str, Meta(description="node id such as file::src/a.py, a path, or a name only one node has")]
Format = Annotated[Literal["graphml", "json", "dot", "svg"], Meta(description="graphml, json, dot or svg")]
_ASKING = (BrainlessRoot, InvalidParams, UnknownBrain)


def _count(call: Call) -> None:
    call.house.counters.add(call.house.router.route(call.caller).brain, "queries_processed")


@operation("activate", effect=Effect.READ, retrieval=True, positional=("query",), raises=_ASKING)
def activate(
    call: Call,
    query: Annotated[str, Meta(description="names, words or a question")],
    top_k: Annotated[int, Meta(ge=1, le=200, description="nodes at most")] = 20,
    dimensions: Annotated[
        list[str] | None, Meta(description="some of structural, semantic, temporal, causal; all by default")
    ] = None,
    xlr: Annotated[bool, Meta(description="cancel what unrelated parts of the graph would reach as well")] = True,
    include_ghost_edges: Annotated[bool, Meta(description="also pairs that wake together without an edge")] = True,
    include_structural_holes: Annotated[bool, Meta(description="also nodes their active siblings do not know")] = False,
    learn: Annotated[bool, Meta(description="let the graph learn from this question")] = True,
    brain: BrainArgument = None,
) -> Retrieved:
    """Wake the graph by a question: code, documents and claims around what it names, by structure, names, time and cause."""
    _count(call)
    return call.house.graph.queries.activate(
        call.caller,
        query=query,
        top_k=top_k,
        dimensions=tuple(dimensions or ()),
        xlr=xlr,
        ghost_edges=include_ghost_edges,
        structural_holes=include_structural_holes,
        learn=learn,
        brain=brain,
    )


@operation("impact", effect=Effect.READ, everyday=True, retrieval=True, positional=("node_id",), raises=_ASKING)
def impact(
    call: Call,
    node_id: NodeArgument,
    direction: Annotated[
        Literal["forward", "reverse", "both"], Meta(description="forward: what it uses; reverse: what uses it and who cites it")
    ] = "both",
    include_causal_chains: bool = True,
    max_nodes: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="entries at most")] = None,
    brain: BrainArgument = None,
) -> Retrieved:
    """Tell what a change of a node may reach, how strongly and over how many hops; claims that cite it are marked."""
    _count(call)
    return call.house.graph.queries.impact(
        call.caller,
        node_id=node_id,
        direction=direction,
        causal_chains=include_causal_chains,
        max_nodes=max_nodes,
        brain=brain,
    )


@operation("why", effect=Effect.READ, retrieval=True, positional=("source", "target"), raises=_ASKING)
def why(
    call: Call,
    source: NodeArgument,
    target: NodeArgument,
    max_hops: Annotated[int, Meta(ge=1, le=20)] = 6,
    brain: BrainArgument = None,
) -> Retrieved:
    """Show the shortest connection of two nodes, with the relation and direction of every step."""
    _count(call)
    return call.house.graph.queries.why(call.caller, source=source, target=target, max_hops=max_hops, brain=brain)


@operation("panoramic", effect=Effect.READ, retrieval=True, positional=("scope",), raises=_ASKING)
def panoramic(
    call: Call,
    scope: Annotated[ProjectFile | None, Meta(description="a path or an id prefix such as file::src")] = None,
    top_n: Annotated[int, Meta(ge=1, le=1000)] = 50,
    brain: BrainArgument = None,
) -> Retrieved:
    """List the files by risk: how much they reach, how much reaches them, how central they are and how often they change."""
    _count(call)
    return call.house.graph.queries.panoramic(call.caller, scope=scope, top_n=top_n, brain=brain)


@operation("missing", effect=Effect.READ, retrieval=True, positional=("query",), raises=_ASKING)
def missing(
    call: Call,
    query: str,
    min_sibling_activation: Annotated[float, Meta(ge=0, le=1)] = 0.3,
    brain: BrainArgument = None,
) -> Retrieved:
    """Find structural holes: nodes whose siblings a question wakes while nothing connects them."""
    _count(call)
    return call.house.graph.queries.missing(call.caller, query=query, min_sibling_activation=min_sibling_activation, brain=brain)


@operation("predict", effect=Effect.READ, retrieval=True, positional=("changed_node",), raises=_ASKING)
def predict(
    call: Call,
    changed_node: NodeArgument,
    top_k: Annotated[int, Meta(ge=1, le=200)] = 10,
    include_velocity: Annotated[bool, Meta(description="favour files that change often")] = True,
    brain: BrainArgument = None,
) -> Retrieved:
    """Tell what usually changes together with a node: from git and from learn, else from the structure, and which it was."""
    _count(call)
    return call.house.graph.history.predict(
        call.caller, changed_node=changed_node, top_k=top_k, velocity=include_velocity, brain=brain
    )


@operation("counterfactual", effect=Effect.READ, positional=("node_ids",), raises=_ASKING)
def counterfactual(call: Call, node_ids: list[str], include_cascade: bool = True, brain: BrainArgument = None) -> dict[str, Any]:
    """Tell what would lose its connections if nodes were removed. Changes nothing."""
    return call.house.graph.queries.counterfactual(call.caller, node_ids=node_ids, cascade=include_cascade, brain=brain)


@operation("trace", effect=Effect.READ, retrieval=True, positional=("text",), raises=_ASKING)
def trace(
    call: Call,
    text: Annotated[str, Meta(description="a stack trace of Python, JavaScript, Go, Rust or Java as it was printed")],
    top_k: Annotated[int, Meta(ge=1, le=100)] = 10,
    brain: BrainArgument = None,
) -> Retrieved:
    """Turn a stack trace into suspects: frames in your own code, the one where it happened first, then fresh and faulty code."""
    _count(call)
    return call.house.graph.history.trace(call.caller, text=text, top_k=top_k, brain=brain)


@operation("warmup", effect=Effect.READ, retrieval=True, positional=("task_description",), raises=_ASKING)
def warmup(
    call: Call,
    task_description: str,
    boost_strength: Annotated[float, Meta(ge=0, le=1)] = 0.15,
    brain: BrainArgument = None,
) -> Retrieved:
    """Prepare for a task: the nodes it names, and those that earlier questions with the same start woke."""
    return call.house.graph.history.warmup(call.caller, task=task_description, boost=boost_strength, brain=brain)


@operation("timeline", effect=Effect.READ, retrieval=True, positional=("node",), raises=_ASKING)
def timeline(
    call: Call,
    node: NodeArgument,
    depth: Annotated[str, Meta(description="how far back: 12h, 30d, 8w, 6m, 1y")] = "30d",
    brain: BrainArgument = None,
) -> Retrieved:
    """List the commits of a file with its churn and what changed along."""
    return call.house.graph.history.timeline(call.caller, node=node, depth=depth, brain=brain)


@operation("trust", effect=Effect.READ, positional=("node",), raises=_ASKING)
def trust(
    call: Call,
    node: Annotated[str | None, Meta(description="one node; without it every node with a history")] = None,
    scope: Annotated[str, Meta(description="type of the nodes, or all")] = "file",
    min_history: Annotated[int, Meta(ge=1)] = 1,
    decay_half_life_days: Annotated[float, Meta(gt=0)] = 30.0,
    risk_cap: Annotated[float, Meta(ge=1)] = 3.0,
) -> dict[str, Any]:
    """Report code by its defect history; without history the tier is unknown, and there is no number."""
    return call.house.graph.history.trust(
        call.caller,
        scope=scope,
        min_history=min_history,
        half_life_days=decay_half_life_days,
        risk_cap=risk_cap,
        node=node,
    )


@operation("drift", effect=Effect.READ, raises=_ASKING)
def drift(
    call: Call,
    since: Annotated[str, Meta(description="last_session, or a length of time such as 7d")] = "last_session",
) -> dict[str, Any]:
    """Tell which edges changed their weight, and how the graph grew, since your last session began."""
    return call.house.graph.history.drift(call.caller, since=since)


@operation("coverage_session", effect=Effect.READ, raises=_ASKING)
def coverage_session(call: Call) -> dict[str, Any]:
    """Tell how much of the graph this session has been shown."""
    return call.house.graph.history.coverage(call.caller)


@operation("persist", effect=Effect.WRITE, positional=("action",), raises=_ASKING)
def persist(
    call: Call, action: Annotated[Literal["save", "load", "status"], Meta(description="save, load or status")] = "status"
) -> dict[str, Any]:
    """Save what the graph has learned, take a saved state back, or tell how it stands. Everything is on disk anyway."""
    return call.house.graph.history.persist(call.caller, action=action)


@operation("graph.show", effect=Effect.READ, retrieval=True, positional=("node",), raises=_ASKING)
def graph_show(
    call: Call,
    node: Annotated[str | None, Meta(description="node id, path or label; the most important file when left out")] = None,
    depth: Annotated[int, Meta(ge=1, le=4, description="edges away")] = SHOWN.depth,
    each: Annotated[int, Meta(ge=1, le=200, description="neighbours of one relation")] = SHOWN.each,
    brain: BrainArgument = None,
) -> Retrieved:
    """Show a neighbourhood of the graph as a tree: what a node is bound to, by which relation, in which direction."""
    return call.house.graph.views.show(call.caller, node=node, depth=depth, each=each, brain=brain)


@operation(
    "graph.columns",
    effect=Effect.READ,
    raises=_ASKING,
    left_out={"mcp": "megabytes of numbers for a page that draws them; graph.show answers in words"},
)
def graph_columns(
    call: Call,
    node: Annotated[str | None, Meta(description="a node whose neighbours are drawn even where the graph is too large")] = None,
    brain: BrainArgument = None,
) -> dict[str, Any]:
    """Give the graph as columns of numbers, as the Hall draws it: each claim is one node beside the code it cites."""
    return call.house.graph.views.columns(call.caller, node=node, brain=brain)


@operation("graph.export", effect=Effect.WRITE, positional=("target",), raises=(*_ASKING, PathRefused, UnknownNode))
def graph_export(
    call: Call,
    target: Annotated[
        OutputFile | None,
        Endings((".graphml", ".xml", ".json", ".dot", ".gv", ".svg")),
        Meta(description="file to write, never overwritten; a small export fits into the answer"),
    ] = None,
    format: Format = "graphml",  # noqa: A002 - the public name of the flag
    node: Annotated[str | None, Meta(description="only the neighbourhood of this node")] = None,
    depth: Annotated[int, Meta(ge=1, le=6, description="edges away from that node")] = SHOWN.depth,
    brain: BrainArgument = None,
) -> dict[str, Any]:
    """Write the graph so that common tools open it: GraphML, a JSON snapshot, DOT, or a drawing as SVG."""
    return call.house.graph.views.export(call.caller, form=format, target=target, node=node, depth=depth, brain=brain)


class Repo(Struct, forbid_unknown_fields=True):
    """A repository to federate."""

    name: str
    path: SourcePath
    adapter: str = "code"


@operation("federate", effect=Effect.WRITE, progress=True, raises=(*_ASKING, HygieneRefused, PathRefused))
def federate(
    call: Call,
    repos: Annotated[list[Repo], Meta(description="[{name, path}]: short names and absolute directories")],
    name: Annotated[str | None, Meta(description="of the analysis; the names of the repositories when left out")] = None,
    detect_cross_repo_edges: bool = True,
    incremental: Annotated[bool, Meta(description="read only what changed since the last time")] = False,
) -> dict[str, Any]:
    """Put several repositories into one graph of its own, analysis:<name>, and find what binds them. No memory goes along."""
    given = [{"name": one.name, "path": one.path, "adapter": one.adapter} for one in repos]
    call.house.gateway.check_secrets([name or "", *(one.name for one in repos)], site="federate")
    # A directory may be called by a digest.
    call.house.gateway.check_secrets([posixpath.basename(one.path) for one in repos], site="federate", random=False)
    return call.house.graph.federation.federate(
        call.caller,
        repos=given,
        name=name,
        detect=detect_cross_repo_edges,
        incremental=incremental,
        progress=call.progress,
    )


@operation("federate_auto", effect=Effect.WRITE, progress=True, positional=("scope",), raises=(*_ASKING, PathRefused))
def federate_auto(
    call: Call,
    scope: Annotated[ProjectRoot | None, Meta(description="a directory of your project; all of it when left out")] = None,
    max_repos: Annotated[int, Meta(ge=1, le=32)] = 8,
    execute: Annotated[bool, Meta(description="also build the analysis")] = False,
) -> dict[str, Any]:
    """Propose repositories that yours speaks of, with the evidence; with execute put them and yours into one analysis."""
    return call.house.graph.federation.propose(
        call.caller, scope=scope, max_repos=max_repos, execute=execute, progress=call.progress
    )
