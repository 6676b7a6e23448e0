"""The log of a bus: what is written, what became of each message by it, and who is there."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.cowork import CoworkEvent
from hindbrain.engines.deliveries import replayed
from hindbrain.engines.presence import presence
from hindbrain.services.cowork.room import put_together
from tests.support.cowork import BusScene, code_of
from tests.support.still import still
from tests.support.tmux import Recorder
from tests.support.world import World

TWELVE = {
    "message_id",
    "event_type",
    "status",
    "from",
    "target_agent_id",
    "transport",
    "message_preview",
    "thread_id",
    "channel",
    "delivered_at",
    "updated_at",
    "acked_by",
}

NINE = {
    "event_id",
    "occurred_at",
    "event_type",
    "status",
    "actor_agent_id",
    "target_agent_ids",
    "transport",
    "message_preview",
    "details",
}


def states(scene: BusScene, **given: Any) -> dict[str, str]:
    return {one["message_id"]: one["status"] for one in scene.ok("cowork.deliveries", **given)["deliveries"]}


@pytest.fixture
def scene(world: World) -> BusScene:
    return BusScene.of(world, "a", "b", "c", human=True)


def test_mind_437_mind_438_mind_440_each_act_adds_one_line_with_a_short_preview(scene: BusScene) -> None:
    before = scene.log()
    kept = sha256("\n".join(before[:3]).encode()).hexdigest()
    body = "".join(f"{number:05d}" for number in range(100))

    sent = scene.send("a", "b", body, thread_id="t1")

    lines = scene.log()
    assert len(lines) == len(before) + 1 == 4
    assert sha256("\n".join(lines[:3]).encode()).hexdigest() == kept
    event = json.loads(lines[-1])
    assert event["event_id"] == sent
    assert event["event_id"].startswith("evt-")
    assert (event["actor_agent_id"], event["target_agent_ids"], event["transport"]) == ("a", ["b"], "inbox")
    assert event["details"] == {"inbox_path": "inbox/b.jsonl", "thread_id": "t1"}
    assert event["occurred_at"].endswith("Z")
    assert event["message_preview"] == body[:200] + "..."
    assert body[200:210] not in "\n".join(lines)
    assert all(isinstance(value, str) for value in event["details"].values())
    assert set(event) == set(scene.ok("cowork.events")["events"][-1]) == NINE


def test_mind_439_mind_436_the_log_names_every_kind_of_act(scene: BusScene, recorder: Recorder) -> None:
    scene.ok("cowork.register", agent_id="pane", tool="codex", transport="tmux", tmux_target="m:0.1")
    first = scene.send("a", "b", "x")
    recorder.answers("no such pane", status=1)
    answer = scene.call("cowork.broadcast", **{"from": "a"}, to=["b", "pane", "c"], message="y")
    assert scene.drained("b") == ["x", "y"]
    scene.ok("cowork.ack", agent_id="b", message_id=first)
    scene.ok("cowork.heartbeat", agent_id="b")

    assert scene.events()[3:] == [
        ("register", "registered"),
        ("send", "delivered"),
        ("broadcast", "delivered"),
        ("broadcast", "failed"),
        ("broadcast", "delivered"),
        ("drain", "drained"),
        ("ack", "acked"),
        ("heartbeat", "seen"),
    ]
    assert code_of(answer) == "delivery_failed"
    assert [one["target_agent_id"] for one in answer["error"]["deliveries"]] == ["b", "c"]
    assert [one["target_agent_id"] for one in answer["error"]["failed"]] == ["pane"]
    assert scene.drained("c") == ["y"]
    drain = scene.ok("cowork.events", limit=4)["events"][0]
    assert drain["details"]["drained_count"] == "2"
    assert drain["details"]["message_ids"].split()[0] == first


def test_mind_432_mind_435_a_pane_that_fails_is_no_inbox_and_an_inbox_is_no_pane(scene: BusScene, recorder: Recorder) -> None:
    scene.send("a", "b", "to the inbox")
    assert recorder.calls == []
    scene.ok("cowork.register", agent_id="pane", tool="codex", transport="tmux", tmux_target="m:0.1")
    scene.send("a", "pane", "typed")
    assert recorder.calls[-1] == ["send-keys", "-t", "m:0.1", "--", "[hindbrain bus from a to pane] typed", "Enter"]
    recorder.answers("no such pane", status=1)
    before = scene.log()

    refused = scene.call("cowork.send", **{"from": "a"}, to="pane", message="lost")

    assert code_of(refused) == "delivery_failed"
    assert scene.drained("pane") == []
    (line,) = scene.log()[len(before) :]
    assert (json.loads(line)["event_type"], json.loads(line)["status"]) == ("send", "failed")
    assert not (scene.place / "inbox" / "pane.jsonl").exists()


def test_mind_441_mind_442_mind_444_listing_changes_nothing_and_skips_what_nobody_can_read(scene: BusScene) -> None:
    sent = [scene.send("a", "b", f"m{number}") for number in range(3)]
    lines = scene.log()
    (scene.place / "events.jsonl").write_text("\n".join([*lines[:4], "{broken", *lines[4:]]) + "\n")

    with still(scene.world.home.path):
        latest = scene.ok("cowork.events", limit=2)
        told = scene.ok("cowork.deliveries")
        everything = scene.ok("cowork.events")

    assert [one["event_id"] for one in latest["events"]] == sent[1:]
    assert (latest["total"], latest["skipped_lines"], told["skipped_lines"]) == (6, 1, 1)
    assert [one["message_id"] for one in told["deliveries"]] == sent
    assert [one["event_id"] for one in everything["events"]][-3:] == sent
    assert scene.drained("b") == ["m0", "m1", "m2"]
    # A line without an end, left by somebody else, is ended and not joined with the next.
    with (scene.place / "events.jsonl").open("a") as file:
        file.write('{"event_id": "evt-torn')
    last = scene.send("a", "b", "after")
    again = scene.ok("cowork.events", limit=1)
    assert ([one["event_id"] for one in again["events"]], again["skipped_lines"]) == ([last], 2)


def test_mind_443_a_long_log_goes_on_in_another_file_and_replay_reads_all_of_them(world: World) -> None:
    scene = BusScene.of(world, "a", "b")
    world.app.house._rooms["cowork"] = put_together(world.app.house, part_bytes=1024)
    sent = []
    for number in range(50):
        sent.append(scene.send("a", "b", f"message number {number}"))
        if number % 16 == 15:
            assert len(scene.drained("b")) == 16

    parts = sorted(path.name for path in scene.place.glob("events-*.jsonl"))

    assert len(parts) > 5
    assert all((scene.place / name).stat().st_size < 2048 for name in parts)
    with world.app.house.cowork.buses.of(scene.actor.caller).look() as look:
        log = look.history()
    assert len(list(log)) == 2 + 50 + 3
    scene.ok("cowork.heartbeat", agent_id="a")  # nobody waits for whoever walks through a long log
    assert len(list(log)) == 2 + 50 + 3
    told = states(scene)
    assert list(told) == sent
    assert list(told.values()) == ["drained"] * 48 + ["pending"] * 2
    scene.ok("cowork.ack", agent_id="b", message_id=sent[0])  # the oldest part is asked, too
    assert states(scene)[sent[0]] == "acked"


def test_mind_445_mind_446_mind_448_status_is_replay_of_the_log_and_nothing_else(scene: BusScene, recorder: Recorder) -> None:
    scene.ok("cowork.register", agent_id="pane", tool="codex", transport="tmux", tmux_target="m:0.1")
    drained = scene.send("a", "b", "m2", thread_id="t", channel="c")
    scene.drained("b")
    acked = scene.send("a", "b", "m3", thread_id="t", channel="c")
    scene.world.clock.forward(1000)
    scene.ok("cowork.ack", agent_id="b", message_id=acked)
    pending = scene.send("a", "c", "m1")
    recorder.answers("no such pane", status=1)
    assert code_of(scene.call("cowork.send", **{"from": "a"}, to="pane", message="m4")) == "delivery_failed"

    with still(scene.world.home.path):
        told = scene.ok("cowork.deliveries")["deliveries"]
    failed = told[-1]["message_id"]
    before = states(scene)
    assert before == {drained: "drained", acked: "acked", pending: "pending", failed: "failed"}
    for path in scene.place.rglob("*"):
        if path.is_file() and not path.name.startswith("events"):
            path.unlink()
    assert states(scene) == before
    mine = scene.ok("cowork.deliveries", agent_id="b")
    assert [one["message_id"] for one in mine["deliveries"]] == [drained, acked]
    one = mine["deliveries"][1]
    assert set(one) == TWELVE
    assert (one["from"], one["target_agent_id"], one["acked_by"], one["thread_id"], one["channel"]) == ("a", "b", "b", "t", "c")
    assert one["delivered_at"] < one["updated_at"]
    assert mine["counts"] == {"pending": 0, "drained": 1, "acked": 1, "failed": 0}


def _event(number: int = 0, kind: str = "send", status: str = "delivered", **more: Any) -> CoworkEvent:
    given = {"actor_agent_id": "a", "target_agent_ids": ("b",), "transport": "inbox", **more}
    return CoworkEvent(event_id=f"evt-{number}", occurred_at=f"t{number}", event_type=kind, status=status, **given)


def test_mind_447_a_drain_marks_what_it_names_and_an_old_one_the_oldest_of_the_inbox() -> None:
    sent = [_event(1), _event(2), _event(3, transport="tmux"), _event(4, target_agent_ids=("c",))]
    ack = _event(5, "ack", "acked", actor_agent_id="b", details={"message_id": "evt-1"})
    named = _event(6, "drain", "drained", actor_agent_id="b", details={"drained_count": "2", "message_ids": "evt-1 evt-2 evt-3"})
    counted = _event(7, "drain", "drained", actor_agent_id="b", details={"drained_count": "1"})

    def told(*events: CoworkEvent) -> list[str]:
        return [one.status for one in replayed(events)]

    assert told(*sent, ack, named) == ["acked", "drained", "pending", "pending"]
    assert told(*sent, counted) == ["drained", "pending", "pending", "pending"]
    assert told(*sent, ack, counted) == ["acked", "drained", "pending", "pending"]
    assert told(*sent, named, _event(8), counted) == ["drained", "drained", "pending", "pending", "drained"]
    # An acknowledgement counts from the target only, and nothing makes a failed delivery another.
    forged = _event(9, "ack", "acked", actor_agent_id="c", details={"message_id": "evt-1"})
    lost = _event(1, status="failed")
    assert told(*sent, forged)[0] == "pending"
    assert told(lost, ack, named, counted) == ["failed"]


def test_mind_449_mind_450_an_acknowledgement_changes_the_log_once_and_no_inbox(scene: BusScene) -> None:
    sent = scene.send("a", "b", "m1")
    inbox = (scene.place / "inbox" / "b.jsonl").read_bytes()

    first = scene.ok("cowork.ack", agent_id="b", message_id=sent)
    with still(scene.world.home.path):
        second = scene.ok("cowork.ack", agent_id="b", message_id=sent)
        for agent, message, code in (
            ("b", "evt-0", "unknown_message"),
            ("b", sent[:8], "unknown_message"),
            ("c", sent, "unknown_message"),
            ("zz", sent, "unknown_agent"),
            ("b", "evt 0", "invalid_params"),
        ):
            assert code_of(scene.call("cowork.ack", agent_id=agent, message_id=message)) == code

    assert (first["changed"], second["changed"]) == (True, False)
    assert [one for one in scene.events() if one[0] == "ack"] == [("ack", "acked")]
    assert (scene.place / "inbox" / "b.jsonl").read_bytes() == inbox
    assert scene.databases() == []
    assert scene.drained("b") == ["m1"]
    assert states(scene) == {sent: "acked"}


def test_mind_450_a_failed_delivery_cannot_be_acknowledged(scene: BusScene, recorder: Recorder) -> None:
    scene.ok("cowork.register", agent_id="pane", tool="codex", transport="tmux", tmux_target="m:0.1")
    recorder.answers("no such pane", status=1)
    failed = scene.call("cowork.send", **{"from": "a"}, to="pane", message="x")["error"]["failed"][0]["message_id"]

    with still(scene.world.home.path):
        assert code_of(scene.call("cowork.ack", agent_id="pane", message_id=failed)) == "unknown_message"


def test_mind_451_mind_452_presence_follows_from_the_last_sign(scene: BusScene) -> None:
    registered = scene.ok("cowork.agents")["agents"][0]
    assert registered["last_seen_at"] == registered["registered_at"]

    told = scene.ok("cowork.heartbeat", agent_id="b", seen_at="2026-05-25T02:00:00+02:00")

    assert told["last_seen_at"] == "2026-05-25T00:00:00.000Z"
    assert scene.events()[-1] == ("heartbeat", "seen")
    beyond = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
    for wrong in ("soon", "", "2026-05-25", "25.05.2026 00:00:00", "9" * 5000, *beyond):
        assert code_of(scene.call("cowork.heartbeat", agent_id="b", seen_at=wrong)) == "invalid_params", wrong
    assert code_of(scene.call("cowork.heartbeat", agent_id="zz")) == "unknown_agent"

    def seen(now: str) -> str:
        return str(scene.ok("cowork.agents", now=now)["agents"][1]["presence"])

    assert seen("2026-05-25T00:10:00Z") == "online"
    assert seen("2026-05-25T00:10:01Z") == "stale"
    assert code_of(scene.call("cowork.agents", now="now")) == "invalid_params"
    _rewrite(scene.place / "agents.json", last_seen_at="yesterday")
    assert seen("2026-05-25T00:00:00Z") == "stale"
    _rewrite(scene.place / "agents.json", last_seen_at=None)
    assert seen("2026-05-25T00:00:00Z") == "never_seen"
    assert presence("2026-05-25T00:00:00Z", 0) == "online"  # a clock that is ahead


def _rewrite(path: Path, **fields: Any) -> None:
    held = json.loads(path.read_text())
    held["agents"] = [one | fields for one in held["agents"]]
    path.write_text(json.dumps(held))


def test_mind_453_only_a_sign_of_the_agent_makes_it_present(scene: BusScene) -> None:
    before = {one["agent_id"]: one["last_seen_at"] for one in scene.ok("cowork.agents")["agents"]}
    scene.world.clock.forward(700_000)

    sent = scene.send("a", "b", "x")
    scene.ok("cowork.agents")
    scene.drained("b")
    scene.ok("cowork.ack", agent_id="b", message_id=sent)

    after = scene.ok("cowork.agents")["agents"]
    assert {one["agent_id"]: one["last_seen_at"] for one in after} == before
    assert {one["presence"] for one in after} == {"stale"}
    scene.ok("cowork.heartbeat", agent_id="b")
    assert scene.ok("cowork.agents")["agents"][1]["presence"] == "online"


def test_a_damaged_registry_is_said_and_not_overwritten(scene: BusScene) -> None:
    (scene.place / "agents.json").write_bytes(b'{"agents": [{"agent_id"\xff')

    with still(scene.world.home.path):
        for operation, given in (("cowork.agents", {}), ("cowork.register", {"agent_id": "d", "tool": "x"})):
            assert code_of(scene.call(operation, **given)) == "store_damaged"


def test_the_bell_rings_with_names_and_without_words(scene: BusScene) -> None:
    heard: list[dict[str, Any]] = []
    stop = scene.world.app.events.subscribe(lambda event: heard.append(dict(event.data)))

    sent = scene.send("a", "b", "the secret plan")
    scene.drained("b")
    stop()

    place = {"brain": scene.root, "project": scene.root, "repository": scene.root}
    assert heard == [
        {"kind": "cowork.message", "act": f"cowork.{act}", "agents": ["b"], "messages": [sent], **place}
        for act in ("send", "drain")
    ]
