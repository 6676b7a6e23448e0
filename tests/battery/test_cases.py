"""Cases: made from letters, run by the public operations, and never trusted (MED-307, MED-308)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.battery import Case
from hindbrain.engines.battery import read_case
from tests.support.mail import box_of, dropped, into
from tests.support.world import World, tree_hash

MISDELIVERY = "memory_misdelivery"


def battery(root: str) -> Path:
    return Path(root, ".hindbrain", "battery")


def a_case(**more: Any) -> dict[str, Any]:
    """A case as a person would write it."""
    asked = {"call": "north", "arguments": {"task": "harbour"}, "expect": {"present": ["harbour"]}}
    given = {"schema": "hindbrain-battery-case-v0", "id": "by-hand", "kind": "vanished", "date": "2026-07-05", "probes": [asked]}
    return {**given, **more}


def put(root: str, case: Any, name: str = "by-hand") -> None:
    battery(root).mkdir(parents=True, exist_ok=True)
    (battery(root) / f"{name}.json").write_text(case if isinstance(case, str) else json.dumps(case))


@pytest.mark.req("MED-307")
def test_med_307_a_confirmed_event_is_listed_until_its_triage_names_a_case_that_exists(world: World) -> None:
    x = world.brain("x")
    agent = world.at(x)
    event = agent.call("report", **{"class": MISDELIVERY}, kind="vanished", what="the brain is gone")["id"]
    assert [one["letter"] for one in agent.call("battery.check")["without_case"]] == [event]

    agent.call("triage", answers=[event], what="confirmed, no case yet")
    (lacking,) = agent.call("battery.check")["without_case"]
    assert (lacking["letter"], lacking["kind"], lacking["triaged"], lacking["named"]) == (event, "vanished", True, [])

    agent.call("triage", answers=[event], what="it has a name", case=f"vanished-{event}")
    unkept = agent.call("battery.check")
    assert (unkept["without_case"][0]["named"], unkept["exit_code"]) == ([f"vanished-{event}"], 1)

    assert agent.call("battery.add", letter_id=event)["case"]["id"] == f"vanished-{event}"
    kept = agent.call("battery.check")
    assert (kept["without_case"], kept["events"], kept["exit_code"]) == ([], 1, 0)

    rejected = agent.call("report", **{"class": MISDELIVERY}, kind="leak", what="a misreading")["id"]
    agent.call("triage", answers=[rejected], what="it was promoted", verdict="rejected")
    odd = dropped(world, MISDELIVERY, kind="oops", repo="x")
    told = agent.call("battery.check")
    assert (told["events"], told["without_case"]) == (1, []), (rejected, odd)


@pytest.mark.req("MED-308")
def test_med_308_a_case_lies_with_the_brain_that_was_bitten_or_with_the_medulla_when_it_concerns_all(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    own = into(box_of(world, x), MISDELIVERY, kind="misattribution", what="counters of all", ts="2026-07-04T10:00:00Z")
    theirs = into(box_of(world, y), MISDELIVERY, kind="misattribution", what="counters of y")

    leak = world.at(x).call("battery.add", kind="leak")
    mine = world.at(x).call("battery.add", letter_id=own)
    wide = world.at(x).call("battery.add", kind="vanished", tier="medulla", name="all-of-them")

    assert [one["path"] for one in (leak, wide)] == [
        str(world.home.medulla_dir / "battery" / f"{name}.json") for name in ("leak-synthetic", "all-of-them")
    ]
    assert mine["path"] == str(battery(x) / f"misattribution-{own}.json")
    assert (mine["case"]["date"], mine["case"]["synthetic"], leak["case"]["synthetic"]) == ("2026-07-04", False, True)
    assert isinstance(read_case(Path(mine["path"]).read_bytes(), name=f"misattribution-{own}"), Case)
    assert world.at(x).call("battery.add", letter_id=own)["added"] is False, "the very same once more"
    refused = world.at(x).call("battery.add", letter_id=theirs)
    assert (refused["error"]["code"], str(y) in refused["error"]["message"]) == ("invalid_params", True)
    assert not battery(y).exists()
    listed = world.at(x).call("battery.list")
    assert {(one["id"], one["battery"]) for one in listed["cases"]} == {
        (f"misattribution-{own}", "project"),
        ("leak-synthetic", "medulla"),
        ("all-of-them", "medulla"),
    }
    assert {one["id"] for one in world.at(y).call("battery.list")["cases"]} == {"leak-synthetic", "all-of-them"}
    another = world.at(x).call("battery.add", kind="vanished", tier="medulla", name="all-of-them", about="something else")
    assert another["error"]["code"] == "path_refused", "another case of that name is left alone"


def test_a_run_asks_by_the_public_operations_and_shows_what_it_saw_instead(world: World) -> None:
    x = world.brain("x")
    world.at(x).memorize("Harbour", "the harbour opens at six")
    world.at(x).call("mission.start", task="review the harbour")
    world.restart()  # the message of the start is written beside the call; it must not arrive during the run
    probes = [
        {"call": "north", "arguments": {"task": "harbour"}, "expect": {"present": ["OPENS at six"], "absent": ["lantern"]}},
        {"call": "seek", "arguments": {"query": "harbour", "tier": "project"}, "expect": {"at_least": {"memory_exists": 1}}},
        {"call": "boot_memory", "arguments": {"action": "list"}, "expect": {"equals": {"action": "list"}}},
        {"call": "health", "expect": {"equals": {"status": "ok"}}},
        {"call": "session_handshake", "expect": {"equals": {"write_target.store_brain": "$own"}}},
        {"call": "instances", "expect": {"listed": ["$own"], "partitioned": True}},
        {"call": "north", "expect": {"absent": ["harbour"]}, "where": "somewhere else"},
    ]
    put(x, a_case(probes=probes))
    before = tree_hash(world.place / "x"), world.at(x).call("ledger.show", limit=5000)["entries"]

    good = world.at(x).call("battery.run")

    assert (good["passed"], good["exit_code"], good["cases"][0]["asked"]) == (True, 0, 6), good["rendered"]
    after = tree_hash(world.place / "x"), world.at(x).call("ledger.show", limit=5000)["entries"]
    assert after == before, "not even an event of the caller's mission was written"

    wrong = [
        {"call": "north", "arguments": {"task": "harbour"}, "expect": {"present": ["lantern"], "absent": ["harbour"]}},
        {
            "call": "seek",
            "arguments": {"query": "harbour"},
            "expect": {"at_least": {"memory_exists": 2}, "equals": {"no.path": 1}},
        },
        {"call": "seek", "arguments": {"query": ""}, "expect": {"absent": ["x"]}},
        {"call": "health", "expect": {"equals": {"active_sessions": True}}},
        {"call": "instances", "expect": {"listed": ["medulla"]}},
    ]
    put(x, a_case(id="wrong", probes=wrong), "wrong")
    bad = world.at(x).call("battery.run", case_id="wrong")

    (found,) = bad["cases"]
    assert (bad["passed"], bad["exit_code"], found["passed"]) == (False, 1, False)
    assert [(one["call"], one["seen"][:12]) for one in found["failing"]] == [
        ("north", f"harbour of {x}"[:12]),
        ("north", "1 rows witho"),
        ("seek", "nothing ther"),
        ("seek", "1"),
        ("seek", '{"code": "in'),
        ("health", found["failing"][5]["seen"][:12]),
        ("instances", "no such row"),
    ]
    assert "FAIL  wrong" in bad["rendered"]
    assert world.at(x).call("battery.run", case_id="nothing")["error"]["code"] == "invalid_params"
    assert world.at(world.repository("bare")).call("battery.run")["ok"] is False


HOSTILE: dict[str, Any] = {
    "writes": a_case(probes=[{"call": "memorize", "arguments": {"node_label": "a"}, "expect": {"absent": ["a"]}}]),
    "writes-keys": a_case(probes=[{"call": "boot_memory", "arguments": {"action": "set"}, "expect": {"absent": ["a"]}}]),
    "reads-all": a_case(
        probes=[{"call": "seek", "arguments": {"query": "a", "tier": "all-brains"}, "expect": {"absent": ["a"]}}]
    ),
    "names-another": a_case(probes=[{"call": "north", "arguments": {"caller_root": "/"}, "expect": {"absent": ["a"]}}]),
    "names-an-agent": a_case(probes=[{"call": "north", "arguments": {"agent_id": "human:founder"}, "expect": {"absent": ["a"]}}]),
    "runs": a_case(probes=[{"call": "mission.run", "arguments": {"command": ["true"]}, "expect": {"absent": ["a"]}}]),
    "deep": a_case(probes=[{"call": "seek", "arguments": {"query": {"a": 1}}, "expect": {"absent": ["a"]}}]),
    "asks-much": a_case(probes=[{"call": "health", "expect": {"absent": ["a"]}}] * 9),
    "expects-nothing": a_case(probes=[{"call": "health", "expect": {}}]),
    "expects-much": a_case(probes=[{"call": "health", "expect": {"absent": ["a"] * 17}}]),
    "unknown-field": a_case(shell="rm -rf /"),
    "other-name": a_case(),
    "no-kind": a_case(kind="oops"),
    "no-json": "\x00\x1b[31m{",
    "too-large": json.dumps(a_case(what="a" * 40_000)),
    "nested": "[" * 100_000,
}


def test_a_case_file_of_a_repository_can_only_ask_about_its_own_brain(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    world.at(y).memorize("Harbour", "the harbour opens at six")
    for name, case in HOSTILE.items():
        put(x, case | {"id": name} if isinstance(case, dict) and name != "other-name" else case, name)
    os.symlink(world.file(y, "harbour"), battery(x) / "link.json")
    os.mkfifo(battery(x) / "pipe.json")
    (battery(x) / "directory.json").mkdir()
    before = tree_hash(world.home.brains_dir)

    run, listed = world.at(x).call("battery.run"), world.at(x).call("battery.list")

    assert (run["cases"], run["passed"], listed["cases"]) == ([], False, [])
    assert {one["file"] for one in run["unreadable"]} == {f"{name}.json" for name in (*HOSTILE, "link", "pipe", "directory")}
    assert "opens at six" not in json.dumps([run, listed])
    assert "\x1b" not in run["rendered"] + listed["rendered"]
    assert tree_hash(world.home.brains_dir) == before


def test_a_battery_that_is_a_link_or_too_large_is_said_to_be_and_nothing_is_written_through_it(world: World) -> None:
    x, y = world.brain("x"), world.brain("y")
    put(y, a_case())
    Path(x, ".hindbrain").mkdir()
    os.symlink(battery(y), battery(x))

    assert "link" in world.at(x).call("battery.run")["unreadable"][0]["reason"]
    refused = world.at(x).call("battery.add", kind="vanished")
    assert refused["error"]["code"] == "path_refused"
    assert [path.name for path in battery(y).iterdir()] == ["by-hand.json"]

    battery(x).unlink()
    asked = [{"call": "health", "expect": {"equals": {"status": "ok"}}}]
    for number in range(203):
        put(x, a_case(id=f"c{number}", probes=asked), f"c{number}")
    listed = world.at(x).call("battery.list")
    assert (len(listed["cases"]), listed["unreadable"][0]["reason"][:6]) == (200, "3 more")


def test_a_case_that_asks_nothing_holds_nothing_and_a_projects_own_case_is_asked_in_every_clone(world: World) -> None:
    x = world.brain("x")
    made = world.at(x).call("battery.add", kind="vanished", name="own", present=["harbour"])
    assert all("where" not in probe for probe in made["case"]["probes"])
    put(x, a_case(probes=[{"call": "north", "expect": {"absent": ["x"]}, "where": "elsewhere"}]), "by-hand")

    found = world.at(x).call("battery.run")

    assert {one["id"]: (one["asked"], one["passed"]) for one in found["cases"]} == {"own": (2, False), "by-hand": (0, True)}
    assert "skip  by-hand" in found["rendered"]
    assert "0 of 1 cases hold" in found["rendered"]
