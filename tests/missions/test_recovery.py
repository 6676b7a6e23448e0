"""Recovery inside of missions: a mismatch is an event once, its end only with proof, and steps are events. Provoked for real."""

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain.domain.caller import AgentId
from hindbrain.engines.tool_surface import REQUIRED_TOOLS
from hindbrain.operations import REGISTRY
from tests.support.world import Actor, World, git


@pytest.fixture
def shop(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with a brain, for a user without hosts."""
    monkeypatch.setenv("HOME", str(tmp_path))
    others = [one for one in os.environ["PATH"].split(os.pathsep) if not Path(one, "hindbrain").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(others))
    root = world.repository("shop", total_py="def total(prices):\n    return sum(prices)\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin")
    return world.brain("shop")


def done(actor: Actor, operation: str, **arguments: Any) -> dict[str, Any]:
    answer = actor.call(operation, **arguments)
    assert "error" not in answer, answer
    return answer


def started(actor: Actor, **asked: Any) -> str:
    return str(done(actor, "mission.start", task="see whether total adds up", **{"mode": "review", **asked})["mission_id"])


def events(actor: Actor, kind: str = "recovery") -> list[dict[str, Any]]:
    return [one for one in done(actor, "mission.export", format="events")["data"] if one["event_type"] == kind]


def told(actor: Actor) -> list[tuple[str, str]]:
    return [(one["target"], one["outcome"]) for one in events(actor)]


def diagnosed(actor: Actor) -> list[tuple[str, str]]:
    """The mismatches and their ends, without the steps."""
    return [(one["target"], one["outcome"]) for one in events(actor) if "diagnosis" in one["payload"]]


def shaken(world: World, root: str, session: str) -> None:
    """A host begins a session, as its server records it."""
    caller = replace(world.at(root, session=session).caller, agent=AgentId("claude-code:agent"))
    world.app.house.handshakes.record(caller, client_name="claude-code", client_version="1", tools=["north"])


# --- seen once ----------------------------------------------------------------------------------------------------------


def test_aol_255_aol_256_a_stale_build_is_an_event_once_and_recovered_when_it_is_over(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)
    release = world.home.path / "release.json"
    release.write_text(json.dumps({"build": "0123456789abcdef"}))

    done(actor, "doctor")
    done(actor, "doctor")
    assert diagnosed(actor) == [("build_mismatch", "not_recovered")]
    first = events(actor)[0]
    assert first["payload"]["evidence"]["expected"] == "0123456789abcdef"
    assert (first["payload"]["seen_by"], first["actor"]) == ("doctor", "runtime")

    release.unlink()
    done(actor, "doctor")
    done(actor, "doctor")
    assert diagnosed(actor) == [("build_mismatch", "not_recovered"), ("build_mismatch", "recovered")]

    release.write_text(json.dumps({"build": "0123456789abcdef"}))
    done(actor, "doctor")
    assert diagnosed(actor)[-1] == ("build_mismatch", "not_recovered"), "it came back, and that is news"
    assert done(actor, "mission.verify_chain")["ok"]


def test_aol_256_aol_294_aol_303_a_wrong_workspace_is_an_event_from_the_first_look(world: World, shop: str) -> None:
    other = world.repository("other", main_py="x = 1\n")
    actor = world.at(shop)

    started(actor, repo=other)
    done(actor, "doctor", scope=other)
    done(actor, "recovery_playbook", scope=other)
    actor.call("seek", query="total", scope=other)

    mismatches = [one for one in events(actor) if one["payload"].get("diagnosis")]
    assert [(one["target"], one["outcome"], one["payload"]["seen_by"]) for one in mismatches] == [
        ("wrong_workspace", "not_recovered", "guard")
    ]
    assert mismatches[0]["seq"] == 2, "right after the guard itself"


def test_aol_256_a_search_that_meets_another_workspace_is_seen(world: World, shop: str) -> None:
    other = world.repository("other", main_py="x = 1\n")
    actor = world.at(shop)
    started(actor)

    actor.call("seek", query="total", scope=other)
    actor.call("seek", query="prices", scope=other)

    assert told(actor) == [("wrong_workspace", "not_recovered")]


def test_aol_255_aol_294_aol_303_missing_recovery_tools_end_only_with_a_handshake(world: World, shop: str) -> None:
    """A host that lists all tools again says so; that it is bound anew shows in a session that began later."""
    whole = sorted({name for name, op in REGISTRY.items() if op.everyday} | set(REQUIRED_TOOLS))
    actor = world.at(shop)
    shaken(world, shop, "s-old")
    world.clock.forward(10)
    started(actor)
    world.clock.forward(10)

    done(actor, "doctor", available_tools=[name for name in whole if name != "doctor"])
    lost = [("missing_recovery_tools", "not_recovered"), ("stale_host_tool_surface", "not_recovered")]
    assert told(actor) == [*lost, ("doctor", "not_recovered")]

    world.clock.forward(10)
    done(actor, "doctor", available_tools=whole)
    done(actor, "doctor")
    shaken(world, shop, "s-old")
    done(actor, "doctor", available_tools=whole)
    assert "recovered" not in {outcome for _, outcome in told(actor)}, "only said, or shown by a session that is older"

    shaken(world, shop, "s-new")
    done(actor, "doctor", available_tools=whole)
    assert told(actor)[-2:] == [("missing_recovery_tools", "recovered"), ("stale_host_tool_surface", "recovered")]
    assert events(actor)[-1]["payload"]["session_id"] == "s-new"
    assert events(actor)[-1]["evidence_class"] == "host_handshake"


# --- steps --------------------------------------------------------------------------------------------------------------


def test_aol_255_steps_of_a_recovery_are_events(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)
    for name in ("update.status", "hosts.plan", "trust_selftest"):
        done(actor, name)
    assert told(actor) == [], "nothing is wrong: a look around is no recovery"
    (world.home.path / "release.json").write_text(json.dumps({"version": "999.0"}))

    for name in ("update.status", "update.plan", "update.plan", "hosts.plan"):
        done(actor, name)
    done(actor, "hosts.apply", host="cursor")
    done(actor, "hosts.apply", host="cursor", yes=True)

    steps = [one for one in events(actor) if "step" in one["payload"]]
    assert [one["payload"]["step"] for one in steps] == ["update.status", "update.plan", "hosts.plan", "hosts.apply"]
    assert {one["outcome"] for one in steps} == {"not_recovered"}, "a step alone proves nothing"
    assert (steps[-1]["payload"]["mutating"], steps[-1]["actor"]) == (True, "agent:codex:maker")
    assert steps[-1]["payload"]["change_id"].startswith("chg_")
    assert [one for one in told(actor) if one[0] == "stale_package"] == [("stale_package", "not_recovered")]


def test_aol_255_a_handshake_of_the_own_session_is_direct_evidence(world: World, shop: str) -> None:
    actor = world.at(shop, session="s-mine")
    shaken(world, shop, "s-mine")
    world.clock.forward(10)
    started(actor, mode="host_recovery")
    done(actor, "session_handshake")
    assert events(actor, "host_handshake") == [], "it shook hands before the mission began"
    later = world.at(shop, session="s-later")
    world.clock.forward(10)
    shaken(world, shop, "s-later")

    done(later, "session_handshake")
    done(later, "session_handshake")

    (one,) = events(later, "host_handshake")
    assert (one["evidence_class"], one["target"], one["source"]) == ("host_handshake", "s-later", "runtime")


def test_aol_255_a_repair_that_is_only_told_is_not_one(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)
    world.clock.forward(10)

    claimed = done(
        actor, "mission.event", event_type="recovery", target="host", outcome="recovered", payload={"session_id": "s-x"}
    )
    shaken(world, shop, "s-x")
    shown = done(actor, "mission.event", event_type="recovery", target="host", outcome="recovered", payload={"session_id": "s-x"})

    assert (claimed["event"]["outcome"], claimed["evidence_class"]) == ("not_recovered", "host_described")
    assert (shown["event"]["outcome"], shown["evidence_class"]) == ("recovered", "host_handshake")


def test_aol_255_calls_outside_of_a_mission_write_nothing(world: World, shop: str) -> None:
    (world.home.path / "release.json").write_text(json.dumps({"build": "0123456789abcdef"}))
    actor = world.at(shop)
    before = done(actor, "ledger.show")["entries"]

    assert [one["diagnosis"] for one in done(actor, "doctor")["diagnoses"]] == ["build_mismatch"]

    assert done(actor, "ledger.show")["entries"] == before


def settled(home: Path) -> None:
    """Wait until an owner has loaded all of itself: before that it may take longer to answer than a guard waits."""
    told = json.loads((home / "owner.json").read_text())
    with socket.create_connection(("127.0.0.1", told["bridge_port"]), timeout=60) as bridge:
        bridge.sendall(json.dumps({"token": (home / "token").read_text().strip()}).encode() + b"\n")
        assert json.loads(bridge.makefile().readline()) == {"ok": True}


# --- the four cases -----------------------------------------------------------------------------------------------------


def test_aol_256_aol_294_aol_303_a_stale_runtime_is_met_inside_of_a_mission(tmp_path: Path) -> None:
    """An owner runs, its files change, and the mission of an agent on the new program says so by itself."""
    package = tmp_path / "lib" / "hindbrain"
    shutil.copytree(Path(hindbrain.__file__).parent, package, ignore=shutil.ignore_patterns("gym_fixtures"))
    root = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "lib"), "HINDBRAIN_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    environ["HINDBRAIN_AGENT_ID"] = "codex:maker"

    def ran(mode: str, *words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "hindbrain", *words, "--json"]
        told = {**environ, "HINDBRAIN_MODE": mode}
        made = subprocess.run(command, env=told, cwd=root, capture_output=True, text=True, check=False)
        found: dict[str, Any] = json.loads(made.stdout)
        return found

    try:
        assert ran("owner", "ingest", str(root), "--project-root", str(root))["ok"]
        settled(tmp_path / "home")
        with (package / "domain" / "brain.py").open("a") as file:
            file.write("\n# another release\n")
        begun = ran("embedded", "mission", "start", "look at the shop", "--mode", "review")
        exported = ran("embedded", "mission", "export", "--format", "events")["data"]
    finally:
        subprocess.run([sys.executable, "-m", "hindbrain", "stop"], env=environ, check=False, capture_output=True)

    assert any(one.startswith("stale_runtime") for one in begun["warnings"])
    (seen,) = [one for one in exported if one["event_type"] == "recovery"]
    assert (seen["payload"]["diagnosis"], seen["outcome"]) == ("stale_runtime", "not_recovered")
    assert seen["payload"]["evidence"]["running"] != seen["payload"]["evidence"]["installed"]


def test_aol_243_aol_303_aol_311_no_step_claims_a_rebind(world: World, shop: str) -> None:
    actor = world.at(shop)
    started(actor)
    calls: dict[str, dict[str, Any]] = {"hosts.plan": {}, "hosts.apply": {"host": "cursor", "yes": True}, "hosts.status": {}}

    for name, given in calls.items():
        answer = done(actor, name, **given)
        assert answer["host_rebind_proven"] is False, name
        assert "no host rebind is proven without a new handshake" in answer["non_claims"]
    assert ("hosts.apply", "not_recovered") in told(actor)


# --- never ambiguous ----------------------------------------------------------------------------------------------------


def test_aol_257_an_empty_answer_says_whether_it_looked_in_the_right_place(world: World, shop: str) -> None:
    world.at(shop).memorize("Kettle", "The kettle boils at ninety degrees up here.")
    other = world.repository("other", main_py="x = 1\n")

    miss = world.at(shop).call("seek", query="submarine periscope")
    wrong = world.at(shop).call("seek", query="submarine periscope", scope=other)

    assert (miss["results"], wrong["results"]) == ([], [])
    one, two = miss["agent_runtime_contract"], wrong["agent_runtime_contract"]
    for envelope in (one, two):
        assert envelope["status"] in ("ok", "triaging", "blocked")
        assert {"trust_mode", "workspace_binding", "graph_identity", "recovery", "non_claims"} <= envelope.keys()
    assert (one["status"], one["trust_mode"]) != (two["status"], two["trust_mode"])
    assert one["workspace_binding"]["workspace_match"] is True
    assert two["workspace_binding"]["workspace_match"] is False
    assert (two["status"], two["trust_mode"]) == ("blocked", "wrong_workspace_binding")
    assert two["recovery"]["workspace_binding_mismatch"]["requested_workspace_hint"] == other
    assert "workspace_binding_mismatch" not in (one["recovery"] or {})
