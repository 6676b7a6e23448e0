"""Missions that were begun elsewhere: a state of the earlier four-call loop goes on here, and nothing it says is believed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import Actor, World, git

AGENT = "codex:maker"
CODE = "def total(prices):\n    return sum(prices) + 1\n"


def v0(root: str, **changes: Any) -> dict[str, Any]:
    """A state as the loop of four calls wrote it: no hand-overs, no guard, a budget by name, free words for events."""
    return {
        "schema": "m1nd-mission-control-state-v0",
        "mission_id": "msn_1783209431408_codexmakerlook",
        "agent_id": "codex:elsewhere",
        "repo": root,
        "task": "see whether total adds up",
        "mode": "review",
        "budget": "short",
        "risk": "medium",
        "route": "short_audit",
        "phase": "verify",
        "status": "active",
        "created_at_ms": 1_783_209_431_408,
        "updated_at_ms": 1_783_209_431_999,
        "next_step_id": 3,
        "budget_envelope": {"max_tool_calls": 8, "max_files": 5},
        "graph_state_at_start": {"node_count": 12},
        "events": [
            {"event_id": "evt_1_1", "event": "file_read", "target": "total.py", "outcome": "found"},
            {"event_id": "evt_2_2", "event_type": "seek", "target": "total", "source": "mission_next"},
            {"event_id": "evt_3_3", "event_type": "review_note", "target": "looks wrong"},
        ],
        "claims": [
            {
                "claim_id": "clm_1_1",
                "claim": "total adds one too many",
                "evidence_refs": ["file_read:total.py"],
                "evidence_grade": "direct",
                "verdict": "verified_for_mission",
                "missing": [],
                "confidence": 0.9,
                "created_at_ms": 1_783_209_431_500,
            }
        ],
        "non_claims": ["mission control does not prove graph contents are correct"],
        **changes,
    }


@pytest.fixture
def shop(world: World) -> str:
    root = world.repository("shop", total_py=CODE)
    git(root, "add", ".")
    git(root, "commit", "-qm", "Begin")
    return world.brain("shop")


def take_in(actor: Actor, root: str, state: Any) -> dict[str, Any]:
    place = Path(root, "state.json")
    place.write_text(state if isinstance(state, str) else json.dumps(state), encoding="utf-8")
    return actor.call("mission.import", file=str(place))


@pytest.mark.parametrize("schema", ["m1nd-mission-control-state-v0", "m1nd-mission-control-state-v1"])
def test_aol_050_a_state_of_the_earlier_loop_gets_empty_defaults_and_can_be_closed(world: World, shop: str, schema: str) -> None:
    actor = world.at(shop, AGENT)

    taken = take_in(actor, shop, v0(shop, schema=schema))

    assert taken["ok"], taken
    assert (taken["status"], taken["mode"], taken["route"]) == ("active", "review", "short_audit")
    assert taken["agent_id"] == AGENT, "whoever takes it in goes on with it"
    assert taken["imported_from"] == "msn_1783209431408_codexmakerlook"
    assert (list(taken["handoffs"]), list(taken["child_mission_ids"]), taken["parent_mission_id"]) == ([], [], None)
    assert taken["control"]["round"] == 0
    assert taken["context_guard"]["classification"] == "single_repo", "the guard has looked before anything else"
    assert taken["budget"] == {"tool_calls_max": 12, "files_read_max": 8, "soft_deadline_ms": 90_000}

    proof = {"evidence_class": "direct_source", "evidence_refs": ["direct_source:total.py:2"]}
    assert "total adds one too many" in json.dumps(taken["claims"])
    assert actor.call("mission.close")["error"]["code"] == "mission_open", "nothing was proven here yet"
    assert actor.call("mission.verify", claim="total adds one too many", **proof)["verdict"] == "verified_for_mission"
    closed = actor.call("mission.close")
    assert closed["ok"], closed
    assert actor.call("mission.verify_packet", file=closed["proof_file"])["valid"] is True


def test_aol_050_what_a_state_says_was_seen_is_a_statement_here(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    taken = take_in(actor, shop, v0(shop))

    told = actor.call("mission.export", mission_id=taken["mission_id"], format="events")["data"]

    brought = [one for one in told if one["source"] == "import"]
    assert [(one["event_type"], one["evidence_class"]) for one in brought[1:]] == [
        ("file_read", "direct_unverified"),
        ("note", "agent_testimony"),
        ("note", "agent_testimony"),
    ]
    assert [one["verdict"] for one in taken["claims"]] == ["candidate"]
    weak = actor.call(
        "mission.verify",
        claim=taken["claims"][0]["claim_id"],
        evidence_class="direct_source",
        evidence_refs=[brought[1]["event_id"]],
    )
    assert weak["verdict"] == "insufficient_evidence"
    assert actor.call("mission.verify_chain", mission_id=taken["mission_id"])["valid"] is True


def test_aol_050_the_state_of_another_home_is_taken_in_as_well(world: World, shop: str) -> None:
    actor = world.at(shop, AGENT)
    begun = actor.call("mission.start", task="see whether total adds up", mode="review", non_goals=["a rewrite"])
    assert actor.call("mission.event", event_type="file_read", target="total.py")["ok"]
    state = actor.call("mission.export", mission_id=begun["mission_id"], format="state")["data"]
    assert state["schema"] == "hindbrain-mission-state-v1"

    taken = take_in(world.at(shop, "codex:second"), shop, json.dumps(state, default=list))

    assert taken["imported_from"] == begun["mission_id"] != taken["mission_id"]
    assert "a rewrite" in taken["non_goals"]
    assert taken["criteria"] == state["criteria"]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("{", "invalid_params"),
        ("[]", "invalid_params"),
        ({"schema": "something-else"}, "invalid_params"),
        ({"status": "closed"}, "invalid_params"),
        ({"task": " "}, "invalid_params"),
        ({"mode": "hunt"}, "invalid_params"),
        ({"budget": "huge"}, "invalid_params"),
        ({"events": {"a": 1}}, "invalid_params"),
        ({"events": ["read it"]}, "invalid_params"),
        ({"claims": [{"claim": ""}]}, "invalid_params"),
    ],
)
def test_aol_050_what_is_no_state_leaves_no_mission(world: World, shop: str, state: Any, code: str) -> None:
    actor = world.at(shop, AGENT)

    answer = take_in(actor, shop, v0(shop, **state) if isinstance(state, dict) else state)

    assert answer["error"]["code"] == code
    assert answer["error"]["fix"]
    assert actor.call("mission.list")["missions"] == []
    assert actor.call("mission.import", file="/nowhere/state.json")["error"]["code"] == "path_refused"
