"""Gates of strategy, recovery and hand-over: conditions that are really brought about, and what the product says to them."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hindbrain.engines.tool_surface import REQUIRED_TOOLS
from hindbrain.policy.handover import REDUCTION
from hindbrain.policy.non_claims import STANDING_BY_ID
from hindbrain.services.gates.bench import Agent, Bench, Shown, needs

__all__ = ["PLANE_GATES"]

_ENTITIES = ("MissionKernelV1", "EvidenceLedger", "BenchmarkGym")
_TASK = "find why retry runs too often"


# -- strategy ----------------------------------------------------------------------------------------------------------


def light_ingest(bench: Bench) -> Shown:
    document, _ = _strategy(bench)
    return Shown("the document is in the graph", (document,))


def entity_edges(bench: Bench) -> Shown:
    document, agent = _strategy(bench)
    told: dict[str, Any] = {}
    for name in _ENTITIES[1:]:
        shown = agent.done("why", source=_ENTITIES[0], target=name)
        told[name] = shown
        needs(shown["found"] and shown["hops"] == 1, f"{_ENTITIES[0]} does not lead to {name} in one step")
    return Shown("one step to each", (document, bench.kept("entity-edges.json", told)))


def literal_search(bench: Bench) -> Shown:
    document, agent = _strategy(bench)
    for name in _ENTITIES:
        found = agent.done("search", query=name)
        needs(any(document.name in json.dumps(row) for row in found["results"]), f"{name} is not found in {document.name}")
    return Shown(", ".join(_ENTITIES), (document,))


def drift_non_claim(bench: Bench) -> Shown:
    needs("AOL-308" in STANDING_BY_ID, "that drift detection is complete is not denied any more")
    return Shown(STANDING_BY_ID["AOL-308"], (bench.kept("non-claims.json", dict(STANDING_BY_ID)),))


def _strategy(bench: Bench) -> tuple[Path, Agent]:
    """The strategy document in a repository of its own, taken in once."""
    source = next((one for one in bench.strategy if one.is_file()), None)
    needs(source is not None, "the strategy document does not come with this installation")
    root = bench.repository("strategy")
    document = root / "strategy" / (source.name if source is not None else "")
    fresh = not document.exists()
    agent = bench.session(root, taken_in=fresh)
    if fresh and source is not None:
        document.parent.mkdir()
        shutil.copyfile(source, document)
        taken = agent.done("ingest", path=str(document.parent), adapter="light", mode="merge")
        needs(taken["ingest"]["files_parsed"] == 1, "the document was not read")
    return document, agent


# -- recovery ----------------------------------------------------------------------------------------------------------


def stale_runtime(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("stale"))
    agent.done("mission.start", task=_TASK, mode="review")
    release = bench.home / "release.json"
    release.write_text(json.dumps({"build": "0123456789abcdef"}), encoding="utf-8")
    try:
        agent.done("doctor")
    finally:
        release.unlink()
    seen = _recoveries(agent)
    needs(any(one["payload"].get("diagnosis") == "build_mismatch" for one in seen), "the mission has no event of it")
    return Shown("build_mismatch is an event of the mission", (bench.kept("stale-runtime.json", seen),))


def wrong_workspace(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("here"))
    other = bench.repository("there")
    begun = agent.done("mission.start", task=_TASK, mode="review", repo=str(other))
    move = agent.done("mission.next")["move"]
    seen = _recoveries(agent)
    needs(begun["context_guard"]["classification"] == "wrong_workspace_binding", "the guard takes it for the right workspace")
    needs(begun["context_guard"].get("recovery"), "the guard gives no way out")
    needs(move["type"] in ("rebind", "recover", "ingest"), f"the move is {move['type']}")
    needs(any(one["target"] == "wrong_workspace" for one in seen), "the mission has no event of it")
    return Shown(f"{move['type']} is the move", (bench.kept("wrong-workspace.json", {"move": move, "events": seen}),))


def missing_tools(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("tools"))
    agent.done("mission.start", task=_TASK, mode="review")
    told = agent.done("doctor", available_tools=[one for one in REQUIRED_TOOLS if one != "doctor"])
    named = {one["diagnosis"]: one for one in told["diagnoses"]}
    needs("missing_recovery_tools" in named, f"it was diagnosed as {', '.join(named) or 'nothing'}")
    needs("hindbrain doctor" in json.dumps(named["missing_recovery_tools"]), "no command for a terminal is given")
    needs(any(one["target"] == "missing_recovery_tools" for one in _recoveries(agent)), "the mission has no event of it")
    return Shown("missing_recovery_tools", (bench.kept("missing-tools.json", named),))


def dead_transport(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("dead"))
    told = agent.done("doctor", error_text="Transport closed")
    named = {one["diagnosis"]: one for one in told["diagnoses"]}
    needs("dead_mcp_transport" in named, f"it was diagnosed as {', '.join(named) or 'nothing'}")
    steps = json.dumps(named["dead_mcp_transport"])
    needs("hindbrain doctor" in steps and "hindbrain version" in steps, "its steps are none for a terminal")
    return Shown("doctor and version at a terminal", (bench.kept("dead-transport.json", named["dead_mcp_transport"]),))


def rebind_non_claim(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("rebind"))
    told = {name: agent.done(name) for name in ("hosts.status", "hosts.plan")}
    claimed = [name for name, one in told.items() if one.get("host_rebind_proven") is not False]
    needs(not claimed, f"a rebind is claimed by {', '.join(claimed)}")
    needs("AOL-311" in STANDING_BY_ID, "the non-claim on rebinds does not stand any more")
    return Shown(STANDING_BY_ID["AOL-311"], (bench.kept("rebind.json", told),))


def _recoveries(agent: Agent) -> list[dict[str, Any]]:
    events = agent.done("mission.export", format="events")["data"]
    return [one for one in events if one["event_type"] == "recovery"]


# -- hand-over ---------------------------------------------------------------------------------------------------------


def resumed_work(bench: Bench) -> Shown:
    (given, one), (fresh, two) = bench.lane("relay", "mission"), bench.lane("relay", "direct")
    needs(given.completed and given.valid, f"the work was not ended: {given.note or given.invalid_reason}")
    needs(fresh.child_actions and fresh.child_repeats, "without a hand-over nothing was repeated, so nothing is shown")
    with_it, without = given.child_repeats / max(1, given.child_actions), fresh.child_repeats / fresh.child_actions
    saved = round(1 - with_it / without, 9)
    needs(saved >= REDUCTION, f"repeated work fell by {saved:.0%} only")
    needs((given.seeded_recall or 0) >= (fresh.seeded_recall or 0), "less of what was left was found")
    return Shown(f"repeated work {without:.0%} without, {with_it:.0%} with the hand-over", (one, two))


def dead_paths(bench: Bench) -> Shown:
    _, second, _, child = _relay(bench)
    told = second.done("mission.next", mission_id=child)
    barred = [one for one in told["policy"]["do_not"] if one["item"] == "src/queue.py"]
    needs(barred and barred[0]["source"] in ("handoff", "loop"), "the dead path is not forbidden to the second agent")
    entered = second.done("mission.event", mission_id=child, event_type="file_read", target="src/queue.py")
    needs(any(one["rule"] == "LW7" for one in entered["loop_warnings"]), "entering a dead path is not noticed")
    return Shown(barred[0]["reason"], (bench.kept("dead-paths.json", {"do_not": barred, "entered": entered}),))


def parent_and_child(bench: Bench) -> Shown:
    first, second, parent, child = _relay(bench)
    above = first.done("mission.status", mission_id=parent)
    below = second.done("mission.status", mission_id=child)
    needs(child in above["child_mission_ids"], "the parent does not name its child")
    needs(below["parent_mission_id"] == parent, "the child does not name its parent")
    return Shown(f"{parent} and {child}", (bench.kept("relay.json", {"parent": above, "child": below}),))


def no_swarm(bench: Bench) -> Shown:
    needs("AOL-315" in STANDING_BY_ID, "the non-claim on orchestration does not stand any more")
    return Shown(STANDING_BY_ID["AOL-315"], (bench.kept("non-claims.json", dict(STANDING_BY_ID)),))


def _relay(bench: Bench) -> tuple[Agent, Agent, str, str]:
    """A first agent that ruled a file out and handed over, and a second one that goes on."""
    root = bench.repository("relay")
    first, second = bench.session(root, agent="gate-first"), bench.session(root, agent="gate-second", taken_in=False)
    parent = str(first.done("mission.start", task=_TASK, mode="review")["mission_id"])
    first.done("mission.event", event_type="dead_path", target="src/queue.py", payload={"why": "it only passes the job on"})
    handed = first.done("mission.handoff", summary="the queue is ruled out")
    child = str(second.done("mission.resume", mission_id=handed["handoff_id"])["mission_id"])
    return first, second, parent, child


PLANE_GATES: Mapping[str, Callable[[Bench], Shown]] = {
    one.__name__: one
    for one in (
        light_ingest,
        entity_edges,
        literal_search,
        drift_non_claim,
        stale_runtime,
        wrong_workspace,
        missing_tools,
        dead_transport,
        rebind_non_claim,
        resumed_work,
        dead_paths,
        parent_and_child,
        no_swarm,
    )
}
