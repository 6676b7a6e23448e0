"""Missions of the tour: one closed with its proof, one on its way, one handed over, one given up; and work handed to children."""

from hindbrain.surfaces.demo.repositories import HARBOR, TIDE
from hindbrain.surfaces.demo.stage import Scene, Stage

__all__ = ["SCENES"]

_PACE_S = 4.0  # a mission has minutes, not days
_HOURS = {"tool_calls_max": 32, "files_read_max": 20, "soft_deadline_ms": 4 * 3_600_000}  # whoever takes the tour has time


def _closed(stage: Stage) -> None:
    """A bug hunt from its start to a sealed packet: the loop that runs once too often."""
    actor = stage.agent(HARBOR, "claude-code:agent")
    with stage.pace(_PACE_S):
        mission = actor.call("mission.start", task="find why a payment is tried once too often", mode="bug_hunt")["mission_id"]
        stage.ids["mission-closed"] = mission
        actor.call("mission.next")
        actor.call("seek", query="how often does a payment retry")
        actor.call("mission.event", event_type="file_read", target="src/harbor/retry.py", payload={"range": [1, 22]})
        ran = stage.hook(HARBOR).call(
            "mission.heard",
            payload={
                "tool_name": "Bash",
                "tool_input": {"command": "python -m pytest -q tests/test_retry.py"},
                "tool_response": {"stdout": "E       assert 4 == 3\n1 failed in 0.05s", "stderr": "", "exit_code": 1},
                "cwd": str(stage.roots[HARBOR]),
            },
        )
        claim = "retry loops once more than TRIES"
        weak = actor.call("mission.verify", claim=claim, evidence_class="graph_orientation", targets=["src/harbor/retry.py"])
        (line,) = stage.cite(HARBOR, ("src/harbor/retry.py", "range(TRIES + 1)"))
        actor.call(
            "mission.verify",
            claim=weak["claim_id"],
            evidence_class="direct_source",
            evidence_refs=[f"direct_source:{line}", ran["event_id"]],
        )
        actor.call("mission.event", event_type="file_read", target="src/harbor/worker.py")
        actor.call(
            "mission.event", event_type="dead_path", target="src/harbor/payments.py", payload={"why": "it only calls retry"}
        )
        move = actor.call("mission.next")["move"]
        if move["type"] == "direct_sweep":
            actor.call("mission.event", **{key: value for key, value in move["arguments"].items() if key != "mission_id"})
        actor.call(
            "mission.close",
            summary="range(TRIES + 1) is one too many; the worker and the payments are innocent",
            gaps=["the wait between two tries was not measured"],
        )


def _handed_over(stage: Stage) -> None:
    """Half of the work, left for whoever comes next."""
    actor = stage.agent(HARBOR, "codex:agent")
    with stage.pace(_PACE_S):
        begun = actor.call("mission.start", task="review how orders move from open to paid", mode="review", budget="deep")
        stage.ids["mission-handed-over"] = begun["mission_id"]
        actor.call("mission.event", event_type="file_read", target="src/harbor/orders.py", payload={"range": [1, 36]})
        actor.call("mission.event", event_type="literal_search", target="orders.move", payload={"query": "orders.move"})
        (line,) = stage.cite(HARBOR, ("src/harbor/orders.py", "set state='parked'"))
        actor.call(
            "mission.verify",
            claim="place executes \"update orders set state='parked' where session=? and state='open'\"",
            evidence_class="direct_source",
            evidence_refs=[f"direct_source:{line}"],
        )
        actor.call("mission.claim", claim="a webhook can mark an order as paid that was parked before", confidence=0.5)
        actor.call(
            "mission.event", event_type="dead_path", target="src/harbor/app.py", payload={"why": "no route places an order yet"}
        )
        left = actor.call("mission.handoff", summary="parking is shown; whether a parked order can be paid is open")
        stage.ids["handover"] = left["handoff_id"]


def _given_up(stage: Stage) -> None:
    actor = stage.agent(TIDE, "cursor:agent")
    with stage.pace(_PACE_S):
        begun = actor.call("mission.start", task="move the client to streams", mode="architecture", budget="short")
        stage.ids["mission-abandoned"] = begun["mission_id"]
        actor.call("mission.event", event_type="file_read", target="src/client.ts")
        actor.call("mission.abandon", reason="no page needs streams; fetch is enough")


def _running(stage: Stage) -> None:
    """Today: a review that goes a little in circles, with claims that are shown and claims that are not."""
    actor = stage.agent(HARBOR, "claude-code:agent")
    with stage.pace(_PACE_S):
        begun = actor.call(
            "mission.start",
            task="review whether a webhook can be played again",
            mode="review",
            budget=_HOURS,
            risk="high",
            known_targets=["src/harbor/webhooks.py"],
        )
        stage.ids["mission-running"] = begun["mission_id"]
        actor.call("mission.next")
        actor.call("mission.event", event_type="hypothesis", payload={"why": "the age is checked before the signature"})
        actor.call("mission.event", event_type="file_read", target="src/harbor/webhooks.py", payload={"range": [1, 26]})
        for _ in range(3):
            actor.call("mission.event", event_type="literal_search", target="AGE_MAX_S", payload={"query": "AGE_MAX_S"})
        (line,) = stage.cite(HARBOR, ("src/harbor/webhooks.py", "AGE_MAX_S:"))
        shown = actor.call(
            "mission.verify",
            claim="accepted returns False for a stamp older than AGE_MAX_S",
            evidence_class="direct_source",
            evidence_refs=[f"direct_source:{line}"],
        )
        stage.ids["mission-claim-verified"] = shown["claim_id"]
        weak = actor.call(
            "mission.verify", claim="a webhook can be played again within five minutes", evidence_class="graph_orientation"
        )
        stage.ids["mission-claim-weak"] = weak["claim_id"]
        unproven = actor.call("mission.claim", claim="orders.move does not mind being told twice", confidence=0.4)
        stage.ids["mission-claim-open"] = unproven["claim_id"]
        actor.call("mission.next")


def _packets(stage: Stage) -> None:
    """Work that was handed to children: one came back shown, one only in part, one is still out."""
    actor = stage.agent(HARBOR, "claude-code:orchestrator")
    first = actor.call(
        "delegate",
        task="make the worker park what fails",
        scope={"paths": ["src/harbor/worker.py", "src/harbor/retry.py"]},
        subagent_hint="codex:child-1",
    )
    stage.ids["delegation-done"] = first["delegation_id"]
    actor.call(
        "debrief",
        delegation_id=first["delegation_id"],
        subagent_id="codex:child-1",
        outcome="success",
        findings=[{"text": "Parked jobs are kept in the order in which they failed.", "evidence": ["src/harbor/worker.py"]}],
        touched_paths=["src/harbor/worker.py", "src/harbor/retry.py"],
        evidence={"command": "python -m pytest -q", "exit_status": 0},
    )
    second = actor.call(
        "delegate", task="count prices in cents", scope={"paths": ["src/harbor/basket.py"]}, subagent_hint="cursor:child"
    )
    actor.call(
        "debrief",
        delegation_id=second["delegation_id"],
        subagent_id="cursor:child",
        outcome="partial",
        findings=["The catalogue still counts in euros when a basket counts in cents."],
        touched_paths=["src/harbor/basket.py", "src/harbor/products.py"],
    )
    stage.ids["delegation-partial"] = second["delegation_id"]


def _packet_out(stage: Stage) -> None:
    told = stage.agent(TIDE, "claude-code:orchestrator").call(
        "delegate",
        task="show in the cart when nothing came in time",
        scope={"paths": ["src/cart.ts", "src/client.ts"]},
        subagent_hint="codex:child-2",
    )
    stage.ids["delegation-open"] = told["delegation_id"]


SCENES: tuple[Scene, ...] = (
    Scene(day=10.7, name="a bug hunt is closed with its proof", play=_closed),
    Scene(day=12.2, name="work is handed to children", play=_packets),
    Scene(day=15.3, name="a review is handed over", play=_handed_over),
    Scene(day=17.8, name="a mission is given up", play=_given_up),
    Scene(day=20.6, name="a packet goes out", play=_packet_out),
    Scene(day=21.2, name="a review is on its way", play=_running),
)
