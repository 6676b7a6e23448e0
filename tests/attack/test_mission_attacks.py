"""Attacks on missions: nothing is proven by being said, a refused call changes nothing, and no input takes a mission down."""

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.domain.brain import fingerprint
from hindbrain.engines.command_kind import kind_of
from hindbrain.engines.mission_chain import DIGEST, canonical, digest_of
from tests.support.owner import RunningOwner
from tests.support.world import Actor, World, git

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
MAIL = ("-c", "user.name=a", "-c", "user.email=a@example.org")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def root(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with a commit; `gone.py` is named in it and is not there."""
    made = world.brain("repo", calc_py="def add(a, b):\n    return a - b\n", note_txt="see gone.py\n")
    git(made, *MAIL, "add", "."), git(made, *MAIL, "commit", "-qm", "first")
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def liar(world: World, root: str) -> Actor:
    actor = world.at(root, "liar")
    done(actor.call("mission.start", task="review add", mode="review"))
    return actor


def done(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["ok"], answer
    return answer


def told(actor: Actor, event_type: str, target: str | None = None, **payload: Any) -> dict[str, Any]:
    return done(actor.call("mission.event", event_type=event_type, target=target, payload=payload))


def judged(actor: Actor, claim: str, *refs: str, **more: Any) -> str:
    """The verdict on a claim."""
    given = {"evidence_class": "direct_source", "evidence_refs": list(refs), **more}
    return str(done(actor.call("mission.verify", claim=claim, **given))["verdict"])


def count(actor: Actor) -> int:
    return int(done(actor.call("mission.status"))["event_count"])


PASSED = {
    "tool_name": "Bash",
    "tool_input": {"command": "pytest -q"},
    "tool_response": {"stdout": "5 passed", "exit_code": 0},
}


def test_aol_092_a_run_that_an_agent_sends_in_place_of_its_hook_is_a_statement(liar: Actor) -> None:
    forged = done(liar.call("mission.heard", payload=PASSED))
    seen = done(liar.hook().call("mission.heard", payload=PASSED))

    assert (forged["evidence_class"], forged["event"]["source"]) == ("direct_unverified", "agent")
    assert (seen["evidence_class"], seen["event"]["payload"]["origin"]) == ("direct_test", "host_hook")
    assert judged(liar, "the tests pass", forged["event_id"], evidence_class="direct_test") == "insufficient_evidence"
    assert judged(liar, "the tests pass", seen["event_id"], evidence_class="direct_test") == "verified_for_mission"


def test_aol_092_over_http_only_the_token_of_hooks_speaks_for_a_host(owner: RunningOwner, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(str(root), "init", "-q", "-b", "main")
    done(owner.call("ingest", root=root, path=str(root), project_root=str(root)))
    done(owner.call("mission.start", root=root, task="review it"))

    def sent(operation: str, token: str, **arguments: Any) -> dict[str, Any]:
        return done(owner.post(operation, arguments, token=token, hindbrain_caller_root=str(root)).json)

    hook = (owner.home / "hook-token").read_text().strip()
    told = [sent("mission.heard", token, payload=PASSED)["evidence_class"] for token in (owner.token, owner.human_token, hook)]
    assert told == ["direct_unverified", "direct_unverified", "direct_test"]
    sent("memorize", hook, node_label="Cache", text="It is cold.")
    (entry,) = sent("ledger.show", owner.token, act="claim.memorize")["entries"]
    assert entry["channel"] == "agent"


# -- evidence that is only called so -----------------------------------------------------------------------------------


def test_aol_095_the_name_an_agent_gives_its_evidence_is_not_what_the_evidence_is_about(liar: Actor) -> None:
    read = told(liar, "file_read", "calc.py")["event_id"]
    lies = [
        told(liar, "literal_search", "gone.py", query="return", hits=["calc.py:2:return"]),
        told(liar, "diff_read", "gone.py", commits=["HEAD"]),
        told(liar, "web_fetch", "gone.py", copy="calc.py"),
        told(liar, "web_fetch", "gone.py::https://", copy="calc.py"),
        told(liar, "coverage_sweep", "gone.py", linked_events=[read]),
    ]

    assert {one["evidence_class"].removeprefix("direct_") for one in lies} == {"search", "diff", "external", "coverage_sweep"}
    for number, lie in enumerate(lies):
        verdict = judged(liar, f"gone.py loses data ({number})", lie["event_id"], targets=["gone.py"])
        assert verdict == "insufficient_evidence", lie["event"]["event_type"]
        shown = judged(liar, "calc.py has `return a - b`", lie["event_id"], targets=["calc.py"])
        assert shown == "verified_for_mission", lie["event"]["event_type"]


def test_aol_095_a_search_that_finds_the_name_of_a_file_has_not_seen_the_file(liar: Actor) -> None:
    assert done(liar.call("search", query="gone.py"))["results"]
    seen = done(liar.call("mission.status", events=1))["events"][-1]

    assert (seen["target"], seen["evidence_class"]) == ("gone.py", "direct_search")
    assert judged(liar, "gone.py loses data", seen["event_id"], targets=["gone.py"]) == "insufficient_evidence"
    assert judged(liar, "the note mentions gone.py", seen["event_id"], targets=["note.txt"]) == "verified_for_mission"


# -- input that nobody expects -----------------------------------------------------------------------------------------


def test_odd_values_in_a_payload_take_no_mission_down(liar: Actor) -> None:
    told(liar, "note", statements="abc", rules=7)
    told(liar, "note", statements=[1, 2], rules=["a"])
    told(liar, "literal_search", "x", query="return", hits=["calc.py:\u00b2:return", {"path": ["a"], "line": 1}])
    told(liar, "dead_path", "calc.py:\u00b2-\u00b3", why="odd lines")
    done(liar.call("mission.next"))
    told(liar, "file_read", "calc.py:1-2")
    told(liar, "file_read", "calc.py", range=["a", None])

    for odd in ("\u00b2", "9" * 5_000):
        answer = liar.call("mission.claim", claim="add subtracts", criteria=[odd])
        assert answer["error"]["code"] == "invalid_params"
    assert liar.call("mission.claim", claim=" \n ")["error"]["code"] == "invalid_params"
    assert done(liar.call("mission.verify_chain"))["valid"]
    assert done(liar.call("ledger.verify"))["ok"]


def test_aol_066_a_huge_payload_is_cut_before_it_is_looked_through(liar: Actor) -> None:
    begun = time.process_time()
    texts = told(liar, "note", **{f"text{number}": "x" * 1_000_000 for number in range(20)})
    values = told(liar, "note", rows=[[list(range(200)) for _ in range(100)] for _ in range(10)])
    target = done(liar.call("mission.event", event={"event_type": "note", "target": "y" * 2_000_000}))

    assert time.process_time() - begun < 5  # it took a second for each million
    for one in (texts, values, target):
        assert len(json.dumps(one["event"])) < 40_000
    assert all(one["event"]["payload"]["left_out"] for one in (texts, values))


def test_an_event_that_names_another_mission_is_not_taken_into_this_one(world: World, root: str, liar: Actor) -> None:
    other = done(world.at(root, "other").call("mission.start", task="review the rest"))["mission_id"]
    mine = done(liar.call("mission.status"))["mission_id"]
    before = count(liar)

    by_event = liar.call("mission.event", event={"event_type": "note", "mission_id": other})
    by_next = liar.call("mission.next", last_event={"event_type": "note", "mission_id": other})
    foreign = liar.call("mission.event", event_type="note", mission_id=other)

    assert [one["error"]["code"] for one in (by_event, by_next, foreign)] == [
        "invalid_params",
        "invalid_params",
        "mission_foreign",
    ]
    assert count(liar) == before
    done(liar.call("mission.event", event={"event_type": "note", "mission_id": mine}))


# -- packets -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def proof(world: World, liar: Actor) -> Path:
    """The packet of a mission that was closed by force, with its events beside it, on the way to somebody else."""
    judged(liar, "add subtracts", "direct_source:calc.py:2", targets=["calc.py"])
    judged(liar, "add is slow", evidence_class="inferred")
    kept = Path(done(liar.call("mission.close", force=True, reason="no time", gaps=["the tests"]))["proof_file"])
    away = world.place / "away"
    away.mkdir()
    for name in ("proof.json", "events.jsonl"):
        (away / name).write_bytes((kept.parent / name).read_bytes())
    return away / "proof.json"


def resealed(packet: Path, **changes: Any) -> None:
    """The packet with something else in it, and a digest that fits again."""
    told = json.loads(packet.read_bytes()) | changes
    bare = {name: value for name, value in told.items() if name != "packet_digest"}
    told["packet_digest"] = "sha256:" + hashlib.sha256(canonical(bare)).hexdigest()
    packet.write_bytes(canonical(told))


def test_aol_101_aol_108_a_packet_that_was_sealed_again_does_not_agree_with_its_events(world: World, proof: Path) -> None:
    reader = world.human(world.brain("elsewhere"))
    whole = proof.read_bytes()
    told = json.loads(whole)
    (claim,) = told["verified_claims"]
    assert done(reader.call("mission.verify_packet", file=str(proof)))["valid"]

    lies: list[dict[str, Any]] = [
        {"verified_claims": [claim | {"claim": "add is right"}]},
        {"verified_claims": [claim | {"targets": ["gone.py"]}]},
        {"verified_claims": [claim | {"evidence_classes": ["direct_test"]}]},
        {"verified_claims": []},
        {"rejected_claims": []},
        {"forced": False, "forced_reason": None},
        {"forced_reason": "all is well"},
        {"gaps": []},
        {"direct_evidence_classes": {"direct_test": 9}},
        {"counters": told["counters"] | {"direct_evidence_count": 9}},
        {"repo": "/somewhere/else"},
        {"agent_id": "somebody"},
        {"task": "prove everything"},
        {"summary": "all is proven"},
        {"mode": "release"},
    ]
    for lie in lies:
        proof.write_bytes(whole)
        resealed(proof, **lie)
        assert not done(reader.call("mission.verify_packet", file=str(proof)))["valid"], lie


def test_aol_108_files_that_are_no_packet_are_said_to_be_none(world: World, root: str, proof: Path) -> None:
    reader = world.human(root)
    whole, odd = proof.read_bytes(), proof.with_name("odd.json")

    def checked(packet: bytes, *events: bytes) -> dict[str, Any]:
        odd.write_bytes(packet)
        odd.with_suffix(".jsonl").write_bytes(b"\n".join(events))
        return reader.call("mission.verify_packet", file=str(odd), events=str(odd.with_suffix(".jsonl")))

    for packet in (b"", b"[" * 100_000, b'{"mission_id": "\\ud800"}', b"1" * 10_000, whole.replace(b"msn_", b"\\ud800")):
        assert not done(checked(packet))["valid"]
    first = json.loads(proof.with_name("events.jsonl").read_bytes().splitlines()[0])
    for event in ({}, {"payload": [1]}, {"event_type": "close", "payload": {"status": "odd"}}):
        lone = {**first, **event}
        lone["hash"] = DIGEST + digest_of(lone["prev_hash"].removeprefix(DIGEST), lone)
        assert not done(checked(whole, json.dumps(lone).encode()))["valid"]
    assert checked(whole, b'{"a": ' + b"[" * 100_000)["error"]["code"] == "invalid_params"

    os.mkfifo(odd.with_name("pipe"))
    for name in (str(odd.with_name("pipe")), "/dev/zero", "~nobody-here/x", "\x00"):
        assert reader.call("mission.verify_packet", file=name)["error"]["code"] == "path_refused"


# -- other projects, hostile repositories ------------------------------------------------------------------------------


def test_a_mission_shows_an_agent_without_a_shell_nothing_of_other_directories(world: World, root: str) -> None:
    other = world.brain("other", secret_py='KEY = "alpha"\n')
    shell = world.at(root, "blind")
    blind = Actor(world, replace(shell.caller, reads_files=False))

    for repo, name, text in ((other, "secret.py", "alpha"), ("/etc", "passwd", "root"), ("/", "etc/passwd", "root")):
        mission = done(blind.call("mission.start", task="look around", repo=repo))["mission_id"]
        tell = [
            blind.call("mission.event", mission_id=mission, event_type="file_read", target=name),
            blind.call("mission.event", mission_id=mission, event_type="literal_search", payload={"hits": [f"{name}:1:{text}"]}),
            blind.call("mission.event", mission_id=mission, event_type="diff_read", target="HEAD"),
        ]
        assert [done(one)["evidence_class"] for one in tell] == ["direct_unverified"] * 3
        assert all(one["event"]["target_digest"] is None for one in tell)
        verdict = judged(blind, f"{name} is there", f"direct_source:{name}", targets=[name], mission_id=mission)
        assert verdict == "insufficient_evidence"
        claimed = [
            one for one in done(blind.call("mission.status", mission_id=mission))["events"] if one["event_type"] == "claim"
        ]
        assert claimed[0]["payload"]["existing"] == []
        assert [one["digest"] for one in done(blind.call("mission.handoff", mission_id=mission))["files_read"]] == [None]
    outside = blind.call("mission.verify_packet", file=f"{other}/secret.py")
    assert outside["error"]["code"] == "path_refused"

    done(blind.call("mission.start", task="review add"))
    assert told(blind, "file_read", "calc.py")["evidence_class"] == "direct_source"


def test_what_a_repository_puts_in_place_of_its_own_files_takes_no_mission_down(liar: Actor, root: str) -> None:
    Path(root, "package.json").write_text("[" * 100_000)
    os.mkfifo(Path(root, "pyproject.toml"))
    os.mkfifo(Path(root, "pipe"))
    os.symlink("/etc/passwd", Path(root, "link"))

    done(liar.call("mission.next"))
    for name in ("pipe", "link", "../other/secret.py", "/dev/zero"):
        assert told(liar, "file_read", name)["evidence_class"] == "direct_unverified"
    claimed = done(liar.call("mission.claim", claim="there is a file", targets=["../../etc/passwd", "/etc/passwd", "calc.py"]))
    last = done(liar.call("mission.status", events=1))["events"][-1]
    assert (claimed["ok"], last["payload"]["existing"]) == (True, ["calc.py"])


# -- what is kept ------------------------------------------------------------------------------------------------------


def test_a_rejected_value_does_not_come_back_as_an_event(world: World, root: str, liar: Actor) -> None:
    liar.memorize("Port", "The port is 7777-zebra.")
    done(world.human(root).call("reject", claim="Port", reason="it never was"))
    before = count(liar)

    again = [
        liar.call("mission.claim", claim="The port is 7777-zebra."),
        liar.call("mission.event", event_type="note", payload={"found": [{"text": "The port is 7777-zebra."}]}),
        liar.call("mission.next", last_event={"event_type": "note", "target": "The port is 7777-zebra."}),
    ]

    assert [one["error"]["code"] for one in again] == ["rejected_value"] * 3
    assert count(liar) == before


def test_a_row_that_was_changed_proves_nothing_and_is_named_by_every_check(world: World, root: str, liar: Actor) -> None:
    forged = told(liar, "test_run", "pytest", exit_status=0)["event_id"]
    judged(liar, "add subtracts", "direct_source:calc.py:2")
    assert done(liar.call("ledger.verify"))["intact"]
    world.close()
    with sqlite3.connect(world.home.brains_dir / fingerprint(root) / "brain.db") as database:
        for (name,) in database.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            database.execute(f"drop trigger {name}")
        database.execute("update mission_event set body = replace(body, 'direct_unverified', 'direct_test')")
    database.close()

    assert judged(liar, "the tests pass", forged, evidence_class="direct_test") == "insufficient_evidence"
    assert not done(liar.call("mission.verify_chain"))["valid"]
    broken = liar.call("ledger.verify")
    assert (broken["ok"], broken["intact"]) == (False, False)
    assert any("is not what was written" in one["reason"] for one in broken["breaks"])


def test_a_state_from_elsewhere_is_taken_in_whole_or_not_at_all(world: World, root: str) -> None:
    taker = world.at(root, "taker")
    file = Path(root, "state.json")

    def taken(document: Any) -> dict[str, Any]:
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return taker.call("mission.import", file=str(file))

    state = {"schema": "hindbrain-mission-state-v1", "task": "review it", "mode": "bug_hunt"}
    odd = [{"event_type": "coverage_sweep", "payload": {"linked_seqs": ["x"]}}]
    odd += [{"event_type": "file_read", "target": "calc.py", "payload": {"range": ["x", "y"]}}]
    assert taken("[" * 100_000)["error"]["code"] == "invalid_params"
    assert taken({**state, "claims": [{"claim": ""}]})["error"]["code"] == "invalid_params"
    assert not done(taker.call("mission.list"))["missions"]

    proven = {"claim": "the tests pass", "verdict": "verified_for_mission"}
    made = done(taken({**state, "agent_id": SECRET, "events": odd, "claims": [proven]}))
    assert [one["verdict"] for one in made["claims"]] == ["candidate"]
    assert SECRET not in json.dumps(done(taker.call("mission.export", format="events")))
    assert done(taker.call("mission.verify_chain"))["valid"]


@pytest.mark.parametrize(
    "command",
    [
        ["make", "-n", "test"],
        ["make", "-sn", "test"],
        ["make", "--dry-run", "test"],
        ["cargo", "test", "--no-run"],
        ["cargo", "test", "--", "--list"],
        ["go", "test", "-list", ".", "./..."],
        ["tox", "-l"],
        ["ctest", "-N"],
        ["mvn", "test", "-DskipTests"],
        ["pytest", "--setup-plan"],
        ["env", "PYTEST_ADDOPTS=--co", "pytest"],
        ["sh", "-c", "MAKEFLAGS=n make test"],
    ],
)
def test_aol_091_a_test_runner_that_runs_nothing_shows_no_test(command: list[str]) -> None:
    assert kind_of(command) == "command"


def test_aol_091_a_test_runner_that_runs_is_still_one() -> None:
    runs = [
        ["make", "-s", "test"],
        ["cargo", "test", "--quiet"],
        ["pytest", "-n", "4"],
        ["env", "CI=1", "pytest"],
        ["ctest", "-j4"],
    ]
    assert [kind_of(one) for one in runs] == ["test_run"] * 5


def test_pipes_in_place_of_the_files_of_a_mission_are_not_waited_for(world: World, root: str, liar: Actor) -> None:
    mission = done(liar.call("mission.status"))["mission_id"]
    place = world.home.brains_dir / fingerprint(root) / "missions" / mission
    for name in ("events.jsonl", "flight.jsonl"):
        (place / name).unlink()
        os.mkfifo(place / name)

    told(liar, "note", text="kept all the same")
    told(liar, "note", text="and the files are made again")

    assert len((place / "events.jsonl").read_bytes().splitlines()) == count(liar)
