"""Gates of kernel, flight recorder and routes: one whole mission looked at from each side, and small ones beside it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hindbrain.domain.mission import EvidenceClass, MissionMode
from hindbrain.engines.mission_packet import verify_packet
from hindbrain.policy.missions import route_of
from hindbrain.policy.waves import CALLS_MOST
from hindbrain.services.gates.bench import CLAIM, Agent, Bench, Shown, needs
from hindbrain.settings import SETTINGS

__all__ = ["KERNEL_GATES"]

_CALLS = ("start", "event", "next", "claim", "verify", "handoff", "resume", "close")
_TASK = "find why retry runs too often"
_V0 = {
    "schema": "m1nd-mission-control-state-v0",
    "mission_id": "msn_1783209431408_gateloop",
    "agent_id": "gate",
    "task": _TASK,
    "mode": "review",
    "budget": "short",
    "risk": "medium",
    "route": "short_audit",
    "phase": "verify",
    "status": "active",
    "created_at_ms": 1_783_209_431_408,
    "updated_at_ms": 1_783_209_431_999,
    "next_step_id": 2,
    "events": [{"event_id": "evt_1", "event_type": "file_read", "target": "src/worker.py", "outcome": "found"}],
    "claims": [],
    "non_claims": [],
}


def _files(told: Mapping[str, Any]) -> tuple[Path, Path]:
    packet = Path(told["close"]["proof_file"])
    return packet, packet.with_name("events.jsonl")


def kernel_calls(bench: Bench) -> Shown:
    told = bench.mission()
    lacking = [one for one in _CALLS if not told[one]["ok"] or not str(told[one].get("schema", "")).startswith("hindbrain-")]
    needs(not lacking, f"these calls did not answer: {', '.join(lacking)}")
    needs(told["weak"]["verdict"] == "insufficient_evidence", "a claim was verified by the graph alone")
    needs(told["early"].get("error", {}).get("code") == "mission_open", "it could be closed with nothing proven")
    needs(told["verify"]["verdict"] == "verified_for_mission", "direct evidence did not verify a claim")
    return Shown("eight calls, one premature close refused, one claim verified", _files(told))


def earlier_loop(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("loop"))
    agent.done("mission.start", task=_TASK, mode="review", budget="short")
    agent.done("mission.next", last_event={"event_type": "file_read", "target": "src/worker.py"})
    _proven(agent)
    closed = agent.done("mission.close")
    root = bench.repository("loop")
    state = root / "v0-state.json"
    state.write_text(json.dumps({**_V0, "repo": str(root)}), encoding="utf-8")
    taken = agent.done("mission.import", file=str(state))
    needs(taken["event_count"] > 0, "the events of the earlier state were lost")
    needs(not taken["handoffs"] and taken["status"] == "active", "the earlier state has no empty defaults")
    _proven(agent)
    over = agent.done("mission.close", mission_id=taken["mission_id"])
    return Shown(
        "the four calls suffice, and a state of that time is closed",
        (state, Path(over["proof_file"]), _files({"close": closed})[0]),
    )


def guard_in_state(bench: Bench) -> Shown:
    told = bench.mission()
    guard = told["state"].get("context_guard") or {}
    needs(guard.get("classification") == "single_repo", "the state holds no guard that knows its workspace")
    needs(guard.get("repo") == told["start"]["context_guard"]["repo"], "the guard in the state is of another repository")
    return Shown(f"{guard['classification']}: {guard['reason']}", (_files(told)[0].with_name("state.json"),))


def digest_in_close(bench: Bench) -> Shown:
    told = bench.mission()
    packet, stream = _files(told)
    raw = packet.read_bytes()
    events = [json.loads(line) for line in stream.read_text(encoding="utf-8").splitlines()]
    wrong = verify_packet(raw, events)
    needs(not wrong, "; ".join(wrong))
    proof = told["close"]["proof"]
    needs(proof["event_digest"] == events[-1]["hash"], "the packet's digest is not that of its events")
    needs(proof["direct_evidence_classes"].get("direct_source"), "the packet counts no direct evidence")
    unseen = [place for place in range(0, len(raw), 97) if not verify_packet(raw[:place] + b"\x00" + raw[place + 1 :])]
    needs(not unseen, f"byte {unseen[:1]} can be changed unseen")
    return Shown(f"{proof['event_digest']} over {len(events)} events", (packet, stream))


def evidence_classes(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("classes"))
    agent.done("mission.start", task=_TASK, mode="review", budget="deep")
    told = {
        one.value: agent.done("mission.verify", claim=f"{CLAIM} ({one.value})", evidence_class=one.value)["verdict"]
        for one in EvidenceClass
    }
    proven = [name for name, verdict in told.items() if verdict == "verified_for_mission"]
    needs(not proven, f"the bare name is taken for proof: {', '.join(proven)}")
    refused = agent.call("mission.verify", claim=CLAIM, evidence_class="certain")
    needs(refused.get("error", {}).get("code") == "invalid_params", "an unknown class was taken")
    return Shown(f"{len(told)} classes, none of which proves by its name", (bench.kept("evidence-classes.json", told),))


def adherence(bench: Bench) -> Shown:
    score, place = bench.lane("clix", "mission")
    needs(score.valid and score.completed, f"the lane does not count: {score.invalid_reason or score.note}")
    needs(
        score.adherence == 1.0,
        f"adherence is {score.adherence}: {', '.join(score.steps_done)} of {', '.join(score.steps_required)}",
    )
    return Shown(f"adherence {score.adherence:.2f} over {', '.join(score.steps_required)}", (place,))


# -- flight ------------------------------------------------------------------------------------------------------------


def flight_report(bench: Bench) -> Shown:
    told = bench.mission()
    flight, counters = told["flight"], told["close"]["proof"]["counters"]
    needs(flight["circles"]["warnings"], "a search that was made three times is no circle")
    needs(flight["circles"]["repeated_searches"] == counters["repeated_search_count"] > 0, "repeated searches are not counted")
    needs(flight["evidence"]["direct"], "the report has no direct evidence")
    needs(counters["tool_calls"] > 0, "tool calls are not counted")
    needs(counters["first_good_finding_ms"] is not None, "the time to the first good finding is not there")
    first = counters["first_good_finding_ms"]
    says = f"{counters['tool_calls']} calls, {counters['loop_warning_count']} circles, first finding in {first} ms"
    return Shown(says, (bench.kept("flight.json", flight), _files(told)[0]))


def flight_stream(bench: Bench) -> Shown:
    told = bench.mission()
    packet, stream = _files(told)
    flown = packet.with_name("flight.jsonl")
    records = [json.loads(line) for line in flown.read_text(encoding="utf-8").splitlines()]
    events = stream.read_text(encoding="utf-8").splitlines()
    needs(len(records) == len(events) > 0, f"{len(events)} events and {len(records)} flight records")
    counted = told["close"]["proof"]["counters"]["direct_evidence_count"]
    needs(records[-1]["direct_evidence_count"] == counted, "the stream counts other evidence than the packet")
    return Shown(f"{len(records)} records", (stream, flown))


def stays_here(bench: Bench) -> Shown:
    default = next(one.default for one in SETTINGS if one.name == "otel_export")
    needs(default == "off", f"traces go to {default} by default")
    spans = [path for path in bench.path.rglob("*span*") if path.is_file()]
    needs(not spans, f"spans were written: {spans[:1]}")
    return Shown("otel_export is off", (bench.kept("export.json", {"otel_export": default}),))


# -- routes ------------------------------------------------------------------------------------------------------------


def routes(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("routes"))
    told: dict[str, str] = {}
    for mode in MissionMode:
        more = {"criteria": ["retry stops in time"]} if mode is MissionMode.TASK else {}
        begun = agent.done("mission.start", task=_TASK, mode=mode.value, budget="short", **more)
        told[mode.value] = begun["route"]
        wanted = route_of(mode, "short", "medium").value
        needs(begun["route"] == wanted, f"{mode.value} began by {begun['route']}, not by {wanted}")
        agent.done("mission.abandon", reason="only its route was asked for", mission_id=begun["mission_id"])
    return Shown(f"{len(told)} modes", (bench.kept("routes.json", told),))


def direct_proof(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("known"))
    agent.done("mission.start", task=_TASK, mode="review", known_targets=["src/worker.py"])
    told = agent.done("mission.next")
    needs(
        told["move"]["type"] == "read_file" and told["move"]["target"] == "src/worker.py", f"the move is {told['move']['type']}"
    )
    needs(any(one["item"] == "graph" for one in told["policy"]["do_not"]), "the graph is not forbidden")
    return Shown("read_file src/worker.py, no graph", (bench.kept("direct-proof.json", told),))


def graph_stop(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("stop"))
    agent.done("mission.start", task=_TASK, mode="bug_hunt", budget="short")
    agent.done("seek", query="retry")
    told = agent.done("mission.next")
    needs(any(one["item"] == "graph" for one in told["policy"]["do_not"]), "the second graph call is not forbidden")
    needs(told["move"]["type"] in ("read_file", "literal_search", "run_test"), f"the move is {told['move']['type']}")
    return Shown(f"{told['move']['type']} after one look", (bench.kept("graph-stop.json", told),))


def dissent(bench: Bench) -> Shown:
    agent = bench.session(bench.repository("stop"), agent="gate-dissent")
    agent.done("mission.start", task=_TASK, mode="bug_hunt", budget="short")
    agent.done("seek", query="retry")
    agent.done("mission.next")
    bare = agent.call("mission.event", event_type="dissent", payload={"why": "the callers matter"})
    needs("error" in bare, "a dissent without its fields was taken")
    why = {"why": "the callers matter", "chosen_tool": "impact", "evidence_required": "direct_source"}
    agent.done("mission.event", event_type="dissent", payload=why)
    told = agent.done("mission.next")
    needs(told["move"]["tool"] == "impact", f"the move is {told['move']['tool']}, not the chosen one")
    return Shown("the chosen tool is the next move", (bench.kept("dissent.json", told),))


def repeated_fixtures(bench: Bench) -> Shown:
    says, files = [], []
    for name in ("clix", "pooled", "tabular"):
        (first, one), (second, two) = bench.lane(name, "mission", 1), bench.lane(name, "mission", 2)
        files += [one, two]
        needs(first.seeded_recall is not None and second.seeded_recall is not None, f"{name} has no recall")
        needs((second.seeded_recall or 0) >= (first.seeded_recall or 0), f"recall fell on {name}")
        needs(round(second.tool_calls, 9) <= round(first.tool_calls * CALLS_MOST, 9), f"{name} took more than a fifth more calls")
        says.append(f"{name} {first.seeded_recall:.2f} and {second.seeded_recall:.2f}")
    return Shown("recall " + ", ".join(says), tuple(files))


def _proven(agent: Agent) -> None:
    refs = ["direct_source:src/worker.py:2"]
    told = agent.done("mission.verify", claim=CLAIM, evidence_class="direct_source", evidence_refs=refs)
    needs(told["verdict"] == "verified_for_mission", "direct evidence did not verify a claim")


KERNEL_GATES: Mapping[str, Callable[[Bench], Shown]] = {
    one.__name__: one
    for one in (
        kernel_calls,
        earlier_loop,
        guard_in_state,
        digest_in_close,
        evidence_classes,
        adherence,
        flight_report,
        flight_stream,
        stays_here,
        routes,
        direct_proof,
        graph_stop,
        dissent,
        repeated_fixtures,
    )
}
